//! Processes that a step leaves running at level full must not affect later steps, nor outlive the run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use countersign::authorization::{StepWalls, WallLevel};
use serde_json::json;

use crate::harness::home::Home;
use crate::harness::set_mode;
use crate::walls::allowed::Space;

/// Exchanges two names in a loop, and creates a marker when it begins.
const EXCHANGE: &str = "import ctypes, sys
call = ctypes.CDLL(None).renameat2
one, other = (name.encode() for name in sys.argv[1:])
open('begun', 'w').close()
while True:
    call(-100, one, -100, other, 2)
";

#[test]
fn exchanged_granted_path_opens_nothing_else() {
    let mut ran = 0;
    for kind in ["folder", "file"] {
        for _ in 0..10 {
            let space = Space::new(WallLevel::Full);
            let (granted, outside) = (space.top.join("granted"), space.top.join("outside"));
            fs::create_dir_all(&outside).unwrap();
            fs::create_dir_all(&granted).unwrap();
            fs::write(outside.join("file"), "").unwrap();
            set_mode(&outside, 0o700);
            let own = granted.join("own");
            let target = if kind == "folder" {
                fs::create_dir(&own).unwrap();
                "../outside"
            } else {
                fs::write(&own, "").unwrap();
                "../outside/file"
            };
            std::os::unix::fs::symlink(target, granted.join("link")).unwrap();
            space.write("exchange.py", EXCHANGE);
            let walls = |path: &std::path::Path| StepWalls {
                write: vec![path.to_str().unwrap().to_owned()],
                ..space.walls.clone()
            };
            let (own_name, link) = (own.display(), granted.join("link"));
            let start = format!(
                "python3 exchange.py {own_name} {} </dev/null >/dev/null 2>&1 &
                 while ! [ -e begun ]; do :; done",
                link.display()
            );
            assert_eq!(space.run_behind(&walls(&granted), &start).1, None);
            let out = outside.display();
            let attack = format!("chmod 777 {out}; touch {out}/new; echo x >> {out}/file; true");
            // If the link is in place at that moment, the step does not start.
            ran += usize::from(space.run_behind(&walls(&own), &attack).1.is_none());
            drop(space.toolbox);
            assert_eq!(fs::read(outside.join("file")).unwrap(), b"", "{kind}");
            assert!(!outside.join("new").exists(), "{kind}");
            assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
    assert!(ran > 0, "no attack was tried");
}

#[test]
fn forbidden_file_cannot_appear_later() {
    for _ in 0..10 {
        let space = Space::new(WallLevel::Full);
        space.write(
            "race.py",
            "import os
parent = os.getppid()
open('begun', 'w').close()
while os.getppid() == parent:
    pass
while True:
    open('countersign.toml', 'w').close()
",
        );
        space.run("python3 race.py </dev/null >/dev/null 2>&1 & while ! [ -e begun ]; do :; done");
        space.toolbox.walls().end();
        assert!(!space.top.join("work/countersign.toml").exists());
    }
}

#[test]
fn process_without_main_thread_is_halted() {
    for _ in 0..5 {
        let space = Space::new(WallLevel::Full);
        let race = "import ctypes, os, threading
def plant():
    open('begun', 'w').close()
    while os.getppid() == parent:
        pass
    while True:
        open('countersign.toml', 'w').close()
parent = os.getppid()
threading.Thread(target=plant).start()
# Ends this thread alone.
ctypes.CDLL(None).syscall(60, 0)
";
        space.write("race.py", race);
        space.run("python3 race.py </dev/null >/dev/null 2>&1 & while ! [ -e begun ]; do :; done");
        space.run("true");
        space.toolbox.walls().end();
        assert!(!space.top.join("work/countersign.toml").exists());
    }
}

#[test]
fn step_starts_beside_many_leftover_processes() {
    let space = Space::new(WallLevel::Full);
    fs::create_dir(space.top.join("granted")).unwrap();
    // More processes than there are kernel threads with low process ids.
    space.works("for i in $(seq 1500); do /bin/true; done");
    let granted = space.top.join("granted").to_str().unwrap().to_owned();
    let walls = StepWalls { write: vec![granted.clone()], ..space.walls.clone() };
    assert_eq!(space.run_behind(&walls, &format!("touch {granted}/made")).1, None);
    assert!(space.top.join("granted/made").exists());
}

#[test]
fn step_halting_its_helper_ends_in_time() {
    let home = Home::new();
    for _ in 0..5 {
        let step = json!({ "id": "a", "command": "kill -STOP $PPID; sleep 600", "description": "x",
            "explanation": "x", "timeoutSeconds": 1 });
        home.write("p.json", json!({ "goal": "g", "steps": [step] }).to_string());
        let done = home.json(["run", "space/p.json", "--yes", "--confirm", "approve"]).exits(1);
        assert_eq!(done.document()["step_results"][0]["error_code"], "E306", "{done:#?}");
    }
}

#[test]
fn wall_lost_by_replaced_file_is_reported() {
    let space = Space::new(WallLevel::Full);
    space.write("countersign.toml", "");
    let (work, name) = (space.top.join("work"), "person".to_owned());
    let replace = move || {
        while !work.join("begun").exists() {
            std::thread::yield_now();
        }
        fs::write(work.join("new"), "# by the person\n").unwrap();
        fs::rename(work.join("new"), work.join("countersign.toml")).unwrap();
        fs::write(work.join("go"), "").unwrap();
    };
    let replace = std::thread::Builder::new().name(name).spawn(replace).unwrap();
    let (printed, code) = space
        .run("touch begun; while ! [ -e go ]; do :; done; echo evil >> countersign.toml; true");
    replace.join().unwrap();
    assert_eq!(code, Some(countersign::plan::Code::StoppedByWall), "{printed}");
    assert!(printed.contains("countersign.toml"), "{printed}");
}
