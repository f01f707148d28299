//! Signed notes (C2SP `signed-note`): a text with the signatures of one or more keys.

use std::fmt;

use super::encoding::{base64, from_base64};
use super::error::NoteError;
use super::key::{SigningKey, VerifierKey, is_key_name};

/// The maximum size of a note, in bytes.
const MAX_BYTES: usize = 1_000_000;
/// The maximum number of signatures of a note.
const MAX_SIGNATURES: usize = 100;
/// What a line with a signature begins with: an em dash and a space.
const SIGNATURE_MARK: &str = "\u{2014} ";

/// A text with its signatures, which were not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedNote {
    /// With the newline at its end.
    text: String,
    signatures: Vec<Signature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Signature {
    name: String,
    key_id: [u8; 4],
    bytes: Vec<u8>,
}

impl SignedNote {
    /// The text, signed by this key under this name; `None` if it is no name of a key.
    pub(super) fn sign(text: String, key: &SigningKey, name: &str) -> Option<Self> {
        let key_id = key.verifier_key(name)?.id();
        let bytes = key.sign(text.as_bytes());
        Some(Self { signatures: vec![Signature { name: name.to_owned(), key_id, bytes }], text })
    }

    /// Reads a note.
    ///
    /// # Errors
    /// When it is none, is too large, or has too many signatures.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        parse(bytes).ok_or(NoteError::NoNote)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the keys of its signatures, which were not checked.
    pub fn signers(&self) -> impl Iterator<Item = &str> {
        self.signatures.iter().map(|signature| signature.name.as_str())
    }

    /// Checks the signatures of this key. Those of other keys, for instance of witnesses, are ignored.
    ///
    /// # Errors
    /// When there is none, or one is wrong.
    pub fn verify(&self, key: &VerifierKey) -> Result<(), NoteError> {
        let is_of_key = |it: &&Signature| (it.name.as_str(), it.key_id) == (key.name(), key.id());
        let mut of_key = self.signatures.iter().filter(is_of_key).peekable();
        if of_key.peek().is_none() {
            return Err(NoteError::NotSigned(key.to_string()));
        }
        match of_key.all(|it| key.verifies(self.text.as_bytes(), &it.bytes)) {
            true => Ok(()),
            false => Err(NoteError::BadSignature(key.to_string())),
        }
    }
}

impl fmt::Display for SignedNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for Signature { name, key_id, bytes } in &self.signatures {
            let signature = base64([key_id.as_slice(), bytes].concat());
            writeln!(f, "{SIGNATURE_MARK}{name} {signature}")?;
        }
        Ok(())
    }
}

fn parse(bytes: &[u8]) -> Option<SignedNote> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BYTES)?;
    if text.contains(|sign: char| sign < ' ' && sign != '\n') {
        return None;
    }
    // The text may have empty lines, too: the last one is the separator.
    let (text, signatures) = text.strip_suffix('\n')?.rsplit_once("\n\n")?;
    let signatures: Vec<_> = signatures.split('\n').take(MAX_SIGNATURES + 1).collect();
    if signatures.len() > MAX_SIGNATURES {
        return None;
    }
    let signature = |line: &str| {
        let (name, bytes) = line.strip_prefix(SIGNATURE_MARK)?.split_once(' ')?;
        let bytes = from_base64(bytes)?;
        let (key_id, bytes) = bytes.split_first_chunk()?;
        let is_signature = is_key_name(name) && !bytes.is_empty();
        let (name, bytes) = (name.to_owned(), bytes.to_vec());
        is_signature.then_some(Signature { name, key_id: *key_id, bytes })
    };
    let signatures = signatures.into_iter().map(signature).collect::<Option<_>>()?;
    Some(SignedNote { text: format!("{text}\n"), signatures })
}
