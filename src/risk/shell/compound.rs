//! Groups, conditions, loops and functions.

use super::parse::{Parsed, Parser};
use super::syntax::{Function, unknown};
use super::{SimpleCommand, Word};

impl Parser<'_> {
    pub(super) fn compound(&mut self) -> Parsed<bool> {
        if self.rest().starts_with("((") && self.arithmetic_follows() {
            self.script.bash_only = true;
            self.position += 2;
            self.arithmetic("))")?;
        } else if self.take("(") {
            self.body()?;
            self.require(")", "a bracket without its end")?;
        } else if self.take_keyword("{") {
            self.body()?;
            self.expect_keyword("}")?;
        } else if self.take_keyword("[[") {
            self.script.bash_only = true;
            self.condition()?;
        } else if self.take_keyword("if") {
            self.body()?;
            self.expect_keyword("then")?;
            self.body()?;
            while self.take_keyword("elif") {
                self.body()?;
                self.expect_keyword("then")?;
                self.body()?;
            }
            if self.take_keyword("else") {
                self.body()?;
            }
            self.expect_keyword("fi")?;
        } else if self.take_keyword("while") || self.take_keyword("until") {
            let (start, first) = (self.position, self.script.commands.len());
            self.body()?;
            let body = self.script.commands.len();
            self.loop_body()?;
            self.record_endless_loop(start, first..body);
        } else if self.take_keyword("for") || self.take_keyword("select") {
            let (start, first) = (self.position, self.script.commands.len());
            self.for_loop()?;
            self.record_long_loop(start, first);
        } else if self.take_keyword("case") {
            self.case()?;
        } else if self.take_keyword("function") {
            self.script.bash_only = true;
            self.skip_blanks();
            let name = self.word()?.text;
            self.skip_blanks();
            if self.take("(") {
                self.skip_blanks();
                self.require(")", "a function without its body")?;
            }
            self.function(name)?;
        } else if self.take_keyword("coproc") {
            self.script.bash_only = true;
            self.skip_blanks();
            let mark = self.position;
            let name = self.next_word();
            self.position += name.len();
            self.skip_blanks();
            if !(self.rest().starts_with('{') || self.rest().starts_with('(')) {
                self.position = mark;
            }
            let first = self.script.commands.len();
            self.command()?;
            // A coprocess reads what the rest of the script writes to it.
            self.set_input(first, 0..0);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    pub(super) fn loop_body(&mut self) -> Parsed<()> {
        self.expect_keyword("do")?;
        self.body()?;
        self.expect_keyword("done")
    }

    /// Records a loop with a constant condition that starts a background process in each round.
    fn record_endless_loop(&mut self, start: usize, condition: std::ops::Range<usize>) {
        let body = self.script.commands.get(condition.end..).unwrap_or_default();
        let condition = self.script.commands.get(condition).unwrap_or_default();
        let is_constant = |it: &SimpleCommand| {
            it.words.is_empty() || it.words.len() == 1 && it.starts("true : false")
        };
        if condition.iter().all(is_constant) && starts_unawaited_processes(body) {
            self.script.endless.push(start..self.position);
        }
    }

    /// Records a loop with a thousand or more rounds that starts background processes and waits for none.
    fn record_long_loop(&mut self, start: usize, first: usize) {
        let text = self.source.get(start..self.position).unwrap_or_default();
        let head = text.split_once("do").map_or(text, |(head, _)| head);
        let many = head.contains(";;")
            || head.split(|c: char| !c.is_ascii_digit()).any(|number| number.len() >= 4);
        let commands = self.script.commands.get(first..).unwrap_or_default();
        if many && starts_unawaited_processes(commands) {
            self.script.endless.push(start..self.position);
        }
    }

    pub(super) fn for_loop(&mut self) -> Parsed<()> {
        self.skip_blanks();
        if self.take("((") {
            self.script.bash_only = true;
            self.arithmetic("))")?;
            self.skip_blanks();
            self.take(";");
        } else {
            let name = self.word()?.text;
            self.skip_lines()?;
            // Without `in`, the loop is over the positional parameters.
            let mut values = vec![Word::literal(&unknown("@"), 0..0)];
            if self.take_keyword("in") {
                values.clear();
                loop {
                    self.skip_blanks();
                    if self.rest().is_empty() || self.rest().starts_with([';', '\n']) {
                        break;
                    }
                    values.extend(self.words()?);
                }
            }
            self.skip_blanks();
            self.take(";");
            self.script.loops.push((name, values));
        }
        self.skip_lines()?;
        if self.take_keyword("{") {
            self.body()?;
            return self.expect_keyword("}");
        }
        self.loop_body()
    }

    pub(super) fn case(&mut self) -> Parsed<()> {
        self.skip_blanks();
        self.word()?;
        self.expect_keyword("in")?;
        loop {
            self.skip_lines()?;
            if self.take_keyword("esac") {
                return Ok(());
            }
            self.take("(");
            loop {
                self.skip_blanks();
                self.word()?;
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.require(")", "a case without its patterns")?;
            self.list()?;
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) {
                self.expect_keyword("esac")?;
                return Ok(());
            }
        }
    }

    pub(super) fn function(&mut self, name: String) -> Parsed<()> {
        self.skip_lines()?;
        let start = self.position;
        let first = self.script.commands.len();
        self.command()?;
        let body = first..self.script.commands.len();
        self.script.functions.push(Function { name, body, span: start..self.position });
        Ok(())
    }
}

/// Whether commands start background processes without waiting for any.
fn starts_unawaited_processes(commands: &[SimpleCommand]) -> bool {
    // A sleep in the background does not slow the loop down.
    let waits = |it: &SimpleCommand| !it.background && it.starts("wait sleep read break");
    commands.iter().any(|it| it.background) && !commands.iter().any(waits)
}
