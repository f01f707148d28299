//! Shared by the writers of all dialects: derived ids and titles, and serialization.

use serde::Serialize;
use uuid::Uuid;

use crate::plan::limits;

/// The text in the id of a continued plan before the shortened id of the run.
const MARK: &str = ".continues-";

/// The end of a continued plan's title.
const SUFFIX: &str = " (continued)";

/// Serializes a plan; `None` if it exceeds the size limit of a plan file.
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

/// The first 8 digits of a run's id, for names. Runs must never be compared by them.
pub(super) fn short(run_id: Uuid) -> String {
    let mut text = run_id.simple().to_string();
    text.truncate(8);
    text
}

/// The id of a continued plan. If `plan_id` already refers to an earlier run, the reference is replaced.
pub(super) fn continued_id(plan_id: &str, run: &str) -> String {
    let first = match plan_id.rsplit_once(MARK) {
        Some((first, mark)) if mark.len() == run.len() && !first.trim().is_empty() => first,
        _ => plan_id,
    };
    named_after(first, MARK, run)
}

/// An id of the plan's id, a mark and the shortened id of the run. The plan's id is cut to keep the limit for ids.
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
