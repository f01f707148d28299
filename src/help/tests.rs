//! The help has everything that its tables have, and each entry can be found.

use std::collections::BTreeSet;

use super::*;
use crate::plan::Precondition;
use crate::run::{ActionStatus, Known, LoopFate, Outcome, RunFate, RunStatus, failure_words};
use crate::signing::SignatureState;

/// The help of a person without rules.
static HELP: Help = Help { own: Vec::new() };

#[test]
fn every_key_is_unique_and_leads_to_its_entry() {
    let mut seen = BTreeSet::new();
    for entry in entries() {
        assert!(seen.insert(entry.key.to_lowercase()), "{} is there twice", entry.key);
        assert_eq!(HELP.find(&entry.key.to_uppercase()), Found::Entry(entry));
        assert!(!entry.text.is_empty(), "{}", entry.key);
    }
}

#[test]
fn every_section_has_entries() {
    for section in Section::ALL {
        assert!(entries().iter().any(|entry| entry.section == section), "{section:?}");
    }
    assert!(rule_texts().count() > 40 && read_only_programs().len() > 50);
}

#[test]
fn every_code_and_end_says_what_to_do() {
    let says = |entry: &&Entry| matches!(entry.section, Section::Codes | Section::Loop);
    for entry in entries().iter().filter(says) {
        assert!(!entry.next.is_empty(), "{}", entry.key);
    }
    assert!(EXITS.iter().all(|exit| exit.code == 0 || !exit.next.is_empty()));
}

#[test]
fn a_tool_names_all_its_arguments() {
    for spec in &TOOLS {
        let Found::Entry(entry) = HELP.find(spec.name) else { panic!("{} is missing", spec.name) };
        for argument in spec.arguments {
            assert!(entry.text.contains(argument.name), "{}: {}", spec.name, entry.text);
        }
    }
    let Found::Entry(entry) = HELP.find(Tool::SplicePatch.name()) else {
        panic!("no splice_patch")
    };
    assert!(entry.text.contains("symbol or name, with, kind (optional)"), "{}", entry.text);
}

#[test]
fn names_and_words_are_searched() {
    let keys = |found: Vec<&Entry>| found.iter().map(|it| it.key.to_string()).collect::<Vec<_>>();
    assert!(matches!(HELP.find("3"), Found::Entry(entry) if entry.key == "exit 3"));
    let Found::Nearest(nearest) = HELP.find("file_") else { panic!("an entry") };
    assert_eq!(keys(nearest)[0], "file_read");
    assert_eq!(HELP.find("xyzzy"), Found::Nearest(Vec::new()));
    assert_eq!(HELP.find(""), Found::Nearest(Vec::new()));
    assert_eq!(keys(HELP.matching("e204 workspace"))[0], "E204");
    assert_eq!(keys(HELP.matching("wall"))[0], "walls");
    assert_eq!(HELP.matching("").len(), entries().len());
}

/// Names that the program prints.
#[test]
fn every_word_that_is_printed_has_an_entry() {
    let mut words: Vec<&str> = Outcome::WORDS.iter().map(|(word, _)| *word).collect();
    words.extend(RunStatus::WORDS.iter().map(|(word, _)| *word));
    words.extend(ActionStatus::WORDS.iter().map(|(word, _)| *word));
    words.extend(Known::words());
    words.extend([RunFate::Active.as_str(), LoopFate::Interrupted.as_str()]);
    words.extend(["remote-host", "elsewhere", "write-ci", "unknown-program", "delete-recursive"]);
    let planner = "planner_provider_error planner_invalid_json planner_validation_failed clarification_needed \
                   unsupported_goal unsafe_plan planner_unavailable";
    assert!(planner.split(' ').all(|code| failure_words(code) != code));
    words.extend(planner.split(' '));
    words.extend(SignatureState::WORDS.iter().map(|(word, _)| *word));
    words.extend(["window", "terminal", "command_line_yes", "session_rule"]);
    for word in words {
        assert!(matches!(HELP.find(word), Found::Entry(entry) if entry.key == word), "{word}");
    }
}

#[test]
fn a_precondition_is_found_as_a_plan_has_it() {
    let hash = format!("File hash is {}", "0a".repeat(32));
    for (text, key) in [
        ("symbol exists in file", "symbol exists"),
        ("file contains symbol 'Heron'", "symbol exists"),
        ("command available: cargo", "command available: <name>"),
        (&hash, "file hash is <sha256>"),
        ("step-1 succeeded", "<step_id> succeeded"),
        ("cargo project exists", "cargo workspace"),
    ] {
        assert!(matches!(HELP.find(text), Found::Entry(entry) if entry.key == key), "{text}");
    }
    for (word, _) in PRECONDITIONS {
        if let Some(precondition) = Precondition::parse(word) {
            assert_eq!(precondition.word(), *word);
        }
    }
}
