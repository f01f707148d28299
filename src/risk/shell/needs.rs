//! The access that the programs of a command need beyond its walls (SPEC §7.5). A table is consulted for every
//! simple command, including those inside wrappers. The result is a proposal, which the user may grant.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::listed::matches_wildcard;
use super::program::program_of;
use super::{Shell, SimpleCommand, UserRules, Word, of_command};
use crate::plan::Needs;

/// The table of needs.
pub(in crate::risk) const TEXT: &str = include_str!("../../../assets/risk/needs.toml");

static TABLE: LazyLock<Result<Table, String>> =
    LazyLock::new(|| toml::from_str(TEXT).map_err(|error| error.to_string()));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Default folders of programs, by the variable that overrides them.
    folders: BTreeMap<String, String>,
    /// Options with a value that may precede the subcommand, by program.
    values: BTreeMap<String, Vec<String>>,
    need: Vec<Row>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Row {
    /// Program names, optionally with subcommands; a name may end in `*`.
    programs: Vec<String>,
    subcommands: Vec<String>,
    /// The row does not apply with one of these options.
    unless: Vec<String>,
    /// The row applies only with one of these words.
    only: Vec<String>,
    network: bool,
    write: Vec<String>,
    repository: bool,
    open: bool,
    refused: bool,
    reason: String,
    #[serde(rename = "match")]
    examples: Vec<String>,
    #[serde(rename = "not")]
    others: Vec<String>,
}

/// The needs of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CommandNeeds {
    /// The needs of all its programs together. Paths are written as in the table; resolve them with
    /// [`table_folder`].
    #[serde(flatten)]
    pub needs: Needs,
    /// Whether the command must write the git repository.
    pub writes_repository: bool,
    /// Why the command cannot run behind walls; `None` if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The reasons for its needs, without duplicates.
    pub reasons: Vec<String>,
}

/// The needs of a command on this computer. Empty if the command cannot be parsed: such a command asks for
/// confirmation anyway, and wider walls should not be proposed for it.
pub fn needs_of_command(command: &str, shell: Shell) -> CommandNeeds {
    let Ok(table) = TABLE.as_ref() else { return CommandNeeds::default() };
    // Most commands name no program of the table and need no parsing.
    if !table.need.iter().flat_map(|row| &row.programs).any(|name| command.contains(stem(name))) {
        return CommandNeeds::default();
    }
    let verdict = of_command(command, shell, &UserRules::default());
    let mut found = CommandNeeds::default();
    for simple in verdict.commands.iter().filter(|simple| !simple.remote) {
        table.add(simple, &mut found);
    }
    found
}

/// The default folder of a variable of the table, such as `CARGO_HOME`.
pub fn table_folder(variable: &str) -> Option<&'static str> {
    TABLE.as_ref().ok()?.folders.get(variable).map(String::as_str)
}

/// Every path that the table may propose, as written there.
pub fn table_paths() -> impl Iterator<Item = &'static str> {
    let rows = TABLE.as_ref().map(|table| table.need.as_slice()).unwrap_or_default();
    rows.iter().flat_map(|row| &row.write).map(String::as_str)
}

/// The part of a name that a command must contain to match it.
fn stem(name: &str) -> &str {
    let name = name.split(' ').next().unwrap_or(name);
    name.strip_suffix('*').unwrap_or(name)
}

impl Table {
    fn add(&self, simple: &SimpleCommand, found: &mut CommandNeeds) {
        let Some((program, arguments)) = self.call(&simple.words) else { return };
        for row in self.need.iter().filter(|row| row.matches(&program, &arguments, self)) {
            let Row { network, ref write, open, .. } = *row;
            found.needs.add(&Needs { network, write: write.clone(), terminal: false, open });
            found.writes_repository |= row.repository;
            if row.refused && found.refused.is_none() {
                found.refused = Some(format!("{program}: {}", row.reason));
            }
            if !found.reasons.contains(&row.reason) {
                found.reasons.push(row.reason.clone());
            }
        }
    }

    /// The program's name and its arguments; for `python -m MODULE`, those of the module.
    fn call<'w>(&self, words: &'w [Word]) -> Option<(String, Vec<&'w str>)> {
        let (first, rest) = words.split_first()?;
        let path = first.text.as_str();
        // A program of the workspace counts by its file name: the pip of a virtual environment is pip.
        let program = program_of(path).or_else(|| path.rsplit('/').next().map(str::to_owned))?;
        let arguments: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
        let module =
            arguments.iter().position(|it| *it == "-m").filter(|_| program.starts_with("python"));
        let module = module
            .and_then(|index| Some((*arguments.get(index + 1)?, arguments.get(index + 2..)?)));
        Some(match module {
            Some((module, rest)) => (module.to_owned(), rest.to_vec()),
            None => (program, arguments),
        })
    }

    /// The arguments without options and their values.
    fn operands<'w>(&self, program: &str, arguments: &[&'w str]) -> Vec<&'w str> {
        let values = self.values.get(program).map(Vec::as_slice).unwrap_or_default();
        let mut operands = Vec::new();
        let mut index = 0;
        while let Some(argument) = arguments.get(index) {
            index += 1;
            if argument.starts_with('-') {
                index += usize::from(values.iter().any(|value| value == argument));
            } else if !(argument.starts_with('+') && program == "cargo") {
                operands.push(*argument);
            }
        }
        operands
    }
}

impl Row {
    fn matches(&self, program: &str, arguments: &[&str], table: &Table) -> bool {
        let operands = || table.operands(program, arguments);
        let starts = |wanted: &str| {
            let operands = operands();
            wanted.split(' ').enumerate().all(|(index, word)| operands.get(index) == Some(&word))
        };
        let named = self.programs.iter().any(|name| match name.split_once(' ') {
            Some((name, "-s")) => name == program && arguments.contains(&"-s"),
            Some((name, subcommand)) => name == program && starts(subcommand),
            None => matches_wildcard(name, program),
        });
        let has =
            |option: &String| arguments.iter().any(|argument| matches_option(option, argument));
        named
            && (self.subcommands.is_empty() || self.subcommands.iter().any(|it| starts(it)))
            && !self.unless.iter().any(has)
            && (self.only.is_empty() || self.only.iter().any(has))
    }
}

/// Whether an argument is this word or option, also with a value. A trailing `*` matches any ending, `*:*` a remote
/// path.
fn matches_option(wanted: &str, argument: &str) -> bool {
    if wanted == "*:*" {
        return super::path_kind::is_remote(argument);
    }
    matches_wildcard(wanted, argument)
        || argument.split_once('=').is_some_and(|(name, _)| name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(command: &str) -> CommandNeeds {
        needs_of_command(command, Shell::Bash)
    }

    #[test]
    fn every_example_of_the_table_holds() {
        let table = TABLE.as_ref().unwrap();
        for row in &table.need {
            assert!(row.examples.len() + row.others.len() >= 2, "{:?}", row.programs);
            assert!(!row.programs.is_empty() && !row.reason.is_empty(), "{:?}", row.examples);
            for command in &row.examples {
                let found = needs(command);
                assert!(found.reasons.contains(&row.reason), "{command}: {found:?}");
                assert!(!row.network || found.needs.network, "{command}");
                assert!(!row.open || found.needs.open, "{command}");
                assert!(!row.repository || found.writes_repository, "{command}");
                assert_eq!(found.refused.is_some(), row.refused, "{command}");
                assert!(row.write.iter().all(|it| found.needs.write.contains(it)), "{command}");
            }
            for command in &row.others {
                let found = needs(command);
                assert!(!found.reasons.contains(&row.reason), "{command}: {found:?}");
            }
        }
    }

    #[test]
    fn every_path_of_the_table_has_its_folder() {
        for path in table_paths() {
            assert!(path.ends_with('/'), "{path} must end in a slash");
            match path.strip_prefix('$') {
                Some(rest) => {
                    let (variable, _) = rest.split_once('/').unwrap();
                    assert!(table_folder(variable).unwrap().starts_with("~/"), "{path}");
                }
                None => assert!(path.starts_with("~/"), "{path}"),
            }
        }
    }

    #[test]
    fn needs_of_several_commands_add_up() {
        let found = needs("git add -A && (curl -fO https://example.org/x; timeout 9 npm ci)");
        assert!(found.needs.network && found.writes_repository && !found.needs.open);
        assert_eq!(found.needs.write, ["$npm_config_cache/"]);
        assert_eq!(found.reasons.len(), 3, "{:?}", found.reasons);
    }

    #[test]
    fn remote_commands_have_no_local_needs() {
        let found = needs("ssh host 'git push && docker ps'");
        assert!(found.needs.network && !found.needs.open && !found.writes_repository);
        assert_eq!(found.refused, None);
    }

    #[test]
    fn unparsable_commands_get_no_proposal() {
        for command in ["git add 'x", "$GIT add -A", "echo 'docker ps'", "", "ls -l"] {
            assert_eq!(needs(command), CommandNeeds::default(), "{command}");
        }
    }

    #[test]
    fn a_path_to_the_program_changes_nothing() {
        for command in ["/usr/bin/git add a", "sudo -u x git add a", "bash -c 'git add a'"] {
            assert!(needs(command).writes_repository, "{command}");
        }
        assert!(needs("sudo git add a").needs.open);
    }
}
