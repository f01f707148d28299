//! How dangerous a shell command is (SPEC §7.1).
//!
//! Two parsers reduce the command to a list of simple commands, wrappers such as `sudo` are removed, and every simple
//! command is compared with a table of rules. The worst finding decides. Nothing is run and no file is read. A command
//! whose arguments only mention another command is rated by what it does itself, unless nothing is known about its
//! program.
//!
//! # Parsing
//!
//! A recursive-descent parser (`parse.rs`) and the tree-sitter grammar (`second_parser.rs`) parse the command. What
//! one of them cannot parse, or parses differently, is dangerous. Words that bash evaluates again (arithmetic,
//! subscripts, variable names, quoted lists) are safe only if they are plain numbers (`evaluated.rs`). Replacing
//! variables and operands is limited in bytes and in count (`variables.rs`), and reaching a limit is a finding.
//!
//! # Safe calls
//!
//! A call is safe only if `assets/risk/readers.toml` lists its program and allows every option and operand
//! (`readers/`), and no rule of `assets/risk/rules.toml` gives a higher level. Expressions of `find` and `test`, and
//! scripts of `sed` and `awk`, are checked by separate code in `readers/`. The examples in both tables are tests; the
//! tests also modify those of `readers.toml`.
//!
//! # Paths outside the working folder
//!
//! A word that names a path outside the working folder, in any spelling, makes any other call dangerous
//! (`elsewhere.rs`). The code does not list programs that write, because no such list could be complete. It lists the
//! exceptions: positions in which a program only reads (`[elsewhere]` of `rules.toml`), temporary folders, installed
//! programs, and build folders beside the project. Calls that print secrets are rated in `secrets.rs`.

mod admin;
mod classifier;
mod classify;
mod compound;
mod debugger;
mod effects;
mod elsewhere;
mod embedded;
mod evaluated;
mod expansion;
mod git_settings;
mod harmless_forms;
mod help;
mod in_context;
mod indirect;
mod inline;
mod inputs;
mod interpreter;
mod known;
mod lazy_regex;
mod listed;
mod loopback;
mod needs;
mod operands;
mod options;
mod own_folders;
mod parse;
mod parser_agreement;
mod path_kind;
mod pattern;
mod powershell;
mod program;
mod queries;
mod rate;
mod rating;
mod readers;
mod redirection;
mod repository;
mod scan;
mod second_parser;
mod secrets;
mod sources;
mod surroundings;
mod syntax;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod unwrap;
mod user;
mod user_examples;
mod variables;
mod verbs;
mod word;
mod wrapper_words;

pub use classify::{
    BuiltinVerdict, CommandVerdict, ParsedSpans, Shell, first_parse, of_command, of_local_command,
    refused_span, second_parse,
};
pub use git_settings::{GitSettings, read_git_settings};
pub use needs::{CommandNeeds, needs_of_command, table_folder, table_paths};
pub use path_kind::Reach;
pub use repository::{Repositories, RepositorySettings};
pub use surroundings::Surroundings;
pub use syntax::{SimpleCommand, Word};
pub use tables::{RuleText, read_only_programs, rule_texts};
pub use user::{UserRule, UserRules};
pub use user_examples::BadRule;

pub(super) use git_settings::TEXT as GIT_SETTINGS;
pub(super) use inline::WORDS;
pub(super) use needs::TEXT as NEEDS;
pub(super) use readers::TEXT as READERS;
pub(super) use table::TEXT as RULES;
