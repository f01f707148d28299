//! Reads `needs` of a command (SPEC §1.2, §7.5). The review makes the checks that depend on the user's folders.

use super::fields::Fields;
use crate::plan::{Code, Finding, Needs, limits};

/// The `needs` of a step; `None` if it has none.
pub(super) fn read(fields: &mut Fields<'_>) -> Option<Needs> {
    let mut fields = fields.object("needs")?;
    let network = fields.flag("network");
    let terminal = fields.flag("terminal");
    let open = fields.flag("open");
    let written = fields.texts("write");
    if written.len() > limits::WRITES {
        let message = format!("there are {} paths; the limit is {}", written.len(), limits::WRITES);
        fields.error(Code::Limit, "write", message);
    }
    for (index, path) in &written {
        if let Some((code, message)) = fault(path) {
            let pointer = format!("{}/{index}", fields.pointer_to("write"));
            fields.context.error_with(|| Finding::error(code, pointer, message));
        }
    }
    fields.finish();
    let write = written.into_iter().take(limits::WRITES).map(|(_, path)| path).collect();
    Some(Needs { network, write, terminal, open })
}

/// A fault of a path that does not depend on the user's folders.
fn fault(path: &str) -> Option<(Code, String)> {
    let bad = |message: &str| Some((Code::BadValue, message.to_owned()));
    if path.trim().is_empty() {
        Some((Code::Missing, "the path is empty; name a folder or a file".to_owned()))
    } else if path.len() > limits::PATH_BYTES {
        let message =
            format!("the path is {} bytes long; the limit is {}", path.len(), limits::PATH_BYTES);
        Some((Code::Limit, message))
    } else if path.contains('\0') {
        bad("the path contains a NUL character")
    } else if path.starts_with('~') && path != "~" && !path.starts_with("~/") {
        bad("only your own home folder can be named by ~: write ~/ and the rest")
    } else {
        None
    }
}
