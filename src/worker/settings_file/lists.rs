//! Changes a list in the text of a settings file, and keeps the comments in it where they belong.

use toml_edit::{Array, ArrayOfTables, RawString, Value};

use super::edit::change_table;

/// An entry of a list, with the comments that belong to it.
struct Entry {
    /// The white space and the comments before it, on lines of their own.
    lead: String,
    value: Value,
    /// The comment behind it.
    trail: String,
}

fn text(space: Option<&RawString>) -> String {
    space.and_then(|it| it.as_str()).unwrap_or_default().to_owned()
}

/// White space after comments, which need the end of their line.
fn after(comments: &str, space: &str) -> String {
    if comments.is_empty() {
        return space.to_owned();
    }
    format!("{comments}\n{}", space.strip_prefix('\n').unwrap_or(space))
}

/// The comment at the beginning of this, which is behind what comes before it, and the rest.
fn split_comment(space: &str) -> (String, String) {
    match space.split_once('\n') {
        Some((comment, rest)) if comment.contains('#') => {
            (comment.trim_end().to_owned(), format!("\n{rest}"))
        }
        _ => (String::new(), space.to_owned()),
    }
}

/// The entries of a list; the comment behind its bracket; and what is before its end.
fn entries_of(list: &Array) -> (Vec<Entry>, String, String) {
    let (mut entries, mut opening) = (Vec::<Entry>::new(), String::new());
    let mut closing = String::new();
    for value in list {
        let (comment, lead) = split_comment(&text(value.decor().prefix()));
        *entries.last_mut().map_or(&mut opening, |it| &mut it.trail) += &comment;
        let suffix = text(value.decor().suffix());
        // Before the comma, in which a comment may be on a line of its own, too.
        let (trail, rest) = match suffix.contains('#') {
            true => (suffix.trim_end().to_owned(), String::new()),
            false => (String::new(), suffix),
        };
        closing = rest;
        let mut value = value.clone();
        value.decor_mut().clear();
        entries.push(Entry { lead, value, trail });
    }
    let (comment, rest) = split_comment(list.trailing().as_str().unwrap_or_default());
    *entries.last_mut().map_or(&mut opening, |it| &mut it.trail) += &comment;
    (entries, opening, closing + &rest)
}

/// The value itself: a text may be written in several ways, and a table with other spaces.
fn meaning(value: &Value) -> Option<toml::Value> {
    let mut value = value.clone();
    value.decor_mut().clear();
    format!("it = {value}").parse::<toml::Table>().ok()?.remove("it")
}

/// Makes a list equal to a new one. Entries that stay keep their comments; the comments of those that go stay before what
/// comes after them.
pub(super) fn change_list(list: &mut Array, new: Array) {
    let (old, opening, closing) = entries_of(list);
    // The white space before an entry on a line of its own.
    let line = old.first().map(|it| it.lead.as_str());
    let line = line.and_then(|it| it.get(it.rfind('\n')?..)).map(str::to_owned);
    let first = old.first().map(|it| it.lead.clone()).unwrap_or_default();
    let mut wanted: Vec<_> = new.iter().map(meaning).collect();
    let (mut kept, mut gone) = (Vec::new(), String::new());
    for entry in old {
        let this = meaning(&entry.value);
        if let Some(at) = wanted.iter().position(|it| *it == this) {
            wanted.swap_remove(at);
            let lead = after(&std::mem::take(&mut gone), &entry.lead);
            kept.push((this, Entry { lead, ..entry }));
            continue;
        }
        if entry.lead.contains('#') {
            gone.push_str(entry.lead.trim_end());
        }
        if !entry.trail.is_empty() {
            gone.push_str(line.as_deref().unwrap_or("\n"));
            gone.push_str(entry.trail.trim_start());
        }
    }
    list.clear();
    let mut before = opening;
    for value in new {
        let this = meaning(&value);
        let space = if list.is_empty() { &*first } else { " " };
        let space = line.as_deref().unwrap_or(space);
        let entry = match kept.iter().position(|(kept, _)| *kept == this) {
            Some(at) => kept.remove(at).1,
            None => Entry { lead: space.to_owned(), value, trail: String::new() },
        };
        let mut value = entry.value;
        value.decor_mut().clear();
        // In a list on one line, the space depends on the place alone.
        let is_space = line.is_none() && entry.lead.trim().is_empty();
        let lead = if is_space { space } else { &entry.lead };
        value.decor_mut().set_prefix(after(&before, lead));
        list.push_formatted(value);
        before = entry.trail;
    }
    list.set_trailing(after(&(before + &gone), &closing));
}

/// Makes a list of tables equal to a new one. Tables that stay keep their comments and their places, and so do the keys that
/// stay in a table with another value.
pub(super) fn change_tables(list: &mut ArrayOfTables, new: ArrayOfTables) {
    let value_of = |table: &toml_edit::Table| table.to_string().parse::<toml::Table>().ok();
    let id_of =
        |table: &toml_edit::Table| table.get("id").and_then(|it| it.as_str()).map(str::to_owned);
    let mut old: Vec<_> = list.iter().cloned().collect();
    let place = old.iter().filter_map(toml_edit::Table::position).min();
    list.clear();
    let mut last = place;
    for mut table in new {
        let same = old.iter().position(|it| value_of(it) == value_of(&table));
        let named = || old.iter().position(|it| id_of(it).is_some() && id_of(it) == id_of(&table));
        if let Some(at) = same {
            table = old.remove(at);
        } else if let Some(at) = named() {
            let mut kept = old.remove(at);
            change_table(&mut kept, table);
            table = kept;
        } else {
            table.set_position(None);
        }
        // One that comes after another than before is written behind it.
        if table.position() < last {
            table.set_position(last);
        }
        last = table.position();
        list.push(table);
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    use crate::worker::settings_file::edit::with_value;

    const FILE: &str =
        "[policy] # strict\nconfirm_tools = [\n  \"shell\", # danger\n  \"file_write\",\n]\n";

    fn with_tools(list: &str, names: &[&str]) -> String {
        let text = format!("[policy]\nconfirm_tools = {list}\n");
        let names = Value::from(names.to_vec());
        let changed = with_value(&text, "policy.confirm_tools", Some(&names)).unwrap();
        let list = changed.strip_prefix("[policy]\nconfirm_tools = ").unwrap();
        list.trim_end().to_owned()
    }

    #[test]
    fn a_comment_stays_with_its_entry() {
        for (list, names, expected) in [
            (
                "[\n  'shell', # never trust this\n]",
                &["shell", "verify"][..],
                "[\n  'shell', # never trust this\n  \"verify\",\n]",
            ),
            (
                "[\n  'shell', # of shell\n  'verify', # of verify\n]",
                &["verify", "file_edit", "shell"],
                "[\n  'verify', # of verify\n  \"file_edit\",\n  'shell', # of shell\n]",
            ),
            (
                "[\n  # all of these\n  'shell',\n  'verify',\n]",
                &["verify"],
                "[\n  # all of these\n  'verify',\n]",
            ),
            (
                "[ # list\n  'shell', # of shell\n  'verify',\n  # end\n]",
                &["verify"],
                "[ # list\n  # of shell\n  'verify',\n  # end\n]",
            ),
            ("['shell', 'verify']", &["file_edit", "verify"], "[\"file_edit\", 'verify']"),
            ("[ 'shell', 'verify' ]", &["verify", "shell"], "[ 'verify', 'shell' ]"),
        ] {
            assert_eq!(with_tools(list, names), expected, "{list}");
        }
    }

    #[test]
    fn comments_of_an_entry_that_is_there_twice_are_neither_lost_nor_doubled() {
        let twice =
            "[\n  'shell', # of shell 1\n  'shell', # of shell 2\n  'verify', # of verify\n]";
        let once = "[\n  # of shell\n  'shell',\n  # of verify\n  'verify',\n]";
        for (list, names) in
            [(twice, &["verify", "shell"][..]), (once, &["shell", "shell", "verify"])]
        {
            let changed = with_tools(list, names);
            assert_eq!(changed.matches('#').count(), list.matches('#').count(), "{changed}");
        }
    }

    #[test]
    fn tables_that_stay_keep_their_comments() {
        let rule = |id: &str, note: &str, level: &str| {
            format!("[[policy.command_rules]]{note}\nid = '{id}'{note}\nlevel = '{level}'\n")
        };
        let old = format!(
            "# my settings\n{}\n# second\n{}\n[model] # model\nname = 'm'\n",
            rule("a", " # why a", "blocked"),
            rule("b", " # why b", "caution")
        );
        let comments = |text: &str| text.matches('#').count();
        for (new, gone) in [
            (
                [rule("a", "", "blocked"), rule("b", "", "caution"), rule("c", "", "blocked")]
                    .concat(),
                0,
            ),
            ([rule("a", "", "blocked"), rule("b", "", "blocked")].concat(), 0),
            ([rule("b", "", "caution"), rule("a", "", "blocked")].concat(), 0),
            ([rule("c", "", "caution"), rule("a", "", "blocked")].concat(), 3),
        ] {
            let table: toml::Table = new.parse().unwrap();
            let rules = &table["policy"]["command_rules"];
            let changed = with_value(&old, "policy.command_rules", Some(rules)).unwrap();
            assert_eq!(comments(&changed) + gone, comments(&old), "{changed}");
        }
        // In one line.
        let text =
            "policy.command_rules = [{ id = 'a', level = 'blocked' }, # why\n{ id = 'b' }]\n";
        let rules = Value::from(vec![toml::toml! { id = "b" }, toml::toml! { id = "c" }]);
        let changed = with_value(text, "policy.command_rules", Some(&rules)).unwrap();
        assert!(changed.contains("= [") && changed.contains("# why"), "{changed}");
    }

    #[test]
    fn a_list_keeps_the_comments_of_what_stays() {
        let list = Value::from(vec!["shell", "file_edit"]);
        let changed = with_value(FILE, "policy.confirm_tools", Some(&list)).unwrap();
        assert!(
            changed.contains("\"shell\", # danger") && changed.contains("file_edit"),
            "{changed}"
        );
        let list = Value::Array(Vec::new());
        let changed = with_value(FILE, "policy.confirm_tools", Some(&list)).unwrap();
        let file: toml::Table = changed.parse().unwrap();
        assert_eq!(file["policy"]["confirm_tools"], list);
        assert!(changed.contains("# danger"), "{changed}");
        let other = Value::from(vec!["file_write", "shell"]);
        let changed = with_value(FILE, "policy.confirm_tools", Some(&other)).unwrap();
        let file: toml::Table = changed.parse().unwrap();
        assert_eq!(file["policy"]["confirm_tools"], other, "{changed}");
    }

    /// However a list is written, each change of it has exactly the wanted entries and all comments.
    #[test]
    fn a_comment_takes_no_entry_with_it() {
        let lists = [
            "[\n  \"shell\", # always\n  \"file_write\", \"file_edit\",\n]",
            "['shell', # always\n  'file_write', 'file_edit',\n]",
            "[\"shell\", # always\n \"file_write\", \"file_edit\"]",
            "[ # always\n'shell', 'file_write', 'file_edit' ]",
            "['shell' # always\n, 'file_write', 'file_edit']",
            "['shell', 'file_write', 'file_edit' # always\n]",
            "['shell', 'file_write', 'file_edit', # always\n]",
            "['shell', # always\n# and\n'file_write', # too\n'file_edit']",
            "[\n'shell',\n# always\n'file_write',\n\n# too\n'file_edit'\n# last\n]",
        ];
        let names = ["shell", "file_write", "file_edit", "file_move"];
        for list in lists {
            let text = format!("[policy]\nconfirm_tools = {list} # list\nwalls = 'off'\n");
            for wanted in 0..16_usize {
                let wanted: Vec<_> = (0..4).filter(|at| wanted >> at & 1 == 1).collect();
                for wanted in [wanted.clone(), wanted.into_iter().rev().collect()] {
                    let names = Value::from(wanted.iter().map(|at| names[*at]).collect::<Vec<_>>());
                    let changed = with_value(&text, "policy.confirm_tools", Some(&names));
                    let changed =
                        changed.unwrap_or_else(|error| panic!("{text}, {names}: {error}"));
                    let file: toml::Table = changed.parse().unwrap();
                    assert_eq!(file["policy"]["confirm_tools"], names, "{changed}");
                    let comments = |text: &str| text.matches("# ").count();
                    assert_eq!(comments(&changed), comments(&text), "{text}{changed}");
                }
            }
        }
    }
}
