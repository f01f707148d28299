//! The terminal of a step that asked for one (SPEC §7.2): its keyboard ([`TerminalPort`]), and its screen
//! ([`TerminalScreen`]), computed from what the step prints.

mod cell;
mod line;
mod port;
mod screen;
mod size;

pub use cell::{Cell, CellColor};
pub use line::{ScreenLine, ScreenLines};
pub use port::{Keyboard, OpenTerminal, TerminalPort, TypedBy};
pub use screen::{Cursor, TerminalModes, TerminalScreen};
pub use size::TerminalSize;
