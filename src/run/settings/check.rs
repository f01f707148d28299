//! Checks values of settings. What needs more than the value, such as the rules for commands, is checked by who reads it.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Kind, Setting, Shortcuts, leaves, row_of};
use crate::plan::Tool;

/// A fault in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFault {
    /// The key that it is about; empty if it is about the whole file.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for SettingsFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Checks every key and value of a file.
///
/// # Errors
/// The first fault.
pub fn check(file: &Table) -> Result<(), SettingsFault> {
    for (key, value) in leaves(file) {
        let fault = |message| SettingsFault { key: key.clone(), message };
        let Some(row) = row_of(&key) else {
            return Err(fault(format!("there is no setting {key:?}")));
        };
        check_value(row, value).map_err(|why| fault(format!("{key} {why}")))?;
    }
    if let Some(chosen) = file.get("shortcuts") {
        let text = "shortcuts has the names of commands, each with its keys as a text";
        let no_text = |key: String| SettingsFault { key, message: text.to_owned() };
        let table = chosen.as_table().ok_or_else(|| no_text("shortcuts".to_owned()))?;
        let mut chosen = BTreeMap::new();
        for (name, keys) in table {
            let keys = keys.as_str().ok_or_else(|| no_text(format!("shortcuts.{name}")))?;
            chosen.insert(name.clone(), keys.to_owned());
        }
        Shortcuts::of(&chosen).map_err(|why| SettingsFault {
            key: format!("shortcuts.{}", why.name()),
            message: why.to_string(),
        })?;
    }
    Ok(())
}

/// Checks a value.
///
/// # Errors
/// What is wrong, as the rest of a sentence that begins with the key.
pub fn check_value(row: &Setting, value: &Value) -> Result<(), String> {
    let one_of = |words: &[(&str, &str)], value: &Value| {
        let is_one = value.as_str().is_some_and(|it| words.iter().any(|(word, _)| *word == it));
        let all: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        if is_one {
            Ok(())
        } else {
            Err(format!("is {value}, and must be one of {}", all.join(", ")))
        }
    };
    let each = |check: &dyn Fn(&Value) -> Result<(), String>| match value.as_array() {
        Some(list) => list.iter().try_for_each(check),
        None => Err(format!("is {value}, and must be a list")),
    };
    let path = |value: &Value, home: bool| match value.as_str() {
        Some(path) if path.starts_with('/') || home && path.starts_with("~/") => Ok(()),
        Some(path) if std::path::Path::new(path).is_absolute() => Ok(()),
        Some(path) if home => {
            Err(format!("is {path:?}, which is neither absolute nor begins with ~/"))
        }
        Some(path) => Err(format!("is {path:?}, which is not absolute")),
        None => Err(format!("is {value}, and must be a path as a text")),
    };
    match row.kind {
        Kind::Choice(words) => one_of(words, value),
        Kind::Switch if value.is_bool() => Ok(()),
        Kind::Switch => Err(format!("is {value}, and must be true or false")),
        Kind::Number(least, most, _) => match value.as_integer() {
            Some(number) if (least..=most).contains(&number) => Ok(()),
            _ => Err(format!("is {value}, and must lie between {least} and {most}")),
        },
        Kind::Zoom => {
            let zoom = value.as_float().or_else(|| value.as_integer().map(|it| it as f64));
            match zoom.filter(|zoom| (0.5..=3.0).contains(zoom)) {
                Some(_) => Ok(()),
                None => Err(format!("is {value}, and must lie between 0.5 and 3")),
            }
        }
        Kind::Text(_) | Kind::Secret if value.is_str() => Ok(()),
        Kind::Text(_) => Err(format!("is {value}, and must be a text")),
        Kind::Secret => Err("must be a text".to_owned()),
        Kind::File { home } | Kind::Folder { home } => path(value, home),
        Kind::Several(words) => each(&|it| one_of(words, it)),
        Kind::Tools => each(&|it| match it.as_str().and_then(Tool::from_name) {
            Some(_) => Ok(()),
            None => Err(format!("has {it}, which is no tool")),
        }),
        Kind::Folders => each(&|it| path(it, false)),
        // Whoever reads the table checks it.
        Kind::Table => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SETTINGS, default_of};
    use super::*;

    #[test]
    fn every_default_is_a_value() {
        for row in SETTINGS {
            match default_of(row) {
                Some(value) => assert_eq!(check_value(row, &value), Ok(()), "{}", row.key),
                None => assert!(row.default.is_empty(), "{}", row.key),
            }
        }
    }

    #[test]
    fn faults_name_the_key_and_what_it_may_be() {
        for (text, parts) in [
            ("zoom = 9", &["zoom", "0.5 and 3"][..]),
            ("theme = 'red'", &["theme", "\"dark\""]),
            ("high_contrast = 1", &["high_contrast", "true or false"]),
            ("must_see = 'some'", &["must_see", "\"careful\""]),
            ("heron = 1", &["heron", "no setting"]),
            ("[policy]\nheron = 1", &["policy.heron", "no setting"]),
            ("[agents]\nheron = 1", &["agents.heron", "no setting"]),
            ("[planners.a]\nheron = 1", &["planners.a.heron", "no setting"]),
            (
                "[policy]\nauthorization_minutes = 0",
                &["policy.authorization_minutes", "1 and 1440"],
            ),
            ("[policy]\nconfirm_tools = ['file_wirte']", &["policy.confirm_tools", "no tool"]),
            ("[policy]\nextra_roots = ['a']", &["policy.extra_roots", "absolute"]),
            ("[policy]\nwalls = true", &["policy.walls"]),
            ("[signatures]\nkey = 'id'", &["signatures.key", "~/"]),
            ("[signatures]\nsign = ['all']", &["signatures.sign", "\"heads\""]),
            ("[shortcuts]\npalette = 'Ctrl+O'", &["palette", "open_plan"]),
            ("[shortcuts]\npalette = 1", &["shortcuts"]),
        ] {
            let fault = check(&text.parse().unwrap()).unwrap_err();
            assert!(parts.iter().all(|part| fault.message.contains(part)), "{text}: {fault}");
            assert!(!fault.key.is_empty());
        }
        assert_eq!(
            check(&"[model]\nkey = 1".parse().unwrap()).unwrap_err().message,
            "model.key must be a text"
        );
        assert_eq!(check(&Table::new()), Ok(()));
    }
}
