//! The verifier in Python, which every case file contains, says of every change what `verify` says.
//!
//! It cannot know what needs the user's key: kept heads and the digests of grants. So it is compared with the
//! verification without a kept head, and changes of those files are left out.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::changes::CHANGES;
use super::edits::{a_row, columns, name, unguarded};
use super::sample::Sample;
use super::{Change, Random};
use crate::evidence::verify;

/// Checks one path for each line of its input.
const LOOP: &str = "
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('verify', sys.argv[1])
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)
for line in sys.stdin:
    print(json.dumps(verify.check(line.rstrip('\\n'))), flush=True)
";

/// The verifier in Python, in a process that checks one database after the other.
pub(in crate::evidence::tests) struct Python {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    pub(in crate::evidence::tests) fn start() -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier/verify.py");
        let mut child = Command::new("python3")
            .args(["-B", "-c", LOOP])
            .arg(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let questions = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, questions, answers }
    }

    /// Whether the evidence in this place is unchanged, and what was found.
    pub(in crate::evidence::tests) fn check(&mut self, path: &Path) -> (bool, String) {
        writeln!(self.questions, "{}", path.display()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        (answer[0].as_bool().unwrap(), answer[1].as_str().unwrap().to_owned())
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The changes that only the user's own files or the search index show.
const ELSEWHERE: [&str; 6] =
    ["earlier file", "no locks", "no state", "no evidence", "open key", "poisoned index"];

/// Exchanges the numbers of two rows of a table.
fn swap_rows(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    let (one, other) = (a_row(target, &table, random)?, a_row(target, &table, random)?);
    let key = columns(target, &table).first()?.clone();
    let set = |to: i64, from: i64| format!("UPDATE {table} SET {key} = {to} WHERE {key} = {from};");
    let change = [set(-1, one), set(one, other), set(other, -1)].concat();
    if one == other { None } else { unguarded(target, &table, &change) }
}

/// Flips a bit of the database, mostly of a byte that is not zero: unused parts of pages are zeros.
fn flip(target: &Sample, random: &mut Random) -> Option<String> {
    let mut bytes = fs::read(target.database()).ok()?;
    let start = random.number(bytes.len());
    let is_any = random.number(4) == 0;
    let index = (start..bytes.len()).find(|index| is_any || bytes[*index] != 0)?;
    let before = bytes[index];
    bytes[index] ^= 1 << random.number(8);
    let after = bytes[index];
    fs::write(target.database(), bytes).ok()?;
    Some(format!("{before:#04x} becomes {after:#04x} at {index}"))
}

/// A leaf page of an index becomes an inner one. If the index is empty, nothing is lost, and SQLite's integrity check is
/// the only thing that can notice: older versions call the database malformed, newer ones find nothing.
const INDEX_PAGE: &str = "0x0a becomes 0x02";

/// Whether SQLite finds a row in whatever way it looks for it. Where the number of a row was changed, a table is out of
/// order, and which row is missing depends on how it is read.
fn has_sound_trees(target: &Sample) -> bool {
    let check = "PRAGMA integrity_check(1)";
    let said = target.home.raw().query_row(check, [], |row| row.get::<_, String>(0));
    said.is_ok_and(|said| said == "ok")
}

/// Whether both verifiers say the same of this evidence. The error says what each says.
fn compare(target: &Sample, python: &mut Python) -> Result<bool, String> {
    let ours = verify(&target.home.evidence, None);
    let (is_sound, found) = match python.check(&target.database()) {
        // Without a file there is nothing to check: no evidence yet for one, no such file for the other.
        (false, found) if found.contains("FileNotFoundError") => (true, "0 records".to_owned()),
        answer => answer,
    };
    let (ok, first_bad, has_schema) = match &ours {
        Ok(report) => {
            (report.ok, report.first_bad.clone().unwrap_or_default(), report.schema.is_empty())
        }
        Err(error) => (false, error.to_string(), false),
    };
    // Where the schema is intact, even the words about the first row are the same.
    let names_row = has_schema && (first_bad.starts_with("row ") || first_bad.starts_with("link "));
    let other_words = names_row && first_bad != found && !found.starts_with("it cannot be read");
    if ok != is_sound || (other_words && has_sound_trees(target)) {
        return Err(format!("ours: {ok} {first_bad}\nPython: {is_sound} {found}"));
    }
    Ok(ok)
}

/// Makes these changes of a sample for each seed, and counts how often both verifiers find them.
fn check(
    target: &Sample,
    seeds: std::ops::Range<u64>,
    choose: impl Fn(&mut Random) -> Vec<(&'static str, Change)>,
) {
    let mut python = Python::start();
    target.restore();
    assert_eq!(compare(target, &mut python), Ok(true));
    let (mut detected, mut unused, mut unmade, mut by_version) = (0, 0, 0, 0);
    let mut disagreed = Vec::new();
    for seed in seeds {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95) | 1);
        target.restore();
        let mut done = Vec::new();
        for (name, change) in choose(&mut random) {
            done.extend(change(target, &mut random).map(|what| format!("{name}: {what}")));
        }
        match compare(target, &mut python) {
            _ if done.is_empty() => unmade += 1,
            Ok(false) => detected += 1,
            Ok(true) => unused += 1,
            Err(_) if done.len() == 1 && done[0].contains(INDEX_PAGE) => by_version += 1,
            Err(why) => disagreed.push(format!("seed {seed}: {done:?}\n{why}")),
        }
    }
    println!(
        "{detected} found by both, {unused} by none, {by_version} by one version of SQLite, \
         {unmade} not made, {} differ",
        disagreed.len()
    );
    assert!(detected > unmade, "most changes are made and found");
    assert!(disagreed.is_empty(), "{}: {}", disagreed.len(), disagreed.join("\n\n"));
}

/// The number of random changes of each kind: half of what the variable `EVIDENCE_CHANGES` says, or of some hundred.
fn number() -> u64 {
    let number = std::env::var("EVIDENCE_CHANGES").ok().and_then(|text| text.parse().ok());
    number.unwrap_or(300) / 2
}

/// Of three changes, two are made in the newest format and one in format 5. Both samples have purged rows.
fn check_formats(choose: impl Fn(&mut Random) -> Vec<(&'static str, Change)>) {
    let newest = number() * 2 / 3;
    for (sample, seeds) in [(Sample::new(), 0..newest), (Sample::of_format_5(), newest..number())] {
        check(&sample, seeds, &choose);
        let _ = fs::remove_dir_all(sample.current.parent().unwrap());
    }
}

/// Values, rows, tables and the schema: what another program could change with SQL.
#[test]
fn the_python_verifier_agrees_about_changed_rows() {
    let known: Vec<(&'static str, Change)> = CHANGES
        .iter()
        .filter(|(name, _)| !ELSEWHERE.contains(name))
        .copied()
        .chain([("swap rows", swap_rows as Change)])
        .collect();
    // Most changes of the list concern the schema; those of rows are made as often.
    let rows: Vec<_> = known
        .iter()
        .filter(|(name, _)| name.contains("row") || name.contains("value") || *name == "cut off")
        .copied()
        .collect();
    check_formats(|random| {
        let list = if random.number(2) == 0 { &known } else { &rows };
        (0..1 + random.number(2)).filter_map(|_| random.one_of(list).copied()).collect()
    });
}

/// Single bits of the database file. A bit in an unused part of a page is found by none.
#[test]
fn the_python_verifier_agrees_about_flipped_bits() {
    check_formats(|_| vec![("flip", flip as Change)]);
}
