//! Finds the targets that a failed check did not fully cover.

use std::collections::HashSet;

use serde::Deserialize;

use super::{Cargo, METADATA, Metadata, Project, Target};
use crate::process::{Finished, Leftovers};

/// Maximum number of names of targets in one list.
const MAX_NAMES: usize = 1_000;

/// A line of cargo's output that concerns one target.
#[derive(Deserialize)]
struct TargetMessage {
    package_id: String,
    target: Target,
    #[serde(default)]
    message: Option<Message>,
}

/// The field of a diagnostic that gives its severity.
#[derive(Deserialize)]
struct Message {
    level: String,
}

/// Names of targets, such as `user (lib)`.
type Names = Vec<String>;

/// The targets that did not compile, and those that a check did not reach; none if it succeeded. If cargo does not
/// list the targets of the workspace, general phrases are returned instead of names.
pub(super) fn uncovered(
    cargo: &Cargo<'_>,
    project: &Project,
    finished: &Finished,
) -> (Names, Names) {
    if finished.exit_code == Some(0) {
        return Default::default();
    }
    let found = cargo.run_quietly(project, &METADATA, Leftovers::End).ok();
    let found = found.filter(Finished::is_success);
    let metadata = found.and_then(|it| serde_json::from_slice(&it.stdout).ok());
    match metadata {
        Some(metadata) => compare_targets(&metadata, &finished.stdout),
        None => (vec!["the package".to_owned()], vec!["what else is in the workspace".to_owned()]),
    }
}

/// Identifies a target: the id of its package, its kind for `cargo check`, its name.
type TargetKey = (String, String, String);

/// Compares the targets of the workspace with cargo's messages. Targets with required features are ignored, because
/// cargo skips them if their features are off.
fn compare_targets(metadata: &Metadata, stdout: &[u8]) -> (Names, Names) {
    let lines = stdout.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{"));
    let (mut reached, mut failed) = (HashSet::<TargetKey>::new(), HashSet::<TargetKey>::new());
    for line in lines.filter_map(|line| serde_json::from_slice::<TargetMessage>(line).ok()) {
        let kind = checked_as(&line.target).unwrap_or_default();
        let key = (line.package_id, kind.to_owned(), line.target.name);
        if line.message.is_some_and(|message| message.level.starts_with("error")) {
            failed.insert(key.clone());
        }
        reached.insert(key);
    }
    let (mut not_reached, mut not_compiled) = (Vec::new(), Vec::new());
    for package in &metadata.packages {
        for target in package.targets.iter().filter(|target| target.required_features.is_empty()) {
            let Some(kind) = checked_as(target) else { continue };
            let key = (package.id.clone(), kind.to_owned(), target.name.clone());
            let name = || match kind {
                "lib" => format!("{} (lib)", package.name),
                kind => format!("{} ({kind} {})", package.name, target.name),
            };
            if failed.contains(&key) {
                not_compiled.push(name());
            } else if !reached.contains(&key) {
                not_reached.push(name());
            }
        }
    }
    (shortened(not_compiled), shortened(not_reached))
}

/// The first [`MAX_NAMES`] names in order, and a last item with the number of the others.
fn shortened(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    if names.len() > MAX_NAMES {
        let more = names.len() - MAX_NAMES;
        names.truncate(MAX_NAMES);
        names.push(format!("… and {more} more"));
    }
    names
}

/// The kind under which `cargo check` checks a target; `None` for a target that it skips.
fn checked_as(target: &Target) -> Option<&'static str> {
    let is = |kinds: &[&str]| target.kind.iter().any(|kind| kinds.contains(&kind.as_str()));
    if is(&["lib", "rlib", "dylib", "cdylib", "staticlib", "proc-macro"]) {
        Some("lib")
    } else if is(&["bin"]) {
        Some("bin")
    } else {
        None
    }
}
