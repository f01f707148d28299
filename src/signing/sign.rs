//! Signs a document with the person's key.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::keygen::{Call, messages};
use super::{SigningError, SshKeygen};
use crate::authorization::{NAMESPACE, Signing, SshSignature};
use crate::run::{AskSecret, StopSignal};

/// The time in which a signature is checked. No key is used for it.
pub(super) const CHECK_LIMIT: Duration = Duration::from_secs(30);

impl SshKeygen {
    /// The signature of this document. `what` says for the person what is signed.
    ///
    /// # Errors
    /// When there is no signature, or none of this document.
    pub fn sign(
        &self,
        signing: &Signing,
        document: &[u8],
        what: &str,
        ask: Option<&Arc<dyn AskSecret>>,
        stop: &StopSignal,
    ) -> Result<SshSignature, SigningError> {
        let key = &signing.key;
        if !key.is_file() {
            return Err(SigningError::NoKey { path: key.clone() });
        }
        let key_text = key.to_str().ok_or_else(|| SigningError::NoKey { path: key.clone() })?;
        let folder = private_folder()?;
        let asked_by = format!("ssh-keygen, to sign {what} with {key_text}");
        let call = Call {
            arguments: &["-Y", "sign", "-n", NAMESPACE, "-f", key_text],
            input: document,
            folder: folder.path(),
            ask: ask.map(|ask| (ask, asked_by.as_str())),
            limit: Duration::from_secs(signing.seconds.into()),
        };
        let finished = self.run(&call, stop)?;
        if !finished.is_success() {
            return Err(SigningError::Refused { messages: messages(&finished) });
        }
        let none = |why: &str| SigningError::NoSignature { why: why.to_owned() };
        let text = std::str::from_utf8(&finished.stdout).map_err(|_| none("it is no text"))?;
        let signature = SshSignature::parse(text).ok_or_else(|| none("its form is not known"))?;
        if signature.namespace != NAMESPACE {
            return Err(none("it is for another purpose"));
        }
        // Before anything relies on it: a program or agent may have failed and still have printed something.
        match self.check(document, &signature.armor, folder.path(), stop)? {
            Ok(()) => Ok(signature),
            Err(why) => Err(none(&why)),
        }
    }

    /// Whether the key that is in the signature has made it of this document, whoever's the key is. The inner error says
    /// why not.
    pub(super) fn check(
        &self,
        document: &[u8],
        armor: &str,
        folder: &Path,
        stop: &StopSignal,
    ) -> Result<Result<(), String>, SigningError> {
        let signature = write(folder, "signature", armor.as_bytes())?;
        let call = Call {
            arguments: &["-Y", "check-novalidate", "-n", NAMESPACE, "-s", &signature],
            input: document,
            folder,
            ask: None,
            limit: CHECK_LIMIT,
        };
        let finished = self.run(&call, stop)?;
        Ok(if finished.is_success() { Ok(()) } else { Err(messages(&finished)) })
    }
}

/// A folder that only this user can enter.
pub(super) fn private_folder() -> Result<tempfile::TempDir, SigningError> {
    let folder = tempfile::Builder::new().prefix("countersign-").tempdir();
    folder.map_err(|source| SigningError::File { source, path: std::env::temp_dir() })
}

/// Writes a file, and returns its path.
pub(super) fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<String, SigningError> {
    let path = folder.join(name);
    let written = std::fs::File::create(&path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|source| SigningError::File { source, path: path.clone() })?;
    text_of(&path)
}

/// A path as an argument.
pub(super) fn text_of(path: &Path) -> Result<String, SigningError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let source = std::io::Error::other("its path is not UTF-8");
        SigningError::File { source, path: path.to_owned() }
    })
}
