//! Reads plan files, and lines of source files.

use std::fs::File;
use std::io::Read as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::surroundings::PlanSurroundings;
use super::{Query, QueryContext, QueryError};
use crate::authorization::FileState;
use crate::openers::{self, Files, Format, Opened};
use crate::plan::{Code, Finding, limits};
use crate::risk::Policy;
use crate::run::{Failure, SourceLine};
use crate::tools::{ToolError, Toolbox};

/// Reads lines of a workspace file in its present state.
pub struct ReadSource {
    /// The workspace.
    pub workspace: PathBuf,
    /// The file, as the diagnostic names it.
    pub file: String,
    /// The ranges of lines to read; line numbers start at 1.
    pub lines: Vec<RangeInclusive<usize>>,
}

impl Query for ReadSource {
    type Answer = Vec<SourceLine>;
    const FAILURE: &str = "The source cannot be read.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let toolbox = Toolbox::open(&self.workspace, &context.setup.policy)?;
        Ok(toolbox.source_lines(&self.file, &self.lines).map_err(ToolError::from)?)
    }
}

/// Finds the files that are no longer in a known state.
pub struct ChangedFiles {
    /// The workspace.
    pub workspace: PathBuf,
    /// The files, by their paths in the workspace, with their known states.
    pub files: Vec<(String, FileState)>,
}

impl Query for ChangedFiles {
    type Answer = Vec<String>;
    const FAILURE: &str = "Whether the files of the question have changed is not known.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let toolbox = Toolbox::open(&self.workspace, &context.setup.policy)?;
        // One that cannot be read any more has changed, too.
        let is_changed = |(path, known): &(String, FileState)| {
            toolbox.digest_of(path).ok().is_none_or(|now| now != *known)
        };
        Ok(self.files.into_iter().filter(is_changed).map(|(path, _)| path).collect())
    }
}

/// The failure for a file that cannot be written; `next` is what the person can do.
pub(super) fn cannot_write(file: &Path, error: &std::io::Error, next: &str) -> Failure {
    let message = format!("cannot write {}: {error}", file.display());
    Failure { code: Code::WriteFailed, message, next: next.to_owned() }
}

/// What was read as a plan.
#[derive(Debug)]
pub struct PlanFile {
    /// The bytes of the plan. Of a file above [`limits::PLAN_BYTES`], one byte more than the limit.
    pub bytes: Vec<u8>,
    /// The format of the file, if it is of another program; then the bytes were made from it.
    pub format: Option<Format>,
    /// What should be known about a file of another program. Lines are those of the file.
    pub findings: Vec<Finding>,
}

/// A file that is no plan.
#[derive(Debug)]
pub struct Unusable {
    /// Its format, if it is of another program.
    pub format: Option<Format>,
    /// Why not.
    pub findings: Vec<Finding>,
}

/// Reads a plan file, or opens a file of another program as a plan of this workspace. The policy is asked for only if
/// files of the workspace have to be read.
///
/// # Errors
/// The file cannot be read, or a plan cannot say what it says.
pub fn read_plan_file(
    path: &Path,
    workspace: &Path,
    policy: &dyn Fn() -> Policy,
) -> Result<PlanFile, Unusable> {
    let bytes = read_file_bytes(path)
        .map_err(|finding| Unusable { format: None, findings: vec![finding] })?;
    plan_of(bytes, &PlanSurroundings::new(path, workspace, policy))
}

/// As [`read_plan_file`], for the bytes of a file.
pub(super) fn plan_of(bytes: Vec<u8>, files: &dyn Files) -> Result<PlanFile, Unusable> {
    // The bytes of a larger file end somewhere in it. The parser says that it is too large.
    if bytes.len() > limits::PLAN_BYTES {
        return Ok(PlanFile { bytes, format: None, findings: Vec::new() });
    }
    let Some(Opened { format, plan, findings }) = openers::open(&bytes, files) else {
        return Ok(PlanFile { bytes, format: None, findings: Vec::new() });
    };
    match plan {
        Some(bytes) => Ok(PlanFile { bytes, format: Some(format), findings }),
        None => Err(Unusable { format: Some(format), findings }),
    }
}

/// As [`read_plan_file`], but a link is not followed: of what others put into the inbox, nothing outside of it is read.
///
/// # Errors
/// As [`read_plan_file`], and for a link.
pub fn read_unlinked(
    path: &Path,
    workspace: &Path,
    policy: &dyn Fn() -> Policy,
) -> Result<PlanFile, Unusable> {
    let bytes = read_file(path, OFlags::NOFOLLOW)
        .map_err(|finding| Unusable { format: None, findings: vec![finding] })?;
    plan_of(bytes, &PlanSurroundings::new(path, workspace, policy))
}

/// The bytes of a file that may be a plan. Of a file above [`limits::PLAN_BYTES`], one byte more than the limit.
///
/// # Errors
/// The file cannot be read, as a finding.
pub fn read_file_bytes(path: &Path) -> Result<Vec<u8>, Finding> {
    read_file(path, OFlags::empty())
}

fn read_file(path: &Path, also: OFlags) -> Result<Vec<u8>, Finding> {
    let finding = |message: String| Finding::error(Code::NotJson, "", message);
    let io_finding =
        |error: std::io::Error| finding(format!("cannot read {}: {error}", path.display()));
    let mut options = File::options();
    options.read(true);
    // Opening a pipe without a writer would block forever.
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        OFlags::NONBLOCK.union(also).bits().cast_signed(),
    );
    let file = options.open(path).map_err(io_finding)?;
    // Metadata of the open file, because the path may name another file a moment later.
    let metadata = file.metadata().map_err(io_finding)?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "a folder" } else { "no regular file" };
        return Err(finding(format!("{} is {kind}; choose a plan file", path.display())));
    }
    let mut bytes = Vec::new();
    // By the additional byte, the parser finds that the limit is exceeded.
    let limit = u64::try_from(limits::PLAN_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(io_finding)?;
    Ok(bytes)
}
