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
    /// Options that only sound so.
    harmless: String,
    strangers: Strangers,
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
    harmless: Regex,
}

/// What is asked of programs whose very name nobody knows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Strangers {
    /// Names with a destroying word in them.
    names: String,
    /// Names that tell of what administrators look after.
    about: String,
    options: String,
    words: String,
    /// Programs of developers, of which nothing of this is asked.
    tools: String,
    families: String,
    #[serde(skip)]
    compiled: Option<[Regex; 6]>,
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
            harmless: regex(&self.harmless)?,
        });
        let it = &self.strangers;
        let texts = [&it.names, &it.about, &it.options, &it.words, &it.tools, &it.families];
        let mut found = Vec::new();
        for text in texts {
            found.push(regex(text)?);
        }
        self.strangers.compiled = found.try_into().ok();
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
                && before().any(|text| {
                    compiled.option.is_match(text) && !compiled.harmless.is_match(text)
                }))
            || (operands().any(|text| compiled.remove.is_match(text))
                && before().any(|text| compiled.force.is_match(text)))
    }

    /// Whether a program that nobody knows at all gives any sign that it does more than read.
    pub(super) fn strange(&self, program: &str, arguments: &[(String, bool)]) -> bool {
        let Some([names, about, options, words, tools, families]) = &self.strangers.compiled else {
            return true;
        };
        // Words of another language, as those of SQL, are no programs.
        if program.bytes().all(|it| it.is_ascii_uppercase()) {
            return false;
        }
        // A script of the project is a file that can be read.
        if program.contains('/') || tools.is_match(program) || self.excepted(program) {
            return false;
        }
        let texts = || arguments.iter().map(|(text, _)| text.as_str());
        if texts().any(|text| self.compiled.as_ref().is_some_and(|it| it.dry.is_match(text))) {
            return false;
        }
        if names.is_match(program) {
            return true;
        }
        let reads = |text: &str| {
            matches!(text, "list" | "show" | "status" | "info" | "version" | "get" | "report")
        };
        let first = texts().find(|text| !text.starts_with('-'));
        if families.is_match(program) || first.is_some_and(reads) {
            return false;
        }
        (about.is_match(program) && !arguments.is_empty())
            || texts().any(|text| options.is_match(text))
            || texts()
                .filter(|text| !text.starts_with('-') || *text == "--")
                .take(3)
                .any(|text| words.is_match(text))
    }

    /// Whether a program is one of developers that no rule has to name.
    pub(super) fn is_tool(&self, program: &str) -> bool {
        let Some([.., tools, families]) = &self.strangers.compiled else { return false };
        tools.is_match(program) || families.is_match(program)
    }

    /// Whether a program is one of those that are named in the list, and not only named as they are.
    pub(super) fn names_tool(&self, program: &str) -> bool {
        self.strangers
            .compiled
            .as_ref()
            .is_some_and(|[.., tools, _]| !program.contains('/') && tools.is_match(program))
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
