//! `evidence timeline`: the number of executions over time, as a table with bars.

use super::say_if_empty;
use super::search::{index_records, query_of};
use crate::cli::output::Output;
use crate::cli::refusal::Refusal;
use crate::cli::time::local_time;
use crate::cli::{Exit, args};
use crate::evidence::EvidenceReader;
use crate::run::{StopSignal, TimeBucket};

/// The width of the longest bar, in characters.
const BAR: u64 = 40;

/// Prints how many executions are in each interval.
pub(super) fn timeline(
    command: &args::Timeline,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    if command.search.span.limit.is_some() {
        let message = "--limit does not apply to a timeline, which counts all executions";
        return Err(Refusal::usage(message, "Narrow the time with --since and --until."));
    }
    index_records(reader)?;
    let (query, stop) = (query_of(&command.search, reader)?, StopSignal::default());
    let buckets = reader.timeline(&query, command.intervals, &stop)?.unwrap_or_default();
    if out.json() {
        buckets.iter().for_each(|bucket| out.document(bucket));
    } else {
        let most = buckets.iter().map(|it| it.fine + it.bad).max().unwrap_or(1).max(1);
        let head = ["from", "", "fine", "failed, denied or interrupted"];
        let head = (!buckets.is_empty()).then(|| head.map(str::to_owned).to_vec());
        let rows = buckets.iter().map(|bucket| cells(bucket, most));
        out.table(head.into_iter().chain(rows));
    }
    say_if_empty(buckets.is_empty(), out);
    Ok(Exit::Done)
}

fn cells(bucket: &TimeBucket, most: u64) -> Vec<String> {
    let length = |number: u64| {
        // Even the smallest number stays visible.
        let length = (number * BAR).div_ceil(most);
        usize::try_from(length).unwrap_or_default()
    };
    let bar = format!("{}{}", "█".repeat(length(bucket.fine)), "▒".repeat(length(bucket.bad)));
    vec![
        local_time(bucket.from_ms),
        bar,
        format!("{:>8}", bucket.fine),
        format!("{:>8}", bucket.bad),
    ]
}
