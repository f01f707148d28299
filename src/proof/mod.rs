//! Proofs about the evidence for somebody who does not have it (SPEC §14). Pure: the evidence passes the links of its chain
//! in, and takes hashes and signed texts out.
//!
//! - `tree.rs`: a Merkle tree (RFC 6962) over the links of the chain, in their order. A chain alone proves that a record
//!   belongs to a head only with all records in between; the tree proves it with one hash for each doubling of their number.
//! - `note.rs` and `checkpoint.rs`: the size and the root of the tree as a checkpoint of a transparency log, a signed note
//!   (C2SP `tlog-checkpoint` and `signed-note`), so that witnesses can add their signatures.
//! - `dsse.rs`: signed statements (DSSE), for attestations.
//! - `key.rs`: the Ed25519 key that signs both.
//!
//! Written by hand except for the hash and the signatures. The crates of Cloudflare for the same formats, `tlog_tiles` and
//! `signed_note`, would bring earlier versions of both, and `tlog_tiles` keeps all hashes of a tree: here a tree is read
//! leaf by leaf, and only hashes that are asked for are kept. Tests let these crates read what is written here.

mod checkpoint;
mod dsse;
mod encoding;
mod error;
mod key;
mod note;
#[cfg(test)]
mod tests;
mod tree;

pub use checkpoint::{Checkpoint, SignedCheckpoint};
pub use dsse::envelope;
pub use encoding::base64;
pub use error::NoteError;
pub use key::{SEED_BYTES, SigningKey, VerifierKey};
pub use note::SignedNote;
pub use tree::Tree;
