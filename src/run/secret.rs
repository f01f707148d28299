//! Secrets that a program asks a person for while it runs: passwords, passphrases and codes (SPEC §7.3).

use std::fmt;

pub use crate::authorization::Secret;

/// A question for a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretQuestion {
    /// The program that asks and what for, for instance `ssh, to log in to build`.
    pub asked_by: String,
    /// The program's own words. They may come from the other host.
    pub prompt: String,
}

/// Asks a person for secrets.
pub trait AskSecret: fmt::Debug + Send + Sync {
    /// Blocks until the person has answered; `None` if they decline, the run is stopped, or `is_withdrawn` is true. It is
    /// checked before the person is asked, and again after each [`Self::withdraw`].
    fn ask(&self, question: &SecretQuestion, is_withdrawn: &dyn Fn() -> bool) -> Option<Secret>;

    /// Makes a waiting question check whether it is withdrawn, because the program that asked has ended.
    fn withdraw(&self);
}
