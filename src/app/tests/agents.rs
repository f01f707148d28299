//! Calls of agents by session, and rules for identical calls.

use std::sync::mpsc::Receiver as Answers;
use std::time::Instant;

use serde_json::{Value, json};

use super::*;
use crate::authorization::RuleTime;
use crate::hooks::channel::{Ask, Reply};
use crate::run::{AgentSession, CallState, SessionKey};
use crate::ui::action::AgentsAction;
use crate::ui::plan::RuleOffer;
use crate::worker::calls::{CallNews, ask_window};

const RULES: &str = "[agents]\nsession_rules = true\n";

/// The answers that a client gets, one after the other.
struct Client(Answers<Reply>);

impl Bench {
    /// The next answer that a client gets, while the window goes on.
    fn reply(&mut self, client: &Client) -> Reply {
        let reply = std::cell::OnceCell::new();
        self.wait_until("an answer", |_| match client.0.try_recv() {
            Ok(it) => reply.set(it).is_ok(),
            Err(_) => false,
        });
        reply.into_inner().unwrap()
    }

    /// A window that serves its socket.
    fn serving(settings: &str) -> Self {
        let bench = Self::with_settings(settings);
        let (socket, begun) = (bench.folders.window.join("calls"), Instant::now());
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "the window serves its socket");
            std::thread::yield_now();
        }
        bench
    }

    /// Asks as a client does. Each reply is an answer until `is_last`.
    fn client(&self, ask: Ask) -> Client {
        let (sender, answers) = sync_channel(64);
        let (folder, is_call) = (self.folders.window.clone(), matches!(ask, Ask::Call { .. }));
        let asks = move || {
            let deadline = Some(Instant::now() + Duration::from_secs(60));
            let _ = ask_window(&folder, ask, deadline, |reply| {
                let is_last = is_call || matches!(reply, Reply::End { .. });
                let _ = sender.send(reply);
                is_last.then_some(())
            });
        };
        std::thread::Builder::new().name("client".to_owned()).spawn(asks).unwrap();
        Client(answers)
    }

    fn calls(&self, session: &str, tool: &str, input: Value) -> Client {
        let folder = self.workspace.path().canonicalize().unwrap();
        self.client(Ask::Call {
            agent: "gemini".to_owned(),
            session: session.to_owned(),
            folder: folder.to_str().unwrap().to_owned(),
            tool: tool.to_owned(),
            input,
            timeout_ms: 60_000,
            ticket: tool == "run_shell_command",
        })
    }

    fn runs(&self, command: &str) -> Client {
        self.calls("s-1", "run_shell_command", json!({"command": command, "description": "List"}))
    }

    fn first(&self) -> &AgentSession {
        self.app.agents.sessions.all.first().unwrap()
    }

    fn key(&self) -> SessionKey {
        self.first().key
    }

    fn state(&self, number: usize) -> CallState {
        self.first().call(number).unwrap().state.clone()
    }

    /// Waits until the page shows this call of the first session, as one that could be authorized.
    fn wait_for_call(&mut self, number: usize) {
        self.wait_until(&format!("call {number}"), |app| {
            let is_it = app.session_view().is_some_and(|view| view.selected == number);
            is_it && app.situation().not_authorizable.is_none() && app.plan.shown.is_some()
        });
    }

    fn reject_call(&mut self, words: &str) {
        self.act(Action::Do(Command::Reject));
        let digest = self.session().opened.digest;
        let reason = words.to_owned();
        self.act(Action::Dialog(DialogAction::Reject { digest, reason, replan: false }));
    }

    fn agents(&mut self, action: AgentsAction) {
        self.act(Action::Plan(PlanAction::Agents(action)));
    }

    /// Authorizes the shown call, and uses its ticket until the run is over.
    fn authorize_and_run(&mut self, asked: &Client) {
        self.authorize();
        let number = self.app.session_view().unwrap().selected;
        let Reply::Ticket(ticket) = self.reply(asked) else { panic!() };
        self.run_ticket(ticket, number);
    }

    fn run_ticket(&mut self, ticket: String, number: usize) {
        let _exec = self.client(Ask::Exec { ticket });
        self.wait_until("the run", |app| {
            let session = app.agents.sessions.all.first().unwrap();
            let is_over = |it: &crate::run::SessionCall| it.state.is_over();
            session.call(number).is_some_and(is_over) && app.plan.call_run.is_none()
        });
    }

    /// Makes a rule from call 1, which is authorized and has run.
    fn with_rule(&mut self, command: &str) {
        let asked = self.runs(command);
        self.wait_for_call(1);
        self.authorize_and_run(&asked);
        let succeeded = CallState::Ran { outcome: Some(Outcome::Succeeded), exit_code: Some(0) };
        assert_eq!(self.state(1), succeeded);
        let key = self.key();
        let offer = self.app.session_view().unwrap().offer;
        assert_eq!(offer, Some(RuleOffer::Possible));
        self.agents(AgentsAction::OfferRule(key, 1));
        self.agents(AgentsAction::ChooseTime(RuleTime::Hour));
        let Question::SessionRule(view) = self.app.view().dialog.unwrap().question else {
            panic!()
        };
        assert_eq!((view.call.call.command.as_deref(), &*view.walls), (Some(command), "full"));
        // What the dialog does not show is not made.
        let make = |time| Action::Dialog(DialogAction::MakeRule { key, number: 1, time });
        self.act(make(RuleTime::Hour));
        assert_eq!(self.first().rules.len(), 1);
        self.act(make(RuleTime::Hour));
        assert_eq!(self.first().rules.len(), 1, "without the dialog there is no rule");
    }

    /// A call that the rule answers: nobody decides, and the worker runs it. Returns its number.
    fn answered_by_rule(&mut self, asked: &Client) -> usize {
        self.wait_until("an answer by the rule", |app| {
            let session = app.agents.sessions.all.first().unwrap();
            session.calls.back().is_some_and(|it| it.state == CallState::Allowed)
        });
        let Reply::Ticket(ticket) = self.reply(asked) else { panic!() };
        let number = self.first().total;
        self.run_ticket(ticket, number);
        number
    }
}

#[test]
fn calls_of_one_session_are_one_page() {
    let mut bench = Bench::serving("");
    let first = bench.runs("echo one");
    bench.wait_for_call(1);
    let view = bench.app.view();
    assert_eq!(view.sidebar.inbox.sessions.len(), 1);
    assert_eq!(view.sidebar.inbox.open_session, Some(bench.key()));
    bench.reject_call("not that one");
    let Reply::Denied(words) = bench.reply(&first) else { panic!() };
    assert!(words.contains("not that one"), "{words}");
    bench.wait_until("denied", |app| {
        let call = app.agents.sessions.all[0].call(1).unwrap();
        call.state == CallState::Denied("not that one".to_owned())
    });
    let second = bench.runs("echo two");
    bench.wait_for_call(2);
    let third = bench.calls("s-1", "write_file", json!({"file_path": "a.txt", "content": "x\n"}));
    bench.wait_until("three calls", |app| app.agents.sessions.all[0].total == 3);
    assert_eq!(bench.app.session_view().unwrap().selected, 2, "the page stays");
    let other = bench.calls("s-2", "run_shell_command", json!({"command": "echo other"}));
    bench.wait_until("two sessions", |app| app.agents.sessions.all.len() == 2);
    bench.wait_until("an inbox without calls", |app| {
        app.inbox.waiting() == 3 && app.view().sidebar.inbox.list.entries.is_empty()
    });
    bench.authorize_and_run(&second);
    let run = bench.first().call(2).unwrap().run_id.unwrap();
    let ran = CallState::Ran { outcome: Some(Outcome::Succeeded), exit_code: Some(0) };
    assert_eq!(bench.state(2), ran);

    // A past call can be looked at, and nothing can be decided there.
    let key = bench.key();
    bench.agents(AgentsAction::Show(key, 1));
    assert!(bench.app.plan.shown.is_none());
    assert_eq!(bench.app.session_view().unwrap().selected, 1);
    bench.act(Action::Do(Command::Authorize));
    assert!(bench.app.view().dialog.is_none());
    bench.act(Action::Plan(PlanAction::OpenRun(run)));
    bench.wait_until("its run", |app| app.plan.shown.is_some());
    assert_eq!(bench.app.session_view().unwrap().selected, 2, "the run belongs to the session");

    // An approval is about the one call that is shown.
    bench.agents(AgentsAction::Open(key));
    bench.wait_for_call(3);
    bench.authorize_permitted();
    assert_eq!(bench.reply(&third), Reply::Permitted);
    assert_eq!(bench.state(3), CallState::Permitted);
    let waiting = |app: &App| app.agents.sessions.all[1].waiting().count();
    assert_eq!(waiting(&bench.app), 1);
    assert!(other.0.try_recv().is_err(), "the other session still waits");
    drop(bench);
    assert!(other.0.recv_timeout(Duration::from_secs(30)).is_err(), "the window was closed");
}

impl Bench {
    /// Authorizes a call that the agent makes itself.
    fn authorize_permitted(&mut self) {
        self.act(Action::Do(Command::Authorize));
        let digest = self.session().opened.digest;
        self.act(Action::Dialog(DialogAction::Authorize(digest)));
        self.wait_until("permitted", |app| {
            app.agents.sessions.all[0].calls.back().unwrap().state == CallState::Permitted
        });
    }
}

#[test]
fn a_call_that_cannot_be_shown_is_listed_with_the_reason() {
    let mut bench = Bench::serving("");
    let asked = bench.calls("s-1", "web_fetch", json!({"prompt": "heron"}));
    let Reply::Denied(why) = bench.reply(&asked) else { panic!() };
    bench.wait_until("the call", |app| !app.agents.sessions.all.is_empty());
    assert_eq!(bench.state(1), CallState::Refused(why));
    let key = bench.key();
    bench.agents(AgentsAction::Show(key, 1));
    assert_eq!(bench.app.session_view().unwrap().selected, 1);
    bench.agents(AgentsAction::Forget(key));
    assert!(bench.app.session_view().is_none());
}

#[test]
fn rules_are_off_by_default() {
    let mut bench = Bench::serving("");
    let asked = bench.runs("ls");
    bench.wait_for_call(1);
    bench.authorize_and_run(&asked);
    let key = bench.key();
    assert_eq!(bench.app.session_view().unwrap().offer, None);
    bench.agents(AgentsAction::OfferRule(key, 1));
    assert!(bench.app.view().dialog.is_none());
}

/// What could do other things the next time can have no rule.
#[test]
fn only_safe_commands_are_offered_a_rule() {
    for command in ["./script.sh", "cargo test", "touch a", "curl https://example.org"] {
        let mut bench = Bench::serving(RULES);
        let asked = bench.runs(command);
        bench.wait_for_call(1);
        bench.authorize();
        assert!(matches!(bench.reply(&asked), Reply::Ticket(_)));
        let offer = bench.app.session_view().unwrap().offer;
        assert!(matches!(offer, Some(RuleOffer::None(_))), "{command}: {offer:?}");
    }
}

#[test]
fn an_identical_call_is_answered_by_the_rule_and_recorded_with_it() {
    let mut bench = Bench::serving(RULES);
    bench.with_rule("ls");
    // Another description is no other call.
    let input = json!({"description": "Look again", "command": "ls"});
    let again = bench.calls("s-1", "run_shell_command", input);
    let number = bench.answered_by_rule(&again);
    assert_eq!(bench.app.shared.notices, [], "the page of the session says it");
    let rule = bench.first().rules[0].clone();
    let call = bench.first().call(number).unwrap();
    assert_eq!((rule.matches, call.by_rule), (1, Some(rule.rule_id)));
    assert!(call.run_id.is_some() && matches!(call.state, CallState::Ran { .. }));
    let run = call.run_id.unwrap();
    bench.act(Action::Plan(PlanAction::OpenRun(run)));
    bench.wait_until("the recorded run", |app| {
        app.plan.shown.as_ref().is_some_and(|it| it.recorded.is_some())
    });
    let recorded = bench.session().recorded.as_ref().unwrap();
    let decision = recorded.decisions.first().unwrap();
    assert_eq!(decision.by.place, "session_rule");
    for part in [rule.rule_id.to_string(), rule.authorization_id.to_string()] {
        assert!(decision.note.contains(&part), "{}", decision.note);
    }
    assert!(decision.sentence().contains("by a rule for identical calls"));
}

/// Each call has an authorization and a ticket of its own, also if they come at once.
#[test]
fn identical_calls_at_once_are_run_one_by_one() {
    let mut bench = Bench::serving(RULES);
    bench.with_rule("ls");
    let asked = [bench.runs("ls"), bench.runs("ls"), bench.runs("ls")];
    let mut tickets = std::collections::BTreeSet::new();
    for asked in &asked {
        let Reply::Ticket(ticket) = bench.reply(asked) else { panic!() };
        tickets.insert(ticket);
    }
    assert_eq!((tickets.len(), bench.first().rules[0].matches), (3, 3));
    let runs: Vec<_> =
        tickets.into_iter().map(|ticket| bench.client(Ask::Exec { ticket })).collect();
    bench.wait_until("three runs", |app| {
        app.agents.sessions.all[0].calls.iter().all(|it| it.state.is_over())
    });
    let ran = |it: &crate::run::SessionCall| matches!(it.state, CallState::Ran { .. });
    let states: Vec<_> = bench.first().calls.iter().map(|it| it.state.clone()).collect();
    assert!(bench.first().calls.iter().all(ran), "{states:?}");
    for run in &runs {
        while !matches!(bench.reply(run), Reply::End { code: 0, .. }) {}
    }
    assert_eq!(bench.app.own_runs(), 4);
}

/// Whatever differs from the call of the rule is asked about, and the rule answers nothing after its end.
#[test]
fn a_rule_answers_no_other_call() {
    let mut bench = Bench::serving(RULES);
    bench.with_rule("ls");
    let mut asked = Vec::new();
    let shell = "run_shell_command";
    asked.push(bench.calls("s-1", shell, json!({"command": "ls -a"})));
    asked.push(bench.calls("s-1", shell, json!({"command": "ls", "dir_path": "."})));
    asked.push(bench.calls("s-1", "Bash", json!({"command": "ls"})));
    asked.push(bench.calls("s-2", shell, json!({"command": "ls"})));
    let folder = bench.workspace.path().canonicalize().unwrap();
    let link = bench.folders.home.join("link");
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    asked.push(bench.client(Ask::Call {
        agent: "gemini".to_owned(),
        session: "s-1".to_owned(),
        folder: link.to_str().unwrap().to_owned(),
        tool: shell.to_owned(),
        input: json!({"command": "ls"}),
        timeout_ms: 60_000,
        ticket: true,
    }));
    let waiting =
        |app: &App| app.agents.sessions.all.iter().map(|it| it.waiting().count()).sum::<usize>();
    bench.wait_until("five questions", |app| waiting(app) == 5);
    assert_eq!(bench.first().rules[0].matches, 0);
    assert!(asked.iter().all(|it| it.0.try_recv().is_err()), "nobody has answered");
}

#[test]
fn a_rule_ends_with_its_time_by_the_person_and_with_what_it_covers() {
    type Ends = fn(&mut Bench);
    let ends: [(&str, Ends); 6] = [
        ("denied", |bench| {
            // The person is asked, because they have opened the call before the rule could answer it.
            let tool = {
                let key = bench.key();
                let session = bench.app.agents.sessions.session_mut(key).unwrap();
                std::mem::replace(&mut session.rules[0].identity.tool, "another".to_owned())
            };
            let asked = bench.runs("ls");
            bench.wait_for_call(2);
            let key = bench.key();
            let session = bench.app.agents.sessions.session_mut(key).unwrap();
            session.rules[0].identity.tool = tool;
            bench.reject_call("not again");
            assert!(matches!(bench.reply(&asked), Reply::Denied(_)));
        }),
        ("taken back", |bench| {
            let rule_id = bench.first().rules[0].rule_id;
            bench.agents(AgentsAction::TakeBack(rule_id));
        }),
        ("over", |bench| {
            let key = bench.key();
            let session = bench.app.agents.sessions.session_mut(key).unwrap();
            session.rules[0].made_since_boot.ms -= RuleTime::Hour.ms();
        }),
        ("of another policy", |bench| {
            let key = bench.key();
            let session = bench.app.agents.sessions.session_mut(key).unwrap();
            session.rules[0].binding.policy = Digest::of(b"another");
        }),
        ("of another process", |bench| {
            let key = bench.key();
            let session = bench.app.agents.sessions.session_mut(key).unwrap();
            session.rules[0].identity.process = own_process();
        }),
        ("of an agent that has ended", |bench| {
            let key = bench.key();
            let session = bench.app.agents.sessions.session_mut(key).unwrap();
            session.rules[0].identity.process = "1@1".to_owned();
        }),
    ];
    for (what, end) in ends {
        let mut bench = Bench::serving(RULES);
        bench.with_rule("ls");
        end(&mut bench);
        let asked = bench.runs("ls");
        let number = if what == "denied" { 3 } else { 2 };
        bench.wait_for_call(number);
        assert_eq!(bench.state(number), CallState::Waits, "{what}");
        assert!(asked.0.try_recv().is_err());
        let left = usize::from(what == "of another process");
        assert_eq!(bench.first().rules.len(), left, "{what}");
    }
}

/// This process, as the identity of a call names one.
fn own_process() -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after = stat.rsplit_once(')').unwrap().1;
    format!("{}@{}", std::process::id(), after.split_ascii_whitespace().nth(19).unwrap())
}

/// Nobody is left to whom the person has allowed the call.
#[test]
fn a_ticket_by_a_rule_ends_with_its_agent() {
    let bench = Bench::serving(RULES);
    let calls = bench.app.shared.calls.as_ref().unwrap();
    let next_news = || {
        let begun = Instant::now();
        loop {
            if let Some(news) = calls.take_news().into_iter().next() {
                return news;
            }
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
    };
    let with_ticket = |process: &str| {
        let asked = bench.runs("ls");
        let CallNews::Arrived(file, _) = next_news() else { panic!() };
        assert!(calls.permit_to(&file, process).is_some());
        let Ok(Reply::Ticket(ticket)) = asked.0.recv() else { panic!() };
        bench.client(Ask::Exec { ticket })
    };
    let Ok(Reply::End { code: 3, message }) = with_ticket("1@1").0.recv() else { panic!() };
    assert!(message.contains("has ended"), "{message}");
    let _runs = with_ticket(&own_process());
    assert!(matches!(next_news(), CallNews::Run(..)));
}

/// A ticket that a rule has given and that is not used yet counts no more once the rule is taken back.
#[test]
fn taking_a_rule_back_stops_what_has_not_begun() {
    let mut bench = Bench::serving(RULES);
    bench.with_rule("ls");
    let asked = bench.runs("ls");
    bench.wait_until("allowed", |app| {
        let last = app.agents.sessions.all[0].calls.back().unwrap();
        last.number == 2 && last.state == CallState::Allowed
    });
    let Reply::Ticket(ticket) = bench.reply(&asked) else { panic!() };
    let rule_id = bench.first().rules[0].rule_id;
    bench.agents(AgentsAction::TakeBack(rule_id));
    let exec = bench.client(Ask::Exec { ticket });
    bench.wait_until("refused", |app| {
        matches!(app.agents.sessions.all[0].call(2).unwrap().state, CallState::NotRun(_))
    });
    assert!(matches!(bench.reply(&exec), Reply::End { code: 3, .. }));
    assert_eq!(bench.app.own_runs(), 1);
}

impl App {
    fn own_runs(&self) -> usize {
        let calls = self.agents.sessions.all.iter().flat_map(|it| &it.calls);
        calls.filter(|it| it.run_id.is_some()).count()
    }
}
