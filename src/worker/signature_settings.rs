//! The table `[signatures]` of the settings file: with which key of the person what is signed (SPEC §14).

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Deserialize;

use crate::authorization::{Reviewing, Signed, Signing, why_no_principal};
use crate::plan::limits;

/// The table `[signatures]` of the settings file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SignatureSettings {
    /// The key; `~/` is the home folder.
    pub key: Option<PathBuf>,
    /// Who signs, as lists of allowed signers name the person.
    pub principal: String,
    /// What is signed. Nothing, if it is empty.
    pub sign: BTreeSet<Signed>,
    /// How long one signature may take, in seconds: 1 to 600.
    pub seconds: u32,
    /// How many persons must have signed before a run, with the one who authorizes it: 1 to 20.
    pub required: usize,
    /// Who may sign with which key; `~/` is the home folder.
    pub allowed_signers: Option<PathBuf>,
    /// Keys that do not count any more; `~/` is the home folder.
    pub revoked_keys: Option<PathBuf>,
    /// The folder in which the signatures of other persons come back; `~/` is the home folder.
    pub folder: Option<PathBuf>,
}

impl Default for SignatureSettings {
    fn default() -> Self {
        Self {
            key: None,
            principal: String::new(),
            sign: BTreeSet::new(),
            seconds: 60,
            required: 1,
            allowed_signers: None,
            revoked_keys: None,
            folder: None,
        }
    }
}

impl SignatureSettings {
    /// What is signed; `None` if nothing is.
    ///
    /// # Errors
    /// A message that names the entry that is missing or wrong.
    pub fn signing(&self) -> Result<Option<Signing>, String> {
        if !(1..=600).contains(&self.seconds) {
            return Err(format!(
                "signatures.seconds is {}, and must lie between 1 and 600",
                self.seconds
            ));
        }
        let reviewing = self.reviewing()?;
        if self.key.is_none() && self.sign.is_empty() && self.required == 1 {
            return Ok(None);
        }
        let Some(key) = &self.key else {
            return Err(
                "signatures.sign and signatures.required need signatures.key, the key that signs"
                    .to_owned(),
            );
        };
        let key = in_home(key);
        if !key.is_absolute() {
            return Err(format!(
                "signatures.key is {}, which is neither absolute nor begins with ~/",
                key.display()
            ));
        }
        if let Some(why) = why_no_principal(&self.principal) {
            return Err(format!("signatures.principal cannot name who signs: {why}"));
        }
        let (principal, sign) = (self.principal.clone(), self.sign.clone());
        if self.required > 1 && !sign.contains(&Signed::Authorizations) {
            return Err(
                "signatures.required needs \"authorizations\" in signatures.sign".to_owned()
            );
        }
        Ok(Some(Signing { key, principal, sign, seconds: self.seconds, reviewing }))
    }

    /// Whose signatures count; `None` if nobody's are asked for or named.
    fn reviewing(&self) -> Result<Option<Reviewing>, String> {
        if !(1..=limits::SIGNATURES).contains(&self.required) {
            return Err(format!(
                "signatures.required is {}, and must lie between 1 and {}",
                self.required,
                limits::SIGNATURES
            ));
        }
        let list = |name: &str, path: &std::path::Path| match in_home(path) {
            path if path.is_absolute() => Ok(path),
            path => Err(format!(
                "signatures.{name} is {}, which is neither absolute nor begins with ~/",
                path.display()
            )),
        };
        let allowed = self.allowed_signers.as_deref();
        let allowed = allowed.map(|path| list("allowed_signers", path)).transpose()?;
        let revoked = self.revoked_keys.as_deref();
        let revoked_keys = revoked.map(|path| list("revoked_keys", path)).transpose()?;
        let folder = self.folder.as_deref();
        let folder = folder.map(|path| list("folder", path)).transpose()?;
        match (self.required, allowed) {
            (1, None) => Ok(None),
            (_, None) => Err("signatures.required needs signatures.allowed_signers".to_owned()),
            (required, Some(allowed_signers)) => {
                Ok(Some(Reviewing { required, allowed_signers, revoked_keys, folder }))
            }
        }
    }
}

/// The path with the home folder in place of `~`.
fn in_home(path: &std::path::Path) -> PathBuf {
    let home = directories::BaseDirs::new();
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.home_dir().join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signing(text: &str) -> Result<Option<Signing>, String> {
        toml::from_str::<SignatureSettings>(text).map_err(|error| error.to_string())?.signing()
    }

    #[test]
    fn nothing_is_signed_by_default() {
        assert_eq!(signing(""), Ok(None));
        let only_key = signing("key = '/k'\nprincipal = 'ada'").unwrap().unwrap();
        assert!(!only_key.of_authorizations(), "the key is for commands that sign");
    }

    #[test]
    fn the_key_may_be_in_the_home_folder() {
        let text = "key = '~/.ssh/id'\nprincipal = 'ada@example.org'\nsign = ['authorizations']";
        let signing = signing(text).unwrap().unwrap();
        assert!(signing.key.is_absolute() && signing.key.ends_with(".ssh/id"), "{signing:?}");
        assert!(signing.of_authorizations());
    }

    #[test]
    fn the_settings_page_says_how_many_must_sign() {
        let text = "key = '/k'\nprincipal = 'ada'\nsign = ['authorizations']\n";
        let sentence = |more: &str| signing(&format!("{text}{more}")).unwrap().unwrap().sentence();
        assert!(sentence("").contains("(required = 1)"));
        let two = sentence("required = 2\nallowed_signers = '/a'\nrevoked_keys = '/r'");
        for part in ["2 persons must", "(required = 2), of /a", "without the keys in /r"] {
            assert!(two.contains(part), "{two}");
        }
        let of_plans = sentence("allowed_signers = '/a'");
        assert!(
            of_plans.contains("only a plan asks") && of_plans.contains("(required = 1), of /a")
        );
    }

    #[test]
    fn faults_name_the_entry() {
        for (text, entry) in [
            ("sign = ['authorizations']", "signatures.key"),
            ("key = 'id'\nprincipal = 'ada'", "signatures.key"),
            ("key = '/k'", "signatures.principal"),
            ("key = '/k'\nprincipal = '-I'", "signatures.principal"),
            ("key = '/k'\nprincipal = 'ada'\nseconds = 0", "signatures.seconds"),
            ("key = '/k'\nprincipal = 'ada'\nsign = ['everything']", "everything"),
            ("keys = '/k'", "keys"),
            ("required = 0", "signatures.required"),
            ("required = 2", "signatures.allowed_signers"),
            ("required = 2\nallowed_signers = 'a'", "signatures.allowed_signers"),
            ("required = 2\nallowed_signers = '/a'", "signatures.key"),
            (
                "required = 2\nallowed_signers = '/a'\nkey = '/k'\nprincipal = 'ada'",
                "signatures.sign",
            ),
        ] {
            let fault = signing(text).unwrap_err();
            assert!(fault.contains(entry), "{text}: {fault}");
        }
    }
}
