//! Another program changes the files of the evidence (invariant 3 in `lib.rs`). Either opening or `verify` detects the
//! change, or no query, search, replay or grant returns anything else than before.
//!
//! Two changes are not tested, because they cannot be detected: rows that are appended exactly as this program would
//! append them, and a restore of all files of the evidence, the key and the state together.

mod changes;
mod edits;
mod sample;
pub(super) mod verifier;

use std::fs;

use changes::CHANGES;
use sample::Sample;

/// Makes a change, and returns its description; `None` if it cannot be made.
type Change = fn(&Sample, &mut Random) -> Option<String>;

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn number(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }

    fn one_of<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.number(items.len()))
    }
}

/// The result of a test case.
enum CaseResult {
    Detected,
    Harmless,
    /// No change could be made.
    Unchanged,
}

/// Makes these changes. The error is a difference that remains undetected.
fn hidden_change(
    target: &Sample,
    changes: &[Change],
    random: &mut Random,
) -> Result<CaseResult, String> {
    target.restore();
    let mut done = Vec::new();
    for change in changes {
        done.extend(change(target, random));
    }
    if done.is_empty() {
        return Ok(CaseResult::Unchanged);
    }
    if target.detected().is_some() {
        return Ok(CaseResult::Detected);
    }
    match target.observe() {
        // A refusal counts as detection.
        Err(_) => Ok(CaseResult::Detected),
        Ok(observed) if observed == target.expected => Ok(CaseResult::Harmless),
        Ok(observed) => {
            let differs =
                observed.lines().zip(target.expected.lines()).find(|(now, was)| now != was);
            let (now, was) = differs.unwrap_or_default();
            Err(format!("{done:?}:\n{now:.600}\nbefore:\n{was:.600}"))
        }
    }
}

fn check(cases: impl Iterator<Item = (Vec<usize>, u64)>) {
    let target = Sample::new();
    let (mut detected, mut harmless, mut unchanged, mut hidden) = (0, 0, 0, Vec::new());
    for (indexes, seed) in cases {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let names: Vec<_> = indexes.iter().map(|index| CHANGES[*index].0).collect();
        let changes: Vec<_> = indexes.iter().map(|index| CHANGES[*index].1).collect();
        match hidden_change(&target, &changes, &mut random) {
            Ok(CaseResult::Detected) => detected += 1,
            Ok(CaseResult::Harmless) => harmless += 1,
            Ok(CaseResult::Unchanged) => unchanged += 1,
            Err(why) => hidden.push(format!("{names:?} with {seed}: {why}")),
        }
    }
    let tried = detected + harmless + hidden.len();
    println!(
        "{detected} detected, {harmless} without effect, {} hidden, {unchanged} not made",
        hidden.len()
    );
    let _ = fs::remove_dir_all(target.current.parent().unwrap());
    assert!(detected > tried / 2 && unchanged < tried / 10, "most changes are made and detected");
    assert!(hidden.is_empty(), "{} of {tried}: {}", hidden.len(), hidden.join("\n\n"));
}

/// Makes each change several times, with different tables, rows and values.
#[test]
fn no_single_change_is_hidden() {
    check((0..CHANGES.len()).flat_map(|index| (0..4).map(move |seed| (vec![index], seed))));
}

/// Makes one or two random changes for each seed. The variable `EVIDENCE_CHANGES` sets the number of seeds or their
/// range `FROM..TO`.
#[test]
fn no_pair_of_changes_is_hidden() {
    let seeds = std::env::var("EVIDENCE_CHANGES").unwrap_or_else(|_| "200".to_owned());
    let (from, to) = seeds.split_once("..").unwrap_or(("0", &seeds));
    let (from, to): (u64, u64) = (from.parse().unwrap(), to.parse().unwrap());
    check((from..to).map(|seed| {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95) | 1);
        let count = 1 + usize::from(random.number(4) > 0);
        ((0..count).map(|_| random.number(CHANGES.len())).collect(), seed)
    }));
}
