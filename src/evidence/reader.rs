//! The reader.

use std::path::Path;

use uuid::Uuid;

use super::error::Result;
use crate::plan::Digest;
use crate::run::{
    ExecutionDetail, ExecutionRow, RunEvent, RunSummary, SearchPage, SearchQuery, VerifyReport,
};

/// Reads the evidence; never writes to it.
#[derive(Debug)]
pub struct EvidenceReader {}

impl EvidenceReader {
    /// Opens the evidence in `dir` for reading; an absent database is an empty one.
    pub fn open(_dir: &Path, _secrets: &Path) -> Result<Self> {
        Ok(Self {})
    }
    /// The latest runs, newest first.
    pub fn runs(&mut self, _limit: usize) -> Result<Vec<RunSummary>> {
        Ok(Vec::new())
    }
    /// One run.
    pub fn run(&mut self, _run_id: Uuid) -> Result<Option<RunSummary>> {
        Ok(None)
    }
    /// The exact bytes of the plan of a run.
    pub fn plan_of_run(&mut self, _run_id: Uuid) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
    /// The events of a run, rebuilt from its rows.
    pub fn replay(&mut self, _run_id: Uuid) -> Result<Vec<RunEvent>> {
        Ok(Vec::new())
    }
    /// Brings the search index up to date.
    pub fn catch_up_index(&mut self) -> Result<()> {
        Ok(())
    }
    /// Searches.
    pub fn search(&mut self, _query: &SearchQuery) -> Result<SearchPage> {
        Ok(SearchPage::default())
    }
    /// One execution in full (Q5).
    pub fn execution(&mut self, _id: Uuid) -> Result<Option<ExecutionDetail>> {
        Ok(None)
    }
    /// The content with this digest; none when there is none or it was purged.
    pub fn blob(&mut self, _digest: &Digest) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
    /// Q1: executions by tool.
    pub fn q1(
        &mut self,
        _tool: &str,
        _since_ms: Option<i64>,
        _until_ms: Option<i64>,
        _limit: usize,
    ) -> Result<Vec<ExecutionRow>> {
        Ok(Vec::new())
    }
}

/// Recomputes the chain.
pub fn verify(_dir: &Path, _known_head: Option<&Digest>) -> Result<VerifyReport> {
    Ok(VerifyReport { ok: true, rows: 0, head: Digest::from_bytes([0; 32]), first_bad: None })
}
