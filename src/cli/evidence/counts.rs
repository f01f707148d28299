//! `evidence counts`: how the executions that a search finds are distributed over tools, outcomes, files and so on.

use serde::Serialize;

use super::search::{index_records, query_of};
use crate::cli::output::{Output, quoted_in_line};
use crate::cli::refusal::Refusal;
use crate::cli::{Exit, args};
use crate::evidence::EvidenceReader;
use crate::run::{Facets, StopSignal};

/// The document of `--json`.
#[derive(Serialize)]
struct Counts<'a> {
    total: u64,
    facets: Vec<Facet<'a>>,
}

#[derive(Serialize)]
struct Facet<'a> {
    name: &'static str,
    values: Vec<Counted<'a>>,
}

#[derive(Serialize)]
struct Counted<'a> {
    value: &'a str,
    number: u64,
}

/// Prints how many executions have each value, most frequent first.
pub(super) fn counts(
    command: &args::Search,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    if command.span.limit.is_some() {
        let message = "--limit does not apply to counts, which are of all executions";
        return Err(Refusal::usage(message, "Narrow the time with --since and --until."));
    }
    index_records(reader)?;
    let (query, stop) = (query_of(command, reader)?, StopSignal::default());
    let counts = reader.count_hits(&query, &stop)?.unwrap_or_default();
    let facets = facets(&counts.facets);
    if out.json() {
        out.document(&Counts { total: counts.total, facets });
    } else {
        let total = vec!["executions".to_owned(), String::new(), counts.total.to_string()];
        let rows = facets.iter().flat_map(|facet| {
            facet.values.iter().map(|it| {
                let value = quoted_in_line(it.value);
                vec![facet.name.to_owned(), value, it.number.to_string()]
            })
        });
        out.table(std::iter::once(total).chain(rows));
    }
    Ok(Exit::Done)
}

/// The facets by the names of their filters.
fn facets(facets: &Facets) -> Vec<Facet<'_>> {
    let Facets { outcome, tool, risk, host, plan, by, code, path } = facets;
    let named = [
        ("outcome", outcome),
        ("tool", tool),
        ("risk", risk),
        ("host", host),
        ("plan", plan),
        ("by", by),
        ("path", path),
        ("code", code),
    ];
    named
        .into_iter()
        .map(|(name, values)| {
            let counted = values.iter().map(|(value, number)| Counted { value, number: *number });
            Facet { name, values: counted.collect() }
        })
        .collect()
}
