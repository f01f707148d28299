//! What the writers of all dialects share: names that tell where a plan comes from, and its bytes.

use serde::Serialize;
use uuid::Uuid;

use crate::plan::limits;

/// What a continued plan's id has before the beginning of the run's id.
const MARK: &str = ".continues-";

/// What a continued plan's title has at its end.
const SUFFIX: &str = " (continued)";

/// A plan as bytes; none when they are over the limit of a plan file.
pub(super) fn written(text: &impl Serialize) -> Option<Vec<u8>> {
    // A large plan may fit only without whitespace.
    let whole = |text: serde_json::Result<Vec<u8>>| {
        text.ok().filter(|bytes| bytes.len() < limits::PLAN_BYTES)
    };
    let mut bytes =
        whole(serde_json::to_vec_pretty(text)).or_else(|| whole(serde_json::to_vec(text)))?;
    bytes.push(b'\n');
    Some(bytes)
}

/// The beginning of a run's id; for names, never for comparing.
pub(super) fn short(run_id: Uuid) -> String {
    let mut text = run_id.simple().to_string();
    text.truncate(8);
    text
}

/// The id with the run's beginning at its end, in place of an earlier run's.
pub(super) fn continued_id(plan_id: &str, run: &str) -> String {
    let first = match plan_id.rsplit_once(MARK) {
        Some((first, mark)) if mark.len() == run.len() && !first.trim().is_empty() => first,
        _ => plan_id,
    };
    named_after(first, MARK, run)
}

/// An id that names the run that it comes from, short enough for an id.
pub(super) fn named_after(plan_id: &str, mark: &str, run: &str) -> String {
    let room = limits::ID_BYTES - mark.len() - run.len();
    format!("{}{mark}{run}", plan_id.get(..plan_id.floor_char_boundary(room)).unwrap_or_default())
}

pub(super) fn continued_title(title: &str) -> String {
    if title.ends_with(SUFFIX) || title.len() + SUFFIX.len() > limits::ARGUMENT_BYTES {
        title.to_owned()
    } else {
        format!("{title}{SUFFIX}")
    }
}
