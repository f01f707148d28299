//! Revisions (SPEC §13): what a person changes in a plan before deciding about it, as new bytes.
//!
//! A [`Revision`] is a set of changes to the bytes of a plan, its base: other values of arguments, steps that are left
//! out, and values of inputs. Everything else keeps the author's text. Pure: the same base and changes always give the same bytes. Each change
//! can be undone by itself, because all are about the base and none about the result of another one.

mod edits;
mod error;
mod leave_out;
mod parts;
mod revision;
mod source;
mod splices;
mod values;
mod values_of_inputs;

#[cfg(test)]
mod tests;

pub use edits::edits_text;
pub use error::RevisionError;
pub use leave_out::{LeftOut, leaving_out};
pub use parts::{RevisedPart, RevisedWhat};
pub use revision::Revision;
pub use values::argument_source;
