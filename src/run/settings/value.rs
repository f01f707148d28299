//! The values of settings in a file.

use toml::{Table, Value};

use super::{Kind, SETTINGS, Setting};
use crate::run::text::address_without_secrets;

/// The row for this key of the file.
pub fn row_of(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|row| covers(row.key, key))
}

/// Whether the key of a row, which may have a `*`, is or contains this key of the file.
fn covers(row: &str, key: &str) -> bool {
    match row.split_once(".*.") {
        None => row == key,
        Some((before, after)) => {
            let rest = key.strip_prefix(before).and_then(|rest| rest.strip_prefix('.'));
            let name = rest.and_then(|rest| rest.strip_suffix(after));
            name.and_then(|name| name.strip_suffix('.')).is_some_and(|name| !name.is_empty())
        }
    }
}

/// The value of a key in a file; `None` if it is not there.
pub fn found_in<'a>(file: &'a Table, key: &str) -> Option<&'a Value> {
    if let Some(value) = file.get(key) {
        return Some(value);
    }
    let (table, rest) = key.split_once('.')?;
    let table = file.get(table)?.as_table()?;
    match rest.rsplit_once('.') {
        // The name of a planner may have dots.
        Some((name, field)) => table.get(name)?.as_table()?.get(field),
        None => table.get(rest),
    }
}

/// The default of a setting; `None` if it has none.
pub fn default_of(row: &Setting) -> Option<Value> {
    let text = format!("it = {}", row.default);
    text.parse::<Table>().ok()?.remove("it")
}

/// Every key of a file that a row is about or that no row knows, with its value. What is in a table that has a row as a
/// whole is not listed.
pub fn leaves(file: &Table) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (key, value) in file {
        match value.as_table().filter(|_| row_of(key).is_none()) {
            None => found.push((key.clone(), value)),
            Some(table) => {
                // The name of a planner may end like the key of a row, such as `plan.read`.
                let is_planners = key == "planners";
                for (inner, value) in table {
                    let key = format!("{key}.{inner}");
                    match value.as_table().filter(|_| is_planners) {
                        Some(table) => found.extend(
                            table.iter().map(|(field, value)| (format!("{key}.{field}"), value)),
                        ),
                        None => found.push((key, value)),
                    }
                }
            }
        }
    }
    found
}

/// The rows with their keys in a file: a row with a `*` is there for each planner that has it, else once.
pub fn keys_of(file: &Table) -> Vec<(&'static Setting, String)> {
    let found = leaves(file);
    let mut rows = Vec::new();
    for row in SETTINGS {
        let is_named = |key: &String| row_of(key).is_some_and(|it| it.key == row.key);
        let mut named: Vec<_> = found.iter().map(|(key, _)| key.clone()).filter(is_named).collect();
        if named.is_empty() {
            named.push(row.key.to_owned());
        }
        rows.extend(named.into_iter().map(|key| (row, key)));
    }
    rows
}

/// What is shown in place of a secret.
pub const NOT_SHOWN: &str = "set, not shown";

/// A value for people. A secret is not shown, and an address without what may be secret in it.
pub fn shown(row: &Setting, value: Option<&Value>) -> String {
    let Some(value) = value else { return "none".to_owned() };
    let name_of = |words: &[(&str, &str)], word: &str| {
        let known = words.iter().find(|(it, _)| *it == word);
        known.map_or_else(|| word.to_owned(), |(_, name)| (*name).to_owned())
    };
    let listed = |words: &[(&str, &str)], list: &[Value]| {
        let list: Vec<_> =
            list.iter().filter_map(Value::as_str).map(|it| name_of(words, it)).collect();
        if list.is_empty() { "none".to_owned() } else { list.join(", ") }
    };
    match (row.kind, value) {
        (Kind::Secret, _) => NOT_SHOWN.to_owned(),
        (Kind::Switch, Value::Boolean(on)) => if *on { "on" } else { "off" }.to_owned(),
        (Kind::Choice(words), Value::String(word)) => name_of(words, word),
        (Kind::Several(words), Value::Array(list)) => listed(words, list),
        (Kind::Tools | Kind::Folders, Value::Array(list)) => listed(&[], list),
        (Kind::Number(_, _, unit), Value::Integer(1)) => {
            format!("1 {}", unit.strip_suffix('s').unwrap_or(unit))
        }
        (Kind::Number(_, _, unit), Value::Integer(number)) => format!("{number} {unit}"),
        (Kind::Zoom, value) => {
            let zoom = value.as_float().or_else(|| value.as_integer().map(|it| it as f64));
            zoom.map_or_else(|| value.to_string(), |zoom| format!("{:.0} %", zoom * 100.0))
        }
        (Kind::Text(_), Value::String(text)) if text.is_empty() => "none".to_owned(),
        (Kind::Text(_), Value::String(text)) if text.contains("://") => {
            address_without_secrets(text)
        }
        (_, Value::String(text)) => text.clone(),
        (_, Value::Boolean(on)) => on.to_string(),
        (_, Value::Array(list)) => match (list.len(), list.iter().all(Value::is_table)) {
            (0, _) => "none".to_owned(),
            (1, true) => "1 entry".to_owned(),
            (many, true) => format!("{many} entries"),
            _ => value.to_string(),
        },
        (_, Value::Table(table)) => match table.len() {
            0 => "none".to_owned(),
            1 => "1 entry".to_owned(),
            many => format!("{many} entries"),
        },
        (_, value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_every_form_of_a_table() {
        for text in [
            "zoom = 2.0\npolicy.walls = 'off'\nplanners.'a.py'.network = true",
            "zoom = 2.0\npolicy = { walls = 'off' }\nplanners = { 'a.py' = { network = true } }",
            "zoom = 2.0\n[policy]\nwalls = 'off'\n[planners.'a.py']\nnetwork = true",
        ] {
            let file: Table = text.parse().unwrap();
            assert_eq!(found_in(&file, "zoom"), Some(&Value::Float(2.0)));
            assert_eq!(found_in(&file, "policy.walls").and_then(Value::as_str), Some("off"));
            assert_eq!(found_in(&file, "planners.a.py.network"), Some(&Value::Boolean(true)));
            assert_eq!(found_in(&file, "policy.engine"), None);
            let keys: Vec<_> = leaves(&file).into_iter().map(|(key, _)| key).collect();
            for key in ["zoom", "policy.walls", "planners.a.py.network"] {
                assert!(keys.contains(&key.to_owned()) && row_of(key).is_some(), "{keys:?}");
            }
            assert_eq!(keys.len(), 3);
        }
    }

    #[test]
    fn a_planner_may_be_named_as_a_row() {
        let file: Table = "planners.'plan.read'.network = true".parse().unwrap();
        let [(key, value)] = &leaves(&file)[..] else { panic!("{file}") };
        assert_eq!((&**key, *value), ("planners.plan.read.network", &Value::Boolean(true)));
        assert_eq!(found_in(&file, key), Some(&Value::Boolean(true)));
        assert_eq!(row_of(key).unwrap().key, "planners.*.network");
    }

    #[test]
    fn a_secret_is_never_shown() {
        let value = Value::from("sk-heron");
        assert_eq!(shown(row_of("model.key").unwrap(), Some(&value)), "set, not shown");
        let url = Value::from("https://ada:heron@example.org/v1?key=heron");
        let text = shown(row_of("model.url").unwrap(), Some(&url));
        assert!(!text.contains("heron"), "{text}");
    }

    #[test]
    fn values_are_shown_in_words() {
        for (key, value, text) in [
            ("theme", Value::from("dark"), "Dark"),
            ("notifications", Value::from(false), "off"),
            ("zoom", Value::from(1.15), "115 %"),
            ("policy.authorization_minutes", Value::from(30), "30 minutes"),
            ("policy.confirm_tools", Value::Array(Vec::new()), "none"),
            ("policy.confirm_tools", Value::from(vec!["shell"]), "shell"),
            ("signatures.sign", Value::from(vec!["heads"]), "Heads of the evidence"),
            ("editor_command", Value::from(""), "none"),
            ("searches", Value::from(vec!["a"]), "[\"a\"]"),
        ] {
            assert_eq!(shown(row_of(key).unwrap(), Some(&value)), text);
        }
        assert_eq!(shown(row_of("inbox").unwrap(), None), "none");
    }
}
