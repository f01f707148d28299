//! Reads plan files, and lines of source files.

use std::fs::File;
use std::io::Read as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::query_thread::{Query, QueryContext, QueryError};
use crate::plan::{Code, Finding, limits};
use crate::run::{Failure, SourceLine};
use crate::tools::{ToolError, Toolbox};

/// Reads lines of a workspace file in its present state.
pub struct ReadSource {
    /// The workspace.
    pub workspace: PathBuf,
    /// The file, as the records name it.
    pub file: String,
    /// The line numbers to read, from 1.
    pub wanted: Vec<RangeInclusive<usize>>,
}

impl Query for ReadSource {
    type Answer = Vec<SourceLine>;
    const FAILURE: &str = "The source cannot be read.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let toolbox = Toolbox::open(&self.workspace, &context.setup.policy)?;
        Ok(toolbox.source_lines(&self.file, &self.wanted).map_err(ToolError::from)?)
    }
}

pub(super) fn cannot_write(file: &Path, error: &std::io::Error, next: &str) -> Failure {
    let message = format!("cannot write {}: {error}", file.display());
    Failure { code: Code::WriteFailed, message, next: next.to_owned() }
}

/// The bytes of a plan file. At most one byte more than the limit is read.
///
/// # Errors
/// A finding at line 1 with the reason why the file cannot be read.
pub fn read_plan_file(path: &Path) -> Result<Vec<u8>, Finding> {
    let refuse = |message: String| Finding::error(Code::NotJson, "", message);
    let cannot = |error: std::io::Error| refuse(format!("cannot read {}: {error}", path.display()));
    let mut options = File::options();
    options.read(true);
    // Opening a pipe without a writer would block forever.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path).map_err(cannot)?;
    // Metadata of the open file, because the path may name another file a moment later.
    let metadata = file.metadata().map_err(cannot)?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "a folder" } else { "no regular file" };
        return Err(refuse(format!("{} is {kind}; choose a plan file", path.display())));
    }
    let mut bytes = Vec::new();
    // One byte more than the limit shows that it is exceeded.
    let limit = u64::try_from(limits::PLAN_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}
