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

/// What an agent is told besides the instructions.
const READ_ONLY: &str = "\
You are started in your read-only mode, in the folder of the workspace. You may read files with your own tools; change \
nothing. The request stands below.
";
/// What Codex is told instead. It reads only by commands in a sandbox of its own, which cannot be put up in another one.
const LOOKS_ONLY: &str = "\
You are started in your read-only mode, in the folder of the workspace. Commands of yours may not run here, so do not \
try: answer with looks to see files. The request stands below.
";
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
    let reading = match agent {
        Agent::Codex => LOOKS_ONLY,
        Agent::Claude | Agent::Gemini => READ_ONLY,
    };
    format!("{}\n{reading}{nulls}\nThe request:\n{asked}\n", instructions.text)
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
}
