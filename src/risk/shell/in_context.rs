//! Ratings that depend on the rest of the command line: harmless calls, and files that the command line created or
//! fetched.

use std::sync::LazyLock;

use super::classifier::Classifier;
use super::debugger::{debugged, inspects, is_debugger};
use super::elsewhere::{PathUse, is_elsewhere};
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::program::program_of;
use super::queries::{is_query_call, queries_unknown_table};
use super::rating::Rating;
use super::syntax::{END, OUTPUT, UNKNOWN, before};
use super::{SimpleCommand, Word, harmless_forms, path_kind, powershell};
use crate::plan::RiskLevel;

/// Programs that install packages.
const INSTALLERS: &str = "pip pip3 pipx uv npm pnpm yarn gem cargo go apt apt-get brew conda";

impl Classifier<'_> {
    /// Lowers a rating if the exact call is known to be harmless.
    pub(super) fn lowered(
        &self,
        command: &SimpleCommand,
        program: &str,
        arguments: &[(String, bool)],
        rating: Rating,
    ) -> Rating {
        if rating.level <= RiskLevel::Dangerous
            && rating.level >= RiskLevel::Caution
            && let Some(known) =
                self.table.known.iter().find_map(|known| known.rating(program, arguments))
        {
            return known;
        }
        let rule = rating.rule.as_str();
        let words = command.arguments();
        let inspects = || is_debugger(program) && !command.raised && inspects(words);
        let debugs = || matches!(program, "gdb" | "lldb") && debugged(words).is_some();
        let is_dry_run = || program == "rsync" && harmless_forms::is_rsync_dry_run(arguments);
        let computes = match rule {
            "runs-code" => {
                debugs()
                    || inspects()
                    || self.only_computes_argument(program, arguments)
                    || powershell::only_reads(program, arguments)
            }
            "says-it-destroys" => inspects(),
            _ => false,
        };
        let shows = match rule {
            "sends-out" => program == "openssl" && self.only_handshakes(command) || is_dry_run(),
            "remote-answer" | "says-it-destroys" => is_dry_run(),
            "sql-destructive" => {
                queries_unknown_table(program, arguments) && !self.known_input(command).1
            }
            "administers" => is_query_call(program, arguments),
            _ => false,
        };
        match rule {
            _ if computes => harmless_forms::compute_rating(),
            _ if shows => harmless_forms::show_rating(),
            "stops-service" | "administers" if harmless_forms::only_reloads(program, arguments) => {
                let reason = "Makes a service reload its settings without stopping it.";
                Rating::caution("reloads", reason)
            }
            "sends-out" if self.stays_local(command, program, arguments) => {
                let reason = "Sends files of the project to a server on this computer.";
                Rating::caution("sends-here", reason)
            }
            "runs-code"
                if powershell::runs_script(program, arguments) && self.folder.is_empty() =>
            {
                Rating::caution("runs-script", "Runs a script.")
            }
            "delete-by-pattern" | "delete-recursive" | "empty-files"
                if self.removes_temporary(command, program) =>
            {
                let reason = "Removes files that the same command line created with mktemp.";
                Rating::caution("removes-temporary", reason)
            }
            _ => rating,
        }
    }

    /// Whether a call of `openssl s_client` sends nothing but the handshake.
    pub(super) fn only_handshakes(&self, command: &SimpleCommand) -> bool {
        static CALL: LazyLock<LazyRegex> = LazyLock::new(|| {
            LazyRegex::from(format!(
                "^s_client(\t(-(connect|servername|verify_hostname)\t({UNKNOWN}[A-Za-z_]\\w*{END})?[\\w.:-]*|-starttls\t\\w+|\
                 -showcerts|-brief|-status|-tls1_[123]|-no_ign_eof|-CA(file|path)\t[^\t{UNKNOWN}]+))+$"
            ))
        });
        let words = command.arguments();
        let line = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join("\t");
        let nothing = match self.known_input(command) {
            (Some(text), _) => matches!(text.trim(), "" | "Q"),
            (None, fed) => !fed,
        };
        nothing && CALL.is_match(&line)
    }

    /// Whether a call only removes files that `mktemp` created in this command line.
    pub(super) fn removes_temporary(&self, command: &SimpleCommand, program: &str) -> bool {
        let plain = |text: &str| {
            matches!(text, "--" | "--recursive" | "--force")
                || text
                    .strip_prefix('-')
                    .is_some_and(|it| !it.is_empty() && it.chars().all(|c| "rfdvR".contains(c)))
        };
        let words = command.arguments();
        // With both recursion and force, one wrong value would do too much damage.
        let has = |letters: [char; 2], long: &str| {
            words.iter().any(|word| {
                word.text == long
                    || word.text.starts_with('-')
                        && !word.text.starts_with("--")
                        && word.text.contains(letters)
            })
        };
        if has(['r', 'R'], "--recursive") && has(['f', 'f'], "--force") {
            return false;
        }
        let operands: Vec<&Word> = words.iter().filter(|word| !plain(&word.text)).collect();
        matches!(program, "rm" | "rmdir" | "unlink")
            && !operands.is_empty()
            && !command.raised
            && !command.remote
            && operands.iter().all(|word| {
                let name = word.text.strip_prefix(UNKNOWN).and_then(|it| it.strip_suffix(END));
                name.is_some_and(|name| self.is_temporary(name, word.span.start))
            })
    }

    /// Whether a variable only ever contains the output of `mktemp`, and is assigned before `position` or used there in
    /// a trap.
    fn is_temporary(&self, name: &str, position: usize) -> bool {
        let trapped =
            self.commands.iter().any(|it| it.starts("trap") && it.span.contains(&position));
        let makes = |value: &Word| {
            let inner = value.inner.clone().and_then(|it| self.line_commands.get(it));
            value.text == OUTPUT && matches!(inner, Some([only]) if only.starts("mktemp"))
        };
        let mut set =
            self.line_commands.iter().flat_map(|it| &it.assignments).filter(|it| it.0 == name);
        let first = set.clone().next();
        // Any other mention of the variable could assign it.
        let named = self.line_commands.iter().flat_map(SimpleCommand::arguments).any(|word| {
            let rest = word.text.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '+', '[']))
        });
        let looped = self.script.loops.iter().any(|(it, _)| it == name);
        !named
            && !looped
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
            && first.is_some_and(|(_, value)| trapped || value.span.start < position)
            && set.all(|(_, value)| makes(value))
    }

    /// The calls of a program whose name contains, after a literal beginning, the variable of a loop over literal words.
    /// Empty for any other program.
    pub(super) fn looped_programs(&mut self, command: &SimpleCommand) -> Vec<SimpleCommand> {
        let plain =
            |text: &str| text.bytes().all(|it| it.is_ascii_alphanumeric() || b"._-".contains(&it));
        let Some(first) = command.words.first() else { return Vec::new() };
        let named = first.text.split_once(UNKNOWN).and_then(|(head, rest)| {
            let (name, tail) = rest.split_once(END)?;
            (!head.is_empty() && plain(head) && plain(tail)).then(|| name.to_owned())
        });
        let Some(name) = named else { return Vec::new() };
        let literal = |values: &[Word]| values.iter().all(|it| !it.glob && plain(&it.text));
        let looped = self.line_loops.iter().any(|(it, values)| *it == name && literal(values));
        let set = self.line_commands.iter().any(|it| it.assignments.iter().any(|it| it.0 == name));
        if !looped || set || self.input_variables.contains(&name) || first.inner.is_some() {
            return Vec::new();
        }
        let texts = self.resolve(&first.text, &first.span).unwrap_or_default();
        if texts.iter().any(|it| it.contains(UNKNOWN)) {
            return Vec::new();
        }
        let call = |text: String| SimpleCommand {
            assignments: Vec::new(),
            redirects: Vec::new(),
            ..command.calling(text)
        };
        texts.into_iter().map(call).collect()
    }

    /// Whether a program is named by a path outside the project and outside the usual folders of tools. A path that
    /// another command of the line names counts as created there.
    pub(super) fn runs_from_outside(&self, command: &SimpleCommand, program: &str) -> bool {
        const LOOK: &str = "ls cat file stat test [ chmod echo printf which head sha256sum";
        static TOOLS: LazyRegex = LazyRegex::new(
            r"^(~|/home/[\w.-]+|/Users/[\w.-]+|/root)/(\.(cargo|local|deno|bun|volta|poetry|dotnet/tools|composer/vendor|pub-cache|nimble|ghcup|cabal|mix/escripts|foundry|krew|rbenv|pyenv|asdf|nodenv|goenv|jenv)|go)/(bin|shims)?/?[\w.+-]+$|^~/\.(nvm|fnm|sdkman|asdf|pyenv|rbenv|rustup|virtualenvs|venvs?)/",
        );
        if !program.contains('/') {
            return false;
        }
        let path = path_kind::normalize(program, &self.folder);
        let tool = TOOLS.is_match(&path);
        // A wrapper contains the words of its inner command and does not count.
        let others = |it: &&SimpleCommand| it.span != command.span && !it.starts(LOOK);
        let others = self.script.commands.iter().filter(others);
        let made = others
            .flat_map(SimpleCommand::arguments)
            .any(|word| path_kind::normalize(&word.text, &self.folder) == path);
        // `../configure` is the configure step of an out-of-tree build.
        let prepares = program == "../configure" && !path.starts_with("../..");
        !tool
            && !made
            && !prepares
            && (is_elsewhere(&path, PathUse::LoadsCode) || is_elsewhere(&path, PathUse::Written))
    }

    /// Rates a shell that `find` runs for files outside the working folder, if its script writes.
    pub(super) fn rate_found_writes(&mut self, rest: &[Word], inner: &[Word]) {
        let Some(start) = self.starting_point(rest) else { return };
        let shell = inner.first().and_then(|it| program_of(&it.text));
        if !shell.is_some_and(|it| listed("sh bash dash zsh ksh ash", &it)) {
            return;
        }
        let Some(path) = self.outside_path(&start.text, PathUse::Written) else { return };
        let harmless = ["2>&1", ">&2", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null"];
        let writes = inner.iter().any(|word| {
            let known = harmless.iter().fold(word.text.clone(), |text, it| text.replace(it, ""));
            known.contains('>')
        });
        if writes {
            let reason = format!("Writes files outside the working folder: {path}.");
            self.add_danger("elsewhere", start.span(), &reason);
        }
    }

    /// Rates an option that makes a program run a file which the command line itself wrote.
    pub(super) fn rate_written_program(&mut self, command: &SimpleCommand) {
        const PARTS: &str = "prog command cmd exec editor pager shell filter script hook helper rsh wrapper launcher plugin \
            linker runner";
        if self.written_files.is_empty() {
            return;
        }
        let words = command.arguments();
        for (index, word) in words.iter().enumerate() {
            let before = before(words, index).map_or("", |it| it.text.as_str());
            let (option, value) = word.text.split_once('=').unwrap_or((before, &word.text));
            let named =
                option.starts_with("--") && PARTS.split(' ').any(|part| option.contains(part));
            let first = value.split(' ').next().unwrap_or_default();
            if named && self.written_files.contains(&path_kind::normalize(first, &self.folder)) {
                let reason = "Makes a program run a file that this command itself wrote.";
                self.add_danger("runs-fetched", word.span(), reason);
            }
        }
    }

    /// Rates the installation of a package whose name another command downloads.
    pub(super) fn rate_fetched_package(&mut self, command: &SimpleCommand, program: &str) {
        if !listed(INSTALLERS, program) {
            return;
        }
        let fetches =
            |it: &SimpleCommand| it.program().is_some_and(|it| listed("curl wget fetch http", &it));
        let inside = |word: &Word| word.inner.clone().map(|it| self.commands_in(it));
        let fetched = |word: &&Word| inside(word).unwrap_or_default().iter().any(fetches);
        if let Some(word) = command.arguments().iter().find(fetched) {
            let reason = "Installs a package whose name another command downloads.";
            self.add_danger("runs-fetched", word.span(), reason);
        }
    }
}
