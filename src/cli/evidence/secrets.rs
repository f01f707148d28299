//! `evidence secrets`: which records have a secret in clear, by the present rules.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::json;
use uuid::Uuid;

use super::TELL_EVERY;
use crate::cli::Exit;
use crate::cli::output::{Output, say};
use crate::cli::refusal::Refusal;
use crate::evidence::EvidenceReader;
use crate::run::ClearSecret;

/// Lists the secrets that records have in clear. The secrets themselves are not printed.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn secrets(reader: &mut EvidenceReader, out: &mut Output) -> Result<Exit, Refusal> {
    let found = find(reader)?;
    if out.json() {
        out.document(&json!({ "secrets": found }));
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        out.line("No record has a secret in clear that the present rules recognise.");
        return Ok(Exit::Done);
    }
    out.table(found.iter().map(|it| {
        let place = it.execution_id.map_or_else(
            || format!("row {} of {}", it.row, it.table),
            |id| format!("execution {id}"),
        );
        [place, it.column.clone(), it.kind.clone(), it.count.to_string()]
    }));
    let steps = steps(&found);
    if !steps.is_empty() {
        say(&format!(
            "`countersign evidence purge --secrets` purges the records of the {} steps among them.",
            steps.len()
        ));
    }
    let rest = found.iter().filter(|it| it.execution_id.is_none()).count();
    if rest > 0 {
        say(&format!(
            "{rest} places are no records of a step: plans, approvals, loops. Exchange these secrets where they are \
             used."
        ));
    }
    Ok(Exit::Done)
}

/// The executions whose records have a secret in clear.
///
/// # Errors
/// As for [`secrets`].
pub(super) fn executions_with_secrets(reader: &mut EvidenceReader) -> Result<Vec<Uuid>, Refusal> {
    Ok(steps(&find(reader)?).into_iter().collect())
}

fn steps(found: &[ClearSecret]) -> BTreeSet<Uuid> {
    found.iter().filter_map(|it| it.execution_id).collect()
}

fn find(reader: &mut EvidenceReader) -> Result<Vec<ClearSecret>, Refusal> {
    let mut told = Instant::now();
    Ok(reader.clear_secrets(|judged, all| {
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            say(&format!("{judged} of {all} records are judged."));
        }
    })?)
}
