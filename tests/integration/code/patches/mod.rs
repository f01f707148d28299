//! Replaces definitions of real source texts in every language by themselves, by mutations, by syntax errors
//! and by code that does not compile (SPEC §4).

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use countersign::code::{CodeError, Definition, Language, Source, SymbolKind};
use countersign::plan::{Plan, ToolCall};
use countersign::risk::{EngineChoice, Policy};
use countersign::tools::{CallResult, Toolbox};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;
use serde_json::json;
use tempfile::TempDir;

use crate::harness::registry;
use crate::harness::{invoke, plan, read, step};
use changes::{
    CHANGES, Case, Change, FAULTS, Tally, any_case, case_count, mutated, run_cases, shuffled,
    varied,
};
use sources::{Fixture, fixtures, parsed, real_sources};

mod changes;
mod sources;

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

    /// Replaces a definition as a step does. Returns the tool's result and the file's new content.
    fn replace(
        &self,
        name: &str,
        text: &str,
        definition: &Definition,
        with: &str,
    ) -> (CallResult, String) {
        let file = self.folder.path().join(name);
        fs::write(&file, text).unwrap();
        fs::write(self.folder.path().join("with"), with).unwrap();
        let invocation = self.invoke(&call(name, definition));
        (invocation, fs::read_to_string(&file).unwrap())
    }

    fn invoke(&self, call: &ToolCall) -> CallResult {
        invoke(&self.tools, call, &self.tools.inputs(call).unwrap())
    }
}

fn call(name: &str, definition: &Definition) -> ToolCall {
    let arguments = json!({
        "file": name, "symbol": definition.fqn, "with": "with", "kind": definition.kind.as_str(),
    });
    let plan: Plan = read(&plan([step("s", "splice_patch", arguments)]));
    plan.steps.into_iter().next().unwrap().call
}

/// The definition as the content of a file of its own, with the indentation of its first line.
fn alone(text: &str, definition: &Definition) -> String {
    let start = definition.span.byte_start;
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indentation: String =
        text[line..start].chars().take_while(|sign| [' ', '\t'].contains(sign)).collect();
    format!("{indentation}{}\n", &text[start..definition.span.byte_end])
}

/// A macro of C may expand to any text, so no bracket in it is an error.
fn takes_any_text(language: Language, definition: &Definition) -> bool {
    matches!(language, Language::C | Language::Cpp) && definition.kind == SymbolKind::Macro
}

/// The definition to which full name and kind resolve; for a signature, this may be its body. `None` if they are
/// ambiguous.
fn resolved(source: &Source<'_>, definition: &Definition) -> Option<Definition> {
    source.definition(&definition.fqn, Some(definition.kind.as_str())).ok()
}

#[test]
fn the_fixtures_are_whole_and_of_every_language() {
    let fixtures = fixtures();
    for language in Language::ALL {
        let fixture = fixtures.iter().find(|it| it.language == language);
        let fixture = fixture.unwrap_or_else(|| panic!("no fixture in {}", language.name()));
        let lines = fixture.text.lines().count();
        assert!((60..=150).contains(&lines), "{}: {lines}", fixture.name);
        let source = parsed(language, &fixture.text);
        assert_eq!(source.syntax_errors(), [], "{}", fixture.name);
        let definitions = source.definitions();
        assert!(definitions.len() >= 9, "{}: {}", fixture.name, definitions.len());
    }
}

#[test]
fn definition_replaced_by_itself_is_unchanged() {
    let bench = Bench::new();
    let mut refused: BTreeMap<String, String> = BTreeMap::new();
    let mut replaced = 0;
    for Fixture { name, language, text } in fixtures() {
        let source = parsed(language, &text);
        for definition in source.definitions() {
            let what = format!("{name}: {} {}", definition.kind.as_str(), definition.fqn);
            let definition = resolved(&source, &definition).unwrap_or(definition);
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
    insta::assert_snapshot!(refused.join("\n"), @r"
    Library.java: constructor Library.State.State: Library.java: Library.State.State is defined 2 times: constructor Library.State.State (line 56), constructor Library.State.State (line 60)
    ledger.rs: impl Ledger: ledger.rs: Ledger is defined 2 times: impl Ledger (line 55), impl Ledger (line 81)
    ");
}

/// A case: the text, the definition and its replacement.
struct Replacement<'a> {
    name: &'a str,
    language: Language,
    text: String,
    definition: Definition,
    /// Whether full name and kind resolve to one definition.
    is_unambiguous: bool,
    with: String,
}

impl Replacement<'_> {
    fn of(case: &Case) -> Replacement<'static> {
        static FIXTURES: OnceLock<Vec<Fixture>> = OnceLock::new();
        let sources =
            if case.real { real_sources() } else { FIXTURES.get_or_init(fixtures).as_slice() };
        let fixture = &sources[case.source.index(sources.len())];
        let text = varied(fixture, case);
        let source = parsed(fixture.language, &text);
        let definitions = source.definitions();
        let picked = &definitions[case.definition.index(definitions.len())];
        let meant = resolved(&source, picked);
        let is_unambiguous = meant.is_some();
        let definition = meant.unwrap_or_else(|| picked.clone());
        let with = mutated(&text, &definition, &definitions, case);
        let (name, language) = (&fixture.name, fixture.language);
        Replacement { name, language, text, definition, is_unambiguous, with }
    }

    /// Whether the replacement adds syntax errors.
    fn is_worse(&self) -> bool {
        let span = self.definition.span;
        let mut text = self.text.clone();
        text.replace_range(span.byte_start..span.byte_end, self.with.trim());
        let faults = |text: &str| parsed(self.language, text).syntax_errors().len();
        faults(&text) > faults(&self.text)
    }
}

#[test]
fn replacement_changes_nothing_outside_the_definition() {
    let tally = Tally::default();
    run_cases(case_count(), &any_case(&CHANGES), |case| {
        let put = Replacement::of(&case);
        let Replacement { name, language, text, definition, .. } = &put;
        let (invocation, after) = Bench::new().replace(name, text, definition, &put.with);
        tally.add(*language, invocation.error.is_some());
        if let Some(error) = &invocation.error {
            prop_assert_eq!(&after, text, "refused and changed: {}", error);
            prop_assert!(invocation.files.is_empty());
            // Only replaced cases count.
            return Err(TestCaseError::reject("refused"));
        }
        prop_assert!(put.is_unambiguous, "{} is not one", definition.fqn);
        let any_text = takes_any_text(*language, definition);
        prop_assert!(case.change != Change::Bracket || any_text, "{}", after);
        // Comments and attributes directly above are replaced when the replacement has its own.
        let above = lead(text, definition.span.byte_start);
        prop_assert!(after.starts_with(&text[..above]), "{}", after);
        let below = &text[definition.span.byte_end..];
        prop_assert!(after.ends_with(below), "{}", after);
        let faults = |text: &str| parsed(*language, text).syntax_errors().len();
        prop_assert!(faults(&after) <= faults(text), "{}", after);
        let crlf = after.matches("\r\n").count();
        prop_assert!(!case.crlf || crlf == 0 || crlf == after.matches('\n').count(), "{:?}", after);
        Ok(())
    });
    let [replaced, refused] = tally.show("any replacement");
    assert_eq!(replaced, case_count() as usize);
    assert!(refused > 200, "{refused}");
    assert!(tally.knows_every_language());
}

#[test]
fn unparsable_replacement_leaves_the_file() {
    let tally = Tally::default();
    run_cases(case_count(), &any_case(&FAULTS), |case| {
        let put = Replacement::of(&case);
        let Replacement { name, language, text, definition, .. } = &put;
        prop_assume!(
            put.is_unambiguous && !takes_any_text(*language, definition) && put.is_worse()
        );
        let (invocation, after) = Bench::new().replace(name, text, definition, &put.with);
        prop_assert_eq!(&after, text);
        prop_assert!(invocation.error.is_some(), "{}", put.with);
        prop_assert!(invocation.files.is_empty());
        tally.add(*language, true);
        Ok(())
    });
    assert_eq!(tally.show("no longer the language"), [0, case_count() as usize]);
    assert!(tally.knows_every_language());
}

/// Two Rust sources, each a package by itself: the fixture and a dependency.
fn packages() -> [(&'static str, String); 2] {
    let fixture = fixtures().into_iter().find(|it| it.name == "ledger.rs").unwrap().text;
    let real = registry::package("strsim").0.join("src/lib.rs");
    [("ledger.rs", fixture), ("lib.rs", fs::read_to_string(real).unwrap())]
}

/// A package whose library is this source file.
fn package_of(name: &str) -> Bench {
    let bench = Bench::new();
    let manifest = format!(
        "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\npath = \"{name}\"\n"
    );
    fs::write(bench.folder.path().join("Cargo.toml"), manifest).unwrap();
    bench
}

/// The functions with a body and an unambiguous name.
fn bodies(text: &str) -> Vec<Definition> {
    let source = parsed(Language::Rust, text);
    let all = source.definitions();
    all.into_iter()
        .filter(|it| matches!(it.kind, SymbolKind::Function | SymbolKind::Method))
        .filter(|it| resolved(&source, it).is_some_and(|meant| meant.span == it.span))
        .filter(|it| text[it.span.byte_start..it.span.byte_end].contains('{'))
        // Code under `#[cfg(test)]` is not checked.
        .filter(|it| !it.fqn.starts_with("tests::"))
        .collect()
}

/// Errors that only the compiler finds, inserted at the beginning of a body.
const UNSOUND: [&str; 5] = [
    "let _: u8 = \"\";",
    "nowhere();",
    "let text = String::new(); drop(text); drop(text);",
    "let _ = u8::from(1_u64);",
    "let _: &'static u8 = &*Box::new(1);",
];

#[test]
fn replacement_refused_by_cargo_leaves_the_file() {
    let packages = packages();
    let tally = Tally::default();
    let cases = (0..packages.len(), any::<[Index; 2]>(), any::<Option<u64>>());
    // Each case runs cargo twice, so there are fewer cases than elsewhere.
    let count = (case_count() / 33).max(30);
    run_cases(count, &cases, |(package, [picked, fault], order)| {
        let (name, text) = &packages[package];
        let text = order.map_or(text.clone(), |seed| shuffled(Language::Rust, text, seed));
        let bodies = bodies(&text);
        let definition = &bodies[picked.index(bodies.len())];
        let own = alone(&text, definition);
        let fault = UNSOUND[fault.index(UNSOUND.len())];
        let with = own.replacen('{', &format!("{{ {fault}"), 1);
        let (invocation, after) = package_of(name).replace(name, &text, definition, &with);
        prop_assert_eq!(&after, &text);
        let error = invocation.error.map(|error| error.to_string()).unwrap_or_default();
        let refused = " new error";
        prop_assert!(error.contains(refused), "{}: {}: {}", definition.fqn, fault, error);
        prop_assert!(invocation.files.is_empty());
        // Otherwise the compiler may not reach the new error.
        let checked = &invocation.result["cargo_check"][0];
        prop_assert_eq!(&checked["errors_before"], 0, "the source does not compile");
        tally.add(Language::Rust, true);
        Ok(())
    });
    assert_eq!(tally.show("does not check"), [0, count as usize]);
}

#[test]
fn replacement_accepted_by_cargo_compiles() {
    let packages = packages();
    let cases = (0..packages.len(), any::<[Index; 2]>(), any::<bool>());
    run_cases(10, &cases, |(package, [picked, other], same)| {
        let (name, text) = &packages[package];
        let bodies = bodies(text);
        let definition = &bodies[picked.index(bodies.len())];
        let own = alone(text, definition);
        let with = match same {
            true => own.replacen('{', "{/* as before */", 1),
            false => alone(text, &bodies[other.index(bodies.len())]),
        };
        let bench = package_of(name);
        let (invocation, after) = bench.replace(name, text, definition, &with);
        if let Some(error) = &invocation.error {
            prop_assert!(!same, "{}", error);
            prop_assert_eq!(&after, text, "refused and changed: {}", error);
            return Ok(());
        }
        let check = step("c", "lsp_check", json!({ "path": "." }));
        let call = read(&plan([check])).steps.into_iter().next().unwrap().call;
        let checked = bench.invoke(&call);
        prop_assert!(checked.error.is_none(), "{:?}\n{}", checked.error, after);
        Ok(())
    });
}

/// The start of the lines directly above a place, up to the next empty line.
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
fn replacement_in_no_language_is_refused() {
    let bench = Bench::new();
    for Fixture { name, language, text } in fixtures() {
        let source = parsed(language, &text);
        for definition in source.definitions().iter().filter_map(|it| resolved(&source, it)) {
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
