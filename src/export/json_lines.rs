//! JSON Lines: each execution on a line, the same document as `evidence show ID --json`.

use std::io::Write;

use super::Result;
use super::walk::{Item, Walk};
use crate::plan::write_visible_json;

/// # Errors
/// As for [`export`](super::export).
pub(super) fn write(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    walk.each(|_, item| {
        if let Item::Step(step) = item {
            write_visible_json(out, step)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}
