//! What programs that no rule knows say about themselves: by their names, subcommands and options.

use regex::Regex;
use serde::Deserialize;

/// Words by which a program that no rule knows says that it destroys, or runs something.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verbs {
    words: String,
    options: String,
    /// Words that only destroy beside an option that switches questions off.
    removes: String,
    forced: String,
    /// Options with which nothing is done.
    dry: String,
    /// Names of programs.
    names: String,
    /// Words before a text that is a command.
    runs: String,
    /// Programs whose operands are names, not what to do.
    except: Vec<String>,
    #[serde(skip)]
    compiled: Option<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    word: Regex,
    option: Regex,
    remove: Regex,
    force: Regex,
    dry: Regex,
    name: Regex,
    run: Regex,
}

impl Verbs {
    pub(super) fn compile(&mut self) -> Result<(), String> {
        let regex = |text: &str| Regex::new(text).map_err(|error| format!("{text}: {error}"));
        self.compiled = Some(Compiled {
            word: regex(&self.words)?,
            option: regex(&self.options)?,
            remove: regex(&self.removes)?,
            force: regex(&self.forced)?,
            dry: regex(&self.dry)?,
            name: regex(&self.names)?,
            run: regex(&self.runs)?,
        });
        Ok(())
    }

    /// Whether its name, one of its first operands, or an option says that the program destroys.
    pub(super) fn say(&self, program: &str, arguments: &[(String, bool)]) -> bool {
        let Some(compiled) = &self.compiled else { return true };
        if self.excepted(program) {
            return false;
        }
        let name = program.rsplit('/').next().unwrap_or(program);
        let before =
            || arguments.iter().map(|(text, _)| text.as_str()).take_while(|text| *text != "--");
        if before().any(|text| compiled.dry.is_match(text)) {
            return false;
        }
        let operands = || before().filter(|text| !text.starts_with('-')).take(5);
        compiled.name.is_match(name)
            || operands().any(|text| compiled.word.is_match(text))
            // The options of a program of the project have their own meaning.
            || (!program.contains('/')
                && !program.contains('.')
                && before().any(|text| compiled.option.is_match(text)))
            || (operands().any(|text| compiled.remove.is_match(text))
                && before().any(|text| compiled.force.is_match(text)))
    }

    /// Whether the operands of a program are names of other things.
    pub(super) fn excepted(&self, program: &str) -> bool {
        self.except.iter().any(|name| name == program)
    }

    /// Whether a text that follows this word is a command.
    pub(super) fn runs(&self, word: &str) -> bool {
        self.compiled.as_ref().is_none_or(|compiled| compiled.run.is_match(word))
    }
}
