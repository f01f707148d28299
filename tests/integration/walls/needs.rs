//! What commands need beyond their walls, from the command line (SPEC §7.5, §11).

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use countersign::evidence::EvidenceReader;
use countersign::run::RunEvent;

use crate::harness::actions;
use crate::harness::home::{Done, Home};

pub fn plan(home: &Home, steps: Value) {
    home.write("p.json", json!({ "goal": "g", "steps": steps }).to_string());
}

#[test]
fn risk_tells_what_a_command_needs() {
    let home = Home::new();
    let risk = |command: &str| {
        home.command().args(["risk", "--json", "--", command]).output().unwrap().stdout
    };
    let document: Value = serde_json::from_slice(&risk("git add -A && curl x")).unwrap();
    assert_eq!(document["needs"]["network"], true);
    assert_eq!(document["walls"]["writes_repository"], true);
    assert_eq!(document["walls"]["refused"], Value::Null);
    let docker: Value = serde_json::from_slice(&risk("docker ps")).unwrap();
    assert!(docker["walls"]["refused"].as_str().unwrap().contains("socket"), "{docker}");
}

#[test]
fn a_terminal_is_shown_and_refused_without_a_window() {
    let home = Home::new();
    let steps = json!([
        { "command": "touch made" },
        { "command": "top", "needs": { "terminal": true } },
    ]);
    plan(&home, steps);
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    assert!(document.to_string().contains("\"terminal\":true"), "{document}");
    let document = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    let error = &document["error"];
    assert_eq!(error["code"], "E305", "{document}");
    assert!(error["message"].as_str().unwrap().contains("step 2 needs a terminal"), "{document}");
    assert!(!home.path().join("space/made").exists(), "no step has run");
}

#[test]
fn a_forbidden_path_makes_the_plan_invalid() {
    let home = Home::new();
    let homes = ["/home", "/home/somebody", "/root"];
    for path in ["/", "~", "~/.ssh", ".git/hooks", "~/.config/countersign"].into_iter().chain(homes)
    {
        fs::create_dir_all(home.path().join(".ssh")).unwrap();
        plan(&home, json!([{ "command": "true", "needs": { "write": [path] } }]));
        let document = home.json(["check", "space/p.json"]).exits(2).document();
        assert_eq!(document["findings"][0]["pointer"], "/steps/0/needs/write/0", "{path}");
    }
}

#[test]
fn without_walls_caution_asks_and_a_flag_answers() {
    let home = Home::new();
    home.settings("[policy]\nwalls = 'off'\n");
    plan(&home, json!([{ "command": "ls" }, { "command": "touch made" }]));
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    assert_eq!(document["walls"]["setting"], "off");
    let steps = &document["risk"]["steps"];
    assert!(steps[0]["asks"].is_null(), "{document}");
    assert!(steps[1]["asks"].as_str().unwrap().contains("Walls are off"), "{document}");
    assert_eq!(steps[1]["walls"]["level"], "none");
    let denied = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    assert_eq!(denied["step_results"][1]["error_code"], "E106", "{denied}");
    let done = home.json(["run", "space/p.json", "--yes", "--confirm", "caution"]).exits(0);
    assert_eq!(done.document()["step_results"][1]["walls"]["level"], "none");
    assert!(home.file("made").exists());
}

#[test]
fn the_flag_for_caution_answers_nothing_else() {
    let home = Home::new();
    home.settings("[policy]\nwalls = 'off'\n");
    fs::create_dir(home.file("old")).unwrap();
    for step in [
        json!({ "command": "rm -r old" }),
        json!({ "command": "touch made", "riskAssessment": { "requiresApproval": true } }),
    ] {
        plan(&home, json!([step]));
        let run = home.json(["run", "space/p.json", "--yes", "--confirm", "caution"]).exits(1);
        assert_eq!(run.document()["step_results"][0]["error_code"], "E106", "{step}");
    }
    assert!(home.file("old").exists() && !home.file("made").exists());
}

#[test]
fn an_unknown_grant_or_setting_is_refused() {
    let home = Home::new();
    plan(&home, json!([{ "command": "ls" }]));
    for grant in ["all", "write", "write=", "network=yes"] {
        let done = home.run(["check", "space/p.json", "--allow", grant]).exits(5);
        assert!(done.stderr.contains("write=PATH"), "{done:?}");
    }
    home.settings("[policy]\nwalls = 'maybe'\n");
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(5);
    // At the wrong place, it would say nothing.
    home.settings("walls = 'off'\n");
    let done = home.run(["run", "space/p.json", "--yes"]).exits(5);
    let why = "there is no setting \"walls\": it belongs into the table [policy]";
    assert!(done.stderr.contains(why), "{done:?}");
}

#[test]
fn step_reaches_neither_evidence_nor_plan_file() {
    let home = Home::new();
    // A protected path inside the workspace, where everything else is writable.
    let evidence = home.file("kept");
    let run = || {
        let words = ["run", "space/p.json", "--yes", "--confirm", "approve", "--json"];
        Done::of(home.command().args(words).args(["--evidence", "space/kept"]))
    };
    plan(&home, json!([{ "command": "true" }]));
    let _ = run().exits(0);
    let before = fs::read(evidence.join("execution_log.db")).unwrap().len();
    assert!(before > 0);
    for command in [
        "cat kept/execution_log.db | grep -c SQLite",
        "cp kept/execution_log.db out",
        "d=ke; ls ${d}pt/*.db",
        "echo changed > p.json",
        "rm -f p.json",
        "mv p.json q.json",
        "touch new && ln -f new p.json",
        "python3 -c 'open(\"p.json\", \"a\").write(\"x\")'",
    ] {
        plan(&home, json!([{ "command": command }]));
        let before = fs::read_to_string(home.file("p.json")).unwrap();
        let document = run().exits(1).document();
        let code = &document["step_results"][0]["error_code"];
        assert!(["E305", "E312"].contains(&code.as_str().unwrap()), "{command}: {document}");
        let kept = fs::read_to_string(home.file("p.json")).unwrap();
        assert_eq!(kept, before, "{command}");
        assert!(!home.file("out").exists(), "{command}");
    }
}

#[test]
fn leftover_processes_are_ended_and_recorded() {
    let home = Home::new();
    // The shell ends only once its child has become `sleep`, because the child starts as a copy of the shell.
    let command = "sleep 4715 >/dev/null 2>&1 & \
        until read -r name < /proc/$!/comm && [ $name = sleep ]; do :; done";
    plan(&home, json!([{ "command": command }]));
    let words = ["run", "space/p.json", "--yes", "--evidence"];
    let done = Done::of(home.command().args(words).arg(home.evidence())).exits(0);
    assert!(done.stderr.contains("still running were ended: sleep"), "{done:#?}");
    let secrets = home.path().join(".local/share/countersign");
    let mut reader = EvidenceReader::open(&home.evidence(), secrets).unwrap();
    let run_id = reader.runs(1).unwrap()[0].run_id;
    let events = reader.replay(run_id).unwrap();
    let left = events.iter().find_map(|event| match event {
        RunEvent::LeftRunning { processes } => Some(processes.clone()),
        _ => None,
    });
    assert_eq!(left, Some(vec!["sleep".to_owned()]), "{events:?}");
}

#[test]
fn refusal_in_successful_build_is_a_note() {
    let home = Home::new();
    home.write("Cargo.toml", "[package]\nname = 'a'\nversion = '0.1.0'\nedition = '2024'\n");
    fs::create_dir(home.file("src")).unwrap();
    home.write("src/lib.rs", "");
    let script = "fn main() { let _ = std::net::TcpStream::connect(\"192.0.2.1:9\"); }";
    home.write("build.rs", script);
    let step = |id: &str, tool: &str, arguments: Value| json!({ "step_id": id, "tool": tool, "arguments": arguments });
    home.plan(json!([step("check", "lsp_check", json!({ "path": "." }))]));
    let result =
        &home.json(["run", "space/p.json", "--yes"]).exits(0).document()["step_results"][0];
    let note = result["wall_notes"][0].as_str().unwrap_or_else(|| panic!("{result}"));
    assert!(note.contains("blocked network access"), "{note}");
    home.write("build.rs", format!("// Again.\n{script}"));
    home.write("p.json", actions([("verify", json!({ "scope": "local" }))]).to_string());
    let result =
        &home.json(["run", "space/p.json", "--yes"]).exits(0).document()["step_results"][0];
    let note = result["wall_notes"][0].as_str().unwrap_or_else(|| panic!("{result}"));
    assert!(note.contains("blocked network access"), "{note}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "only the standard command can be killed")]
fn killed_program_leaves_no_processes() {
    let home = Home::new();
    plan(
        &home,
        json!([{ "id": "a", "command": "sleep 600", "description": "x", "explanation": "x" }]),
    );
    // Every process of this run has the folder of this test in its command line.
    let started = || {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let name = home.path().as_os_str().as_encoded_bytes();
        let holds = |path: std::path::PathBuf| {
            let line = fs::read(path.join("cmdline")).unwrap_or_default();
            line.starts_with(b"/usr/bin/bwrap") && line.windows(name.len()).any(|part| part == name)
        };
        entries.filter(|entry| holds(entry.path())).count()
    };
    for early in 0..40_u32 {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(["run", "space/p.json", "--yes", "--evidence"])
            .arg(home.evidence())
            .current_dir(home.path())
            .env("HOME", home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while started() == 0 {
            assert!(child.try_wait().unwrap().is_none(), "it ended without walls");
        }
        let moment = Instant::now() + Duration::from_micros(u64::from(early % 20) * 150);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while started() > 0 {
            assert!(Instant::now() < deadline, "something stays after kill {early}");
            std::thread::yield_now();
        }
    }
}
