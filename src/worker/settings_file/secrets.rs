//! Settings that leave the program without what is secret in them.

use std::borrow::Cow;

use toml::{Table, Value};

use crate::evidence::hide_secrets;
use crate::run::settings::{Kind, NOT_SHOWN, SETTINGS, Setting, may_be_secret, row_of};

/// Whether a value of this key has a secret, or something in a place for secrets. The entries of a list are also looked at
/// as one line, because they may be the words of a command.
pub fn has_secret(key: &str, value: &Value) -> bool {
    let is_kept_secret = row_of(key).is_some_and(|row| row.kind == Kind::Secret);
    is_kept_secret
        || match value {
            Value::String(text) => is_secret(key, text),
            Value::Array(list) => {
                list.iter().any(|it| has_secret(key, it)) || is_secret(key, &line(list))
            }
            Value::Table(table) => {
                table.iter().any(|(name, value)| is_secret("", name) || has_secret(key, value))
            }
            _ => false,
        }
}

/// A key for people: the name of a planner is the command of one, which may have a secret.
pub fn shown_key(key: &str) -> Cow<'_, str> {
    if !is_secret("", key) {
        return Cow::Borrowed(key);
    }
    let table = key.split('.').next().unwrap_or_default();
    let field = key.rsplit('.').next().unwrap_or_default();
    Cow::Owned(format!("{table}.({NOT_SHOWN}).{field}"))
}

/// What is said of a fault of this key: a message may quote a value, or a name, in which a secret may be.
pub fn shown_fault(key: &str, message: String) -> String {
    let is_kept_secret = row_of(key).is_some_and(|row| row.kind == Kind::Secret);
    if !is_kept_secret && !is_secret("", &message) && !message.contains("PRIVATE KEY") {
        return message;
    }
    let entry = if key.is_empty() || is_secret("", key) { "an entry" } else { key };
    format!("{entry} cannot be used; why is not shown, because a secret may be in it")
}

/// The settings of a file, which may have faults, without secrets: without the values of keys that are secret or that no row
/// knows, and without texts in which a secret may be.
pub fn without_secrets(file: &Table) -> Table {
    let of = |(key, value): (&String, &Value)| match (row_of(key), value) {
        (Some(row), value) => (key.clone(), masked(row, key, value)),
        (None, Value::Table(table)) if is_table(key) => {
            (key.clone(), Value::Table(masked_table(key, table)))
        }
        _ => (shown_name(key), NOT_SHOWN.into()),
    };
    file.iter().map(of).collect()
}

/// Whether some row has a key in this table.
fn is_table(table: &str) -> bool {
    SETTINGS.iter().any(|row| row.key.strip_prefix(table).is_some_and(|it| it.starts_with('.')))
}

fn masked_table(table: &str, of: &Table) -> Table {
    let entry = |(name, value): (&String, &Value)| {
        let key = format!("{table}.{name}");
        let value = match value {
            Value::Table(fields) if table == "planners" => Value::Table(masked_table(&key, fields)),
            _ => row_of(&key).map_or(NOT_SHOWN.into(), |row| masked(row, &key, value)),
        };
        (shown_name(name), value)
    };
    of.iter().map(entry).collect()
}

fn masked(row: &Setting, key: &str, value: &Value) -> Value {
    match value {
        _ if row.kind == Kind::Secret => NOT_SHOWN.into(),
        Value::String(text) if may_be_secret(key, text) => NOT_SHOWN.into(),
        // Before the text is written as TOML, where quotes are escaped.
        Value::String(text) => hide_secrets(text).into_owned().into(),
        Value::Array(list) if is_secret(key, &line(list)) => NOT_SHOWN.into(),
        Value::Array(list) => Value::Array(list.iter().map(|it| masked(row, key, it)).collect()),
        Value::Table(table) => {
            let entry = |(name, it): (&String, &Value)| (shown_name(name), masked(row, key, it));
            Value::Table(table.iter().map(entry).collect())
        }
        value => value.clone(),
    }
}

/// A name in the file, which anybody may have written.
fn shown_name(name: &str) -> String {
    if is_secret("", name) { NOT_SHOWN.to_owned() } else { name.to_owned() }
}

fn is_secret(key: &str, text: &str) -> bool {
    may_be_secret(key, text) || hide_secrets(text) != text
}

fn line(list: &[Value]) -> String {
    list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::settings_file::FoundSettings;

    fn shown(text: &str) -> String {
        toml::to_string_pretty(&without_secrets(&text.parse().unwrap())).unwrap()
    }

    /// In every form of TOML, and where the key is not one that is known.
    #[test]
    fn a_secret_of_the_table_is_never_shown() {
        for text in [
            "[model]\nkey = 'heron'",
            "model.key = 'heron'",
            "model = { key = 'heron' }",
            "\"model\".\"key\" = 'heron'",
            "'model.key' = 'heron'",
            "model.\"k\\u0065y\" = '''\nheron'''",
            "model = 'heron'",
            "model = ['heron']",
            "[model.key]\nheron = 'heron'",
            "[[model]]\nkey = 'heron'",
            "[model]\nkey = ['heron']",
            "[model]\nkye = 'heron'",
            "[modle]\nkey = 'heron'",
            "api = 'heron'",
            "policy = 'heron'",
            "[policy]\nkey = 'heron'",
            "[planners]\nkey = 'heron'",
            "[planners.a]\nkey = 'heron'",
            "[planners.a.b]\nread = 'heron'",
            "team = 'postgres://me:heron@db/x'",
            "team = 'host=db password=heron'",
            "team = 'postgres://db/x?sslpassword=heron'",
            "team = 'postgres://db/x?pass%77ord=heron'",
            "[model]\nurl = 'https://heron@h'",
            "[model]\nurl = 'https://h/v1?k=heron'",
            "editor_command = 'code https://u:heron@h/'",
            "planners.'plan.py https://u:heron@h/'.read = true",
        ] {
            let shown = shown(text);
            assert!(!shown.contains("heron") && shown.contains(NOT_SHOWN), "{text}: {shown}");
        }
        let plain = "team = \"postgres://db/x\"\nzoom = 1.5\n\n[model]\nurl = \"http://localhost:8080/v1\"\n\n\
                     [planners.\"plan.py\"]\nread = false\n\n[shortcuts]\npalette = \"F12\"\n";
        assert_eq!(shown(plain), plain);
    }

    #[test]
    fn a_fault_quotes_no_secret() {
        for (text, key) in [
            ("team = ['postgres://ada:heron@h/d']", "team"),
            ("[model]\nurl = ['https://u:heron@h/']", "model.url"),
            ("[model]\nkey = ['heron']", "model.key"),
            ("theme = 'password=heron'", "theme"),
            ("'https://u:heron@h' = 1", "an entry"),
            ("[signatures]\nkey = '-----BEGIN OPENSSH PRIVATE KEY-----heron'", "signatures.key"),
        ] {
            let problem = FoundSettings::of(text.to_owned()).unwrap_err().to_string();
            assert!(!problem.contains("heron") && problem.contains(key), "{text}: {problem}");
        }
        let problem = FoundSettings::of("theme = 'purple'".to_owned()).unwrap_err();
        assert!(problem.message.contains("purple"), "{problem}");
    }

    #[test]
    fn a_secret_is_found_in_every_value() {
        const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        for (key, value) in [
            ("model.key", "'x'".to_owned()),
            ("editor_command", format!("'x -H \"Authorization: Bearer {TOKEN}\"'")),
            ("policy.command_rules", format!("[{{ prefix = ['curl', '{TOKEN}'] }}]")),
            ("policy.command_rules", "[{ must_match = ['git clone https://u:pw@h/'] }]".to_owned()),
            ("planners.a.write", "['--password=Ohp4quoh8W', '/x']".to_owned()),
            ("shortcuts", format!("{{ {TOKEN} = '' }}")),
        ] {
            let file: Table = format!("it = {value}").parse().unwrap();
            assert!(has_secret(key, &file["it"]), "{key} = {value}");
        }
        assert!(!has_secret("editor_command", &"code -g {file}:{line}".into()));
        assert!(!shown_key(&format!("planners.a {TOKEN}.read")).contains(TOKEN));
        assert_eq!(shown_key("planners.a.py.read"), "planners.a.py.read");
    }
}
