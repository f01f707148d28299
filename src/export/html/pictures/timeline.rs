//! The executions of the report over time.

use std::io::Write;

use super::super::super::Result;
use super::super::super::time::utc;
use super::super::parts::{counted, time};
use super::intervals::Intervals;
use super::svg::{Area, Picture, Scale, WIDTH, write_table};
use crate::run::tick_label;

/// The maximum number of bars.
const BARS: i64 = 96;
/// The height of the greatest bar, and the place of the axis below it.
const HEIGHT: i64 = 100;
const AXIS: i64 = 114;
/// The maximum width of a bar, so that a few executions do not look like many.
const MAX_BAR_WIDTH: i64 = 28;

pub(super) struct Executions {
    over_time: Intervals,
    fine: u64,
    bad: u64,
}

impl Executions {
    pub(super) fn new() -> Self {
        Self { over_time: Intervals::new(BARS), fine: 0, bad: 0 }
    }

    pub(super) fn add(&mut self, at_ms: i64, is_bad: bool) {
        let count = if is_bad { (0, 1) } else { (1, 0) };
        self.over_time.add(at_ms, count);
        self.fine += count.0;
        self.bad += count.1;
    }

    pub(super) fn number(&self) -> u64 {
        self.fine + self.bad
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let Some((from, to)) = self.over_time.span() else { return Ok(()) };
        let length = tick_label(self.over_time.length_ms());
        writeln!(
            out,
            "<h2>Executions over time</h2>\n<p class=\"note\">{}, of which {} failed, were denied or were interrupted \
             (<span class=\"key bad\"></span> the lower part). A bar is {length} long.</p>",
            counted(self.number(), "execution"),
            self.bad
        )?;
        let scale = Scale { left: 0, width: WIDTH, from, to };
        let mut picture = Picture::default();
        let most = self.over_time.greatest().max(1);
        for (at, fine, bad) in self.over_time.counts() {
            let (x, width) = scale.span(at, at.saturating_add(self.over_time.length_ms()));
            let width = (width - 1).clamp(1, MAX_BAR_WIDTH);
            // Even the smallest number stays visible.
            let height = |number: u64| {
                let share = u128::from(number) * HEIGHT.unsigned_abs() as u128 / u128::from(most);
                if number == 0 { 0 } else { i64::try_from(share).unwrap_or(HEIGHT).max(2) }
            };
            let title = format!("{}: {fine} fine, {bad} failed, denied or interrupted", utc(at));
            let mut bottom = HEIGHT + 4;
            for (class, number) in [("bad", bad), ("work", fine)] {
                if number > 0 {
                    let height = height(number);
                    bottom -= height;
                    picture.bar(class, Area { x, y: bottom, width, height }, &title);
                }
            }
        }
        picture.line("axis", (0, HEIGHT + 4), (WIDTH, HEIGHT + 4));
        picture.text("start", (0, AXIS + 6), &utc(from));
        picture.text("end", (WIDTH, AXIS + 6), &utc(to));
        let alternative = format!(
            "{} from {} to {}, {} of them failed, denied or interrupted. The table below has the numbers.",
            counted(self.number(), "execution"),
            utc(from),
            utc(to),
            self.bad
        );
        picture.write(AXIS + 12, &alternative, out)?;
        let rows = self.over_time.counts();
        let rows = rows.map(|(at, fine, bad)| [time(at), fine.to_string(), bad.to_string()]);
        write_table(["From", "Fine", "Failed, denied or interrupted"], rows, out)
    }
}
