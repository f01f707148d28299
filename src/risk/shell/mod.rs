//! How dangerous a shell command is (SPEC §7.1).
//!
//! Two parsers reduce the command to a list of simple commands, wrappers are taken off, and every simple command is
//! compared with a table of rules; the worst finding wins. Nothing is run and no file is read. The text of the
//! command is never searched for words: a command that only mentions another one is rated by what it does.

mod admin;
mod classify;
mod compound;
mod debugger;
mod discloses;
mod effects;
mod elsewhere;
mod embedded;
mod evaluated;
mod expansion;
mod harmless_forms;
mod in_context;
mod indirect;
mod inline;
mod interpreter;
mod judge;
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
mod pattern;
mod place;
mod powershell;
mod program;
mod queries;
mod rate;
mod rating;
mod readers;
mod redirection;
mod scan;
mod second_parser;
mod sources;
mod syntax;
mod table;
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
    BuiltinVerdict, CommandVerdict, Reading, Shell, first_reading, of_command, of_command_beside,
    refused, second_reading,
};
pub use needs::{CommandNeeds, needs_of_command, table_folder, table_paths};
pub use syntax::{SimpleCommand, Word};
pub use user::{UserRule, UserRules};
pub use user_examples::BadRule;

pub(super) use needs::TEXT as NEEDS;
pub(super) use readers::TEXT as READERS;
pub(super) use table::TEXT as RULES;
