//! From the file names of the compiler to the canonical paths of the records.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::tools::Kind;
use crate::tools::place::{Last, Roots};

/// What a file name of the compiler means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) struct Name {
    /// The canonical path inside the roots; else what the compiler says, absolute where it can be.
    pub(in crate::tools) path: String,
    /// Whether it is a file inside the roots.
    pub(in crate::tools) is_inside: bool,
}

/// The names of one check; each is looked up once.
pub(in crate::tools) struct Names<'a> {
    roots: &'a Roots,
    /// The folder that relative names begin in.
    base: Option<PathBuf>,
    known: BTreeMap<String, Name>,
}

impl<'a> Names<'a> {
    pub(in crate::tools) fn new(roots: &'a Roots, base: Option<PathBuf>) -> Self {
        Self { roots, base, known: BTreeMap::new() }
    }

    pub(in crate::tools) fn get(&mut self, said: &str) -> Name {
        if let Some(known) = self.known.get(said) {
            return known.clone();
        }
        let name = self.look_up(said);
        self.known.insert(said.to_owned(), name.clone());
        name
    }

    fn look_up(&self, said: &str) -> Name {
        let as_said = || Name { path: said.to_owned(), is_inside: false };
        // Code that a macro of the compiler made is in no file: `<anon>`.
        let Some(base) = self.base.as_ref().filter(|_| !said.starts_with('<')) else {
            return as_said();
        };
        let Some(absolute) = base.join(said).to_str().map(str::to_owned) else { return as_said() };
        match self.roots.resolve(&absolute, Last::Follow) {
            Ok(place) if place.kind == Kind::File => Name { path: place.key, is_inside: true },
            _ => Name { path: absolute, is_inside: false },
        }
    }
}
