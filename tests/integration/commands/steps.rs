//! Command plans with the real shell of this machine (SPEC §1.2, §7.2).

use std::collections::BTreeMap;

use countersign::engine::{WorkspaceChoice, review};
use countersign::plan::{Severity, ToolCall};
use countersign::risk::RiskLevel;
use countersign::run::{AnsweredBy, Control, Decision, RunEvent};
use serde_json::{Value, json};

use crate::harness::{Harness, and, command, read};

/// A command plan of these steps.
pub fn plan(steps: impl IntoIterator<Item = Value>) -> Value {
    json!({ "id": "p", "goal": "Try it", "steps": steps.into_iter().collect::<Vec<_>>() })
}

pub fn artifact(harness: &Harness, step: &str, kind: &str) -> Option<Value> {
    let sql = "SELECT content_json FROM execution_artifacts a JOIN executions e
               ON e.id = a.execution_id WHERE e.step_id = ?1 AND a.artifact_type = ?2";
    let found = harness.texts(sql, [step, kind]);
    assert!(found.len() < 2, "{found:?}");
    found.first().map(|text| serde_json::from_str(text).unwrap())
}

#[test]
fn command_is_recorded_in_full() {
    let harness = Harness::with(&[("a.txt", "one\n")]);
    let text = "cat a.txt; echo wrong >&2; [[ $PWD == */ws ]] && echo here";
    let ran = harness.run(&plan([command("look", text)]));
    assert_eq!(ran.words(), (vec!["succeeded"], "completed"));
    let result = &ran.result().step_results[0];
    assert_eq!(result.stdout.as_deref(), Some("one\nhere\n"));
    assert_eq!(result.stderr.as_deref(), Some("wrong\n"));
    assert_eq!((result.exit_code, result.tool_name.as_str()), (Some(0), "shell"));
    assert_eq!(artifact(&harness, "look", "stdout").unwrap(), "one\nhere\n");
    assert_eq!(artifact(&harness, "look", "stderr").unwrap(), "wrong\n");
    let kept = artifact(&harness, "look", "result").unwrap();
    assert_eq!(kept["exit_code"], 0);
    assert_eq!(kept["timed_out"], false);
    assert_eq!(kept["timeout_seconds"], 120);
    assert_eq!(kept["folder"], ".");
    let shell = kept["shell"].as_str().unwrap();
    assert!(shell.starts_with('/') && shell.ends_with("bash"), "{shell}");
    let context = artifact(&harness, "look", "step_context").unwrap();
    assert!(context.to_string().contains("Try it"), "{context}");
    let recorded = harness.texts("SELECT arguments_json FROM executions", []);
    assert_eq!(recorded, [json!({ "command": text }).to_string()]);
    assert_eq!(harness.count("SELECT count(*) FROM intents", []), 1, "it may have an effect");
    let edges = "SELECT count(*) FROM edges WHERE edge_type = 'EXECUTED_ON' AND target = '.'";
    assert_eq!(harness.count(edges, []), 1);
}

#[test]
fn success_needs_exit_0_in_time() {
    for (text, code, exit_code, signal, says) in [
        ("echo said; exit 3", "E305", Some(3), None, "the command ended with exit code 3"),
        ("kill -9 $$", "E305", None, Some(9), "the command was ended by signal 9"),
        ("no-such-program-here", "E305", Some(127), None, "exit code 127"),
        ("if", "E305", Some(2), None, "exit code 2"),
    ] {
        let harness = Harness::new();
        let ran = harness.run(&plan([command("a", text), command("b", "echo later > b.txt")]));
        assert_eq!(ran.words(), (vec!["failed"], "failed"), "{text}");
        assert_eq!(ran.codes(), [Some(code)], "{text}");
        let result = &ran.result().step_results[0];
        assert_eq!(result.exit_code, exit_code, "{text}");
        assert!(result.error_message.as_deref().unwrap().contains(says), "{result:?}");
        let kept = artifact(&harness, "a", "result").unwrap();
        assert_eq!((&kept["exit_code"], &kept["signal"]), (&json!(exit_code), &json!(signal)));
        assert_eq!(harness.content("b.txt"), None, "nothing runs after a failure");
    }
}

#[test]
fn timeout_ends_the_command() {
    let harness = Harness::new();
    let step = and(command("a", "echo begun; sleep 600"), "timeoutSeconds", 1);
    let ran = harness.run(&plan([step]));
    assert_eq!(ran.codes(), [Some("E306")]);
    let result = &ran.result().step_results[0];
    assert_eq!(result.stdout.as_deref(), Some("begun\n"), "what it printed is kept");
    assert!(result.error_message.as_deref().unwrap().contains("after 1 second"), "{result:?}");
    let kept = artifact(&harness, "a", "result").unwrap();
    assert_eq!((&kept["timed_out"], &kept["timeout_seconds"]), (&json!(true), &json!(1)));
}

#[test]
fn stop_now_ends_a_command_and_the_run() {
    let mut harness = Harness::new();
    let control = harness.control.clone();
    harness = harness.on_event(move |event| {
        if matches!(event, RunEvent::StepOutput { chunk, .. } if chunk.contains("begun")) {
            control.request(Control::StopNow, AnsweredBy::Test);
        }
    });
    let ran = harness.run(&plan([command("a", "echo begun; sleep 600"), command("b", "echo x")]));
    assert_eq!(ran.words(), (vec!["cancelled"], "cancelled"));
    assert_eq!(ran.codes(), [Some("E307")]);
}

#[test]
fn a_command_has_no_input_and_no_terminal() {
    let harness = Harness::new();
    let text = "cat; for n in 0 1 2; do test -t $n && echo terminal $n; done; \
                (: < /dev/tty) 2> /dev/null && echo tty; echo end";
    let ran = harness.run(&plan([command("a", text)]));
    assert_eq!(ran.result().step_results[0].stdout.as_deref(), Some("end\n"));
}

#[test]
fn command_with_a_dash_is_no_option() {
    let harness = Harness::new();
    let ran = harness.run(&plan([command("a", "-x; echo still read")]));
    assert_eq!(ran.result().step_results[0].stdout.as_deref(), Some("still read\n"));
}

#[test]
fn a_command_works_in_its_folder() {
    let harness = Harness::with(&[("sub/a.txt", "x")]);
    let there = and(command("there", "pwd -P"), "cwd", "sub");
    let made = and(command("made", "pwd -P"), "cwd", "sub/new");
    let plan = plan([there, command("make", "mkdir sub/new"), made]);
    let ran = harness.run(&plan);
    assert_eq!(ran.words().1, "completed");
    let folder = harness.workspace().canonicalize().unwrap();
    let printed = |index: usize| ran.result().step_results[index].stdout.clone().unwrap();
    assert_eq!(printed(0), format!("{}\n", folder.join("sub").display()));
    assert_eq!(printed(2), format!("{}\n", folder.join("sub/new").display()));
    assert_eq!(artifact(&harness, "there", "result").unwrap()["folder"], "sub");
}

#[test]
fn missing_folder_fails_outside_folder_is_refused() {
    let harness = Harness::with(&[("a.txt", "x")]);
    for (cwd, what) in [("absent", "absent"), ("a.txt", "a file")] {
        let ran = harness.run(&plan([and(command("a", "pwd"), "cwd", cwd)]));
        assert_eq!(ran.codes(), [Some("E305")]);
        let message = ran.result().step_results[0].error_message.clone().unwrap();
        assert_eq!(message, format!("cannot run in {cwd}: it is {what}, not a folder"));
    }
    let outside = read(&plan([command("b", "ls"), and(command("a", "ls"), "cwd", "../")]));
    let choice = WorkspaceChoice { folder: harness.workspace(), reason: String::new() };
    let found = review(&outside, &choice, &harness.policy, None).unwrap().findings;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].code.as_str(), &*found[0].pointer), ("E204", "/steps/1/cwd"));
    assert_eq!(harness.execute(harness.approve(&outside)).refusal(), "E204");
}

#[test]
fn a_verification_is_a_step_of_its_own() {
    let harness = Harness::new();
    let step = and(command("a", "echo x > made.txt"), "verificationCommand", "test -s made.txt");
    let failing = and(command("b", "echo"), "verificationCommand", "test -s other.txt");
    let ran = harness.run(&plan([step, failing, command("c", "echo")]));
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded", "succeeded", "failed"], "failed"));
    let ids = harness.texts("SELECT step_id FROM executions ORDER BY step_index", []);
    assert_eq!(ids, ["a", "a.verify", "b", "b.verify"]);
    assert_eq!(ran.codes()[3], Some("E305"));
}

/// If the command runs, its verification asks separately.
#[test]
fn verification_is_skipped_with_its_command() {
    let harness = Harness::with(&[("sub/a.txt", "")]).answering(|request| {
        if request.step_id == "a" { Decision::Skip } else { Decision::Approve }
    });
    let risky = |id, verify| {
        let step = and(command(id, "echo x"), "riskLevel", "dangerous");
        and(step, "verificationCommand", verify)
    };
    let safe = and(command("c", "echo x"), "verificationCommand", "rm -r sub");
    let ran = harness.run(&plan([risky("a", "rm -r sub"), risky("b", "true"), safe]));
    let all = ["skipped", "skipped", "succeeded", "succeeded", "succeeded", "succeeded"];
    assert_eq!(ran.words(), (all.to_vec(), "completed"));
    let asked: Vec<_> =
        ran.callbacks.confirmation_requests().iter().map(|it| it.step_id.clone()).collect();
    assert_eq!(asked, ["a", "b", "c.verify"]);
    assert_eq!(harness.content("sub/a.txt"), None, "c.verify was approved");
    let events = ran.callbacks.events();
    let reason = events.iter().find_map(|event| match event {
        RunEvent::StepSkipped { result, reason } if result.step_id == "a.verify" => Some(reason),
        _ => None,
    });
    assert_eq!(reason.unwrap(), "the command that it verifies was skipped");
    let again = harness.replayed(ran.result().run_id).skip_reasons;
    assert_eq!(again, BTreeMap::from([(1, reason.unwrap().clone())]), "the records say the same");
    assert_eq!(harness.count("SELECT count(*) FROM intents WHERE step_id LIKE 'a%'", []), 0);
}

#[test]
fn dangerous_command_asks_with_all_details() {
    let harness = Harness::with(&[("sub/deep/a.txt", "x")]).answering(|_| Decision::Cancel);
    let text = "echo before && rm -r deep";
    let mut step = and(command("a", text), "cwd", "sub");
    step["description"] = "Tidy up".into();
    step["riskLevel"] = "safe".into();
    step["riskAssessment"] = json!({ "warningMessage": "No way back." });
    let ran = harness.run(&plan([step]));
    assert_eq!(ran.words(), (vec!["denied"], "failed"));
    assert_eq!(ran.codes(), [Some("E106")]);
    assert_eq!(harness.content("sub/deep/a.txt").as_deref(), Some("x"));
    let asked = ran.callbacks.confirmation_requests();
    let [request] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(request.tool, "shell");
    assert_eq!(request.arguments["command"], text);
    assert_eq!(request.target, None);
    assert!(request.cwd.ends_with("/ws/sub"), "{}", request.cwd);
    assert_eq!(request.warning.as_deref(), Some("No way back."));
    assert_eq!(request.purpose.as_deref(), Some("Tidy up"));
    assert_eq!(request.risk.level, RiskLevel::Dangerous, "its author cannot lower it");
    let span = request.risk.span.clone().unwrap();
    assert!(text[span.clone()].contains("rm"), "{span:?}");
    let shown = format!("{} {}", request.preview.summary, request.preview.notes.join(" "));
    for part in ["Runs the command in sub.", "bash", "user id", "2 minutes"] {
        assert!(shown.contains(part), "{part:?} is not in {shown:?}");
    }
}

#[test]
fn author_claims_can_only_raise_risk() {
    let harness = Harness::new();
    for (step, level, asks) in [
        (json!({ "command": "ls" }), RiskLevel::Safe, false),
        (json!({ "command": "ls", "riskLevel": "caution" }), RiskLevel::Caution, false),
        (json!({ "command": "ls", "riskLevel": "dangerous" }), RiskLevel::Dangerous, true),
        (json!({ "command": "make", "riskLevel": "safe" }), RiskLevel::Caution, false),
        (
            json!({ "command": "ls", "riskLevel": "caution", "riskAssessment": { "level": "safe" } }),
            RiskLevel::Caution,
            false,
        ),
        (
            json!({ "command": "ls", "riskAssessment": { "requiresApproval": true } }),
            RiskLevel::Safe,
            true,
        ),
    ] {
        let choice = WorkspaceChoice { folder: harness.workspace(), reason: String::new() };
        let seen = review(&read(&plan([step.clone()])), &choice, &harness.policy, None).unwrap();
        assert_eq!(seen.risks[0].level, level, "{step}");
        assert_eq!(seen.asks[0].is_some(), asks, "{step}");
        assert_eq!(seen.impact.worst, Some(level));
        assert_eq!(seen.impact.irreversible, usize::from(level > RiskLevel::Safe));
    }
}

#[test]
fn a_blocked_command_can_never_run() {
    let harness = Harness::new();
    for (blocked, pointer) in [
        (plan([command("a", "ls"), command("b", "ls; rm -rf /")]), "/steps/1/command"),
        (
            plan([and(command("a", "ls"), "verificationCommand", "rm -rf ~")]),
            "/steps/0/verificationCommand",
        ),
        (plan([and(command("a", "ls"), "riskLevel", "blocked")]), "/steps/0/command"),
        (
            and(plan([command("a", "ls")]), "rollbackPlan", json!(["ls", "rm -rf /"])),
            "/rollbackPlan/1",
        ),
    ] {
        let plan = read(&blocked);
        let choice = WorkspaceChoice { folder: harness.workspace(), reason: String::new() };
        let seen = review(&plan, &choice, &harness.policy, None).unwrap();
        let [finding] = seen.findings.as_slice() else { panic!("{:?}", seen.findings) };
        assert_eq!((finding.code.as_str(), &*finding.pointer), ("E017", pointer));
        assert_eq!(finding.severity, Severity::Error);
        assert!(finding.line > 1, "{finding:?}");
        let ran = harness.execute(harness.approve(&plan));
        assert_eq!(ran.refusal(), "E001", "{blocked}");
        assert!(ran.callbacks.confirmation_requests().is_empty(), "there is no dialog for it");
    }
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 0);
}

#[test]
fn blocked_command_names_rule_and_part() {
    let harness = Harness::new();
    let blocked = read(&plan([command("a", "echo hello; rm -rf /")]));
    let choice = WorkspaceChoice { folder: harness.workspace(), reason: String::new() };
    let seen = review(&blocked, &choice, &harness.policy, None).unwrap();
    let message = &seen.findings[0].message;
    assert!(message.starts_with("step 1 is blocked by the rule "), "{message}");
    assert!(message.contains("\"rm -rf /\""), "{message}");
    assert!(message.contains(&seen.risks[0].reason), "{message}");
}

#[test]
fn command_for_host_never_runs_here() {
    let harness = Harness::new();
    let remote =
        and(plan([and(command("a", "echo x > here.txt"), "cwd", "/srv")]), "target", "web-1");
    let plan = read(&remote);
    let call = &plan.steps[0].call;
    assert!(
        matches!(call, ToolCall::Shell { target: Some(host), .. } if host == "web-1"),
        "{call:?}"
    );
    let choice = WorkspaceChoice { folder: harness.workspace(), reason: String::new() };
    let seen = review(&plan, &choice, &harness.policy, None).unwrap();
    assert!(seen.impact.hosts[0].starts_with("web-1 ("), "{:?}", seen.impact.hosts);
    assert_eq!(seen.findings[0].pointer, "/target");
    harness.execute(harness.approve(&plan)).outcome.unwrap_err();
    assert_eq!(harness.content("here.txt"), None);
}
