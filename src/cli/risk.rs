//! `risk`: prints the risk of shell commands. Nothing is run.

use std::borrow::Cow;
use std::io::{self, BufRead as _};

use serde::Serialize;

use super::output::{Output, say};
use super::refusal::Refusal;
use super::{Exit, args, opening};
use crate::plan::{Needs, quoted};
use crate::risk::{
    CommandVerdict, Policy, Shell, Surroundings, needs_of_command, of_local_command,
};
use crate::tools::Toolbox;

#[derive(Serialize)]
struct Document<'a> {
    command: &'a str,
    #[serde(flatten)]
    verdict: &'a CommandVerdict,
    /// What the programs of the command are known to need beyond its walls, with paths as in the built-in table.
    needs: &'a Needs,
    walls: WallsDocument<'a>,
}

/// Further facts about the walls of a command.
#[derive(Serialize)]
struct WallsDocument<'a> {
    /// Whether the command must write below `.git`.
    writes_repository: bool,
    /// Why the command cannot run behind walls; `None` if it can.
    refused: Option<&'a str>,
    /// Why the command needs `needs`.
    reasons: &'a [String],
}

/// Judges the given command, or each line of stdin as one command, by the built-in rules and those of the settings, as a
/// command in the current folder.
///
/// # Errors
/// The settings file or the current folder cannot be used.
pub(super) fn risk(command: &args::Risk, out: &mut Output) -> Result<Exit, Refusal> {
    let policy = opening::policy()?;
    let folder = opening::current_folder()?;
    let location = opening::evidence_location(&command.common.folder)?;
    // A missing folder of `extra_roots` must not keep a command from being judged, and changes no verdict.
    let alone = Policy { extra_roots: Vec::new(), ..policy.clone() };
    let toolbox = Toolbox::open(&folder, &alone)
        .map_err(|error| Refusal::usage(error.to_string(), "Go to another folder."))?
        .without_folders(location.folders());
    let repositories = toolbox.repositories();
    let own_folders = toolbox.own_folders();
    let surroundings = Surroundings { own_folders, repositories: &repositories, cwd: None };
    let verdict_of =
        |line: &str| of_local_command(line, Shell::Bash, &policy.command_rules, surroundings, &[]);
    if !command.stdin {
        let lines = command_lines(&command.command).map(|line| (verdict_of(&line), line));
        // Of equal ones the first: that of the words.
        let worst = lines
            .into_iter()
            .reduce(|first, other| if other.0.level > first.0.level { other } else { first });
        worst.into_iter().for_each(|(verdict, line)| print(&line, &verdict, out));
        return Ok(Exit::Done);
    }
    for line in io::stdin().lock().split(b'\n') {
        match line {
            // Invalid UTF-8 becomes U+FFFD. In a program's name, the character makes the command dangerous.
            Ok(line) => {
                let line = String::from_utf8_lossy(&line);
                print(&line, &verdict_of(&line), out);
            }
            Err(error) => {
                say(&format!("Cannot read the commands from stdin: {error}"));
                return Ok(Exit::Failed);
            }
        }
    }
    Ok(Exit::Done)
}

/// A single word is a command line. Several are the words of one command, as a shell has passed them on without their
/// quotes, or a line that was split at its spaces: nobody can tell, so that both are judged.
fn command_lines(words: &[String]) -> [String; 2] {
    let joined = words.join(" ");
    match words {
        [_] => [joined.clone(), joined],
        words => [words.iter().map(|word| quoted_word(word)).collect::<Vec<_>>().join(" "), joined],
    }
}

/// A word in quotes, unless it has only characters that mean nothing to a shell.
fn quoted_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

fn print(command: &str, verdict: &CommandVerdict, out: &mut Output) {
    let command_needs = needs_of_command(command, Shell::Bash);
    if out.json() {
        let walls = WallsDocument {
            writes_repository: command_needs.writes_repository,
            refused: command_needs.refused.as_deref(),
            reasons: &command_needs.reasons,
        };
        out.document(&Document { command, verdict, needs: &command_needs.needs, walls });
        return;
    }
    let needs = if command_needs.needs.is_empty() {
        String::new()
    } else {
        format!(" Needs {}: {}.", command_needs.needs, command_needs.reasons.join("; "))
    };
    let refused = command_needs.refused.as_deref();
    let refused = refused.map(|it| format!(" Cannot run behind walls: {it}.")).unwrap_or_default();
    let suggestion = verdict.suggestion.as_deref().map(|it| format!(" {it}")).unwrap_or_default();
    let builtin = if verdict.user_rule {
        let builtin = &verdict.builtin;
        format!(
            " By one of your rules; by the built-in rules: {}  {}  {}",
            builtin.level.as_str(),
            builtin.rule,
            builtin.reason
        )
    } else {
        String::new()
    };
    out.line(&quoted(&format!(
        "{}  {}  {}{suggestion}{builtin}{needs}{refused}",
        verdict.level.as_str(),
        verdict.rule,
        verdict.reason
    )));
}
