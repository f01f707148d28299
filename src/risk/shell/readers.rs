//! Read-only calls (SPEC §7.1): a call is safe only if `readers.toml` lists its program and allows every option and
//! operand.

mod awk;
mod entries;
mod find;
mod sed;
mod test;

use super::listed::listed;
use super::path_kind;
use super::syntax::{END, OUTPUT, UNKNOWN};
pub(super) use entries::Argument;
pub(in crate::risk) use entries::TEXT;
use entries::{ENTRIES, Entries, Entry, Language, Operands, Takes, split_value};

/// The effect of a call according to `readers.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallEffect {
    /// The call only reads.
    ReadsOnly,
    /// The call only reads, but in it git runs what the settings of the repository name.
    AsksGit,
    /// The call only reads, but its program first loads this from the working folder.
    Loads(&'static str),
    /// An option or operand is not listed.
    Unlisted,
    /// An option or a script writes, runs or sends something.
    Harmful,
}

/// The effect of a call; `None` if the program, or this subcommand, is not listed. Every call is harmful if the table
/// cannot be read.
pub(super) fn check(program: &str, arguments: &[Argument]) -> Option<CallEffect> {
    let Ok(readers) = ENTRIES.as_ref() else { return Some(CallEffect::Harmful) };
    let mut worst = None;
    for (reader, subcommands) in readers.of(program) {
        // Other subcommands may have entries of their own.
        let Some(rest) = readers.subcommand(program, subcommands, arguments) else { continue };
        // Several entries can describe a program. An entry that allows the call decides; otherwise the worst effect
        // counts.
        let effect = reader.effect(rest);
        if effect == CallEffect::ReadsOnly {
            return Some(match () {
                () if reader.repository => CallEffect::AsksGit,
                () if reader.loads.is_empty() => effect,
                () => CallEffect::Loads(&reader.loads),
            });
        }
        worst = worst.max(Some(effect));
    }
    worst
}

/// Whether a program loads nothing from the working folder before it prints help or a version.
pub(super) fn loads_nothing_for_help(program: &str) -> bool {
    let listed =
        |entries: &Entries| entries.help.programs.split_whitespace().any(|it| it == program);
    ENTRIES.as_ref().is_ok_and(listed)
}

/// The options and operands of a call.
#[derive(Default)]
pub(super) struct ParsedArguments<'a> {
    /// The names of options without a value, without their dashes.
    pub(super) flags: Vec<String>,
    /// The names of options with their values.
    pub(super) values: Vec<(String, &'a str)>,
    pub(super) operands: Vec<Argument<'a>>,
}

impl<'a> ParsedArguments<'a> {
    /// Adds an option with its value: the attached one, or the next word. Returns whether the value is the next word;
    /// `None` if there is no known value.
    fn value(
        &mut self,
        name: &str,
        glued: Option<&'a str>,
        next: Option<&Argument<'a>>,
    ) -> Option<bool> {
        let next = next.filter(|next| is_known(next.text)).map(|next| next.text);
        self.values.push((name.to_owned(), glued.or(next)?));
        Some(glued.is_none())
    }

    /// The scripts in the values of these options, or else the first operand; and the effect of the other operands.
    /// `None` without a script.
    fn scripts(&self, options: [&str; 2]) -> Option<(Vec<&'a str>, CallEffect)> {
        let given = self.values.iter().filter(|(name, _)| options.contains(&name.as_str()));
        let mut scripts: Vec<&str> = given.map(|(_, value)| *value).collect();
        let mut operands = self.operands.iter();
        if scripts.is_empty() {
            scripts.push(operands.next()?.text);
        }
        let known = operands.all(is_operand);
        Some((scripts, if known { CallEffect::ReadsOnly } else { CallEffect::Unlisted }))
    }
}

impl Entry {
    fn effect(&self, arguments: &[Argument]) -> CallEffect {
        match self.language {
            Some(Language::Find) => return find::effect(arguments),
            Some(Language::Test) => return test::effect(arguments),
            _ => {}
        }
        let mut effect = CallEffect::ReadsOnly;
        let parsed = self.parse(arguments, &mut effect);
        effect = effect.max(match self.language {
            Some(Language::Sed) => sed::effect(&parsed),
            Some(Language::Awk) => awk::effect(&parsed),
            _ => self.operands_of(&parsed.operands),
        });
        effect
    }

    fn operands_of(&self, operands: &[Argument]) -> CallEffect {
        let fits = |argument: &Argument| match self.operands {
            Operands::None => false,
            Operands::Any => true,
            Operands::Known => {
                is_known(argument.text)
                    && !(argument.glob && !self.harm.is_empty() && may_become_option(argument.text))
            }
            Operands::Word => !argument.glob && is_word(argument.text),
        };
        let number = operands.len();
        let is_allowed_number = number >= self.least && self.most.is_none_or(|most| number <= most);
        let matches = |argument: &Argument| {
            self.only.as_ref().is_none_or(|only| only.is_match(argument.text))
        };
        if is_allowed_number && operands.iter().all(fits) && operands.iter().all(matches) {
            CallEffect::ReadsOnly
        } else {
            CallEffect::Unlisted
        }
    }

    /// Splits arguments like `getopt`. Anything that is not listed raises the effect.
    fn parse<'a>(
        &self,
        arguments: &[Argument<'a>],
        effect: &mut CallEffect,
    ) -> ParsedArguments<'a> {
        let mut parsed = ParsedArguments::default();
        let mut index = 0;
        while let Some(argument) = arguments.get(index) {
            index += 1;
            let text = argument.text;
            if text == "--" {
                parsed.operands.extend(arguments.get(index..).unwrap_or_default());
                break;
            }
            if !text.starts_with('-') || text == "-" {
                parsed.operands.push(*argument);
                continue;
            }
            if self.operands == Operands::Any && self.options.is_empty() && self.short.is_empty() {
                parsed.operands.push(*argument);
                continue;
            }
            let next = arguments.get(index);
            match self.option(text, next, &mut parsed) {
                Some(used) => index += usize::from(used),
                None => *effect = (*effect).max(self.unlisted(text, next)),
            }
        }
        parsed
    }

    /// The effect of an option that is not listed: harmful if it is a harmful option or its abbreviation, or writes
    /// outside the project.
    fn unlisted(&self, text: &str, next: Option<&Argument>) -> CallEffect {
        let (name, glued) = split_value(text);
        for option in &self.writes {
            let value = if option.starts_with("--") {
                (name.len() > 2 && option.starts_with(name))
                    .then(|| glued.or(next.map(|it| it.text)))
            } else if text == option {
                Some(next.map(|it| it.text))
            } else {
                text.strip_prefix(option.as_str()).map(Some)
            };
            if let Some(path) = value.flatten() {
                let path = path_kind::normalize(path.trim_start_matches('='), "");
                let elsewhere = path.contains(UNKNOWN)
                    || path_kind::is_outside(&path)
                    || path_kind::is_sensitive(&path);
                return if elsewhere { CallEffect::Harmful } else { CallEffect::Unlisted };
            }
        }
        let harms = |harm: &String| {
            if let Some(letter) = harm.strip_prefix('-').filter(|it| it.chars().count() == 1) {
                return text == harm
                    || !self.single
                        && text.starts_with('-')
                        && !text.starts_with("--")
                        && text
                            .chars()
                            .skip(1)
                            .take_while(char::is_ascii_alphanumeric)
                            .any(|c| letter.starts_with(c));
            }
            if harm.starts_with("--") {
                // Abbreviations have at least one letter.
                return name.len() > 2 && harm.starts_with(name);
            }
            name == harm || text.starts_with(harm.as_str())
        };
        if self.harm.iter().any(harms) { CallEffect::Harmful } else { CallEffect::Unlisted }
    }

    /// Consumes one option. Returns whether the next word is its value; `None` if the option is not listed.
    fn option<'a>(
        &self,
        text: &'a str,
        next: Option<&Argument<'a>>,
        parsed: &mut ParsedArguments<'a>,
    ) -> Option<bool> {
        if text.contains(UNKNOWN) && !is_known(text) {
            return None;
        }
        if self.digits && text.len() > 1 && text.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
            return Some(false);
        }
        if text.starts_with("--") || self.single {
            let (name, glued) = split_value(text);
            let bare = if self.single { name } else { name.strip_prefix("--")? };
            let option = self.options.iter().find(|option| option.name == bare)?;
            return match (option.takes, glued) {
                (Takes::Nothing | Takes::GluedValue, None) => {
                    parsed.flags.push(bare.to_owned());
                    Some(false)
                }
                (Takes::Nothing, Some(_)) => None,
                (Takes::Value | Takes::GluedValue, _) => parsed.value(bare, glued, next),
            };
        }
        let letters = text.strip_prefix('-')?;
        for (index, letter) in letters.char_indices() {
            if self.glued.contains(letter) {
                let rest = letters.get(index + letter.len_utf8()..)?;
                let plain = |c: char| c.is_ascii_alphanumeric() || ":@,.+%=-[]".contains(c);
                return rest.chars().all(plain).then_some(false);
            }
            if self.value.contains(letter) {
                let glued = letters.get(index + letter.len_utf8()..)?;
                let glued = Some(glued).filter(|it| !it.is_empty());
                return parsed.value(&letter.to_string(), glued, next);
            }
            if !self.short.contains(letter) {
                return None;
            }
            parsed.flags.push(letter.to_string());
        }
        Some(false)
    }
}

/// The options and operands of a call that `[form.NAME]` allows; `None` if one is not listed or not known, or `--`
/// occurs.
pub(super) fn known_form<'a>(
    name: &str,
    arguments: &'a [(String, bool)],
) -> Option<ParsedArguments<'a>> {
    let form = ENTRIES.as_ref().ok()?.form.get(name)?;
    let arguments: Vec<Argument> = arguments
        .iter()
        .map(|(text, glob)| Argument { text, glob: *glob, quoted: false })
        .collect();
    let mut effect = CallEffect::ReadsOnly;
    let parsed = form.parse(&arguments, &mut effect);
    let plain =
        parsed.operands.iter().all(is_operand) && arguments.iter().all(|it| it.text != "--");
    (effect == CallEffect::ReadsOnly && plain).then_some(parsed)
}

/// Whether a call only reads, apart from operands with unknown parts.
pub(super) fn only_reads_known(program: &str, arguments: &[(String, bool)]) -> bool {
    let known: Vec<Argument> = arguments
        .iter()
        .map(|(text, _)| {
            let unknown = text.contains(UNKNOWN) && !text.starts_with('-');
            Argument { text: if unknown { "x" } else { text }, glob: false, quoted: false }
        })
        .collect();
    // Settings of another repository can make git run programs, but cause no change by themselves.
    let known = match known.as_slice() {
        [first, _, rest @ ..] if program == "git" && first.text == "-C" => rest,
        all => all,
    };
    check(program, known).is_some_and(|effect| effect < CallEffect::Unlisted)
}

/// Variables with predictable values: paths, names and numbers.
const PLAIN: &str =
    "HOME PWD OLDPWD USER LOGNAME HOSTNAME UID EUID RANDOM SECONDS LANG FOUND ? # ! $";

/// Whether all unknown parts of a text are variables of `PLAIN`.
pub(super) fn is_known(text: &str) -> bool {
    // A process substitution becomes the path of a pipe. The commands inside are rated separately.
    let text = text.strip_prefix('<').and_then(|it| it.strip_prefix(OUTPUT)).unwrap_or(text);
    !text.contains(UNKNOWN)
        || text
            .split(UNKNOWN)
            .skip(1)
            .all(|part| part.split_once(END).is_some_and(|(name, _)| listed(PLAIN, name)))
}

/// Whether an operand is known and cannot expand to an option.
pub(super) fn is_operand(argument: &Argument) -> bool {
    is_known(argument.text) && !(argument.glob && may_become_option(argument.text))
}

/// Whether a glob pattern may expand to a word that starts with a dash.
fn may_become_option(text: &str) -> bool {
    text.starts_with(['*', '?', '['])
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-+/@,~^{}".contains(c))
}

/// The first words of all entries, in which alternatives are separated by `|`.
pub(super) fn read_only_names() -> impl Iterator<Item = &'static str> {
    let readers = ENTRIES.as_ref().map_or(&[][..], |entries| &entries.reader);
    readers.iter().flat_map(|it| &it.names).filter_map(|name| name.split_whitespace().next())
}

#[cfg(test)]
mod tests;
