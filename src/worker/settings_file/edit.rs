//! Changes one key in the text of a settings file, and keeps everything else as it is, with its comments.

use std::io::{Error, ErrorKind};

use toml::Value;
use toml_edit::{Document, DocumentMut, Item, Table, TableLike};

use super::super::save_settings::not_toml;
use super::escapes::{escape, insert, key_of};
use super::line_at;
use super::lists::{change_list, change_tables};

/// The names on the way to a key: the name of a planner may have dots.
fn path_of(key: &str) -> Vec<&str> {
    match key.split_once('.') {
        None => vec![key],
        Some(("planners", rest)) => match rest.rsplit_once('.') {
            Some((name, field)) => vec!["planners", name, field],
            None => vec!["planners", rest],
        },
        Some((table, field)) => vec![table, field],
    }
}

/// The line of a key in a settings file, from 1; if the key is not there, that of its table; `None` if neither is, or
/// the text is not TOML.
pub fn line_of(text: &str, key: &str) -> Option<usize> {
    let document = Document::parse(text).ok()?;
    let mut line = None;
    let mut item = document.as_item();
    for name in path_of(key) {
        let Some(table) = item.as_table_like() else { break };
        let Some((found, inner)) = table.get_key_value(name) else { break };
        // The first table of a list, for a list of tables.
        let tables = inner.as_array_of_tables().and_then(|tables| tables.get(0)?.span());
        let span = found.span().or(tables).or_else(|| inner.span());
        line = span.map(|span| line_at(text, span.start)).or(line);
        item = inner;
    }
    line
}

/// The text with this value of the key; with `None`, without the key.
///
/// # Errors
/// When the text is not TOML, another value is where a table of the key has to be, or the result would have any other
/// difference than this one.
pub(super) fn with_value(text: &str, key: &str, value: Option<&Value>) -> std::io::Result<String> {
    let path = path_of(key);
    let changed = match value {
        Some(value) => set(text, &path, value),
        None => remove(text, &path),
    }?;
    let mut expected: toml::Table = text.parse().map_err(not_toml)?;
    let mut found: toml::Table = changed.parse().map_err(not_toml)?;
    put(&mut expected, &path, value);
    // A table without keys says nothing, and not every way of writing a table keeps it.
    [&mut expected, &mut found].into_iter().for_each(|table| drop_empty(table, &path));
    // As text, in which a value that is no number is like itself.
    if found.to_string() != expected.to_string() {
        let why = format!("{key} cannot be changed in this text alone; change it in an editor");
        return Err(Error::new(ErrorKind::InvalidData, why));
    }
    Ok(changed)
}

/// Removes the tables on the way to a key that have no keys.
fn drop_empty(table: &mut toml::Table, path: &[&str]) {
    let Some((name, rest)) = path.split_first() else { return };
    if let Some(Value::Table(inner)) = table.get_mut(*name) {
        drop_empty(inner, rest);
        if inner.is_empty() {
            table.remove(*name);
        }
    }
}

fn put(table: &mut toml::Table, path: &[&str], value: Option<&Value>) {
    match (path, value) {
        ([], _) => {}
        ([last], Some(value)) => drop(table.insert((*last).to_owned(), value.clone())),
        ([last], None) => drop(table.remove(*last)),
        ([name, rest @ ..], _) => {
            if value.is_some() && !table.contains_key(*name) {
                table.insert((*name).to_owned(), Value::Table(toml::Table::new()));
            }
            if let Some(Value::Table(inner)) = table.get_mut(*name) {
                put(inner, rest, value);
            }
        }
    }
}

fn no_table(name: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{name} is no table"))
}

fn set(text: &str, path: &[&str], value: &Value) -> std::io::Result<String> {
    let mut settings: DocumentMut = text.parse().map_err(not_toml)?;
    if settings.is_empty() && !text.trim().is_empty() {
        // A file of comments alone: they stay in front.
        let new = set("", path, value)?;
        let space = if new.starts_with('[') { "\n" } else { "" };
        return Ok(format!("{}\n{space}{new}", text.trim_end()));
    }
    let Some((last, tables)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn TableLike = settings.as_table_mut();
    for (depth, name) in tables.iter().enumerate() {
        let inner = table.entry_format(&key_of(name)).or_insert_with(|| {
            let mut table = Table::new();
            // Only the last table needs a line of its own.
            table.set_implicit(depth + 1 < tables.len());
            Item::Table(table)
        });
        table = inner.as_table_like_mut().ok_or_else(|| no_table(name))?;
    }
    let values = toml::Table::from_iter([((*last).to_owned(), value.clone())]);
    let values: DocumentMut =
        toml::to_string(&values).map_err(not_toml)?.parse().map_err(not_toml)?;
    let Some(mut new) = values.into_table().remove(last) else { return Ok(text.to_owned()) };
    escape(&mut new);
    match (table.get_mut(last), new) {
        (
            Some(Item::Value(toml_edit::Value::Array(old))),
            Item::Value(toml_edit::Value::Array(new)),
        ) => {
            change_list(old, new);
        }
        // Tables that are written as a list in one line stay one.
        (Some(Item::Value(toml_edit::Value::Array(old))), Item::ArrayOfTables(new)) => {
            change_list(old, new.into_array())
        }
        (Some(Item::ArrayOfTables(old)), Item::ArrayOfTables(new)) => change_tables(old, new),
        (Some(Item::Value(old)), Item::Value(mut new)) => {
            // The decor contains the comment.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        (Some(Item::Table(old)), Item::Table(new)) => change_table(old, new),
        (_, mut new) => {
            if let Item::ArrayOfTables(tables) = &mut new {
                // Without a position, the tables are written after the existing ones.
                tables.iter_mut().for_each(|table| table.set_position(None));
            }
            if let Item::Table(table) = &mut new {
                table.set_position(None);
            }
            insert(table, last, new);
        }
    }
    Ok(settings.to_string())
}

/// Makes a table equal to a new one. Keys that stay keep their comments.
pub(super) fn change_table(old: &mut Table, new: Table) {
    let gone: Vec<_> =
        old.iter().map(|(key, _)| key.to_owned()).filter(|key| !new.contains_key(key)).collect();
    for key in gone {
        old.remove(&key);
    }
    for (key, value) in new {
        match (old.get_mut(&key), value) {
            (Some(Item::Value(old)), Item::Value(mut new)) => {
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            (_, value) => insert(old, &key, value),
        }
    }
}

fn remove(text: &str, path: &[&str]) -> std::io::Result<String> {
    let mut settings: DocumentMut = text.parse().map_err(not_toml)?;
    let Some((last, tables)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn TableLike = settings.as_table_mut();
    for name in tables {
        match table.get_mut(name).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Ok(text.to_owned()),
        }
    }
    let Some(gone) = table.remove(last) else { return Ok(text.to_owned()) };
    // The comments above the heading of a table stay, at the end of the file.
    let above = gone.as_table().and_then(|table| table.decor().prefix()?.as_str());
    if let Some(above) = above.filter(|above| above.contains('#')) {
        let trailing = settings.trailing().as_str().unwrap_or_default();
        settings.set_trailing(format!("{}\n{trailing}", above.trim_end()));
    }
    let removed = settings.to_string();
    // The comments around the key would go with it, so that only its own characters are taken out where that is enough.
    let parsed = |text: &str| text.parse::<toml::Table>().ok();
    let cut =
        cut(text, path).filter(|cut| parsed(cut) == parsed(&removed) && parsed(cut).is_some());
    Ok(cut.unwrap_or(removed))
}

/// The text without the characters of the key and its value; without its line, if nothing else is on it.
fn cut(text: &str, path: &[&str]) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let (last, tables) = path.split_last()?;
    let mut item = document.as_item();
    for name in tables {
        item = item.as_table_like()?.get(name)?;
    }
    let (key, value) = item.as_table_like()?.get_key_value(last)?;
    let (start, end) = (key.span()?.start, value.span()?.end);
    let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    // A key with its table in front, such as `policy.walls`.
    let start = if text.get(line..start)?.trim_end().ends_with('.') { line } else { start };
    let rest = text.get(end..)?;
    let line_end = rest.find('\n').map_or(rest.len(), |at| at + 1);
    let (after, below) = rest.split_at(line_end);
    let before = text.get(..start)?;
    let is_alone = before.get(line..).is_some_and(|indent| indent.trim().is_empty());
    Some(match after.trim() {
        "" if is_alone => format!("{}{below}", text.get(..line)?),
        _ => format!("{before}{}{below}", after.trim_start_matches([' ', '\t'])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\nzoom = 1.5 # large\n\n# colours\ntheme = \"dark\"\n\n[policy] # strict\n\
                        # walls are needed\nwalls = \"required\" # always\nconfirm_tools = [\n  \"shell\", # danger\n  \
                        \"file_write\",\n]\n\n[model]\nkey = 'k'\n";

    fn comments(text: &str) -> usize {
        text.matches('#').count()
    }

    #[test]
    fn a_change_keeps_everything_else() {
        for (key, value) in [
            ("zoom", Value::from(2.0)),
            ("theme", Value::from("light")),
            ("high_contrast", Value::from(true)),
            ("policy.walls", Value::from("off")),
            ("policy.engine", Value::from("embedded")),
            ("agents.session_rules", Value::from(true)),
            ("planners.a.py.network", Value::from(true)),
            ("policy.confirm_tools", Value::from(vec!["shell", "file_write", "file_read"])),
            ("shortcuts", toml::toml! { palette = "F12" }.into()),
        ] {
            let changed = with_value(FILE, key, Some(&value)).unwrap();
            assert_eq!(comments(&changed), comments(FILE), "{changed}");
            let file: toml::Table = changed.parse().unwrap();
            assert_eq!(crate::run::settings::found_in(&file, key), Some(&value), "{changed}");
            // Every other line is there as it was, in the same order.
            let others: Vec<_> = FILE.lines().filter(|line| changed.contains(line)).collect();
            assert!(others.len() + 1 >= FILE.lines().count(), "{key}: {changed}");
            let back = with_value(&changed, key, None).unwrap();
            // A comment in a list goes with the list.
            let inside = usize::from(key == "policy.confirm_tools");
            assert_eq!(comments(&back) + inside, comments(FILE), "{key}: {back}");
            let file: toml::Table = back.parse().unwrap();
            assert_eq!(crate::run::settings::found_in(&file, key), None, "{back}");
        }
    }

    #[test]
    fn the_default_takes_away_the_key_and_no_comment() {
        let without = with_value(FILE, "zoom", None).unwrap();
        assert!(without.starts_with("# mine\n# large\n\n# colours\ntheme"), "{without}");
        let without = with_value(FILE, "policy.walls", None).unwrap();
        assert!(without.contains("# walls are needed\n# always\nconfirm_tools"), "{without}");
        for text in
            ["policy.walls = 'off' # why\nzoom = 1.0\n", "policy = { walls = 'off' } # why\n"]
        {
            let without = with_value(text, "policy.walls", None).unwrap();
            assert!(without.contains("# why") && !without.contains("walls"), "{without}");
        }
        assert_eq!(with_value(FILE, "inbox", None).unwrap(), FILE);
        assert_eq!(with_value("zoom = 1.0", "zoom", None).unwrap(), "");
    }

    #[test]
    fn lines_are_found_in_every_form() {
        for (text, key, line) in [
            (FILE, "zoom", Some(2)),
            (FILE, "policy.walls", Some(9)),
            (FILE, "policy.engine", Some(7)),
            (FILE, "inbox", None),
            ("\npolicy.walls = 'off'", "policy.walls", Some(2)),
            ("\n\n[planners.'a.py']\nread = true", "planners.a.py.read", Some(4)),
            ("\n\n[[policy.command_rules]]\nid = 'a'", "policy.command_rules", Some(3)),
            ("zoom = = 1", "zoom", None),
        ] {
            assert_eq!(line_of(text, key), line, "{key} in {text}");
        }
    }
}
