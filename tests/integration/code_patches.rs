//! Definitions of real source texts in every language, replaced by themselves, by mutations of
//! themselves, and by what does not parse.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use countersign::code::{CodeError, Definition, Language, Source, SymbolKind};
use countersign::plan::{Plan, ToolCall};
use countersign::risk::{EngineChoice, Policy};
use countersign::tools::{Context, Invocation, StopSignal, Toolbox};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;
use tempfile::TempDir;

use super::harness::{plan, read, step};

/// A source text of the fixtures.
struct Fixture {
    name: String,
    language: Language,
    text: String,
}

fn fixtures() -> Vec<Fixture> {
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

fn parsed(language: Language, text: &str) -> Source<'_> {
    Source::parse(language, text, &|| false).unwrap()
}

/// A workspace with one source file and one replacement.
struct Bench {
    folder: TempDir,
    tools: Toolbox,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let policy = Policy { engine: EngineChoice::Embedded, ..Policy::default() };
        let tools = Toolbox::open(folder.path(), &policy).unwrap();
        Self { folder, tools }
    }

    /// Replaces a definition as a step does; what the tool says and what the file holds then.
    fn replace(
        &self,
        name: &str,
        text: &str,
        definition: &Definition,
        with: &str,
    ) -> (Invocation, String) {
        let file = self.folder.path().join(name);
        fs::write(&file, text).unwrap();
        fs::write(self.folder.path().join("with"), with).unwrap();
        let invocation = self.invoke(&call(name, definition));
        (invocation, fs::read_to_string(&file).unwrap())
    }

    fn invoke(&self, call: &ToolCall) -> Invocation {
        let expected = self.tools.inputs(call).unwrap();
        let stop = StopSignal::default();
        let context = Context {
            expected: &expected,
            stop: &stop,
            execution_id: uuid::Uuid::new_v4(),
            output: &|_, _| {},
        };
        self.tools.invoke(call, &context)
    }
}

fn call(name: &str, definition: &Definition) -> ToolCall {
    let arguments = json!({
        "file": name, "symbol": definition.fqn, "with": "with", "kind": definition.kind.as_str(),
    });
    let plan: Plan = read(&plan([step("s", "splice_patch", arguments)]));
    plan.steps.into_iter().next().unwrap().call.unwrap()
}

/// The definition as a person would write it into a file of its own: with the indentation of its line.
fn alone(text: &str, definition: &Definition) -> String {
    let start = definition.span.byte_start;
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indentation: String =
        text[line..start].chars().take_while(|sign| [' ', '\t'].contains(sign)).collect();
    format!("{indentation}{}\n", &text[start..definition.span.byte_end])
}

/// What a macro of C stands for is any text: no bracket is too many for it.
fn takes_any_text(language: Language, definition: &Definition) -> bool {
    matches!(language, Language::C | Language::Cpp) && definition.kind == SymbolKind::Macro
}

/// What the definition's full name and kind mean: it, the body where it is only a signature, or nothing
/// when they mean several.
fn meant(source: &Source<'_>, definition: &Definition) -> Option<Definition> {
    source.definition(&definition.fqn, Some(definition.kind.as_str())).ok()
}

#[test]
fn the_fixtures_are_whole_and_of_every_language() {
    let fixtures = fixtures();
    for language in Language::all() {
        let fixture = fixtures.iter().find(|it| it.language == language);
        let fixture = fixture.unwrap_or_else(|| panic!("no fixture in {}", language.name()));
        let lines = fixture.text.lines().count();
        assert!((60..=150).contains(&lines), "{}: {lines}", fixture.name);
        let source = parsed(language, &fixture.text);
        assert_eq!(source.faults(), [], "{}", fixture.name);
        let definitions = source.definitions();
        assert!(definitions.len() >= 9, "{}: {}", fixture.name, definitions.len());
    }
}

#[test]
fn every_definition_replaced_by_itself_stays_as_it_is() {
    let bench = Bench::new();
    let mut refused: BTreeMap<String, String> = BTreeMap::new();
    let mut replaced = 0;
    for Fixture { name, language, text } in fixtures() {
        let source = parsed(language, &text);
        for definition in source.definitions() {
            let what = format!("{name}: {} {}", definition.kind.as_str(), definition.fqn);
            let definition = meant(&source, &definition).unwrap_or(definition);
            let with = alone(&text, &definition);
            let (invocation, after) = bench.replace(&name, &text, &definition, &with);
            assert!(after == text, "{what}:\n{after}");
            match invocation.error {
                None => replaced += 1,
                Some(error) => drop(refused.insert(what, error.to_string())),
            }
        }
    }
    let refused: Vec<_> = refused.iter().map(|(what, why)| format!("{what}: {why}")).collect();
    assert!(replaced > 200, "only {replaced} were replaced; refused:\n{}", refused.join("\n"));
    insta::assert_snapshot!("refused_by_name", refused.join("\n"));
}

/// What is done to a text before a definition of it is replaced.
#[derive(Debug, Clone)]
struct Case {
    fixture: Index,
    definition: Index,
    other: Index,
    place: Index,
    crlf: bool,
    bom: bool,
    cut: bool,
    change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Another definition of the same text.
    Other,
    /// A comment somewhere inside.
    Comment,
    /// A line taken out.
    Line,
    /// A bracket too many.
    Bracket,
    /// Only its first half.
    Half,
}

fn any_case() -> impl Strategy<Value = Case> {
    let change = prop_oneof![
        Just(Change::Other),
        Just(Change::Comment),
        Just(Change::Line),
        Just(Change::Bracket),
        Just(Change::Half),
    ];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (any::<[Index; 4]>(), flags, change).prop_map(|(indices, (crlf, bom, cut), change)| {
        let [fixture, definition, other, place] = indices;
        Case { fixture, definition, other, place, crlf, bom, cut, change }
    })
}

/// The text with other line breaks, with a mark at its begin, without a line break at its end.
fn dressed(text: &str, case: &Case) -> String {
    let mut text = if case.cut { text.trim_end().to_owned() } else { text.to_owned() };
    if case.crlf {
        text = text.replace('\n', "\r\n");
    }
    if case.bom {
        text.insert(0, '\u{feff}');
    }
    text
}

fn mutated(text: &str, definition: &Definition, definitions: &[Definition], case: &Case) -> String {
    let own = alone(text, definition);
    let places: Vec<usize> = own.char_indices().map(|(at, _)| at).collect();
    let place = places[case.place.index(places.len())];
    match case.change {
        Change::Other => alone(text, &definitions[case.other.index(definitions.len())]),
        Change::Comment => format!("{}/* here */{}", &own[..place], &own[place..]),
        Change::Line => {
            let lines: Vec<&str> = own.split_inclusive('\n').collect();
            let gone = case.place.index(lines.len());
            lines.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, line)| *line).collect()
        }
        Change::Bracket => format!("{} )\n", own.trim_end()),
        Change::Half => own[..places[places.len() / 2]].to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(1_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_replaces_a_definition_touches_nothing_outside_of_it(case in any_case()) {
        let fixtures = fixtures();
        let Fixture { name, language, text } = &fixtures[case.fixture.index(fixtures.len())];
        let text = dressed(text, &case);
        let source = parsed(*language, &text);
        let definitions = source.definitions();
        let picked = &definitions[case.definition.index(definitions.len())];
        let meant = meant(&source, picked);
        let definition = meant.as_ref().unwrap_or(picked);
        let with = mutated(&text, definition, &definitions, &case);
        let (invocation, after) = Bench::new().replace(name, &text, definition, &with);
        match &invocation.error {
            Some(error) => {
                prop_assert_eq!(&after, &text, "refused and changed: {}", error);
                prop_assert!(invocation.files.is_empty());
            }
            None => {
                prop_assert!(meant.is_some(), "{} is not one", picked.fqn);
                let any_text = takes_any_text(*language, definition);
                prop_assert!(case.change != Change::Bracket || any_text, "{}", after);
                // Comments and attributes right above belong to it when the replacement brings its own.
                let above = lead(&text, definition.span.byte_start);
                prop_assert!(after.starts_with(&text[..above]), "{}", after);
                let below = &text[definition.span.byte_end..];
                prop_assert!(after.ends_with(below), "{}", after);
                prop_assert_eq!(parsed(*language, &after).faults(), []);
                let crlf = after.matches("\r\n").count();
                prop_assert!(crlf == 0 || crlf == after.matches('\n').count(), "{:?}", after);
            }
        }
    }
}

/// What only the compiler can tell.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// None: the definition as it is, with a comment.
    None,
    /// Another type in its place.
    Type,
    /// A name that nothing defines.
    Name,
    /// Another definition of the same text.
    Other,
}

proptest! {
    // Each case is two or three runs of cargo.
    #![proptest_config(ProptestConfig {
        cases: 30,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_cargo_refuses_leaves_the_file_and_what_it_takes_still_checks(
        picked in any::<Index>(),
        other in any::<Index>(),
        fault in prop_oneof![Just(Fault::None), Just(Fault::Type), Just(Fault::Name), Just(Fault::Other)],
    ) {
        let text = fixtures().into_iter().find(|it| it.name == "ledger.rs").unwrap().text;
        let source = parsed(Language::Rust, &text);
        let definitions = source.definitions();
        let bodies: Vec<_> = definitions
            .iter()
            .filter(|it| matches!(it.kind, SymbolKind::Function | SymbolKind::Method))
            .filter(|it| meant(&source, it).is_some_and(|meant| meant.span == it.span))
            .filter(|it| text[it.span.byte_start..it.span.byte_end].contains('{'))
            .collect();
        let definition = bodies[picked.index(bodies.len())];
        let own = alone(&text, definition);
        let open = own.find('{').unwrap() + 1;
        let with = match fault {
            Fault::None => format!("{}/* as before */{}", &own[..open], &own[open..]),
            Fault::Type => format!("{} let _: u8 = \"\";{}", &own[..open], &own[open..]),
            Fault::Name => format!("{} nowhere();{}", &own[..open], &own[open..]),
            Fault::Other => alone(&text, &definitions[other.index(definitions.len())]),
        };
        let bench = Bench::new();
        let manifest = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\npath = \"ledger.rs\"\n";
        fs::write(bench.folder.path().join("Cargo.toml"), manifest).unwrap();
        let (invocation, after) = bench.replace("ledger.rs", &text, definition, &with);
        match &invocation.error {
            Some(error) => {
                prop_assert!(!matches!(fault, Fault::None), "{}", error);
                prop_assert_eq!(&after, &text, "refused and changed: {}", error);
                prop_assert!(invocation.files.is_empty());
            }
            None => {
                prop_assert!(!matches!(fault, Fault::Type | Fault::Name), "{}", after);
                let check = step("c", "lsp_check", json!({ "path": "." }));
                let call = read(&plan([check])).steps.into_iter().next().unwrap().call.unwrap();
                let checked = bench.invoke(&call);
                prop_assert!(checked.error.is_none(), "{:?}\n{}", checked.error, after);
            }
        }
    }
}

/// Where the lines begin that stand directly above a place, up to the next empty one.
fn lead(text: &str, place: usize) -> usize {
    let mut begin = text[..place].rfind('\n').map_or(0, |at| at + 1);
    while begin > 0 {
        let before = text[..begin - 1].rfind('\n').map_or(0, |at| at + 1);
        if text[before..begin].trim().is_empty() {
            break;
        }
        begin = before;
    }
    begin
}

#[test]
fn a_text_that_is_no_longer_the_language_is_never_taken() {
    let bench = Bench::new();
    for Fixture { name, language, text } in fixtures() {
        let source = parsed(language, &text);
        for definition in source.definitions().iter().filter_map(|it| meant(&source, it)) {
            if takes_any_text(language, &definition) {
                continue;
            }
            let with = format!("{} ) ( }}\n", alone(&text, &definition).trim_end());
            let (invocation, after) = bench.replace(&name, &text, &definition, &with);
            let error = invocation.error.unwrap_or_else(|| panic!("{name}: {}", definition.fqn));
            let known = ["does not parse", "in one statement"];
            assert!(known.iter().any(|part| error.to_string().contains(part)), "{name}: {error}");
            assert_eq!(after, text, "{name}: {}", definition.fqn);
        }
        let error = source.definition("not there at all", None).unwrap_err();
        assert!(matches!(error, CodeError::NotFound { .. }));
    }
}
