//! The source texts whose definitions are replaced: a fixture for each language, and files of our dependencies.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use countersign::code::{Language, Source};

use crate::harness::{files_below, registry};

/// One source text.
pub struct Fixture {
    pub name: String,
    pub language: Language,
    pub text: String,
}

pub fn fixtures() -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code");
    let mut fixtures: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            Fixture {
                name: path.file_name().unwrap().to_str().unwrap().to_owned(),
                language: Language::of_path(&path).unwrap(),
                text: fs::read_to_string(&path).unwrap(),
            }
        })
        .collect();
    fixtures.sort_by(|one, other| one.name.cmp(&other.name));
    fixtures
}

/// Packages whose sources are used beside the fixtures: Rust, and the C and JavaScript of grammars.
pub const PACKAGES: [&str; 12] = [
    "clap_builder",
    "serde_json",
    "strsim",
    "toml",
    "tree-sitter-c",
    "tree-sitter-cpp",
    "tree-sitter-go",
    "tree-sitter-java",
    "tree-sitter-javascript",
    "tree-sitter-python",
    "tree-sitter-rust",
    "tree-sitter-typescript",
];
/// Larger files only take longer.
const MOST_BYTES: usize = 40_000;

/// Source files of dependencies with at least one definition.
pub fn real_sources() -> &'static [Fixture] {
    static SOURCES: OnceLock<Vec<Fixture>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let files = PACKAGES.iter().flat_map(|name| files_below(&registry::package(name).0));
        let sources = files.filter_map(|path| {
            let language = Language::of_path(&path)?;
            let text = fs::read_to_string(&path).ok().filter(|text| text.len() <= MOST_BYTES)?;
            let name = path.file_name()?.to_str()?.to_owned();
            let is_used = !parsed(language, &text).definitions().is_empty();
            is_used.then_some(Fixture { name, language, text })
        });
        sources.collect()
    })
}

pub fn parsed(language: Language, text: &str) -> Source<'_> {
    Source::parse(language, text, &|| false).unwrap()
}
