//! How texts are shown in a bug report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::evidence::hide_secrets;
use crate::plan::{quoted_lines, visible_lines};

/// The maximum length of a value, in bytes.
const MAX_VALUE: usize = 500;

/// Redacts secrets, writes out hidden characters, and replaces the home folder.
pub(super) struct Shown {
    home: Option<String>,
}

impl Shown {
    pub(super) fn new(home: Option<PathBuf>) -> Self {
        let home = home.map(|home| home.to_string_lossy().trim_end_matches('/').to_owned());
        Self { home: home.filter(|home| !home.is_empty()) }
    }

    /// The text with its line breaks.
    pub(super) fn text(&self, text: &str) -> String {
        quoted_lines(&self.without_home(&hide_secrets(text)))
    }

    /// A line of the log, in which hidden characters are written out already.
    pub(super) fn log_line(&self, line: &str) -> String {
        visible_lines(&self.without_home(&hide_secrets(line)))
    }

    /// The text as one line of limited length.
    pub(super) fn value(&self, text: &str) -> String {
        let mut value = self.text(text).replace('\n', " ");
        if value.len() > MAX_VALUE {
            value.truncate(value.floor_char_boundary(MAX_VALUE));
            value.push('…');
        }
        value
    }

    pub(super) fn path(&self, path: &Path) -> String {
        self.value(&path.display().to_string())
    }

    pub(super) fn all(&self, values: Vec<(String, String)>) -> BTreeMap<String, String> {
        values.into_iter().map(|(name, value)| (name, self.value(&value))).collect()
    }

    /// The text with `~` in place of the home folder, where its path is not a part of a longer one.
    fn without_home(&self, text: &str) -> String {
        let Some(home) = &self.home else { return text.to_owned() };
        let mut parts = text.split(home.as_str());
        let mut shown = parts.next().unwrap_or_default().to_owned();
        let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        for part in parts {
            let is_whole = !part.starts_with(is_name) && !shown.ends_with(is_name);
            shown.push_str(if is_whole { "~" } else { home });
            shown.push_str(part);
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_folder_is_a_tilde() {
        let shown = Shown::new(Some("/home/ada/".into()));
        for (text, expected) in [
            ("/home/ada", "~"),
            ("at=\"/home/ada/x\" and /home/ada", "at=\"~/x\" and ~"),
            (
                "/home/ada2/x /home/ada.old /srv/home/ada/x",
                "/home/ada2/x /home/ada.old /srv/home/ada/x",
            ),
        ] {
            assert_eq!(shown.text(text), expected);
        }
        for home in [None, Some("".into()), Some("/".into())] {
            assert_eq!(Shown::new(home).text("/home/ada"), "/home/ada");
        }
    }

    #[test]
    fn value_is_one_short_line_without_secrets() {
        let shown = Shown::new(None);
        let value = shown.value(&format!("a\nb\u{202e} password=letmein7xq {}", "x".repeat(9_000)));
        assert!(value.starts_with("a b⟨U+202E⟩ ") && value.len() < 520, "{value}");
        assert!(!value.contains("letmein"), "{value}");
        // Lines of the log have their marks already.
        assert_eq!(shown.log_line("a ⟨U+000A⟩"), "a ⟨U+000A⟩");
    }
}
