//! `settings`: lists, exports and imports the settings.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};

use super::opening::settings_file;
use super::output::{Output, quoted_in_line, say};
use super::refusal::Refusal;
use super::{Exit, args};
use crate::run::settings::{
    Belongs, Effect, NOT_SHOWN, default_of, found_in, keys_of, shown, weaker,
};
use crate::worker::default_folders;
use crate::worker::settings_file::{
    Difference, FoundSettings, ImportSettings, ReadImport, exported, has_secret, read_text,
    shown_key, write_export,
};

/// A setting in the document of `settings --json`.
#[derive(Serialize)]
struct Listed {
    key: String,
    name: &'static str,
    group: &'static str,
    /// The value in force; null if there is none, or it is a secret.
    value: Value,
    shown: String,
    source: &'static str,
    default: Value,
    meaning: &'static str,
    costs: &'static str,
    protects: &'static str,
    takes_effect: &'static str,
    exported: bool,
    weaker_than_default: bool,
}

/// Lists, exports or imports the settings.
///
/// # Errors
/// The settings or the file to import cannot be used, or the import is not allowed.
pub(super) fn settings(command: &args::Settings, out: &mut Output) -> Result<Exit, Refusal> {
    match &command.command {
        None => list(out),
        Some(args::SettingsCommand::Export(command)) => export(command, out),
        Some(args::SettingsCommand::Import(command)) => import(command, out),
    }
}

fn unusable(file: &std::path::Path, problem: &str) -> Refusal {
    let message = format!("the settings cannot be used: {problem} ({})", file.display());
    Refusal::usage(message, "Correct the file, then try again.")
}

fn read(file: &std::path::Path) -> Result<FoundSettings, Refusal> {
    let text = read_text(file).map_err(|error| unusable(file, &error.to_string()))?;
    FoundSettings::of(text).map_err(|problem| unusable(file, &problem.to_string()))
}

fn list(out: &mut Output) -> Result<Exit, Refusal> {
    let file = settings_file()?;
    let found = read(&file)?;
    let listed = keys_of(&found.table).into_iter().map(|(row, key)| {
        let in_file = found_in(&found.table, &key);
        let default = default_of(row);
        let value = in_file.or(default.as_ref());
        let is_secret = value.is_some_and(|value| has_secret(&key, value));
        let in_words = shown(row, value);
        let has_secret_words = || has_secret(&key, &toml::Value::from(&*in_words));
        let is_hidden = in_file.is_some() && (is_secret || has_secret_words());
        let as_json = |value: Option<&toml::Value>| {
            value.and_then(|it| serde_json::to_value(it).ok()).unwrap_or_default()
        };
        let gives_up = in_file.and_then(|it| weaker(&key, None, Some(it)));
        Listed {
            name: row.name,
            group: row.group.title(),
            value: if is_secret { Value::Null } else { as_json(value) },
            shown: if is_hidden { NOT_SHOWN.to_owned() } else { in_words },
            source: if in_file.is_some() { "file" } else { "default" },
            default: as_json(default.as_ref()),
            meaning: row.meaning,
            costs: row.costs,
            protects: row.protects,
            takes_effect: match row.effect {
                Effect::AtOnce => "at_once",
                Effect::NextStart => "next_start",
            },
            exported: row.belongs == Belongs::Person,
            weaker_than_default: gives_up.is_some_and(|it| !it.of_others),
            key: shown_key(&key).into_owned(),
        }
    });
    let listed: Vec<_> = listed.collect();
    if out.json() {
        out.document(&json!({ "file": file.to_string_lossy(), "settings": listed }));
        return Ok(Exit::Done);
    }
    out.table(listed.iter().map(|it| {
        let weaker = if it.weaker_than_default { "weaker than the default" } else { "" };
        [it.key.clone(), it.shown.clone(), it.source.to_owned(), weaker.to_owned()]
    }));
    say(&quoted_in_line(&format!(
        "What each costs and protects: docs/files.md. The file is {}.",
        file.display()
    )));
    Ok(Exit::Done)
}

fn export(command: &args::ExportSettings, out: &mut Output) -> Result<Exit, Refusal> {
    let file = settings_file()?;
    let (text, left_out) = exported(&read(&file)?.table);
    let to = command.out.out.as_ref();
    if let Some(to) = to {
        let folders = default_folders();
        let none = std::path::Path::new("/nonexistent");
        let own = folders.as_ref().map_or([none; 3], |it| [&it.evidence, &it.secrets, &it.state]);
        write_export(&file, (to, command.out.force), own, &text)?;
    }
    if out.json() {
        let to = to.map(|to| to.to_string_lossy());
        out.document(&json!({ "out": to, "left_out": left_out, "toml": text }));
        return Ok(Exit::Done);
    }
    match to {
        None => out.exact(text.as_bytes()),
        Some(to) => out.line(&quoted_in_line(&format!("The settings are in {}.", to.display()))),
    }
    if !left_out.is_empty() {
        say(&quoted_in_line(&format!("Left out: {}.", left_out.join(", "))));
    }
    Ok(Exit::Done)
}

/// The document of `settings import --json`.
fn import_document(
    file: &std::path::Path,
    rows: &[Difference],
    applied: &BTreeSet<String>,
    copy: Option<&PathBuf>,
) -> Value {
    let differences: Vec<_> = rows
        .iter()
        .map(|it| {
            json!({
                "key": shown_key(&it.key),
                "name": it.row.name,
                "from": it.from,
                "to": it.to,
                "weakens": it.weakens,
                "applied": applied.contains(&it.key),
            })
        })
        .collect();
    json!({
        "file": file.to_string_lossy(),
        "differences": differences,
        "copy": copy.map(|copy| copy.to_string_lossy()),
    })
}

fn import(command: &args::ImportSettings, out: &mut Output) -> Result<Exit, Refusal> {
    let settings = settings_file()?;
    // A fault of the present settings is not one of the imported file.
    let _ = read(&settings)?;
    let query = ReadImport { settings: settings.clone(), file: command.file.clone() };
    let rows = query.read().map_err(|problem| {
        let message = format!("{}: {problem}", command.file.display());
        Refusal::usage(message, "Nothing was changed. Correct the file, then try again.")
    })?;
    let named = command.weaken.iter().chain(&command.without);
    if let Some(unknown) = named.into_iter().find(|key| !rows.iter().any(|row| row.key == **key)) {
        let message = format!("the file would not change {unknown:?}");
        return Err(Refusal::usage(message, "Name keys that --dry-run prints."));
    }
    let chosen: Vec<_> = rows.iter().filter(|it| !command.without.contains(&it.key)).collect();
    let keys: BTreeSet<_> = chosen.iter().map(|it| it.key.clone()).collect();
    let show = |out: &mut Output| {
        if out.json() {
            return;
        }
        if rows.is_empty() {
            out.line("The file would change nothing.");
        }
        out.table(rows.iter().map(|it| {
            let weakens = it.weakens.map(|why| format!("WEAKENS PROTECTION: {why}"));
            let left = command.without.contains(&it.key).then(|| "left as it is".to_owned());
            [
                shown_key(&it.key).into_owned(),
                it.from.clone(),
                "->".to_owned(),
                it.to.clone(),
                left.or(weakens).unwrap_or_default(),
            ]
        }));
    };
    show(out);
    let nothing = BTreeSet::new();
    if command.dry_run || keys.is_empty() {
        if out.json() {
            out.document(&import_document(&command.file, &rows, &nothing, None));
        }
        return Ok(Exit::Done);
    }
    let unnamed =
        chosen.iter().filter(|it| it.weakens.is_some() && !command.weaken.contains(&it.key));
    let unnamed: Vec<_> = unnamed.map(|it| shown_key(&it.key)).collect();
    if !unnamed.is_empty() {
        let message = format!("the file weakens protection: {}", unnamed.join(", "));
        let next = "Nothing was changed. Name each such key with --weaken, or leave it as it is with --without.";
        return Err(Refusal::not_allowed(message, next));
    }
    if !command.yes {
        let next = "Nothing was changed. Look at what would change, then add --yes.";
        return Err(Refusal::not_allowed("the import is not confirmed", next));
    }
    let import =
        ImportSettings { settings: settings.clone(), shown: rows.clone(), keys: keys.clone() };
    let applied = import.save().map_err(|error| unusable(&settings, &error.to_string()))?;
    let applied = applied.map_err(|problem| {
        let message = format!("the settings could not be used with what is imported: {problem}");
        let next = "Nothing was changed. Set what is missing first, or leave keys as they are with --without.";
        Refusal::usage(message, next)
    })?;
    if out.json() {
        out.document(&import_document(&command.file, &rows, &keys, applied.copy.as_ref()));
        return Ok(Exit::Done);
    }
    out.line(&format!("Imported {} of {} changes.", keys.len(), rows.len()));
    if let Some(copy) = &applied.copy {
        out.line(&quoted_in_line(&format!("The file from before is {}.", copy.display())));
    }
    Ok(Exit::Done)
}
