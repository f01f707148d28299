//! The text of a file after a change that an agent shows.

use super::FileDiff;

impl FileDiff {
    /// The whole text of the file after the change. `now` is its present text; `None` if it does not exist. Agents show
    /// the whole text of a file or a part of it, which must be in it exactly once.
    ///
    /// # Errors
    /// Why the change does not fit the file, as a clause.
    pub fn applied_to(&self, now: Option<&str>) -> Result<String, String> {
        let path = &self.path;
        let old = self.old.as_deref().unwrap_or_default();
        match now {
            None if old.is_empty() => Ok(self.new.clone()),
            None => Err(format!("{path} does not exist, and the agent shows a change of its text")),
            Some(now) if now == old => Ok(self.new.clone()),
            Some(_) if old.is_empty() => {
                Err(format!("{path} exists and has text, and the agent shows it as new or empty"))
            }
            Some(now) => {
                let mut places = now.match_indices(old);
                match (places.next(), places.next()) {
                    // Overlapping places are not found by the search, so that one of them could be meant.
                    (Some((at, _)), None) if !overlaps(now, old, at) => {
                        Ok(now.replacen(old, &self.new, 1))
                    }
                    (Some(_), _) => {
                        Err(format!("the text that the agent replaces is in {path} more than once"))
                    }
                    (None, _) => Err(format!(
                        "{path} has another text than the one that the agent shows as the old one"
                    )),
                }
            }
        }
    }
}

/// Whether `old` also begins inside of its first place in the text.
fn overlaps(now: &str, old: &str, at: usize) -> bool {
    let first = old.chars().next().map_or(1, char::len_utf8);
    now.get(at + first..).is_some_and(|rest| rest.contains(old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_must_fit_the_file() {
        let of = |old: Option<&str>, now: Option<&str>| {
            let (path, old) = ("/w/a".to_owned(), old.map(str::to_owned));
            FileDiff { path, old, new: "new".to_owned() }.applied_to(now).ok()
        };
        let new = |text: &str| Some(text.to_owned());
        assert_eq!(of(None, None), new("new"));
        assert_eq!(of(Some(""), None), new("new"));
        assert_eq!(of(None, Some("")), new("new"));
        assert_eq!(of(Some("old"), Some("old")), new("new"));
        assert_eq!(of(Some("b"), Some("a b c")), new("a new c"));
        for (old, now) in [
            (Some("old"), None),
            (None, Some("text")),
            (Some(""), Some("text")),
            (Some("x"), Some("text text x x")),
            (Some("aa"), Some("aaa")),
            (Some("other"), Some("text")),
        ] {
            assert_eq!(of(old, now), None, "{old:?} {now:?}");
        }
    }
}
