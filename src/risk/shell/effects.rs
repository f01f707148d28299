//! Effects of a command beyond those of its program: files it writes, input it reads, variables it names, files it
//! fetches.

use std::ops::Range;

use super::elsewhere::{Use, is_elsewhere, is_planted};
use super::judge::Judge;
use super::listed::listed;
use super::place;
pub(super) use super::program::program_of;
use super::syntax::{Redirect, SimpleCommand, Word};
use super::table::{Kind, Wrapper};
use crate::plan::RiskLevel;

impl Judge<'_> {
    /// Rates builtins that write to variables which their operands name.
    pub(super) fn names(&mut self, command: &SimpleCommand, program: &str) {
        let writes = match program {
            "printf" | "wait" => command.words.iter().any(|word| listed("-v -p", &word.text)),
            _ => listed("read getopts mapfile readarray let declare typeset local", program),
        };
        for word in command.arguments().iter().filter(|_| writes) {
            self.variable(&word.text, None, &word.span);
        }
    }

    pub(super) fn redirect(&mut self, redirect: &Redirect) {
        let span = redirect.target.span();
        if redirect.writes()
            && let Some(path) = self.named_inside(std::slice::from_ref(&redirect.target))
        {
            let reason = format!(
                "Writes a file whose name is the output of another command, which is given {path}."
            );
            return self.danger("elsewhere", span, &reason);
        }
        for text in self.resolve(&redirect.target.text, &span).unwrap_or_default() {
            let path = place::normalize(&text, &self.folder);
            if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
                let reason = "Connects the command to a network address.";
                return self.danger("network-redirect", span, reason);
            }
            if !redirect.writes() || text.starts_with('>') {
                continue;
            }
            self.writes(&path, span.clone());
            self.written.push(path);
        }
    }

    /// Rates a write to a path.
    pub(super) fn writes(&mut self, path: &str, span: Range<usize>) {
        if place::is_disk(path) {
            self.note(RiskLevel::Blocked, "write-disk", span, "Overwrites a whole disk.");
        } else if place::is_system(path) {
            self.danger("write-system", span, "Writes a file of the system.");
        } else if place::is_sensitive(path) {
            let reason = "Writes a file that configures other programs, or that contains keys or the history.";
            self.danger("write-sensitive", span, reason);
        } else if is_elsewhere(path, Use::Raised) || self.outside(path, Use::Raised).is_some() {
            self.danger("elsewhere", span, "Writes a file outside the working folder.");
        } else if !path.starts_with("/dev/") {
            self.caution("write-file", span, "Writes a file.");
        }
    }

    /// The commands of the script with these indices, which come from words and pipes.
    pub(super) fn commands_in(&self, indices: Range<usize>) -> &[SimpleCommand] {
        self.script.commands.get(indices).unwrap_or_default()
    }

    /// The text that a program reads from its input, if it is known, and whether the input is a pipe or a file.
    pub(super) fn reads(&self, command: &SimpleCommand) -> (Option<String>, bool) {
        let here =
            command.redirects.iter().rev().find(|redirect| redirect.operator.starts_with("<<"));
        if let Some(redirect) = here {
            return (Some(redirect.target.text.clone()), false);
        }
        if let Some(input) = command.input.clone() {
            let sources = self.commands_in(input.clone());
            let known = match sources {
                [source] => self.prints(source),
                // Commands inside the program's name print nothing into the pipe.
                [source, inside @ ..] => {
                    let inner = source.words.first().and_then(|word| word.inner.clone());
                    let first = input.start + 1;
                    inner
                        .filter(|inner| *inner == (first..first + inside.len()))
                        .and_then(|_| self.prints(source))
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
                [source] => self.prints(source),
                _ => None,
            };
            return (known, true);
        }
        let file = |redirect: &Redirect| {
            matches!(redirect.operator, "<" | "<>") && redirect.target.text != "/dev/null"
        };
        (None, command.redirects.iter().any(file))
    }

    /// The program that prints and its arguments, without wrappers that only run it.
    fn printer<'b>(&self, words: &'b [Word]) -> Option<(String, &'b [Word])> {
        let (first, rest) = words.split_first()?;
        let program = program_of(&first.text)?;
        let runs = |wrapper: &Wrapper| {
            wrapper.kind == Kind::Argv
                && !wrapper.more
                && wrapper.names.iter().any(|name| name.split(' ').next() == Some(program.as_str()))
        };
        if !self.table.wrapper.iter().any(runs) {
            return Some((program, rest));
        }
        let at = rest.iter().position(|word| {
            program_of(&word.text)
                .is_some_and(|name| matches!(name.as_str(), "echo" | "printf" | "cat"))
        })?;
        Some((program_of(&rest.get(at)?.text)?, rest.get(at + 1..)?))
    }

    pub(super) fn prints(&self, source: &SimpleCommand) -> Option<String> {
        let (program, rest) = self.printer(&source.words)?;
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
                let (text, _) = rest.is_empty().then(|| self.reads(source))?;
                text
            }
            _ => None,
        }
    }

    /// Whether the input is the output of a database client, and so was not written by the plan's author.
    pub(super) fn answered(&self, command: &SimpleCommand) -> bool {
        const CLIENTS: &str = "psql mysql mariadb sqlite3 mysqlbinlog";
        let asks = |it: &SimpleCommand| it.program().is_some_and(|it| listed(CLIENTS, &it));
        command.input.clone().is_some_and(|input| self.commands_in(input).iter().any(asks))
    }

    /// Records whether a command fetches or unpacks files, and which files `tee` writes.
    pub(super) fn fetches(&mut self, command: &SimpleCommand) {
        let Some(program) = command.program() else { return };
        let mut rest = command.arguments().iter().map(|word| word.text.as_str());
        self.fetched |= match program.as_str() {
            "wget" | "aria2c" | "axel" => !rest.any(|text| text == "-" || text.ends_with("O-")),
            "curl" | "fetch" => {
                let writes = command.redirects.iter().any(Redirect::writes);
                let mut named = false;
                let mut lost = false;
                for text in rest {
                    named |= text.starts_with("--output")
                        || text.starts_with("--remote-name")
                        || (text.starts_with('-')
                            && !text.starts_with("--")
                            && text.contains(['o', 'O']));
                    lost |= text == "/dev/null";
                }
                (named || writes) && !lost
            }
            "tar" | "bsdtar" | "unzip" => command.input.is_some(),
            "git" => rest.any(|text| text == "clone"),
            "tee" => {
                let folder = self.folder.clone();
                self.written.extend(rest.map(|text| place::normalize(text, &folder)));
                false
            }
            _ => false,
        };
    }

    /// Rates a command that overwrites a file which it reads: the shell truncates the file first.
    pub(super) fn overwrites(&mut self, command: &SimpleCommand, program: &str) {
        if matches!(program, "echo" | "printf" | "mkdir" | "touch") {
            return;
        }
        for redirect in command.redirects.iter().filter(|it| matches!(it.operator, ">" | ">|")) {
            let target = &redirect.target.text;
            if target.starts_with("/dev/") || redirect.target.unknown() {
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
                return self.danger("empties-file", redirect.target.span(), reason);
            }
        }
    }

    /// Rates a command that empties a file by writing `/dev/null` to it.
    pub(super) fn empties(&mut self, command: &SimpleCommand, program: &str) {
        let null = |word: &Word| word.text == "/dev/null";
        let operands = command.arguments();
        let reads = |at: &Redirect| at.operator == "<" && null(&at.target);
        let writes = |at: &Redirect| {
            matches!(at.operator, ">" | ">|") && !at.target.text.starts_with("/dev/")
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
            self.danger("empties-file", command.span(), "Empties a file.");
        }
    }

    /// Rates a deletion after an encryption in the same command line, which may leave only files that cannot be read
    /// without the key.
    pub(super) fn encrypts(&mut self, command: &SimpleCommand) {
        let Some(program) = command.program() else { return };
        let has = |names: &str| command.arguments().iter().any(|it| listed(names, &it.text));
        self.locked |= match program.as_str() {
            "openssl" => has("enc") && !has("-d"),
            "gpg" | "gpg2" | "age" => has("-c -e -r -p --symmetric --encrypt --recipient"),
            "ccrypt" | "mcrypt" => true,
            _ => false,
        };
        if self.locked && matches!(program.as_str(), "rm" | "unlink") {
            self.danger("locks-away", command.span(), "Deletes files and encrypts some in the same command, which may leave nothing readable.");
        }
    }

    /// Rates the installation of a package from a file as running that file, because it runs the scripts of the
    /// package.
    pub(super) fn installs(&mut self, command: &SimpleCommand, program: &str) {
        const INSTALLERS: &str = "dpkg apt apt-get rpm dnf yum zypper pacman installer";
        let packages = [".deb", ".rpm", ".pkg", ".zst"];
        for word in command.arguments().iter().filter(|_| listed(INSTALLERS, program)) {
            if packages.iter().any(|ending| word.text.ends_with(ending)) {
                self.runs_file(word);
            }
        }
    }

    /// Rates running a file. A file that this command line fetched or wrote has not been reviewed; one in a hidden
    /// temporary folder may come from another user.
    pub(super) fn runs_file(&mut self, word: &Word) {
        let path = place::normalize(&word.text, &self.folder);
        if is_planted(&path) {
            let reason = "Runs a file from a hidden folder in a world-writable place, where another user may have put it.";
            self.danger("runs-planted", word.span(), reason);
        }
        if self.fetched || self.written.contains(&path) {
            let reason = "Runs a file that this command itself downloaded or wrote, so that it could not be reviewed.";
            self.danger("runs-fetched", word.span(), reason);
        }
    }
}
