//! Opens the evidence of a location for writing.

use super::error::Result;
use super::{EvidenceLocation, EvidenceStore};

impl EvidenceLocation {
    /// Opens the evidence for writing.
    ///
    /// # Errors
    /// As for [`EvidenceStore::open`].
    pub fn store(&self) -> Result<EvidenceStore> {
        let opened = EvidenceStore::open(&self.evidence, &self.user_folders);
        match &opened {
            Ok(store) => {
                log::info!("evidence opened folder={:?}", self.evidence);
                store.note().iter().for_each(|note| log::warn!("evidence has a note={note:?}"));
            }
            Err(error) => {
                let (code, reason) = (error.failure().code, error.to_string());
                log::error!("evidence not opened code={code} reason={reason:?}");
            }
        }
        opened
    }
}
