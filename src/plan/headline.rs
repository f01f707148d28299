//! A short description of a call, as verb and object (SPEC §3), for rows on screen and lines of text.

use super::{Build, Edit, HistoryOperation, InspectQuery, Simulation, ToolCall};

/// The verbs of headlines whose object is one file, also if its name has spaces.
pub const VERBS_OF_FILES: [&str; 3] = ["Read", "Write", "Create"];

impl ToolCall {
    /// The description as verb and object.
    pub fn headline(&self) -> (&'static str, String) {
        match self {
            Self::FileRead { path } => ("Read", path.clone()),
            Self::FileWrite { path, .. } => ("Write", path.clone()),
            Self::FileCreate { path, .. } => ("Create", path.clone()),
            Self::FileSearch { pattern, root } => ("Search", format!("{pattern} in {root}")),
            Self::FileGlob { pattern, root } => ("List", format!("{pattern} in {root}")),
            Self::SplicePatch { file, symbol, with, .. } => {
                ("Replace", format!("{symbol} in {file} by {with}"))
            }
            Self::SplicePlan { plan_file } => ("Splice", plan_file.clone()),
            Self::SymbolsInFile { file_path } => ("List symbols", file_path.clone()),
            Self::ReferencesToSymbolName { symbol } => ("Find references", symbol.clone()),
            Self::ReferencesFromFileToSymbolName { file_path, symbol } => {
                ("Find references", format!("{symbol} from {file_path}"))
            }
            Self::LspCheck { path } if path == "." => ("Check", "the workspace".to_owned()),
            Self::LspCheck { path } => ("Check", path.clone()),
            Self::Shell { command, target: None, .. } => ("Run", command.clone()),
            Self::Shell { command, target: Some(host), .. } => {
                ("Run", format!("{command} on {host}"))
            }
            Self::MutateBatch(batch) if batch.dry_run => ("Try edits of", files(&batch.edits)),
            Self::MutateBatch(batch) => ("Edit", files(&batch.edits)),
            Self::Verify { scope } => ("Verify", format!("the program, {}", scope.as_str())),
            Self::Compile { build } => ("Compile", program(build)),
            Self::Run { build, args } if args.is_empty() => ("Run", program(build)),
            Self::Run { build, args } => ("Run", format!("{} {}", program(build), args.join(" "))),
            Self::Simulate(simulation) => ("Simulate", simulated(simulation)),
            Self::Inspect { query, .. } => match query {
                InspectQuery::Overview => ("Inspect", "the program".to_owned()),
                InspectQuery::Search(text) => ("Search", text.clone()),
                InspectQuery::Symbol(name) => ("Find", name.clone()),
                InspectQuery::Semantic => ("Inspect", "the code graph".to_owned()),
            },
            Self::History { operation, .. } => match operation {
                HistoryOperation::ListEntries => ("List", "what was changed".to_owned()),
                HistoryOperation::ListCheckpoints => ("List", "the checkpoints".to_owned()),
                HistoryOperation::Undo { checkpoint: None } => {
                    ("Undo", "the last change".to_owned())
                }
                HistoryOperation::Undo { checkpoint: Some(checkpoint) } => {
                    ("Undo", checkpoint.clone())
                }
                HistoryOperation::Redo => ("Redo", "the last undone change".to_owned()),
                HistoryOperation::RestoreCheckpoint { checkpoint } => {
                    ("Restore", checkpoint.clone())
                }
                HistoryOperation::Diff { from, to } => {
                    let to = to.as_deref().unwrap_or("now");
                    ("Compare", format!("{from} with {to}"))
                }
            },
        }
    }
}

/// The first file of these edits, and how many more there are.
fn files(edits: &[Edit]) -> String {
    let mut paths: Vec<&str> = edits.iter().flat_map(Edit::paths).collect();
    paths.dedup();
    match paths.as_slice() {
        [first, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", rest.len()),
        paths => paths.concat(),
    }
}

fn program(build: &Build) -> String {
    build.entry_function.clone().unwrap_or_else(|| "the program".to_owned())
}

fn simulated(simulation: &Simulation) -> String {
    match simulation {
        Simulation::Edits { edits, .. } => files(edits),
        Simulation::Steps { steps, .. } => match steps.as_slice() {
            [step] => {
                let (verb, object) = step.headline();
                format!("{} {object}", verb.to_lowercase())
            }
            steps => format!("{} steps", steps.len()),
        },
        Simulation::Function { function, inputs, .. } => {
            format!("{function} {}", inputs.join(" "))
        }
    }
}
