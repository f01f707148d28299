//! Shells and interpreters of other languages, which run a script, a file, or their input.

use std::ops::Range;

use super::classifier::Classifier;
use super::debugger::{debugged, inspects, is_debugger};
use super::listed::listed;
use super::parse::parse;
use super::rating::Rating;
use super::syntax::{END, UNKNOWN, before};
use super::table::Wrapper;
use super::wrapper_words::{command_value, takes_next_word};
use super::{SimpleCommand, Word, harmless_forms};

/// Modules of Python that run their input as code.
const READ_CODE: &str = "code asyncio IPython bpython ptpython pdb idlelib sqlite3 xonsh";

impl Classifier<'_> {
    /// Rates a call of a shell by its script, the value of `-c`, or its input.
    pub(super) fn rate_shell(
        &mut self,
        context: &SimpleCommand,
        wrapper: &Wrapper,
        rest: &[Word],
        depth: usize,
    ) {
        let mut index = 0;
        while let Some(word) = rest.get(index) {
            let text = word.text.as_str();
            index += 1;
            if text == "-" || text == "--" || text.starts_with('+') {
                continue;
            }
            if !text.starts_with('-') {
                if text.starts_with('<')
                    || text.starts_with("/dev/stdin")
                    || text.starts_with("/dev/fd")
                {
                    self.add_runs_output(word.span());
                } else {
                    self.rate_run_file(word);
                    let arguments = self.expand_arguments(rest.get(index..).unwrap_or_default());
                    self.rate_outside_path(context, "", &arguments, word.span());
                    let checks = rest.iter().any(|word| word.text == "-n");
                    if !checks && word.text.starts_with(UNKNOWN) && word.text.ends_with(END) {
                        let reason =
                            "The script is named by a variable or by the output of a command.";
                        self.add_danger("hidden-script", word.span(), reason);
                    }
                    self.add_caution("runs-script", word.span(), "Runs a script.");
                }
                return;
            }
            if !text.starts_with("--") && text.contains('c') {
                let code = rest.get(index).filter(|code| !code.text.starts_with('-'));
                let Some(code) = code.or_else(|| rest.get(index + 1)) else { return };
                let plain = context.program().is_some_and(|name| listed("sh dash ash", &name));
                if plain && parse(&code.text, depth).is_ok_and(|script| script.bash_only) {
                    let reason = "Only bash interprets this as it was checked; another shell may run something else.";
                    self.add_danger("not-posix", code.span(), reason);
                }
                return self.rate_text(&code.text, code, context, depth);
            }
            if text == "-s" {
                break;
            }
            if takes_next_word(text, &wrapper.values) {
                index += 1;
            }
        }
        self.rate_shell_input(context, depth);
    }

    /// Rates a shell that reads commands from its input.
    pub(super) fn rate_shell_input(&mut self, context: &SimpleCommand, depth: usize) {
        let (text, fed) = self.known_input(context);
        match text {
            Some(text) if !text.is_empty() => {
                let word = Word::literal(&text, context.span());
                let bare = SimpleCommand { redirects: Vec::new(), input: None, ..context.clone() };
                self.rate_text(&text, &word, &bare, depth);
            }
            _ if fed && (context.input.is_some() || reads_output(context)) => {
                self.add_runs_output(context.span());
            }
            _ if context.raised => {
                let reason = "Starts a shell with raised privileges, which accepts any command.";
                self.add_danger("root-shell", context.span(), reason);
            }
            _ => self.add_caution("starts-shell", context.span(), "Starts a shell."),
        }
    }

    /// Rates a call of an interpreter by its code, module or input. Returns what [`Self::rate_inner_commands`] does.
    pub(super) fn rate_interpreter(
        &mut self,
        context: &SimpleCommand,
        wrapper: &Wrapper,
        program: &str,
        rest: &[Word],
        depth: usize,
    ) -> bool {
        if matches!(program, "gdb" | "lldb")
            && let Some(inner) = debugged(rest)
        {
            self.add_rating(context, program, harmless_forms::debug_rating());
            let words = rest.get(inner..).unwrap_or_default().to_vec();
            let inner = SimpleCommand { words, redirects: Vec::new(), ..context.clone() };
            if !inner.words.is_empty() {
                self.rate_command(&inner, depth + 1);
            }
            return true;
        }
        if is_debugger(program) && !context.raised && inspects(rest) {
            self.add_rating(context, program, harmless_forms::debug_rating());
            return true;
        }
        let mut index = 0;
        while let Some(word) = rest.get(index) {
            let text = word.text.as_str();
            index += 1;
            // Deno takes code after the subcommand `eval`, not after an option.
            if program == "deno" && index == 1 && text == "eval" {
                continue;
            }
            let code = if program == "deno" && rest.first().is_some_and(|it| it.text == "eval") {
                (!text.starts_with('-')).then(|| (text.to_owned(), false))
            } else {
                command_value(text, rest.get(index), wrapper)
            };
            if let Some((code, used)) = code {
                let holder = rest.get(index).filter(|_| used).unwrap_or(word);
                let code = Word { text: code, ..holder.clone() };
                let before = rest.get(..index - usize::from(!used)).unwrap_or_default();
                let after = rest.get(index + usize::from(used)..).unwrap_or_default();
                let computes = self.only_computes(program, before, &code, after);
                self.rate_inline_code(context, program, computes);
                return true;
            }
            if takes_next_word(text, &wrapper.values) {
                index += 1;
                continue;
            }
            if text == "-" {
                if self.rate_script_file(context) {
                    return false;
                }
                let before = rest.get(..index - 1).unwrap_or_default();
                let computes = self.fed_code_computes(context, program, before);
                self.rate_inline_code(context, program, computes);
                return true;
            }
            if !text.starts_with('-') {
                if text.starts_with('<') || text.starts_with("/dev/stdin") {
                    self.add_runs_output(word.span());
                }
                // After a long option this word may be its value, and an option with code may follow.
                let long = before(rest, index - 1)
                    .is_some_and(|it| it.text.starts_with("--") && !it.text.contains('='));
                let code =
                    |it: &Word| it.text.starts_with("--e") && wrapper.scripts.contains(&it.text);
                if long && rest.iter().skip(index).any(code) {
                    self.rate_inline_code(context, program, false);
                    return true;
                }
                return false;
            }
            // A module that is a program is rated as that program, too.
            let glued =
                text.strip_prefix("-m").filter(|_| program.starts_with("py") && text.len() > 2);
            if (text == "-m" && rest.get(index).is_some()) || glued.is_some() {
                let module = glued.map(|name| Word::literal(name, word.span()));
                let words = module
                    .into_iter()
                    .chain(rest.get(index..).unwrap_or_default().iter().cloned())
                    .collect();
                let module = SimpleCommand { words, ..context.clone() };
                let name = module.words.first().map(|word| word.text.as_str()).unwrap_or_default();
                let (read, fed) = self.known_input(context);
                if listed(READ_CODE, name) && (read.is_some() || fed) {
                    self.rate_inline_code(context, program, false);
                    return true;
                }
                self.rate_command(&module, depth + 1);
                return false;
            }
            if matches!(text, "-m" | "--version" | "-V" | "-v" | "--help" | "-l" | "--test") {
                return false;
            }
        }
        let (read, fed) = self.known_input(context);
        if (read.is_some() || fed) && !self.rate_script_file(context) {
            let computes = self.fed_code_computes(context, program, rest);
            self.rate_inline_code(context, program, computes);
        }
        false
    }

    fn add_runs_output(&mut self, span: Range<usize>) {
        self.add_danger("runs-output", span, "Runs the output of another command.");
    }

    /// Rates code that an interpreter takes from the command line or its input.
    fn rate_inline_code(&mut self, context: &SimpleCommand, program: &str, computes: bool) {
        let reason =
            "Runs code from the command line or from the input, and its effects are not known.";
        let rating = match computes {
            true => harmless_forms::compute_rating(),
            false => Rating::dangerous("inline-code", reason)
                .with_safer("Put the code into a file that can be reviewed first."),
        };
        self.add_rating(context, program, rating);
    }

    /// Whether the input is code from the command line that only computes and prints.
    fn fed_code_computes(
        &mut self,
        context: &SimpleCommand,
        program: &str,
        options: &[Word],
    ) -> bool {
        let (Some(text), _) = self.known_input(context) else { return false };
        let code = Word::literal(&text, context.span());
        context.input.is_none() && self.only_computes(program, options, &code, &[])
    }

    /// Rates the file that a redirection of the input names, as if it were an operand. Returns whether the code comes
    /// from such a file.
    fn rate_script_file(&mut self, context: &SimpleCommand) -> bool {
        let file = context.redirects.iter().rev().find(|redirect| redirect.operator == "<");
        let Some(file) = file.filter(|file| !file.target.has_unknown() && context.input.is_none())
        else {
            return false;
        };
        self.rate_run_file(&file.target.clone());
        file.target.inner.is_none() && !file.target.text.starts_with("/dev/")
    }
}

/// Whether the input is redirected from a process substitution, as in `< <(..)`, or from an unknown file.
fn reads_output(context: &SimpleCommand) -> bool {
    context.redirects.iter().any(|redirect| {
        redirect.operator == "<"
            && (redirect.target.inner.is_some() || redirect.target.has_unknown())
    })
}
