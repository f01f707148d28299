//! How long a step took each time, for steps that ran more than once in the report.

use std::collections::VecDeque;
use std::io::Write;

use uuid::Uuid;

use super::super::super::Result;
use super::super::parts::{code, counted};
use super::recurring::{Kept, Seen};
use super::svg::{Area, Picture, WIDTH, write_table};
use crate::evidence::{EvidenceReader, SelectedStep};
use crate::run::RunSummary;
use crate::run::text::took;

/// The maximum number of steps that are shown.
const ROWS: usize = 12;
/// The maximum number of executions of a step that are shown, the latest ones.
const LATEST: usize = 40;
/// The height of a row, the width of its label, and the width of a bar with the space after it.
const HEIGHT: i64 = 44;
const LABEL: i64 = 400;
const BAR: i64 = (WIDTH - LABEL) / LATEST as i64;

/// The plan, the step in it, and its tool.
type Key = (String, String, String);

pub(super) struct Durations(Kept<Key, Step>);

struct Step {
    times: u64,
    /// The latest execution, which names the step.
    last: Uuid,
    /// The latest durations in milliseconds, and whether that execution failed or was interrupted.
    latest: VecDeque<(i64, bool)>,
}

impl Seen for Step {
    fn times(&self) -> u64 {
        self.times
    }
}

impl Durations {
    pub(super) fn new() -> Self {
        Self(Kept::new())
    }

    /// Adds a step, unless its tool was not called.
    pub(super) fn add(&mut self, run: &RunSummary, step: &SelectedStep, is_bad: bool) {
        let Some(ms) = step.took_ms else { return };
        let key = (run.plan_id.clone(), step.step_id.clone(), step.tool_name.clone());
        let new = || Step { times: 0, last: step.execution_id, latest: VecDeque::new() };
        let Some(kept) = self.0.entry(key, new) else { return };
        kept.times += 1;
        kept.last = step.execution_id;
        if kept.latest.len() == LATEST {
            kept.latest.pop_front();
        }
        kept.latest.push_back((ms.max(0), is_bad));
    }

    pub(super) fn write(self, reader: &mut EvidenceReader, out: &mut dyn Write) -> Result<()> {
        let is_partial = self.0.is_partial;
        let (steps, more) = self.0.most_frequent(ROWS);
        if steps.is_empty() {
            return Ok(());
        }
        let mut rows = Vec::with_capacity(steps.len());
        for ((plan, step_id, tool), step) in steps {
            let about = reader.listed_execution(step.last)?.map(|it| it.row.about);
            rows.push(Row { plan, step_id, tool, about: about.unwrap_or_default(), step });
        }
        let mut notes = format!(
            "Steps with the same id in plans with the same id, the oldest execution on the left, at most {LATEST} of each \
             (<span class=\"key bad\"></span> failed). The line is the median."
        );
        if more > 0 {
            notes.push_str(&format!(" {more} steps that ran less often are left out here."));
        }
        if is_partial {
            notes.push_str(
                " There are too many different steps to compare all, so that some may be missing.",
            );
        }
        writeln!(out, "<h2>Durations of steps</h2>\n<p class=\"note\">{notes}</p>")?;
        let mut picture = Picture::default();
        for (index, row) in rows.iter().enumerate() {
            row.draw(&mut picture, index as i64 * HEIGHT);
        }
        let alternative = format!(
            "How long each of {} took each time. The table below has the numbers.",
            counted(rows.len() as u64, "step")
        );
        picture.write(rows.len() as i64 * HEIGHT, &alternative, out)?;
        let head = [
            "Step",
            "Tool",
            "Plan",
            "Executions",
            "Median",
            "Shortest",
            "Longest",
            "Each, oldest first",
        ];
        write_table(head, rows.iter().map(Row::cells), out)
    }
}

/// A step that is shown.
struct Row {
    plan: String,
    step_id: String,
    tool: String,
    about: String,
    step: Step,
}

impl Row {
    /// The median, the shortest and the longest of the durations that are shown, in milliseconds.
    fn figures(&self) -> [i64; 3] {
        let mut sorted: Vec<_> = self.step.latest.iter().map(|(ms, _)| *ms).collect();
        sorted.sort_unstable();
        let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 => i64::midpoint(at(middle.saturating_sub(1)), at(middle)),
            _ => at(middle),
        };
        [median, at(0), at(sorted.len().saturating_sub(1))]
    }

    fn draw(&self, picture: &mut Picture, y: i64) {
        let label = |y| Area { x: 0, y, width: LABEL - 10, height: HEIGHT / 2 };
        let [median, shortest, longest] = self.figures();
        picture.label("mono", label(y), &format!("{} {}", self.tool, self.about));
        let words = format!(
            "{}, median {}, from {} to {}",
            counted(self.step.times, "execution"),
            took(median),
            took(shortest),
            took(longest)
        );
        picture.label("dim", label(y + HEIGHT / 2 - 4), &words);
        let full = HEIGHT - 10;
        let base = y + HEIGHT - 6;
        let height = |ms: i64| {
            let share = i128::from(ms) * i128::from(full) / i128::from(longest.max(1));
            i64::try_from(share).unwrap_or(full).clamp(0, full)
        };
        for (index, (ms, is_bad)) in self.step.latest.iter().enumerate() {
            let height = height(*ms).max(2);
            let x = LABEL + index as i64 * BAR;
            let class = if *is_bad { "bad" } else { "work" };
            let failed = if *is_bad { ", failed" } else { "" };
            let area = Area { x, y: base - height, width: BAR - 3, height };
            picture.bar(class, area, &format!("{}{failed}", took(*ms)));
        }
        let end = LABEL + self.step.latest.len() as i64 * BAR - 3;
        picture.line("axis", (LABEL, base), (end, base));
        let middle = base - height(median);
        picture.line("median", (LABEL - 3, middle), (end + 3, middle));
    }

    fn cells(&self) -> [String; 8] {
        let [median, shortest, longest] = self.figures().map(took);
        let each =
            self.step.latest.iter().map(|(ms, is_bad)| {
                format!("{}{}", took(*ms), if *is_bad { " failed" } else { "" })
            });
        [
            code(&self.step_id),
            code(&format!("{} {}", self.tool, self.about)),
            code(&self.plan),
            self.step.times.to_string(),
            median,
            shortest,
            longest,
            each.collect::<Vec<_>>().join(", "),
        ]
    }
}
