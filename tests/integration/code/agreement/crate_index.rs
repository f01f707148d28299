//! A dependency of this crate, indexed by `magellan`, with the syntax tree of each of its files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use countersign::code::Language;
use countersign::plan::{Plan, ToolCall};
use countersign::risk::{EngineChoice, Policy};
use countersign::tools::Toolbox;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use tree_sitter::{Node, Parser, Tree};

use super::Place;
use crate::harness::magellan::index;
use crate::harness::{files_below, invoke, registry};
use crate::harness::{plan, read, step};

/// A copy of the sources of a crate, indexed by magellan.
pub struct Crate {
    pub folder: TempDir,
    pub version: String,
    /// Each file by its path, with its text and its tree.
    pub files: BTreeMap<String, (String, Tree)>,
}

impl Crate {
    pub fn of(package: &str) -> Self {
        let (source, version) = registry::package(package);
        // A copy, because cargo's sources must not be written to.
        let folder = tempfile::tempdir().unwrap();
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_rust::LANGUAGE.into()).unwrap();
        let mut files = BTreeMap::new();
        for path in files_below(&source.join("src")) {
            if Language::of_path(&path) == Some(Language::Rust) {
                let relative = path.strip_prefix(&source).unwrap();
                let text = fs::read_to_string(&path).unwrap();
                let copy = folder.path().join(relative);
                fs::create_dir_all(copy.parent().unwrap()).unwrap();
                fs::write(copy, &text).unwrap();
                let tree = parser.parse(&text, None).unwrap();
                files.insert(relative.to_str().unwrap().to_owned(), (text, tree));
            }
        }
        index(folder.path());
        Self { folder, version, files }
    }

    pub fn relative(&self, path: &str) -> String {
        let folder = self.folder.path().canonicalize().unwrap();
        let path = Path::new(path);
        path.strip_prefix(folder).unwrap_or(path).to_str().unwrap().to_owned()
    }

    /// The node of a name, in a syntax tree independent of the engine's own.
    pub fn node(&self, place: &Place) -> Node<'_> {
        let root = self.files[&place.0].1.root_node();
        root.descendant_for_byte_range(place.2, place.3).unwrap()
    }

    /// The version of the magellan that indexed it.
    pub fn magellan(&self) -> String {
        let sql = "SELECT tool_version FROM execution_log ORDER BY id DESC LIMIT 1";
        self.graph().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub fn graph(&self) -> Connection {
        #[expect(clippy::disallowed_methods, reason = "the database of magellan")]
        Connection::open(self.folder.path().join("codegraph.db")).unwrap()
    }

    /// A place as `file:line name`.
    pub fn words(&self, (file, name, start, _): &Place) -> String {
        let line = self.files[file].0[..*start].matches('\n').count() + 1;
        format!("{file}:{line} {name}")
    }

    pub fn symbols(&self, engine: EngineChoice) -> Vec<(Place, Value)> {
        let policy = Policy { engine, ..Policy::default() };
        let tools = Toolbox::open(self.folder.path(), &policy).unwrap();
        let rows = self.files.keys().flat_map(|file| {
            let done = invoke(&tools, &symbols_in(file), &BTreeMap::new());
            assert!(done.error.is_none(), "{file}: {:?}", done.error);
            serde_json::from_slice::<Vec<Value>>(&done.stdout.unwrap()).unwrap()
        });
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let byte = |row: &Value, key: &str| usize::try_from(row[key].as_u64().unwrap()).unwrap();
        rows.map(|row| {
            let (file, name) = (text(&row, "file_path"), text(&row, "name"));
            ((file, name, byte(&row, "byte_start"), byte(&row, "byte_end")), row)
        })
        .collect()
    }
}

pub fn symbols_in(file: &str) -> ToolCall {
    let plan: Plan = read(&plan([step("s", "symbols_in_file", json!({ "file_path": file }))]));
    plan.steps.into_iter().next().unwrap().call
}

/// The places of all entities of one kind in the code graph.
pub fn graph_rows(source: &Crate, kind: &str) -> BTreeSet<Place> {
    let graph = source.graph();
    let mut rows = graph.prepare("SELECT name, data FROM graph_entities WHERE kind = ?1").unwrap();
    let rows = rows.query_map([kind], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(|row| {
        let (name, data): (String, String) = row.unwrap();
        let data: Value = serde_json::from_str(&data).unwrap();
        let name = match data["callee"].as_str() {
            Some(callee) => callee.to_owned(),
            None => name.strip_prefix("ref to ").unwrap().to_owned(),
        };
        let byte = |key: &str| usize::try_from(data[key].as_u64().unwrap()).unwrap();
        let file = source.relative(data["file"].as_str().unwrap());
        (file, name, byte("byte_start"), byte("byte_end"))
    })
    .collect()
}
