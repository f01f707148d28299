//! Signs what the settings ask for (SPEC §14), and records it with its signature.
//!
//! - `signer.rs`: the person who authorizes.
//! - `reviews.rs`: the signatures of other persons, as far as an approval needs them.

mod reviews;
mod signer;

pub use reviews::person;
pub use signer::{NotRecorded, Signer};
