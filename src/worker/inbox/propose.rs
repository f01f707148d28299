//! Puts a proposal into the inbox, whole or not at all.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::folder::{InboxFolder, folder_in, stat_in};
use super::summary::summary;
use super::{
    InboxError, MAX_BYTES, MAX_NOTES, MAX_PROPOSALS, MAX_TEXT, PLAN_NAME, PROPOSAL_NAME,
    REMOVED_NAME,
};
use crate::openers::Format;
use crate::plan::{Code, Digest, Finding, lacks_only_inputs, limits};
use crate::risk::Policy;
use crate::run::InboxPlan;
use crate::worker::files::{PlanFile, Unusable, plan_of};
use crate::worker::surroundings::PlanSurroundings;

/// A plan that somebody proposes.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The bytes of the file: a plan, or a file of another program that can be opened as one. The inbox keeps the plan.
    pub bytes: Vec<u8>,
    /// The name of the file, for people. It may contain any character.
    pub name: String,
    /// The folder of the file, for files beside it; `None` for the workspace.
    pub folder: Option<PathBuf>,
    /// The folder in which the plan is to run.
    pub workspace: PathBuf,
    /// Who proposes it, in any words; may be empty.
    pub from: String,
    /// When, in Unix milliseconds, as the proposer says. The list goes by the time of arrival.
    pub at_ms: i64,
    /// Until when an agent waits for the decision, in Unix milliseconds; `None` if nobody waits.
    pub asked_until_ms: Option<i64>,
}

/// A proposal in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Handle {
    /// The id, which is unique.
    pub id: String,
    /// The digest of the plan, which an authorization names.
    pub digest: Digest,
    /// The folder in which the plan is to run, without links.
    pub workspace: PathBuf,
    /// What is known of the plan without its workspace.
    pub plan: InboxPlan,
}

/// What a proposal says about itself, in the file beside the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    version: u32,
    pub(super) name: String,
    pub(super) workspace: PathBuf,
    pub(super) from: String,
    pub(super) proposed_at_ms: i64,
    /// The digest of the plan.
    pub(super) digest: Digest,
    /// What was found when a file of another program became the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// Until when an agent waits for the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asked_until_ms: Option<i64>,
}

impl Description {
    /// The version of the form of proposals.
    const VERSION: u32 = 1;

    /// Reads the description of a proposal; `None` if it has another form.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let read: Self = serde_json::from_slice(bytes).ok()?;
        let is_usable = read.version == Self::VERSION && read.workspace.is_absolute();
        is_usable.then_some(read)
    }
}

/// Puts a plan into the inbox, where it waits for a person. It is checked as far as its bytes alone allow (SPEC §13).
///
/// # Errors
/// The bytes are no valid plan, the workspace cannot be used, a text is too long, the inbox is full, or nothing can be
/// written. Then the inbox is as before.
pub fn propose(
    folder: &InboxFolder,
    proposal: &Proposal,
    policy: &Policy,
) -> Result<Handle, InboxError> {
    for (what, text) in [("the name", &proposal.name), ("who proposes", &proposal.from)] {
        if text.chars().count() > MAX_TEXT {
            return Err(InboxError::Long { what });
        }
    }
    let workspace = usable_workspace(folder.path(), &proposal.workspace)?;
    // A file of another program becomes a plan now, and not when a person looks at it: then the files that it refers to
    // may be others.
    let name = Path::new(&proposal.name).file_name().unwrap_or_default();
    let file = proposal.folder.as_ref().unwrap_or(&workspace).join(name);
    let settings = || policy.clone();
    let surroundings = PlanSurroundings::new(&file, &workspace, &settings);
    let PlanFile { bytes, format, findings: notes } =
        plan_of(proposal.bytes.clone(), &surroundings).map_err(
            |Unusable { format, findings }| InboxError::NoPlan {
                format: format.map(Format::as_str),
                findings,
            },
        )?;
    let (mut plan, findings) = summary(bytes.clone(), policy);
    plan.format = format.map(Format::as_str).or(plan.format);
    if let Some(format) = plan.format.filter(|format| format.starts_with("review_")) {
        let message = "a request for a signature and an answer to one are no plans: copy the file into the folder of the \
                       inbox, or open it";
        let findings = vec![Finding::error(Code::BadValue, "", message)];
        return Err(InboxError::NoPlan { format: Some(format), findings });
    }
    let (Some(digest), true) = (plan.digest, lacks_only_inputs(&findings)) else {
        return Err(InboxError::NoPlan { format: plan.format, findings });
    };
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    check_room(folder, size).map_err(|error| match error {
        Room::Full(full) => full,
        Room::Unknown(source) => InboxError::write(folder.path(), source),
    })?;
    let id = Uuid::new_v4().to_string();
    let description = Description {
        version: Description::VERSION,
        name: proposal.name.clone(),
        workspace: workspace.clone(),
        from: proposal.from.clone(),
        proposed_at_ms: proposal.at_ms,
        digest: Digest::of(&bytes),
        notes: shortened(notes.into_iter().map(|note| note.message)),
        asked_until_ms: proposal.asked_until_ms,
    };
    write(folder, &id, &bytes, &description)
        .map_err(|source| InboxError::write(folder.path(), source))?;
    Ok(Handle { id, digest, workspace, plan })
}

/// The first of these notes, and how many more there are: readers take a description up to its maximum size.
fn shortened(notes: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let (count, mut size) = (notes.len(), 0);
    let fits = |note: &String| {
        size += serde_json::to_string(note).map_or(0, |json| json.len() + 1);
        size <= MAX_NOTES
    };
    let mut kept: Vec<_> = notes.take_while(fits).collect();
    if kept.len() < count {
        kept.push(format!("{} more such messages are left out", count - kept.len()));
    }
    kept
}

/// The workspace of a plan in the inbox, without links.
///
/// # Errors
/// It is no folder, its name is not Unicode, or it is the inbox or in it.
pub(super) fn usable_workspace(inbox: &Path, workspace: &Path) -> Result<PathBuf, InboxError> {
    let refused = |why: String| InboxError::Workspace { path: workspace.to_owned(), why };
    let real = std::fs::canonicalize(workspace).map_err(|error| refused(error.to_string()))?;
    if !real.is_dir() {
        return Err(refused("it is no folder".to_owned()));
    }
    if real.to_str().is_none() {
        return Err(refused("its name is not Unicode".to_owned()));
    }
    let inbox = std::fs::canonicalize(inbox).unwrap_or_else(|_| inbox.to_owned());
    if real.starts_with(inbox) {
        return Err(refused("the inbox only keeps plans, and none runs in it".to_owned()));
    }
    Ok(real)
}

enum Room {
    Full(InboxError),
    Unknown(io::Error),
}

impl<E: Into<io::Error>> From<E> for Room {
    fn from(error: E) -> Self {
        Self::Unknown(error.into())
    }
}

/// Whether the inbox has room for one more plan of this size, in bytes.
fn check_room(folder: &InboxFolder, size: u64) -> Result<(), Room> {
    let (names, more) = folder.names()?;
    let count = names.iter().filter(|name| name.to_bytes() != REMOVED_NAME.as_bytes()).count();
    if count + more >= MAX_PROPOSALS {
        return Err(Room::Full(InboxError::full_of_things()));
    }
    let mut bytes = size;
    for name in &names {
        // One that was just removed needs no room.
        let Ok(stat) = stat_in(folder.handle(), name) else { continue };
        let plan = folder_in(folder.handle(), name.as_c_str()).ok();
        let plan = plan.and_then(|proposal| {
            rustix::fs::statat(&proposal, PLAN_NAME, AtFlags::SYMLINK_NOFOLLOW).ok()
        });
        let size = plan.map_or(stat.st_size, |plan| plan.st_size);
        // What is larger is never read.
        let size = u64::try_from(size).unwrap_or_default().min(limits::PLAN_BYTES as u64);
        bytes = bytes.saturating_add(size);
    }
    if bytes > MAX_BYTES {
        return Err(Room::Full(InboxError::full_of_bytes()));
    }
    Ok(())
}

/// Writes a proposal under a temporary name, and renames it once it is on the disk.
fn write(
    folder: &InboxFolder,
    id: &str,
    bytes: &[u8],
    description: &Description,
) -> io::Result<()> {
    let temporary = format!(".{id}");
    rustix::fs::mkdirat(folder.handle(), &*temporary, Mode::RWXU)?;
    let written = (|| {
        let within = folder_in(folder.handle(), &*temporary)?;
        write_file(&within, PLAN_NAME, bytes)?;
        write_file(&within, PROPOSAL_NAME, &serde_json::to_vec(description)?)?;
        rustix::fs::fsync(&within)?;
        rustix::fs::renameat(folder.handle(), &*temporary, folder.handle(), id)?;
        folder.flush()
    })();
    if written.is_err() {
        // The last flush may have failed.
        let _ = rustix::fs::renameat(folder.handle(), id, folder.handle(), &*temporary);
        discard(folder, &temporary);
    }
    written
}

/// Puts a text into the inbox as a file of its own, as if somebody had copied it there.
///
/// # Errors
/// The inbox is full, or nothing can be written.
pub(super) fn keep(folder: &InboxFolder, text: &[u8]) -> Result<PathBuf, InboxError> {
    check_room(folder, u64::try_from(text.len()).unwrap_or(u64::MAX)).map_err(
        |error| match error {
            Room::Full(full) => full,
            Room::Unknown(source) => InboxError::write(folder.path(), source),
        },
    )?;
    let name = format!("pasted {}", Uuid::new_v4().simple());
    let temporary = format!(".{name}");
    let written = write_file(folder.handle(), &temporary, text).and_then(|()| {
        rustix::fs::renameat(folder.handle(), &*temporary, folder.handle(), &*name)?;
        folder.flush()
    });
    if let Err(source) = written {
        // If it cannot be deleted, it is listed as unfinished.
        let _ = rustix::fs::unlinkat(folder.handle(), &*temporary, AtFlags::empty());
        return Err(InboxError::write(folder.path(), source));
    }
    Ok(folder.path().join(name))
}

fn write_file(folder: impl AsFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.sync_all()
}

/// Deletes a proposal for which nobody waits any more. It is not kept like what a person removes: an agent makes many
/// calls. What was decided about one is in the evidence.
pub fn withdraw(folder: &InboxFolder, id: &str) {
    let temporary = format!(".{id}");
    if Uuid::parse_str(id).is_ok()
        && rustix::fs::renameat(folder.handle(), id, folder.handle(), &*temporary).is_ok()
    {
        discard(folder, &temporary);
    }
}

/// Deletes what was written of a proposal. What cannot be deleted is listed as unfinished.
fn discard(folder: &InboxFolder, temporary: &str) {
    if let Ok(within) = folder_in(folder.handle(), temporary) {
        for name in [PLAN_NAME, PROPOSAL_NAME] {
            let _ = rustix::fs::unlinkat(&within, name, AtFlags::empty());
        }
    }
    let _ = rustix::fs::unlinkat(folder.handle(), temporary, AtFlags::REMOVEDIR);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_notes_leave_room_for_the_rest_of_the_description() {
        let notes =
            |count: usize| (0..count).map(|at| format!("left out {at}: \u{1b} \"is\" no fix"));
        assert_eq!(shortened(notes(3)), notes(3).collect::<Vec<_>>());
        let kept = shortened(notes(5_000));
        let (last, first) = kept.split_last().unwrap();
        assert_eq!(first, notes(first.len()).collect::<Vec<_>>());
        assert_eq!(*last, format!("{} more such messages are left out", 5_000 - first.len()));
        let size = serde_json::to_string(&kept).unwrap().len();
        assert!((MAX_NOTES - 100..MAX_NOTES + 100).contains(&size), "{size}");
    }
}
