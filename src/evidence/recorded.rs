//! Records runs that are over, many in one transaction.

use super::error::Result;
use super::write_run;
use super::write_step;
use super::{Entry, EvidenceError, EvidenceStore};

impl EvidenceStore {
    /// Commits the entries of runs that are over, in one transaction, with one sync for all of them. For example data: a
    /// run that is under way commits each entry by itself, because an effect must not happen before its intent is on
    /// the disk.
    ///
    /// # Errors
    /// [`EvidenceError::Unreadable`] for an entry of a loop; otherwise as for [`commit`](Self::commit). Then nothing is
    /// recorded.
    pub fn commit_recorded(&mut self, entries: &[Entry<'_>]) -> Result<()> {
        self.write_and_keep(|appender| {
            for entry in entries {
                match entry {
                    Entry::RunStart(start) => {
                        appender.forget_secrets();
                        write_run::run(appender, start)?;
                    }
                    Entry::Intent(intent) => write_step::intent(appender, intent)?,
                    Entry::Execution(record) => write_step::execution(appender, record)?,
                    Entry::Control(control) => write_run::control(appender, control)?,
                    Entry::RunEnd(end) => write_run::run_end(appender, end)?,
                    _ => {
                        let what = "an entry of a loop among recorded runs".to_owned();
                        return Err(EvidenceError::Unreadable { what });
                    }
                }
            }
            Ok(())
        })
    }
}
