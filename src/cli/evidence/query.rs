//! `evidence query`: the eight fixed queries, the rejections of plans, and interrupted runs. With `--json`, prints one document per row.

use serde::Serialize;

use super::show::show_execution;
use super::{cells, print_changed_rows, say_if_empty};
use crate::cli::Exit;
use crate::cli::args::{Question, Span};
use crate::cli::output::{Output, quoted_in_line, say};
use crate::cli::refusal::Refusal;
use crate::cli::time::local_time;
use crate::evidence::{EvidenceReader, Range};
use crate::run::{ListedExecution, rate};

/// Runs one query and prints its rows.
pub(super) fn query(
    question: &Question,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    match question {
        Question::Q1(about) => print_listed(&reader.q1(&about.tool, range(&about.span))?, out),
        Question::Q2(about) => print_listed(&reader.q2(&about.tool, range(&about.span))?, out),
        Question::Q3(about) => print_listed(&reader.q3(&about.code, range(&about.span))?, out),
        Question::Q4(about) => {
            let rows = reader.q4(&about.file, range(&about.span))?;
            print(&rows, out, |it| {
                let mut cells = cells(&it.listed.row);
                let types: Vec<_> = it.edge_types.iter().map(|it| it.as_str()).collect();
                cells.push(types.join(", "));
                cells
            });
            print_changed_rows(rows.iter().map(|it| &it.listed), out);
        }
        Question::Q5(show) => {
            let id = show.id.execution(reader)?;
            let found = reader.execution(id)?;
            say_if_empty(found.is_none(), out);
            match found {
                Some(detail) => show_execution(&detail, out),
                None => {
                    if let Some((run, note)) = reader.purge_of_step(id)? {
                        say(&quoted_in_line(&format!("It is of run {run}: {}", note.sentence())));
                    }
                }
            }
        }
        Question::Q6(about) => {
            let latest: Vec<_> = reader.q6(&about.file)?.into_iter().collect();
            print_listed(&latest, out);
        }
        Question::Q7(about) => {
            print(&reader.q7(about.threshold, range(&about.span))?, out, |it| {
                vec![
                    format!("{:>6}", it.count),
                    it.code.clone(),
                    it.file_name.clone(),
                    local_time(it.first_seen_ms),
                    local_time(it.last_seen_ms),
                    rate(it.count, it.first_seen_ms, it.last_seen_ms).unwrap_or_default(),
                    it.workspace.clone(),
                ]
            });
        }
        Question::Q8(about) => {
            let rows = reader.q8(&about.code, about.file.as_deref(), range(&about.span))?;
            print(&rows, out, |it| {
                let mut cells = cells(&it.listed.row);
                cells.push(format!("{} ms after {}", it.after_ms, it.diagnostic_execution_id));
                cells
            });
            print_changed_rows(rows.iter().map(|it| &it.listed), out);
        }
        Question::Interrupted(about) => {
            print(&reader.interrupted_runs(range(&about.span))?, out, |it| {
                vec![
                    local_time(it.started_at_ms),
                    if it.tally.unknown > 0 { "during a step" } else { "between steps" }.to_owned(),
                    it.plan_name.clone(),
                    format!("{} of {} steps recorded", it.steps_recorded, it.step_count),
                    it.run_id.to_string(),
                ]
            });
        }
        Question::Rejected(about) => {
            let rows = reader.rejections(&about.words.join(" "), range(&about.span))?;
            print(&rows, out, |it| {
                vec![
                    local_time(it.timestamp_ms),
                    it.plan_name.clone(),
                    it.plan_digest.to_string(),
                    it.by.to_string(),
                    it.reason.clone(),
                ]
            });
            if !out.json() {
                for row in rows.iter().filter(|it| it.changed) {
                    let id = row.authorization_id;
                    out.line(&format!("{id}: this record was changed after it was written."));
                }
            }
        }
    }
    Ok(Exit::Done)
}

fn print_listed(rows: &[ListedExecution], out: &mut Output) {
    print(rows, out, |it| cells(&it.row));
    print_changed_rows(rows.iter(), out);
}

fn print<T: Serialize>(rows: &[T], out: &mut Output, cells: impl Fn(&T) -> Vec<String>) {
    if out.json() {
        for row in rows {
            out.document(row);
        }
    } else {
        out.table(rows.iter().map(cells));
    }
    say_if_empty(rows.is_empty(), out);
}

fn range(span: &Span) -> Range {
    Range {
        since_ms: span.since,
        until_ms: span.until,
        limit: span.limit.map_or(0, |limit| limit as usize),
    }
}
