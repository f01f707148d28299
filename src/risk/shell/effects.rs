//! Effects of a command beyond those of its program: the files that it writes and fetches, the input that it reads, and
//! the variables that it names.

use std::ops::Range;

use super::classifier::Classifier;
use super::elsewhere::{PathUse, is_elsewhere, is_in_hidden_temporary};
use super::listed::listed;
use super::path_kind;
pub(super) use super::program::program_of;
use super::syntax::{Redirect, SimpleCommand, Word};
use super::table::{Wrapper, WrapperKind};
use crate::plan::RiskLevel;

impl Classifier<'_> {
    /// Rates builtins that write to variables which their operands name.
    pub(super) fn rate_named_variables(&mut self, command: &SimpleCommand, program: &str) {
        let writes = match program {
            "printf" | "wait" => command.words.iter().any(|word| listed("-v -p", &word.text)),
            _ => listed("read getopts mapfile readarray let declare typeset local", program),
        };
        for word in command.arguments().iter().filter(|_| writes) {
            self.rate_variable(&word.text, None, &word.span);
        }
    }

    /// Rates a redirection to a file or a network address, and records the file.
    pub(super) fn rate_redirect(&mut self, redirect: &Redirect) {
        let span = redirect.target.span();
        if redirect.writes()
            && let Some(path) = self.path_in_substitutions(std::slice::from_ref(&redirect.target))
        {
            let reason = format!(
                "Writes a file whose name is the output of another command, which is given {path}."
            );
            return self.add_danger("elsewhere", span, &reason);
        }
        for text in self.resolve(&redirect.target.text, &span).unwrap_or_default() {
            let path = path_kind::normalize(&text, &self.folder);
            if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
                let reason = "Connects the command to a network address.";
                return self.add_danger("network-redirect", span, reason);
            }
            if !redirect.writes() || text.starts_with('>') {
                continue;
            }
            self.rate_write(&path, span.clone());
            self.written_files.push(path);
        }
    }

    /// Rates a write to a path.
    pub(super) fn rate_write(&mut self, path: &str, span: Range<usize>) {
        if path_kind::is_disk(path) {
            self.add_finding(RiskLevel::Blocked, "write-disk", span, "Overwrites a whole disk.");
        } else if path_kind::is_system(path) {
            self.add_danger("write-system", span, "Writes a file of the system.");
        } else if path_kind::is_sensitive(path) {
            let reason = "Writes a file that configures other programs, or that contains keys or the history.";
            self.add_danger("write-sensitive", span, reason);
        } else if is_elsewhere(path, PathUse::Written)
            || self.outside_path(path, PathUse::Written).is_some()
        {
            self.add_danger("elsewhere", span, "Writes a file outside the working folder.");
        } else if !path.starts_with("/dev/") {
            self.add_caution("write-file", span, "Writes a file.");
        }
    }

    /// The commands of the script with these indices. Words and pipes refer to commands by index.
    pub(super) fn commands_in(&self, indices: Range<usize>) -> &[SimpleCommand] {
        self.script.commands.get(indices).unwrap_or_default()
    }

    /// The text that a program reads from its input, if it is known, and whether the input is a pipe or a file.
    pub(super) fn known_input(&self, command: &SimpleCommand) -> (Option<String>, bool) {
        let here_text =
            command.redirects.iter().rev().find(|redirect| redirect.operator.starts_with("<<"));
        if let Some(redirect) = here_text {
            return (Some(redirect.target.text.clone()), false);
        }
        if let Some(input) = command.input.clone() {
            let sources = self.commands_in(input.clone());
            let known = match sources {
                [source] => self.known_output(source),
                // Commands inside the program's name print nothing into the pipe.
                [source, inside @ ..] => {
                    let inner = source.words.first().and_then(|word| word.inner.clone());
                    let first = input.start + 1;
                    inner
                        .filter(|inner| *inner == (first..first + inside.len()))
                        .and_then(|_| self.known_output(source))
                }
                [] => None,
            };
            return (known, true);
        }
        // With `< <(..)`, the input is the output of commands.
        let printed = command.redirects.iter().rev().find(|redirect| redirect.operator == "<");
        if let Some(redirect) = printed
            && let Some(inner) = redirect.target.inner.clone()
        {
            let known = match self.commands_in(inner) {
                [source] => self.known_output(source),
                _ => None,
            };
            return (known, true);
        }
        let file = |redirect: &Redirect| {
            matches!(redirect.operator, "<" | "<>") && redirect.target.text != "/dev/null"
        };
        (None, command.redirects.iter().any(file))
    }

    /// The program of a command with its arguments. For a wrapper: `echo`, `printf` or `cat`, if the wrapper runs one of
    /// them.
    fn printing_program<'b>(&self, words: &'b [Word]) -> Option<(String, &'b [Word])> {
        let (first, rest) = words.split_first()?;
        let program = program_of(&first.text)?;
        let runs = |wrapper: &Wrapper| {
            wrapper.kind == WrapperKind::Argv
                && !wrapper.more
                && wrapper.names.iter().any(|name| name.split(' ').next() == Some(program.as_str()))
        };
        if !self.table.wrapper.iter().any(runs) {
            return Some((program, rest));
        }
        let index = rest.iter().position(|word| {
            program_of(&word.text)
                .is_some_and(|name| matches!(name.as_str(), "echo" | "printf" | "cat"))
        })?;
        Some((program_of(&rest.get(index)?.text)?, rest.get(index + 1..)?))
    }

    /// The output of a command; `None` if it is not known.
    pub(super) fn known_output(&self, source: &SimpleCommand) -> Option<String> {
        let (program, rest) = self.printing_program(&source.words)?;
        match program.as_str() {
            "echo" => {
                let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
                let text = texts.join(" ");
                (!text.contains('\\') && !text.starts_with('-')).then_some(text)
            }
            "printf" => {
                let (format, values) = rest.split_first()?;
                let format =
                    format.text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "");
                if format.contains('\\') || format.starts_with('-') {
                    return None;
                }
                let values: Vec<&str> = values.iter().map(|word| word.text.as_str()).collect();
                Some(format.replace("%s", &values.join("\n")).replace("%b", "\\"))
                    .filter(|text| !text.contains('\\'))
            }
            "cat" => {
                let (text, _) = rest.is_empty().then(|| self.known_input(source))?;
                text
            }
            _ => None,
        }
    }

    /// Whether the input is the output of a database client, which the plan's author did not write.
    pub(super) fn reads_query_result(&self, command: &SimpleCommand) -> bool {
        const CLIENTS: &str = "psql mysql mariadb sqlite3 mysqlbinlog";
        let asks = |it: &SimpleCommand| it.program().is_some_and(|it| listed(CLIENTS, &it));
        command.input.clone().is_some_and(|input| self.commands_in(input).iter().any(asks))
    }

    /// Records whether a command fetches or unpacks files, and which files `tee` writes.
    pub(super) fn record_fetches(&mut self, command: &SimpleCommand) {
        let Some(program) = command.program() else { return };
        let mut rest = command.arguments().iter().map(|word| word.text.as_str());
        self.fetched_files |= match program.as_str() {
            "wget" | "aria2c" | "axel" => !rest.any(|text| text == "-" || text.ends_with("O-")),
            "curl" | "fetch" => {
                let writes = command.redirects.iter().any(Redirect::writes);
                let mut named = false;
                let mut discarded = false;
                for text in rest {
                    named |= text.starts_with("--output")
                        || text.starts_with("--remote-name")
                        || (text.starts_with('-')
                            && !text.starts_with("--")
                            && text.contains(['o', 'O']));
                    discarded |= text == "/dev/null";
                }
                (named || writes) && !discarded
            }
            "tar" | "bsdtar" | "unzip" => command.input.is_some(),
            "git" => rest.any(|text| text == "clone"),
            "tee" => {
                let folder = self.folder.clone();
                self.written_files.extend(rest.map(|text| path_kind::normalize(text, &folder)));
                false
            }
            _ => false,
        };
    }

    /// Rates a command that overwrites a file which this command, or one that is piped into it, reads: the shell
    /// truncates the file first.
    pub(super) fn rate_overwriting(&mut self, command: &SimpleCommand, program: &str) {
        if matches!(program, "echo" | "printf" | "mkdir" | "touch") {
            return;
        }
        for redirect in command.redirects.iter().filter(|it| matches!(it.operator, ">" | ">|")) {
            let target = &redirect.target.text;
            if target.starts_with("/dev/") || redirect.target.has_unknown() {
                continue;
            }
            let is = |word: &Word| {
                word.text == *target
                    || (program == "git"
                        && word.text.split_once(':').is_some_and(|(_, path)| path == target))
            };
            let sources = command.input.clone().map(|input| self.commands_in(input));
            let read = sources.unwrap_or_default().iter().flat_map(SimpleCommand::arguments);
            if command.arguments().iter().chain(read).any(is) {
                let reason = "Overwrites a file that the same command reads.";
                return self.add_danger("empties-file", redirect.target.span(), reason);
            }
        }
    }

    /// Rates a command that empties a file by writing `/dev/null` to it.
    pub(super) fn rate_emptying(&mut self, command: &SimpleCommand, program: &str) {
        let null = |word: &Word| word.text == "/dev/null";
        let operands = command.arguments();
        let reads = |it: &Redirect| it.operator == "<" && null(&it.target);
        let writes = |it: &Redirect| {
            matches!(it.operator, ">" | ">|") && !it.target.text.starts_with("/dev/")
        };
        let emptied = match program {
            "cat" => {
                (operands.iter().any(null) || command.redirects.iter().any(reads))
                    && operands.iter().all(null)
                    && command.redirects.iter().any(writes)
            }
            "tee" => {
                command.redirects.iter().any(reads) && !operands.iter().any(|a| a.text == "-a")
            }
            _ => false,
        };
        if emptied {
            self.add_danger("empties-file", command.span(), "Empties a file.");
        }
    }

    /// Rates a deletion after an encryption in the same command line, which may leave only files that cannot be read
    /// without the key.
    pub(super) fn rate_deletion_after_encryption(&mut self, command: &SimpleCommand) {
        let Some(program) = command.program() else { return };
        let has = |names: &str| command.arguments().iter().any(|it| listed(names, &it.text));
        self.encrypted_files |= match program.as_str() {
            "openssl" => has("enc") && !has("-d"),
            "gpg" | "gpg2" | "age" => has("-c -e -r -p --symmetric --encrypt --recipient"),
            "ccrypt" | "mcrypt" => true,
            _ => false,
        };
        if self.encrypted_files && matches!(program.as_str(), "rm" | "unlink") {
            self.add_danger("locks-away", command.span(), "Deletes files and encrypts some in the same command, which may leave nothing readable.");
        }
    }

    /// Rates the installation of a package from a file as running that file, because an installation runs the scripts
    /// of the package.
    pub(super) fn rate_package_files(&mut self, command: &SimpleCommand, program: &str) {
        const INSTALLERS: &str = "dpkg apt apt-get rpm dnf yum zypper pacman installer";
        let packages = [".deb", ".rpm", ".pkg", ".zst"];
        for word in command.arguments().iter().filter(|_| listed(INSTALLERS, program)) {
            if packages.iter().any(|ending| word.text.ends_with(ending)) {
                self.rate_run_file(word);
            }
        }
    }

    /// Rates running a file. A file that the command line fetched or wrote has not been reviewed; a file in a hidden
    /// temporary folder may come from another user.
    pub(super) fn rate_run_file(&mut self, word: &Word) {
        let path = path_kind::normalize(&word.text, &self.folder);
        if is_in_hidden_temporary(&path) {
            let reason = "Runs a file from a hidden folder in a world-writable place, where another user may have put it.";
            self.add_danger("runs-planted", word.span(), reason);
        }
        if self.fetched_files || self.written_files.contains(&path) {
            let reason = "Runs a file that this command itself downloaded or wrote, so that it could not be reviewed.";
            self.add_danger("runs-fetched", word.span(), reason);
        }
    }
}
