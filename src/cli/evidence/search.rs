//! `evidence search`: executions by words and filters, newest first.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::show::fate_word;
use super::{cells, print_changed_rows, say_if_empty};
use crate::cli::args::given;
use crate::cli::output::{Output, quoted_in_line, say};
use crate::cli::refusal::Refusal;
use crate::cli::{Exit, args};
use crate::evidence::EvidenceReader;
use crate::plan::quoted;
use crate::run::{SearchQuery, StopSignal};

/// The time without a word after which the progress of indexing is printed.
const QUIET: Duration = Duration::from_secs(1);

/// How long hits that are not shown are counted.
const COUNTING: Duration = Duration::from_millis(200);

/// Indexes what earlier runs have not, with progress on stderr if it takes long: a search by a script must find all.
pub(super) fn index_records(reader: &mut EvidenceReader) -> Result<(), Refusal> {
    let mut said = Instant::now();
    let mut progress = |indexed: u64, all: u64| {
        if said.elapsed() >= QUIET {
            said = Instant::now();
            say(&format!("Indexing: {indexed} of {all} records."));
        }
    };
    let stop = StopSignal::default();
    while reader.catch_up_index_within(Duration::MAX, &stop, &mut progress)? > 0 {}
    Ok(())
}

/// Prints the hits, and how many are left out.
pub(super) fn search(
    command: &args::Search,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    index_records(reader)?;
    let query = query_of(command, reader)?;
    let stop = StopSignal::default();
    let page = reader.search_within(&query, Duration::MAX, COUNTING, &stop)?.unwrap_or_default();
    if out.json() {
        page.hits.iter().for_each(|hit| out.document(hit));
    } else {
        out.table(page.hits.iter().map(|hit| cells(&hit.listed.row)));
        for hit in page.hits.iter().filter(|hit| !hit.excerpt.is_empty()) {
            let id = hit.listed.row.execution_id;
            out.line(&format!("{id} {}: {}", quoted(&hit.found_in), quoted_in_line(&hit.excerpt)));
        }
        for run in &page.runs {
            let name = quoted_in_line(&run.plan_name);
            out.line(&format!("{} run {}: {name}", fate_word(run), run.run_id));
        }
        print_changed_rows(page.hits.iter().map(|hit| &hit.listed), out);
    }
    say_if_empty(page.hits.is_empty(), out);
    if let Some(name) =
        command.words.iter().find_map(|word| filter_in(word)).filter(|_| page.hits.is_empty())
    {
        say(&format!(
            "{name}: is searched as a word here. The filters are options: countersign evidence search --help."
        ));
    }
    if page.rejections > 0 {
        let plans = if page.rejections == 1 { "plan has" } else { "plans have" };
        say(&format!(
            "{} rejected {plans} these words; `countersign evidence query rejected` lists them.",
            page.rejections
        ));
    }
    if let Some(tool) = command.tool.as_ref().filter(|_| page.unknown_tool) {
        say(&format!("There is no tool {}, and no record has it.", quoted(tool)));
    }
    let shown = page.hits.len() as u64;
    if page.next.is_some() {
        let more = if page.counts.is_partial { "more than " } else { "" };
        say(&format!("{shown} of {more}{} shown; --limit shows more.", page.counts.total));
    }
    Ok(Exit::Done)
}

/// The name in front of a colon, if it is that of a filter here or in the search field of the window.
fn filter_in(word: &str) -> Option<&str> {
    const FILTERS: [&str; 15] = [
        "run", "loop", "plan", "tool", "outcome", "risk", "host", "path", "file", "wrote", "code",
        "since", "after", "before", "by",
    ];
    let (name, _) = word.split_once(':')?;
    FILTERS.iter().any(|it| it.eq_ignore_ascii_case(name)).then_some(name)
}

/// The query of a command line.
///
/// # Errors
/// When the beginning of an id fits none or several, or the evidence cannot be read.
pub(super) fn query_of(
    command: &args::Search,
    reader: &mut EvidenceReader,
) -> Result<SearchQuery, Refusal> {
    let run_id = given(command.run.as_ref(), |id| id.run(reader))?;
    let loop_id = given(command.bounded_loop.as_ref(), |id| id.bounded_loop(reader))?;
    Ok(query_with(command, run_id, loop_id))
}

/// The query of a command line with these ids.
pub(super) fn query_with(
    command: &args::Search,
    run_id: Option<Uuid>,
    loop_id: Option<Uuid>,
) -> SearchQuery {
    SearchQuery {
        words: command.words.join(" "),
        run_id,
        loop_id,
        plan_id: command.plan.clone(),
        tool: command.tool.clone(),
        outcome: command.outcome.clone(),
        risk: command.risk.clone(),
        host: command.host.clone(),
        path: command.path.clone(),
        wrote: command.wrote.clone(),
        code: command.code.clone(),
        since_ms: command.span.since,
        until_ms: command.span.until,
        limit: command.span.limit.map_or(0, |limit| limit as usize),
        by: command.by.clone(),
        after: None,
    }
}
