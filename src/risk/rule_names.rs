//! The rules that are code and not a row of a table, so that every rule that a verdict names can be explained.

use super::{sensitive, shell::rule_texts};

/// A rule without a row in `rules.toml` or `sensitive.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRule {
    /// The id that verdicts show.
    pub id: &'static str,
    /// The levels that it can give.
    pub level: &'static str,
    /// What it is about, as sentences.
    pub text: &'static str,
}

const fn safe(id: &'static str, text: &'static str) -> CodeRule {
    CodeRule { id, level: "safe", text }
}

const fn caution(id: &'static str, text: &'static str) -> CodeRule {
    CodeRule { id, level: "caution", text }
}

const fn dangerous(id: &'static str, text: &'static str) -> CodeRule {
    CodeRule { id, level: "dangerous", text }
}

const fn blocked(id: &'static str, text: &'static str) -> CodeRule {
    CodeRule { id, level: "blocked", text }
}

const fn various(id: &'static str, text: &'static str) -> CodeRule {
    CodeRule { id, level: "as its parts", text }
}

/// Every rule that is code. Ratings and verdicts with another name are refused while tests run.
pub const CODE_RULES: &[CodeRule] = &[
    // Steps.
    safe("read", "The tool of the step only reads."),
    caution("mutate", "The tool of the step changes files of the workspace."),
    caution("simulate", "The step works on a copy of the workspace and runs nothing."),
    caution("check", "The step runs code of the workspace: build scripts and macros."),
    caution(
        "run",
        "The step runs code of the workspace: build scripts, macros and the program itself.",
    ),
    dangerous("command", "The step runs a command that is not rated by itself."),
    dangerous(
        "change-history",
        "The step replaces the present content of files with earlier content.",
    ),
    dangerous("delete-file", "The step deletes a file."),
    dangerous("faulty-step", "The step has errors, so its effect is not known. It cannot run."),
    dangerous("write-program", "The step writes a file that can be run as a program."),
    caution(
        "remote-host",
        "The command runs on another host, where nothing is known of its files.",
    ),
    various(
        "stated-by-plan",
        "The plan itself rates the step higher than the rules do. A plan can only raise a risk.",
    ),
    caution(
        "widened-walls",
        "The step reaches beyond its walls, because the plan or the settings grant it more than the workspace.",
    ),
    // Reading.
    safe("no-program", "The command starts no program."),
    safe("asks-name", "The command only shows what a name stands for."),
    safe(
        "reads",
        "The call only reads or prints: each option and operand of it is in the table of such calls.",
    ),
    various(
        "asks-help",
        "The call only asks for help or a version. Where a subcommand could understand it differently, it is caution.",
    ),
    caution(
        "reads-and-loads",
        "The call only reads itself, but the program first loads something of the working folder.",
    ),
    caution(
        "reads-repository",
        "The call only reads itself, but git may run a program that the repository names.",
    ),
    dangerous(
        "reader-acts",
        "The program usually only reads, but an option or a script of this call makes it write or run something.",
    ),
    caution("only-shows", "The call only shows what it would do, possibly by asking another host."),
    caution(
        "computes",
        "Code in the command line, or a debugger, that only computes, prints, replaces text or inspects.",
    ),
    caution("known-call", "The call makes a small change, and exactly this call is known."),
    caution("makes-beside", "The call creates something new beside the project."),
    caution(
        "removes-temporary",
        "The call removes files that the same command line created with mktemp.",
    ),
    caution("reloads", "The call makes a service reload its settings without stopping it."),
    caution("sends-here", "The call sends files of the project to a server on this computer."),
    // Unknown calls.
    caution("unknown-program", "No rule describes what the program does."),
    caution(
        "unlisted-call",
        "The program is known, and no rule describes what this call of it does.",
    ),
    dangerous(
        "says-it-destroys",
        "No rule describes the program, and its name or arguments suggest destroying, stopping or publishing something.",
    ),
    dangerous("runs-outside", "The command runs an unknown program from outside the project."),
    dangerous(
        "administers",
        "The call administers accounts, storage, services, networks or other hosts, and is not known to only read.",
    ),
    dangerous(
        "carries",
        "An argument of the call is itself a command or code, and that is dangerous.",
    ),
    // Files.
    caution("write-file", "The command writes a file, by a redirection."),
    dangerous(
        "write-sensitive",
        "The command writes a file that configures other programs, or that contains keys or the history.",
    ),
    dangerous(
        "elsewhere",
        "The command writes or may change something outside the working folder, or a path that is not known before it runs.",
    ),
    dangerous(
        "empties-file",
        "The command empties a file, or overwrites one that it reads itself.",
    ),
    dangerous(
        "locks-away",
        "The command encrypts some files and deletes others, which may leave nothing readable.",
    ),
    dangerous(
        "own-folder",
        "The command names a folder with this program's settings, keys or evidence.",
    ),
    dangerous("network-redirect", "A redirection connects the command to a network address."),
    // Programs that run others.
    caution(
        "wrapper",
        "The program runs another command, or code of its own. The other command is rated, too.",
    ),
    caution(
        "wrapper-option",
        "The program runs another command, with an option that is not known to be harmless.",
    ),
    caution("starts-shell", "The command starts a shell."),
    dangerous(
        "root-shell",
        "The command starts a shell with raised privileges, which accepts any command.",
    ),
    caution("runs-script", "The command runs a script, whose content is not rated."),
    dangerous(
        "hidden-script",
        "The script to run is named by a variable or by the output of another command.",
    ),
    dangerous(
        "inline-code",
        "The command runs code from the command line or from its input, and what it does is not known.",
    ),
    dangerous("runs-output", "The command runs the output of another command."),
    dangerous(
        "runs-fetched",
        "The command runs something that it has itself downloaded or written, so that nobody could review it.",
    ),
    dangerous(
        "runs-planted",
        "The command runs a file from a hidden folder in a world-writable place, where another user may have put it.",
    ),
    caution("printed-program", "The program to run is named by the output of another command."),
    dangerous("hidden-program", "Which program runs cannot be told from the command."),
    // Variables and aliases.
    caution(
        "sets-variable",
        "The command sets an environment variable, which can change what programs do.",
    ),
    dangerous(
        "hijack-variable",
        "The command sets a variable that decides which programs run later, or what they do.",
    ),
    dangerous(
        "hijacks-variable",
        "The command gives a second name to a variable that affects later programs.",
    ),
    dangerous(
        "history-variable",
        "The command stops the shell from recording commands in its history.",
    ),
    caution("sets-alias", "The command defines an alias, which changes what a later command runs."),
    caution(
        "prints-environment",
        "The command prints all environment variables, some of which may be secrets.",
    ),
    dangerous(
        "prints-secret",
        "The command prints a variable that looks like a secret. The output of a step is stored.",
    ),
    caution("evaluated-word", "bash evaluates a word of the command again after its expansion."),
    dangerous(
        "evaluated-data",
        "bash evaluates a word of the command again, and would run commands in it.",
    ),
    dangerous(
        "input-as-code",
        "The value of an input may be run as code, or become several words.",
    ),
    // What cannot be read, or not with certainty.
    dangerous(
        "hidden-character",
        "The command contains an invisible character, or one that looks like another one.",
    ),
    dangerous(
        "escaped-word",
        "A word is written as character codes, or split by rules of its own, which hides what it says.",
    ),
    dangerous("unreadable", "The command, or a part of it, cannot be parsed completely."),
    dangerous("readers-disagree", "Two parsers read the command differently."),
    dangerous(
        "not-posix",
        "Only bash interprets the command as it was checked; another shell may run something else.",
    ),
    dangerous("nothing", "There is no command."),
    dangerous("too-long", "The command is longer than 64 KiB and was not read."),
    dangerous("too-deep", "The command is nested more than 16 levels deep and was not read."),
    dangerous("too-many", "The command has more than 200 parts and was not read."),
    dangerous(
        "wrapped-too-deep",
        "The command has commands nested more than 8 levels deep, or more than 2,000 commands.",
    ),
    dangerous(
        "expands-too-much",
        "The variables of the command expand to more text or more commands than are checked.",
    ),
    dangerous(
        "no-rules",
        "A table of rules cannot be read, so that everything counts as dangerous.",
    ),
    blocked(
        "fork-bomb",
        "The command defines a function that starts itself twice, which fills the machine with processes.",
    ),
    dangerous(
        "endless-loop",
        "The command starts more and more processes without waiting for any.",
    ),
];

/// Whether a verdict may name this rule, of those that are not the user's own.
pub fn is_builtin_rule(id: &str) -> bool {
    CODE_RULES.iter().any(|rule| rule.id == id)
        || rule_texts().any(|rule| rule.id == id)
        || sensitive::rules().any(|(rule, _)| rule == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn sources(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "tests" {
                sources(&path, found);
            } else if name.ends_with(".rs") && !matches!(&*name, "tests.rs" | "rule_names.rs") {
                let text = std::fs::read_to_string(path).unwrap();
                found.push(text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned());
            }
        }
    }

    /// Wherever code gives a rating or a verdict a rule by its name, or has the name as a constant.
    #[test]
    fn every_rule_in_the_code_is_explained() {
        let mut texts = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/risk"), &mut texts);
        let named = regex::Regex::new(
            r#"(?x) (?: Rating::(?:caution|dangerous) | Verdict::dangerous | add_(?:caution|danger) | disclosure | dangerous_verdict
                | refuse | (?:Rating|Verdict)::new \( \s* [\w:]+, | add_finding \( \s* [\w:]+, | RiskLevel::\w+,
                | \blevel, ) \(? \s* "([a-z-]+)"
              | rule: \s* "([a-z-]+)"
              | rule\ id\ [^\n]*\n [^\n]* const\ \w+:\ &str\ =\ "([a-z-]+)""#,
        )
        .unwrap();
        let mut found = BTreeSet::new();
        for text in &texts {
            for hit in named.captures_iter(text) {
                found.insert(hit.iter().skip(1).flatten().next().unwrap().as_str());
            }
        }
        assert!(found.len() > 60, "the test finds them: {found:?}");
        for known in ["elsewhere", "too-long", "unknown-program", "run", "fork-bomb", "known-call"]
        {
            assert!(found.contains(known), "{known}: {found:?}");
        }
        let missing: Vec<_> = found.iter().filter(|rule| !is_builtin_rule(rule)).collect();
        assert!(missing.is_empty(), "without an explanation: {missing:?}");
    }
}
