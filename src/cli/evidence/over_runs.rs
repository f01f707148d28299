//! `evidence durations` and `evidence judge`: one step over all runs, and past commands by the present rules.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::print_changed_rows;
use super::show::not_found;
use crate::cli::opening::policy;
use crate::cli::output::{Output, say};
use crate::cli::refusal::Refusal;
use crate::cli::signals::interrupt_flag;
use crate::cli::time::local_time;
use crate::cli::{Exit, args};
use crate::engine::CommandJudge;
use crate::evidence::EvidenceReader;
use crate::plan::one_line;
use crate::run::{JudgedCommand, Judgement, ListedExecution, StopSignal, took_ms};

/// The width of the longest bar, in characters.
const BAR: i64 = 40;
/// How long commands are judged before a signal is noticed and the progress is printed.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Prints how long the step of an execution took in each run.
pub(super) fn durations(
    command: &args::Durations,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let limit = command.limit.map_or(usize::MAX, |limit| limit as usize);
    let execution = command.execution.execution(reader)?;
    let Some(found) = reader.step_durations(execution, limit)? else {
        if reader.purge_of_step(execution)?.is_some() {
            return Err(not_found(execution, reader)?);
        }
        let message = format!("the evidence has no recorded execution {execution}");
        return Err(Refusal::usage(message, "Look the id up with `evidence search`."));
    };
    if out.json() {
        out.document(&found);
        return Ok(Exit::Done);
    }
    let ms = |ms: Option<i64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
    out.fields([
        ("Step", format!("{} {}", found.tool_name, one_line(&found.about))),
        ("Executions", found.executions.len().to_string()),
        ("Median", ms(found.median_ms)),
        ("Shortest", ms(found.shortest_ms)),
        ("Longest", ms(found.longest_ms)),
    ]);
    out.line("");
    let longest = found.longest_ms.unwrap_or_default().max(1);
    out.table(found.executions.iter().map(|execution| cells(execution, longest)));
    if found.left_out > 0 {
        say(&format!("{} older executions are left out; --limit shows more.", found.left_out));
    }
    print_changed_rows(found.executions.iter(), out);
    Ok(Exit::Done)
}

fn cells(execution: &ListedExecution, longest: i64) -> Vec<String> {
    let row = &execution.row;
    let took = took_ms(execution);
    let length = took.map_or(0, |ms| (ms * BAR / longest).max(1));
    vec![
        local_time(row.timestamp_ms),
        row.known.as_str().to_owned(),
        took.map_or_else(String::new, |ms| format!("{ms:>8} ms")),
        "█".repeat(usize::try_from(length).unwrap_or_default()),
        row.plan_id.clone(),
        row.execution_id.to_string(),
    ]
}

/// Prints the past commands whose level is another one by the present rules. A signal stops the judging; what was found
/// until then is printed.
pub(super) fn judge(reader: &mut EvidenceReader, out: &mut Output) -> Result<Exit, Refusal> {
    let interrupted = interrupt_flag().map_err(crate::export::ExportError::Write)?;
    let mut judge = CommandJudge::new(reader, &policy()?)?;
    let (stop, mut judgement) = (StopSignal::default(), Judgement::default());
    loop {
        judgement.add(judge.go_on(reader, AT_ONCE, &stop)?);
        if judge.done() == judge.all() || interrupted.load(Ordering::Relaxed) {
            break;
        }
        say(&format!("{} of {} commands judged", judge.done(), judge.all()));
    }
    if out.json() {
        judgement.found.iter().for_each(|command| out.document(command));
    } else {
        out.table(judgement.found.iter().map(judged_cells));
        print_changed_rows(judgement.found.iter().map(|it| &it.latest), out);
    }
    let (done, all, found) = (judge.done(), judge.all(), judgement.found.len());
    let stopped = if done < all { format!(" of {all}; stopped") } else { String::new() };
    say(&format!("{found} of {done} different commands have another level now{stopped}."));
    Ok(if done < all { Exit::Failed } else { Exit::Done })
}

fn judged_cells(command: &JudgedCommand) -> Vec<String> {
    let host = command.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let redacted = if command.redacted { " (judged with its secret redacted)" } else { "" };
    vec![
        command.level_then.as_str().to_owned(),
        format!("-> {}", command.level_now.as_str()),
        command.rule_now.clone(),
        format!("{:>5}x", command.times),
        local_time(command.last_ms),
        format!("{}{host}{redacted}", one_line(&command.command)),
        command.latest.row.execution_id.to_string(),
    ]
}
