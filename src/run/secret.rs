//! Secrets that a program asks a person for while it runs: passwords, passphrases and codes (SPEC §7.3).

use std::fmt;

/// A question for a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretQuestion {
    /// The program that asks and what for, for instance `ssh, to log in to build`.
    pub asked_by: String,
    /// The program's own words. They may come from the other host.
    pub prompt: String,
}

/// The answer to a [`SecretQuestion`]. It goes to the program that asked and nowhere else, so it has no `Debug` form and
/// its bytes are overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The secret that a person typed.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes for the program that asked.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // Keeps the compiler from leaving out a write to memory that nothing reads.
        std::hint::black_box(&self.0);
    }
}

/// Asks a person for secrets.
pub trait AskSecret: fmt::Debug + Send + Sync {
    /// Blocks until the person has answered; `None` if they decline, the run is stopped, or `is_withdrawn` is true. It is
    /// checked before the person is asked, and again after each [`Self::withdraw`].
    fn ask(&self, question: &SecretQuestion, is_withdrawn: &dyn Fn() -> bool) -> Option<Secret>;

    /// Makes a waiting question check whether it is withdrawn, because the program that asked has ended.
    fn withdraw(&self);
}
