//! Every kind of bad plan is a file with its findings beside it (SPEC §1.4, §6).
//!
//! With `BLESS=1` in the environment the findings are written instead of compared. Review them before
//! committing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use countersign::plan::{Code, parse};

/// The codes that a step plan can get.
const CODES: [Code; 13] = [
    Code::NotJson,
    Code::DuplicateKey,
    Code::UnknownField,
    Code::Missing,
    Code::BadValue,
    Code::DuplicateId,
    Code::UnknownPrecondition,
    Code::Limit,
    Code::DialectUnclear,
    Code::NotFilledIn,
    Code::UnknownTool,
    Code::MissingArgument,
    Code::BadArgument,
];

/// The plans of `tests/fixtures/plans`, by name.
pub fn plans() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plans");
    let mut plans: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    plans.sort();
    plans
}

fn findings(bytes: &[u8]) -> String {
    let mut text = String::new();
    for finding in parse(bytes).findings {
        let severity = serde_json::to_value(finding.severity).unwrap();
        let (line, column) = (finding.line, finding.column);
        let pointer = if finding.pointer.is_empty() { "(file)" } else { &finding.pointer };
        let name = finding.name.map_or_else(String::new, |name| format!(" {name}"));
        writeln!(
            text,
            "{} {}{name} {line}:{column} {pointer} {}",
            severity.as_str().unwrap(),
            finding.code,
            finding.message
        )
        .unwrap();
    }
    text
}

#[test]
fn bad_plans_have_exactly_their_findings() {
    let plans = plans();
    assert!(plans.len() >= 25, "only {} plans", plans.len());
    let mut wrong = String::new();
    for path in plans {
        let found = findings(&fs::read(&path).unwrap());
        let beside = path.with_extension("findings");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&beside, &found).unwrap();
        }
        match fs::read_to_string(&beside) {
            Ok(expected) if expected == found => {}
            Ok(expected) => {
                writeln!(wrong, "{}\nexpected:\n{expected}found:\n{found}", path.display()).unwrap()
            }
            Err(error) => writeln!(wrong, "{}: {error}", beside.display()).unwrap(),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn no_findings_without_their_plan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plans");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.with_extension("json").exists(), "{}", path.display());
    }
}

#[test]
fn every_code_has_a_bad_plan() {
    let found: BTreeSet<Code> = plans()
        .iter()
        .flat_map(|path| parse(&fs::read(path).unwrap()).findings)
        .map(|finding| finding.code)
        .collect();
    assert_eq!(found, BTreeSet::from(CODES));
}
