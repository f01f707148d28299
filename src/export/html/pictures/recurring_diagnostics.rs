//! Diagnostics that more than one execution of the report had, over time.

use std::collections::HashMap;
use std::io::Write;

use uuid::Uuid;

use super::super::super::Result;
use super::super::super::time::utc;
use super::super::parts::{code, counted, time};
use super::intervals::Intervals;
use super::recurring::{Kept, Seen};
use super::svg::{Area, Picture, Scale, WIDTH, write_table};
use crate::evidence::{EvidenceReader, SelectedStep};
use crate::run::{RunSummary, rate, tick_label};

/// The maximum number of diagnostics that are shown.
const ROWS: usize = 20;
/// The maximum number of intervals.
const INTERVALS: i64 = 48;
/// The height of a row, the width of its label, and the width of its number.
const HEIGHT: i64 = 26;
const LABEL: i64 = 380;
const NUMBER: i64 = 70;

/// The code, the file and the workspace. A path names another file in each workspace.
type Key = (String, String, String);

pub(super) struct Diagnostics(Kept<Key, Diagnostic>);

struct Diagnostic {
    count: u64,
    executions: u64,
    first_ms: i64,
    last_ms: i64,
    over_time: Intervals,
}

impl Seen for Diagnostic {
    fn times(&self) -> u64 {
        self.executions
    }
}

impl Diagnostics {
    pub(super) fn new() -> Self {
        Self(Kept::new())
    }

    pub(super) fn add(
        &mut self,
        reader: &mut EvidenceReader,
        run: &RunSummary,
        steps: &[SelectedStep],
    ) -> Result<()> {
        let times: HashMap<Uuid, i64> =
            steps.iter().map(|step| (step.execution_id, step.timestamp_ms)).collect();
        let ids: Vec<_> = steps.iter().map(|step| step.execution_id).collect();
        for found in reader.diagnostics_of(&ids)? {
            let Some(at_ms) = times.get(&found.execution_id).copied() else { continue };
            let key = (found.code, found.file_name, run.workspace.clone());
            let new = || Diagnostic {
                count: 0,
                executions: 0,
                first_ms: at_ms,
                last_ms: at_ms,
                over_time: Intervals::new(INTERVALS),
            };
            let Some(diagnostic) = self.0.entry(key, new) else { continue };
            diagnostic.count += found.count;
            diagnostic.executions += 1;
            diagnostic.first_ms = diagnostic.first_ms.min(at_ms);
            diagnostic.last_ms = diagnostic.last_ms.max(at_ms);
            diagnostic.over_time.add(at_ms, (found.count, 0));
        }
        Ok(())
    }

    pub(super) fn write(self, out: &mut dyn Write) -> Result<()> {
        let is_partial = self.0.is_partial;
        let (mut rows, more) = self.0.most_frequent(ROWS);
        // One scale for all of them.
        let mut all = Intervals::new(INTERVALS);
        for (_, row) in &rows {
            all = all.with_length_of(&row.over_time);
            row.over_time.counts().for_each(|(at, ..)| all.add(at, (0, 0)));
        }
        let Some((from, to)) = all.span() else { return Ok(()) };
        for (_, row) in &mut rows {
            row.over_time = row.over_time.clone().with_length_of(&all);
        }
        let mut notes = format!(
            "Reported for the same file by more than one execution. A bar is {} long.",
            tick_label(all.length_ms())
        );
        if more > 0 {
            notes.push_str(&format!(" {more} rarer ones are left out here."));
        }
        if is_partial {
            notes.push_str(
                " There are too many different ones to compare all, so that some may be missing.",
            );
        }
        writeln!(out, "<h2>Recurring diagnostics</h2>\n<p class=\"note\">{notes}</p>")?;
        let scale = Scale { left: LABEL + 10, width: WIDTH - LABEL - NUMBER - 10, from, to };
        let mut picture = Picture::default();
        for (index, (key, row)) in rows.iter().enumerate() {
            draw(&mut picture, index as i64 * HEIGHT, key, row, scale);
        }
        let bottom = rows.len() as i64 * HEIGHT;
        picture.text("start", (scale.left, bottom + 14), &utc(from));
        picture.text("end", (scale.left + scale.width, bottom + 14), &utc(to));
        let alternative = format!(
            "How often each of {} was reported from {} to {}. The table below has the numbers.",
            counted(rows.len() as u64, "diagnostic"),
            utc(from),
            utc(to)
        );
        picture.write(bottom + 20, &alternative, out)?;
        let head =
            ["Code", "File", "Workspace", "Times", "Executions", "First", "Last", "Rate", "When"];
        write_table(head, rows.iter().map(cells), out)
    }
}

fn draw(picture: &mut Picture, y: i64, (name, file, _): &Key, row: &Diagnostic, scale: Scale) {
    let label = format!("{name} {file}");
    picture.label("mono", Area { x: 0, y, width: LABEL, height: HEIGHT }, &label);
    let most = row.over_time.greatest().max(1);
    for (at, number, _) in row.over_time.counts() {
        let (x, width) = scale.span(at, at.saturating_add(row.over_time.length_ms()));
        let share = u128::from(number) * (HEIGHT - 8).unsigned_abs() as u128 / u128::from(most);
        let height = i64::try_from(share).unwrap_or_default().clamp(2, HEIGHT - 8);
        let area = Area { x, y: y + HEIGHT - 2 - height, width: (width - 1).max(1), height };
        picture.bar("work", area, &format!("{}: {number}", utc(at)));
    }
    let base = y + HEIGHT - 2;
    picture.line("axis", (scale.left, base), (scale.left + scale.width, base));
    picture.text("end", (WIDTH, y + HEIGHT - 8), &format!("{} times", row.count));
}

fn cells((key, row): &(Key, Diagnostic)) -> [String; 9] {
    let (name, file, workspace) = key;
    let when: Vec<_> =
        row.over_time.counts().map(|(at, number, _)| format!("{} ×{number}", time(at))).collect();
    [
        code(name),
        code(file),
        code(workspace),
        row.count.to_string(),
        row.executions.to_string(),
        time(row.first_ms),
        time(row.last_ms),
        rate(row.count, row.first_ms, row.last_ms).unwrap_or_default(),
        when.join("<br>"),
    ]
}
