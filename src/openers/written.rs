//! Writes the plan of what was opened.

use std::collections::BTreeMap;

use super::Format;
use crate::plan::{
    Batch, Code, Digest, Edit, Finding, Mode, PlanInput, ProposedCommand, Severity, batch_plan,
    command_plan, limits,
};

/// What was read from a file, and what has to be known about it.
pub(super) enum Draft {
    Edits(Edits),
    Commands(Commands),
}

impl From<Edits> for Draft {
    fn from(edits: Edits) -> Self {
        Self::Edits(edits)
    }
}

impl From<Commands> for Draft {
    fn from(commands: Commands) -> Self {
        Self::Commands(commands)
    }
}

/// Changes of files.
#[derive(Default)]
pub(super) struct Edits {
    pub(super) edits: Vec<Edit>,
    /// The digests of files that were read for them.
    pub(super) expected: BTreeMap<String, Digest>,
    /// The number of files that it names.
    pub(super) files: usize,
    pub(super) findings: Vec<Finding>,
}

/// Commands.
#[derive(Default)]
pub(super) struct Commands {
    /// The title of the file, if it has one.
    pub(super) title: Option<String>,
    pub(super) mode: Mode,
    /// The inputs of the commands.
    pub(super) inputs: Vec<PlanInput>,
    pub(super) commands: Vec<ProposedCommand>,
    pub(super) findings: Vec<Finding>,
}

type Written = Result<(Vec<u8>, Vec<Finding>), Vec<Finding>>;

/// The plan, and the findings about it.
///
/// # Errors
/// It has nothing, or too much for a plan.
pub(super) fn plan(format: Format, source: &[u8], draft: Draft) -> Written {
    match draft {
        Draft::Edits(edits) => plan_of_edits(format, source, edits),
        Draft::Commands(commands) => plan_of_commands(format, commands),
    }
}

fn plan_of_edits(format: Format, source: &[u8], edits: Edits) -> Written {
    let Edits { edits, mut expected, files, mut findings } = edits;
    if edits.is_empty() {
        findings.push(Finding::error(Code::Missing, "", "it changes no file"));
        return Err(findings);
    }
    let number = edits.len();
    let mut batch = |edits: &[Edit]| {
        let mut expected_hashes = BTreeMap::new();
        for edit in edits {
            for path in edit.paths() {
                expected_hashes.extend(expected.remove_entry(path));
            }
        }
        Batch { edits: edits.to_vec(), expected_hashes }
    };
    let batches: Vec<_> = edits.chunks(limits::EDITS).map(&mut batch).collect();
    if batches.len() > limits::ACTIONS {
        let most = limits::EDITS * limits::ACTIONS;
        return Err(too_large(format!("{number} edits are more than a plan can have: {most}")));
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
        None => Err(too_large(larger())),
    }
}

fn plan_of_commands(format: Format, commands: Commands) -> Written {
    let Commands { title, mode, inputs, commands, mut findings } = commands;
    if commands.is_empty() {
        findings.push(Finding::error(Code::Missing, "", "it has no command"));
        return Err(findings);
    }
    if commands.len() > limits::STEPS {
        let (number, most) = (commands.len(), limits::STEPS);
        return Err(too_large(format!("{number} commands are more than a plan can have: {most}")));
    }
    let mut goal = title.unwrap_or_else(|| format!("Run {}", format.name()));
    goal.truncate(goal.floor_char_boundary(limits::ID_BYTES));
    match command_plan(&goal, mode, &inputs, &commands) {
        Some(bytes) => Ok((bytes, findings)),
        None => Err(too_large(larger())),
    }
}

fn larger() -> String {
    format!("a plan of it would be larger than {} bytes", limits::PLAN_BYTES)
}

fn too_large(message: String) -> Vec<Finding> {
    vec![Finding::error(Code::Limit, "", message)]
}
