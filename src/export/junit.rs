//! JUnit XML: a run is a test suite, a step a test case.
//!
//! A step that failed, or whose precondition did not hold, is a failure. One that a person denied, skipped or stopped is
//! skipped. One whose outcome is unknown, because the run was interrupted, is an error.

use std::collections::BTreeMap;
use std::io::Write;

use super::Result;
use super::excerpt::Excerpt;
use super::time::{rfc3339, seconds};
use super::walk::{Item, Walk};
use super::xml::{escaped, escaped_line};
use crate::evidence::EvidenceReader;
use crate::run::{ExecutionDetail, Known, Outcome, RunSummary};

/// # Errors
/// As for [`export`](super::export).
pub(super) fn write(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    out.write_all(
        b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"countersign\">\n",
    )?;
    walk.each_counted(|reader, item| {
        match item {
            Item::Run(run, counts) => out.write_all(suite(run, &counts.outcomes).as_bytes())?,
            Item::Step(step) => case(reader, step, out)?,
            Item::End(_) => out.write_all(b"  </testsuite>\n")?,
        }
        Ok(())
    })?;
    out.write_all(b"</testsuites>\n")?;
    Ok(())
}

/// How JUnit calls an outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failure,
    Skipped,
    Error,
}

fn verdict(outcome: &str) -> Verdict {
    match outcome {
        "succeeded" | "done_by_hand" => Verdict::Passed,
        "failed" | "precondition_failed" => Verdict::Failure,
        "interrupted" => Verdict::Error,
        _ => Verdict::Skipped,
    }
}

fn suite(run: &RunSummary, counts: &BTreeMap<String, u64>) -> String {
    let number = |wanted: Verdict| -> u64 {
        counts.iter().filter(|(word, _)| verdict(word) == wanted).map(|(_, number)| number).sum()
    };
    let elapsed = run.ended_at_ms.map_or(0, |ended| ended - run.started_at_ms);
    let target = run.target.as_deref().unwrap_or("local");
    format!(
        "  <testsuite name=\"{}\" id=\"{}\" timestamp=\"{}\" hostname=\"{}\" time=\"{}\" tests=\"{}\" \
         failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n    <properties>\n{}    </properties>\n",
        escaped_line(&run.plan_name),
        run.run_id,
        rfc3339(run.started_at_ms),
        escaped_line(target),
        seconds(elapsed),
        counts.values().sum::<u64>(),
        number(Verdict::Failure),
        number(Verdict::Error),
        number(Verdict::Skipped),
        [
            ("plan_id", run.plan_id.as_str()),
            ("plan_digest", &run.plan_digest.to_string()),
            ("workspace", &run.workspace),
            ("status", run.fate.as_str()),
        ]
        .map(|(name, value)| property(name, value))
        .concat()
    )
}

fn property(name: &str, value: &str) -> String {
    format!("      <property name=\"{name}\" value=\"{}\"/>\n", escaped_line(value))
}

fn case(reader: &mut EvidenceReader, step: &ExecutionDetail, out: &mut dyn Write) -> Result<()> {
    let row = &step.row;
    let took = row.duration_ms.and_then(|ms| row.known.took(ms)).unwrap_or_default();
    let name = format!("{} {}: {} {}", row.step_index + 1, row.step_id, row.tool_name, row.about);
    writeln!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{}\">",
        escaped_line(&row.plan_id),
        escaped_line(name.trim_end()),
        seconds(took)
    )?;
    // The place of the properties is before the result in the schema that most readers follow.
    writeln!(out, "      <properties>")?;
    let execution_id = row.execution_id.to_string();
    let properties = [("execution_id", execution_id.as_str()), ("outcome", row.known.as_str())];
    for (name, value) in properties {
        out.write_all(property(name, value).as_bytes())?;
    }
    for changed in &step.changed {
        out.write_all(property("changed", changed).as_bytes())?;
    }
    writeln!(out, "      </properties>")?;
    let message = row.error_message.as_deref().unwrap_or_default();
    let kind = row.error_code.map_or(row.known.as_str(), |code| code.as_str());
    match verdict(row.known.as_str()) {
        Verdict::Passed => {}
        Verdict::Failure => writeln!(
            out,
            "      <failure type=\"{kind}\" message=\"{}\">{}</failure>",
            escaped_line(message),
            escaped(message)
        )?,
        Verdict::Skipped => {
            writeln!(out, "      <skipped message=\"{}\"/>", escaped_line(&why_skipped(step)))?;
        }
        Verdict::Error => writeln!(
            out,
            "      <error type=\"interrupted\" message=\"The run was interrupted, and the outcome is unknown.\"/>"
        )?,
    }
    for (artifact_type, element) in [("stdout", "system-out"), ("stderr", "system-err")] {
        for output in step.artifacts.iter().filter(|it| it.artifact_type == artifact_type) {
            let text = Excerpt::of(reader, output)?.text();
            if !text.is_empty() {
                writeln!(out, "      <{element}>{}</{element}>", escaped(&text))?;
            }
        }
    }
    writeln!(out, "    </testcase>")?;
    Ok(())
}

/// Why the tool was not called, in the person's words if there are any.
fn why_skipped(step: &ExecutionDetail) -> String {
    let about_step = |word: &str| {
        let decision = step.decisions.iter().rfind(|it| it.decision == word)?;
        let note = if decision.note.is_empty() { "" } else { ": " };
        Some(format!("{}{note}{}", decision.sentence(), decision.note))
    };
    let decided = match step.row.known {
        Known::Outcome(Outcome::Denied) => about_step("cancel"),
        Known::Outcome(Outcome::Skipped) => about_step("skip"),
        _ => None,
    };
    decided
        .or_else(|| step.row.error_message.clone())
        .unwrap_or_else(|| step.row.known.as_str().to_owned())
}
