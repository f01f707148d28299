//! Comparison of an interrupted step with the disk (SPEC §8 *Reconcile*). Pure; the engine calls it.

use serde::Serialize;
use uuid::Uuid;

use super::Modes;
use crate::authorization::FileState;
use crate::plan::Tool;

/// The effect on one file that an intent predicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileForecast {
    /// The file, by its canonical path.
    pub path: String,
    /// The state just before the call of the tool.
    pub before: FileState,
    /// The state after the call.
    pub after: FileState,
    /// The permission bits before and after.
    pub modes: Modes,
}

/// The state of a file of an interrupted step, compared with the prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskState {
    /// The file is as before: the step did not change it.
    AsBefore,
    /// The file is as predicted: the step has changed it.
    AsAfter,
    /// The file is as predicted, but the step checks it after writing, and the result of the check is unknown.
    WrittenUnchecked,
    /// The file is as predicted in the middle of a step that writes it several times: the step was interrupted in
    /// between.
    WrittenInPart,
    /// The predicted states before and after are equal, and the file has that state.
    Same,
    /// The file has neither predicted state: something else changed it.
    Neither,
    /// The file was present before the step, should be present after it, and is absent.
    Absent,
    /// The file cannot be read.
    Unreadable,
    /// There is no prediction to compare.
    NotPredicted,
}

/// One file of an interrupted step, compared with the disk; or the whole step, if no file was predicted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reconciled {
    /// The execution that has an intent and no record.
    pub execution_id: Uuid,
    /// The step.
    pub step_id: String,
    /// The index of the step, from 0.
    pub step_index: usize,
    /// The tool.
    pub tool_name: String,
    /// The file, by its canonical path; `None` if no file was predicted.
    pub path: Option<String>,
    /// The predicted state before the step.
    pub before: Option<FileState>,
    /// The predicted state after the step.
    pub after: Option<FileState>,
    /// The present state; `None` if the file cannot be read.
    pub now: Option<FileState>,
    /// What the comparison shows about the step.
    pub finding: DiskState,
    /// The canonical path of a temporary file that the step left beside the file. Only a person deletes it: if the
    /// step changes several files, it holds the earlier or the new content of this file.
    pub leftover: Option<String>,
}

/// How an interrupted step can be settled (SPEC §8). A person chooses, and a separate plan settles the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SettleMode {
    /// Restore the files as they were before the step.
    RollBack,
    /// Bring the files to the state that the step should have reached.
    Finish,
}

impl SettleMode {
    /// Both modes, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::RollBack, Self::Finish];

    /// Whether a step of this tool can be settled by its files. A step that checks what it has written cannot.
    pub fn fits(tool_name: &str) -> bool {
        let writers = [Tool::FileWrite, Tool::FileCreate, Tool::MutateBatch, Tool::History];
        writers.map(Tool::name).contains(&tool_name)
    }

    /// Whether the temporary files of an interrupted step of this tool can be removed, although its own files
    /// cannot be restored or finished.
    pub fn removes_leftovers(self, tool_name: &str) -> bool {
        let replaces = [Tool::SplicePatch, Tool::SplicePlan].map(Tool::name);
        self == Self::RollBack && replaces.contains(&tool_name)
    }

    /// Whether settling a step in this mode would still change or remove a file.
    pub fn is_open<'a>(self, found: impl IntoIterator<Item = &'a Reconciled>) -> bool {
        let unsettled = match self {
            Self::RollBack => DiskState::AsAfter,
            Self::Finish => DiskState::AsBefore,
        };
        found.into_iter().any(|file| {
            let fits = Self::fits(&file.tool_name);
            (fits && file.finding == unsettled)
                || (file.leftover.is_some() && (fits || self.removes_leftovers(&file.tool_name)))
        })
    }
}

impl DiskState {
    /// Compares the prediction for a file with its present state.
    pub fn of(forecast: &FileForecast, now: Option<FileState>) -> Self {
        let Some(now) = now else { return Self::Unreadable };
        match (now == forecast.before, now == forecast.after, now) {
            (true, true, _) => Self::Same,
            (true, false, _) => Self::AsBefore,
            (false, true, _) => Self::AsAfter,
            (false, false, FileState::Absent) => Self::Absent,
            (false, false, FileState::Content(_)) => Self::Neither,
        }
    }

    /// As [`Self::of`], for a step that writes a file, perhaps several times, and checks it afterwards. `forecasts`
    /// are the predictions for this file, in order.
    pub fn of_checked(forecasts: &[FileForecast], now: Option<FileState>) -> Self {
        let (Some(first), Some((last, earlier))) = (forecasts.first(), forecasts.split_last())
        else {
            return Self::NotPredicted;
        };
        let total = FileForecast { before: first.before, ..last.clone() };
        match Self::of(&total, now) {
            Self::AsAfter => Self::WrittenUnchecked,
            Self::Neither if earlier.iter().any(|it| Some(it.after) == now) => Self::WrittenInPart,
            other => other,
        }
    }

    /// The finding as words for a person.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AsBefore => "as before: the step did not change it",
            Self::AsAfter => "as predicted: the step changed it",
            Self::WrittenUnchecked => {
                "as predicted: it was written, and whether it passed cargo check is not known"
            }
            Self::WrittenInPart => {
                "as predicted in part: some of its replacements were written, and whether the last of them passed cargo check is not known"
            }
            Self::Same => "as before and as predicted: the step was to change nothing",
            Self::Neither => "neither as before nor as predicted: something else changed it",
            Self::Absent => "absent: it was there before the step, and something else removed it",
            Self::Unreadable => "not known: it cannot be read",
            Self::NotPredicted => {
                "not known: nothing was predicted that could be compared with the disk"
            }
        }
    }
}

impl Reconciled {
    /// The finding as a sentence that names the step and the file.
    pub fn sentence(&self) -> String {
        let number = self.step_index + 1;
        let what = self.path.as_deref().unwrap_or("what it changed");
        let mut sentence =
            format!("step {number} was interrupted; {what} is {}", self.finding.words());
        let batches = [Tool::MutateBatch, Tool::History].map(Tool::name);
        match &self.leftover {
            Some(leftover) if batches.contains(&self.tool_name.as_str()) => {
                sentence += &format!(
                    "; it left {leftover}, which holds what the file was or was to be: keep it until the step is rolled back or finished"
                );
            }
            Some(leftover) => {
                sentence +=
                    &format!("; it left the temporary file {leftover}, which can be deleted");
            }
            None => {}
        }
        sentence
    }
}

/// The maximum number of files of a step with the same finding that get a sentence each.
const MAX_NAMED: usize = 3;

/// The findings as sentences that fit on a screen. If more than three files of a step have the same finding, they
/// share one sentence, with their number and the first names.
pub fn sentences<'a>(found: impl IntoIterator<Item = &'a Reconciled>) -> Vec<(DiskState, String)> {
    let mut groups: Vec<Vec<&Reconciled>> = Vec::new();
    for file in found {
        let same = |group: &&mut Vec<&Reconciled>| {
            group.first().is_some_and(|first| {
                (first.execution_id, first.finding) == (file.execution_id, file.finding)
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(file),
            None => groups.push(vec![file]),
        }
    }
    let mut sentences = Vec::new();
    for group in groups {
        let Some(first) = group.first().filter(|_| group.len() > MAX_NAMED) else {
            sentences.extend(group.iter().map(|it| (it.finding, it.sentence())));
            continue;
        };
        let names: Vec<&str> =
            group.iter().take(MAX_NAMED).filter_map(|it| it.path.as_deref()).collect();
        let leftovers = group.iter().filter(|it| it.leftover.is_some()).count();
        let mut sentence = format!(
            "step {} was interrupted; {} files ({} and {} more) are each {}",
            first.step_index + 1,
            group.len(),
            names.join(", "),
            group.len() - names.len(),
            first.finding.words()
        );
        if leftovers > 0 {
            sentence += &format!("; it left temporary files beside {leftovers} of them");
        }
        sentences.push((first.finding, sentence));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Digest;

    #[test]
    fn many_equal_findings_are_one_sentence() {
        let row = |name: String, finding| Reconciled {
            execution_id: Uuid::nil(),
            step_id: "s".to_owned(),
            step_index: 1,
            tool_name: "mutate_batch".to_owned(),
            path: Some(name),
            before: None,
            after: None,
            now: None,
            finding,
            leftover: None,
        };
        let mut found: Vec<_> =
            (0..40).map(|index| row(format!("f{index}"), DiskState::AsAfter)).collect();
        found.push(row("other".to_owned(), DiskState::Neither));
        found[7].leftover = Some(".x".to_owned());
        let lines = sentences(&found);
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[0].1,
            "step 2 was interrupted; 40 files (f0, f1, f2 and 37 more) are each as predicted: the \
             step changed it; it left temporary files beside 1 of them"
        );
        assert_eq!(lines[1], (DiskState::Neither, found[40].sentence()));
        assert_eq!(sentences(&found[..3]).len(), 3);
        assert!(found[7].sentence().contains(".x, which holds what the file was or was to be"));
        found[7].tool_name = "file_write".to_owned();
        assert!(found[7].sentence().ends_with(".x, which can be deleted"));
    }

    #[test]
    fn settling_ways_depend_on_the_files() {
        let row = |finding, tool: &str| Reconciled {
            execution_id: Uuid::nil(),
            step_id: "s".to_owned(),
            step_index: 0,
            tool_name: tool.to_owned(),
            path: Some("a".to_owned()),
            before: None,
            after: None,
            now: None,
            finding,
            leftover: None,
        };
        let open = |finding, tool| SettleMode::ALL.map(|way| way.is_open(&[row(finding, tool)]));
        assert_eq!(open(DiskState::AsAfter, "mutate_batch"), [true, false]);
        assert_eq!(open(DiskState::AsBefore, "mutate_batch"), [false, true]);
        assert_eq!(open(DiskState::Neither, "mutate_batch"), [false, false]);
        assert_eq!(open(DiskState::AsAfter, "splice_patch"), [false, false]);
        let left =
            [Reconciled { leftover: Some("x".into()), ..row(DiskState::Same, "file_write") }];
        assert_eq!(SettleMode::ALL.map(|way| way.is_open(&left)), [true, true]);
    }

    #[test]
    fn each_disk_state_is_recognized() {
        let content = |text: &str| FileState::Content(Digest::of(text.as_bytes()));
        let (old, new, absent) = (content("old"), content("new"), FileState::Absent);
        for (before, after, now, expected) in [
            (old, new, Some(old), DiskState::AsBefore),
            (old, new, Some(new), DiskState::AsAfter),
            (old, new, Some(content("other")), DiskState::Neither),
            (old, new, Some(absent), DiskState::Absent),
            (absent, new, Some(absent), DiskState::AsBefore),
            (absent, new, Some(new), DiskState::AsAfter),
            (absent, new, Some(old), DiskState::Neither),
            (old, absent, Some(absent), DiskState::AsAfter),
            (old, old, Some(old), DiskState::Same),
            (old, new, None, DiskState::Unreadable),
        ] {
            let forecast =
                FileForecast { path: "a".into(), before, after, modes: Modes::default() };
            assert_eq!(DiskState::of(&forecast, now), expected, "{before} {after} {now:?}");
        }
    }

    #[test]
    fn unchecked_writes_are_never_reported_as_done() {
        let content = |text: &str| FileState::Content(Digest::of(text.as_bytes()));
        let forecast = |before: &str, after: &str| FileForecast {
            path: "a".into(),
            before: content(before),
            after: content(after),
            modes: Modes::default(),
        };
        let one = [forecast("old", "new")];
        let two = [forecast("old", "half"), forecast("half", "new")];
        for (forecasts, now, expected) in [
            (&one[..], Some(content("new")), DiskState::WrittenUnchecked),
            (&one, Some(content("old")), DiskState::AsBefore),
            (&one, Some(content("half")), DiskState::Neither),
            (&two, Some(content("old")), DiskState::AsBefore),
            (&two, Some(content("half")), DiskState::WrittenInPart),
            (&two, Some(content("new")), DiskState::WrittenUnchecked),
            (&two, Some(content("other")), DiskState::Neither),
            (&two, Some(FileState::Absent), DiskState::Absent),
            (&two, None, DiskState::Unreadable),
            (&[], None, DiskState::NotPredicted),
        ] {
            assert_eq!(DiskState::of_checked(forecasts, now), expected, "{now:?}");
        }
    }
}
