//! What the inbox contains: plans that others propose, and what else is in its folder (SPEC §13).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::Failure;
use crate::plan::Digest;
use crate::risk::RiskLevel;

/// The content of the inbox at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InboxList {
    /// What is in the folder, in the order in which it arrived.
    pub entries: Vec<InboxEntry>,
    /// The number of things that are not listed, because there are more than the limit.
    pub omitted: usize,
    /// Why the folder cannot be used, or no longer be watched.
    pub fault: Option<Failure>,
}

/// One thing in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InboxEntry {
    /// The id, with which it is removed: of a proposal its own, otherwise one made from its name.
    pub id: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: InboxKind,
    /// The name of the proposed file, or of the thing in the folder. It may contain any character.
    pub name: String,
    /// The file to open as a plan; of an unusable thing, its path.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// Who proposes it, in words that nobody has checked; `None` if nobody says so.
    pub from: Option<String>,
    /// When it came into the folder or was last changed there, in Unix milliseconds. Nobody can choose this time.
    pub at_ms: i64,
    /// The workspace for which it is proposed; `None` if the person has to choose one.
    pub workspace: Option<PathBuf>,
    /// Until when an agent waits for the decision about its tool call, in Unix milliseconds; absent if nobody waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_until_ms: Option<i64>,
    /// What its bytes alone tell about the plan; `None` if they were not read.
    pub plan: Option<InboxPlan>,
}

/// [`InboxEntry::asked_until_ms`] of an agent that waits as long as it takes: the end of the year 9999.
pub const NO_DEADLINE_MS: i64 = 253_402_300_799_000;

/// What a thing in the inbox is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "reason", rename_all = "snake_case")]
pub enum InboxKind {
    /// A proposal, with its workspace.
    Proposal,
    /// A file that somebody has put there.
    File,
    /// Something that is not opened, with the reason.
    Unusable(String),
}

/// What the bytes of a file in the inbox tell about its plan, without its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InboxPlan {
    /// The digest of the plan, which an authorization names; `None` if the file is no plan.
    pub digest: Option<Digest>,
    /// The name of the plan.
    pub title: Option<String>,
    /// The format of another program from which the plan was made.
    pub format: Option<&'static str>,
    /// The number of steps.
    pub steps: usize,
    /// The number of errors. A plan with errors cannot be authorized.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The first error.
    pub first_error: Option<String>,
    /// The highest risk of a step, judged without the workspace, which can only raise it.
    pub worst: Option<RiskLevel>,
}

/// A decision about a plan, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedPlan {
    /// The digest of the plan.
    pub plan: Digest,
    /// The workspace in which it was authorized or rejected.
    pub workspace: String,
    /// When, in Unix milliseconds.
    pub at_ms: i64,
}

impl InboxList {
    /// Whether each entry waits for the person: it can be opened, and nobody has decided about it since it came. The same
    /// plan may be proposed for several workspaces; a decision in one of them is about that proposal alone, and one in
    /// another workspace, which the person chose, about all.
    pub fn waits(&self, decided: &[DecidedPlan]) -> Vec<bool> {
        let mut of_plan: BTreeMap<Digest, Vec<&DecidedPlan>> = BTreeMap::new();
        for it in decided {
            of_plan.entry(it.plan).or_default().push(it);
        }
        let mut proposed: BTreeMap<Digest, BTreeSet<&Path>> = BTreeMap::new();
        for entry in &self.entries {
            if let (Some(digest), Some(workspace)) = (entry.digest(), &entry.workspace) {
                proposed.entry(digest).or_default().insert(workspace);
            }
        }
        let is_decided = |entry: &InboxEntry| {
            let Some(digest) = entry.digest() else { return false };
            of_plan.get(&digest).into_iter().flatten().any(|it| {
                let place = Path::new(&it.workspace);
                let is_of_another = entry.workspace.as_deref() != Some(place)
                    && proposed.get(&digest).is_some_and(|all| all.contains(place));
                it.at_ms >= entry.at_ms && !is_of_another
            })
        };
        self.entries.iter().map(|entry| entry.can_be_opened() && !is_decided(entry)).collect()
    }
}

impl InboxEntry {
    /// The digest of its plan, if it is one.
    pub fn digest(&self) -> Option<Digest> {
        self.plan.as_ref()?.digest
    }

    /// Whether it can be opened as a plan.
    pub fn can_be_opened(&self) -> bool {
        !matches!(self.kind, InboxKind::Unusable(_))
    }
}

/// A path as text, in which what is not Unicode is replaced.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, at_ms: i64, workspace: Option<&str>) -> InboxEntry {
        let plan = InboxPlan {
            digest: Some(Digest::of(b"plan")),
            title: None,
            format: None,
            steps: 1,
            errors: 0,
            warnings: 0,
            first_error: None,
            worst: None,
        };
        InboxEntry {
            asked_until_ms: None,
            id: id.to_owned(),
            kind: InboxKind::File,
            name: id.to_owned(),
            path: PathBuf::from(id),
            from: None,
            at_ms,
            workspace: workspace.map(PathBuf::from),
            plan: Some(plan),
        }
    }

    #[test]
    fn a_decision_is_about_what_came_before_it_and_for_its_workspace() {
        let entries = vec![
            entry("old for a", 10, Some("/a")),
            entry("old for b", 10, Some("/b")),
            entry("new for a", 30, Some("/a")),
            entry("put there", 10, None),
            InboxEntry {
                kind: InboxKind::Unusable("no".to_owned()),
                ..entry("unusable", 10, None)
            },
        ];
        let list = InboxList { entries, ..InboxList::default() };
        let decided = |workspace: &str, bytes: &[u8]| DecidedPlan {
            plan: Digest::of(bytes),
            workspace: workspace.to_owned(),
            at_ms: 20,
        };
        assert_eq!(list.waits(&[]), [true, true, true, true, false]);
        assert_eq!(list.waits(&[decided("/a", b"plan")]), [false, true, true, true, false]);
        assert_eq!(list.waits(&[decided("/c", b"plan")]), [false, false, true, false, false]);
        assert_eq!(list.waits(&[decided("/a", b"other")]), [true, true, true, true, false]);
    }
}
