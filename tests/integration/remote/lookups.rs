//! The processes started before a run on another host, and follow-ups of a run whose target came from the command
//! line (SPEC §3, §7.3, §11).

use std::fs;
use std::path::Path;
use std::sync::Arc;

use countersign::evidence::EvidenceLocation;
use countersign::plan::ShownPlan;
use countersign::risk::Policy;
use countersign::worker::{Faults, FollowUp, OpenFollowUp, OpenedPlan, QueryThread, Setup};
use serde_json::{Value, json};

use super::plans::home;
use crate::harness::home::{Home, PROGRAM};
use crate::harness::sshd::Sshd;

/// The names of the programs that this command starts, without its own.
fn started(home: &Home, arguments: &[&str]) -> Vec<String> {
    let log = home.path().join("trace");
    let mut command = home.command_of("strace");
    command.args(["-f", "-qq", "-e", "trace=execve,execveat", "-o", log.to_str().unwrap()]);
    let output = command.arg(PROGRAM).args(arguments).output();
    let output = output.expect("strace; install it, or run packaging/test.sh");
    let said = format!("{output:?}");
    assert!(output.status.success(), "{said}");
    let trace = fs::read_to_string(&log).unwrap_or_default();
    let mut programs = trace.lines().filter_map(|line| {
        let (_, call) = line.split_once(" execve")?;
        let path = Path::new(call.split('"').nth(1)?);
        Some(path.file_name()?.to_str()?.to_owned())
    });
    assert_eq!(
        programs.next().as_deref(),
        Some("countersign"),
        "strace may not trace here: {said}"
    );
    programs.collect()
}

/// Anything else goes to `ssh` through its stdin.
#[test]
fn a_terminal_there_shows_its_command_here() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    for terminal in [true, false] {
        let step = json!({ "command": "true", "needs": { "terminal": terminal } });
        let plan = json!({ "goal": "x", "target": "loopback", "steps": [step] });
        home.write("p.json", plan.to_string());
        let findings = home.json(["check", "space/p.json"]).document()["findings"].to_string();
        assert_eq!(findings.contains("its command is an argument of ssh"), terminal, "{findings}");
    }
}

/// A simulation starts no process; a check starts only the ssh client.
#[test]
fn simulation_and_check_do_not_connect() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    home.write("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\n");
    let steps = json!([
        { "id": "a", "command": "touch ran", "verificationCommand": "test -e ran" },
        { "id": "b", "command": "cargo build" },
    ]);
    let there = json!({ "goal": "x", "target": "loopback", "steps": steps });
    home.write("p.json", there.to_string());
    assert_eq!(started(&home, &["simulate", "space/p.json"]), [""; 0]);
    home.write("p.json", json!({ "goal": "x", "steps": steps }).to_string());
    assert_eq!(started(&home, &["simulate", "space/p.json", "--target", "loopback"]), [""; 0]);
    assert_eq!(started(&home, &["simulate", "space/p.json"]), [""; 0]);
    let document = home.json(["simulate", "space/p.json", "--target", "loopback"]).document();
    assert_eq!(document["steps"][0]["predicted"], "unpredictable");
    // A plan that cannot be approved can still be simulated.
    sshd.forget();
    home.json(["simulate", "space/p.json", "--target", "loopback"]).exits(0);
    home.json(["check", "space/p.json", "--target", "loopback"]).exits(2);
    // The trace shows what is started: `check` starts only the ssh client of the system.
    sshd.know("host_key");
    let asked = started(&home, &["check", "space/p.json", "--target", "loopback"]);
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|name| name == "ssh" || name == "ssh-keygen"), "{asked:?}");
    // For local commands it probes the walls, by bubblewrap and by starting itself.
    let tried = started(&home, &["check", "space/p.json"]);
    let is_trial = |name: &String| {
        name == "bwrap" || name == "exe" || name.bytes().all(|byte| byte.is_ascii_digit())
    };
    assert!(tried.iter().all(is_trial), "{tried:?}");
    assert_eq!(sshd.logged("Connection from"), 0, "and nobody connected");
}

fn opened(
    queries: &QueryThread<Option<OpenedPlan>>,
    id: uuid::Uuid,
    follow_up: FollowUp,
) -> Arc<ShownPlan> {
    let query = OpenFollowUp { id, follow_up };
    queries.send(query, |opened, answer| *opened = Some(answer.unwrap())).unwrap();
    let mut opened = None;
    queries.recv().unwrap()(&mut opened);
    let opened = opened.unwrap();
    assert_eq!(opened.findings, [], "it may be authorized");
    let target = opened.review.unwrap().binding.target.clone();
    let target = target.map(|target| target.destination);
    let plan = opened.plan.unwrap();
    assert_eq!(target, plan.target, "what is approved is what is shown");
    plan
}

#[test]
fn follow_ups_run_on_the_same_host() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    let steps = json!([{ "id": "a", "command": "false" }]);
    let run = |target: Option<&str>, to: &str| -> uuid::Uuid {
        let mut plan = json!({ "goal": "x", "steps": steps, "rollbackPlan": ["true"] });
        if let Some(target) = target {
            plan["target"] = target.into();
        }
        home.write("p.json", plan.to_string());
        let line = ["run", "space/p.json", "--yes", "--target", to];
        let document: Value = home.json(line).exits(1).document();
        document["run_id"].as_str().unwrap().parse().unwrap()
    };
    let (there, here) = (run(None, "loopback"), run(Some("loopback"), "local"));
    let setup = Setup {
        location: EvidenceLocation::new(
            home.evidence(),
            home.path().join(".local/share/countersign/secrets"),
        ),
        policy: Policy { ssh_config: Some(sshd.config()), ..Policy::default() },
        inbox: home.path().join("inbox"),
        faults: Faults::default(),
    };
    let queries = QueryThread::start(setup, Arc::new(|| {})).unwrap();
    for (run_id, target) in [(there, Some("loopback")), (here, None)] {
        let plan = opened(&queries, run_id, FollowUp::RunAgain);
        assert_eq!(plan.target.as_deref(), target);
        let plan = opened(&queries, run_id, FollowUp::RollBack);
        assert_eq!(plan.target.as_deref(), target);
    }
}
