//! From the file names of the compiler to the canonical paths of the records.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::workspace::{Kind, Last, Workspace};

/// What a file name of the compiler means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// The canonical path inside the roots; else what the compiler says, absolute where it can be.
    pub(crate) path: String,
    /// Whether it is a file inside the roots.
    pub(crate) is_inside: bool,
}

/// The names of one check; each is looked up once.
pub(crate) struct Names<'a> {
    workspace: &'a Workspace,
    /// The folder that relative names begin in.
    base: Option<PathBuf>,
    known: BTreeMap<String, Name>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(workspace: &'a Workspace, base: Option<PathBuf>) -> Self {
        Self { workspace, base, known: BTreeMap::new() }
    }

    pub(crate) fn get(&mut self, said: &str) -> Name {
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
        match self.workspace.resolve(&absolute, Last::Follow) {
            Ok(place) if place.kind == Kind::File => Name { path: place.key, is_inside: true },
            _ => Name { path: absolute, is_inside: false },
        }
    }
}
