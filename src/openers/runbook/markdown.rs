//! A Markdown text with blocks of commands. The headings and paragraphs above a block explain it.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::looks_back::looks_back;
use super::state::State;
use super::{Block, at};
use crate::openers::written::Commands;
use crate::plan::{Finding, Mode, Severity, limits};

/// The words behind a fence that name commands for bash, and those of sessions with prompts and output.
const SHELLS: [&str; 4] = ["bash", "sh", "shell", "zsh"];
const SESSIONS: [&str; 4] = ["console", "shell-session", "shellsession", "sh-session"];
/// In front of a command in a session.
const PROMPT: &str = "$ ";

/// Whether a line begins a block of commands.
pub(in crate::openers) fn is_fence_of_commands(line: &str) -> bool {
    let is_in_front = |it: char| " \t>-*+.".contains(it) || it.is_ascii_digit();
    let line = line.trim_start_matches(is_in_front);
    let fence = line.trim_start_matches(['`', '~']);
    line.len() - fence.len() >= 3 && is_one_of(&SHELLS, fence)
        || is_one_of(&SESSIONS, fence) && fence != line
}

/// Whether the first word behind a fence is one of these.
fn is_one_of(words: &[&str], info: &str) -> bool {
    words.iter().any(|word| language(info).eq_ignore_ascii_case(word))
}

fn language(info: &str) -> &str {
    info.trim_start_matches([' ', '{', '.'])
        .split([' ', '\t', ',', '{', '}'])
        .next()
        .unwrap_or_default()
}

/// The steps of a text.
///
/// # Errors
/// An error for each block that cannot be a step.
pub(in crate::openers) fn commands(text: &str) -> Result<Commands, Vec<Finding>> {
    let Read { title, blocks, findings, mut errors, .. } = Read::of(text);
    let mut made = Commands { title, mode: Mode::Guided, findings, ..Commands::default() };
    if blocks.len() > limits::STEPS {
        let message =
            format!("{} commands are more than a plan can have: {}", blocks.len(), limits::STEPS);
        return Err(vec![at(1, Severity::Error, message)]);
    }
    let (mut state, mut size) = (State::default(), 0);
    for (index, block) in blocks.iter().enumerate() {
        if !block.shell.is_empty() && !state.is_empty() {
            let message = "blocks above change the shell, and this one is for another shell";
            errors.push(at(block.line, Severity::Error, message));
        }
        if let Some(name) = looks_back(&block.code).filter(|_| index > 0) {
            let message = format!(
                "{name} is about the commands above this block, and each step of a plan has a shell of its own: join the two"
            );
            errors.push(at(block.line, Severity::Error, message));
        }
        size += state.text().len() + block.code.len();
        if size > limits::PLAN_BYTES {
            let message =
                "what blocks change in the shell is too much to be repeated for each block below";
            return Err(vec![at(block.line, Severity::Error, message)]);
        }
        made.commands.push(block.step(state.text()));
        if index + 1 < blocks.len()
            && let Err((line, message)) = state.add(&block.code)
        {
            errors.push(at(block.line + line, Severity::Error, message));
        }
        if errors.len() > limits::FINDINGS {
            break;
        }
    }
    if !state.is_empty() {
        let message = "what blocks change in the shell is repeated at the beginning of those below";
        made.findings.push(at(1, Severity::Note, message));
    }
    if errors.is_empty() { Ok(made) } else { Err(errors) }
}

/// What is read of a text.
#[derive(Default)]
struct Read {
    /// The first heading.
    title: Option<String>,
    blocks: Vec<Block>,
    findings: Vec<Finding>,
    errors: Vec<Finding>,
    /// The heading above, and the text since the heading or block above.
    heading: Option<String>,
    text: String,
}

impl Read {
    fn of(text: &str) -> Self {
        let mut read = Self::default();
        // The block that is being read: its line, what stands behind its fence, and its text.
        let mut block: Option<(usize, String, String)> = None;
        let (mut counted, mut line) = (0, 1);
        let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
            | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            // Offsets only grow where blocks begin, so that each byte is looked at once.
            if matches!(event, Event::Start(Tag::CodeBlock(_))) {
                line += text.get(counted..range.start).unwrap_or_default().matches('\n').count();
                counted = counted.max(range.start);
            }
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    block = Some((line + 1, info.into_string(), String::new()));
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                    block = Some((line, String::new(), String::new()));
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some((line, info, code)) = block.take() {
                        read.add(line, &info, &code);
                    }
                }
                Event::Start(Tag::Heading { .. }) | Event::End(TagEnd::MetadataBlock(_)) => {
                    read.text.clear();
                }
                Event::End(TagEnd::Heading(_)) => {
                    let heading = read.text.trim().to_owned();
                    read.title.get_or_insert_with(|| heading.clone());
                    read.heading = Some(heading);
                    read.text.clear();
                }
                Event::Text(piece) | Event::Code(piece) => match &mut block {
                    Some((_, _, code)) => code.push_str(&piece),
                    None => read.text.push_str(&piece),
                },
                Event::SoftBreak | Event::HardBreak => read.text.push('\n'),
                Event::End(
                    TagEnd::Paragraph | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead,
                ) => {
                    read.text.truncate(read.text.trim_end().len());
                    read.text.push('\n');
                }
                _ => {}
            }
        }
        read
    }

    fn add(&mut self, line: usize, info: &str, code: &str) {
        let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let is_session = is_one_of(&SESSIONS, info)
            // A command is never called `$`.
            || is_one_of(&SHELLS, info) && first.trim_start().starts_with(PROMPT);
        let text = std::mem::take(&mut self.text).trim().to_owned();
        let of = |line, code: String, text| Block {
            line,
            shell: if is_one_of(&["zsh"], info) { "zsh" } else { "" },
            code,
            title: self.heading.clone(),
            text,
            expected_output: None,
        };
        if is_session {
            let mut blocks: Vec<Block> = Vec::new();
            for (index, text_line) in code.lines().enumerate() {
                let command = text_line.trim_start().strip_prefix(PROMPT);
                match (command, blocks.last_mut()) {
                    (Some(_), Some(block))
                        if block.expected_output.is_none() && is_open(&block.code) =>
                    {
                        let message = "a command begins before the one above ends";
                        self.errors.push(at(line + index, Severity::Error, message));
                    }
                    (Some(command), _) => {
                        let text = if blocks.is_empty() { text.clone() } else { String::new() };
                        blocks.push(of(line + index, command.to_owned(), text));
                    }
                    (None, None) if text_line.trim().is_empty() => {}
                    (None, None) => self.findings.push(at(
                        line + index,
                        Severity::Warning,
                        format!(
                            "left out: before the first line with `{PROMPT}`, nothing is a command"
                        ),
                    )),
                    (None, Some(block)) => {
                        let is_open = block.expected_output.is_none() && is_open(&block.code);
                        match text_line.trim_start().strip_prefix("> ") {
                            // The lines of a command that goes on.
                            Some(more) if is_open => {
                                block.code.push('\n');
                                block.code.push_str(more);
                            }
                            _ if is_open => {
                                let message =
                                    "the command above goes on, and its next line begins with `> `";
                                self.errors.push(at(line + index, Severity::Error, message));
                            }
                            _ => {
                                if has_prompt(text_line) {
                                    let message = "a line that looks like a command behind another prompt than `$ `: \
                                                   join it, or take it out";
                                    self.errors.push(at(line + index, Severity::Error, message));
                                }
                                if !is_one_of(&SESSIONS, info) && block.expected_output.is_none() {
                                    let message = "taken for the output of the command above, as it has no `$ `";
                                    self.findings.push(at(
                                        line + index,
                                        Severity::Warning,
                                        message,
                                    ));
                                }
                                let output = block.expected_output.get_or_insert_default();
                                output.push_str(text_line);
                                output.push('\n');
                            }
                        }
                    }
                }
            }
            self.blocks.append(&mut blocks);
        } else if is_one_of(&SHELLS, info) && !first.is_empty() {
            self.blocks.push(of(line, code.trim_end().to_owned(), text));
        } else {
            let (severity, what) = match language(info) {
                "" => (Severity::Note, "a block that does not say what it is".to_owned()),
                language => (Severity::Warning, format!("a block of {language}")),
            };
            self.findings.push(at(line, severity, format!("left out: {what}")));
        }
    }
}

/// Whether a command goes on in the next line.
fn is_open(code: &str) -> bool {
    let last = code.trim_end();
    let is_odd = |quote| code.matches(quote).count() % 2 == 1;
    let last_word = last.split_whitespace().next_back().unwrap_or_default();
    ["\\", "|", "&&", "(", "{"].into_iter().any(|end| last.ends_with(end))
        || ["do", "then", "else", "in"].contains(&last_word)
        || is_odd('\'')
        || is_odd('"')
        || code.contains("<<")
}

/// Whether a line looks like a command behind the prompt of another user or program: `# `, `>>> `, `mysql> `.
fn has_prompt(line: &str) -> bool {
    let Some((prompt, rest)) = line.trim_start().split_once(' ') else { return false };
    // It begins a line that goes on, which was looked at before, and many lines of output.
    if prompt == ">" {
        return false;
    }
    // `/ # rm x`, with the folder in front.
    let second = rest.split_whitespace().next().unwrap_or_default();
    if ["#", "$", "%", ">", ">>>"].contains(&second) && rest.trim() != second {
        return true;
    }
    let name = prompt.trim_end_matches(['>', '#', '$', '%']);
    let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || "_-=@:~/.[]()".contains(it));
    name.len() < prompt.len() && is_name && !rest.trim().is_empty()
}
