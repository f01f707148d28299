//! Random changes of a source text, and the runner that tries them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use countersign::code::{Definition, Language};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{TestCaseError, TestRunner};

use super::sources::{Fixture, parsed};
use super::{alone, lead};

/// How a text is changed before a definition in it is replaced.
#[derive(Debug, Clone)]
pub struct Case {
    /// Whether the source is a file of a dependency instead of a fixture.
    pub real: bool,
    pub source: Index,
    /// The seed for the order of its parts.
    pub order: Option<u64>,
    pub definition: Index,
    pub other: Index,
    pub place: Index,
    pub crlf: bool,
    pub bom: bool,
    pub cut: bool,
    pub change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Another definition of the same text.
    Other,
    /// A comment somewhere inside.
    Comment,
    /// A line taken out.
    Line,
    /// A bracket too many.
    Bracket,
    /// A bracket that is never closed, somewhere inside.
    Open,
    /// Only its first half.
    Half,
}

pub const CHANGES: [Change; 5] =
    [Change::Other, Change::Comment, Change::Line, Change::Bracket, Change::Half];
/// Changes that usually break the syntax.
pub const FAULTS: [Change; 4] = [Change::Line, Change::Bracket, Change::Open, Change::Half];

pub fn any_case(changes: &'static [Change]) -> impl Strategy<Value = Case> {
    let flags = any::<[bool; 4]>();
    let order = any::<Option<u64>>();
    let change = proptest::sample::select(changes);
    (any::<[Index; 4]>(), order, flags, change).prop_map(|(indices, order, flags, change)| {
        let [source, definition, other, place] = indices;
        let [real, crlf, bom, cut] = flags;
        Case { real, source, order, definition, other, place, crlf, bom, cut, change }
    })
}

/// The text with shuffled parts, CRLF line breaks, a byte order mark or without the last line break.
pub fn varied(fixture: &Fixture, case: &Case) -> String {
    let Fixture { language, text, .. } = fixture;
    let mut text = match case.order {
        Some(seed) => shuffled(*language, text, seed),
        None => text.clone(),
    };
    if case.cut {
        text.truncate(text.trim_end().len());
    }
    if case.crlf && !text.contains('\r') {
        text = text.replace('\n', "\r\n");
    }
    if case.bom {
        text.insert(0, '\u{feff}');
    }
    text
}

/// The text with its outermost definitions shuffled, each with its leading comments and attributes.
pub fn shuffled(language: Language, text: &str, mut seed: u64) -> String {
    let mut begins = Vec::new();
    let mut end = 0;
    for definition in parsed(language, text).definitions() {
        if definition.span.byte_start >= end {
            begins.push(lead(text, definition.span.byte_start));
            end = definition.span.byte_end;
        }
    }
    begins.dedup();
    begins.push(text.len());
    let parts = begins.windows(2).map(|it| &text[it[0]..it[1]]);
    // A macro must be defined before its use, so all macros come first.
    let (first, mut parts): (Vec<&str>, Vec<&str>) =
        parts.partition(|part| part.contains("macro_rules!"));
    let mut result = text[..begins[0]].to_owned() + &first.concat();
    while !parts.is_empty() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let next = usize::try_from(seed >> 33).unwrap() % parts.len();
        result.push_str(parts.swap_remove(next));
        if !result.ends_with('\n') {
            result.push('\n');
        }
    }
    result
}

pub fn mutated(
    text: &str,
    definition: &Definition,
    definitions: &[Definition],
    case: &Case,
) -> String {
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
        Change::Open => format!("{} ( {}", &own[..place], &own[place..]),
        Change::Half => own[..places[places.len() / 2]].to_owned(),
    }
}

/// Tries this many cases. Rejected assumptions do not count.
pub fn run_cases<T: std::fmt::Debug>(
    cases: u32,
    strategy: &impl Strategy<Value = T>,
    test: impl Fn(T) -> Result<(), TestCaseError>,
) {
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_global_rejects: 20 * cases,
        ..ProptestConfig::default()
    };
    TestRunner::new(config).run(strategy, test).unwrap_or_else(|failure| panic!("{failure}"));
}

/// The number of cases: 1,000, or more if the environment of proptest requests it.
pub fn case_count() -> u32 {
    ProptestConfig::default().cases.max(1_000)
}

/// Counts the cases of each language.
#[derive(Default)]
pub struct Tally(pub RefCell<BTreeMap<&'static str, [usize; 2]>>);

impl Tally {
    pub fn add(&self, language: Language, was_refused: bool) {
        self.0.borrow_mut().entry(language.name()).or_default()[usize::from(was_refused)] += 1;
    }

    /// Prints the counts. Returns how many were replaced and how many refused.
    pub fn show(&self, what: &str) -> [usize; 2] {
        let mut all = [0; 2];
        for (language, [replaced, refused]) in &*self.0.borrow() {
            println!("{what}: {language}: {replaced} replaced, {refused} refused");
            all = [all[0] + replaced, all[1] + refused];
        }
        println!("{what}: {} replaced, {} refused", all[0], all[1]);
        all
    }

    pub fn knows_every_language(&self) -> bool {
        self.0.borrow().len() == Language::ALL.len()
    }
}
