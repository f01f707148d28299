//! An interrupted step beside the disk (SPEC §8 *Reconcile*): pure comparison, made by the engine.

use serde::Serialize;
use uuid::Uuid;

use super::Modes;
use crate::authorization::FileState;
use crate::plan::Tool;

/// What an intent predicted about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileForecast {
    /// The file, by its canonical path.
    pub path: String,
    /// Its state just before the tool was to be called.
    pub before: FileState,
    /// Its state once the tool is done.
    pub after: FileState,
    /// Its permission bits.
    pub modes: Modes,
}

/// What the disk says about a file of an interrupted step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskState {
    /// As before: the step had no effect on it.
    AsBefore,
    /// As predicted: the step did its work on it.
    AsAfter,
    /// As predicted, by a step that writes first and checks then: how the check went is not known.
    WrittenUnchecked,
    /// As predicted on the way of a step that writes several times: it was interrupted in between.
    WrittenInPart,
    /// Before and after are the same, and so is the file: there is nothing to tell.
    Same,
    /// Neither: somebody changed it.
    Neither,
    /// It was there before, should be there after, and is gone.
    Absent,
    /// It cannot be looked at.
    Unreadable,
    /// Nothing was predicted that could be compared.
    NotPredicted,
}

/// One file of an interrupted step, compared with the disk; or the step, where no file was predicted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reconciled {
    /// The execution that was announced and never recorded.
    pub execution_id: Uuid,
    /// The step.
    pub step_id: String,
    /// The step's place, from 0.
    pub step_index: usize,
    /// The tool.
    pub tool_name: String,
    /// The file, by its canonical path; none where no file was predicted.
    pub path: Option<String>,
    /// Its predicted state before the step.
    pub before: Option<FileState>,
    /// Its predicted state after the step.
    pub after: Option<FileState>,
    /// Its state now; none when it cannot be looked at.
    pub now: Option<FileState>,
    /// What that says about the step.
    pub finding: DiskState,
    /// The temporary file that the step left beside it, by its canonical path. Nobody but a person deletes
    /// it; where several files were to change it holds what this one was, or was to be.
    pub leftover: Option<String>,
}

/// Where an interrupted step can be brought (SPEC §8): a person chooses, and it is a plan of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// The files as they were before it.
    RollBack,
    /// The files as they were to be.
    Finish,
}

impl Way {
    /// Both, as they are offered.
    pub const ALL: [Self; 2] = [Self::RollBack, Self::Finish];

    /// Whether a step of this tool can be settled by its files. What is checked after it is written cannot.
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

    /// Whether anything of what was found is not there yet.
    pub fn is_open<'a>(self, found: impl IntoIterator<Item = &'a Reconciled>) -> bool {
        let away = match self {
            Self::RollBack => DiskState::AsAfter,
            Self::Finish => DiskState::AsBefore,
        };
        found.into_iter().any(|it| {
            let fits = Self::fits(&it.tool_name);
            (fits && it.finding == away)
                || (it.leftover.is_some() && (fits || self.removes_leftovers(&it.tool_name)))
        })
    }
}

impl DiskState {
    /// What a file that was predicted so, and is `now`, says about the step.
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

    /// The same of a step that writes a file, even several times, and checks what it has written: what was
    /// predicted for the file, in order.
    pub fn of_checked(forecasts: &[FileForecast], now: Option<FileState>) -> Self {
        let (Some(first), Some((last, earlier))) = (forecasts.first(), forecasts.split_last())
        else {
            return Self::NotPredicted;
        };
        let whole = FileForecast { before: first.before, ..last.clone() };
        match Self::of(&whole, now) {
            Self::AsAfter => Self::WrittenUnchecked,
            Self::Neither if earlier.iter().any(|it| Some(it.after) == now) => Self::WrittenInPart,
            other => other,
        }
    }

    /// The finding as a person reads it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AsBefore => "as before: the step had no effect on it",
            Self::AsAfter => "as predicted: the step did its work on it",
            Self::WrittenUnchecked => {
                "as predicted: it was written, and whether it passed cargo check is not known"
            }
            Self::WrittenInPart => {
                "as predicted in part: some of its replacements were written, and whether the last of them passed cargo check is not known"
            }
            Self::Same => "as before and as predicted: the step was to change nothing",
            Self::Neither => "neither as before nor as predicted: somebody changed it",
            Self::Absent => "absent: it was there before the step, and somebody removed it",
            Self::Unreadable => "not known: it cannot be read",
            Self::NotPredicted => {
                "not known: nothing was predicted that could be compared with the disk"
            }
        }
    }
}

impl Reconciled {
    /// The finding as one sentence that names the step and the file.
    pub fn sentence(&self) -> String {
        let number = self.step_index + 1;
        let what = self.path.as_deref().unwrap_or(&self.tool_name);
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

/// So many files of a step that were found the same are named one by one.
const NAMED: usize = 3;

/// What was found, as sentences that fit on a screen: of many files of a step that were found the same, how
/// many they are and which are the first.
pub fn sentences<'a>(found: impl IntoIterator<Item = &'a Reconciled>) -> Vec<(DiskState, String)> {
    let mut groups: Vec<Vec<&Reconciled>> = Vec::new();
    for it in found {
        let same = |group: &&mut Vec<&Reconciled>| {
            group.first().is_some_and(|first| {
                (first.execution_id, first.finding) == (it.execution_id, it.finding)
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    let mut sentences = Vec::new();
    for group in groups {
        let Some(first) = group.first().filter(|_| group.len() > NAMED) else {
            sentences.extend(group.iter().map(|it| (it.finding, it.sentence())));
            continue;
        };
        let names: Vec<&str> =
            group.iter().take(NAMED).filter_map(|it| it.path.as_deref()).collect();
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
        let said = sentences(&found);
        assert_eq!(said.len(), 2);
        assert_eq!(
            said[0].1,
            "step 2 was interrupted; 40 files (f0, f1, f2 and 37 more) are each as predicted: the \
             step did its work on it; it left temporary files beside 1 of them"
        );
        assert_eq!(said[1], (DiskState::Neither, found[40].sentence()));
        assert_eq!(sentences(&found[..3]).len(), 3);
        assert!(found[7].sentence().contains(".x, which holds what the file was or was to be"));
        found[7].tool_name = "file_write".to_owned();
        assert!(found[7].sentence().ends_with(".x, which can be deleted"));
    }

    #[test]
    fn settling_is_open_while_files_differ() {
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
        let open = |finding, tool| Way::ALL.map(|way| way.is_open(&[row(finding, tool)]));
        assert_eq!(open(DiskState::AsAfter, "mutate_batch"), [true, false]);
        assert_eq!(open(DiskState::AsBefore, "mutate_batch"), [false, true]);
        assert_eq!(open(DiskState::Neither, "mutate_batch"), [false, false]);
        assert_eq!(open(DiskState::AsAfter, "splice_patch"), [false, false]);
        let left =
            [Reconciled { leftover: Some("x".into()), ..row(DiskState::Same, "file_write") }];
        assert_eq!(Way::ALL.map(|way| way.is_open(&left)), [true, true]);
    }

    #[test]
    fn every_state_of_the_disk_says_something_else() {
        let content = |text: &str| FileState::Content(Digest::of(text.as_bytes()));
        let (old, new, absent) = (content("old"), content("new"), FileState::Absent);
        for (before, after, now, said) in [
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
            assert_eq!(DiskState::of(&forecast, now), said, "{before} {after} {now:?}");
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
        for (forecasts, now, said) in [
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
            assert_eq!(DiskState::of_checked(forecasts, now), said, "{now:?}");
        }
    }
}
