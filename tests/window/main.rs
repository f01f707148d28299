//! The real window, driven from outside by mouse and keyboard.
//!
//! Needs the feature `inspection` and a few programs; `sh packaging/test.sh` sees to both.

mod harness;
mod sign_and_run;
mod tree;
