//! Pausing, cancelling and stopping a run on several hosts, by the real ansible and real servers (SPEC §3, §14).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use countersign::run::{AnsweredBy, Control, HostResult, Outcome, RunEvent};
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::harness::fleet::{Fleet, by_host, path};
use crate::harness::home::Done;

/// Runs the rest of a test in a process of its own that has ansible on `PATH`. The executor of these tests is in the
/// process of the tests, whose environment cannot be changed.
fn with_ansible(test: &str, rest: impl FnOnce()) {
    const CHILD: &str = "COUNTERSIGN_TEST_WITH_ANSIBLE";
    if std::env::var_os(CHILD).is_some() {
        return rest();
    }
    #[expect(clippy::disallowed_methods, reason = "the test itself, with another environment")]
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args([&format!("remote::fleet_control::{test}"), "--exact", "--nocapture"])
        .env("PATH", path())
        .env(CHILD, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&done.stdout);
    let is_run = printed.contains("1 passed");
    assert!(done.status.success() && is_run, "{printed}{}", String::from_utf8_lossy(&done.stderr));
}

/// A harness whose client knows the servers.
fn harness(fleet: &Fleet) -> Harness {
    let mut harness = Harness::new();
    harness.policy.ssh_config = Some(fleet.at("ssh_config"));
    harness
}

/// A plan for two hosts, whose second step leaves a trace.
fn plan_of(first: &str) -> Value {
    json!({
        "id": "p", "goal": "Try it there", "targets": ["h1", "h2"],
        "steps": [{ "id": "a", "command": first }, { "id": "b", "command": "echo x >second" }],
    })
}

fn wait_for_sessions(fleet: &Fleet) {
    for number in [1, 2] {
        fleet.server(number).wait_for("Starting session", 1);
    }
}

fn seconds(fleet: &Fleet) -> [bool; 2] {
    [1, 2].map(|number| fleet.server(number).home().join("second").exists())
}

#[test]
fn pause_waits_between_steps() {
    with_ansible("pause_waits_between_steps", || {
        let fleet = Fleet::start(2, "");
        let harness = harness(&fleet);
        let control = harness.control.clone();
        let processes = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = Arc::clone(&processes);
        let traces = [1, 2].map(|number| fleet.server(number).home().join("second"));
        let harness = harness.on_event(move |event| match event {
            RunEvent::HostEnded { result } if result.step_index == 0 => {
                control.request(Control::Pause, AnsweredBy::Test);
            }
            RunEvent::Paused => {
                assert!(traces.iter().all(|trace| !trace.exists()), "the second step waits");
                *seen.lock().unwrap() = processes_below(std::process::id());
                control.request(Control::Resume, AnsweredBy::Test);
            }
            _ => {}
        });
        let ran = harness.run(&plan_of("true"));
        assert_eq!(ran.words(), (vec!["succeeded", "succeeded"], "completed"));
        let paused = |event: &&RunEvent| matches!(event, RunEvent::Paused | RunEvent::Resumed);
        assert_eq!(ran.callbacks.events().iter().filter(paused).count(), 2);
        assert_eq!(seconds(&fleet), [true, true]);
        let processes = processes.lock().unwrap();
        assert!(processes.len() >= 3, "ansible and two shared connections: {processes:?}");
        assert_eq!(left(&processes), Vec::<String>::new());
    });
}

#[test]
fn cancel_after_step_lets_hosts_end() {
    with_ansible("cancel_after_step_lets_hosts_end", || {
        let fleet = Fleet::start(2, "");
        let harness = harness(&fleet);
        let control = harness.control.clone();
        let harness = harness.on_event(move |event| {
            if let RunEvent::HostStarted { step_index: 0, .. } = event {
                control.request(Control::CancelAfterStep, AnsweredBy::Test);
            }
        });
        let ran = harness.run(&plan_of("echo done >first"));
        assert_eq!(ran.words(), (vec!["succeeded", "cancelled"], "cancelled"));
        let results = &ran.result().host_results;
        assert_eq!(results.len(), 2, "{results:#?}");
        assert!(results.iter().all(|it| it.step_index == 0 && it.outcome == Outcome::Succeeded));
        assert_eq!(seconds(&fleet), [false, false]);
    });
}

/// Every process in the folder in which this process has started ansible: ansible itself, its workers, and its clients
/// with their shared connections, which are in the background.
fn processes_below(parent: u32) -> BTreeSet<PathBuf> {
    let all = || fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let folder = |process: &Path| fs::read_link(process.join("cwd")).ok();
    let is_child = |process: &PathBuf| {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{parent}"))
    };
    let is_of_run = |folder: &PathBuf| folder.join("playbook.yml").exists();
    let folders: BTreeSet<PathBuf> =
        all().filter(is_child).filter_map(|it| folder(&it)).filter(is_of_run).collect();
    all().filter(|process| folder(process).is_some_and(|it| folders.contains(&it))).collect()
}

/// Those processes that still exist. One that has ended stays in the list until the first process of the system takes
/// note of it.
fn left(processes: &BTreeSet<PathBuf>) -> Vec<String> {
    let state = |process: &PathBuf| fs::read_to_string(process.join("stat")).ok();
    processes.iter().filter_map(state).filter(|state| !state.contains(") Z ")).collect()
}

fn assert_stopped(results: &[HostResult]) {
    assert_eq!(results.len(), 2, "{results:#?}");
    for result in results {
        let found = (result.step_index, result.outcome, result.may_have_run, result.exit_code);
        assert_eq!(found, (0, Outcome::Cancelled, true, None), "{result:#?}");
        let message = result.error_message.as_deref().unwrap();
        assert!(message.starts_with("stopped while the command ran"), "{message}");
    }
}

#[test]
fn stop_ends_every_process() {
    with_ansible("stop_ends_every_process", || {
        let fleet = Arc::new(Fleet::start(2, ""));
        let harness = harness(&fleet);
        let control = harness.control.clone();
        let processes = Arc::new(Mutex::new(BTreeSet::new()));
        let started = AtomicUsize::new(0);
        let harness = harness.on_event({
            let (fleet, processes) = (Arc::clone(&fleet), Arc::clone(&processes));
            move |event| {
                if matches!(event, RunEvent::HostStarted { .. })
                    && started.fetch_add(1, Ordering::SeqCst) == 1
                {
                    wait_for_sessions(&fleet);
                    *processes.lock().unwrap() = processes_below(std::process::id());
                    control.request(Control::StopNow, AnsweredBy::Test);
                }
            }
        });
        let ran = harness.run(&plan_of("tail -f /dev/null"));
        assert_eq!(ran.words(), (vec!["cancelled", "cancelled"], "cancelled"));
        assert_stopped(&ran.result().host_results);
        let processes = processes.lock().unwrap();
        assert!(processes.len() >= 4, "ansible, its workers and two clients: {processes:?}");
        assert_eq!(left(&processes), Vec::<String>::new());
        assert_eq!(seconds(&fleet), [false, false]);
    });
}

#[test]
fn interrupt_without_a_window_ends_every_process() {
    let fleet = Fleet::start(2, "");
    fleet.plan(plan_of("tail -f /dev/null"));
    let mut child = fleet.home.child(["run", "space/p.json", "--yes", "--json"]);
    let child = child.env("PATH", path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    wait_for_sessions(&fleet);
    let processes = processes_below(child.id());
    assert!(processes.len() >= 4, "ansible, its workers and two clients: {processes:?}");
    let id = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let document = Done::read(child.wait_with_output().unwrap()).exits(1).document();
    assert_eq!(document["status"], "cancelled", "{document:#}");
    assert_eq!(left(&processes), Vec::<String>::new());
    for (host, result) in by_host(&document, 0) {
        assert_eq!(result["outcome"], "cancelled", "{host}: {result:#}");
        assert_eq!(result["may_have_run"], true, "{host}: {result:#}");
    }
    assert_eq!(seconds(&fleet), [false, false]);
}
