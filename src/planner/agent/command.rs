//! The command line of each agent for one plan: read-only, not interactive, with a JSON document as its output.

use std::io::Write as _;

use tempfile::NamedTempFile;

use super::super::prompt::Instructions;
use super::super::reply::Failure;
use super::{Agent, schema};

/// The largest input that Gemini CLI reads, in bytes; it would cut a longer one.
const GEMINI_INPUT_BYTES: usize = 8 << 20;

/// The arguments of an agent's program, which reads its prompt on stdin: an argument could not hold it.
pub(super) struct CommandLine {
    arguments: Vec<String>,
    /// The file with the output schema, if the agent takes one.
    _schema: Option<NamedTempFile>,
}

impl CommandLine {
    /// The command for a prompt of this size.
    ///
    /// # Errors
    /// The agent cannot read such a prompt, or the file with the schema cannot be written.
    pub(super) fn new(
        agent: Agent,
        model: Option<&str>,
        instructions: &Instructions,
        prompt_bytes: usize,
    ) -> Result<Self, Failure> {
        let schema = || schema::answer(instructions).to_string();
        let mut file = None;
        let mut arguments: Vec<String> = match agent {
            Agent::Codex => {
                let schema = schema_file(&schema()).map_err(|error| {
                    Failure::unavailable(format!("cannot write the output schema: {error}"), true)
                })?;
                let path = schema.path().to_string_lossy().into_owned();
                file = Some(schema);
                // The sandbox alone decides, and not the trust in the folder, so a folder without Git is as good.
                let fixed = "exec --json --color=never --sandbox=read-only --skip-git-repo-check --ephemeral";
                words(fixed).chain(["--output-schema".to_owned(), path]).collect()
            }
            Agent::Claude => {
                // Without the settings and the servers of a workspace, which could run programs before anybody was
                // asked: a session that is not interactive asks for no trust in its folder.
                let fixed = "--print --output-format=json --permission-mode=plan --tools=Read,Glob,Grep \
                             --setting-sources=user --strict-mcp-config --no-session-persistence";
                words(fixed).chain(["--json-schema".to_owned(), schema()]).collect()
            }
            Agent::Gemini => {
                if prompt_bytes > GEMINI_INPUT_BYTES {
                    let message = format!(
                        "the request has {prompt_bytes} bytes, and gemini reads {GEMINI_INPUT_BYTES}; let it look at less"
                    );
                    return Err(Failure::unavailable(message, false));
                }
                // It adds this to what it reads on stdin.
                let prompt = "--prompt=Answer the request above, with exactly one JSON object.";
                words("--approval-mode=plan --output-format=json")
                    .chain([prompt.to_owned()])
                    .collect()
            }
        };
        arguments.extend(model.map(|model| format!("--model={model}")));
        if agent == Agent::Codex {
            // The prompt is on stdin.
            arguments.push("-".to_owned());
        }
        Ok(Self { arguments, _schema: file })
    }

    /// The arguments.
    pub(super) fn words(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }
}

fn words(line: &str) -> impl Iterator<Item = String> + '_ {
    line.split_whitespace().map(str::to_owned)
}

fn schema_file(schema: &str) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::with_prefix("countersign-schema-")?;
    file.write_all(schema.as_bytes())?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSTRUCTIONS: Instructions =
        Instructions { text: String::new(), for_host: false, may_look: true };

    #[test]
    fn every_agent_is_started_read_only() {
        for (agent, mode) in [
            (Agent::Codex, "--sandbox=read-only"),
            (Agent::Claude, "--permission-mode=plan"),
            (Agent::Gemini, "--approval-mode=plan"),
        ] {
            let command = CommandLine::new(agent, Some("m"), &INSTRUCTIONS, 1).unwrap();
            let words = command.words();
            assert!(words.contains(&mode) && words.contains(&"--model=m"), "{words:?}");
            // The kernel refuses a longer argument.
            assert!(words.iter().all(|word| word.len() < 128 << 10), "{agent:?}");
        }
    }

    #[test]
    fn schema_of_codex_is_a_file_until_its_end() {
        let command = CommandLine::new(Agent::Codex, None, &INSTRUCTIONS, 1).unwrap();
        let words = command.words();
        let place = words.iter().position(|word| *word == "--output-schema").unwrap();
        let path = words[place + 1].to_owned();
        let schema: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(schema["required"], serde_json::json!(["answers_goal", "looks", "plan"]));
        drop(command);
        assert!(!std::path::Path::new(&path).exists());
    }

    #[test]
    fn gemini_gets_no_prompt_that_it_would_cut() {
        let of = |bytes| CommandLine::new(Agent::Gemini, None, &INSTRUCTIONS, bytes);
        assert!(of(GEMINI_INPUT_BYTES).is_ok());
        assert!(of(GEMINI_INPUT_BYTES + 1).is_err_and(|failure| !failure.retryable));
    }
}
