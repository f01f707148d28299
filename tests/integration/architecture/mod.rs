//! The rooms and the allowed dependencies between them, checked in the sources.
//!
//! References are read from tokens, so that comments and strings do not count. Items under `#[cfg(test)]` do
//! not count either, because tests may use every room.

mod circles;
mod rules;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use rules::{REPOSITORY_WORDS, check_source};
use source::Source;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file that is part of the repository, relative to its root.
fn files(below: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ignore::WalkBuilder::new(root().join(below))
        // `.ci` is hidden and part of the repository; `.git` is not.
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(|entry| entry.into_path().strip_prefix(root()).unwrap().to_owned())
        .collect();
    files.sort();
    files
}

fn sources() -> Vec<(PathBuf, String)> {
    files("src")
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let text = fs::read_to_string(root().join(&path)).unwrap();
            (path, text)
        })
        .collect()
}

#[test]
fn sources_keep_the_arrows_between_rooms() {
    let sources = sources();
    assert!(sources.len() > 15, "the sources were not found");
    let faults: Vec<String> =
        sources.iter().flat_map(|(path, text)| check_source(&Source::read(path, text))).collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn repository_names_no_machine() {
    let mut faults = Vec::new();
    for path in files(".") {
        // Images are skipped.
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        for (index, line) in text.lines().enumerate() {
            for word in REPOSITORY_WORDS {
                if line.contains(&word.concat()) {
                    faults.push(format!("{}:{}: {line}", path.display(), index + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// The violations in a file with this path and text.
fn faults(path: &str, text: &str) -> Vec<String> {
    check_source(&Source::read(Path::new(path), text))
}

#[test]
fn wrong_arrow_is_found_in_any_spelling() {
    for (path, text) in [
        ("src/plan/parse.rs", "use crate::risk::RiskLevel;"),
        ("src/plan/mod.rs", "use crate::{authorization::Answer, plan::Step};"),
        ("src/risk/mod.rs", "fn f() -> crate::run::Preview { todo!() }"),
        ("src/ui/plan/mod.rs", "use crate::worker::Worker;"),
        ("src/ui/mod.rs", "use { crate::{evidence::Store} };"),
        ("src/engine/mod.rs", "pub(crate) use crate::worker::Event;"),
        ("src/tools/mod.rs", "use crate::evidence::Store;"),
        ("src/evidence/mod.rs", "use super::tools::Hands;"),
        ("src/evidence/query/mod.rs", "use super::super::engine::Executor;"),
        ("src/app/mod.rs", "use crate::evidence::Store;"),
        ("src/worker/mod.rs", "fn f() { m!(crate::ui::View); }"),
        ("src/main.rs", "use countersign::worker::Worker;"),
        ("src/plan/mod.rs", "mod inner { use super::super::risk::Verdict; }"),
    ] {
        assert_eq!(faults(path, text).len(), 1, "{path}: {text}: {:?}", faults(path, text));
    }
}

#[test]
fn allowed_arrow_is_accepted() {
    for (path, text) in [
        ("src/main.rs", "fn main() { countersign::cli::run(); countersign::app::run(); }"),
        ("src/app/mod.rs", "use crate::{ui::Action, worker::{QueryThread, Worker}, plan::Plan};"),
        ("src/cli/mod.rs", "use crate::evidence::Store; use crate::engine::Executor;"),
        ("src/run/mod.rs", "use crate::{authorization::Answer, plan::Plan, risk::Policy};"),
        ("src/plan/parse/mod.rs", "use super::{Plan, Step}; use super::super::plan::Code;"),
        ("src/plan/mod.rs", "#[cfg(test)] mod tests { use crate::worker::Worker; }"),
        ("src/plan/tests.rs", "use crate::worker::Worker; use std::fs;"),
        ("src/plan/mod.rs", "//! Not for [`crate::worker`].\nconst A: &str = \"crate::ui\";"),
    ] {
        assert_eq!(faults(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn forbidden_word_of_a_room_is_found() {
    for (path, text) in [
        ("src/plan/mod.rs", "use std::fs;"),
        ("src/plan/mod.rs", "use std::{fs::File, io};"),
        ("src/authorization/mod.rs", "use std::time::Instant;"),
        ("src/run/mod.rs", "use std::time::{Duration, SystemTime};"),
        ("src/risk/mod.rs", "fn f() { std::process::exit(1) }"),
        ("src/risk/mod.rs", "use egui::Color32;"),
        ("src/plan/mod.rs", "fn f() { ::std::thread::yield_now() }"),
        ("src/plan/mod.rs", "fn f() { let d = std::env::current_dir(); }"),
        ("src/ui/plan/row.rs", "fn f() { Color32::from_rgb(1, 2, 3); }"),
        ("src/ui/mod.rs", "use std::sync::mpsc;"),
        ("src/ui/mod.rs", "use std::fs::read;"),
        ("src/engine/mod.rs", "use rusqlite::Connection;"),
        ("src/tools/file.rs", "fn f() { std::process::Command::new(\"x\"); }"),
        ("src/tools/file.rs", "use std::process::Command; fn f() { Command::new(\"x\"); }"),
        ("src/app/mod.rs", "fn f() { rfd::FileDialog::new(); }"),
        ("src/cli/query.rs", "const Q: &str = \"SELECT id FROM executions\";"),
        ("src/worker/mod.rs", "use eframe::egui;"),
        ("src/engine/mod.rs", "fn f(c: egui::Context) {}"),
    ] {
        assert_eq!(faults(path, text).len(), 1, "{path}: {text}: {:?}", faults(path, text));
    }
    for (path, text) in [
        ("src/evidence/mod.rs", "use rusqlite::Connection; const Q: &str = \"SELECT 1\";"),
        ("src/process/mod.rs", "fn f() { Command::new(\"x\"); }"),
        ("src/app/file_dialog.rs", "fn f() { rfd::FileDialog::new(); }"),
        ("src/ui/theme.rs", "fn f() { Color32::from_rgb(1, 2, 3); }"),
        ("src/ui/theme/tokens.rs", "fn f() { Color32::from_rgb(1, 2, 3); }"),
        ("src/plan/mod.rs", "use std::time::Duration; use std::process_like::x;"),
        ("src/cli/mod.rs", "const HELP: &str = \"Select a plan.\";"),
    ] {
        assert_eq!(faults(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn room_missing_on_the_map_is_found() {
    assert_eq!(faults("src/helpers/mod.rs", "").len(), 1);
    assert_eq!(faults("src/plan/mod.rs", "use crate::helpers::x;").len(), 1);
}

#[test]
fn long_file_is_found_without_its_tests() {
    let lines = |count: usize| "const A: u8 = 0;\n".repeat(count);
    assert_eq!(faults("src/plan/mod.rs", &lines(400)), Vec::<String>::new());
    assert_eq!(faults("src/plan/mod.rs", &lines(401)).len(), 1);
    assert_eq!(faults("src/plan/tests.rs", &lines(2000)), Vec::<String>::new());
    let with_tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(399), lines(300));
    assert_eq!(faults("src/plan/mod.rs", &with_tests), Vec::<String>::new());
}

#[test]
fn an_empty_doc_comment_is_found() {
    for text in ["///\npub fn f() {}", "/// \n///\nstruct A;", "//!\n"] {
        assert_eq!(faults("src/plan/x.rs", text).len(), 1, "{text:?}");
    }
    let text = "/// One.\n///\n/// Two.\npub fn f() {}";
    assert_eq!(faults("src/plan/x.rs", text), Vec::<String>::new());
}

/// Calls that wait for something outside the frame.
const WAITING: [&str; 9] = [
    "fs::",
    "File::open",
    ".recv()",
    ".recv_timeout(",
    ".join()",
    ".lock()",
    "sleep(",
    "FileDialog",
    "Command::new",
];

/// The files of the window whose code runs before the first frame or on a thread of its own.
const OUTSIDE_OF_FRAMES: [&str; 6] =
    ["examples.rs", "file_dialog.rs", "notification.rs", "settings.rs", "start.rs", "watch.rs"];

fn waits(text: &str) -> Vec<&'static str> {
    let code = text.split("#[cfg(test)]\nmod").next().unwrap();
    WAITING.into_iter().filter(|word| code.contains(word)).collect()
}

#[test]
fn invariant_6_no_frame_waits() {
    let window = sources().into_iter().filter(|(path, _)| {
        let own = path.starts_with("src/ui") || path.starts_with("src/app");
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        let test = name == "tests.rs" || path.components().any(|part| part.as_os_str() == "tests");
        own && !test && !(path.starts_with("src/app") && OUTSIDE_OF_FRAMES.contains(&name))
    });
    let mut looked_at = 0;
    for (path, text) in window {
        looked_at += 1;
        assert_eq!(waits(&text), Vec::<&str>::new(), "{}", path.display());
    }
    assert!(looked_at > 30, "the window's sources were not found");
    assert_eq!(waits("fn ui() { let _ = std::fs::read(path); }"), ["fs::"]);
}
