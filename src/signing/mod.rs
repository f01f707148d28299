//! Signatures with the SSH keys of persons (SPEC §14), through the `ssh-keygen` of the system, so that keys in an agent and
//! in hardware work as they do for everything else.
//!
//! - `keygen.rs`: calls the program, with a clean environment, a time limit, and this program as what asks for passphrases.
//! - `lists.rs`: whether a list of keys can be used at all.
//! - `sign.rs`: a signature of a document, which is checked before it is used.
//! - `verify.rs`: whether a list of allowed signers has the key of a signature, and why not.
//!
//! Nothing here knows the evidence: documents come in and signatures go out.

mod error;
mod keygen;
mod lists;
mod sign;
mod verify;

pub use error::SigningError;
pub use keygen::SshKeygen;
pub use lists::read_allowed_signers;
pub use verify::{AllowedSigners, SignatureState, Verdict};
