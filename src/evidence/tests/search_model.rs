//! Searches are compared with a plain model of the same executions: every clause alone and in pairs.

use std::collections::BTreeMap;

use proptest::prelude::*;
use uuid::Uuid;

use super::fixture::*;
use crate::evidence::*;
use crate::plan::Digest;
use crate::risk::{RiskLevel, Verdict};
use crate::run::*;

const WORDS: [&str; 8] =
    ["heron", "heronry", "bittern", "wombat", "quokka", "quo", "numbat", "zorilla"];
const HOSTS: [Option<&str>; 3] = [None, Some("web-1"), Some("web-10")];
const CODES: [Option<&str>; 3] = [None, Some("E0425"), Some("clippy::needless_return")];
const OUTCOMES: [Outcome; 4] =
    [Outcome::Succeeded, Outcome::Failed, Outcome::Denied, Outcome::Skipped];
const RISKS: [RiskLevel; 3] = [RiskLevel::Safe, RiskLevel::Caution, RiskLevel::Dangerous];

/// What the model knows of an execution.
struct Known {
    id: Uuid,
    run_id: Uuid,
    timestamp_ms: i64,
    path: Vec<&'static str>,
    output: Vec<&'static str>,
    wrote: bool,
    outcome: String,
    risk: RiskLevel,
    host: Option<&'static str>,
    code: Option<&'static str>,
    asked: bool,
}

/// A small sequence of pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn words(&mut self, number: usize) -> Vec<&'static str> {
        (0..number).map(|_| WORDS[self.below(WORDS.len())]).collect()
    }
}

/// Evidence whose executions began in another order than they were recorded in, and in part within one millisecond. The
/// index is updated in between. The model has the order of recording.
fn sample() -> (Home, Vec<Known>) {
    let (home, mut numbers, mut model) = (Home::new(), Numbers(7), Vec::new());
    let mut store = home.store();
    let mut reader = home.reader();
    for number in 0..12 {
        let steps: Vec<_> = (0..8)
            .map(|index| {
                let path = numbers.words(2).join("/");
                if numbers.below(2) == 0 {
                    write_step(index, &path, "")
                } else {
                    read_step(index, &path)
                }
            })
            .collect();
        let mut plan = plan(steps);
        plan.plan_id = format!("plan-{}", number % 3);
        let mut run = Running::begin(&mut store, plan, 1_000);
        for index in 0..8 {
            let known = execution(&mut run, index, &mut numbers);
            model.push(known);
            if numbers.below(4) == 0 {
                reader.catch_up_index().unwrap();
            }
        }
        if number % 4 != 3 {
            run.end(&RunEnding::Completed);
        }
    }
    drop(store);
    (home, model)
}

fn execution(run: &mut Running<'_>, index: usize, numbers: &mut Numbers) -> Known {
    let step = run.plan.steps[index].clone();
    let outcome = OUTCOMES[numbers.below(OUTCOMES.len())];
    let timestamp_ms = 1_000 + numbers.below(60) as i64;
    let mut result = result_of(&step, outcome, timestamp_ms);
    result.error_code = None;
    let code = CODES[numbers.below(CODES.len())];
    result.diagnostic_artifacts = code.map(|code| diagnostic(code, "other")).into_iter().collect();
    let length = 1 + numbers.below(5);
    let output = numbers.words(length);
    let path = step.arguments["path"].clone();
    let words: Vec<_> =
        path.split('/').map(|it| *WORDS.iter().find(|word| **word == it).unwrap()).collect();
    let wrote = step.tool_name == "file_write" && outcome == Outcome::Succeeded;
    let edge_type = if wrote { EdgeType::Affected } else { EdgeType::ExecutedOn };
    let edges = [Edge { edge_type, target_kind: TargetKind::File, target: path.clone() }];
    let (risk_level, host) = (RISKS[numbers.below(3)], HOSTS[numbers.below(3)]);
    let asked = numbers.below(3) == 0;
    let answer =
        Answer { decision: Decision::Approve, by: AnsweredBy::Terminal, note: String::new() };
    let decision = StepDecision { request: request(run.run_id, &step), answer, timestamp_ms };
    let mut known = Known {
        id: result.execution_id,
        run_id: run.run_id,
        timestamp_ms,
        path: words,
        output,
        wrote,
        outcome: outcome.as_str().to_owned(),
        risk: risk_level,
        host,
        code,
        asked,
    };
    let risk = Verdict { level: risk_level, ..risk() };
    let decision = Some(&decision).filter(|_| asked);
    let has_intent = numbers.below(3) == 0;
    let is_interrupted = has_intent && numbers.below(4) == 0;
    if has_intent {
        let intent = IntentRecord {
            execution_id: result.execution_id,
            run_id: run.run_id,
            step: &step,
            risk: &risk,
            timestamp_ms,
            host,
            walls: None,
            files: &[effect(&path, None, None)],
            decision,
        };
        run.store.commit(&Entry::Intent(intent)).unwrap();
    }
    if is_interrupted {
        known = Known {
            outcome: "interrupted".to_owned(),
            output: Vec::new(),
            code: None,
            wrote: false,
            ..known
        };
        return known;
    }
    let output = known.output.join(" ");
    let record = ExecutionRecord {
        result: &result,
        run_id: run.run_id,
        plan: &run.plan,
        step: &step,
        risk: &risk,
        policy: Digest::of(b"policy"),
        host,
        walls: None,
        invoked: true,
        stdout: Some(output.as_bytes()),
        stderr: None,
        captured: None,
        result_json: &serde_json::Value::Null,
        artifacts: &[],
        files: &[],
        predicted: &[],
        edges: &edges,
        decision: decision.filter(|_| !has_intent),
    };
    run.store.commit(&Entry::Execution(record)).unwrap();
    known
}

/// One narrowing of a search.
#[derive(Debug, Clone)]
enum Clause {
    Word(&'static str),
    Prefix(&'static str),
    Phrase(&'static str, &'static str),
    Without(&'static str),
    Path(&'static str),
    PathOfTwo(&'static str, &'static str),
    Wrote(&'static str),
    Outcome(&'static str),
    Risk(RiskLevel),
    Host(&'static str),
    Code(&'static str),
    Plan(usize),
    Run(usize),
    Asked,
    Since(i64),
    Until(i64),
}

fn clause() -> impl Strategy<Value = Clause> {
    let word = || (0..WORDS.len()).prop_map(|it| WORDS[it]);
    let outcomes = ["succeeded", "failed", "denied", "skipped", "interrupted", "running"];
    prop_oneof![
        word().prop_map(Clause::Word),
        word().prop_map(|it| Clause::Prefix(&it[..3])),
        (word(), word()).prop_map(|(a, b)| Clause::Phrase(a, b)),
        word().prop_map(Clause::Without),
        word().prop_map(Clause::Path),
        (word(), word()).prop_map(|(a, b)| Clause::PathOfTwo(a, b)),
        prop_oneof![word(), Just("*")].prop_map(Clause::Wrote),
        (0..outcomes.len()).prop_map(move |it| Clause::Outcome(outcomes[it])),
        (0..3_usize).prop_map(|it| Clause::Risk(RISKS[it])),
        (1..3_usize).prop_map(|it| Clause::Host(HOSTS[it].unwrap())),
        (1..3_usize).prop_map(|it| Clause::Code(CODES[it].unwrap())),
        (0..4_usize).prop_map(Clause::Plan),
        (0..96_usize).prop_map(Clause::Run),
        Just(Clause::Asked),
        (995..1_065_i64).prop_map(Clause::Since),
        (995..1_065_i64).prop_map(Clause::Until),
    ]
}

fn has_phrase(words: &[&str], phrase: &[&str]) -> bool {
    words.windows(phrase.len()).any(|it| it == phrase)
}

impl Clause {
    /// Narrows the query. A later clause replaces an earlier one about the same field, except for words.
    fn add(&self, query: &mut SearchQuery, model: &[Known]) {
        let mut word = |text: String| query.words = format!("{} {text}", query.words);
        match self {
            // In quotation marks, because the last word is a beginning otherwise.
            Self::Word(it) => word(format!("\"{it}\"")),
            Self::Prefix(it) => word(format!("{it}*")),
            Self::Phrase(a, b) => word(format!("\"{a} {b}\"")),
            Self::Without(it) => word(format!("-{it}")),
            // A sign at the end completes the word.
            Self::Path(it) => query.path = Some(format!("{it}/")),
            Self::PathOfTwo(a, b) => query.path = Some(format!("{a}/{b}.")),
            Self::Wrote(it) => {
                query.wrote = Some(if *it == "*" { (*it).into() } else { format!("{it}/") })
            }
            Self::Outcome(it) => query.outcome = Some((*it).into()),
            Self::Risk(it) => query.risk = Some(it.as_str().into()),
            Self::Host(it) => query.host = Some((*it).into()),
            Self::Code(it) => query.code = Some(it.to_uppercase()),
            Self::Plan(it) => query.plan_id = Some(format!("plan-{it}")),
            Self::Run(it) => query.run_id = Some(model[*it].run_id),
            Self::Asked => query.by = Some("terminal".into()),
            Self::Since(it) => query.since_ms = Some(*it),
            Self::Until(it) => query.until_ms = Some(*it),
        }
    }

    fn holds(&self, it: &Known, model: &[Known], plans: &dyn Fn(Uuid) -> usize) -> bool {
        let texts = [&it.path, &it.output];
        let occurs = |phrase: &[&str]| texts.iter().any(|text| has_phrase(text, phrase));
        match self {
            Self::Word(word) => occurs(&[word]),
            Self::Prefix(start) => texts.iter().any(|it| it.iter().any(|it| it.starts_with(start))),
            Self::Phrase(a, b) => occurs(&[a, b]),
            Self::Without(word) => !occurs(&[word]),
            Self::Path(word) => has_phrase(&it.path, &[word]),
            Self::PathOfTwo(a, b) => has_phrase(&it.path, &[a, b]),
            Self::Wrote(word) => it.wrote && (*word == "*" || has_phrase(&it.path, &[word])),
            Self::Outcome(outcome) => it.outcome == *outcome,
            Self::Risk(risk) => it.risk == *risk,
            Self::Host(host) => it.host == Some(host),
            Self::Code(code) => it.code == Some(code),
            Self::Plan(number) => plans(it.run_id) == *number,
            Self::Run(index) => it.run_id == model[*index].run_id,
            Self::Asked => it.asked,
            Self::Since(ms) => it.timestamp_ms >= *ms,
            Self::Until(ms) => it.timestamp_ms <= *ms,
        }
    }
}

fn ids(page: &SearchPage) -> Vec<Uuid> {
    page.hits.iter().map(|hit| hit.listed.row.execution_id).collect()
}

/// All hits in pages of this size.
fn in_pages(reader: &mut EvidenceReader, query: &SearchQuery, limit: usize) -> Vec<Uuid> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = reader.search(&SearchQuery { limit, after, ..query.clone() }).unwrap();
        assert!(page.hits.len() <= limit);
        all.extend(ids(&page));
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

/// Each clause and each pair of two finds what the model finds: newest first and, within a millisecond, what was recorded
/// last; on one page or on many; with the right counts; from an index that grew and from one that is new.
#[test]
fn searches_agree_with_a_plain_model() {
    let (home, model) = sample();
    let mut reader = home.reader();
    let mut order: Vec<_> = (0..model.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse((model[*index].timestamp_ms, *index)));
    let mut runs: Vec<_> = Vec::new();
    model.iter().for_each(|it| {
        if !runs.contains(&it.run_id) {
            runs.push(it.run_id);
        }
    });
    let plans = |run_id| runs.iter().position(|it| *it == run_id).unwrap() % 3;
    let everything: Vec<_> = order.iter().map(|index| model[*index].id).collect();
    let all = SearchQuery { limit: 1_000, ..SearchQuery::default() };
    assert_eq!(ids(&reader.search(&all).unwrap()), everything);
    let config = ProptestConfig { cases: 600, failure_persistence: None, ..Default::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let reader = std::cell::RefCell::new(reader);
    let check = |clauses: Vec<Clause>| {
        let kind = std::mem::discriminant::<Clause>;
        if let [first, second] = &clauses[..]
            && kind(first) == kind(second)
            && !matches!(
                first,
                Clause::Word(_) | Clause::Prefix(_) | Clause::Phrase(..) | Clause::Without(_)
            )
        {
            return Ok(());
        }
        if let [Clause::Path(_), Clause::PathOfTwo(..)] | [Clause::PathOfTwo(..), Clause::Path(_)] =
            &clauses[..]
        {
            return Ok(());
        }
        let mut query = all.clone();
        clauses.iter().for_each(|it| it.add(&mut query, &model));
        let holds = |it: &Known| clauses.iter().all(|clause| clause.holds(it, &model, &plans));
        let found: Vec<_> = order.iter().map(|at| &model[*at]).filter(|it| holds(it)).collect();
        let expected: Vec<_> = found.iter().map(|it| it.id).collect();
        let reader = &mut *reader.borrow_mut();
        let page = reader.search(&query).unwrap();
        prop_assert_eq!(&ids(&page), &expected, "{:?}", query);
        prop_assert_eq!(page.counts.total as usize, expected.len());
        for (outcome, number) in &page.counts.facets.outcome {
            let number_of = found.iter().filter(|it| it.outcome == *outcome).count();
            prop_assert_eq!(*number as usize, number_of);
        }
        let Facets { path, code, .. } = &page.counts.facets;
        prop_assert_eq!(path, &counted(found.iter().map(|it| it.path.join("/"))));
        let codes = found.iter().filter_map(|it| it.code.map(str::to_owned));
        prop_assert_eq!(code, &counted(codes));
        let in_time: u64 = page.counts.timeline.iter().map(|it| it.fine + it.bad).sum();
        prop_assert_eq!(in_time as usize, expected.len());
        prop_assert_eq!(in_pages(reader, &query, 7), expected);
        for hit in &page.hits {
            let is_marked = !hit.marks.is_empty();
            prop_assert_eq!(is_marked, query.words.contains(['"', '*']), "{:?} {:?}", query, hit);
        }
        Ok(())
    };
    for clauses in 1..=2 {
        runner.run(&proptest::collection::vec(clause(), clauses), check).unwrap();
    }
    *reader.borrow_mut() = {
        std::fs::remove_file(home.evidence.join("search_index.db")).unwrap();
        home.reader()
    };
    assert_eq!(ids(&reader.borrow_mut().search(&all).unwrap()), everything, "a new index");
    runner.run(&proptest::collection::vec(clause(), 2), check).unwrap();
}

/// How often each value occurs, most frequent first.
fn counted(values: impl Iterator<Item = String>) -> Vec<(String, u64)> {
    let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
    values.for_each(|value| *numbers.entry(value).or_default() += 1);
    let mut counted: Vec<_> = numbers.into_iter().collect();
    counted.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    counted
}

/// More executions within one millisecond than it has numbers for.
#[test]
fn many_executions_of_one_millisecond_keep_their_order() {
    let home = Home::new();
    let mut store = home.store();
    let mut reader = home.reader();
    let mut run = Running::begin(&mut store, plan(vec![read_step(0, "a")]), 1_000);
    let mut expected = Vec::new();
    for (number, at_ms) in [1_000; 70].into_iter().chain([1_001, 1_002, 1_500]).enumerate() {
        let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, at_ms);
        expected.insert(0, result.execution_id);
        run.record(result, Extra::default());
        if number % 20 == 0 {
            reader.catch_up_index().unwrap();
        }
    }
    let query = SearchQuery { limit: 100, ..SearchQuery::default() };
    assert_eq!(ids(&reader.search(&query).unwrap()), expected);
    let query = SearchQuery { since_ms: Some(1_001), ..query };
    assert_eq!(ids(&reader.search(&query).unwrap()), expected[..3]);
    let query = SearchQuery { since_ms: None, until_ms: Some(1_001), ..query };
    assert_eq!(ids(&reader.search(&query).unwrap()), expected[2..]);
    assert_eq!(in_pages(&mut reader, &query, 9), expected[2..]);
}
