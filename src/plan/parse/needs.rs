//! `needs` of a command (SPEC §1.2, §7.5). What depends on the person's folders is judged by the review.

use super::fields::Fields;
use super::findings::Findings;
use crate::plan::{Code, Finding, Needs, limits};

/// What the step says that it needs; none where it says nothing.
pub(super) fn read(fields: &mut Fields, findings: &mut Findings) -> Option<Needs> {
    let pointer = fields.pointer_to("needs");
    let json = fields.take("needs")?;
    let mut fields = Fields::of(json, &pointer, "\"needs\"", findings)?;
    let network = fields.flag("network", findings).unwrap_or(false);
    let terminal = fields.flag("terminal", findings).unwrap_or(false);
    let open = fields.flag("open", findings).unwrap_or(false);
    let written = fields.texts("write", findings);
    if written.len() > limits::WRITES {
        let message = format!("there are {} paths; the limit is {}", written.len(), limits::WRITES);
        findings.push(Finding::error(Code::Limit, fields.pointer_to("write"), message));
    }
    let mut write: Vec<String> = Vec::new();
    for (index, path) in written {
        if let Some((code, message)) = fault(&path) {
            let pointer = format!("{}/{index}", fields.pointer_to("write"));
            findings.error(|| Finding::error(code, pointer, message));
        }
        if write.len() < limits::WRITES {
            write.push(path);
        }
    }
    fields.finish(findings);
    Some(Needs { network, write, terminal, open })
}

/// What is wrong with a path whatever folders there are.
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
