//! Writes the plan of what was opened.

use super::Format;
use crate::plan::{Batch, Code, Digest, Edit, Finding, Severity, batch_plan, limits};

/// The edits of a file that was opened.
pub(super) struct Edits {
    pub(super) edits: Vec<Edit>,
    /// The number of files that it names.
    pub(super) files: usize,
    pub(super) findings: Vec<Finding>,
}

/// The plan that makes these edits, and the findings about it.
///
/// # Errors
/// When there are none, or too many for a plan.
pub(super) fn plan(
    format: Format,
    source: &[u8],
    edits: Edits,
) -> Result<(Vec<u8>, Vec<Finding>), Vec<Finding>> {
    let Edits { edits, files, mut findings } = edits;
    let error = |code, message| vec![Finding::error(code, "", message)];
    if edits.is_empty() {
        return Err(error(Code::Missing, "it changes no file".to_owned()));
    }
    let number = edits.len();
    let batches: Vec<_> = edits
        .chunks(limits::EDITS)
        .map(|edits| Batch { edits: edits.to_vec(), ..Batch::default() })
        .collect();
    if batches.len() > limits::ACTIONS {
        let most = limits::EDITS * limits::ACTIONS;
        return Err(error(
            Code::Limit,
            format!("{number} edits are more than a plan can have: {most}"),
        ));
    }
    if batches.len() > 1 {
        let message = format!(
            "its {number} edits are more than one batch can have ({}): each of the {} batches is made whole or not \
             at all, but a later one can fail after an earlier one was made",
            limits::EDITS,
            batches.len()
        );
        findings.push(Finding::new(Severity::Warning, Code::Limit, "", message));
    }
    let what = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    let goal = format!("Apply {}: {what}", format.name());
    let why = format!("Made from {}, {}.", format.name(), Digest::of(source));
    match batch_plan(&goal, &why, &batches) {
        Some(bytes) => Ok((bytes, findings)),
        None => Err(error(
            Code::Limit,
            format!("a plan of it would be larger than {} bytes", limits::PLAN_BYTES),
        )),
    }
}
