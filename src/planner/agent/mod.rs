//! `codex`, `claude` and `gemini`: the person's own agent program plans, in its read-only mode (SPEC §13).
//!
//! The agent is found in `PATH`, and uses the login and the settings that it has. This planner gives it the instructions
//! and the request on stdin, and a strict schema for the answer if the agent takes one. What the agent answers is data:
//! fields that are `null` are dropped, and everything else is left to the reader of answers. The agent is behind the walls
//! of the planner: it can write only its own folder, without its settings there.

mod answer;
mod command;
mod schema;

use std::cell::RefCell;
use std::path::Path;

use super::Request;
use super::prompt::Instructions;
use super::reply::Failure;
use crate::risk::Policy;
use crate::run::Stream;
use crate::tools::{ToolError, Toolbox};

/// The agents whose programs can plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the agents by their names")]
pub enum Agent {
    Codex,
    Claude,
    Gemini,
}

impl Agent {
    /// The name of the agent's program.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
        }
    }
}

/// How every agent is started.
const STARTED: &str =
    "You are started in your read-only mode, in the folder of the workspace. Change nothing. ";
/// What an agent is told that reads by its own tools.
const READS: &str = "You may read files with your own tools.";
/// What Codex is told. It reads only by commands in a sandbox of its own, which cannot be put up in another one.
const LOOKS: &str =
    "Commands of yours may not run here, so do not try: answer with looks to see files.";
/// What an agent is told that sees no files, or none any more.
const SEES_NOTHING: &str = "You see no files besides what the request has.";
/// What an agent with an output schema is told, whose fields are all required.
const NULLS: &str = "Give null for a field that you do not use.\n";

/// Lets the agent's program make a plan. `model` is a model by the agent's own name for it; without one the agent takes
/// what its settings say.
pub(super) fn plan(
    request: &Request,
    agent: Agent,
    model: Option<&str>,
    workspace: &Path,
    progress: &dyn Fn(&str),
) -> Result<Vec<u8>, Failure> {
    let failed =
        |error: ToolError| Failure::unavailable(format!("{error}. {}", error.next()), false);
    let toolbox = Toolbox::open(workspace, &Policy::default()).map_err(failed)?;
    let instructions = Instructions::of(request);
    let prompt = prompt(request, agent, &instructions);
    let command = command::CommandLine::new(agent, model, &instructions, prompt.len())?;
    progress(&format!("Asking {}.\n", agent.program()));
    let events = RefCell::new(answer::Events::default());
    let output = |stream, text: &str| match (stream, agent) {
        (Stream::Stderr, _) => progress(text),
        (Stream::Stdout, Agent::Codex) => events.borrow_mut().add(text, progress),
        (Stream::Stdout, Agent::Claude | Agent::Gemini) => {}
    };
    let ended = toolbox.run_agent(agent.program(), &command.words(), prompt.as_bytes(), &output);
    answer::read(agent, &ended.map_err(failed)?)
}

fn prompt(request: &Request, agent: Agent, instructions: &Instructions) -> String {
    let mut asked = request.json.clone();
    let has_schema = agent != Agent::Gemini;
    // The output schema says it.
    if let Some(fields) = asked.as_object_mut().filter(|_| has_schema) {
        fields.remove("answer");
    }
    let nulls = if has_schema { NULLS } else { "" };
    let shows_files = request.json.pointer("/looks/scope").is_none_or(|scope| scope != "none");
    let reading = match agent {
        Agent::Claude | Agent::Gemini if shows_files => READS,
        Agent::Codex if instructions.may_look => LOOKS,
        _ => SEES_NOTHING,
    };
    format!(
        "{}\n{STARTED}{reading} The request stands below.\n{nulls}\nThe request:\n{asked}\n",
        instructions.text
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prompt_has_the_schema_only_without_an_output_schema() {
        let request = json!({"goal": "mend it", "attempt": 1, "looks": {"rounds_left": 2},
            "answer": {"form": "one document"}});
        let request = Request::parse(request.to_string().as_bytes()).unwrap();
        let of = |agent| prompt(&request, agent, &Instructions::of(&request));
        for agent in [Agent::Codex, Agent::Claude] {
            assert!(!of(agent).contains("one document") && of(agent).contains("Give null"));
        }
        let gemini = of(Agent::Gemini);
        assert!(gemini.contains("one document") && !gemini.contains("Give null"), "{gemini}");
        for part in ["mutate_batch", "\"looks\": [...]", "\"goal\":\"mend it\"", "read-only"] {
            assert!(gemini.contains(part), "{part}");
        }
    }

    #[test]
    fn prompt_says_how_files_are_seen() {
        for (agent, rounds, scope, expected) in [
            (Agent::Codex, 3, "workspace", LOOKS),
            (Agent::Codex, 0, "workspace", SEES_NOTHING),
            (Agent::Codex, 0, "none", SEES_NOTHING),
            (Agent::Claude, 0, "workspace", READS),
            (Agent::Gemini, 0, "none", SEES_NOTHING),
        ] {
            let looks = json!({ "rounds_left": rounds, "scope": scope });
            let request = json!({ "goal": "g", "attempt": 1, "looks": looks }).to_string();
            let request = Request::parse(request.as_bytes()).unwrap();
            let text = prompt(&request, agent, &Instructions::of(&request));
            for other in [READS, LOOKS, SEES_NOTHING] {
                assert_eq!(text.contains(other), other == expected, "{agent:?} {scope} {other}");
            }
        }
    }
}
