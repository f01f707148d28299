//! Plans that settle interrupted steps (SPEC §8 *Reconcile*): one takes the steps back, the other finishes them. This
//! module only makes the plan; the plan is shown, authorized, run and recorded like any other.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::FollowUpError;
use super::continuation::{ended_run, with_all_records};
use crate::authorization::FileState;
use crate::evidence::{EvidenceReader, OpenIntent};
use crate::plan::{Batch, Edit, batch_plan, limits};
use crate::risk::Policy;
use crate::run::{DiskState, FileForecast, RunSummary, SettleMode};
use crate::tools::Toolbox;

/// The run, and the exact bytes of a plan that brings the files of its interrupted steps to their earlier or to their
/// intended state. A file in neither state was changed by somebody else: the plan does not change it, and has a note
/// about it. The plan also has a note for each file whose content is not available or does not fit into a plan.
///
/// # Errors
/// When the run is unknown or under way, its workspace cannot be opened, the evidence cannot be read, no edit is
/// needed or possible, or the plan is too large.
pub(super) fn settlement_of(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
    way: SettleMode,
    policy: &Policy,
) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
    let run = with_all_records(ended_run(evidence, run_id)?)?;
    let toolbox = Toolbox::open(run.workspace.as_ref(), policy)?;
    let mut settlement =
        Settlement { evidence, toolbox: &toolbox, way, batch: Batch::default(), notes: Vec::new() };
    let mut batches = Vec::new();
    // The steps of which it is not known what they changed, or whether that passed its check.
    let mut unknown = Vec::new();
    let intents = settlement.evidence.open_intents(run_id)?;
    let none_interrupted = intents.is_empty();
    for intent in intents {
        if !SettleMode::fits(&intent.tool_name) {
            if way.removes_leftovers(&intent.tool_name) {
                settlement.remove_leftovers(&intent);
            }
            unknown.push(intent.step_index + 1);
            continue;
        }
        // The steps are settled in the order of their intents. Usually only one was interrupted.
        let renames = settlement.renames(&intent.files);
        for file in &intent.files {
            if let Some(to) = renames.get(&file.path) {
                settlement.add_rename(&intent, file, to);
            } else if !renames.values().any(|to| *to == file.path) {
                settlement.add_file(&intent, file)?;
            }
            if settlement.batch.edits.len() + MAX_EDITS_PER_FILE > limits::EDITS {
                batches.push(std::mem::take(&mut settlement.batch));
            }
        }
    }
    let Settlement { batch, mut notes, .. } = settlement;
    batches.extend(Some(batch).filter(|batch| !batch.edits.is_empty()));
    if batches.is_empty() {
        notes.extend(unknown.iter().map(|step| {
            format!("what step {step} left behind is not known, so look at its files yourself.")
        }));
        if none_interrupted {
            notes.push("no step of it was interrupted".to_owned());
        } else if notes.is_empty() {
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
    let mut short_id = run_id.to_string();
    short_id.truncate(8);
    let goal = match way {
        SettleMode::RollBack => {
            format!("Roll back what run {short_id} was doing when it was interrupted")
        }
        SettleMode::Finish => {
            format!("Finish what run {short_id} was doing when it was interrupted")
        }
    };
    let bytes = batch_plan(&goal, &notes.join(" "), &batches);
    Ok((run, bytes.ok_or(FollowUpError::TooLarge { run_id })?))
}

/// The maximum number of edits for one file: a rename, and the removal of temporary files beside both names.
const MAX_EDITS_PER_FILE: usize = 3;

struct Settlement<'a> {
    evidence: &'a mut EvidenceReader,
    toolbox: &'a Toolbox,
    way: SettleMode,
    batch: Batch,
    notes: Vec<String>,
}

impl Settlement<'_> {
    /// The state to which the plan brings the file.
    fn target_state(&self, file: &FileForecast) -> FileState {
        match self.way {
            SettleMode::RollBack => file.before,
            SettleMode::Finish => file.after,
        }
    }

    /// The renames, from the present to the new path: the file at the first is to be removed, and has the content that
    /// the absent file at the second is to get. A rename keeps the mode; writing the content would not.
    fn renames(&self, files: &[FileForecast]) -> BTreeMap<String, String> {
        let now = |file: &FileForecast| self.toolbox.digest_of(&file.path).ok();
        let mut removed: Vec<&FileForecast> = files
            .iter()
            .filter(|file| {
                self.target_state(file) == FileState::Absent && now(file) != Some(FileState::Absent)
            })
            .collect();
        let mut renames = BTreeMap::new();
        for to in files {
            let target = self.target_state(to);
            if target == FileState::Absent || now(to) != Some(FileState::Absent) {
                continue;
            }
            if let Some(index) = removed.iter().position(|from| now(from) == Some(target)) {
                renames.insert(removed.remove(index).path.clone(), to.path.clone());
            }
        }
        renames
    }

    fn add_rename(&mut self, intent: &OpenIntent, from: &FileForecast, to: &str) {
        for path in [from.path.as_str(), to] {
            if let Some((state, leftover)) = self.leftover(intent, path) {
                self.add_delete(leftover, state);
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
        let leftover = self.toolbox.leftover_file(path, intent.execution_id).unwrap_or_default()?;
        Some((self.toolbox.digest_of(&leftover).ok()?, leftover))
    }

    /// Deletes the temporary files that a step of `splice` left. The files that it replaces are not changed, because it
    /// is unknown whether they passed their check.
    fn remove_leftovers(&mut self, intent: &OpenIntent) {
        let mut paths: Vec<&str> = intent.files.iter().map(|file| file.path.as_str()).collect();
        paths.dedup();
        for path in paths {
            let own = self.leftover(intent, path).map(|(_, leftover)| leftover);
            let by_splice = self.toolbox.splice_leftovers(path).unwrap_or_default();
            for leftover in own.into_iter().chain(by_splice) {
                let Ok(state) = self.toolbox.digest_of(&leftover) else { continue };
                if self.batch.expected_hashes.contains_key(&leftover) {
                    continue;
                }
                self.add_delete(leftover, state);
                self.notes.push(format!(
                    "{path} is left as it is: whether it passed its check is not known."
                ));
            }
        }
    }

    /// Adds the edits that bring one file to its target state, or a note why it is not changed.
    fn add_file(&mut self, intent: &OpenIntent, file: &FileForecast) -> Result<(), FollowUpError> {
        let path = &file.path;
        let target = self.target_state(file);
        let now = self.toolbox.digest_of(path).ok();
        let leftover = self.leftover(intent, path);
        let Some(now) = now else {
            self.notes.push(format!("{path} is left alone: it cannot be read."));
            return Ok(());
        };
        let disk_state = DiskState::of(file, Some(now));
        if !matches!(disk_state, DiskState::AsBefore | DiskState::AsAfter | DiskState::Same) {
            self.notes.push(format!("{path} is left alone: something else changed it."));
            return Ok(());
        }
        if now == target {
            if let Some((state, leftover)) = leftover {
                self.add_delete(leftover, state);
            }
            return Ok(());
        }
        let FileState::Content(digest) = target else {
            self.add_delete(path.clone(), now);
            return Ok(());
        };
        let text = self.evidence.blob(&digest)?.map(String::from_utf8);
        let text = match text {
            Some(Ok(text)) if text.len() <= limits::ARGUMENT_BYTES => Ok(text),
            Some(Ok(_)) => Err("it is too large for a plan"),
            Some(Err(_)) => Err("it is not text, and a plan can hold only text"),
            None => Err("the evidence does not have it, or cannot read it here"),
        };
        let with_target = leftover.clone().filter(|(state, _)| *state == target);
        match (with_target, text) {
            // A rename restores the mode too, and works for any content.
            (Some((state, leftover)), text) if now == FileState::Absent || text.is_err() => {
                self.expect(&leftover, state);
                if now != FileState::Absent {
                    self.add_delete(path.clone(), now);
                }
                self.batch.edits.push(Edit::Rename { path: leftover, to: path.clone() });
            }
            (_, Ok(contents)) => {
                let path = path.clone();
                if now == FileState::Absent && self.way == SettleMode::RollBack {
                    self.notes.push(format!(
                        "{path} is restored with the mode of a new file: an edit cannot set a mode."
                    ));
                }
                self.expect(&path, now);
                self.batch.edits.push(match now {
                    FileState::Absent => Edit::Create { path, contents },
                    FileState::Content(_) => Edit::Write { path, contents },
                });
                if let Some((state, leftover)) = leftover {
                    self.add_delete(leftover, state);
                }
            }
            (_, Err(why)) => {
                let target = match self.way {
                    SettleMode::RollBack => "its earlier content",
                    SettleMode::Finish => "its predicted content",
                };
                self.notes.push(format!("{path} does not get {target}: {why}."));
            }
        }
        Ok(())
    }

    fn add_delete(&mut self, path: String, now: FileState) {
        self.expect(&path, now);
        self.batch.edits.push(Edit::Delete { path });
    }

    /// Requires that the file still has this content when the plan runs; an absent file needs no such condition.
    fn expect(&mut self, path: &str, now: FileState) {
        if let FileState::Content(digest) = now {
            self.batch.expected_hashes.insert(path.to_owned(), digest);
        }
    }
}
