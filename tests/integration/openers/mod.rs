//! Files of other programs as plans, compared with what those programs do (SPEC §13).

#[cfg(unix)]
mod aider;
#[cfg(unix)]
mod codex;
mod convert;
#[cfg(unix)]
mod git;
#[cfg(unix)]
mod numbers;
#[cfg(unix)]
mod ranges;
#[cfg(unix)]
mod shapes;
#[cfg(unix)]
mod terraform;

use std::fs;
use std::path::Path;

use countersign::plan::{Finding, Plan, parse};
use countersign::risk::Policy;
use countersign::worker::{PlanFile, read_plan_file};

/// The plan that the bytes of a file are opened as in a workspace, or what was found.
fn planned(bytes: &[u8], workspace: &Path) -> Result<Plan, Vec<Finding>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, bytes).unwrap();
    let read = read_plan_file(&path, workspace, &Policy::default);
    let PlanFile { bytes, .. } = read.map_err(|it| it.findings)?;
    let parsed = parse(&bytes);
    parsed.plan.map_err(|_| parsed.findings)
}
