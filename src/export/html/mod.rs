//! A report as one HTML file: no script, no network, light and dark, for reading and for printing.
//!
//! A policy in the file forbids everything but its own style, and every text from outside is escaped, with hidden
//! characters made visible. Steps that did not succeed are open, and in a short run those that changed files.

mod changes;
mod parts;
mod pictures;
mod report;
mod step;

pub(super) use report::write;
