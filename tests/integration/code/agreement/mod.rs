//! Compares the definitions and references that the embedded engine and `magellan` find in a crate (SPEC §4, code
//! engines).
//!
//! The crate is a dependency, so that every build has its source. The expected counts and the reason of each
//! difference are in `tests/fixtures/agreement`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;

use countersign::code::{Language, Source};
use countersign::risk::EngineChoice;
use serde::Deserialize;
use serde_json::Value;
use tree_sitter::Node;

use crate_index::{Crate, graph_rows};

mod crate_index;

/// The expected agreement and differences.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// The crate and its version.
    package: String,
    version: String,
    /// The version of magellan.
    magellan: String,
    files: usize,
    lines: usize,
    /// One class for each kind of agreement or difference.
    class: Vec<Class>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    /// `definitions` or `references`.
    of: String,
    name: String,
    /// The count, or its bounds where magellan counts differently in each run.
    count: Count,
    why: String,
    /// Members of this class, as `file:line name`.
    #[serde(default)]
    examples: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Count {
    Exactly(usize),
    Between([usize; 2]),
}

impl Count {
    fn holds(&self, found: usize) -> bool {
        match self {
            Self::Exactly(count) => found == *count,
            Self::Between([fewest, most]) => (*fewest..=*most).contains(&found),
        }
    }
}

/// One definition, call or reference: its file, its name, and its bytes.
pub type Place = (String, String, usize, usize);

/// The places found, by kind and class.
#[derive(Default)]
struct Found(BTreeMap<(&'static str, String), BTreeSet<Place>>);

impl Found {
    fn add(&mut self, of: &'static str, class: impl Into<String>, place: Place) {
        self.0.entry((of, class.into())).or_default().insert(place);
    }

    fn count(&self, of: &str, classes: impl Fn(&str) -> bool) -> usize {
        let places = self.0.iter().filter(|((o, class), _)| *o == of && classes(class));
        places.map(|(_, places)| places.len()).sum()
    }

    /// The percentage of magellan's finds that the embedded engine has too.
    fn percent(&self, of: &str) -> f64 {
        let both = self.count(of, |class| class.starts_with("both"));
        let magellan = self.count(of, |class| !class.starts_with("only embedded"));
        100.0 * f64::from(u32::try_from(both).unwrap())
            / f64::from(u32::try_from(magellan).unwrap())
    }
}

/// The order in which magellan read the files: it knows only definitions of earlier ones.
fn reading_order(source: &Crate) -> HashMap<String, usize> {
    let graph = source.graph();
    let sql = "SELECT data ->> 'path' FROM graph_entities WHERE kind = 'File' ORDER BY id";
    let mut rows = graph.prepare(sql).unwrap();
    let rows = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.enumerate().map(|(at, path)| (source.relative(&path.unwrap()), at)).collect()
}

/// Adds the definitions that both engines or only one of them finds. magellan does not distinguish functions and
/// methods.
fn compare_definitions(source: &Crate, found: &mut Found) {
    let of = "definitions";
    let kind = |row: &Value| row["kind"].as_str().unwrap().replace("method", "function");
    let rows = |engine| {
        let rows = source.symbols(engine).into_iter();
        let lines = ["start_line", "start_col", "end_line", "end_col"];
        rows.map(|(place, row)| (place, (kind(&row), lines.map(|key| row[key].clone()))))
            .collect::<BTreeMap<_, _>>()
    };
    let (embedded, magellan) = (rows(EngineChoice::Embedded), rows(EngineChoice::External));
    for (place, row) in &magellan {
        let class = match embedded.get(place) {
            Some(other) if other == row => "both".to_owned(),
            Some((kind, _)) => format!("{} of magellan, {kind} embedded", row.0),
            None => format!("only magellan: {}", row.0),
        };
        found.add(of, class, place.clone());
    }
    for (place, (kind, _)) in embedded.iter().filter(|(place, _)| !magellan.contains_key(*place)) {
        found.add(of, format!("only embedded: {kind}"), place.clone());
    }
}

/// A symbol of the code graph.
struct Symbol {
    file: String,
    end: usize,
    /// Whether the name equals the full name.
    is_whole: bool,
}

/// Adds the references likewise. magellan gives the span of the path, the embedded engine that of its last name.
fn compare_references(source: &Crate, all: &[Place], found: &mut Found) {
    let of = "references";
    let order = reading_order(source);
    let mut symbols: HashMap<String, Vec<Symbol>> = HashMap::new();
    for ((file, name, _, end), row) in source.symbols(EngineChoice::External) {
        let is_whole = row["fqn"] == *name;
        symbols.entry(name).or_default().push(Symbol { file, end, is_whole });
    }
    let by_end: BTreeMap<(&str, usize), &Place> =
        all.iter().map(|it| ((&*it.0, it.3), it)).collect();
    let mut taken: HashSet<(&str, usize)> = HashSet::new();
    for place in graph_rows(source, "Reference") {
        let other = by_end.get(&(&*place.0, place.3)).filter(|other| other.1 == place.1);
        let class = match other {
            Some(other) if other.2 == place.2 => "both",
            Some(_) => "both, of magellan with its path",
            None if is_name_of_definition(source.node(&place)) => {
                "only magellan: the name of a definition"
            }
            None => "only magellan: unexplained",
        };
        taken.extend(other.map(|other| (&*other.0, other.2)));
        found.add(of, class, place);
    }
    for place in all.iter().filter(|it| !taken.contains(&(&*it.0, it.2))) {
        let node = source.node(place);
        let known = symbols.get(&place.1).map(Vec::as_slice).unwrap_or_default();
        let mut whole = known.iter().filter(|it| it.is_whole).peekable();
        let class = if known.is_empty() {
            "a name that no symbol has"
        } else if node.kind() == "type_identifier" {
            "a type"
        } else if node.kind() != "identifier" {
            "a field or method"
        } else if whole.peek().is_none() {
            "a symbol inside of something"
        } else if whole.clone().all(|it| order[&it.file] > order[&place.0]) {
            "of a file that magellan reads later"
        } else if node.parent().unwrap().kind() == "scoped_identifier" {
            "in a path"
        } else if known.iter().any(|it| it.file == place.0 && place.2 < it.end) {
            "before its definition ends"
        } else {
            "unexplained"
        };
        found.add(of, format!("only embedded: {class}"), place.clone());
    }
}

fn is_name_of_definition(node: Node<'_>) -> bool {
    node.parent().is_some_and(|item| item.child_by_field_name("name") == Some(node))
}

/// All references that the embedded engine finds in these files.
fn references(source: &Crate) -> Vec<Place> {
    let mut all = Vec::new();
    for (file, (text, _)) in &source.files {
        let parsed = Source::parse(Language::Rust, text, &|| false).unwrap();
        all.extend(
            parsed
                .references()
                .into_iter()
                .map(|it| (file.clone(), it.symbol, it.span.byte_start, it.span.byte_end)),
        );
    }
    all
}

/// Every difference between the two engines has its reason in `tests/fixtures/agreement`.
#[test]
fn engines_agree_on_a_crate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("tests/fixtures/agreement/clap_builder.toml");
    let expected: Expected = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let wanted = format!("magellan@{} ", expected.magellan);
    let script = fs::read_to_string(folder.join("packaging/lib.sh")).unwrap();
    assert!(script.contains(&wanted), "packaging/lib.sh installs another version than {wanted}");
    let source = Crate::of(&expected.package);
    let mut found = Found::default();
    let all = references(&source);
    compare_definitions(&source, &mut found);
    compare_references(&source, &all, &mut found);

    let mut wrong = Vec::new();
    let lines = source.files.values().map(|(text, _)| text.lines().count()).sum::<usize>();
    let measured = (&*source.version, source.magellan(), source.files.len(), lines);
    if measured != (&*expected.version, expected.magellan.clone(), expected.files, expected.lines) {
        wrong.push(format!("it was written about something else than {measured:?}"));
    }
    for (of, least) in [("definitions", 95.0), ("references", 90.0)] {
        let percent = found.percent(of);
        println!("{of}: the embedded engine has {percent:.1} percent of what magellan has");
        if percent < least {
            wrong.push(format!("only {percent:.1} percent of the {of} agree"));
        }
    }
    for ((of, class), places) in &found.0 {
        println!("{:6} {of} {class}", places.len());
        let Some(it) = expected.class.iter().find(|it| it.of == *of && it.name == *class) else {
            let some: Vec<_> = places.iter().take(5).map(|place| source.words(place)).collect();
            wrong.push(format!("{of} {class} is not explained: {} {some:?}", places.len()));
            continue;
        };
        if !it.count.holds(places.len()) {
            wrong.push(format!("{of} {class} are {}", places.len()));
        }
        let words: HashSet<_> = places.iter().map(|place| source.words(place)).collect();
        let others = it.examples.iter().filter(|example| !words.contains(*example));
        wrong.extend(others.map(|other| format!("{of} {class} is not what {other} is")));
        assert!(!it.why.trim().is_empty(), "{of} {class} has no reason");
    }
    for it in &expected.class {
        if found.count(&it.of, |class| class == it.name) == 0 && !it.count.holds(0) {
            wrong.push(format!("there are no {} {}", it.of, it.name));
        }
    }
    assert!(wrong.is_empty(), "not what the fixture says:\n{}", wrong.join("\n"));
}
