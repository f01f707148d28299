//! Settings that leave this computer.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use toml::Table;

use super::edit::with_value;
use super::secrets::shown_key;
use super::{FoundSettings, has_secret, read_text};
use crate::export::{ExportError, write_to_file};
use crate::plan::{Code, quoted};
use crate::run::Failure;
use crate::run::settings::{Belongs, leaves, row_of};
use crate::worker::{Query, QueryContext, QueryError};

/// The settings of a file as the text of a file to export, and the keys that are left out, because they are secrets, have one
/// in them, or are about this computer.
pub fn exported(file: &Table) -> (String, Vec<String>) {
    let (mut text, mut left_out) = (String::new(), Vec::new());
    for (key, value) in leaves(file) {
        let shown = shown_key(&key);
        let is_persons = row_of(&key).is_some_and(|row| row.belongs == Belongs::Person);
        let with = with_value(&text, &key, Some(value)).ok();
        match with.filter(|_| is_persons && *shown == key && !has_secret(&key, value)) {
            Some(with) => text = with,
            None => left_out.push(quoted(&shown).into_owned()),
        }
    }
    let what = match left_out.as_slice() {
        [] => "Nothing was left out.".to_owned(),
        keys => format!(
            "Left out, because they are or have secrets, or are about one computer: {}.",
            keys.join(", ")
        ),
    };
    let head = format!(
        "# Settings of Countersign, exported. What is not here stays as it is in an import.\n# {what}\n\n"
    );
    (format!("{head}{}", text.trim_start()), left_out)
}

/// Writes an exported text, which only this user can read. `replace` allows a file that exists, but not the settings file.
///
/// # Errors
/// As for [`write_to_file`], and if the file is the settings file.
pub fn write_export(
    settings: &Path,
    (out, replace): (&Path, bool),
    own: [&Path; 3],
    text: &str,
) -> Result<(), ExportError> {
    let is_same = place(out).zip(place(settings)).is_some_and(|(out, settings)| out == settings);
    if is_same {
        return Err(ExportError::Settings);
    }
    write_to_file(out, replace, own, |file| Ok(file.write_all(text.as_bytes())?))?;
    Ok(())
}

/// Where a file is, or would be.
fn place(file: &Path) -> Option<PathBuf> {
    let file = std::path::absolute(file).ok()?;
    file.canonicalize()
        .ok()
        .or_else(|| Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?)))
}

/// Writes the settings to a file for another computer. A file that exists is replaced: the file picker has asked.
pub struct ExportSettings {
    /// The settings file.
    pub settings: PathBuf,
    /// The file to write.
    pub out: PathBuf,
}

impl Query for ExportSettings {
    /// The written file, and the keys that were left out.
    type Answer = (PathBuf, Vec<String>);
    const FAILURE: &str = "The settings could not be exported.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let next = "Correct the settings file, then try again.";
        let found = read_text(&self.settings).map_err(|error| error.to_string());
        let found = found.and_then(|text| FoundSettings::of(text).map_err(|it| it.to_string()));
        let found = found.map_err(|message| Failure {
            code: Code::ReadFailed,
            message,
            next: next.to_owned(),
        })?;
        let (text, left_out) = exported(&found.table);
        let own = context.setup.location.folders();
        write_export(&self.settings, (&self.out, true), own, &text)
            .map_err(|error| error.failure())?;
        Ok((self.out, left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::differences;
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    const SETTINGS: &str = "theme = 'dark'\nwindow = [900.0, 600.0]\nrecent = []\n[policy]\nwalls = 'required'\n\
                            extra_roots = ['/data']\n[model]\nkey = 'sk-heron'\nname = 'm'\nurl = 'https://a:b@c/v1'\n\
                            [shortcuts]\npalette = 'F12'\n[planners.'a.py']\nnetwork = true\n\
                            [[policy.command_rules]]\nid = 'mine'\nprefix = ['make']\nlevel = 'blocked'\nreason = 'no'\n\
                            must_match = ['make all']\nmust_not_match = ['ls']\n";

    #[test]
    fn an_export_has_no_hidden_character_and_comes_back() {
        let text = "[model]\nname = \"a\\u202Eb\\u009B\\u200B \\\"c\\\\ \\U000E0041\\t\"\n\
                    [planners.\"x\\u202E.py\"]\nnetwork = true\nread = ['~/\u{200b}a', '~/b']\n\
                    [signatures]\nkey = '/home/\u{2066}k'\n\
                    [[policy.command_rules]]\nid = 'mine'\nprefix = ['make']\nlevel = 'blocked'\nreason = 'n\u{200b}o'\n\
                    must_match = ['make all']\nmust_not_match = ['ls']\n";
        let (exported, left_out) = exported(&table(text));
        assert!(left_out.iter().any(|key| key == "signatures.key"), "{left_out:?}");
        let raw = exported.chars().find(|c| crate::plan::is_hidden(*c) && *c != '\n');
        assert_eq!(raw, None, "{exported:?}");
        for written in
            ["\"a\\u202Eb\\u009B\\u200B ", "\\U000E0041", "\"x\\u202E.py\"", "\"n\\u200Bo\""]
        {
            assert!(exported.contains(written), "{written}: {exported}");
        }
        let found: Table = exported.parse().unwrap();
        assert_eq!(differences(&table(text), &found), [], "{exported}");
        for key in ["model", "planners", "policy"] {
            assert_eq!(found.get(key), table(text).get(key), "{exported}");
        }
    }

    #[test]
    fn an_export_has_no_secret_and_comes_back() {
        let (text, left_out) = exported(&table(SETTINGS));
        for word in ["heron", "a:b@c", "/data", "900"] {
            assert!(!text.contains(word), "{text}");
        }
        for key in ["window", "recent", "policy.extra_roots", "model.key", "model.url"] {
            assert!(left_out.iter().any(|it| it == key) && text.contains(key), "{key}: {text}");
        }
        let found = FoundSettings::of(text.clone()).unwrap();
        assert_eq!(differences(&table(SETTINGS), &found.table), [], "{text}");
        let all = differences(&Table::new(), &found.table);
        let keys: Vec<_> = all.iter().map(|it| it.key.as_str()).collect();
        let expected = [
            "theme",
            "shortcuts",
            "policy.command_rules",
            "policy.walls",
            "planners.a.py.network",
            "model.name",
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn a_value_with_a_secret_is_left_out_and_named() {
        const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let rule = |field: &str, text: &str| {
            let rule = "[[policy.command_rules]]\nid = 'mine'\nprefix = ['x']\nlevel = 'blocked'\nreason = 'r'\n\
                        must_match = ['m']\nmust_not_match = ['n']\n";
            let line = rule.lines().find(|line| line.starts_with(field)).unwrap();
            let value =
                if line.contains('[') { format!("['{text}']") } else { format!("'{text}'") };
            ("policy.command_rules", rule.replace(line, &format!("{field} = {value}")))
        };
        let url = "git clone https://u:pw@h/";
        let cases = [
            ("editor_command", format!("editor_command = 'x \"Authorization: Bearer {TOKEN}\"'")),
            rule("prefix", url),
            rule("reason", url),
            rule("must_match", url),
            rule("must_not_match", url),
            rule("reason", TOKEN),
            ("signatures.principal", format!("signatures.principal = '{TOKEN}'")),
            ("planners.(set, not shown).read", format!("planners.'a {TOKEN}'.read = false")),
            ("planners.(set, not shown).read", format!("planners.'{url}'.read = false")),
            ("team", "team = 'postgres://db/x?sslpassword=heron'".to_owned()),
            ("model.url", "model.url = 'https://TOKEN@h'".to_owned()),
            ("model.name", "model.name = 'm password=heron'".to_owned()),
        ];
        for (key, text) in cases {
            let (text, left_out) = exported(&table(&text));
            assert_eq!(left_out, [key], "{text}");
            for secret in [TOKEN, "pw@", "TOKEN", "heron"] {
                assert!(!text.contains(secret), "{text}");
            }
            assert_eq!(table(&text), Table::new());
        }
    }

    /// A name that is left out is in a comment, and stays in it.
    #[test]
    fn a_name_adds_no_line() {
        let name = "https://u:p@h\\n[policy]\\nwalls = 'off'";
        let (text, _) = exported(&table(&format!("planners.\"{name}\".read = true")));
        assert_eq!(table(&text), Table::new(), "{text}");
        let (text, left_out) = exported(&table("planners.\"a\\nzoom = 9\".key = true"));
        assert_eq!((table(&text), left_out.len()), (Table::new(), 1), "{text}");
    }

    #[test]
    fn the_settings_file_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let settings = at("settings.toml");
        std::fs::write(&settings, "zoom = 1.5 # mine\n").unwrap();
        std::os::unix::fs::symlink(&settings, at("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), 0o600.into()).unwrap();
        std::fs::write(at("other"), "other").unwrap();
        let none = Path::new("/nonexistent");
        let write = |out: &Path, replace| {
            write_export(&settings, (out, replace), [none; 3], "text").map_err(|it| it.to_string())
        };
        for name in ["settings.toml", "link", "./settings.toml"] {
            let why = write(&at(name), true).unwrap_err();
            assert!(why.contains("settings file"), "{name}: {why}");
        }
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), "zoom = 1.5 # mine\n");
        assert!(write(&at("pipe"), true).unwrap_err().contains("no regular file"));
        assert!(write(&at("other"), false).unwrap_err().contains("exists already"));
        assert_eq!(std::fs::read_to_string(at("other")).unwrap(), "other");
        write(&at("other"), true).unwrap();
        write(&at("new"), false).unwrap();
        assert_eq!(std::fs::read_to_string(at("other")).unwrap(), "text");
        // Also before there is one.
        std::fs::remove_file(&settings).unwrap();
        assert!(write(&settings, false).is_err());
    }
}
