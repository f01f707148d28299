//! Import circles between the files of one room. An import through a re-export counts for the file that defines
//! the name, so that a `mod.rs` that only declares and re-exports is in no circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::{Reference, Source};
use super::sources;

/// The rooms without circles.
const ROOMS: [&str; 9] =
    ["export", "tools", "engine", "evidence", "autonomy", "plan", "proof", "run", "code"];

/// Files that may import each other: a simulation contains calls, and a call may be a simulation.
const RECURSIVE: [&str; 2] = ["plan::action", "plan::call"];

type Names = Vec<String>;

/// The module of a file: `src/plan/parse/mod.rs` is `plan::parse`.
fn module_of(path: &Path) -> Names {
    let mut names: Names = path
        .with_extension("")
        .components()
        .skip(1)
        .map(|part| part.as_os_str().to_str().unwrap().to_owned())
        .collect();
    if names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

/// The modules with their references.
struct Modules(BTreeMap<Names, Vec<Reference>>);

impl Modules {
    fn of<'a>(files: impl Iterator<Item = (&'a Path, &'a str)>) -> Self {
        let is_test =
            |module: &Names| module.iter().any(|it| it == "tests" || it.ends_with("_tests"));
        let read = |(path, text)| (module_of(path), Source::read(path, text).references);
        Self(files.map(read).filter(|(module, _)| !is_test(module)).collect())
    }

    /// The path of a reference in this module from the crate's root. `None` if it leaves the crate or is local.
    fn absolute(&self, module: &Names, reference: &Reference) -> Option<Names> {
        let Reference { names, depth, .. } = reference;
        let ups = names.iter().take_while(|name| *name == "super").count();
        match names.first()?.as_str() {
            "crate" => Some(names[1..].to_vec()),
            "self" => Some([module, &names[1..]].concat()),
            // The first `super`s leave the inline modules.
            "super" if ups <= *depth => None,
            "super" => {
                let kept = module.len().checked_sub(ups - depth)?;
                Some([&module[..kept], &names[ups..]].concat())
            }
            child if *depth == 0 => {
                let inside = [module.as_slice(), &[child.to_owned()]].concat();
                self.0.contains_key(&inside).then(|| [module.as_slice(), names].concat())
            }
            _ => None,
        }
    }

    /// The module that defines the item with this path, found through at most `re_exports` re-exports.
    fn definer(&self, names: &[String], re_exports: usize) -> Option<Names> {
        let length = (1..=names.len()).rev().find(|end| self.0.contains_key(&names[..*end]))?;
        let (module, rest) = names.split_at(length);
        let module = module.to_vec();
        let Some(name) = rest.first().filter(|_| re_exports > 0) else { return Some(module) };
        let uses = self.0[&module].iter().filter(|it| it.is_use && it.names.last() == Some(name));
        let behind = uses
            .filter_map(|it| self.absolute(&module, it))
            .find(|path| path.as_slice() != &names[..=length])
            .and_then(|path| self.definer(&path, re_exports - 1));
        Some(behind.unwrap_or(module))
    }

    /// The files of a room that are in a circle, or on a path between two circles.
    fn in_circles(&self, room: &str) -> BTreeSet<String> {
        let modules = self.0.iter().filter(|(module, _)| module[0] == room);
        let mut arrows: BTreeMap<&Names, BTreeSet<Names>> = modules
            .map(|(module, references)| {
                let targets = references.iter().filter_map(|it| self.absolute(module, it));
                let targets = targets.filter_map(|names| self.definer(&names, 8));
                (module, targets.filter(|target| target != module).collect())
            })
            .collect();
        // A module without outgoing or without incoming arrows is in no circle.
        loop {
            let before = arrows.len();
            let left: BTreeSet<Names> = arrows.keys().map(|module| (*module).clone()).collect();
            arrows.retain(|_, targets| {
                targets.retain(|target| left.contains(target));
                !targets.is_empty()
            });
            let reached: BTreeSet<Names> = arrows.values().flatten().cloned().collect();
            arrows.retain(|module, _| reached.contains(*module));
            if arrows.len() == before {
                return arrows.keys().map(|module| module.join("::")).collect();
            }
        }
    }
}

#[test]
fn files_of_a_room_are_in_no_circle() {
    let sources = sources();
    let modules = Modules::of(sources.iter().map(|(path, text)| (path.as_path(), text.as_str())));
    let found: BTreeSet<String> = ROOMS.iter().flat_map(|room| modules.in_circles(room)).collect();
    assert_eq!(found, RECURSIVE.map(str::to_owned).into());
}

#[test]
fn circle_through_reexports_and_inline_modules_is_found() {
    let circles = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(path, text)| (Path::new(path), *text));
        Modules::of(files).in_circles("a")
    };
    let hub = ("src/a/mod.rs", "mod b; mod c; pub use c::C;");
    let b = |text| ("src/a/b.rs", text);
    let c = |text| ("src/a/c.rs", text);
    let both: BTreeSet<String> = ["a::b", "a::c"].map(str::to_owned).into();
    assert_eq!(circles(&[hub, b("use super::C;"), c("use super::b::B;")]), both);
    assert_eq!(
        circles(&[hub, b("use crate::a::C;"), c("mod d { use super::super::b::B; }")]),
        both
    );
    assert_eq!(circles(&[hub, b("fn f() { super::c::g() }"), c("use super::{b};")]), both);
    // An inline module that uses its own file, and a child that uses what the hub re-exports from another.
    assert_eq!(circles(&[hub, b("use super::C;"), c("mod d { use super::C; }")]), BTreeSet::new());
    // A child that uses an item of its parent is in a circle if the parent uses the child.
    let defines = ("src/a/mod.rs", "mod b; use b::B; pub struct Own;");
    let circle: BTreeSet<String> = ["a", "a::b"].map(str::to_owned).into();
    assert_eq!(circles(&[defines, b("use super::Own;")]), circle);
}
