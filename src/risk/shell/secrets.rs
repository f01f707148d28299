//! Calls that print secrets: files with keys or passwords, variables with secrets, and the complete environment.

use super::classifier::Classifier;
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::rate::PERHAPS_READS;
use super::rating::Rating;
use super::syntax::{END, Redirect, UNKNOWN};
use super::{SimpleCommand, Word, path_kind};
use crate::plan::RiskLevel;

/// Programs that show that a file exists, but not its content.
const NO_CONTENT: &str = "ls dir vdir exa eza tree stat test [ [[ file du realpath readlink basename dirname find fd fdfind echo \
    printf cd pushd ssh-keygen openssl which type lsof getfacl lsattr git pathchk";

impl Classifier<'_> {
    /// Raises a rating if the call prints a secret, or passes a file with keys or passwords on.
    pub(super) fn raise_for_secrets(
        &self,
        command: &SimpleCommand,
        program: &str,
        arguments: &[(String, bool)],
        rating: Rating,
    ) -> Rating {
        if rating.level >= RiskLevel::Dangerous
            || command.redirects.iter().any(Redirect::takes_output)
        {
            return rating;
        }
        let reads = rating.is_reading() || rating.rule == PERHAPS_READS;
        let mut files = command.redirects.iter().filter(|it| it.operator == "<");
        let names_keys = |text: &String| {
            let value = text.split_once('=').map_or(text.as_str(), |(_, value)| value);
            [text.as_str(), value]
                .iter()
                .any(|text| path_kind::holds_keys(&path_kind::normalize(text, &self.folder)))
        };
        let shows = reads && !listed(NO_CONTENT, program)
            || matches!(program, "docker" | "podman" | "kubectl")
                && arguments.iter().any(|(it, _)| it == "cp");
        let given = shows && arguments.iter().any(|(text, _)| names_keys(text));
        if given || files.any(|it| names_keys(&it.target.text)) {
            return disclosure("reads-secrets", "Prints keys or passwords, or passes them on.");
        }
        if command.remote || !reads {
            return rating;
        }
        let receivers = self.receivers(command);
        // A secret that is piped to another program as input is not printed.
        let is_hidden = receivers.iter().any(|it| !self.passes_input_on(it));
        let mut texts = arguments.iter().map(|(text, _)| text.as_str());
        let secret = match program {
            "printenv" => texts.any(is_secret_name),
            "echo" | "printf" => !is_hidden && texts.any(holds_secret),
            "cat" => command
                .redirects
                .iter()
                .any(|it| it.operator.starts_with("<<") && holds_secret(&it.target.text)),
            "declare" | "typeset" | "export" | "readonly" => {
                arguments.iter().any(|(text, _)| text == "-p") && texts.any(is_secret_name)
            }
            "awk" | "gawk" | "mawk" | "nawk" => {
                texts.any(|it| it.contains("ENVIRON") && names_secret(it))
            }
            "jq" | "gojq" | "jaq" => texts.any(|it| asks_environment(it) && names_secret(it)),
            _ => false,
        };
        if secret {
            let reason =
                "Prints a variable that looks like a secret; the output of a step is stored.";
            return disclosure("prints-secret", reason);
        }
        let dumps = match program {
            "env" | "printenv" | "export" | "declare" | "typeset" | "readonly" => {
                arguments.len() <= 1 && arguments.iter().all(|(it, _)| it.starts_with('-'))
            }
            "set" => arguments.is_empty(),
            "jq" | "gojq" | "jaq" => arguments.iter().any(|(it, _)| asks_environment(it)),
            _ => false,
        };
        if !dumps {
            return rating;
        }
        let mut words = receivers.iter().flat_map(|it| it.arguments());
        if words.any(|word| names_secret(&word.text)) {
            let reason = "Prints variables that look like secrets; the output of a step is stored.";
            return disclosure("prints-secret", reason);
        }
        let chooses = |it: &&SimpleCommand| {
            let all = |word: &Word| matches!(word.text.as_str(), "-v" | "." | "" | "=" | ".*");
            it.program().is_some_and(|name| listed("grep egrep fgrep rg", &name))
                && !it.words.iter().any(all)
        };
        if !receivers.is_empty() && receivers.iter().all(chooses) {
            return rating;
        }
        let reason = "Prints all environment variables, some of which may be secrets.";
        Rating { level: RiskLevel::Caution, ..disclosure("prints-environment", reason) }
    }

    /// The commands that read the output of a command.
    fn receivers(&self, command: &SimpleCommand) -> Vec<&SimpleCommand> {
        let commands = &self.script.commands;
        let is = |index: usize| commands.get(index).is_some_and(|it| it.span == command.span);
        let reads = |it: &&SimpleCommand| it.input.clone().is_some_and(|mut input| input.any(is));
        commands.iter().filter(reads).collect()
    }

    /// Whether a command passes its input through to its output.
    fn passes_input_on(&self, command: &SimpleCommand) -> bool {
        const PASS_ON: &str = "cat tac rev tr cut head tail sed awk grep sort uniq fold base64 base32 xxd od hexdump less more \
            tee nl";
        command.program().is_some_and(|name| listed(PASS_ON, &name))
    }
}

/// The dangerous rating of a call that prints a secret.
fn disclosure(rule: &str, reason: &str) -> Rating {
    Rating::dangerous(rule, reason)
        .with_safer("Check only whether it exists, without printing its content.")
}

/// Whether this name of a variable suggests a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    static NAMES: LazyRegex = LazyRegex::new(
        r"(?i)^(\w*_)?(secrets?|tokens?|passwd|password|pass|passphrase|pwd|api_?key|\w*key|credentials?|auth|pat|cookie|dsn)(_\w*)?$",
    );
    name != "PWD" && name != "OLDPWD" && NAMES.is_match(name)
}

/// Whether a text contains the value of a variable with the name of a secret.
fn holds_secret(text: &str) -> bool {
    text.split(UNKNOWN)
        .skip(1)
        .any(|part| part.split_once(END).is_some_and(|(name, _)| is_secret_name(name)))
}

/// Whether a word of a text is the name of a secret.
fn names_secret(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(is_secret_name)
}

/// Whether a `jq` program reads the environment.
fn asks_environment(text: &str) -> bool {
    text.contains("$ENV")
        || !text.contains(".env")
            && text
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '"'))
                .any(|word| word == "env")
}
