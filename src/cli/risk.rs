//! `risk`: how dangerous a command is (SPEC §7.1). Reads it, and runs nothing.

use std::io::{self, BufRead as _};

use serde::Serialize;

use super::Exit;
use super::args;
use super::output::{Output, say};
use crate::risk::{CommandVerdict, Shell, UserRules, of_command};

#[derive(Serialize)]
struct Document<'a> {
    command: &'a str,
    #[serde(flatten)]
    verdict: &'a CommandVerdict,
}

/// Judges the command of the command line, or one command a line of stdin.
pub(super) fn risk(command: &args::Risk, out: &mut Output) -> Exit {
    if !command.stdin {
        judge(&command.command.join(" "), out);
        return Exit::Done;
    }
    for line in io::stdin().lock().split(b'\n') {
        match line {
            // Bytes that are no text become a character that no rule takes for a letter.
            Ok(line) => judge(&String::from_utf8_lossy(&line), out),
            Err(error) => {
                say(&format!("The commands could not be read: {error}"));
                return Exit::Failed;
            }
        }
    }
    Exit::Done
}

fn judge(command: &str, out: &mut Output) {
    let verdict = of_command(command, Shell::Bash, &UserRules::default());
    if out.json() {
        out.document(&Document { command, verdict: &verdict });
        return;
    }
    let suggestion = verdict.suggestion.as_deref().map(|way| format!(" {way}")).unwrap_or_default();
    out.line(&format!(
        "{}  {}  {}{suggestion}",
        verdict.level.as_str(),
        verdict.rule,
        verdict.reason
    ));
}
