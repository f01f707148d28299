//! Selects a binary or example of a Cargo project.

use std::path::Path;

use super::error::ProgramError;
use crate::cargo::{METADATA, Metadata, Package, Project, Target, failure_report};
use crate::process::{Cause, Leftovers, ProcessError};
use crate::tools::{Context, ToolError, Toolbox};

/// One binary or example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selected {
    pub(super) name: String,
    pub(super) is_example: bool,
    /// The manifest of its package, relative to the project's folder; `None` when it is in that folder.
    manifest: Option<String>,
}

impl Selected {
    pub(super) fn arguments(&self) -> Vec<String> {
        let kind = if self.is_example { "--example" } else { "--bin" };
        let manifest =
            self.manifest.iter().flat_map(|it| ["--manifest-path".to_owned(), it.clone()]);
        manifest.chain([kind.to_owned(), self.name.clone()]).collect()
    }
}

/// Selects the target with this name, or the default binary, from those that `cargo metadata` lists.
///
/// # Errors
/// When cargo fails, or no program matches.
pub(super) fn select(
    toolbox: &Toolbox,
    project: &Project,
    entry: Option<&str>,
    context: &Context<'_>,
) -> Result<Selected, ToolError> {
    let cargo = toolbox.cargo(context);
    let found = cargo.run_quietly(project, &METADATA, Leftovers::End)?;
    if found.cause == Some(Cause::Stopped) {
        return Err(ProcessError::Stopped.into());
    }
    let metadata: Option<Metadata> = match found.exit_code {
        Some(0) => serde_json::from_slice(&found.stdout).ok(),
        _ => None,
    };
    let Some(metadata) = metadata else {
        let program = format!("cargo {}", METADATA.join(" "));
        let how = "did not say what there is".to_owned();
        let said = failure_report(&found.stderr);
        return Err(ProgramError::Failed { program, how, said }.into());
    };
    Ok(choose(&metadata, &project.folder, toolbox.workspace(), entry)?)
}

fn choose(
    metadata: &Metadata,
    folder: &Path,
    workspace: &Path,
    entry: Option<&str>,
) -> Result<Selected, ProgramError> {
    let here = |package: &&Package| Path::new(&package.manifest_path).parent() == Some(folder);
    let inside = |package: &&Package| Path::new(&package.manifest_path).starts_with(workspace);
    let all: Vec<&Package> = metadata.packages.iter().filter(inside).collect();
    // In cargo's order: the package in the folder, or else the default members. A name is then looked up in
    // all packages.
    let is_default = |package: &&Package| metadata.workspace_default_members.contains(&package.id);
    let mut usual: Vec<&Package> = all.iter().copied().filter(here).collect();
    if usual.is_empty() {
        usual = all.iter().copied().filter(is_default).collect();
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
    let Some(name) = entry else { return default(&usual, &all, selected) };
    for packages in [&usual, &all] {
        for example in [false, true] {
            let found: Vec<(&Package, &Target)> = targets(packages)
                .filter(|(_, it)| it.name == name && it.is_example() == Some(example))
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

fn default(
    usual: &[&Package],
    all: &[&Package],
    selected: impl Fn(&Package, &Target) -> Selected,
) -> Result<Selected, ProgramError> {
    let binaries: Vec<_> =
        targets(usual).filter(|(_, target)| target.is_example() == Some(false)).collect();
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
    packages.iter().copied().flat_map(|package| package.targets.iter().map(move |it| (package, it)))
}

/// The names of all binaries and examples.
fn names(packages: &[&Package]) -> Vec<String> {
    let programs = targets(packages).filter(|(_, target)| target.is_example().is_some());
    programs.map(|(_, target)| target.name.clone()).collect()
}
