//! A property: purges among the records of two runs at a time, each in a process of its own.

use std::collections::BTreeSet;

use proptest::prelude::*;
use uuid::Uuid;

use super::fixture::*;
use super::hostile::verifier::Python;
use super::retention::{observed, of_run, step};
use crate::evidence::*;
use crate::run::*;

/// One event of a history of two runs at a time, each in a process of its own.
#[derive(Debug, Clone)]
enum Event {
    /// A step of this run with this content, which is begun if it is not under way.
    Step(usize, u8),
    End(usize),
    PurgeRun(usize),
    PurgeStep(usize),
    PurgeContents(u64),
    PurgeOlder(i64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        8 => (0..2_usize, 0..6_u8).prop_map(|(run, content)| Event::Step(run, content)),
        3 => (0..2_usize).prop_map(Event::End),
        1 => (0..20_usize).prop_map(Event::PurgeRun),
        1 => (0..40_usize).prop_map(Event::PurgeStep),
        1 => prop_oneof![Just(1_u64), Just(4_000), Just(20_000)].prop_map(Event::PurgeContents),
        1 => (2_000..2_100_i64).prop_map(Event::PurgeOlder),
    ];
    prop::collection::vec(event, 1..40)
}

/// A run of the history, its executions, and whether it has ended.
struct Told {
    run_id: Uuid,
    executions: Vec<Uuid>,
    has_ended: bool,
}

fn content(number: u8) -> String {
    format!("content {number} ").repeat(1 + usize::from(number) * 500)
}

fn told(events: Vec<Event>, python: &mut Python) {
    const STEPS: usize = 40;
    let home = Home::new();
    let (mut one, mut other) = (home.store(), home.store());
    let mut purger = home.store();
    let mut runs: Vec<Told> = Vec::new();
    let mut plans = 0;
    let (mut open, mut now) = ([None, None], 2_000);
    {
        let mut active: [Option<Running<'_>>; 2] = [None, None];
        // A run borrows its store; a store is free again when its run has ended.
        let mut stores = [Some(&mut one), Some(&mut other)];
        for event in events {
            now += 1;
            match event {
                Event::Step(which, number) => {
                    if active[which].is_none() {
                        plans += 1;
                        let steps =
                            (0..STEPS).map(|index| write_step(index, "a", &plans.to_string()));
                        let store = stores[which].take().unwrap();
                        let run = Running::begin(store, plan(steps.collect()), now);
                        open[which] = Some(runs.len());
                        runs.push(Told {
                            run_id: run.run_id,
                            executions: vec![],
                            has_ended: false,
                        });
                        active[which] = Some(run);
                    }
                    let run = active[which].as_mut().unwrap();
                    let index = run.results.len();
                    let id = step(run, index, &content(number), now);
                    runs[open[which].unwrap()].executions.push(id);
                }
                Event::End(which) => {
                    if let Some(run) = active[which].take() {
                        stores[which] = Some(run.end_at(&RunEnding::Completed, now));
                        runs[open[which].take().unwrap()].has_ended = true;
                    }
                }
                purge => check_purge(&home, &mut purger, &runs, &purge, now),
            }
        }
    }
    let report = home.verify();
    assert_eq!(report.first_bad, None);
    let path = home.evidence.join("execution_log.db");
    let (is_sound, found) = python.check(&path);
    assert!(is_sound, "{found}");
    assert!(found.starts_with(&format!("{} records", report.rows)), "{found}");
}

fn check_purge(home: &Home, store: &mut EvidenceStore, runs: &[Told], event: &Event, now: i64) {
    let (rule, named): (_, BTreeSet<Uuid>) = match event {
        Event::PurgeRun(index) => match runs.get(*index) {
            Some(run) => (of_run(run.run_id), BTreeSet::from([run.run_id])),
            None => return,
        },
        Event::PurgeStep(number) => {
            let all = runs.iter().flat_map(|run| run.executions.iter().map(|id| (run.run_id, *id)));
            let Some((run, id)) = all.clone().nth(*number) else { return };
            (PurgeRule { executions: vec![id], ..PurgeRule::default() }, BTreeSet::from([run]))
        }
        Event::PurgeContents(bytes) => {
            let rule = PurgeRule { larger_than: Some(*bytes), ..PurgeRule::default() };
            (rule, runs.iter().map(|run| run.run_id).collect())
        }
        Event::PurgeOlder(before) => {
            let rule = PurgeRule { before_ms: Some(*before), ..PurgeRule::default() };
            let older = |run: &&Told| {
                let found = home.reader().run(run.run_id).unwrap().unwrap();
                found.ended_at_ms.unwrap_or(found.started_at_ms) < *before
            };
            (rule, runs.iter().filter(older).map(|run| run.run_id).collect())
        }
        Event::Step(..) | Event::End(_) => return,
    };
    let kept: Vec<_> =
        runs.iter().filter(|run| !run.has_ended || !named.contains(&run.run_id)).collect();
    let observe = || -> Vec<_> {
        kept.iter().map(|run| observed(home, run.run_id, &run.executions)).collect()
    };
    let (before, preview) = (observe(), home.reader().purge_preview(&rule, now).unwrap());
    let report = store.purge(&rule, "test", now).unwrap();
    assert_eq!(report.taken, preview);
    assert_eq!(observe(), before, "kept runs read as before: {rule:?}");
    assert_eq!(home.verify().first_bad, None);
    for run in runs {
        // Whatever was purged can be looked at.
        observed(home, run.run_id, &run.executions);
    }
}

#[test]
fn purges_of_random_histories_are_sound() {
    let mut python = Python::start();
    let config = ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let python = std::cell::RefCell::new(&mut python);
    runner
        .run(&events(), |events| {
            told(events, &mut python.borrow_mut());
            Ok(())
        })
        .unwrap();
}
