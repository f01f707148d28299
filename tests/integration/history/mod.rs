//! Undo, redo, restore and revert of recorded changes (SPEC §9).

mod modes;
mod property;
mod revert;
mod undo;
