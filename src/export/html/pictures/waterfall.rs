//! The times of a run: when each step waited for a person, and when its tool worked.

use std::io::Write;

use super::super::super::Result;
use super::super::super::walk::{Counted, FIRST};
use super::super::super::xml::escaped_line;
use super::super::parts::{code, counted, spoken};
use super::svg::{Area, Picture, Scale, WIDTH, write_table};
use crate::evidence::EvidenceReader;
use crate::run::text::took;
use crate::run::{RunSummary, StepTimes, Waterfall, tick_label, ticks};

/// The maximum number of steps that are shown.
pub(in crate::export::html) const ROWS: usize = 60;
// The steps that are shown are among those that the walk names.
const _: () = assert!(ROWS <= FIRST);
/// The height of a step, and of the axis above the steps.
const HEIGHT: i64 = 22;
const AXIS: i64 = 22;
/// The width of the name of a step, and of how long it worked.
const LABEL: i64 = 320;
const NUMBER: i64 = 90;

/// Writes the times of the selected steps of a run.
///
/// # Errors
/// As for [`export`](crate::export::export).
pub(in crate::export::html) fn write(
    reader: &mut EvidenceReader,
    run: &RunSummary,
    selected: &Counted,
    out: &mut dyn Write,
) -> Result<()> {
    let Some(times) = reader.waterfall(run.run_id)? else { return Ok(()) };
    let is_selected = |step: &&StepTimes| selected.first.contains(&step.listed.row.execution_id);
    let steps: Vec<_> = times.steps.iter().filter(is_selected).take(ROWS).collect();
    if steps.is_empty() {
        return Ok(());
    }
    let (shown, all) = (steps.len() as u64, selected.number());
    let cut = if shown < all {
        format!(" The first {shown} of {all} steps are shown here.")
    } else {
        String::new()
    };
    writeln!(
        out,
        "<h2>Times</h2>\n<p class=\"note\">{}.{cut}</p>\n<ul class=\"legend\">{}</ul>",
        escaped_line(&times.sentence()),
        legend(&times)
    )?;
    let scale =
        Scale { left: LABEL, width: WIDTH - LABEL - NUMBER, from: 0, to: times.total_ms.max(1) };
    let mut picture = Picture::default();
    let bottom = AXIS + steps.len() as i64 * HEIGHT;
    for pause in &times.pauses {
        let (x, width) = scale.span(pause.from_ms, pause.to_ms);
        let title = format!("paused for {}", took(pause.length_ms()));
        picture.bar("pause", Area { x, y: AXIS, width, height: bottom - AXIS }, &title);
    }
    axis(&mut picture, scale, times.total_ms, bottom);
    for (index, step) in steps.iter().enumerate() {
        draw(&mut picture, AXIS + index as i64 * HEIGHT, step, scale, times.total_ms);
    }
    let alternative = format!(
        "The times of {}. {}. The table below has the numbers.",
        counted(shown, "step"),
        times.sentence()
    );
    picture.write(bottom + 2, &alternative, out)?;
    let head = ["Step", "Tool", "Outcome", "Began after", "Waited", "Worked"];
    write_table(head, steps.iter().map(|step| cells(step)), out)?;
    if !times.pauses.is_empty() {
        let pauses = times.pauses.iter();
        let pauses =
            pauses.map(|it| format!("{} after {}", took(it.length_ms()), took(it.from_ms)));
        let pauses: Vec<_> = pauses.collect();
        writeln!(out, "<p class=\"note\">The run was paused for {}.</p>", pauses.join(", "))?;
    }
    Ok(())
}

/// The meaning of the bars.
fn legend(times: &Waterfall) -> String {
    let entries = [
        ("work", "working", true),
        ("wait", "waiting for a person", times.waited_ms > 0),
        ("pause", "paused", !times.pauses.is_empty()),
        ("open", "no end recorded", times.steps.iter().any(StepTimes::is_open)),
    ];
    let entries = entries.iter().filter(|(.., is_there)| *is_there);
    entries
        .map(|(class, name, _)| format!("<li><span class=\"key {class}\"></span>{name}</li>"))
        .collect()
}

fn axis(picture: &mut Picture, scale: Scale, total_ms: i64, bottom: i64) {
    for ms in std::iter::once(0).chain(ticks(total_ms, 6)) {
        let x = scale.x(ms);
        picture.line("grid", (x, AXIS - 4), (x, bottom));
        let label = if ms == 0 { "0".to_owned() } else { tick_label(ms) };
        picture.text("middle", (x, AXIS - 9), &label);
    }
}

fn draw(picture: &mut Picture, y: i64, step: &StepTimes, scale: Scale, total_ms: i64) {
    let row = &step.listed.row;
    let name = format!("{} {} {}", row.step_index + 1, row.tool_name, row.about);
    picture.label("mono", Area { x: 0, y, width: LABEL - 12, height: HEIGHT }, &name);
    let area = |(x, width): (i64, i64)| Area { x, y: y + 5, width, height: HEIGHT - 10 };
    if let Some(waiting) = step.waiting() {
        let title = format!("waited for {}", took(waiting.length_ms()));
        picture.bar("wait", area(scale.span(waiting.from_ms, waiting.to_ms)), &title);
    }
    match step.working() {
        Some(working) => {
            let title = format!("worked for {}", took(working.length_ms()));
            picture.bar("work", area(scale.span(working.from_ms, working.to_ms)), &title);
        }
        None if step.is_open() => {
            let (x, width) = scale.span(step.begun_ms + step.waited_ms, total_ms);
            let middle = y + HEIGHT / 2;
            picture.line("open", (x, middle), (x + width, middle));
        }
        None => {}
    }
    let worked = step.worked_ms.map_or_else(|| spoken(row.known.as_str()), took);
    picture.text("end", (WIDTH, y + HEIGHT / 2 + 4), &worked);
}

fn cells(step: &StepTimes) -> [String; 6] {
    let row = &step.listed.row;
    [
        (row.step_index + 1).to_string(),
        code(&format!("{} {}", row.tool_name, row.about)),
        spoken(row.known.as_str()),
        took(step.begun_ms),
        if step.waited_ms > 0 { took(step.waited_ms) } else { String::new() },
        step.worked_ms.map(took).unwrap_or_default(),
    ]
}
