//! Batches on a real folder.

mod apply;
