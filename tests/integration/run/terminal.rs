//! Steps that ask for a terminal: what is recorded of them, and `sudo`, which asks there (SPEC §7.2, §7.5).

use std::sync::Mutex;

use countersign::run::{Outcome, RunEvent, StepState, TerminalPort, TypedBy};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::Harness;
use crate::harness::sshd::Account;

/// Typed while the terminal does not echo.
const WORD: &str = "kingfisherquartz";

fn plan(command: &str, needs: Value) -> Value {
    json!({ "goal": "Ask", "steps": [{ "command": command, "needs": needs }] })
}

/// A person at a terminal, who types [`WORD`] when the output ends with this prompt.
fn at_a_terminal(prompt: &'static str) -> Harness {
    let port = TerminalPort::default();
    let (keyboard, run) = (port.clone(), Mutex::new(Uuid::nil()));
    let printed = Mutex::new(String::new());
    let mut harness = Harness::new().on_event(move |event| match event {
        RunEvent::RunStarted { run_id, .. } => *run.lock().unwrap() = *run_id,
        RunEvent::StepOutput { chunk, .. } => {
            let mut printed = printed.lock().unwrap();
            printed.push_str(chunk);
            if printed.ends_with(prompt) {
                printed.clear();
                let typed = format!("{WORD}\r");
                assert!(keyboard.write(
                    (*run.lock().unwrap(), 0),
                    typed.as_bytes(),
                    TypedBy::Person
                ));
            }
        }
        _ => {}
    });
    harness.terminal = Some(port);
    harness
}

#[test]
fn only_the_fact_of_typing_is_recorded() {
    let harness = at_a_terminal("word: ");
    let command = "read -rs -p 'word: ' w; echo; echo \"${#w} letters\"";
    let ran = harness.run(&plan(command, json!({ "terminal": true })));
    let result = &ran.result().step_results[0];
    assert_eq!(result.outcome, Outcome::Succeeded, "{result:?}");
    assert_eq!(result.stdout.as_deref(), Some("word: \r\n16 letters\r\n"));
    assert!(result.stderr.as_deref().unwrap_or_default().is_empty());
    assert!(!format!("{:?}", ran.callbacks.events()).contains(WORD));
    let replayed = harness.replayed(ran.result().run_id);
    assert!(!format!("{replayed:?}").contains(WORD));
    let opened = ran.callbacks.events().into_iter().any(
        |event| matches!(event, RunEvent::TerminalOpened { size, .. } if size.columns() == 80),
    );
    assert!(opened);
}

/// It has no exit code, and its output is what the terminal showed.
#[test]
fn a_program_that_was_killed_had_a_terminal() {
    let mut harness = Harness::new();
    harness.terminal = Some(TerminalPort::default());
    let ran = harness.run(&plan("echo heron; kill -KILL $$", json!({ "terminal": true })));
    let result = &ran.result().step_results[0];
    assert_eq!((result.exit_code, result.terminal), (None, true), "{result:?}");
    assert_eq!(result.stdout.as_deref(), Some("heron\r\n"));
    let replayed = harness.replayed(ran.result().run_id);
    let StepState::Done(kept) = &replayed.steps[0] else { panic!("{replayed:?}") };
    assert_eq!(**kept, *result);
}

#[test]
fn a_terminal_that_is_not_there_fails_the_step() {
    let harness = Harness::new();
    let ran = harness.run(&plan("touch made", json!({ "terminal": true })));
    assert_eq!(ran.codes(), [Some("E305")]);
    assert_eq!(harness.content("made"), None);
}

/// With `open`, because `sudo` cannot raise privileges behind walls.
#[test]
fn sudo_asks_in_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let account = Account::new(home.path(), WORD);
    let harness = at_a_terminal("password: ");
    let needs = json!({ "terminal": true, "open": true });
    let ran = harness.run(&plan(&account.sudo("id -u"), needs));
    let result = &ran.result().step_results[0];
    assert_eq!(result.outcome, Outcome::Succeeded, "{result:?}");
    let stdout = result.stdout.as_deref().unwrap_or_default();
    assert!(stdout.ends_with("\n0\r\n") && !stdout.contains(WORD), "{stdout:?}");
}
