//! The settings as data: one row for each key of the settings file, with what it costs and what it protects.
//!
//! The page of the window, the table in `docs/files.md`, the headless command `settings`, and the checks of values are
//! made from these rows. A key of the file without a row is refused.

mod check;
mod commands;
mod documented;
mod keys;
mod rows;
mod secret;
mod setting;
mod shortcuts;
mod value;
mod weakened;
mod weaker;

pub use check::{SettingsFault, check, check_value};
pub use commands::{COMMANDS, FIXED};
pub use documented::{documented, documented_commands};
pub use keys::Keys;
pub use rows::SETTINGS;
pub use secret::may_be_secret;
pub use setting::{Belongs, Effect, Group, Kind, Setting};
pub use shortcuts::{KeyFault, Shortcuts, place_of, why_fixed};
pub use value::{NOT_SHOWN, default_of, found_in, keys_of, leaves, row_of, shown};
pub use weakened::{weakened, weaker_in};
pub use weaker::{Weaker, weaker};
