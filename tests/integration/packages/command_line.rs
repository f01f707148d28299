//! The committed man pages and completions of shells are those of the command line's definition.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::harness::home::Home;

#[path = "../../../packaging/command_line/files.rs"]
mod files;

const HOW: &str = "cargo run --locked --features inspection --example command_line";

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/linux"))
}

fn committed() -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in ["man", "completions"] {
        for entry in fs::read_dir(folder().join(name)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{name}/{}", entry.file_name().to_str().unwrap());
            files.insert(path, fs::read(entry.path()).unwrap());
        }
    }
    files
}

#[test]
fn pages_and_completions_are_those_of_the_definition() {
    let made: BTreeMap<_, _> =
        files::files(countersign::cli::command_line()).unwrap().into_iter().collect();
    let committed = committed();
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&made), names(&committed), "make them anew: {HOW}");
    let old: Vec<_> = made.iter().filter(|(name, it)| committed[*name] != **it).collect();
    let old: Vec<_> = old.into_iter().map(|(name, _)| name).collect();
    assert!(
        old.is_empty(),
        "{old:?} are not as the command line is defined; make them anew: {HOW}"
    );
}

/// The commands that the help of a command lists, as the program itself prints it.
fn listed(home: &Home, line: &[&str]) -> Vec<String> {
    let output = home.command().args(line).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let Some((_, commands)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let names = commands.lines().take_while(|line| !line.is_empty());
    // Continued lines are indented deeper.
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Adds the pages of a command and of those below it.
fn add_pages(home: &Home, line: &[&str], pages: &mut BTreeSet<String>) {
    pages.insert(format!("man/{}.1", [&["countersign"], line].concat().join("-")));
    for command in listed(home, line) {
        add_pages(home, &[line, &[&command]].concat(), pages);
    }
}

#[test]
fn every_command_of_the_program_has_a_page() {
    let mut pages = BTreeSet::new();
    add_pages(&Home::new(), &[], &mut pages);
    assert!(pages.len() > 50, "{pages:?}");
    let committed = committed().into_keys().filter(|name| name.starts_with("man/"));
    assert_eq!(pages, committed.collect());
}
