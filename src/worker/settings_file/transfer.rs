//! Settings that leave this computer, and settings that come to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::edit::with_value;
use super::{
    FoundSettings, SettingsAnswer, SettingsProblem, checked, has_secret, read_file, read_text,
};
use crate::run::settings::{
    Group, NOT_SHOWN, SETTINGS, Setting, found_in, leaves, row_of, shown, weaker_in,
};
use crate::worker::files::cannot_write;
use crate::worker::save_settings::{replace, temporary_beside};
use crate::worker::{Query, QueryContext, QueryError};

/// A key that would change.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The key.
    pub key: String,
    /// Its row.
    pub row: &'static Setting,
    /// The present value for people.
    pub from: String,
    /// The new value for people.
    pub to: String,
    /// The new value.
    pub value: Value,
    /// What the change gives up; `None` if nothing.
    pub weakens: Option<&'static str>,
}

/// The keys that a file to import would change, in the order of the rows. What the window remembers is not imported, and
/// a key that the file does not have stays as it is.
pub fn differences(present: &Table, import: &Table) -> Vec<Difference> {
    let new = leaves(import).into_iter().filter_map(|(key, value)| {
        let row = row_of(&key).filter(|row| row.group != Group::Memory)?;
        let old = found_in(present, &key);
        (old != Some(value)).then(|| Difference {
            from: if old.is_none() && !row.default.is_empty() {
                let default = crate::run::settings::default_of(row);
                format!("{} (default)", shown(row, default.as_ref()))
            } else {
                without_secret(row, &key, old)
            },
            to: without_secret(row, &key, Some(value)),
            weakens: weaker_in(present, &key, Some(value)).map(|it| it.sentence),
            value: value.clone(),
            row,
            key,
        })
    });
    let mut all: Vec<_> = new.collect();
    let place = |row: &Setting| SETTINGS.iter().position(|it| it.key == row.key);
    all.sort_by_key(|it| place(it.row));
    all
}

/// A value for people, unless a secret may be in it.
fn without_secret(row: &Setting, key: &str, value: Option<&Value>) -> String {
    match value {
        Some(it) if has_secret(key, it) => NOT_SHOWN.to_owned(),
        value => shown(row, value),
    }
}

/// Reads a file to import, and compares it with the settings.
pub struct ReadImport {
    /// The settings file.
    pub settings: PathBuf,
    /// The file to import.
    pub file: PathBuf,
}

impl ReadImport {
    /// The keys that would change.
    ///
    /// # Errors
    /// The fault of the file to import, or of the settings file.
    pub fn read(&self) -> Result<Vec<Difference>, SettingsProblem> {
        let unread = |error: std::io::Error| {
            let message = error.to_string();
            SettingsProblem { message, key: String::new(), line: None }
        };
        let present = read_text(&self.settings).map_err(unread).and_then(FoundSettings::of);
        let present = present.map_err(|problem| SettingsProblem {
            message: format!("the settings file has a fault: {problem}"),
            line: None,
            ..problem
        })?;
        let import = importable(read_file(&self.file).map_err(unread)?, &present)?;
        Ok(differences(&present.table, &import))
    }
}

/// The keys of a file to import. What it does not have stays as it is, and what belongs to a computer is not exported. So a
/// file that needs something else counts if it can be used together with the settings, or would be with the files that a
/// computer may have; what is chosen of it is checked with the settings before they are written.
fn importable(text: String, present: &FoundSettings) -> Result<Table, SettingsProblem> {
    let import = checked(&text)?;
    let Err(problem) = FoundSettings::of(text.clone()) else { return Ok(import) };
    let is_usable = |base: &str, more: &[(String, &Value)]| {
        let text = more
            .iter()
            .try_fold(base.to_owned(), |text, (key, value)| with_value(&text, key, Some(value)));
        text.is_ok_and(|text| FoundSettings::of(text).is_ok())
    };
    let file = Value::from("/");
    let of_computer = ["signatures.key", "signatures.allowed_signers"];
    let missing = of_computer.into_iter().filter(|key| found_in(&import, key).is_none());
    let missing: Vec<_> = missing.map(|key| (key.to_owned(), &file)).collect();
    if is_usable(&present.text, &leaves(&import)) || is_usable(&text, &missing) {
        return Ok(import);
    }
    Err(problem)
}

impl Query for ReadImport {
    type Answer = (PathBuf, Result<Vec<Difference>, SettingsProblem>);
    const FAILURE: &str = "The settings could not be read.";

    fn run(self, _context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let found = self.read();
        Ok((self.file, found))
    }
}

/// What an import changed.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The copy of the settings file from before; `None` if there was no file, or nothing changed.
    pub copy: Option<PathBuf>,
    /// The settings as they are now.
    pub found: FoundSettings,
}

/// Imports chosen keys of a file. The file from before is kept beside the new one.
pub struct ImportSettings {
    /// The settings file.
    pub settings: PathBuf,
    /// The changes, as they were shown.
    pub shown: Vec<Difference>,
    /// The keys among them to change.
    pub keys: BTreeSet<String>,
}

impl ImportSettings {
    /// Changes the settings file, unless a value that was shown is another one by now.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn save(&self) -> std::io::Result<Result<Applied, SettingsProblem>> {
        let mut answer: SettingsAnswer = FoundSettings::of(String::new());
        let mut copy = None;
        replace(&self.settings, |text| {
            answer = FoundSettings::of(text.to_owned());
            let Ok(before) = &answer else { return Ok(None) };
            let import = self.shown.iter().fold(String::new(), |text, it| {
                with_value(&text, &it.key, Some(&it.value)).unwrap_or(text)
            });
            let import: Table = import.parse().unwrap_or_default();
            if differences(&before.table, &import) != self.shown {
                answer = Err(SettingsProblem {
                    message: "The settings were changed meanwhile. Look at the differences again."
                        .to_owned(),
                    key: String::new(),
                    line: None,
                });
                return Ok(None);
            }
            let mut changed = text.to_owned();
            for it in self.shown.iter().filter(|it| self.keys.contains(&it.key)) {
                changed = with_value(&changed, &it.key, Some(&it.value))?;
            }
            answer = FoundSettings::of(changed.clone());
            if answer.is_err() || changed == text {
                return Ok(None);
            }
            if !text.is_empty() {
                copy = Some(keep_copy(&self.settings)?);
            }
            Ok(Some(changed))
        })?;
        Ok(answer.map(|found| Applied { copy, found }))
    }
}

impl Query for ImportSettings {
    type Answer = Result<Applied, SettingsProblem>;
    const FAILURE: &str = "The settings could not be imported.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let next = "Nothing was changed. Correct the settings file, then try again.";
        let answer = self.save().map_err(|error| cannot_write(&self.settings, &error, next))?;
        if let Ok(applied) = &answer {
            context.setup.policy.take_settings(&applied.found.policy);
        }
        Ok(answer)
    }
}

/// Writes a copy of the settings beside their file, under a name that is free. Only this user can read it.
fn keep_copy(file: &Path) -> std::io::Result<PathBuf> {
    use std::io::Write as _;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut copy = temporary_beside(file)?;
    copy.write_all(read_file(file)?.as_bytes())?;
    copy.as_file().sync_all()?;
    for number in 1..=9_999 {
        let path = folder.join(format!("settings.before-import-{number}.toml"));
        match copy.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                copy = error.file
            }
            Err(error) => return Err(error.error),
        }
    }
    Err(std::io::Error::other("there are too many copies of the settings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_keys_are_imported_and_the_old_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("settings.toml");
        let text = "# mine\ntheme = 'dark' # night\n[policy]\nwalls = 'required' # always\n";
        std::fs::write(&settings, text).unwrap();
        let file = folder.path().join("import.toml");
        std::fs::write(
            &file,
            "theme = 'light'\nzoom = 1.3\nwindow = [1.0, 2.0]\n[policy]\nwalls = 'off'\n",
        )
        .unwrap();
        let shown = ReadImport { settings: settings.clone(), file }.read().unwrap();
        let weakens: Vec<_> =
            shown.iter().map(|it| (it.key.as_str(), it.weakens.is_some())).collect();
        assert_eq!(weakens, [("theme", false), ("zoom", false), ("policy.walls", true)]);
        assert_eq!((shown[1].from.as_str(), shown[1].to.as_str()), ("100 % (default)", "130 %"));
        let keys = ["theme", "zoom"].map(str::to_owned).into();
        let import = ImportSettings { settings: settings.clone(), shown, keys };
        let applied = import.save().unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(applied.copy.unwrap()).unwrap(), text);
        let now = std::fs::read_to_string(&settings).unwrap();
        assert_eq!(
            now,
            "# mine\ntheme = \"light\" # night\nzoom = 1.3\n[policy]\nwalls = 'required' # always\n"
        );
        // What was shown is no longer what is there.
        assert!(import.save().unwrap().is_err());
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), now);
    }

    /// Of a file that names what belongs to a computer only indirectly, each key can be chosen.
    #[test]
    fn what_an_import_needs_of_the_computer_is_checked_with_the_settings() {
        const SIGNED: &str =
            "[signatures]\nsign = ['authorizations']\nrequired = 2\nprincipal = 'ada'\n";
        let folder = tempfile::tempdir().unwrap();
        let [settings, file] =
            ["settings.toml", "import.toml"].map(|name| folder.path().join(name));
        std::fs::write(&file, format!("zoom = 1.5\n{SIGNED}")).unwrap();
        let import = |names: &[&str]| {
            let read = ReadImport { settings: settings.clone(), file: file.clone() };
            let shown = read.read().unwrap();
            let keys = names.iter().map(|key| (*key).to_owned()).collect();
            ImportSettings { settings: settings.clone(), shown, keys }.save().unwrap()
        };
        std::fs::write(&settings, "zoom = 2.0\n").unwrap();
        let fault = import(&["zoom", "signatures.sign"]).unwrap_err();
        assert!(fault.message.contains("signatures.key"), "{fault}");
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), "zoom = 2.0\n");
        assert!(import(&["zoom"]).is_ok());
        std::fs::write(&settings, format!("{SIGNED}key = '/k'\nallowed_signers = '/a'\n")).unwrap();
        assert!(import(&["zoom", "signatures.required"]).is_ok());
        // A part that fits these settings alone.
        std::fs::write(&file, "signatures.required = 3").unwrap();
        assert!(import(&["signatures.required"]).is_ok());
        std::fs::write(&file, "signatures.required = 30").unwrap();
        assert!(ReadImport { settings: settings.clone(), file: file.clone() }.read().is_err());
    }

    #[test]
    fn what_is_no_regular_file_is_not_imported() {
        let folder = tempfile::tempdir().unwrap();
        let [settings, file] = ["settings.toml", "pipe"].map(|name| folder.path().join(name));
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into()).unwrap();
        let read = ReadImport { settings: settings.clone(), file: file.clone() };
        assert!(read.read().unwrap_err().message.contains("no regular file"));
        let read = ReadImport { settings: file, file: settings };
        let problem = read.read().unwrap_err();
        assert!(problem.message.starts_with("the settings file has a fault"), "{problem}");
    }

    #[test]
    fn a_faulty_import_says_where_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [settings, file] =
            ["settings.toml", "import.toml"].map(|name| folder.path().join(name));
        std::fs::write(&settings, "zoom = 2.0\n").unwrap();
        for (text, line) in [("\nzoom = 9", 2), ("\n\n[policy\n", 3), ("heron = 1", 1)] {
            std::fs::write(&file, text).unwrap();
            let read = ReadImport { settings: settings.clone(), file: file.clone() };
            let problem = read.read().unwrap_err();
            assert_eq!(problem.line, Some(line), "{problem}");
        }
        let missing = ReadImport { settings: settings.clone(), file: folder.path().join("none") };
        assert!(missing.read().is_err());
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), "zoom = 2.0\n");
    }
}
