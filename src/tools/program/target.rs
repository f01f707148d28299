//! Selects a binary or example of a Cargo project.

use std::path::Path;

use super::ProgramError;
use super::relay::Relay;
use crate::cargo::{METADATA, Metadata, Package, Project, Target, failure_report};
use crate::process::{Cause, Leftovers, ProcessError};
use crate::tools::ToolError;

/// One binary or example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selected {
    pub(super) name: String,
    pub(super) is_example: bool,
    /// The manifest of the target's package, relative to the project's folder; `None` if it is in that folder.
    manifest: Option<String>,
}

impl Selected {
    /// The arguments of `cargo build` that select this target.
    pub(super) fn arguments(&self) -> Vec<String> {
        let kind = if self.is_example { "--example" } else { "--bin" };
        let manifest =
            self.manifest.iter().flat_map(|path| ["--manifest-path".to_owned(), path.clone()]);
        manifest.chain([kind.to_owned(), self.name.clone()]).collect()
    }
}

/// Selects the target with this name, or the default binary, from those that `cargo metadata` lists.
///
/// # Errors
/// cargo fails, a stop, no target has the name, several have it, or there is no default binary.
pub(super) fn select(
    relay: &Relay<'_>,
    project: &Project,
    entry: Option<&str>,
) -> Result<Selected, ToolError> {
    let finished = relay.cargo().run_quietly(project, &METADATA, Leftovers::End)?;
    if finished.cause == Some(Cause::Stopped) {
        return Err(ProcessError::Stopped.into());
    }
    let metadata: Option<Metadata> = match finished.exit_code {
        Some(0) => serde_json::from_slice(&finished.stdout).ok(),
        _ => None,
    };
    let Some(metadata) = metadata else {
        let program = format!("cargo {}", METADATA.join(" "));
        let status = "did not list the packages".to_owned();
        let output = failure_report(&finished.stderr);
        return Err(ProgramError::Failed { program, status, output }.into());
    };
    Ok(choose(&metadata, &project.folder, relay.toolbox.workspace(), entry)?)
}

fn choose(
    metadata: &Metadata,
    folder: &Path,
    workspace: &Path,
    entry: Option<&str>,
) -> Result<Selected, ProgramError> {
    let in_folder = |package: &&Package| Path::new(&package.manifest_path).parent() == Some(folder);
    let in_workspace =
        |package: &&Package| Path::new(&package.manifest_path).starts_with(workspace);
    let all: Vec<&Package> = metadata.packages.iter().filter(in_workspace).collect();
    // As cargo does, first search the package in the folder, or if there is none the default members; then search
    // all packages.
    let is_default = |package: &&Package| metadata.workspace_default_members.contains(&package.id);
    let mut preferred: Vec<&Package> = all.iter().copied().filter(in_folder).collect();
    if preferred.is_empty() {
        preferred = all.iter().copied().filter(is_default).collect();
    }
    let selected = |package: &Package, target: &Target| {
        let manifest = Path::new(&package.manifest_path);
        let elsewhere = manifest.parent() != Some(folder);
        let relative = manifest.strip_prefix(folder).unwrap_or(manifest);
        Selected {
            name: target.name.clone(),
            is_example: target.is_example() == Some(true),
            manifest: elsewhere.then(|| relative.to_string_lossy().into_owned()),
        }
    };
    let Some(name) = entry else { return default_binary(&preferred, &all, selected) };
    for packages in [&preferred, &all] {
        for example in [false, true] {
            let found: Vec<(&Package, &Target)> = targets(packages)
                .filter(|(_, target)| target.name == name && target.is_example() == Some(example))
                .collect();
            match found.as_slice() {
                [] => {}
                [(package, target)] => return Ok(selected(package, target)),
                several => {
                    let packages = several.iter().map(|(package, _)| package.name.clone());
                    let packages = packages.collect();
                    return Err(ProgramError::Ambiguous { name: name.to_owned(), packages });
                }
            }
        }
    }
    Err(ProgramError::NoEntry { name: name.to_owned(), known: names(&all) })
}

/// The binary that a package names as its default, or the only binary.
fn default_binary(
    preferred: &[&Package],
    all: &[&Package],
    selected: impl Fn(&Package, &Target) -> Selected,
) -> Result<Selected, ProgramError> {
    let binaries: Vec<_> =
        targets(preferred).filter(|(_, target)| target.is_example() == Some(false)).collect();
    let named: Vec<_> = binaries
        .iter()
        .filter(|(package, target)| package.default_run.as_ref() == Some(&target.name))
        .collect();
    match (named.as_slice(), binaries.as_slice()) {
        ([(package, target)], _) | (_, [(package, target)]) => Ok(selected(package, target)),
        _ => Err(ProgramError::NoDefault { known: names(all) }),
    }
}

fn targets<'p>(packages: &[&'p Package]) -> impl Iterator<Item = (&'p Package, &'p Target)> {
    packages
        .iter()
        .copied()
        .flat_map(|package| package.targets.iter().map(move |target| (package, target)))
}

/// The names of all binaries and examples.
fn names(packages: &[&Package]) -> Vec<String> {
    let programs = targets(packages).filter(|(_, target)| target.is_example().is_some());
    programs.map(|(_, target)| target.name.clone()).collect()
}
