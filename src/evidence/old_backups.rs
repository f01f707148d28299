//! The copies that migrations made of the database.

use std::collections::BTreeMap;
use std::path::Path;

/// The copies that migrations made of the database, by name, with their sizes in bytes.
pub(super) fn old_backups(dir: &Path) -> BTreeMap<String, u64> {
    let Ok(entries) = std::fs::read_dir(dir) else { return BTreeMap::new() };
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_backup = name.starts_with("execution_log.v") && name.ends_with(".bak");
        is_backup.then(|| (name, entry.metadata().map_or(0, |file| file.len())))
    });
    names.collect()
}
