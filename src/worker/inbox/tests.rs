//! What arrives in the folder of the inbox, and what others may have put there.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::plan::{Code, Digest};
use crate::risk::{Policy, RiskLevel};
use crate::run::{InboxEntry, InboxKind, InboxList};

const PLAN: &str = r#"{"plan_id": "p", "intent": "MUTATE", "title": "Egg", "steps": [{"step_id": "a",
    "tool": "file_create", "arguments": {"path": "egg", "contents": "heron"}}]}"#;

struct Place {
    temp: TempDir,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("space")).unwrap();
        Self { temp }
    }

    fn path(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    fn inbox(&self) -> PathBuf {
        self.path().join("inbox")
    }

    fn folder(&self) -> InboxFolder {
        InboxFolder::open(&self.inbox()).unwrap()
    }

    fn proposal(&self, bytes: &[u8]) -> Proposal {
        Proposal {
            bytes: bytes.to_vec(),
            folder: None,
            name: "egg.json".to_owned(),
            workspace: self.path().join("space"),
            from: "an agent".to_owned(),
            at_ms: 5,
            asked_until_ms: None,
        }
    }

    fn propose(&self, proposal: &Proposal) -> Result<Handle, InboxError> {
        propose(&self.folder(), proposal, &Policy::default())
    }

    fn list(&self) -> InboxList {
        list_inbox(&self.folder(), &Policy::default()).unwrap()
    }

    fn only(&self) -> InboxEntry {
        let mut list = self.list().entries;
        assert_eq!(list.len(), 1, "{list:?}");
        list.remove(0)
    }
}

/// An agent that waits for an answer comes before everything else.
#[test]
fn calls_of_agents_are_listed_first() {
    let place = Place::new();
    for (name, asked_until_ms) in [("plan", None), ("later call", Some(90)), ("call", Some(80))] {
        let name = name.to_owned();
        let proposal = Proposal { name, asked_until_ms, ..place.proposal(PLAN.as_bytes()) };
        place.propose(&proposal).unwrap();
    }
    let listed: Vec<_> = place.list().entries.into_iter().map(|entry| entry.name).collect();
    assert_eq!(listed, ["call", "later call", "plan"]);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn reason(entry: &InboxEntry) -> &str {
    match &entry.kind {
        InboxKind::Unusable(reason) => reason,
        kind => panic!("{kind:?}"),
    }
}

#[test]
fn a_proposal_is_listed_with_everything_that_it_says() {
    let place = Place::new();
    let handle = place.propose(&place.proposal(PLAN.as_bytes())).unwrap();
    let entry = place.only();
    assert_eq!((&entry.id, entry.digest()), (&handle.id, Some(handle.digest)));
    assert_eq!(handle.digest, Digest::of(PLAN.as_bytes()));
    assert_eq!((entry.kind.clone(), entry.name.as_str()), (InboxKind::Proposal, "egg.json"));
    assert_eq!(entry.from.as_deref(), Some("an agent"));
    // A proposal cannot say that it is older than a decision about the same bytes, or as new as to be never decided.
    let written = fs::metadata(&entry.path).unwrap();
    assert_eq!(entry.at_ms / 1_000, std::os::unix::fs::MetadataExt::ctime(&written));
    assert_eq!(entry.workspace, Some(place.path().join("space")));
    assert_eq!(fs::read(&entry.path).unwrap(), PLAN.as_bytes());
    let plan = entry.plan.unwrap();
    assert_eq!((plan.title.as_deref(), plan.steps, plan.errors), (Some("Egg"), 1, 0));
    assert_eq!(plan.worst, Some(RiskLevel::Caution));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let within = place.inbox().join(&handle.id);
    assert_eq!((mode(&place.inbox()), mode(&within), mode(&entry.path)), (0o700, 0o700, 0o600));
    assert_eq!(names(&place.inbox()), [handle.id], "nothing temporary stays");
}

#[test]
fn what_is_no_valid_plan_is_not_accepted() {
    let place = Place::new();
    let faulty = PLAN.replace("file_create", "file_burn");
    for (bytes, code) in
        [("words", Code::NotJson), ("", Code::NotJson), (&*faulty, Code::UnknownTool)]
    {
        let error = place.propose(&place.proposal(bytes.as_bytes())).unwrap_err();
        assert_eq!(error.failure().code, code, "{error}");
    }
    let huge = vec![b' '; crate::plan::limits::PLAN_BYTES + 1];
    let error = place.propose(&place.proposal(&huge)).unwrap_err();
    assert_eq!(error.failure().code, Code::Limit);
    let long = Proposal { from: "x".repeat(301), ..place.proposal(PLAN.as_bytes()) };
    assert!(matches!(place.propose(&long), Err(InboxError::Long { .. })));
    assert_eq!(names(&place.inbox()), [""; 0]);
}

#[test]
fn the_inbox_is_never_a_workspace() {
    let place = Place::new();
    place.folder();
    symlink(place.inbox(), place.path().join("link")).unwrap();
    for folder in ["inbox", "link", "inbox/deeper", "absent", "file"] {
        fs::create_dir_all(place.inbox().join("deeper")).unwrap();
        fs::write(place.path().join("file"), "").unwrap();
        let workspace = place.path().join(folder);
        let proposal = Proposal { workspace: workspace.clone(), ..place.proposal(PLAN.as_bytes()) };
        let refused = place.propose(&proposal);
        assert!(matches!(refused, Err(InboxError::Workspace { .. })), "{folder}: {refused:?}");
        fs::write(place.inbox().join("by-hand.json"), PLAN).unwrap();
        let held = held(&place.inbox(), &place.inbox().join("by-hand.json")).unwrap();
        assert!(held.workspace(Some(&workspace)).is_err(), "{folder}");
        assert!(held.workspace(None).unwrap_err().message.contains("no workspace"));
    }
    let handle = place.propose(&place.proposal(PLAN.as_bytes())).unwrap();
    let held = held(&place.inbox(), &place.inbox().join(handle.id).join("plan")).unwrap();
    assert_eq!(held.workspace(None).unwrap().folder, place.path().join("space"));
    assert_eq!(super::held(&place.inbox(), &place.path().join("space/plan")), None);
}

#[test]
fn a_folder_into_which_others_may_write_is_refused_with_its_mending() {
    let place = Place::new();
    fs::create_dir(place.inbox()).unwrap();
    fs::set_permissions(place.inbox(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = InboxFolder::open(&place.inbox()).unwrap_err();
    let failure = error.failure();
    assert!(failure.message.contains("others may write into it (0777)"), "{failure:?}");
    assert_eq!(failure.next, format!("Mend it with: chmod go-w '{}'", place.inbox().display()));
    fs::set_permissions(place.inbox(), fs::Permissions::from_mode(0o755)).unwrap();
    place.folder();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(InboxFolder::open(&file), Err(InboxError::Folder { .. })));
}

#[test]
fn nothing_is_followed_out_of_the_folder() {
    let place = Place::new();
    place.folder();
    let outside = place.path().join("outside.json");
    fs::write(&outside, PLAN).unwrap();
    symlink(&outside, place.inbox().join("link.json")).unwrap();
    assert!(reason(&place.only()).contains("symbolic link"));
    fs::remove_file(place.inbox().join("link.json")).unwrap();

    let handle = place.propose(&place.proposal(PLAN.as_bytes())).unwrap();
    let plan = place.inbox().join(&handle.id).join("plan");
    fs::remove_file(&plan).unwrap();
    symlink(&outside, &plan).unwrap();
    assert!(reason(&place.only()).contains("without a whole proposal"));
    fs::remove_dir_all(place.inbox().join(&handle.id)).unwrap();

    // The whole proposal behind a link.
    let handle = place.propose(&place.proposal(PLAN.as_bytes())).unwrap();
    let moved = place.path().join("moved");
    fs::rename(place.inbox().join(&handle.id), &moved).unwrap();
    symlink(&moved, place.inbox().join(&handle.id)).unwrap();
    let entry = place.only();
    assert!(reason(&entry).contains("symbolic link"));
    assert!(!entry.can_be_opened());
    // A link to the inbox is as the inbox.
    symlink(place.inbox(), place.path().join("other")).unwrap();
    let list =
        list_inbox(&InboxFolder::open(&place.path().join("other")).unwrap(), &Policy::default());
    assert_eq!(list.unwrap().entries, [entry]);
}

#[test]
fn everything_else_is_shown_as_what_it_is() {
    let place = Place::new();
    place.folder();
    let inbox = place.inbox();
    let _listener = UnixListener::bind(inbox.join("socket")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        inbox.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    fs::create_dir(inbox.join("folder")).unwrap();
    fs::create_dir(inbox.join("00000000-0000-4000-8000-000000000000")).unwrap();
    fs::File::create(inbox.join("huge.json")).unwrap().set_len(1 << 40).unwrap();
    for name in ["half.json.part", ".hidden.json", "edited.json~"] {
        fs::write(inbox.join(name), PLAN).unwrap();
    }
    fs::write(inbox.join("half.json"), &PLAN[..40]).unwrap();
    fs::write(inbox.join("a\u{1b}[2J\n\u{202e}.json"), PLAN).unwrap();
    let bytes: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff\xfe.json");
    fs::write(inbox.join(bytes), PLAN).unwrap();
    fs::write(inbox.join("change.patch"), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    let entries = place.list().entries;
    let found = |name: &str| {
        let mut all = entries.iter().filter(|entry| entry.name == name);
        all.next().unwrap_or_else(|| panic!("{name}: {entries:#?}"))
    };
    for (name, said) in [
        ("socket", "a socket"),
        ("pipe", "a pipe"),
        ("folder", "a folder without a whole proposal"),
        ("00000000-0000-4000-8000-000000000000", "a folder without a whole proposal"),
        ("huge.json", "larger than 16 MiB"),
        ("half.json.part", "not finished"),
        (".hidden.json", "not finished"),
        ("edited.json~", "not finished"),
    ] {
        assert!(reason(found(name)).contains(said), "{name}: {}", reason(found(name)));
    }
    let half = found("half.json").plan.as_ref().unwrap();
    assert!(half.digest.is_none() && half.first_error.as_ref().unwrap().contains("E010"));
    for name in ["a\u{1b}[2J\n\u{202e}.json", "\u{fffd}\u{fffd}.json", "change.patch"] {
        let entry = found(name);
        assert_eq!((&entry.kind, &entry.workspace), (&InboxKind::File, &None));
        assert_eq!(entry.plan.as_ref().unwrap().errors, 0, "{name}");
    }
    assert_eq!(found("change.patch").plan.as_ref().unwrap().format, Some("diff"));
    for entry in &entries {
        assert!(entry.id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{}", entry.id);
        serde_json::to_string(entry).unwrap();
    }
    assert_eq!(entries.len(), 12);
}

#[test]
fn a_proposal_that_was_changed_is_not_opened() {
    let place = Place::new();
    let handle = place.propose(&place.proposal(PLAN.as_bytes())).unwrap();
    let within = place.inbox().join(&handle.id);
    fs::write(within.join("plan"), PLAN.replace("heron", "wren")).unwrap();
    assert!(reason(&place.only()).contains("the bytes differ"));
    fs::write(within.join("plan"), PLAN).unwrap();
    assert!(place.only().can_be_opened());
    let description = fs::read_to_string(within.join("proposal.json")).unwrap();
    for text in [
        description.replace("\"version\":1", "\"version\":2"),
        description.replace("\"name\"", "\"approved\":true,\"name\""),
        description.replace("\"workspace\":\"/", "\"workspace\":\""),
        " ".repeat(70 << 10),
    ] {
        fs::write(within.join("proposal.json"), text).unwrap();
        assert!(reason(&place.only()).contains("without a whole proposal"));
    }
}

#[test]
fn what_is_removed_is_moved_and_nothing_is_lost() {
    let place = Place::new();
    let handle = place.propose(&place.proposal(PLAN.as_bytes())).unwrap();
    let folder = place.folder();
    for wrong in ["", "1234567", "absent.json", "../space", &handle.id[..7]] {
        let refused = remove_from_inbox(&folder, wrong);
        assert!(matches!(refused, Err(InboxError::NotFound { .. })), "{wrong}: {refused:?}");
    }
    assert_eq!(remove_from_inbox(&folder, &handle.id[..8]).unwrap(), handle.id);
    let removed = place.inbox().join("removed");
    assert_eq!(fs::read(removed.join(&handle.id).join("plan")).unwrap(), PLAN.as_bytes());
    // The same name twice.
    for text in ["one", "two"] {
        fs::write(place.inbox().join("x.json"), text).unwrap();
        remove_from_inbox(&folder, "x.json").unwrap();
    }
    assert_eq!(place.list().entries, []);
    assert_eq!(names(&removed).len(), 3);
    // A link is moved itself.
    symlink("/etc/hostname", place.inbox().join("link")).unwrap();
    remove_from_inbox(&folder, "link").unwrap();
    assert!(Path::new("/etc").exists());
    assert_eq!(names(&removed).len(), 4);
}

#[test]
fn the_folder_of_what_was_removed_is_no_link() {
    let place = Place::new();
    let folder = place.folder();
    symlink(place.path().join("space"), place.inbox().join("removed")).unwrap();
    fs::write(place.inbox().join("x.json"), PLAN).unwrap();
    assert!(matches!(remove_from_inbox(&folder, "x.json"), Err(InboxError::Write { .. })));
    assert_eq!(names(&place.path().join("space")), [""; 0]);
    assert_eq!(place.only().name, "x.json");
}

#[test]
fn only_what_has_changed_is_read_again() {
    let place = Place::new();
    let folder = place.folder();
    for number in 0..50 {
        fs::write(place.inbox().join(format!("{number}.json")), PLAN).unwrap();
    }
    let mut reader = InboxReader::new(Policy::default());
    assert_eq!(reader.list(&folder).unwrap().entries.len(), 50);
    assert_eq!(reader.reads(), 50);
    fs::remove_file(place.inbox().join("7.json")).unwrap();
    fs::write(place.inbox().join("8.json"), PLAN.replace("Egg", "Nest")).unwrap();
    let list = reader.list(&folder).unwrap();
    assert_eq!((list.entries.len(), reader.reads()), (49, 51));
    let title = |entry: &InboxEntry| entry.plan.as_ref().unwrap().title.clone();
    assert_eq!(list.entries.iter().filter(|it| title(it).as_deref() == Some("Nest")).count(), 1);
}

#[test]
fn limits_are_said_when_they_are_reached() {
    let place = Place::new();
    let folder = place.folder();
    for number in 0..MAX_PROPOSALS {
        fs::write(place.inbox().join(format!("{number}.txt")), "").unwrap();
    }
    let refused = place.propose(&place.proposal(PLAN.as_bytes())).unwrap_err();
    assert!(refused.to_string().contains("full: it has 2000 entries"), "{refused}");
    for number in MAX_PROPOSALS..=MAX_LISTED {
        fs::write(place.inbox().join(format!("{number}.txt")), "").unwrap();
    }
    let list = list_inbox(&folder, &Policy::default()).unwrap();
    assert_eq!((list.entries.len(), list.omitted), (MAX_LISTED, 1));
}

#[test]
fn the_size_of_all_plans_has_a_limit() {
    let place = Place::new();
    place.folder();
    for number in 0..64 {
        let file = fs::File::create(place.inbox().join(format!("{number:02}.json"))).unwrap();
        file.set_len(16 << 20).unwrap();
    }
    fs::write(place.inbox().join("last.json"), PLAN).unwrap();
    let refused = place.propose(&place.proposal(PLAN.as_bytes())).unwrap_err();
    assert!(refused.to_string().contains("1024 MiB"), "{refused}");
    assert!(refused.next().contains("inbox remove"));
}

/// Whoever names it would take the program's own files for plans, and move them.
#[test]
fn a_folder_with_evidence_is_no_inbox() {
    let place = Place::new();
    let evidence = place.path().join("evidence");
    let contents = evidence.join("contents");
    for folder in [&evidence, &contents] {
        fs::create_dir_all(folder).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert!(InboxFolder::open(&evidence).is_ok(), "nothing is in it yet");
    fs::write(evidence.join("execution_log.db"), "").unwrap();
    for folder in [&place.path(), &evidence, &contents] {
        let refused = InboxFolder::open(folder).unwrap_err();
        assert!(matches!(refused, InboxError::Own { .. }), "{refused}");
        assert_eq!(refused.failure().code, Code::NotAuthorized);
    }
    assert!(InboxFolder::open(&place.inbox()).is_ok());
}
