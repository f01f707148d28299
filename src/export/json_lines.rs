//! JSON Lines: each execution on a line, the same document as `evidence show ID --json`.

use std::io::{self, Write};

use super::Result;
use super::walk::{Item, Walk};

/// # Errors
/// As for [`export`](super::export).
pub(super) fn write(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    walk.each(|_, item| {
        if let Item::Step(step) = item {
            serde_json::to_writer(&mut *out, step).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}
