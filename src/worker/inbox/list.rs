//! Lists what is in the inbox. Files are read again only if they have changed.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rustix::fs::{FileType, Stat};
use uuid::Uuid;

use super::folder::{InboxFolder, folder_in, kind_name, read_in, stat_in, text_of};
use super::propose::{Description, withdraw};
use super::summary::summary;
use super::{
    InboxError, MAX_BYTES, MAX_DESCRIPTION, MAX_LISTED, PLAN_NAME, PROPOSAL_NAME, REMOVED_NAME,
};
use crate::plan::{Digest, limits};
use crate::risk::Policy;
use crate::run::text::panic_message;
use crate::run::{InboxEntry, InboxKind, InboxList, InboxPlan};

/// The names of files that other programs have not written to their end.
const UNFINISHED: [&str; 7] = [".part", ".partial", ".tmp", ".temp", ".crdownload", ".swp", "~"];

/// Lists the inbox again and again.
#[derive(Debug)]
pub struct InboxReader {
    policy: Policy,
    known: HashMap<CString, (State, InboxEntry)>,
    /// The number of files that were read as plans.
    reads: usize,
}

/// What changes whenever a file is written or replaced: device, inode, size, times of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State([i128; 7]);

impl State {
    fn of(stat: &Stat) -> Self {
        Self([
            stat.st_dev.into(),
            stat.st_ino.into(),
            stat.st_size.into(),
            stat.st_mtime.into(),
            stat.st_mtime_nsec.into(),
            stat.st_ctime.into(),
            stat.st_ctime_nsec.into(),
        ])
    }
}

/// Lists the inbox once.
///
/// # Errors
/// The folder cannot be read.
pub fn list_inbox(folder: &InboxFolder, policy: &Policy) -> Result<InboxList, InboxError> {
    InboxReader::new(policy.clone()).list(folder)
}

impl InboxReader {
    /// A reader that judges risks by this policy.
    pub fn new(policy: Policy) -> Self {
        Self { policy, known: HashMap::new(), reads: 0 }
    }

    /// The number of files that were read as plans so far.
    pub fn reads(&self) -> usize {
        self.reads
    }

    /// What is in the folder now.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&mut self, folder: &InboxFolder) -> Result<InboxList, InboxError> {
        let failed = |error| InboxError::folder(folder.path(), error);
        let (mut names, more) = folder.names().map_err(failed)?;
        names.retain(|name| name.to_bytes() != REMOVED_NAME.as_bytes());
        let omitted = names.len().saturating_sub(MAX_LISTED) + more;
        names.truncate(MAX_LISTED);
        let mut known = std::mem::take(&mut self.known);
        let (mut entries, mut bytes_left) = (Vec::with_capacity(names.len()), MAX_BYTES);
        for name in names {
            // It may be gone by now.
            let Ok(stat) = stat_in(folder.handle(), &name) else { continue };
            let thing = Thing::of(folder, &name, stat);
            bytes_left = bytes_left.saturating_sub(thing.counted_size());
            let state = State::of(&thing.stat);
            let entry = match known.remove(&name) {
                Some((before, entry))
                    if before == state && bytes_left > 0 && entry.plan.is_some() =>
                {
                    entry
                }
                _ => self.entry(folder, &name, &thing, bytes_left),
            };
            entries.push(entry.clone());
            self.known.insert(name, (state, entry));
        }
        // Calls for which an agent waits come first, the one that ends next before the others.
        let key = |entry: &InboxEntry| {
            (entry.asked_until_ms.unwrap_or(i64::MAX), entry.at_ms, entry.id.clone())
        };
        entries.sort_by_cached_key(key);
        Ok(InboxList { entries, omitted, fault: None })
    }

    fn entry(
        &mut self,
        folder: &InboxFolder,
        name: &CString,
        thing: &Thing,
        bytes_left: u64,
    ) -> InboxEntry {
        let text = text_of(name);
        let path = folder.path().join(OsStr::from_bytes(name.to_bytes()));
        let unusable = |reason: &str| InboxEntry {
            id: id_of(name),
            kind: InboxKind::Unusable(reason.to_owned()),
            name: text.clone(),
            path: path.clone(),
            from: None,
            at_ms: milliseconds(&thing.stat),
            workspace: None,
            plan: None,
            asked_until_ms: None,
        };
        if is_unfinished(&text) {
            return unusable("by its name it is not finished");
        }
        let bytes = match &thing.what {
            What::Other(reason) => return unusable(reason),
            _ if thing.size() > limits::PLAN_BYTES as u64 => {
                return unusable("it is larger than 16 MiB, which no plan is");
            }
            _ if bytes_left == 0 => {
                return unusable("it was not read, because the inbox has more than 1 GiB");
            }
            What::File => read_in(folder.handle(), name.as_c_str(), limits::PLAN_BYTES as u64),
            What::Proposal(_) => folder_in(folder.handle(), name.as_c_str())
                .and_then(|within| read_in(within.as_fd(), PLAN_NAME, limits::PLAN_BYTES as u64)),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => return unusable(&format!("it cannot be read: {error}")),
        };
        if let What::Proposal(description) = &thing.what
            && Digest::of(&bytes) != description.digest
        {
            return unusable("its plan is not the one that was proposed: the bytes differ");
        }
        let plan = match self.plan(bytes) {
            Ok(plan) => Some(plan),
            Err(message) => return unusable(&format!("reading it crashed: {message}")),
        };
        match &thing.what {
            What::Proposal(description) => InboxEntry {
                kind: InboxKind::Proposal,
                name: description.name.clone(),
                path: path.join(PLAN_NAME),
                from: Some(description.from.clone()).filter(|from| !from.trim().is_empty()),
                workspace: Some(description.workspace.clone()),
                asked_until_ms: description.asked_until_ms,
                plan,
                ..unusable("")
            },
            _ => InboxEntry { kind: InboxKind::File, plan, ..unusable("") },
        }
    }

    /// What the bytes tell. A panic concerns only this file: the others are still listed.
    fn plan(&mut self, bytes: Vec<u8>) -> Result<InboxPlan, String> {
        self.reads += 1;
        let policy = &self.policy;
        catch_unwind(AssertUnwindSafe(|| summary(bytes, policy).0))
            .map_err(|panic| panic_message(&*panic))
    }
}

/// One name in the folder.
struct Thing {
    /// Of a proposal the metadata of its plan, otherwise those of the thing itself.
    stat: Stat,
    what: What,
}

enum What {
    File,
    Proposal(Description),
    /// It is not opened, for this reason.
    Other(String),
}

impl Thing {
    fn of(folder: &InboxFolder, name: &CString, stat: Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self { stat, what: What::File },
            FileType::Directory => Self::of_folder(folder, name).unwrap_or_else(|| {
                let reason = "it is a folder without a whole proposal";
                Self { stat, what: What::Other(reason.to_owned()) }
            }),
            _ => {
                let reason = format!("it is {}, which is not opened", kind_name(&stat));
                Self { stat, what: What::Other(reason) }
            }
        }
    }

    /// The proposal in this folder; `None` if it has none.
    fn of_folder(folder: &InboxFolder, name: &CString) -> Option<Self> {
        let id = name.to_str().ok()?;
        Uuid::parse_str(id).ok().filter(|uuid| uuid.to_string() == id)?;
        let within = folder_in(folder.handle(), name.as_c_str()).ok()?;
        let bytes = read_in(within.as_fd(), PROPOSAL_NAME, MAX_DESCRIPTION).ok()?;
        let description = Description::read(&bytes)?;
        let plan = CString::new(PLAN_NAME).ok()?;
        let stat = stat_in(within.as_fd(), &plan).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file.then_some(Self { stat, what: What::Proposal(description) })
    }

    /// The size, in bytes; 0 of what is not read anyway.
    fn size(&self) -> u64 {
        match self.what {
            What::Other(_) => 0,
            _ => u64::try_from(self.stat.st_size).unwrap_or_default(),
        }
    }

    /// The size that counts towards the limit of all, in bytes.
    fn counted_size(&self) -> u64 {
        if self.size() > limits::PLAN_BYTES as u64 { 0 } else { self.size() }
    }
}

/// The id of something in the folder: of a proposal its name, otherwise one that any terminal can show.
pub(super) fn id_of(name: &CString) -> String {
    match name.to_str() {
        Ok(text) if Uuid::parse_str(text).is_ok_and(|uuid| uuid.to_string() == text) => {
            text.to_owned()
        }
        _ => format!("file-{}", Digest::of(name.to_bytes()).short(16)),
    }
}

/// Deletes the proposals for which agents have waited. Nobody may wait for one any more.
pub fn remove_calls(folder: &InboxFolder) {
    let Ok((names, _)) = folder.names() else { return };
    for name in names {
        let Ok(stat) = stat_in(folder.handle(), &name) else { continue };
        let thing = Thing::of(folder, &name, stat);
        if let (What::Proposal(description), Ok(id)) = (&thing.what, name.to_str())
            && description.asked_until_ms.is_some()
        {
            withdraw(folder, id);
        }
    }
}

/// Whether a name says that its file is not written to the end yet.
fn is_unfinished(name: &str) -> bool {
    name.starts_with('.') || UNFINISHED.iter().any(|end| name.to_lowercase().ends_with(end))
}

/// When it came into the folder or was last changed there. The time of its content may be older.
fn milliseconds(stat: &Stat) -> i64 {
    let of_nanoseconds = i64::try_from(stat.st_ctime_nsec / 1_000_000).unwrap_or_default();
    stat.st_ctime.saturating_mul(1_000).saturating_add(of_nanoseconds)
}

/// The description of the proposal in `folder`, which is in the inbox.
pub(super) fn description_in(folder: &Path) -> Option<Description> {
    let folder = rustix::fs::open(
        folder,
        rustix::fs::OFlags::RDONLY
            | rustix::fs::OFlags::DIRECTORY
            | rustix::fs::OFlags::NOFOLLOW
            | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )
    .ok()?;
    Description::read(&read_in(folder.as_fd(), PROPOSAL_NAME, MAX_DESCRIPTION).ok()?)
}
