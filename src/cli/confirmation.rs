//! Confirmations on the command line: answered by the flag `--confirm`, or by a person at the terminal.

use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::sync::{Mutex, PoisonError};

use clap::ValueEnum as _;

use super::args::Confirm;
use super::folded::{Folded, width_of};
use super::output::{QUOTE, name_in_line, quoted_in_line};
use super::refusal::Refusal;
use crate::engine::{ConfirmationCallback, Provenance};
use crate::plan::{quoted, quoted_lines};
use crate::risk::RiskLevel;
use crate::run::{AnsweredBy, ConfirmationRequest, Decision, Diff, LineKind, Preview};

#[cfg(test)]
mod tests;

/// Answers confirmations by `--confirm`.
#[derive(Debug)]
pub(super) struct CommandLine {
    confirm: Confirm,
    /// Whether there is a terminal to ask on.
    is_terminal: bool,
    /// The note that the evidence gets if the flag answers.
    note: String,
    /// Ends a question as soon as something can be read from it; `None` if nothing ends one.
    ends: Option<PipeReader>,
    /// The provenance of the latest decision.
    latest: Mutex<Option<Provenance>>,
}

impl CommandLine {
    /// Answers with `confirm`, the value of `--confirm`, or with its default.
    ///
    /// # Errors
    /// `--confirm ask` was given, and there is no terminal.
    pub(super) fn new(confirm: Option<Confirm>, is_terminal: bool) -> Result<Self, Refusal> {
        let note = match confirm {
            Some(Confirm::Ask) if !is_terminal => {
                return Err(Refusal::usage(
                    "--confirm ask needs a terminal to ask on",
                    "Run the command in a terminal, or use --confirm approve, skip or cancel.",
                ));
            }
            Some(confirm) => {
                let word = confirm.to_possible_value();
                format!("--confirm {}", word.as_ref().map_or("", |word| word.get_name()))
            }
            None => "no terminal to ask on".to_owned(),
        };
        let confirm = confirm.unwrap_or(Confirm::default_for(is_terminal));
        Ok(Self { confirm, is_terminal, note, ends: None, latest: Mutex::new(None) })
    }

    /// The same, with questions that end without an answer as soon as something can be read from `ends`.
    pub(super) fn ending_with(self, ends: PipeReader) -> Self {
        Self { ends: Some(ends), ..self }
    }

    /// The provenance of a decision that the flag made.
    fn flag(&self) -> Provenance {
        Provenance { by: AnsweredBy::CommandLine, note: self.note.clone() }
    }
}

impl ConfirmationCallback for CommandLine {
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision {
        let confirm = match self.confirm {
            Confirm::Caution if request.unwalled && request.risk.level <= RiskLevel::Caution => {
                Confirm::Approve
            }
            Confirm::Caution => Confirm::default_for(self.is_terminal),
            confirm => confirm,
        };
        let (decision, provenance) = match confirm {
            Confirm::Approve | Confirm::Caution => (Decision::Approve, self.flag()),
            Confirm::Skip => (Decision::Skip, self.flag()),
            Confirm::Cancel => (Decision::Cancel, self.flag()),
            Confirm::Ask => {
                discard_typed_input();
                let mut screen = Folded::new(io::stderr(), width_of(&io::stderr()));
                match &self.ends {
                    None => ask(request, &mut io::stdin().lock(), &mut screen),
                    Some(ends) => {
                        let mut input = BufReader::new(UntilEnd(ends));
                        ask(request, &mut input, &mut screen)
                    }
                }
            }
        };
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(provenance);
        decision
    }

    fn provenance(&self) -> Provenance {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.clone().unwrap_or_else(|| self.flag())
    }
}

/// The terminal, whose input ends as soon as something can be read from the pipe.
struct UntilEnd<'a>(&'a PipeReader);

impl Read for UntilEnd<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, poll};
        let stdin = io::stdin();
        let mut watched = [PollFd::new(self.0, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        loop {
            match poll(&mut watched, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) if watched.first().is_some_and(|it| !it.revents().is_empty()) => {
                    return Ok(0);
                }
                // Not through the buffer of the standard library, which would hide a line from the next poll.
                Ok(_) => return Ok(rustix::io::read(&stdin, buffer)?),
            }
        }
    }
}

/// Discards input that was typed before the question was shown.
fn discard_typed_input() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Asks at the terminal. Returns the decision with the person's reason. If nobody answers, the step is denied, and the
/// reason is not a person's.
fn ask(
    request: &ConfirmationRequest,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> (Decision, Provenance) {
    let unanswered = |why: &str| {
        (Decision::Cancel, Provenance { by: AnsweredBy::CommandLine, note: why.to_owned() })
    };
    match ask_until_answered(request, input, output) {
        Ok(Some((decision, note))) => (decision, Provenance { by: AnsweredBy::Terminal, note }),
        Ok(None) => unanswered("the input ended without an answer"),
        Err(_) => unanswered("the question could not be asked"),
    }
}

/// Repeats the question until there is a valid answer, and returns it with the reason that follows it in the line;
/// `None` at the end of the input.
fn ask_until_answered(
    request: &ConfirmationRequest,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<Option<(Decision, String)>> {
    show(request, output)?;
    let word = request.target_word();
    let (approve, question, words) = if request.guided {
        (
            "run",
            "Type run, done (you did it by hand), skip or deny, with a reason if you like: ",
            "four",
        )
    } else {
        ("approve", "Type approve, skip or deny, with a reason if you like: ", "three")
    };
    loop {
        write!(output, "{question}")?;
        output.flush()?;
        let Some(line) = read_word(input)? else { return Ok(None) };
        let (first, reason) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        let answered = |decision| Ok(Some((decision, reason.trim().to_owned())));
        match first {
            "skip" => return answered(Decision::Skip),
            "deny" => return answered(Decision::Cancel),
            "done" if request.guided => return answered(Decision::DoneByHand),
            // An approval is one word, so that a sentence that begins with it approves nothing.
            _ if line == approve && request.risk.level < RiskLevel::Dangerous => {
                return answered(Decision::Approve);
            }
            _ if line == approve => {
                write!(
                    output,
                    "The step is {}: to {approve} it takes {}. Type {} to {approve} it: ",
                    request.risk.level.as_str(),
                    request.target_meaning(),
                    quoted(&word)
                )?;
                output.flush()?;
                match read_word(input)? {
                    None => return Ok(None),
                    Some(typed) if request.names_target(&typed) => {
                        return answered(Decision::Approve);
                    }
                    Some(_) => {
                        writeln!(output, "That is not {}; nothing is approved.", quoted(&word))?
                    }
                }
            }
            _ => writeln!(output, "Please type one of the {words} words in full.")?,
        }
    }
}

/// Reads one line without surrounding space; `None` at the end of the input.
fn read_word(input: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    Ok((input.read_line(&mut line)? > 0).then(|| line.trim().to_owned()))
}

/// Prints everything that the step would do, untruncated.
fn show(request: &ConfirmationRequest, output: &mut dyn Write) -> io::Result<()> {
    let step = request.step_index + 1;
    writeln!(output)?;
    let (count, tool) = (request.step_count, quoted(&request.tool));
    if request.run_by_agent {
        writeln!(output, "May the agent run this by itself: {tool}?")?;
    } else if request.guided {
        writeln!(output, "Step {step} of {count}, {tool}: run it, or do it by hand?")?;
    } else {
        writeln!(output, "Execute step {step} of {count}: {tool}?")?;
    }
    for text in [&request.purpose, &request.explanation].into_iter().flatten() {
        writeln!(output, "{QUOTE}{}", quoted_in_line(text))?;
    }
    let level = request.risk.level.as_str();
    writeln!(output, "Risk: {level}. {}", quoted(&request.risk.reason))?;
    if let Some(suggestion) = &request.risk.suggestion {
        writeln!(output, "Safer: {}", quoted_in_line(suggestion))?;
    }
    if let Some(warning) = &request.warning {
        writeln!(output, "The plan warns: {}", quoted_in_line(warning))?;
    }
    if let Some(walls) = &request.walls {
        writeln!(output, "Walls: {}", quoted(&walls.to_string()))?;
    }
    writeln!(output, "You are asked because: {}", quoted(&request.why))?;
    if let Some(text) = request.skipping() {
        writeln!(output, "{text}")?;
    }
    if let Some(host) = request.host.as_ref().or(request.target.as_ref()) {
        writeln!(output, "On {}", quoted(host))?;
    }
    match request.run_by_agent {
        false => writeln!(output, "In {}, as {}", quoted(&request.cwd), quoted(&request.user))?,
        true => writeln!(output, "In {}", quoted(&request.cwd))?,
    }
    for (name, value) in &request.arguments {
        if value.contains('\n') {
            writeln!(output, "{}:", quoted(name))?;
            for line in quoted_lines(value).lines() {
                writeln!(output, "    {line}")?;
            }
        } else {
            // A name must not be mistaken for another one, and neither must a command.
            writeln!(output, "{}: {}", quoted(name), name_in_line(value))?;
        }
    }
    show_preview(&request.preview, output)
}

fn show_preview(preview: &Preview, output: &mut dyn Write) -> io::Result<()> {
    // One line each, even if a file name contains a line break.
    writeln!(output, "{}", quoted(&preview.summary))?;
    for note in preview.caveat().into_iter().chain(preview.notes.iter().map(String::as_str)) {
        writeln!(output, "{}", quoted_in_line(note))?;
    }
    for change in &preview.changes {
        writeln!(output, "File {}", name_in_line(&change.path))?;
        match &change.diff {
            Diff::Unchanged => writeln!(output, "    nothing would change")?,
            Diff::Binary { before_bytes, after_bytes } => {
                let size = |bytes: &Option<u64>| {
                    bytes.map_or_else(|| "absent".to_owned(), |bytes| format!("{bytes} bytes"))
                };
                let (now, after) = (size(before_bytes), size(after_bytes));
                writeln!(
                    output,
                    "    not text, or too large to compare: {now} now, {after} after"
                )?;
            }
            Diff::Text { lines, .. } => {
                for line in lines {
                    let sign = match line.kind {
                        LineKind::Context => ' ',
                        LineKind::Added => '+',
                        LineKind::Removed => '-',
                        LineKind::Gap => '…',
                    };
                    writeln!(output, "  {sign} {}", quoted(&line.text))?;
                    if line.missing_newline {
                        writeln!(output, "    (no line break at the end of the file)")?;
                    }
                }
            }
        }
    }
    Ok(())
}
