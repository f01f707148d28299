//! Whether a signature is one of an allowed signer. `ssh-keygen -Y verify` alone decides; what it says otherwise only
//! explains why not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::keygen::{Call, messages};
use super::lists::{check_revoked, read_allowed_signers};
use super::sign::{CHECK_LIMIT, private_folder, text_of, write};
use super::{SigningError, SshKeygen};
use crate::authorization::{NAMESPACE, SshSignature};
use crate::plan::words::words;
use crate::process::Finished;
use crate::run::StopSignal;

words! {
    /// What a verification has found.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SignatureState {
        /// An allowed signer has made it.
        Valid = "valid",
        /// There is none.
        Unsigned = "unsigned",
        /// It is not one of these bytes, or what was signed is not what the evidence has.
        BytesDiffer = "bytes_differ",
        /// The signer is allowed with another key.
        WrongKey = "wrong_key",
        /// The signer is not in the list, or not for this purpose.
        NotAllowed = "not_allowed",
        /// The key was not valid any more when it signed.
        Expired = "expired",
        /// The key was not valid yet when it signed.
        NotYetValid = "not_yet_valid",
        /// The key is revoked.
        Revoked = "revoked",
    }
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What was found.
    pub state: SignatureState,
    /// Why it is not valid; `None` if it is.
    pub why: Option<String>,
}

impl Verdict {
    /// A verdict with this reason.
    pub fn because(state: SignatureState, why: impl Into<String>) -> Self {
        Self { state, why: Some(why.into()) }
    }
}

/// The files that say which keys count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedSigners {
    /// Who may sign with which key, as `ssh-keygen(1)` describes it.
    pub file: PathBuf,
    /// Revoked keys: a list of public keys, or what `ssh-keygen -k` makes.
    pub revoked: Option<PathBuf>,
}

/// The time in a signature's check, as `ssh-keygen` takes it.
fn verify_time(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    format!("-Overify-time={}", at.strftime("%Y%m%d%H%M%SZ"))
}

impl SshKeygen {
    /// Whether `principal` may sign, and has signed this document in this namespace at this time (Unix milliseconds).
    ///
    /// # Errors
    /// When the program cannot be used, or a file cannot be read.
    pub fn verify(
        &self,
        allowed: &AllowedSigners,
        (document, armor): (&[u8], &str),
        principal: &str,
        at_ms: i64,
        stop: &StopSignal,
    ) -> Result<Verdict, SigningError> {
        read_allowed_signers(&allowed.file)?;
        allowed.revoked.as_deref().map_or(Ok(()), check_revoked)?;
        let Some(signature) = SshSignature::parse(armor) else {
            let why = "the text is no signature of ssh-keygen";
            return Ok(Verdict::because(SignatureState::BytesDiffer, why));
        };
        let folder = private_folder()?;
        let check = Check {
            keygen: self,
            document,
            principal,
            folder: folder.path(),
            signature: write(folder.path(), "checked", armor.as_bytes())?,
            allowed: text_of(&std::path::absolute(&allowed.file).unwrap_or_default())?,
            time: verify_time(at_ms),
            stop,
        };
        let revoked = allowed.revoked.as_ref();
        let revoked = revoked.map(|path| std::path::absolute(path).unwrap_or_default());
        let finished = check.verify(revoked.as_deref())?;
        if finished.is_success() {
            return Ok(Verdict { state: SignatureState::Valid, why: None });
        }
        let said = messages(&finished);
        if let Err(why) = self.check(document, armor, folder.path(), stop)? {
            return Ok(Verdict::because(SignatureState::BytesDiffer, why));
        }
        if revoked.is_some() && check.verify(None)?.is_success() {
            let why = format!("{} is revoked", signature.fingerprint);
            return Ok(Verdict::because(SignatureState::Revoked, why));
        }
        let state = match said.as_str() {
            said if said.contains("has expired") => SignatureState::Expired,
            said if said.contains("not yet valid") => SignatureState::NotYetValid,
            said if said.contains("not permitted") => SignatureState::NotAllowed,
            _ if check.knows_principal()? => SignatureState::WrongKey,
            _ => SignatureState::NotAllowed,
        };
        let why = match state {
            SignatureState::WrongKey => {
                format!("{principal} may sign, but not with {}", signature.fingerprint)
            }
            SignatureState::NotAllowed if !said.contains("not permitted") => {
                format!("{principal} is not in the list of allowed signers")
            }
            _ => said,
        };
        Ok(Verdict::because(state, why))
    }
}

/// One verification.
struct Check<'a> {
    keygen: &'a SshKeygen,
    document: &'a [u8],
    principal: &'a str,
    folder: &'a Path,
    /// The path of the signature.
    signature: String,
    /// The path of the list of allowed signers.
    allowed: String,
    time: String,
    stop: &'a StopSignal,
}

impl Check<'_> {
    fn verify(&self, revoked: Option<&Path>) -> Result<Finished, SigningError> {
        let revoked = revoked.map(text_of).transpose()?;
        let mut arguments = vec!["-Y", "verify", "-n", NAMESPACE, "-I", self.principal];
        arguments.extend(["-f", &self.allowed, "-s", &self.signature, &self.time]);
        if let Some(revoked) = &revoked {
            arguments.extend(["-r", revoked]);
        }
        self.call(&arguments, self.document, CHECK_LIMIT)
    }

    /// Whether the list has this signer with any key.
    fn knows_principal(&self) -> Result<bool, SigningError> {
        let arguments = ["-Y", "match-principals", "-f", &self.allowed, "-I", self.principal];
        Ok(self.call(&arguments, &[], CHECK_LIMIT)?.is_success())
    }

    fn call(
        &self,
        arguments: &[&str],
        input: &[u8],
        limit: Duration,
    ) -> Result<Finished, SigningError> {
        let call = Call { arguments, input, folder: self.folder, ask: None, limit };
        self.keygen.run(&call, self.stop)
    }
}
