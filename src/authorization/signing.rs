//! Signatures with the person's SSH key (SPEC §14): what the settings ask for, and what a signature of `ssh-keygen -Y` is.

use std::collections::BTreeSet;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Reviewing;
use crate::plan::words::words;

/// The namespace of all signatures of this program. No signature for another purpose, such as one of git, counts here.
pub const NAMESPACE: &str = "countersign";

words! {
    /// What the settings ask to sign.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Signed {
        /// Each approval of a plan. Without its signature, no run begins.
        Authorizations = "authorizations",
        /// The end of each run.
        RunEnds = "run_ends",
        /// The head of the evidence after each run.
        Heads = "heads",
    }
}

/// The key that signs, and what it signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signing {
    /// The private key, or a public key whose private half is in the agent or in a hardware key. Absolute.
    pub key: PathBuf,
    /// Who signs, as lists of allowed signers name the person.
    pub principal: String,
    /// What is signed.
    pub sign: BTreeSet<Signed>,
    /// How long one signature may take, in seconds, without the time in which the person is asked.
    pub seconds: u32,
    /// Whose signatures count; `None` if the settings do not say.
    pub reviewing: Option<Reviewing>,
}

/// How many persons must have signed an approval under these settings, with the one who gives it. `of_plan` is what the
/// plan asks for. 0 if it need not be one of the persons whose signatures count.
pub fn persons_needed(signing: Option<&Signing>, of_plan: usize) -> usize {
    let of_settings = signing.and_then(|it| it.reviewing.as_ref()).map_or(0, |it| it.required);
    let of_settings = if of_settings > 1 { of_settings } else { 0 };
    of_settings.max(of_plan)
}

/// Why nobody can approve a plan that asks for this many signatures under these settings; `None` if somebody can.
pub fn why_not_signable(signing: Option<&Signing>, of_plan: usize) -> Option<String> {
    let can_sign = signing.is_some_and(|it| it.of_authorizations() && it.reviewing.is_some());
    (of_plan > 0 && !can_sign).then(|| {
        format!(
            "the plan asks for {}, and your settings do not say who may sign: set key, principal, \
             sign = [\"authorizations\"] and allowed_signers in [signatures]",
            match of_plan {
                1 => "a signature".to_owned(),
                persons => format!("the signatures of {persons} persons"),
            }
        )
    })
}

impl Signing {
    /// Whether a run may begin only with a signed authorization.
    pub fn of_authorizations(&self) -> bool {
        self.sign.contains(&Signed::Authorizations)
    }

    /// What is signed, by whom and with what, for the settings.
    pub fn sentence(&self) -> String {
        let words: Vec<_> = self.sign.iter().map(|it| it.as_str().replace('_', " ")).collect();
        let signed = match words.as_slice() {
            [] => format!(
                "nothing is signed by itself; {} signs where you ask for it",
                self.described()
            ),
            words => format!("{} are signed by {}", words.join(", "), self.described()),
        };
        match &self.reviewing {
            None => format!("{signed}; no other person has to sign before a run (required = 1)"),
            Some(reviewing) => format!("{signed}; {}", reviewing.sentence()),
        }
    }

    /// The key and the person, as a dialog shows them.
    pub fn described(&self) -> String {
        format!("{} with the key {}", self.principal, self.key.display())
    }
}

/// Why a text cannot name who signs. It is an argument of a program and a field in lists of allowed signers.
pub fn why_no_principal(text: &str) -> Option<&'static str> {
    let is_special =
        |sign: char| sign.is_whitespace() || sign.is_control() || "*?!,\"\\".contains(sign);
    match text {
        "" => Some("it is empty"),
        text if text.len() > 255 => Some("it is longer than 255 bytes"),
        text if text.starts_with(['-', '#', '@']) => Some("it begins with one of - # @"),
        text if text.contains(is_special) => Some("it has a space or one of * ? ! , \" \\"),
        _ => None,
    }
}

/// A signature of `ssh-keygen -Y sign`: the armored text, and what is in it.
///
/// Only the one way in which OpenSSH writes a signature is accepted. It reads others, too, so that a signature could be
/// changed without being another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshSignature {
    /// The text, with the line break at its end.
    pub armor: String,
    /// The fingerprint of the key: `SHA256:…`.
    pub fingerprint: String,
    /// What the signature is for.
    pub namespace: String,
}

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "-----END SSH SIGNATURE-----\n";
/// The length of the lines between them.
const LINE: usize = 70;
/// The largest text that is read. A signature with a certificate has a few thousand bytes.
pub const SIGNATURE_BYTES: usize = 64 << 10;

impl SshSignature {
    /// Reads the text of a signature; `None` if it is none.
    pub fn parse(armor: &str) -> Option<Self> {
        if armor.len() > SIGNATURE_BYTES {
            return None;
        }
        let body = armor.strip_prefix(BEGIN)?.strip_suffix(END)?;
        let blob = STANDARD.decode(body.replace('\n', "")).ok()?;
        let mut rest = blob.strip_prefix(b"SSHSIG\0\0\0\x01")?;
        let key = field(&mut rest)?;
        let namespace = String::from_utf8(field(&mut rest)?.to_vec()).ok()?;
        let (reserved, hash, signature) = (field(&mut rest)?, field(&mut rest)?, field(&mut rest)?);
        let is_known = reserved.is_empty() && matches!(hash, b"sha512" | b"sha256");
        if !is_known || key.is_empty() || signature.is_empty() || !rest.is_empty() {
            return None;
        }
        let fingerprint = format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(key)));
        let signature = Self { armor: armored(&blob), fingerprint, namespace };
        (signature.armor == armor).then_some(signature)
    }
}

/// The text of a signature.
fn armored(blob: &[u8]) -> String {
    let encoded = STANDARD.encode(blob);
    let mut armor = BEGIN.to_owned();
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, following) = rest.split_at(rest.len().min(LINE));
        armor.extend([line, "\n"]);
        rest = following;
    }
    armor.push_str(END);
    armor
}

/// Takes the next field: its length in four bytes, and its bytes.
pub(super) fn field<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, following) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (field, following) = following.split_at_checked(length)?;
    *rest = following;
    Some(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNATURE: &str = include_str!("../../tests/fixtures/signatures/ed25519.sig");

    #[test]
    fn a_signature_names_its_key_and_purpose() {
        let signature = SshSignature::parse(SIGNATURE).unwrap();
        assert_eq!(signature.fingerprint, "SHA256:e5UmATudgKfxj7n9ro0EOwM6Y04+gtjL4cW4nDwv6Kc");
        assert_eq!(
            (signature.namespace.as_str(), signature.armor.as_str()),
            (NAMESPACE, SIGNATURE)
        );
    }

    /// OpenSSH accepts some of these, although they are other bytes.
    #[test]
    fn only_one_text_is_the_signature() {
        let body = SIGNATURE.strip_prefix(BEGIN).unwrap();
        for other in [
            SIGNATURE.trim_end().to_owned(),
            format!("{SIGNATURE}\n"),
            format!("{SIGNATURE}more"),
            format!("\n{SIGNATURE}"),
            format!("{BEGIN}\n{body}"),
            SIGNATURE.replace('\n', "\r\n"),
            SIGNATURE.replacen("==\n", "=\n", 1),
            SIGNATURE.replace("SSH SIGNATURE", "PGP SIGNATURE"),
            SIGNATURE.replacen("U1NIU0lH", "U1NIU0lI", 1),
            BEGIN.to_owned() + END,
            String::new(),
        ] {
            assert_eq!(SshSignature::parse(&other), None, "{other:?}");
        }
    }

    #[test]
    fn a_name_of_a_person_is_one_plain_word() {
        for name in ["ada@example.org", "ada", "Ada-L", "ä"] {
            assert_eq!(why_no_principal(name), None, "{name}");
        }
        for name in ["", "a b", "-I", "a,b", "*", "a\n", "\"a", "#a", &"a".repeat(256)] {
            assert!(why_no_principal(name).is_some(), "{name:?}");
        }
    }
}
