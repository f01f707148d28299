//! Whether a rule of the table matches a command, by program, subcommands, options and operands.

use super::lazy_regex::LazyRegex;
use super::listed::matches_wildcard;
use super::options::{dry_run_counts, is_dry_run_option, is_flag, is_option};
use super::path_kind;
use super::syntax::{OUTPUT, UNKNOWN, before};
use crate::plan::words::words;

/// A pattern: `PROGRAM SUBCOMMAND.. & CONDITION & ..`. Words and conditions may be alternatives, `a|b`. A condition is
/// an option, a property `@name`, or a regular expression `~regex` for the rest of the condition; `!` negates it.
#[derive(Debug)]
pub(super) struct Pattern {
    head: Vec<Vec<String>>,
    conditions: Vec<(bool, Vec<Test>)>,
}

#[derive(Debug)]
enum Test {
    Option(String),
    /// A property of the paths, the operands or the call; `None` for a name that no property has. The tests of the table
    /// refuse such a name.
    Property(Option<Property>),
    /// Matches an argument, or the text of the input.
    Text(LazyRegex),
}

words! {
    /// A property that a rule can test.
    #[derive(Debug, Clone, Copy)]
    enum Property {
        // Of any path among the arguments.
        Root = "root",
        System = "system",
        Outside = "outside",
        Beyond = "beyond",
        Sensitive = "sensitive",
        Secret = "secret",
        Keys = "keys",
        Disk = "disk",
        Device = "device",
        Endless = "endless",
        // Of the operands.
        NamedSystem = "named-system",
        ToInside = "to-inside",
        ToDisk = "to-disk",
        ToOutside = "to-outside",
        ToSystem = "to-system",
        ToSensitive = "to-sensitive",
        ToRemote = "to-remote",
        FromRemote = "from-remote",
        Glob = "glob",
        Unknown = "unknown",
        Some = "some",
        Two = "two",
        // Of all arguments.
        Any = "any",
        Ran = "ran",
        Sql = "sql",
        // Of the call.
        Fed = "fed",
        Answered = "answered",
        Raised = "raised",
        Read = "read",
    }
}

impl Property {
    fn named(name: &str) -> Option<Self> {
        Self::WORDS.iter().map(|(_, property)| *property).find(|it| it.as_str() == name)
    }
}

/// The facts about a command that rules can test.
pub(super) struct CallFacts<'a> {
    pub(super) program: &'a str,
    /// Arguments with known variables replaced, each with whether it is a glob pattern.
    pub(super) arguments: &'a [(String, bool)],
    /// The working folder after `cd`, as far as it is known.
    pub(super) folder: &'a str,
    /// Whether the input is a pipe or a file.
    pub(super) fed: bool,
    /// Whether the input is the output of a database client.
    pub(super) answered: bool,
    /// Whether a redirection writes a file.
    pub(super) writes: bool,
    /// Whether the command runs with raised privileges.
    pub(super) raised: bool,
    /// The text of the input, if it is known.
    pub(super) text: Option<&'a str>,
}

impl Pattern {
    pub(super) fn read(text: &str) -> Self {
        let mut parts = text.split(" & ");
        let head = parts.next().unwrap_or_default();
        let head = head.split_whitespace().map(|word| word.split('|').map(str::to_owned).collect());
        let mut conditions = Vec::new();
        for part in parts {
            let (negated, part) = part.strip_prefix('!').map_or((false, part), |rest| (true, rest));
            let tests = if let Some(pattern) = part.strip_prefix('~') {
                vec![Test::Text(LazyRegex::from(pattern.to_owned()))]
            } else {
                part.split('|')
                    .map(|alternative| match alternative.strip_prefix('@') {
                        Some(property) => Test::Property(Property::named(property)),
                        None => Test::Option(alternative.to_owned()),
                    })
                    .collect()
            };
            conditions.push((negated, tests));
        }
        Self { head: head.collect(), conditions }
    }

    #[cfg(test)]
    pub(super) fn patterns(&self) -> impl Iterator<Item = &LazyRegex> {
        let tests = self.conditions.iter().flat_map(|(_, tests)| tests);
        tests.filter_map(|test| if let Test::Text(text) = test { Some(text) } else { None })
    }

    #[cfg(test)]
    pub(super) fn has_unknown_property(&self) -> bool {
        let mut tests = self.conditions.iter().flat_map(|(_, tests)| tests);
        tests.any(|test| matches!(test, Test::Property(None)))
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &String> {
        self.head.first().into_iter().flatten()
    }

    pub(super) fn matches(&self, facts: &CallFacts, globals: &[String]) -> bool {
        let Some((programs, subcommands)) = self.head.split_first() else { return false };
        if !programs.iter().any(|name| matches_wildcard(name, facts.program)) {
            return false;
        }
        let mut index = 0;
        // After an unknown option the subcommand is unknown, too: any later word may be it.
        let mut is_uncertain = false;
        for wanted in subcommands {
            loop {
                let Some((argument, _)) = facts.arguments.get(index) else { return false };
                if wanted.iter().any(|word| word == argument) {
                    break;
                }
                if argument.starts_with(['-', '+']) && argument.len() > 1 {
                    is_uncertain |= !globals.contains(argument)
                        && !argument.contains('=')
                        && !is_flag(argument);
                    index += 1 + usize::from(globals.contains(argument));
                    continue;
                }
                if wanted.iter().any(|word| matches_wildcard(word, argument)) {
                    break;
                }
                if !is_uncertain {
                    return false;
                }
                index += 1;
            }
            index += 1;
        }
        let rest = facts.arguments.get(index..).unwrap_or_default();
        // Options before the subcommand count, too.
        self.conditions
            .iter()
            .all(|(negated, tests)| *negated != tests.iter().any(|test| test.is_met(facts, rest)))
    }
}

impl Test {
    fn is_met(&self, facts: &CallFacts, rest: &[(String, bool)]) -> bool {
        match self {
            Self::Option(option) if is_dry_run_option(option) => {
                dry_run_counts(option, facts.program, facts.arguments)
            }
            Self::Option(option) => {
                let before = facts.arguments.iter().take_while(|(text, _)| text != "--");
                before.into_iter().any(|(text, _)| is_option(option, text))
            }
            Self::Text(regex) => {
                rest.iter().any(|(text, _)| regex.is_match(text))
                    || facts.text.is_some_and(|text| regex.is_match(text))
            }
            Self::Property(property) => property.is_some_and(|it| it.holds(facts, rest)),
        }
    }
}

/// The arguments that are no options.
fn operands(rest: &[(String, bool)]) -> impl DoubleEndedIterator<Item = &(String, bool)> {
    let only = rest.iter().position(|(text, _)| text == "--").unwrap_or(rest.len());
    let is_operand = move |(index, (text, _)): &(usize, &(String, bool))| {
        *index > only || (*index < only && (!text.starts_with('-') || text == "-"))
    };
    rest.iter().enumerate().filter(is_operand).map(|(_, argument)| argument)
}

impl Property {
    /// Whether the call, whose arguments after the subcommand are `rest`, has the property.
    fn holds(self, facts: &CallFacts, rest: &[(String, bool)]) -> bool {
        let operands = || operands(rest);
        // The value of an option counts as a path if it starts like one.
        let values = || {
            rest.iter().filter(|(text, _)| text.starts_with('-')).filter_map(|(text, _)| {
                let glued = text.get(2..).filter(|_| !text.starts_with("--"));
                text.split_once('=').map(|(_, value)| value).or(glued)
            })
        };
        let path = |test: fn(&str) -> bool| {
            values().any(|value| {
                value.starts_with(['/', '~']) && test(&path_kind::normalize(value, facts.folder))
            }) || operands().any(|(text, _)| {
                let value = text.split_once('=').map_or(text.as_str(), |(_, value)| value);
                test(&path_kind::normalize(text, facts.folder))
                    || (value != text && test(&path_kind::normalize(value, facts.folder)))
            })
        };
        let last = || operands().next_back().map(|(text, _)| text.as_str());
        let is_last = |test: fn(&str) -> bool| {
            last().is_some_and(|text| test(&path_kind::normalize(text, facts.folder)))
        };
        match self {
            Self::Root => path(path_kind::is_root),
            Self::System => path(path_kind::is_system),
            Self::Outside => path(path_kind::is_outside),
            Self::Beyond => path(path_kind::is_beyond),
            Self::Sensitive => path(path_kind::is_sensitive),
            Self::Secret => path(path_kind::is_secret),
            Self::Keys => path(path_kind::is_keys),
            Self::Disk => path(path_kind::is_disk),
            Self::Device => path(|path| path.starts_with("/dev/") && path_kind::is_system(path)),
            Self::Endless => {
                let is_endless =
                    |path: &str| matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random");
                facts.writes && (facts.program == "yes" || path(is_endless))
            }
            Self::NamedSystem => operands().any(|(text, _)| {
                let path = path_kind::normalize(text, facts.folder);
                path_kind::is_system(&path) || path_kind::is_sensitive(&path)
            }),
            Self::ToInside => last().is_some_and(path_kind::is_inside_system),
            Self::ToDisk => is_last(path_kind::is_disk),
            Self::ToOutside => is_last(path_kind::is_outside),
            Self::ToSystem => is_last(path_kind::is_system),
            Self::ToSensitive => is_last(path_kind::is_sensitive),
            Self::ToRemote => last().is_some_and(path_kind::is_remote),
            Self::FromRemote => {
                operands().next().is_some_and(|(text, _)| path_kind::is_remote(text))
            }
            Self::Glob => operands().any(|(_, glob)| *glob),
            Self::Unknown => operands().any(|(text, _)| text.contains(UNKNOWN)),
            Self::Some => operands().next().is_some(),
            Self::Two => operands().nth(1).is_some(),
            Self::Any => !rest.is_empty(),
            Self::Ran => rest.iter().any(|(text, _)| text.contains(OUTPUT)),
            Self::Sql => {
                rest.iter().any(|(text, _)| {
                    let value = text.strip_prefix("--").and_then(|text| text.split_once('='));
                    is_destructive_sql(value.map_or(text.as_str(), |(_, value)| value))
                }) || facts.text.is_some_and(is_destructive_sql)
            }
            Self::Fed => facts.fed,
            Self::Answered => facts.answered,
            Self::Raised => facts.raised,
            Self::Read => facts.text.is_some(),
        }
    }
}

/// Whether SQL contains, outside its strings and comments, a statement that deletes data or changes rows, tables,
/// rights or the server.
fn is_destructive_sql(text: &str) -> bool {
    // MySQL and MariaDB run the text of a comment that starts like this, some only from a version on.
    static EXECUTED: LazyRegex = LazyRegex::new(r"/\*M?!\d*");
    // Servers read strings differently: `"` may quote a string or a name, and `\` may escape a quote.
    static STRINGS: [LazyRegex; 3] = [
        LazyRegex::new(r"'(?:[^']|'')*'|--[^\n]*|(?s:/\*.*?\*/)"),
        LazyRegex::new(r#"'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|(?s:/\*.*?\*/)"#),
        LazyRegex::new(r#"(?s)'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|(?-s:--.*)|/\*.*?\*/"#),
    ];
    static WORDS: LazyRegex = LazyRegex::new(
        r"(?i)\b(drop|truncate|flushall|flushdb)\b|\bdelete\s+from\b|\bupdate\s+[\w.\x22`]+\s+set\b|\balter\s+(table|role|user|system)\b|\bgrant\b|\brevoke\b|\bcopy\b.*\bprogram\b|\binto\s+(out|dump)file\b|\breset\s+(master|slave|replica|binary)\b|\bpurge\s+(binary|master)\b|\bstop\s+(slave|replica)\b|\bset\s+global\b|\bdetach\s+delete\b",
    );
    let text = EXECUTED.replace_all(text, " ");
    STRINGS.iter().any(|strings| WORDS.is_match(&strings.replace_all(&text, "''")))
}

/// Whether the value of a query option contains destructive SQL.
pub(super) fn has_destructive_sql(arguments: &[(String, bool)]) -> bool {
    const OPTIONS: [&str; 9] =
        ["--query", "-q", "--sql", "--execute", "-e", "-c", "--command", "--statement", "-Q"];
    arguments.iter().enumerate().any(|(index, (text, _))| {
        let before = before(arguments, index);
        let (name, value) = text.split_once('=').unwrap_or((before.map_or("", |it| &it.0), text));
        OPTIONS.contains(&name) && is_destructive_sql(value)
    })
}
