//! Prints a run: its progress as text to stderr, and its steps and result to stdout.

use std::sync::atomic::{AtomicBool, Ordering};

use super::output::{Output, QUOTE, QuotedOutput, quoted_in_line, say};
use crate::engine::ProgressCallback;
use crate::plan::{Plan, Tool, ToolClass, quoted, quoted_lines};
use crate::run::{ExecutionResult, RunEvent, RunStatus, RunTally, StepResult};

/// Prints the progress of a run to stderr.
pub(super) struct Progress {
    /// The number of steps of the plan, if known.
    steps: Option<usize>,
    /// Whether nothing is printed.
    pub(super) silent: bool,
    /// The output of planners and commands.
    pub(super) output: QuotedOutput,
    /// Whether the current step is a command, whose output is printed.
    is_command: AtomicBool,
}

impl Progress {
    pub(super) fn new(steps: Option<usize>, silent: bool) -> Self {
        Self { steps, silent, output: QuotedOutput::default(), is_command: AtomicBool::new(false) }
    }
}

impl ProgressCallback for Progress {
    fn on_event(&self, event: &RunEvent) {
        if self.silent {
            return;
        }
        if let RunEvent::StepOutput { chunk, .. } = event {
            // Only the output of commands is printed. That of other tools is their result, which is in the evidence.
            if self.is_command.load(Ordering::Relaxed) {
                self.output.say(chunk);
            }
            return;
        }
        self.output.end_line();
        match event {
            RunEvent::StepStarted { step_index, tool_name, about, .. } => {
                let tool = Tool::from_name(tool_name);
                let is_command = tool.is_some_and(|tool| tool.class() == ToolClass::Command);
                self.is_command.store(is_command, Ordering::Relaxed);
                let of = self.steps.map_or_else(String::new, |steps| format!(" of {steps}"));
                let (tool, about) = (quoted(tool_name), quoted(about));
                say(&format!("Step {}{of}: {tool} {about}", step_index + 1));
            }
            RunEvent::StepQuiet { quiet_ms, .. } => {
                say(&format!(
                    "No output for {} s; the step may be waiting for input.",
                    quiet_ms / 1000
                ));
            }
            RunEvent::HostEnded { result } => {
                let message = result.error_message.as_deref().unwrap_or("succeeded");
                let words = message.lines().next().unwrap_or_default();
                say(&quoted_in_line(&format!(
                    "Step {} on {}: {words}",
                    result.step_index + 1,
                    result.host
                )));
            }
            RunEvent::LeftRunning { processes } => {
                let names = processes.join(", ");
                say(&quoted(&format!("Processes that were still running were ended: {names}.")));
            }
            RunEvent::HostReached { host } => {
                say(&quoted(&format!("Connected to {}, {}", host.line(), host.system)));
                for line in quoted_lines(&host.said).lines() {
                    say(&format!("{QUOTE}{line}"));
                }
            }
            _ => {}
        }
    }
}

/// Prints the finished steps as a table, followed by their notes and errors.
pub(super) fn print_steps(plan: &Plan, results: &[StepResult], out: &mut Output) {
    out.table(plan.steps.iter().zip(results).map(|(step, result)| {
        [
            format!("{:>3}", result.step_index + 1),
            result.outcome.as_str().to_owned(),
            result.tool_name.clone(),
            step.call.headline().1,
            format!("{:>4} ms", result.duration_ms),
            result.execution_id.to_string(),
        ]
    }));
    for result in results {
        for note in &result.wall_notes {
            out.line(&quoted_in_line(&format!("Step {}: {note}", result.step_index + 1)));
        }
    }
    results.iter().for_each(|result| print_error(result, out));
    // The error of a denied step has the words already.
    let with_words = results.iter().filter(|it| it.error_message.is_none() && !it.note.is_empty());
    for result in with_words {
        let outcome = result.outcome.as_str().replace('_', " ");
        let (step, note) = (result.step_index + 1, &result.note);
        out.line(&quoted_in_line(&format!("Step {step}: {outcome}: {note}")));
    }
}

/// Prints the result of a run.
pub(super) fn print_result(plan: &Plan, result: &ExecutionResult, out: &mut Output) {
    print_steps(plan, &result.step_results, out);
    let mut tally = RunTally::default();
    result.step_results.iter().for_each(|step| tally.add(step.outcome, 1));
    let status = match result.status {
        RunStatus::Completed => "Completed",
        RunStatus::Failed if tally.denied > 0 => "Denied",
        RunStatus::Failed => "Failed",
        RunStatus::Cancelled => "Cancelled",
    };
    let (ended, all) = (result.step_results.len(), plan.steps.len());
    let steps = if result.status == RunStatus::Completed && tally.nothing_ran() {
        format!("{status}, nothing ran: {} of {all} steps", tally.words())
    } else if tally.skipped + tally.by_hand > 0 {
        format!("{status}: {ended} of {all} steps ({})", tally.words())
    } else {
        format!("{status}: {ended} of {all} steps")
    };
    out.line(&format!("{steps} in {} ms, run {}", result.elapsed_ms, result.run_id));
}

/// Prints the rollback commands of a plan. They are never run automatically.
pub(super) fn print_rollback_commands(plan: &Plan, out: &mut Output) {
    out.line(
        "The plan's rollback commands, which have not been run (a run with --json gives them as a plan to authorize):",
    );
    for command in &plan.notes.rollback {
        for line in quoted_lines(command).lines() {
            out.line(&format!("    {line}"));
        }
    }
}

fn print_error(result: &StepResult, out: &mut Output) {
    if let Some(message) = &result.error_message {
        let code = result.error_code.map(|code| format!("{code} ")).unwrap_or_default();
        out.line(&format!("Step {}: {code}{}", result.step_index + 1, quoted_in_line(message)));
        if let Some(next) = &result.next {
            out.line(&quoted_in_line(next));
        }
    }
}
