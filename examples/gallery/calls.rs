//! Example data: sessions of agents with their calls.

use std::collections::BTreeMap;

use countersign::authorization::{
    Binding, CallIdentity, Grants, RuleTime, RunChoices, SessionRule, SinceBoot, StepWalls,
    WallLevel,
};
use countersign::plan::{Digest, Mode};
use countersign::run::{AgentCall, AgentSession, AgentSessions, CallState, Outcome};
use countersign::ui::dialog::SessionRuleView;
use countersign::ui::plan::{RuleOffer, SessionView};
use uuid::Uuid;

use super::fixture::NOW_MS;

const COMMAND: &str = "git status --short && git log --oneline -n 20 -- src/parser";

fn identity(command: &str) -> CallIdentity {
    CallIdentity {
        agent: "Claude Code".to_owned(),
        session: "3f2a9c51-77d0-4f7e".to_owned(),
        process: "4711@9".to_owned(),
        folder: "/home/ada/src/parser".to_owned(),
        workspace: "/home/ada/src/parser 1:2".to_owned(),
        tool: "Bash".to_owned(),
        arguments: Digest::of(command.as_bytes()),
    }
}

fn call(tool: &str, subject: &str, at_ms: i64) -> AgentCall {
    let is_command = tool == "Bash";
    AgentCall {
        agent: "Claude Code".to_owned(),
        session: "3f2a9c51-77d0-4f7e".to_owned(),
        workspace: "/home/ada/src/parser".into(),
        tool: tool.to_owned(),
        subject: subject.to_owned(),
        command: is_command.then(|| subject.to_owned()),
        at_ms,
        until_ms: at_ms + 540_000,
        digest: Some(Digest::of(subject.as_bytes())),
        identity: is_command.then(|| identity(subject)),
    }
}

fn binding() -> Binding {
    let walls = StepWalls { level: WallLevel::Full, ..StepWalls::default() };
    Binding {
        fleet: None,
        workspace: "/home/ada/src/parser".to_owned(),
        workspace_id: None,
        mode: Mode::Automatic,
        policy: Digest::of(b"policy"),
        target: None,
        inputs: BTreeMap::new(),
        grants: Grants::default(),
        choices: RunChoices::default(),
        walls: Some(vec![Some(walls)]),
        secret_inputs: BTreeMap::new(),
    }
}

fn rule(command: &str, matches: usize) -> SessionRule {
    SessionRule {
        rule_id: Uuid::from_u128(matches as u128),
        identity: identity(command),
        command: command.to_owned(),
        binding: binding(),
        authorization_id: Uuid::nil(),
        made_at_ms: NOW_MS - 60_000,
        expires_at_ms: NOW_MS + RuleTime::Hour.ms(),
        made_since_boot: SinceBoot::default(),
        matches,
    }
}

/// The sessions of a scene: one with a call in each state, and one that is over.
pub fn sessions(name: &str) -> AgentSessions {
    let mut sessions = AgentSessions::default();
    if !name.starts_with("session") {
        return sessions;
    }
    let earlier = if name == "session-many" { 3_000 } else { 0 };
    for number in 0..earlier {
        let call = call("Edit", "src/parser/state.rs", NOW_MS - 900_000 + number);
        sessions.add(call, None, CallState::Permitted);
    }
    let ran = |outcome, exit_code| CallState::Ran { outcome: Some(outcome), exit_code };
    let words = "use the linter of the workspace instead".to_owned();
    let why = "the call cannot be shown as a plan: the tool WebFetch is not known here".to_owned();
    let calls = [
        ("Bash", COMMAND, ran(Outcome::Succeeded, Some(0))),
        ("Edit", "src/parser/lexer.rs", CallState::Permitted),
        ("Bash", "npx eslint .", CallState::Denied(words)),
        ("Bash", COMMAND, ran(Outcome::Succeeded, Some(0))),
        ("WebFetch", "", CallState::Refused(why)),
        ("Bash", "cargo test -p parser", ran(Outcome::Failed, Some(101))),
        ("Bash", "rm -r target/old", CallState::Withdrawn("its time is over")),
        ("Bash", COMMAND, ran(Outcome::Succeeded, Some(0))),
        ("Bash", "cargo build --release -p parser", CallState::Waits),
    ];
    let mut place = None;
    for (index, (tool, subject, state)) in calls.into_iter().enumerate() {
        let at_ms = NOW_MS - 400_000 + index as i64 * 41_000;
        let added = sessions.add(call(tool, subject, at_ms), None, state);
        place.get_or_insert(added.0);
        let Some(call) = sessions.call_mut(added) else { continue };
        let is_decided = matches!(
            call.state,
            CallState::Ran { .. } | CallState::Permitted | CallState::Denied(_)
        );
        call.decided_at_ms = is_decided.then_some(at_ms + 9_000);
        call.authorization_id = is_decided.then(|| Uuid::from_u128(index as u128 + 1));
        if let CallState::Ran { .. } = call.state {
            call.run_id = Some(Uuid::from_u128(7));
            call.for_rule = Some(Ok(Box::new(binding())));
        }
        call.by_rule = (index == 7).then(|| Uuid::from_u128(1));
    }
    if name != "session-rule"
        && let Some(session) = place.and_then(|key| sessions.session_mut(key))
    {
        session.rules = vec![rule(COMMAND, 1)];
        if name == "session-many" {
            session.rules.extend((2..8).map(|matches| rule("cargo metadata", matches)));
        }
    }
    let other = AgentCall {
        agent: "Gemini CLI".to_owned(),
        session: "b1".to_owned(),
        identity: None,
        ..call("write_file", "README.md", NOW_MS - 4_000_000)
    };
    sessions.add(other, None, CallState::Permitted);
    sessions
}

/// What the page shows of the first session: the call that waits, or a past one.
pub fn shown<'a>(sessions: &'a AgentSessions, name: &str) -> Option<SessionView<'a>> {
    let session = sessions.all.first()?;
    let back = if name == "session-past" { 6 } else { 0 };
    let selected = session.calls.iter().rev().nth(back)?.number;
    let offer = match name {
        "session-past" => None,
        "session-many" => Some(RuleOffer::None("only a safe command can have a rule")),
        _ => Some(RuleOffer::Possible),
    };
    Some(SessionView { session, selected, offer })
}

/// The dialog about a rule for the first call.
pub fn rule_dialog<'a>(
    sessions: &'a AgentSessions,
    now: &'a countersign::ui::Now,
) -> Option<SessionRuleView<'a>> {
    let session: &AgentSession = sessions.all.first()?;
    let (call, time) = (session.calls.front()?, RuleTime::default());
    Some(SessionRuleView { session, call, walls: "full".to_owned(), time, now })
}
