//! Plans that settle an interrupted step (SPEC §8 *Reconcile*): one takes the step back, the other finishes it. This
//! module only makes the plan; the plan is shown, authorized, run and recorded like any other.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::continuation::{FollowUpError, ended};
use crate::authorization::FileState;
use crate::evidence::{EvidenceReader, OpenIntent};
use crate::plan::{Batch, Edit, batch_plan, limits};
use crate::risk::Policy;
use crate::run::{DiskState, FileForecast, RunSummary, Way};
use crate::tools::Toolbox;

/// The exact bytes of a plan that brings the files of a run's interrupted steps to their earlier or to their intended
/// state, and the run. A file in neither state was changed by somebody else: the plan leaves it alone and notes that.
/// It also notes contents that no plan can hold.
///
/// # Errors
/// When the run is unknown or under way, its workspace cannot be opened, or there is nothing to do.
pub(super) fn settlement_of(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
    way: Way,
    policy: &Policy,
) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
    let run = ended(evidence, run_id)?;
    let toolbox = Toolbox::open(run.workspace.as_ref(), policy)?;
    let mut work =
        Settlement { evidence, toolbox: &toolbox, way, batch: Batch::default(), notes: Vec::new() };
    let mut batches = Vec::new();
    for intent in work.evidence.open_intents(run_id)? {
        if !Way::fits(&intent.tool_name) {
            if way.removes_leftovers(&intent.tool_name) {
                work.remove_leftovers(&intent);
            }
            continue;
        }
        // The latest step is taken back first. There is one such step unless two processes ran.
        let renames = work.renames(&intent.files);
        for file in &intent.files {
            if let Some(to) = renames.get(&file.path) {
                work.rename(&intent, file, to);
            } else if !renames.values().any(|to| *to == file.path) {
                work.file(&intent, file)?;
            }
            if work.batch.edits.len() + MAX_EDITS_OF_FILE > limits::EDITS {
                batches.push(std::mem::take(&mut work.batch));
            }
        }
    }
    let Settlement { batch, mut notes, .. } = work;
    batches.extend(Some(batch).filter(|batch| !batch.edits.is_empty()));
    if batches.is_empty() {
        if notes.is_empty() {
            notes.push("every file already has the content that it would get".to_owned());
        }
        let why = notes.join(" ");
        return Err(FollowUpError::NothingToSettle { run_id, why });
    }
    if batches.len() > 1 {
        notes.push(format!(
            "The edits do not fit into one batch: each of the {} batches is applied as a whole, one after the other.",
            batches.len()
        ));
    }
    let mut short = run_id.to_string();
    short.truncate(8);
    let goal = match way {
        Way::RollBack => format!("Roll back what run {short} was doing when it was interrupted"),
        Way::Finish => format!("Finish what run {short} was doing when it was interrupted"),
    };
    let bytes = batch_plan(&goal, &notes.join(" "), &batches);
    Ok((run, bytes.ok_or(FollowUpError::TooLarge { run_id })?))
}

/// The maximum number of edits for one file: a rename, and the removal of temporary files beside both names.
const MAX_EDITS_OF_FILE: usize = 3;

struct Settlement<'a> {
    evidence: &'a mut EvidenceReader,
    toolbox: &'a Toolbox,
    way: Way,
    batch: Batch,
    notes: Vec<String>,
}

impl Settlement<'_> {
    fn wanted(&self, file: &FileForecast) -> FileState {
        match self.way {
            Way::RollBack => file.before,
            Way::Finish => file.after,
        }
    }

    /// Pairs of names to rename: the first file is to be removed, and has the content that the second, absent one is
    /// to get. A rename keeps the mode; writing the content would not.
    fn renames(&self, files: &[FileForecast]) -> BTreeMap<String, String> {
        let now = |file: &FileForecast| self.toolbox.digest_of(&file.path).ok();
        let mut going: Vec<&FileForecast> = files
            .iter()
            .filter(|file| {
                self.wanted(file) == FileState::Absent && now(file) != Some(FileState::Absent)
            })
            .collect();
        let mut renames = BTreeMap::new();
        for to in files {
            let wanted = self.wanted(to);
            if wanted == FileState::Absent || now(to) != Some(FileState::Absent) {
                continue;
            }
            if let Some(at) = going.iter().position(|from| now(from) == Some(wanted)) {
                renames.insert(going.remove(at).path.clone(), to.path.clone());
            }
        }
        renames
    }

    fn rename(&mut self, intent: &OpenIntent, from: &FileForecast, to: &str) {
        for path in [from.path.as_str(), to] {
            if let Some((state, leftover)) = self.leftover(intent, path) {
                self.delete(leftover, state);
            }
        }
        if let Ok(now) = self.toolbox.digest_of(&from.path) {
            self.expect(&from.path, now);
        }
        self.batch.edits.push(Edit::Rename { path: from.path.clone(), to: to.to_owned() });
    }

    /// The state and path of the temporary file that this execution left for `path`; its name contains the
    /// execution's id.
    fn leftover(&self, intent: &OpenIntent, path: &str) -> Option<(FileState, String)> {
        let leftover = self.toolbox.leftover(path, intent.execution_id).unwrap_or_default()?;
        Some((self.toolbox.digest_of(&leftover).ok()?, leftover))
    }

    /// Deletes temporary files that a replacement left. The replaced files are not changed, because it is unknown
    /// whether they passed their check.
    fn remove_leftovers(&mut self, intent: &OpenIntent) {
        let mut paths: Vec<&str> = intent.files.iter().map(|file| file.path.as_str()).collect();
        paths.dedup();
        for path in paths {
            let own = self.leftover(intent, path).map(|(_, leftover)| leftover);
            let by_splice = self.toolbox.left_by_splice(path).unwrap_or_default();
            for leftover in own.into_iter().chain(by_splice) {
                let Ok(state) = self.toolbox.digest_of(&leftover) else { continue };
                if self.batch.expected_hashes.contains_key(&leftover) {
                    continue;
                }
                self.delete(leftover, state);
                self.notes.push(format!(
                    "{path} is left as it is: whether it passed its check is not known."
                ));
            }
        }
    }

    fn file(&mut self, intent: &OpenIntent, file: &FileForecast) -> Result<(), FollowUpError> {
        let path = &file.path;
        let wanted = self.wanted(file);
        let now = self.toolbox.digest_of(path).ok();
        let waits = self.leftover(intent, path);
        let has = |wanted| waits.as_ref().filter(|(state, _)| *state == wanted);
        let Some(now) = now else {
            self.notes.push(format!("{path} is left alone: it cannot be read."));
            return Ok(());
        };
        let found = DiskState::of(file, Some(now));
        if !matches!(found, DiskState::AsBefore | DiskState::AsAfter | DiskState::Same) {
            self.notes.push(format!("{path} is left alone: somebody changed it."));
            return Ok(());
        }
        if now == wanted {
            if let Some((state, leftover)) = waits {
                self.delete(leftover, state);
            }
            return Ok(());
        }
        let FileState::Content(digest) = wanted else {
            self.delete(path.clone(), now);
            return Ok(());
        };
        let text = self.evidence.blob(&digest)?.map(String::from_utf8);
        let text = match text {
            Some(Ok(text)) if text.len() <= limits::ARGUMENT_BYTES => Ok(text),
            Some(Ok(_)) => Err("it is too large for a plan"),
            Some(Err(_)) => Err("it is not text, and a plan can hold only text"),
            None => Err("the evidence does not have it, or cannot read it here"),
        };
        match (has(wanted).cloned(), text) {
            // A rename restores the mode too, and works for any content.
            (Some((state, leftover)), text) if now == FileState::Absent || text.is_err() => {
                self.expect(&leftover, state);
                if now != FileState::Absent {
                    self.delete(path.clone(), now);
                }
                self.batch.edits.push(Edit::Rename { path: leftover, to: path.clone() });
            }
            (_, Ok(contents)) => {
                let path = path.clone();
                if now == FileState::Absent && self.way == Way::RollBack {
                    self.notes.push(format!(
                        "{path} is restored with the mode of a new file: an edit cannot set a mode."
                    ));
                }
                self.expect(&path, now);
                self.batch.edits.push(match now {
                    FileState::Absent => Edit::Create { path, contents },
                    FileState::Content(_) => Edit::Write { path, contents },
                });
                if let Some((state, leftover)) = waits {
                    self.delete(leftover, state);
                }
            }
            (_, Err(why)) => {
                let which = match self.way {
                    Way::RollBack => "its earlier content",
                    Way::Finish => "its predicted content",
                };
                self.notes.push(format!("{path} does not get {which}: {why}."));
            }
        }
        Ok(())
    }

    fn delete(&mut self, path: String, now: FileState) {
        self.expect(&path, now);
        self.batch.edits.push(Edit::Delete { path });
    }

    /// Adds the present state of the file as a precondition.
    fn expect(&mut self, path: &str, now: FileState) {
        if let FileState::Content(digest) = now {
            self.batch.expected_hashes.insert(path.to_owned(), digest);
        }
    }
}
