//! Plans whose commands run on another host (SPEC §2, §7.3, §11).

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign::evidence::EvidenceLocation;
use countersign::risk::Policy;
use countersign::run::{AnsweredBy, Control, Decision, RunEvent, TargetState};
use countersign::worker::{CheckTarget, Faults, OpenPlan, QueryThread, Setup};
use serde_json::{Value, json};

use crate::harness::home::{Done, Home, PROGRAM};
use crate::harness::remote_session::is_alive;
use crate::harness::sshd::Sshd;
use crate::harness::{Harness, and, command};

/// A command plan of these steps with the server as target.
pub fn plan(steps: impl IntoIterator<Item = Value>) -> Value {
    let steps: Vec<_> = steps.into_iter().collect();
    json!({ "id": "p", "goal": "Try it there", "target": "loopback", "steps": steps })
}

/// A harness whose ssh client knows the server.
pub fn harness(sshd: &Sshd) -> Harness {
    let mut harness = Harness::new();
    harness.policy.ssh_config = Some(sshd.config());
    harness
}

/// A home whose ssh client knows the server.
pub fn home(sshd: &Sshd) -> Home {
    let home = Home::new();
    home.settings(format!("[policy]\nssh_config = {:?}\n", sshd.config()));
    home
}

/// The recorded result of a step.
pub fn returned(harness: &Harness, step: &str) -> Value {
    let sql = "SELECT content_json FROM execution_artifacts a JOIN executions e
               ON e.id = a.execution_id WHERE e.step_id = ?1 AND a.artifact_type = 'result'";
    let found = harness.texts(sql, [step]);
    assert_eq!(found.len(), 1, "{found:?}");
    serde_json::from_str(&found[0]).unwrap()
}

/// Asserts that nothing ran and nothing was recorded.
pub fn assert_untouched(harness: &Harness, sshd: &Sshd) {
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 0);
    assert_eq!(harness.count("SELECT count(*) FROM intents", []), 0);
    assert_eq!(sshd.logged("Starting session"), 0, "nothing was sent");
    assert_eq!(fs::read_dir(sshd.home()).unwrap().count(), 0);
}

#[test]
fn plan_runs_remotely_over_one_connection() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    let steps = [
        and(command("a", "echo here; echo wrong >&2; pwd -P"), "verificationCommand", "true"),
        command("b", "exit 7"),
    ];
    home.write("p.json", plan(steps).to_string());
    let done = home.json(["run", "space/p.json", "--yes"]).exits(1);
    let document = done.document();
    let results = document["step_results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{document}");
    let there = fs::canonicalize(sshd.home()).unwrap();
    assert_eq!(results[0]["stdout"], format!("here\n{}\n", there.display()));
    assert_eq!(results[0]["stderr"], "wrong\n");
    assert_eq!((&results[0]["exit_code"], &results[2]["exit_code"]), (&json!(0), &json!(7)));
    assert_eq!(results[2]["error_code"], "E305");
    let message = results[2]["error_message"].as_str().unwrap();
    assert_eq!(message, "the command ended with exit code 7 on loopback");
    assert_eq!(sshd.logged("Accepted publickey"), 1, "one connection");
    let found = home.json(["evidence", "search", "--host", "loopback"]).exits(0);
    assert_eq!(found.lines().len(), 3, "{found:?}");
    let none = home.json(["evidence", "search", "--host", "elsewhere"]).exits(0);
    assert_eq!(none.lines().len(), 0, "{none:?}");
    let seen = home.run(["run", "space/p.json", "--yes"]).exits(1).stderr;
    let who = format!("{}@127.0.0.1:{}", sshd.user(), sshd.port());
    let key = sshd.fingerprint("host_key");
    let connected = format!("Connected to loopback ({who}) with key {key}, Linux ");
    assert!(seen.contains(&connected) && seen.contains("here\n"), "{seen}");
}

#[test]
fn records_and_questions_name_the_host() {
    let sshd = Sshd::with("Banner none\n");
    let harness = harness(&sshd).answering(|_| Decision::Approve);
    let mut risky = command("b", "rm -r sub");
    risky["riskLevel"] = "dangerous".into();
    fs::create_dir(sshd.home().join("sub")).unwrap();
    let ran = harness.run(&plan([command("a", "echo x"), risky]));
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded"], "completed"));
    assert!(!sshd.home().join("sub").exists(), "it ran there");
    let (user, port) = (sshd.user(), sshd.port());
    let line =
        format!("loopback ({user}@127.0.0.1:{port}) with key {}", sshd.fingerprint("host_key"));
    let asked = &ran.callbacks.confirmation_requests()[0];
    assert_eq!(asked.user, user);
    assert_eq!((asked.target.as_deref(), asked.host.as_deref()), (Some("loopback"), Some(&*line)));
    assert_eq!(asked.target_word(), "sub on loopback");
    assert_eq!(Path::new(&asked.cwd), sshd.home());
    assert!(asked.preview.notes[0].contains("127.0.0.1"), "{:?}", asked.preview);
    let state = ran.callbacks.state();
    assert_eq!(state.host.as_ref().unwrap().line(), line);
    assert_eq!(harness.replayed(ran.result().run_id).host, state.host, "and in the records");
    for sql in ["SELECT host FROM intents", "SELECT host FROM executions"] {
        assert_eq!(harness.texts(sql, []), ["loopback", "loopback"], "{sql}");
    }
    let kept = returned(&harness, "a");
    assert_eq!(kept["host"]["host_key"], sshd.fingerprint("host_key"));
    assert_eq!((&kept["host"]["user"], &kept["host"]["port"]), (&json!(user), &json!(port)));
    assert!(kept["host"]["system"].as_str().unwrap().starts_with("Linux "), "{kept}");
    assert_eq!((&kept["exit_code"], &kept["outcome_known"]), (&json!(0), &json!(true)));
    assert_eq!(Path::new(kept["folder"].as_str().unwrap()), sshd.home());
    let approved = harness.texts("SELECT host_key FROM runs", []);
    assert_eq!(approved, [sshd.fingerprint("host_key").replace("ssh-ed25519", "ED25519")]);
}

#[test]
fn a_timeout_ends_the_group_on_the_host() {
    let sshd = Sshd::start();
    let harness = harness(&sshd);
    let step = and(command("a", "sleep 300 & echo $$ $!; wait"), "timeoutSeconds", 1);
    let ran = harness.run(&plan([step]));
    assert_eq!(ran.codes(), [Some("E306")]);
    let printed = ran.result().step_results[0].stdout.clone().unwrap();
    let ids: Vec<_> = printed.split_whitespace().collect();
    assert_eq!(ids.len(), 2, "{printed}");
    assert!(ids.iter().all(|id| !is_alive(id)), "{printed}");
    let kept = returned(&harness, "a");
    assert_eq!((&kept["timed_out"], &kept["outcome_known"]), (&json!(true), &json!(true)));
}

#[test]
fn stop_now_ends_remote_group_and_connection() {
    let sshd = Sshd::start();
    let mut harness = harness(&sshd);
    let control = harness.control.clone();
    harness = harness.on_event(move |event| {
        if matches!(event, RunEvent::StepOutput { .. }) {
            control.request(Control::StopNow, AnsweredBy::Test);
        }
    });
    let ran = harness.run(&plan([command("a", "echo $$; sleep 300"), command("b", "touch b")]));
    assert_eq!(ran.words(), (vec!["cancelled"], "cancelled"));
    assert_eq!(ran.codes(), [Some("E307")]);
    let printed = ran.result().step_results[0].stdout.clone().unwrap();
    assert!(!printed.trim().is_empty() && !is_alive(printed.trim()), "{printed}");
    assert_eq!(sshd.clients(), Vec::<String>::new());
    assert!(!sshd.home().join("b").exists());
}

#[test]
fn lost_connection_leaves_outcome_unknown() {
    let sshd = Arc::new(Sshd::start());
    let there = Arc::clone(&sshd);
    let harness = harness(&sshd).on_event(move |event| {
        if matches!(event, RunEvent::StepOutput { chunk, .. } if chunk.contains("begun")) {
            there.kill_connections();
        }
    });
    let ran =
        harness.run(&plan([command("a", "echo begun; exec sleep 20"), command("b", "touch b")]));
    assert_eq!(ran.words(), (vec!["failed"], "failed"));
    assert_eq!(ran.codes(), [Some("E308")]);
    let result = &ran.result().step_results[0];
    let message = result.error_message.as_deref().unwrap();
    let unknown = "the outcome on loopback is unknown: the connection was lost";
    assert!(message.starts_with(unknown), "{message}");
    assert!(result.next.as_deref().unwrap().contains("Find out on the host"), "{result:?}");
    assert_eq!(result.exit_code, None);
    assert_eq!(returned(&harness, "a")["outcome_known"], false);
    assert!(!sshd.home().join("b").exists());
}

#[test]
fn run_and_continuation_use_the_given_host() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    let mut text = plan([command("a", "pwd -P"), command("b", "test -e there")]);
    text.as_object_mut().unwrap().remove("target");
    home.write("p.json", text.to_string());
    let there = fs::canonicalize(sshd.home()).unwrap();
    let line = ["run", "space/p.json", "--yes", "--target", "loopback"];
    let document = home.json(line).exits(1).document();
    assert_eq!(document["step_results"][0]["stdout"], format!("{}\n", there.display()));
    let run = document["run_id"].as_str().unwrap().to_owned();
    let shown = home.run(["check", "space/p.json", "--target", "loopback"]).exits(0).stdout;
    let who = format!("on loopback ({}@127.0.0.1:{}) with key ", sshd.user(), sshd.port());
    assert!(shown.contains(&who), "{shown}");
    // The continuation uses the same host.
    fs::write(sshd.home().join("there"), "").unwrap();
    let rest = home.json(["continue", &run, "--yes"]).exits(0).document();
    assert_eq!(rest["status"], "completed", "{rest}");
    // A plan for another host can run here by an option.
    home.write("p.json", plan([command("a", "pwd -P")]).to_string());
    let here = home.json(["run", "space/p.json", "--yes", "--target", "local"]).exits(0).document();
    let space = fs::canonicalize(home.path().join("space")).unwrap();
    assert_eq!(here["step_results"][0]["stdout"], format!("{}\n", space.display()));
    let strange = home.run(["run", "space/p.json", "--yes", "--target", "-oProxyCommand=x"]);
    assert_eq!(strange.code, 5, "{strange:?}");
    home.plan(json!([crate::harness::read_file("a", "p.json")]));
    let other = home.run(["run", "space/p.json", "--yes", "--target", "loopback"]).exits(5);
    assert!(other.stderr.contains("--target applies only to command plans"), "{other:?}");
}

#[test]
fn check_connects_only_when_asked() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    home.write("p.json", plan([command("a", "touch ran")]).to_string());
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    let target = &document["target"];
    assert_eq!(
        (&target["destination"], &target["host"]),
        (&json!("loopback"), &json!("127.0.0.1"))
    );
    assert_eq!((&target["user"], &target["port"]), (&json!(sshd.user()), &json!(sshd.port())));
    let key = sshd.fingerprint("host_key").replace("ssh-ed25519", "ED25519");
    assert_eq!(target["host_keys"], json!([key]));
    assert!(document.get("connection").is_none());
    assert_eq!(sshd.logged("Connection from"), 0, "nobody connected");
    let line = ["check", "space/p.json", "--connect"];
    let connected = home.json(line).exits(0).document();
    assert_eq!(connected["connection"]["state"], "reachable");
    assert_eq!(connected["connection"]["host"]["host_key"], sshd.fingerprint("host_key"));
    let said = home.run(line).exits(0).stdout;
    assert!(said.contains("The host is reachable: loopback ("), "{said}");
    fs::remove_file(sshd.config().with_file_name("authorized_keys")).unwrap();
    let said = home.run(line).exits(1).stdout;
    assert!(said.contains("The host refused the login"), "{said}");
    assert!(said.contains("Permission denied"), "{said}");
    assert!(!sshd.home().join("ran").exists() && !home.evidence().exists());
}

#[test]
fn much_output_of_a_host_needs_little_memory() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    let bytes = 96 << 20;
    let script = format!("head -c {bytes} /dev/zero | tr '\\0' x");
    home.write("p.json", plan([command("a", &script)]).to_string());
    // Two thirds of the output, in KiB, as the limit of data memory.
    let limited = "ulimit -d 65536; exec \"$@\"";
    let mut command = home.command_of("bash");
    command.args(["-c", limited, "bash", PROGRAM, "run", "space/p.json", "--yes", "--json"]);
    command.arg("--evidence").arg(home.evidence());
    let document = Done::of(&mut command).exits(0).document();
    let result = &document["step_results"][0];
    assert_eq!(
        (&result["stdout_bytes"], &result["stdout_truncated"]),
        (&json!(bytes), &json!(true))
    );
    let id = result["execution_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    assert!(shown.to_string().contains(&bytes.to_string()), "{shown}");
}

#[test]
fn host_check_does_not_delay_other_queries() {
    let sshd = Sshd::start();
    let folder = tempfile::tempdir().unwrap();
    let setup = || Setup {
        location: EvidenceLocation::new(
            folder.path().join("evidence"),
            folder.path().join("secrets"),
        ),
        policy: Policy { ssh_config: Some(sshd.config()), ..Policy::default() },
        inbox: folder.path().join("inbox"),
        faults: Faults::default(),
    };
    let queries = QueryThread::<Option<TargetState>>::start(setup(), Arc::new(|| {})).unwrap();
    let answer = || {
        let mut state = None;
        queries.recv().unwrap()(&mut state);
        state
    };
    let workspace = folder.path().to_owned();
    let check = || {
        let (destination, workspace) = ("loopback".to_owned(), workspace.clone());
        let query = CheckTarget { destination, workspace, secrets: None };
        queries.send(query, |state, answer| *state = Some(answer.unwrap())).unwrap();
    };
    check();
    let state = answer().unwrap();
    let TargetState::Reachable { host } = state else { panic!("{state:?}") };
    assert_eq!(host.host_key, sshd.fingerprint("host_key"));
    // A silent host does not delay other queries.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    sshd.settle(&format!("Host loopback\nPort {port}"));
    check();
    let (held, _) = listener.accept().unwrap();
    let (path, choices) = ("no.json".into(), Default::default());
    let open = OpenPlan { path, workspace: None, choices, chosen_for: None };
    queries.send(open, |_, opened| assert!(opened.is_ok(), "{opened:?}")).unwrap();
    assert_eq!(answer(), None, "it is opened while the host is silent");
    drop(held);
    let state = answer();
    assert!(matches!(state, Some(TargetState::Unreachable { .. })), "{state:?}");
    // The connection ends with the ssh client, which would otherwise wait for 15 seconds.
    let ends_soon = |mut held: std::net::TcpStream| {
        let begin = Instant::now();
        let _ = std::io::Read::read_to_end(&mut held, &mut Vec::new());
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    };
    check();
    let (held, _) = listener.accept().unwrap();
    queries.stop_long_queries();
    ends_soon(held);
    assert!(answer().is_some());
    // A stopped check does not stop the next one.
    check();
    let (held, _) = listener.accept().unwrap();
    drop(queries);
    ends_soon(held);
}
