//! Runbooks: texts for people with commands between them. They become guided plans, in which a person runs one command
//! after the other.

mod atuin;
mod looks_back;
mod markdown;
mod state;
mod words;

pub(super) use atuin::{commands as atuin, is_atuin};
pub(super) use looks_back::looks_back;
pub(super) use markdown::{commands as markdown, is_fence_of_commands};
pub(super) use state::State;

use crate::plan::{Code, Finding, ProposedCommand, Severity, limits};

/// A block of commands.
struct Block {
    /// The line at which it begins, from 1.
    line: usize,
    /// The program that reads it; empty for bash.
    shell: &'static str,
    code: String,
    title: Option<String>,
    /// The text above it.
    text: String,
    expected_output: Option<String>,
}

impl Block {
    /// The step, after commands that repeat what blocks above left in the shell.
    fn step(&self, before: &str) -> ProposedCommand {
        let code = match self.shell {
            "" => self.code.clone(),
            shell => format!("{shell} -c '{}'", self.code.replace('\'', "'\\''")),
        };
        let cut = |text: &str, most: usize| {
            let text = text.get(..text.floor_char_boundary(most)).unwrap_or_default().trim();
            Some(text.to_owned()).filter(|text| !text.is_empty())
        };
        ProposedCommand {
            command: format!("{before}{code}"),
            description: self.title.as_ref().and_then(|title| cut(title, limits::ID_BYTES)),
            explanation: cut(&self.text, limits::ARGUMENT_BYTES),
            expected_output: self
                .expected_output
                .as_ref()
                .and_then(|it| cut(it, limits::ARGUMENT_BYTES)),
            ..ProposedCommand::default()
        }
    }
}

fn at(line: usize, severity: Severity, message: impl Into<String>) -> Finding {
    Finding { line, ..Finding::new(severity, Code::BadValue, "", message) }
}

/// The interpreter of a block as a program; `None` if it is not a shell that a step can start.
fn shell(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "" | "bash" | "/bin/bash" | "/usr/bin/bash" => Some(""),
        "sh" | "/bin/sh" => Some("sh"),
        "zsh" | "/bin/zsh" | "/usr/bin/zsh" => Some("zsh"),
        "fish" => Some("fish"),
        _ => None,
    }
}
