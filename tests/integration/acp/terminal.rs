//! A person at a terminal.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::session::{asks, asks_for, sends};
use crate::cli::terminal::Terminal;
use crate::harness::home::Home;

const QUESTION: &str = "Type approve, skip or deny, with a reason if you like: ";

/// Starts the scripted agent on a terminal.
fn start(home: &Home, actions: &[Value]) -> Terminal {
    of_width(home, 0, actions)
}

fn of_width(home: &Home, columns: u16, actions: &[Value]) -> Terminal {
    let script = home.path().join("script.json");
    fs::write(&script, json!({ "turn": actions }).to_string()).unwrap();
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acp/agent.py");
    let (evidence, space) = (home.evidence(), home.file(""));
    Terminal::of_width(
        home,
        columns,
        &format!(
            "acp --prompt 'mend it' --workspace '{}' --evidence '{}' python3 '{}' '{}'",
            space.display(),
            evidence.display(),
            agent.display(),
            script.display()
        ),
    )
}

#[test]
fn each_change_is_answered_at_the_terminal() {
    let home = Home::new();
    let path = home.file("").canonicalize().unwrap().join("a.txt");
    let actions = [
        asks(&path, None, "fed\n"),
        sends(&path, "fed\n"),
        asks(&path, Some("fed\n"), "hungry\n"),
        asks(&path, Some("fed\n"), "asleep\n"),
    ];
    let mut terminal = start(&home, &actions);
    terminal.until("Countersign writes it.");
    terminal.until("+ fed");
    terminal.until(QUESTION);
    terminal.type_in("approve\n");
    terminal.until("Written: a.txt");
    terminal.until("+ hungry");
    terminal.until(QUESTION);
    terminal.type_in("skip not today\n");
    terminal.until("+ asleep");
    terminal.until(QUESTION);
    terminal.type_in("deny\n");
    terminal.until("written: a.txt (Change it), run ");
    terminal.until("rejected: a.txt (Change it): not today");
    terminal.until("Stopped.");
    assert_eq!(terminal.exit_code(), Some(3));
    assert_eq!(fs::read_to_string(&path).unwrap(), "fed\n");
    let reasons = home.texts("SELECT reason FROM authorizations WHERE status = 'rejected'", []);
    assert_eq!(reasons, ["not today", "rejected at the terminal"]);
}

#[test]
fn an_interrupt_withdraws_the_question_and_ends_the_agent() {
    let home = Home::new();
    let path = home.file("").canonicalize().unwrap().join("a.txt");
    let mut terminal = start(&home, &[asks(&path, None, "x"), sends(&path, "x")]);
    terminal.until(QUESTION);
    terminal.type_in("\u{3}");
    terminal.until("The question is withdrawn.");
    terminal.until("not decided: a.txt (Change it)");
    terminal.until("Stopped.");
    assert_ne!(terminal.exit_code(), Some(0));
    assert!(!path.exists());
    assert!(home.texts("SELECT id FROM authorizations", []).is_empty());
}

/// The terminal breaks long lines, and what follows must not look like a line of this program.
#[test]
fn the_rest_of_a_long_line_is_marked_as_well() {
    const COLUMNS: u16 = 70;
    let home = Home::new();
    let forged = format!("x{}Written: forged.txt", " ".repeat(usize::from(COLUMNS) - 3));
    let words = |text: &str| json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}});
    let title = json!({"update": {
        "sessionUpdate": "tool_call", "toolCallId": "1", "status": "pending", "title": forged
    }});
    // Also a line that comes in pieces.
    let (first, rest) = forged.split_at(30);
    let mut command = asks_for(json!({
        "toolCallId": "2", "title": forged, "kind": "execute", "rawInput": {"command": "ls"}
    }));
    command["request"]["params"]["toolCall"]["rawInput"]["command"] = forged.as_str().into();
    let actions = [title, words(first), words(rest), words("\n"), command];
    let mut terminal = of_width(&home, COLUMNS, &actions);
    terminal.until("Connected.");
    let mut lines = terminal.lines_until(QUESTION);
    terminal.type_in("deny\n");
    terminal.until("deny");
    lines.extend(terminal.lines_until("Stopped."));
    assert_eq!(terminal.exit_code(), Some(3));
    let told: Vec<_> = lines.iter().filter(|line| line.contains("Written: forged.txt")).collect();
    assert!(told.len() >= 4, "{lines:#?}");
    assert!(told.iter().all(|line| line.starts_with("| ")), "{lines:#?}");
    assert!(lines.iter().all(|line| line.chars().count() <= usize::from(COLUMNS)), "{lines:#?}");
}

/// A command that is permitted is run by the agent: how it would be run here says nothing.
#[test]
fn a_question_about_a_command_does_not_say_that_it_is_run_here() {
    let home = Home::new();
    let command = asks_for(json!({
        "toolCallId": "1", "title": "List", "kind": "execute", "rawInput": {"command": "ls -la"}
    }));
    let mut terminal = start(&home, &[command]);
    terminal.until("May the agent run this by itself: shell?");
    let lines = terminal.lines_until(QUESTION).join("\n");
    terminal.type_in("approve\n");
    terminal.until("permitted, run by the agent: ls -la (List)");
    assert_eq!(terminal.exit_code(), Some(0));
    for (word, is_said) in [
        ("command: ls -la", true),
        ("with its own limits", true),
        ("minutes", false),
        ("Run by", false),
        (", as ", false),
    ] {
        assert_eq!(lines.contains(word), is_said, "{word}: {lines}");
    }
}

/// The agent ends while the person decides: what they would answer counts no more.
#[test]
fn a_question_ends_with_its_agent() {
    let home = Home::new();
    let path = home.file("").canonicalize().unwrap().join("a.txt");
    let mut asked = asks(&path, None, "x")["request"].take();
    asked["params"]["sessionId"] = "session-1".into();
    let request =
        json!({"jsonrpc": "2.0", "id": 0, "method": asked["method"], "params": asked["params"]});
    let actions = [json!({ "raw": request.to_string() }), json!({"exit": 3})];
    let mut terminal = start(&home, &actions);
    terminal.until("not decided: a.txt (Change it)");
    terminal.until("exit code 3 before the end of its turn");
    assert_eq!(terminal.exit_code(), Some(1));
    assert!(!path.exists() && home.texts("SELECT id FROM authorizations", []).is_empty());
}
