//! `explain`: prints what a code, a tool, a precondition, a rule, an exit code or a word means.

use serde_json::json;

use super::opening::policy;
use super::output::Output;
use super::refusal::Refusal;
use super::{Exit, args};
use crate::help::{Entry, Found, Help, Section};

/// Prints the entry with the given name, the entries with the given words, or all names.
///
/// # Errors
/// There is no such entry.
pub(super) fn explain(command: &args::Explain, out: &mut Output) -> Result<Exit, Refusal> {
    let name = command.name.join(" ");
    // What the program itself means can be read with faulty settings, too.
    let help = policy().map_or_else(|_| Help::default(), |it| Help::with(&it.command_rules));
    let found: Vec<&Entry> = match help.find(&name) {
        _ if command.search => help.matching(&name),
        _ if name.is_empty() => help.entries().collect(),
        Found::Entry(entry) => vec![entry],
        Found::Nearest(nearest) => return Err(unknown(&name, &nearest)),
    };
    if found.is_empty() {
        return Err(unknown(&name, &[]));
    }
    if out.json() {
        out.document(&json!({ "entries": found }));
    } else if name.is_empty() {
        print_names(&help, out);
    } else {
        for (index, entry) in found.into_iter().enumerate() {
            if index > 0 {
                out.line("");
            }
            print(entry, out);
        }
    }
    Ok(Exit::Done)
}

fn unknown(name: &str, nearest: &[&Entry]) -> Refusal {
    let next = match nearest {
        [] => {
            "countersign explain lists all names; with --search it looks in the texts.".to_owned()
        }
        some => {
            let names: Vec<_> = some.iter().map(|entry| &*entry.key).collect();
            format!("Did you mean: {}?", names.join(", "))
        }
    };
    Refusal::usage(format!("there is nothing named {name} to explain"), &next)
}

fn print(entry: &Entry, out: &mut Output) {
    let title = if entry.title.is_empty() { String::new() } else { format!(": {}", entry.title) };
    out.line(&format!("{}{title}", entry.key));
    out.line(&format!("  {}", entry.text));
    if !entry.next.is_empty() {
        out.line(&format!("  What to do: {}", entry.next));
    }
}

/// The names by section; of the rules, which are too many for a list, only those of the settings.
fn print_names(help: &Help, out: &mut Output) {
    for section in Section::ALL {
        let names = help.entries().filter(|entry| entry.section == section);
        let names: Vec<_> = match section {
            Section::Rules => {
                let own = help.own_rules().map(|rule| rule.key.to_string());
                let all =
                    format!("{} rules; see countersign explain --search WORDS", names.count());
                [all].into_iter().chain(own).collect()
            }
            _ => names.map(|entry| entry.key.to_string()).collect(),
        };
        out.line(&format!("{}: {}", section.title(), names.join(", ")));
    }
}
