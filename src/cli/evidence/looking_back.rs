//! `evidence times`, `evidence compare` and `evidence file`: the times of a run, two runs compared, and the history of a
//! file.

use super::print_changed_rows;
use super::say_if_empty;
use super::show::fate_word;
use crate::cli::output::{Output, QUOTE, quoted_in_line, say};
use crate::cli::refusal::Refusal;
use crate::cli::time::local_time;
use crate::cli::{Exit, args};
use crate::engine::compare_runs;
use crate::evidence::{EvidenceReader, HistoryLimits};
use crate::plan::{quoted, quoted_lines};
use crate::run::text::size;
use crate::run::{
    ComparedRun, Diff, FileChange, Known, RecordedChange, RunComparison, StepChange,
    StepComparison, StepTimes, Waterfall,
};

/// The width of the picture of times, in characters.
const BAR: usize = 40;

/// Prints when each step of a run began, waited for a person and worked.
pub(super) fn times(
    command: &args::Times,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let run = command.run.run(reader)?;
    let times = reader.waterfall(run)?.ok_or_else(|| no_run(run))?;
    if out.json() {
        out.document(&times);
        return Ok(Exit::Done);
    }
    let run = &times.run;
    out.fields([
        ("Run", run.run_id.to_string()),
        ("Plan", format!("{} ({})", run.plan_name, run.plan_id)),
        ("Started", local_time(run.started_at_ms)),
        ("Took", format!("{} ms", times.total_ms)),
        ("Waited", format!("{} ms for a person", times.waited_ms)),
        ("Worked", format!("{} ms", times.worked_ms)),
    ]);
    out.line("");
    let head = ["step", "outcome", "began after", "waited", "worked", "", "tool"];
    let head = head.map(str::to_owned).to_vec();
    let rows = times.steps.iter().map(|step| step_cells(step, &times));
    out.table(std::iter::once(head).chain(rows));
    for pause in &times.pauses {
        out.line(&format!(
            "Paused {} ms after the start, for {} ms.",
            pause.from_ms,
            pause.length_ms()
        ));
    }
    out.line("░ waiting for a person   █ working   ? no end recorded");
    print_changed_rows(times.steps.iter().map(|it| &it.listed), out);
    Ok(Exit::Done)
}

fn step_cells(step: &StepTimes, times: &Waterfall) -> Vec<String> {
    let row = &step.listed.row;
    let ms = |ms: i64| format!("{ms:>8} ms");
    vec![
        format!("{:>4}", row.step_index + 1),
        row.known.as_str().to_owned(),
        ms(step.begun_ms),
        if step.waited_ms > 0 { ms(step.waited_ms) } else { String::new() },
        step.worked_ms.map_or_else(String::new, ms),
        bar(step, times.total_ms),
        format!("{} {}", row.tool_name, row.about),
    ]
}

/// A line of [`BAR`] characters for the whole run, with the spans of a step.
fn bar(step: &StepTimes, total_ms: i64) -> String {
    let place = |ms: i64| {
        let share = ms as f64 / total_ms.max(1) as f64;
        ((share * BAR as f64) as usize).min(BAR - 1)
    };
    let mut bar = ['·'; BAR];
    let mut fill = |from_ms: i64, to_ms: i64, sign: char| {
        let (from, to) = (place(from_ms), place(to_ms));
        bar.iter_mut().take(to + 1).skip(from).for_each(|it| *it = sign);
    };
    if let Some(waiting) = step.waiting() {
        fill(waiting.from_ms, waiting.to_ms, '░');
    }
    match step.working() {
        Some(working) => fill(working.from_ms, working.to_ms, '█'),
        None if step.is_open() => fill(step.begun_ms + step.waited_ms, total_ms, '?'),
        None => {}
    }
    bar.iter().collect()
}

fn no_run(run: uuid::Uuid) -> Refusal {
    Refusal::usage(
        format!("the evidence has no run {run}"),
        "Look the id up with `evidence search`.",
    )
}

/// Prints what differs between two runs.
pub(super) fn compare(
    command: &args::Compare,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let (before, after) = (command.before.run(reader)?, command.after.run(reader)?);
    for run in [before, after] {
        reader.run(run)?.ok_or_else(|| no_run(run))?;
    }
    let found = compare_runs(reader, before, after)?.ok_or_else(|| no_run(before))?;
    if out.json() {
        out.document(&found);
        return Ok(Exit::Done);
    }
    out.table([run_cells("First run", &found.before), run_cells("Second run", &found.after)]);
    out.line(&found.plan_sentence());
    print_plan(&found, out);
    for input in &found.inputs {
        let state = |state: Option<crate::authorization::FileState>| {
            state.map_or_else(|| "not covered".to_owned(), |state| state.to_string())
        };
        let (before, after) = (state(input.before), state(input.after));
        let text = format!("Approved file {}: {before}, then {after}", input.path);
        out.line(&quoted(&text));
    }
    let differing: Vec<_> = found.steps.iter().filter(|step| step.differs()).collect();
    let (number, all) = (differing.len(), found.steps.len());
    out.line(&format!("{number} of {all} steps differ in more than their times."));
    if all > 0 {
        out.line("");
        let head = ["step", "first run", "", "second run", "", "different", "tool"];
        let head = head.map(str::to_owned).to_vec();
        out.table(std::iter::once(head).chain(found.steps.iter().map(compared_cells)));
    }
    for step in differing {
        print_lines(step, out);
    }
    if found.left_out > 0 {
        say(&format!(
            "The lines of {} outputs are left out, because all differences together are too long.",
            found.left_out
        ));
    }
    let steps = found.steps.iter().flat_map(|it| [&it.before, &it.after]).flatten();
    print_changed_rows(steps.map(|it| &it.listed), out);
    Ok(Exit::Done)
}

fn run_cells(name: &str, compared: &ComparedRun) -> Vec<String> {
    let run = &compared.run;
    vec![
        name.to_owned(),
        local_time(run.started_at_ms),
        fate_word(run).to_owned(),
        format!("{} ms", compared.total_ms),
        format!("worked {} ms", compared.worked_ms),
        format!("waited {} ms", compared.waited_ms),
        run.plan_name.clone(),
        run.run_id.to_string(),
    ]
}

/// Prints the steps of the plans that differ.
fn print_plan(found: &RunComparison, out: &mut Output) {
    let steps = found.plan.iter().flat_map(|plan| &plan.steps);
    for step in steps {
        let sign = match step.change {
            StepChange::New => "+ new",
            StepChange::Gone => "- removed",
            StepChange::Changed => "~ changed",
        };
        let number = step.after.or(step.before).map_or(0, |index| index + 1);
        out.line(&quoted(&format!("  {sign}: step {number}, {} {}", step.tool, step.about)));
        block(&step.lines, out);
    }
}

fn compared_cells(step: &StepComparison) -> Vec<String> {
    let cells = |times: &Option<StepTimes>| {
        let outcome = times.as_ref().map_or("-", |it| it.listed.row.known.as_str());
        let worked = times.as_ref().and_then(|it| it.worked_ms);
        [outcome.to_owned(), worked.map_or_else(String::new, |ms| format!("{ms:>6} ms"))]
    };
    let row = step.latest().map(|it| &it.listed.row);
    let number = row.map_or_else(String::new, |row| format!("{:>4}", row.step_index + 1));
    let tool = row.map_or_else(String::new, |row| format!("{} {}", row.tool_name, row.about));
    let [before, before_ms] = cells(&step.before);
    let [after, after_ms] = cells(&step.after);
    vec![number, before, before_ms, after, after_ms, step.differing().join(", "), tool]
}

/// Prints the lines of the arguments and outputs of a step that differ.
fn print_lines(step: &StepComparison, out: &mut Output) {
    if step.arguments.is_empty() && step.outputs.is_empty() {
        return;
    }
    let Some(row) = step.latest().map(|it| &it.listed.row) else { return };
    out.line("");
    out.line(&quoted(&format!("Step {}, {} {}", row.step_index + 1, row.tool_name, row.about)));
    block(&step.arguments, out);
    for output in &step.outputs {
        print_difference(&output.change, out);
    }
}

/// Prints the lines of a change, or the sizes of its contents.
fn print_difference(change: &FileChange, out: &mut Output) {
    match &change.diff {
        Diff::Unchanged => {}
        Diff::Text { .. } => block(&change.unified(), out),
        Diff::Binary { before_bytes, after_bytes } => {
            let words = |bytes: &Option<u64>| bytes.map_or_else(|| "absent".to_owned(), size);
            let (before, after) = (words(before_bytes), words(after_bytes));
            let text = format!("    {}: {before}, then {after}; not compared", change.path);
            out.line(&quoted(&text));
        }
    }
}

/// Prints lines from outside, each with [`QUOTE`] in front.
fn block(text: &str, out: &mut Output) {
    if text.is_empty() {
        return;
    }
    for line in quoted_lines(text.trim_end_matches('\n')).split('\n') {
        out.line(&format!("{QUOTE}{line}"));
    }
}

/// Prints every recorded change of a file, the oldest first.
pub(super) fn file(
    command: &args::FileHistory,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let changes = command.limit.map(|limit| limit as usize);
    let limits = HistoryLimits { changes, ..HistoryLimits::default() };
    // As the records have it; one that does not exist any more may still have been a workspace.
    let workspace = command.workspace.as_ref().map(|folder| {
        let whole = folder.canonicalize().or_else(|_| std::path::absolute(folder));
        whole.unwrap_or_else(|_| folder.clone()).display().to_string()
    });
    let history = reader.file_history(&command.path, workspace.as_deref(), limits)?;
    for change in &history.changes {
        if out.json() {
            out.document(change);
        } else {
            print_change(change, out);
        }
    }
    if history.left_out > 0 {
        say(&format!("{} older changes are left out; --limit shows more.", history.left_out));
    }
    print_changed_rows(history.changes.iter().map(|it| &it.listed), out);
    say_if_empty(history.changes.is_empty(), out);
    if history.changes.is_empty() && command.path.starts_with('/') && !out.json() {
        say("Records name a file of the workspace by its path inside it, such as src/lib.rs.");
    }
    Ok(Exit::Done)
}

fn print_change(change: &RecordedChange, out: &mut Output) {
    let row = &change.listed.row;
    if change.changed_between {
        out.line("Something else had changed the file in between.");
    }
    let what = match row.known {
        Known::Outcome(_) => change.word().to_owned(),
        known => format!("{}, before it was {}", known.as_str(), change.word()),
    };
    let counts = change.line_counts();
    let counts = counts.map(|(added, removed)| format!(" +{added} -{removed}"));
    let mode = change.mode_change().map(|mode| format!(" mode {mode}"));
    let head = format!(
        "{}  {what}{}{}  {} of {} in {}  {}",
        local_time(row.timestamp_ms),
        counts.unwrap_or_default(),
        mode.unwrap_or_default(),
        row.tool_name,
        change.plan_name,
        change.workspace,
        row.execution_id
    );
    out.line(&quoted_in_line(&head));
    match &change.difference {
        Ok(difference) => print_difference(difference, out),
        Err(reason) => out.line(&format!("    {}", reason.sentence())),
    }
    out.line("");
}
