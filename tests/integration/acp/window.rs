//! Sessions in the window, without a display: a script decides as a person does.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use countersign::app::{Offscreen, Options};
use countersign::ui::action::{Action, AgentAction};
use countersign::ui::agent_page::{AgentEntry, AgentForm, AgentPhase, AgentState};
use countersign::ui::{Command, Page};
use serde_json::{Value, json};

use super::session::{asks, asks_for, sends};
use crate::harness::home::Home;
use crate::hooks::person::{PATIENCE, folders};

struct Bench {
    home: Home,
    window: Offscreen,
    ctx: egui::Context,
    woken: Receiver<()>,
}

impl Bench {
    fn new() -> Self {
        let home = Home::new();
        home.settings("must_see = \"nothing\"\n");
        let (wake, woken) = sync_channel(64);
        let ctx = egui::Context::default();
        ctx.set_request_repaint_callback(move |_| {
            let _ = wake.try_send(());
        });
        let settings = Some(home.path().join(".config/countersign/settings.toml"));
        let options = Options { settings, ..Options::default() };
        let window = Offscreen::start(&ctx, options, folders(&home)).unwrap();
        Self { home, window, ctx, woken }
    }

    fn frame(&mut self) {
        let input = egui::RawInput { focused: true, ..egui::RawInput::default() };
        self.window.frame(&self.ctx, input).textures_delta.clear();
    }

    fn wait(&mut self, what: &str, condition: impl Fn(&Offscreen) -> bool) {
        let begun = Instant::now();
        loop {
            self.frame();
            if condition(&self.window) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{what}: {:#?}", self.window.agent());
            let _ = self.woken.recv_timeout(Duration::from_millis(100));
        }
    }

    fn act(&mut self, action: Action) {
        self.window.act(&self.ctx, action);
    }

    /// Starts the scripted agent by the form of the page.
    fn start(&mut self, actions: &[Value]) {
        let script = self.home.path().join("script.json");
        fs::write(&script, json!({ "turn": actions }).to_string()).unwrap();
        let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acp/agent.py");
        let form = AgentForm {
            command: format!("python3 '{agent}' '{}'", script.display()),
            prompt: "mend it".to_owned(),
            workspace: self.home.file("").display().to_string(),
            refusal: None,
        };
        self.act(Action::Do(Command::GoAgent));
        self.act(Action::Agent(AgentAction::Edit(Box::new(form))));
        self.frame();
        self.act(Action::Do(Command::StartAgent));
        assert!(self.window.agent().is_some(), "it has started");
    }

    fn state(&self) -> &AgentState {
        self.window.agent().unwrap()
    }

    /// Opens the plan that waits, as Ctrl+I does, and waits until it can be decided about.
    fn open_waiting(&mut self) -> PathBuf {
        self.wait("a plan waits", |window| window.waiting() > 0);
        self.act(Action::Do(Command::OpenWaiting));
        self.wait("it can be decided about", |window| window.authorizable().is_some());
        self.window.authorizable().unwrap()
    }

    fn decide(&mut self, rejected: Option<&str>) {
        self.window.decide(&self.ctx, rejected);
    }

    fn wait_for_end(&mut self) {
        self.wait("the session ends", |window| window.agent().is_some_and(AgentState::is_over));
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.file("").canonicalize().unwrap().join(name)
    }

    /// Everything that the agent has said.
    fn words(&self) -> String {
        let words = self.state().entries.iter().filter_map(|entry| match entry {
            AgentEntry::Words(text) => Some(text.as_str()),
            _ => None,
        });
        words.collect()
    }
}

#[test]
fn an_authorized_change_is_written_by_the_worker() {
    let mut bench = Bench::new();
    let path = bench.file("a.txt");
    let update =
        json!({"sessionUpdate": "plan", "entries": [{"content": "one", "status": "pending"}]});
    bench.start(&[
        json!({ "update": update }),
        asks(&path, None, "kingfisher\n"),
        sends(&path, "kingfisher\n"),
    ]);
    bench.open_waiting();
    assert!(!path.exists());
    bench.decide(None);
    bench.wait_for_end();
    let state = bench.state();
    assert!(matches!(state.phase, AgentPhase::Done { is_success: true, .. }), "{state:#?}");
    assert_eq!(state.plan.len(), 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), "kingfisher\n");
    assert!(state.entries.contains(&AgentEntry::Written("a.txt".to_owned())), "{state:#?}");
    assert_eq!(bench.home.texts("SELECT method FROM authorizations", []), ["window"]);
    let notes = bench.home.texts("SELECT note FROM decisions", []);
    assert!(notes.iter().any(|note| note.contains("asked by \"scripted 7\"")), "{notes:?}");
    let tools = bench.home.texts("SELECT tool_name FROM executions WHERE success = 1", []);
    assert_eq!(tools, ["file_create"]);
}

#[test]
fn a_rejected_change_leaves_no_file_and_the_agent_goes_on() {
    let mut bench = Bench::new();
    let path = bench.file("a.txt");
    bench.start(&[asks(&path, None, "x"), sends(&path, "x")]);
    bench.open_waiting();
    bench.decide(Some("use the linter"));
    bench.wait_for_end();
    assert!(bench.words().contains("\"no\"") && bench.words().contains("was rejected"));
    assert!(!path.exists() && bench.home.texts("SELECT id FROM runs", []).is_empty());
}

#[test]
fn a_permitted_command_is_run_by_the_agent() {
    let mut bench = Bench::new();
    let call = json!({"toolCallId": "c", "title": "Say it", "kind": "execute",
        "rawInput": {"command": "echo heron"}});
    bench.start(&[asks_for(call)]);
    bench.open_waiting();
    bench.decide(None);
    bench.wait_for_end();
    assert!(bench.words().contains("\"yes\""));
    assert_eq!(bench.home.texts("SELECT method FROM authorizations", []), ["agent_call"]);
    assert!(bench.home.texts("SELECT id FROM runs", []).is_empty());
}

/// The agent ends while its question waits: nothing can be authorized any more.
#[test]
fn the_question_of_an_agent_that_has_ended_is_withdrawn() {
    let mut bench = Bench::new();
    let path = bench.file("a.txt");
    let mut asked = asks(&path, None, "x")["request"].take();
    asked["params"]["sessionId"] = "session-1".into();
    let request =
        json!({"jsonrpc": "2.0", "id": 0, "method": asked["method"], "params": asked["params"]});
    bench.start(&[json!({ "raw": request.to_string() }), json!({"exit": 3})]);
    bench.wait_for_end();
    assert!(matches!(bench.state().phase, AgentPhase::Failed { .. }), "{:#?}", bench.state());
    bench.wait("the question is withdrawn", |window| window.waiting() == 0);
    assert!(!path.exists() && bench.window.authorizable().is_none());
}

#[test]
fn stopping_withdraws_what_waits_and_ends_the_agent() {
    let mut bench = Bench::new();
    let path = bench.file("a.txt");
    // It also ignores the signal to end.
    bench.start(&[asks(&path, None, "x"), json!({"ignore the end": true})]);
    let plan = bench.open_waiting();
    bench.act(Action::Do(Command::StopAgent));
    bench.wait_for_end();
    let state = bench.state();
    assert!(matches!(state.phase, AgentPhase::Done { is_success: false, .. }), "{state:#?}");
    bench.wait("the plan is withdrawn", move |_| !plan.exists());
    assert!(!path.exists() && !bench.home.database().exists(), "nothing was recorded");
}

#[test]
fn what_cannot_begin_is_said_on_the_page() {
    let mut bench = Bench::new();
    bench.act(Action::Do(Command::GoAgent));
    let form = AgentForm {
        command: "no-such-agent --acp".to_owned(),
        prompt: "mend it".to_owned(),
        workspace: bench.home.file("").display().to_string(),
        refusal: None,
    };
    bench.act(Action::Agent(AgentAction::Edit(Box::new(form))));
    bench.act(Action::Do(Command::StartAgent));
    bench.wait_for_end();
    let AgentPhase::Failed { message, .. } = &bench.state().phase else { panic!() };
    assert!(message.contains("no-such-agent"), "{message}");
    assert_eq!(bench.window.page(), Page::Agent);
}
