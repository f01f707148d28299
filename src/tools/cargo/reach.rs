//! How far cargo came in a workspace: what stands behind an error is not looked at.

use std::collections::HashSet;

use serde::Deserialize;

use super::project::Project;
use super::{LOCATE_TIMEOUT, run};
use crate::tools::process::{Cause, Finished, Leftovers};
use crate::tools::{Context, Toolbox};

/// Most names of what was not reached.
const MOST_NAMES: usize = 1_000;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    id: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    #[serde(default, rename = "required-features")]
    required_features: Vec<String>,
}

/// A line of cargo about one target.
#[derive(Deserialize)]
struct Line {
    package_id: String,
    target: Target,
}

/// The targets of the workspace that a failed check did not come to, such as `user (lib)`; none of a check
/// that did not fail. Where cargo does not say what the workspace holds, that is what is said.
pub(super) fn not_reached(
    toolbox: &Toolbox,
    project: &Project,
    finished: &Finished,
    context: &Context<'_>,
) -> Vec<String> {
    if finished.exit_code == Some(0) {
        return Vec::new();
    }
    let arguments = ["metadata", "--no-deps", "--format-version=1", "--color=never"];
    let limits = (LOCATE_TIMEOUT, Leftovers::End);
    let found = run(toolbox, project, &arguments, limits, context, &|_, _| {}).ok();
    let found = found.filter(|it| it.cause == Cause::Itself && it.exit_code == Some(0));
    let metadata = found.and_then(|it| serde_json::from_slice(it.stdout.bytes()).ok());
    match metadata {
        Some(metadata) => behind(&metadata, finished.stdout.bytes()),
        None => vec!["what else is in the workspace".to_owned()],
    }
}

fn behind(metadata: &Metadata, stdout: &[u8]) -> Vec<String> {
    let lines = stdout.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{"));
    let reached: HashSet<(String, String, String)> = lines
        .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
        .map(|line| {
            let kind = checked_as(&line.target).unwrap_or_default();
            (line.package_id, kind.to_owned(), line.target.name)
        })
        .collect();
    let mut names = Vec::new();
    for package in &metadata.packages {
        for target in package.targets.iter().filter(|target| target.required_features.is_empty()) {
            let Some(kind) = checked_as(target) else { continue };
            let key = (package.id.clone(), kind.to_owned(), target.name.clone());
            if !reached.contains(&key) {
                names.push(match kind {
                    "lib" => format!("{} (lib)", package.name),
                    kind => format!("{} ({kind} {})", package.name, target.name),
                });
            }
        }
    }
    names.sort();
    if names.len() > MOST_NAMES {
        let more = names.len() - MOST_NAMES;
        names.truncate(MOST_NAMES);
        names.push(format!("… and {more} more"));
    }
    names
}

/// As what `cargo check` takes a target; nothing where it leaves it out.
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
