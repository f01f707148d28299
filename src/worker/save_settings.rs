//! Saves the settings that the window may change.

use std::io::{Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table};

use super::files::cannot_write;
use super::settings_file::read_text;
use super::{Query, QueryContext, QueryError};

/// Sets keys of the settings file. The other settings and all comments are kept as they are in the file, because the
/// person may have made them stricter since the program read them.
pub struct SaveSettings {
    /// The settings file. It is created if it does not exist.
    pub file: PathBuf,
    /// The keys and their new values, as TOML.
    pub values: String,
}

impl SaveSettings {
    /// Replaces the file atomically. Only this user can read the new file, because it may contain an API key. If the
    /// path is a symbolic link, its target is replaced.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not TOML. The file is then unchanged.
    pub fn save(&self) -> std::io::Result<()> {
        let values: DocumentMut = self.values.parse().map_err(not_toml)?;
        edit(&self.file, |_| Ok(Some(values)))
    }
}

/// Changes one key of the settings file, starting from its present value, which another window may have set.
pub struct UpdateSetting {
    /// The settings file. It is created if it does not exist.
    pub file: PathBuf,
    /// The key.
    pub key: &'static str,
    /// Makes the new value of the old one; `None` is a missing key.
    pub update: Box<dyn FnOnce(Option<toml::Value>) -> Option<toml::Value> + Send>,
}

impl UpdateSetting {
    /// As [`SaveSettings::save`]. Returns the new value. The file is not written if the value is the same as before.
    ///
    /// # Errors
    /// As [`SaveSettings::save`].
    pub fn save(self) -> std::io::Result<Option<toml::Value>> {
        let Self { file, key, update } = self;
        let mut updated = None;
        edit(&file, |text| {
            let before = text.parse::<toml::Table>().map_err(not_toml)?.remove(key);
            updated = update(before.clone());
            let Some(value) = updated.clone().filter(|_| updated != before) else {
                return Ok(None);
            };
            let values = toml::Table::from_iter([(key.to_owned(), value)]);
            let values = toml::to_string(&values).map_err(not_toml)?;
            Ok(Some(values.parse().map_err(not_toml)?))
        })?;
        Ok(updated)
    }
}

impl Query for UpdateSetting {
    type Answer = Option<toml::Value>;
    const FAILURE: &str = SaveSettings::FAILURE;

    fn run(self, _context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let file = self.file.clone();
        Ok(self.save().map_err(|error| cannot_write(&file, &error, UNTIL_CLOSED))?)
    }
}

pub(super) fn not_toml(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::InvalidData, error)
}

/// Sets the values that `values` makes of the text of the file, and replaces the file if there are any.
fn edit(
    path: &Path,
    values: impl FnOnce(&str) -> std::io::Result<Option<DocumentMut>>,
) -> std::io::Result<()> {
    replace(path, |text| {
        let Some(values) = values(text)? else { return Ok(None) };
        let mut settings: DocumentMut = text.parse().map_err(not_toml)?;
        for (key, value) in values.into_table() {
            set(settings.as_table_mut(), &key, value);
        }
        Ok(Some(settings.to_string()))
    })
}

/// Replaces the file atomically by what `change` makes of its text; `None` leaves it as it is. Other windows wait
/// meanwhile. `change` gets the text with line feeds and without a byte order mark; the file keeps its own line endings
/// and its byte order mark. Only a regular file is replaced.
pub(super) fn replace(
    path: &Path,
    change: impl FnOnce(&str) -> std::io::Result<Option<String>>,
) -> std::io::Result<()> {
    let file = link_target(path)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let _lock = lock(folder)?;
    let text = read_text(&file)?;
    let form = Form::of(&text);
    let Some(changed) = change(&form.plain(&text))? else { return Ok(()) };
    let mut temporary = temporary_beside(&file)?;
    temporary.write_all(form.restored(&changed).as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(file)?;
    Ok(())
}

/// How a file is written, besides its content: some editors put a mark before a text, and a carriage return before each line
/// feed.
struct Form {
    mark: bool,
    returns: bool,
}

impl Form {
    const MARK: char = '\u{feff}';

    fn of(text: &str) -> Self {
        let feeds = text.matches('\n').count();
        let returns = feeds > 0 && text.matches("\r\n").count() == feeds;
        Self { mark: text.starts_with(Self::MARK), returns }
    }

    fn plain(&self, text: &str) -> String {
        let text = text.strip_prefix(Self::MARK).unwrap_or(text);
        if self.returns { text.replace("\r\n", "\n") } else { text.to_owned() }
    }

    fn restored(&self, text: &str) -> String {
        let mark = if self.mark { Self::MARK.to_string() } else { String::new() };
        mark + &if self.returns { text.replace('\n', "\r\n") } else { text.to_owned() }
    }
}

/// How the name of an unfinished copy ends.
const UNFINISHED: &str = ".unfinished";

/// A new file beside this one, which only this user can read. Removes such files that a killed process has left, because
/// they may contain a key. The folder must be locked.
pub(super) fn temporary_beside(file: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&prefix) && name.ends_with(UNFINISHED) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    tempfile::Builder::new().prefix(&prefix).suffix(UNFINISHED).tempfile_in(folder)
}

/// Locks the folder of the settings until the result is dropped. The file itself cannot be locked, because it is
/// replaced.
#[cfg(unix)]
fn lock(folder: &Path) -> std::io::Result<std::fs::File> {
    let folder = std::fs::File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Folders cannot be locked on this system.
#[cfg(not(unix))]
fn lock(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// What a person can do about settings that cannot be saved.
const UNTIL_CLOSED: &str = "Your choices hold until the window is closed.";

impl Query for SaveSettings {
    type Answer = ();
    const FAILURE: &str = "The settings could not be saved.";

    fn run(self, _context: &mut QueryContext) -> Result<(), QueryError> {
        Ok(self.save().map_err(|error| cannot_write(&self.file, &error, UNTIL_CLOSED))?)
    }
}

/// The absolute path of the file to which a symbolic link leads, also if that file does not exist; for any other path,
/// its absolute path.
fn link_target(path: &Path) -> std::io::Result<PathBuf> {
    // The limit of Linux.
    const MAX_LINKS: usize = 40;
    let mut file = std::path::absolute(path)?;
    for _ in 0..=MAX_LINKS {
        let Ok(target) = std::fs::read_link(&file) else { return Ok(file) };
        file = file.parent().unwrap_or(Path::new("/")).join(target);
    }
    Err(Error::other(format!("{} is a link that leads to too many others", path.display())))
}

/// Sets a top-level key, and keeps the comment after its old value.
fn set(settings: &mut Table, key: &str, mut value: Item) {
    if let Item::ArrayOfTables(tables) = &mut value {
        // Without a position, the tables are written after the existing ones.
        tables.iter_mut().for_each(|table| table.set_position(None));
    }
    match (settings.get_mut(key), value) {
        (Some(Item::Value(old)), Item::Value(mut new)) => {
            // The decor contains the comment.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        (_, value) => {
            settings.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save(file: &Path, values: &str) -> std::io::Result<()> {
        SaveSettings { file: file.to_owned(), values: values.to_owned() }.save()
    }

    #[test]
    fn other_settings_and_comments_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        let before = "# mine\nzoom = 1.0 # small\n\n[policy] # strict\nconfirm_tools = [\"shell\"]\n\n\
                      [[policy.command_rules]]\nid = 'x'\n\n[[recent]]\npath = \"/old\"\n\n\
                      [model]\nkey = 'k'\n";
        std::fs::write(&file, before).unwrap();
        save(&file, "zoom = 2.0\nwindow = [1.0, 2.0]\n\n[[recent]]\npath = \"/new\"\n").unwrap();
        let after = std::fs::read_to_string(&file).unwrap();
        assert!(after.starts_with("# mine\nzoom = 2.0 # small\nwindow = [1.0, 2.0]\n"), "{after}");
        assert!(after.contains("[policy] # strict\nconfirm_tools"), "{after}");
        let mut expected: toml::Table = before.parse().unwrap();
        expected.extend(
            "zoom = 2.0\nwindow = [1.0, 2.0]\nrecent = [{path = \"/new\"}]"
                .parse::<toml::Table>()
                .unwrap(),
        );
        assert_eq!(after.parse::<toml::Table>().unwrap(), expected);
        save(&file, "recent = []").unwrap();
        let empty: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
        assert_eq!(empty["recent"], toml::Value::Array(Vec::new()));
        assert_eq!(empty["policy"], expected["policy"]);
    }

    // Each thread appends its number to what the others have saved.
    #[test]
    fn concurrent_updates_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper/settings.toml");
        std::thread::scope(|scope| {
            for number in 0..8_i64 {
                let file = file.clone();
                scope.spawn(move || {
                    let update = move |before: Option<toml::Value>| {
                        let mut list =
                            before.and_then(|it| it.as_array().cloned()).unwrap_or_default();
                        list.push(number.into());
                        Some(toml::Value::Array(list))
                    };
                    UpdateSetting { file, key: "recent", update: Box::new(update) }.save().unwrap();
                });
            }
        });
        let saved: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
        assert_eq!(saved["recent"].as_array().unwrap().len(), 8);
        let before = file.metadata().unwrap().modified().unwrap();
        let same = UpdateSetting { file: file.clone(), key: "recent", update: Box::new(|it| it) };
        assert_eq!(same.save().unwrap(), Some(saved["recent"].clone()));
        assert_eq!(file.metadata().unwrap().modified().unwrap(), before, "nothing is written");
    }

    #[test]
    fn a_faulty_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, "zoom = = 1").unwrap();
        let error = save(&file, "zoom = 2.0").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "zoom = = 1");
    }

    #[test]
    fn line_ends_and_the_mark_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        for (before, after) in [
            (
                "\u{feff}# mine\r\nzoom = 1.0 # small\r\n\r\n[policy]\r\nwalls = 'off'\r\n",
                "\u{feff}# mine\r\nzoom = 2.0 # small\r\n\r\n[policy]\r\nwalls = 'off'\r\n",
            ),
            ("# a\r\nzoom = 1.0\r\n", "# a\r\nzoom = 2.0\r\n"),
            ("\u{feff}zoom = 1.0\n", "\u{feff}zoom = 2.0\n"),
            ("zoom = 1.0\n", "zoom = 2.0\n"),
        ] {
            std::fs::write(&file, before).unwrap();
            save(&file, "zoom = 2.0").unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
        }
    }

    #[test]
    fn what_is_no_regular_file_is_not_replaced() {
        use std::os::unix::fs::FileTypeExt as _;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("settings.toml");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        let why = save(&pipe, "zoom = 2.0").unwrap_err().to_string();
        assert!(why.contains("no regular file"), "{why}");
        assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo());
    }

    /// A copy of a process that was killed may have the key of a model.
    #[test]
    fn unfinished_copies_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let left = temporary_beside(&at("settings.toml")).unwrap().keep().unwrap().1;
        assert!(left.exists());
        for name in [".other.toml.aaaaaa.unfinished", ".tmpaaaaaa"] {
            std::fs::write(at(name), "").unwrap();
        }
        save(&at("settings.toml"), "zoom = 2.0").unwrap();
        assert!(!left.exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_bare_name_has_a_folder() {
        let file = link_target(Path::new("settings.toml")).unwrap();
        assert_eq!(file, std::env::current_dir().unwrap().join("settings.toml"));
    }

    #[cfg(unix)]
    #[test]
    fn a_dangling_link_is_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [target, link] = ["new/target.toml", "link.toml"].map(|name| folder.path().join(name));
        symlink("new/target.toml", &link).unwrap();
        save(&link, "zoom = 2.0").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "zoom = 2.0\n");
        let circle = folder.path().join("circle.toml");
        symlink("circle.toml", &circle).unwrap();
        assert!(save(&circle, "zoom = 2.0").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_others_cannot_read() {
        use std::os::unix::fs::{MetadataExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [target, link] = ["target.toml", "settings.toml"].map(|name| folder.path().join(name));
        std::fs::write(&target, "").unwrap();
        symlink("target.toml", &link).unwrap();
        save(&link, "zoom = 2.0").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "zoom = 2.0\n");
        assert_eq!(target.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no other file is left");
    }
}
