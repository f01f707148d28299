//! Calls about which a person decides, and what becomes of their tickets.

use std::io::Read as _;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use super::person::{Does, SESSION, Window, call, denial, exec, hook, ticket};
use crate::harness::home::{Home, PROGRAM};

fn asks(home: &Home, agent: &str, command: &str) -> Value {
    let tool = if agent == "gemini" { "run_shell_command" } else { "Bash" };
    let input = call(home, agent, tool, json!({"command": command, "description": "Make it"}));
    let flags: &[&str] = match agent {
        "codex" => &["--agent", "codex", "--unsandboxed"],
        agent => &["--agent", agent],
    };
    hook(home, flags, input.to_string()).exits(0).document()
}

#[test]
fn an_authorized_command_is_run_by_the_worker() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Authorizes);
    for (number, agent) in ["claude", "codex", "gemini"].into_iter().enumerate() {
        let answer =
            asks(&home, agent, "echo kingfisher; echo heron >&2; echo $PPID >made; exit 7");
        let command = match agent {
            "gemini" => answer["hookSpecificOutput"]["tool_input"]["command"].clone(),
            _ => answer["hookSpecificOutput"]["updatedInput"]["command"].clone(),
        };
        let rewritten = match agent {
            "claude" => json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": {"command": command, "description": "Make it"}}}),
            "codex" => json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "allow", "updatedInput": {"command": command}}}),
            _ => json!({"decision": "allow",
                "hookSpecificOutput": {"tool_input": {"command": command}}}),
        };
        assert_eq!(answer, rewritten);
        assert!(!home.file("made").exists(), "nothing runs before the ticket is used");
        let ticket = ticket(&command);
        let done = exec(&home, &ticket).exits(7);
        assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("kingfisher\n", "heron\n"));
        assert!(home.file("made").exists(), "in the folder of the agent");
        std::fs::remove_file(home.file("made")).unwrap();
        let notes = home.texts("SELECT note FROM decisions ORDER BY rowid DESC LIMIT 1", []);
        let asked_by = format!("in its conversation {SESSION}; run by a ticket");
        assert!(notes[0].contains(&asked_by), "{notes:?}");
        let again = exec(&home, &ticket).exits(3);
        assert!(again.stderr.contains("used already"), "{again:?}");
        assert!(!home.file("made").exists());
        let runs = home.texts("SELECT tool_name FROM executions WHERE exit_code = 7", []);
        assert_eq!(runs.len(), number + 1, "each run is recorded");
    }
    let unknown = exec(&home, &"0".repeat(64)).exits(3);
    assert!(unknown.stderr.contains("not issued the ticket"), "{unknown:?}");
}

#[test]
fn a_rejection_tells_the_agent_why() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Rejects("use the linter instead"));
    for agent in ["claude", "gemini"] {
        let input = call(
            &home,
            agent,
            if agent == "gemini" { "run_shell_command" } else { "Bash" },
            json!({"command": "touch x"}),
        );
        let reason = denial(agent, hook(&home, &["--agent", agent], input.to_string()));
        assert!(reason.contains("the person says: use the linter instead"), "{reason}");
    }
    assert_eq!(home.texts("SELECT status FROM authorizations", []), ["rejected"; 2]);
}

#[test]
fn a_slow_person_is_a_denial() {
    let home = Home::new();
    let window = Window::open(&home, Does::Nothing);
    let begun = Instant::now();
    let input = call(&home, "claude", "Bash", json!({"command": "touch x"})).to_string();
    let reason = denial("claude", hook(&home, &["--agent", "claude", "--timeout", "3"], input));
    assert!(reason.contains("nobody decided") || reason.contains("Nobody decided"), "{reason}");
    assert!((2..10).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    window.shows();
    let listed = home.json(["inbox", "list"]).exits(0).document();
    assert_eq!(listed["entries"], json!([]), "nothing waits any more");
}

#[test]
fn a_window_that_closes_denies_what_waits() {
    let home = Home::new();
    let window = Window::open(&home, Does::Nothing);
    let input = call(&home, "gemini", "run_shell_command", json!({"command": "touch x"}));
    let mut child = home_child(&home, &["hook", "--agent", "gemini"]);
    child.stdin.take().unwrap().write_all_of(&input);
    window.shows();
    drop(window);
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["decision"], "deny");
    assert!(answer["reason"].as_str().unwrap().contains("was closed"), "{answer}");
    assert!(output.status.success());
}

/// The bytes that are run are those that the person has authorized, wherever they come from.
#[test]
fn bytes_that_changed_since_are_stale() {
    let home = Home::new();
    let step = json!({"step_id": "a", "tool": "file_read", "arguments": {"path": "other.json"}});
    let other = json!({"plan_id": "other", "intent": "READ", "steps": [step]});
    home.write("other.json", other.to_string());
    let window = Window::open(&home, Does::AuthorizesAndLeaves);
    let answer = asks(&home, "claude", "echo ran >ran");
    let ticket = ticket(&answer["hookSpecificOutput"]["updatedInput"]["command"]);
    let plan = window.shows();
    assert!(window.shows().ends_with("other.json"));
    let bytes = std::fs::read_to_string(&plan).unwrap().replace("echo ran", "echo changed");
    std::fs::write(&plan, bytes).unwrap();
    let done = exec(&home, &ticket).exits(3);
    assert!(done.stderr.contains("plan bytes"), "{done:?}");
    assert!(!home.file("ran").exists());
}

#[test]
fn an_edit_is_permitted_and_run_by_the_agent() {
    let home = Home::new();
    home.write("note.txt", "one\n");
    let _window = Window::open(&home, Does::Authorizes);
    let file = home.file("note.txt").canonicalize().unwrap();
    let edit = json!({"file_path": file, "old_string": "one", "new_string": "two"});
    let input = call(&home, "claude", "Edit", edit).to_string();
    let answer = hook(&home, &["--agent", "claude"], input).exits(0).document();
    let allowed = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow"});
    assert_eq!(answer, json!({ "hookSpecificOutput": allowed }));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n", "the agent makes the change");
    let input =
        call(&home, "gemini", "write_file", json!({"file_path": file, "content": "three\n"}));
    let answer = hook(&home, &["--agent", "gemini"], input.to_string()).exits(0).document();
    assert_eq!(answer, json!({"decision": "allow"}));
    assert_eq!(home.texts("SELECT method FROM authorizations", []), ["agent_call"; 2]);
    let notes = home.texts("SELECT note FROM decisions ORDER BY rowid", []);
    for (note, call) in notes.iter().zip([
        r#"permitted, run by the agent: Claude Code: {"tool_input":{"file_path":"#,
        r#"permitted, run by the agent: Gemini CLI: {"tool_input":{"content":"three\n""#,
    ]) {
        assert!(note.starts_with(call), "{note}");
    }
    assert!(home.texts("SELECT id FROM runs", []).is_empty(), "no run is claimed");
}

/// A socket that a dead window has left is replaced. A second window serves only once the first one is closed.
#[test]
fn one_window_at_a_time_is_asked() {
    let home = Home::new();
    let folder = super::person::folders(&home).window;
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    drop(std::os::unix::net::UnixListener::bind(folder.join("calls")).unwrap());
    let input = call(&home, "claude", "Bash", json!({"command": "touch x"})).to_string();
    let ask = || denial("claude", hook(&home, &["--agent", "claude"], input.clone()));
    let first = Window::open(&home, Does::Rejects("as the first window"));
    let _second = Window::open(&home, Does::Rejects("as the second window"));
    for _ in 0..2 {
        assert!(ask().contains("as the first window"));
    }
    drop(first);
    let begun = Instant::now();
    while !ask().contains("as the second window") {
        assert!(begun.elapsed() < super::person::PATIENCE, "the second window serves now");
    }
}

#[test]
fn an_agent_that_leaves_stops_its_command() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Authorizes);
    let answer = asks(&home, "claude", "echo begun; tail -f /dev/null");
    let ticket = ticket(&answer["hookSpecificOutput"]["updatedInput"]["command"]);
    let mut child = home_child(&home, &["exec", &ticket]);
    let mut begun = [0; 5];
    child.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"begun", "output comes as it is made");
    child.kill().unwrap();
    child.wait().unwrap();
    let begun = Instant::now();
    while home.texts("SELECT status FROM run_ends", []).is_empty() {
        assert!(begun.elapsed() < super::person::PATIENCE, "the run is stopped");
        std::thread::yield_now();
    }
    assert_eq!(home.texts("SELECT status FROM run_ends", []), ["cancelled"]);
}

#[test]
fn an_agent_that_leaves_withdraws_its_question() {
    let home = Home::new();
    let window = Window::open(&home, Does::Nothing);
    let input = call(&home, "gemini", "run_shell_command", json!({"command": "touch x"}));
    let mut child = home_child(&home, &["hook", "--agent", "gemini"]);
    child.stdin.take().unwrap().write_all_of(&input);
    let plan = window.shows();
    assert!(plan.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let begun = Instant::now();
    while plan.exists() {
        assert!(begun.elapsed() < super::person::PATIENCE, "nothing waits any more");
        std::thread::yield_now();
    }
}

/// What is no question gets no answer, or one that denies, and the window serves on.
#[test]
fn what_is_no_question_gets_nothing() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Authorizes);
    let socket = super::person::folders(&home).window.join("calls");
    let exec = json!({"kind": "exec", "ticket": "t"});
    for (line, expected) in [
        ("heron\n".to_owned(), ""),
        ("{}\n".to_owned(), ""),
        (format!("{}\n", json!({"version": 1, "ask": {"kind": "approve"}})), ""),
        (format!("{}\n", json!({"version": 1, "ask": exec, "more": 1})), ""),
        (format!("{}\n", json!({"version": 2, "ask": exec})), "denied"),
        (format!("{0}\n{0}\n", json!({"version": 1, "ask": exec})), "denied"),
        (format!("{}\n", json!({"version": 1, "ask": exec})), "\"code\":3"),
    ] {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        std::io::Write::write_all(&mut stream, line.as_bytes()).unwrap();
        let mut answer = String::new();
        // A connection with unread input is reset.
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.contains(expected) && answer.is_empty() == expected.is_empty(), "{answer}");
    }
    let answer = asks(&home, "claude", "true");
    ticket(&answer["hookSpecificOutput"]["updatedInput"]["command"]);
}

#[test]
fn what_cannot_be_a_plan_is_denied_without_a_question() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Authorizes);
    for (tool, input, why) in [
        ("mcp__a__b", json!({}), "not known"),
        ("Bash", json!({"command": "ls", "run_in_background": true}), "background"),
        ("Bash", json!({"command": "ls", "new_field": 1}), "not known"),
        ("Bash", json!({"command": "rm -rf /"}), "never runs such a command"),
    ] {
        let input = call(&home, "claude", tool, input).to_string();
        let reason = denial("claude", hook(&home, &["--agent", "claude"], input));
        assert!(reason.contains(why), "{tool}: {reason}");
    }
    let mut at_home = call(&home, "claude", "Bash", json!({"command": "ls"}));
    at_home["cwd"] = "/".into();
    let reason = denial("claude", hook(&home, &["--agent", "claude"], at_home.to_string()));
    assert!(reason.contains("no folder of a project"), "{reason}");
}

/// A rule that a person has made answers identical calls of the same process of the agent. What is identical in words only,
/// from another process, is asked about.
#[cfg(target_os = "linux")]
#[test]
fn a_rule_answers_identical_calls_of_the_same_process() {
    let home = Home::new();
    home.write("heron.txt", "");
    let _window = Window::open(&home, Does::AuthorizesAndAllows);
    let methods =
        || home.texts("SELECT method || ' ' || status FROM authorizations ORDER BY rowid", []);
    let mut runs = 0;
    let mut ask = || {
        let answer = asks(&home, "claude", "ls");
        let ticket = ticket(&answer["hookSpecificOutput"]["updatedInput"]["command"]);
        let done = exec(&home, &ticket).exits(0);
        assert_eq!(done.stdout, "heron.txt\n");
        runs += 1;
        assert_eq!(home.texts("SELECT status FROM run_ends", []).len(), runs);
    };
    ask();
    // The person makes the rule meanwhile, and is asked until then.
    let begun = Instant::now();
    while !methods().contains(&"session_rule approved".to_owned()) {
        assert!(begun.elapsed() < super::person::PATIENCE, "the rule answers");
        ask();
    }
    let notes = home.texts("SELECT note FROM decisions ORDER BY rowid DESC LIMIT 1", []);
    assert!(notes[0].contains("by session rule") && notes[0].contains(SESSION), "{notes:?}");
    let last = home.texts("SELECT id FROM executions ORDER BY rowid DESC LIMIT 1", []);
    let shown = home.json(["evidence", "show", last[0].as_str()]).exits(0).document();
    let decision = &shown["decisions"][0];
    assert!(decision["by"].as_str().unwrap().starts_with("session_rule"), "{decision}");
    assert!(decision["note"].as_str().unwrap().contains("from authorization"), "{decision}");
    // A forged call: all its words are the same, and the process is not.
    let input = call(&home, "claude", "Bash", json!({"command": "ls", "description": "Make it"}));
    let mut child = started(&home, "timeout", &["60", PROGRAM, "hook", "--agent", "claude"]);
    child.stdin.take().unwrap().write_all_of(&input);
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(methods().last().unwrap(), "window approved", "the person was asked");
}

fn home_child(home: &Home, arguments: &[&str]) -> std::process::Child {
    started(home, PROGRAM, arguments)
}

#[expect(clippy::disallowed_methods, reason = "only the standard command can be killed")]
fn started(home: &Home, program: &str, arguments: &[&str]) -> std::process::Child {
    let mut command = std::process::Command::new(program);
    command.args(arguments).env("HOME", home.path()).current_dir(home.path());
    for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

trait WriteAll {
    fn write_all_of(self, value: &Value);
}

impl WriteAll for std::process::ChildStdin {
    fn write_all_of(mut self, value: &Value) {
        std::io::Write::write_all(&mut self, value.to_string().as_bytes()).unwrap();
    }
}
