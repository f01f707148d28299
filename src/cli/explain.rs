//! `explain`: prints what a code, a tool, a precondition, a rule, an exit code or a word means.

use serde_json::json;

use super::opening::policy;
use super::output::Output;
use super::refusal::Refusal;
use super::{Exit, args};
use crate::help::{Entry, Found, Section, entries, find, matching};

/// Prints the entry with the given name, the entries with the given words, or all names.
///
/// # Errors
/// There is no such entry.
pub(super) fn explain(command: &args::Explain, out: &mut Output) -> Result<Exit, Refusal> {
    let name = command.name.join(" ");
    let own;
    let found: Vec<&Entry> = match find(&name) {
        _ if command.search => matching(&name),
        _ if name.is_empty() => entries().iter().collect(),
        Found::Entry(entry) => vec![entry],
        Found::Nearest(nearest) => {
            own = own_rule(&name);
            match &own {
                Some(rule) => vec![rule],
                None => return Err(unknown(&name, &nearest)),
            }
        }
    };
    if found.is_empty() {
        return Err(unknown(&name, &[]));
    }
    if out.json() {
        out.document(&json!({ "entries": found }));
    } else if name.is_empty() {
        print_names(out);
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

/// A rule of the settings, which the program's tables do not have.
fn own_rule(id: &str) -> Option<Entry> {
    let policy = policy().ok()?;
    let rule = policy.command_rules.iter().find(|rule| rule.id == id)?;
    Some(Entry {
        section: Section::Rules,
        key: rule.id.clone().into(),
        title: rule.level.as_str().into(),
        text: format!("{} A rule of your own, in `policy.command_rules`.", rule.reason).into(),
        next: "".into(),
    })
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

/// The names by section, without the rules, which are too many for a list.
fn print_names(out: &mut Output) {
    for section in Section::ALL {
        let names = entries().iter().filter(|entry| entry.section == section);
        let names: Vec<_> = match section {
            Section::Rules => {
                vec![format!("{} rules; see countersign explain --search WORDS", names.count())]
            }
            _ => names.map(|entry| entry.key.to_string()).collect(),
        };
        out.line(&format!("{}: {}", section.title(), names.join(", ")));
    }
}
