//! Groups, conditions, loops and functions.

use super::parse::{Parsed, Parser};
use super::syntax::{Function, SimpleCommand, Word, unknown};

impl Parser<'_> {
    pub(super) fn compound(&mut self) -> Parsed<bool> {
        if self.rest().starts_with("((") && self.arithmetic_follows() {
            self.script.bash_only = true;
            self.at += 2;
            self.arithmetic("))")?;
        } else if self.take("(") {
            self.body()?;
            self.require(")", "a bracket without its end")?;
        } else if self.keyword("{") {
            self.body()?;
            self.expect("}")?;
        } else if self.keyword("[[") {
            self.script.bash_only = true;
            self.condition()?;
        } else if self.keyword("if") {
            self.body()?;
            self.expect("then")?;
            self.body()?;
            while self.keyword("elif") {
                self.body()?;
                self.expect("then")?;
                self.body()?;
            }
            if self.keyword("else") {
                self.body()?;
            }
            self.expect("fi")?;
        } else if self.keyword("while") || self.keyword("until") {
            let (start, first) = (self.at, self.script.commands.len());
            self.body()?;
            let body = self.script.commands.len();
            self.loop_body()?;
            self.endless(start, first..body);
        } else if self.keyword("for") || self.keyword("select") {
            let (start, first) = (self.at, self.script.commands.len());
            self.for_loop()?;
            self.flood(start, first);
        } else if self.keyword("case") {
            self.case()?;
        } else if self.keyword("function") {
            self.script.bash_only = true;
            self.blanks();
            let name = self.word()?.text;
            self.blanks();
            if self.take("(") {
                self.blanks();
                self.require(")", "a function without its body")?;
            }
            self.function(name)?;
        } else if self.keyword("coproc") {
            self.script.bash_only = true;
            self.blanks();
            let mark = self.at;
            let name = self.upcoming();
            self.at += name.len();
            self.blanks();
            if !(self.rest().starts_with('{') || self.rest().starts_with('(')) {
                self.at = mark;
            }
            let first = self.script.commands.len();
            self.command()?;
            // A coprocess reads what the rest of the script writes to it.
            self.feed(first, 0..0);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    pub(super) fn loop_body(&mut self) -> Parsed<()> {
        self.expect("do")?;
        self.body()?;
        self.expect("done")
    }

    /// Records a loop with a constant condition that starts a background process in each round.
    fn endless(&mut self, start: usize, condition: std::ops::Range<usize>) {
        let body = self.script.commands.get(condition.end..).unwrap_or_default();
        let condition = self.script.commands.get(condition).unwrap_or_default();
        let is_constant = |it: &SimpleCommand| {
            it.words.is_empty() || it.words.len() == 1 && it.starts("true : false")
        };
        if condition.iter().all(is_constant) && piles_up(body) {
            self.script.endless.push(start..self.at);
        }
    }

    /// Records a loop with a thousand or more rounds that starts background processes and waits for none.
    fn flood(&mut self, start: usize, first: usize) {
        let text = self.source.get(start..self.at).unwrap_or_default();
        let head = text.split_once("do").map_or(text, |(head, _)| head);
        let many = head.contains(";;")
            || head.split(|c: char| !c.is_ascii_digit()).any(|number| number.len() >= 4);
        let commands = self.script.commands.get(first..).unwrap_or_default();
        if many && piles_up(commands) {
            self.script.endless.push(start..self.at);
        }
    }

    pub(super) fn for_loop(&mut self) -> Parsed<()> {
        self.blanks();
        if self.take("((") {
            self.script.bash_only = true;
            self.arithmetic("))")?;
            self.blanks();
            self.take(";");
        } else {
            let name = self.word()?.text;
            self.lines()?;
            // Without `in`, the loop is over the positional parameters.
            let mut values = vec![Word::literal(&unknown("@"), 0..0)];
            if self.keyword("in") {
                values.clear();
                loop {
                    self.blanks();
                    if self.rest().is_empty() || self.rest().starts_with([';', '\n']) {
                        break;
                    }
                    values.extend(self.words()?);
                }
            }
            self.blanks();
            self.take(";");
            self.script.loops.push((name, values));
        }
        self.lines()?;
        if self.keyword("{") {
            self.body()?;
            return self.expect("}");
        }
        self.loop_body()
    }

    pub(super) fn case(&mut self) -> Parsed<()> {
        self.blanks();
        self.word()?;
        self.expect("in")?;
        loop {
            self.lines()?;
            if self.keyword("esac") {
                return Ok(());
            }
            self.take("(");
            loop {
                self.blanks();
                self.word()?;
                self.blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.require(")", "a case without its patterns")?;
            self.list()?;
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) {
                self.expect("esac")?;
                return Ok(());
            }
        }
    }

    pub(super) fn function(&mut self, name: String) -> Parsed<()> {
        self.lines()?;
        let start = self.at;
        let first = self.script.commands.len();
        self.command()?;
        let body = first..self.script.commands.len();
        self.script.functions.push(Function { name, body, span: start..self.at });
        Ok(())
    }
}

/// Whether commands start background processes without waiting for any.
fn piles_up(commands: &[SimpleCommand]) -> bool {
    // A sleep in the background does not slow the loop down.
    let waits = |it: &SimpleCommand| !it.background && it.starts("wait sleep read break");
    commands.iter().any(|it| it.background) && !commands.iter().any(waits)
}
