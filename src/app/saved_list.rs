//! Lists that all windows share, in the settings file: each change is made to the list as it is there.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::App;
use crate::worker::UpdateSetting;

impl App {
    /// Changes the list `key` of the settings file, and passes the new list on to `take`, with what other windows changed.
    /// Does nothing if the settings have a fault. With `only_reads`, the change is none.
    pub(super) fn change_saved_list<T: Serialize + DeserializeOwned>(
        &mut self,
        (key, only_reads): (&'static str, bool),
        change: impl FnOnce(&mut Vec<T>) + Send + 'static,
        take: impl FnOnce(&mut Self, Vec<T>) + Send + 'static,
    ) {
        // The window then runs with default settings, which must not replace the person's own.
        let Some(file) = self.settings_file.clone().filter(|_| !self.settings_have_fault) else {
            return;
        };
        let update = Box::new(|saved| changed(saved, change));
        *self.shared.pending.lists.entry(key).or_default() += 1;
        let query = UpdateSetting { file, key, update };
        let sent = self.shared.query_each(query, move |app, saved, _| match saved {
            // The list here has what the later changes make of it. The latest query may be about another list.
            _ if app.shared.pending.remove_list(key) => {}
            Ok(saved) => {
                let list = saved.map_or(Ok(Vec::new()), toml::Value::try_into);
                if let Ok(list) = list {
                    take(app, list);
                }
            }
            // Reading the settings tells the same fault, and nothing was to be saved.
            Err(_) if only_reads => {}
            Err(failed) => app.shared.report(failed),
        });
        if !sent {
            self.shared.pending.remove_list(key);
        }
    }
}

/// A list of the settings file after a change. A list that cannot be read stays as it is, so that nothing that a person
/// or a newer version has written is lost.
fn changed<T: Serialize + DeserializeOwned>(
    saved: Option<toml::Value>,
    change: impl FnOnce(&mut Vec<T>),
) -> Option<toml::Value> {
    let mut list = match saved.clone().map(toml::Value::try_into) {
        None => Vec::new(),
        Some(Ok(list)) => list,
        Some(Err(_)) => return saved,
    };
    change(&mut list);
    if saved.is_none() && list.is_empty() {
        return None;
    }
    // Only a path that is not UTF-8 has no form in TOML.
    toml::Value::try_from(&list).ok().or(saved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_made_when_it_gets_an_entry() {
        assert_eq!(changed::<String>(None, |_| ()), None, "nothing is written");
        let saved = changed(None, |list| list.push("a".to_owned()));
        assert_eq!(saved, Some(toml::Value::from(vec!["a"])));
        assert_eq!(changed::<String>(saved, Vec::clear), Some(toml::Value::Array(Vec::new())));
    }

    #[test]
    fn a_list_that_cannot_be_read_stays() {
        let other = Some(toml::Value::from("of another version"));
        assert_eq!(changed(other.clone(), |list| list.push("a".to_owned())), other);
    }
}
