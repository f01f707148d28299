//! Tests of the authorization.

use std::collections::BTreeMap;

use super::*;
use crate::plan::Mode;

fn binding(target: Option<Target>) -> Binding {
    Binding {
        fleet: None,
        workspace: "/home/ada/app".to_owned(),
        workspace_id: None,
        mode: Mode::Automatic,
        policy: Digest::of(b"policy"),
        target,
        inputs: BTreeMap::new(),
        grants: Grants::default(),
        choices: RunChoices::default(),
        walls: None,
        secret_inputs: BTreeMap::new(),
    }
}

#[test]
fn other_walls_void_an_approval_and_are_named() {
    let full = StepWalls { level: WallLevel::Full, ..StepWalls::default() };
    let with = |steps: &[Option<&StepWalls>]| Binding {
        walls: Some(steps.iter().map(|it| it.cloned()).collect()),
        ..binding(None)
    };
    let approved = with(&[None, Some(&full)]);
    assert_eq!(approved.changes(&approved.clone()), []);
    let online = StepWalls { network: true, ..full.clone() };
    let weaker = StepWalls { level: WallLevel::Files, ..full.clone() };
    let repository = StepWalls { writes_repository: true, ..full.clone() };
    let elsewhere = StepWalls { write: vec!["/srv".to_owned()], ..full.clone() };
    let open = StepWalls { open: true, level: WallLevel::None, ..full.clone() };
    for (now, expected) in [
        (with(&[None, Some(&online)]), "full, network"),
        (with(&[None, Some(&weaker)]), "files"),
        (with(&[None, Some(&repository)]), "full, writes the repository"),
        (with(&[None, Some(&elsewhere)]), "full, writes /srv"),
        (with(&[None, Some(&open)]), "none, open"),
        (with(&[None, None]), "not covered"),
        (binding(None), "not covered"),
    ] {
        let changes = approved.changes(&now);
        let [change] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!((change.what.as_str(), change.now.as_str()), ("walls of step 2", expected));
        assert_eq!(change.approved, "full");
    }
}

#[test]
fn another_folder_in_its_place_voids_an_approval() {
    let of = |id: Option<&str>| Binding { workspace_id: id.map(str::to_owned), ..binding(None) };
    let changes = of(Some("1:2")).changes(&of(Some("1:3")));
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0].what, "folder of the workspace");
    for (approved, now) in [(None, Some("1:3")), (Some("1:2"), Some("1:2"))] {
        assert_eq!(of(approved).changes(&of(now)), [], "{approved:?}, {now:?}");
    }
}

#[test]
fn another_target_voids_an_approval() {
    let target = Target {
        destination: "build".to_owned(),
        user: "ada".to_owned(),
        host: "10.0.0.7".to_owned(),
        port: 22,
        host_keys: vec!["ED25519 SHA256:one".to_owned()],
    };
    let approved = binding(Some(target.clone()));
    assert_eq!(approved.changes(&approved.clone()), []);
    for (other, now) in [
        (
            Some(Target { host: "fe80::1".to_owned(), ..target.clone() }),
            "build (ada@[fe80::1]:22) with key ED25519 SHA256:one",
        ),
        (
            Some(Target { user: "root".to_owned(), ..target.clone() }),
            "build (root@10.0.0.7:22) with key ED25519 SHA256:one",
        ),
        (
            Some(Target { port: 2222, ..target.clone() }),
            "build (ada@10.0.0.7:2222) with key ED25519 SHA256:one",
        ),
        (
            Some(Target { host_keys: vec!["ED25519 SHA256:two".to_owned()], ..target.clone() }),
            "build (ada@10.0.0.7:22) with key ED25519 SHA256:two",
        ),
        (None, "local"),
    ] {
        let changes = approved.changes(&binding(other));
        let [change] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!((change.what.as_str(), change.now.as_str()), ("target", now));
        assert_eq!(change.approved, target.to_string());
    }
}

#[test]
fn an_approval_ends_by_either_clock() {
    let plan = crate::plan::parse(
        br#"{"plan_id":"p","intent":"READ","steps":[{"step_id":"a","tool":"file_read","arguments":{"path":"a"}}]}"#,
    )
    .plan
    .unwrap();
    let at = |boot_id: &str, ms| SinceBoot { boot_id: boot_id.to_owned(), ms };
    let given = PlanAuthorization::pending(&plan, binding(None), Method::Window, 10_000)
        .approve(10_000, 1_000)
        .with_boot_time(at("one", 500));
    assert!(!given.is_expired(10_999, &at("one", 1_499)));
    assert!(given.is_expired(11_000, &at("one", 501)), "the wall clock");
    for wall_ms in [10_001, 9_000, i64::MIN] {
        assert!(!given.is_expired(wall_ms, &at("one", 1_499)));
        assert!(given.is_expired(wall_ms, &at("one", 1_500)), "a wall clock that was set back");
        assert!(given.is_expired(wall_ms, &at("two", 501)), "another start of the machine");
    }
}

#[test]
fn a_brief_change_names_no_digest() {
    let of = |approved: FileState, now: FileState| {
        let (approved, now) = (approved.to_string(), now.to_string());
        Change { what: "file src/lib.rs".to_owned(), approved, now }.brief()
    };
    let content = |text: &str| FileState::Content(Digest::of(text.as_bytes()));
    let end = "since the authorization";
    for (change, expected) in [
        (of(content("a"), content("b")), format!("src/lib.rs has changed {end}")),
        (of(FileState::Absent, content("b")), format!("src/lib.rs was created {end}")),
        (of(content("a"), FileState::Absent), format!("src/lib.rs was removed {end}")),
    ] {
        assert_eq!(change, expected);
    }
    let (what, approved, now) = ("mode".to_owned(), "automatic".to_owned(), "guided".to_owned());
    let mode = Change { what, approved, now };
    assert_eq!(mode.brief(), "mode was automatic when authorized and is guided now");
}
