//! The report: what is the same for all runs, and the beginning of each.

use std::io::Write;

use sha2::{Digest as _, Sha256};

use super::super::Result;
use super::super::time::{seconds, utc};
use super::super::walk::{Counted, Item, Walk};
use super::super::xml::{escaped, escaped_line};
use super::parts::{OUTCOMES, class_of, code, spoken, time, write_facts};
use super::pictures::{self, OverRuns};
use super::step;
use crate::evidence::{EvidenceReader, RecordsOf};
use crate::run::text::capitalized;
use crate::run::{RunSummary, SearchQuery};

const STYLE: &str = include_str!("style.css");
/// The maximum number of runs whose times are drawn.
const PICTURES: u64 = 50;

/// # Errors
/// As for [`export`](crate::export::export).
pub(in crate::export) fn write(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let run = match walk.query().run_id {
        Some(run_id) => walk.reader.run(run_id)?,
        None => None,
    };
    let title = run.as_ref().map_or("Evidence", |run| run.plan_name.as_str());
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{} · Countersign</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n",
        base64(&Sha256::digest(STYLE.as_bytes())),
        escaped_line(title)
    )?;
    if run.is_none() {
        writeln!(out, "<h1>Evidence</h1>")?;
    }
    selection(walk.query(), out)?;
    let over_runs = OverRuns::of(walk)?;
    // The page of one run begins with the run.
    let over_runs = match run {
        Some(_) => Some(over_runs),
        None => {
            over_runs.write(walk, out)?;
            None
        }
    };
    let mut runs = 0;
    walk.each_counted(|reader, item| match item {
        Item::Run(run, counts) => {
            runs += 1;
            begin(reader, run, counts, out)?;
            if runs <= PICTURES {
                pictures::write_times(reader, run, counts, out)?;
            } else if counts.number() > 0 {
                let note = format!("The times of the first {PICTURES} runs alone are drawn.");
                writeln!(out, "<p class=\"note\">{note}</p>")?;
            }
            Ok(writeln!(out, "<h2>Steps</h2>")?)
        }
        Item::Step(detail) => step::write(reader, detail, out),
        Item::End(_) => Ok(writeln!(out, "</section>")?),
    })?;
    if let Some(over_runs) = over_runs {
        over_runs.write(walk, out)?;
    }
    if walk.exported.runs == 0 {
        writeln!(out, "<p>Nothing was recorded that meets this selection.</p>")?;
    }
    footer(walk, out)
}

/// What the report is limited to, if anything.
fn selection(query: &SearchQuery, out: &mut dyn Write) -> Result<()> {
    let text = |name, value: &Option<String>| value.clone().map(|value| (name, value));
    let filters = [
        (!query.words.trim().is_empty()).then(|| ("words", query.words.clone())),
        query.loop_id.map(|id| ("loop", id.to_string())),
        text("plan", &query.plan_id),
        text("tool", &query.tool),
        text("outcome", &query.outcome),
        text("risk", &query.risk),
        text("host", &query.host),
        text("touched", &query.path),
        text("wrote", &query.wrote),
        text("code", &query.code),
        query.since_ms.map(|ms| ("since", utc(ms))),
        query.until_ms.map(|ms| ("until", utc(ms))),
        (query.limit > 0).then(|| ("at most", format!("{} steps", query.limit))),
    ];
    let filters: Vec<_> = filters
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name} <b>{}</b>", escaped_line(&value)))
        .collect();
    if !filters.is_empty() {
        writeln!(out, "<p class=\"note\">Only steps with: {}</p>", filters.join(" · "))?;
    }
    Ok(())
}

fn begin(
    reader: &mut EvidenceReader,
    run: &RunSummary,
    counts: &Counted,
    out: &mut dyn Write,
) -> Result<()> {
    let status = run.fate.as_str();
    writeln!(
        out,
        "<section class=\"run\" id=\"run-{}\">\n<header>\n<p class=\"badge {}\">{}</p>\n<h1>{}</h1>",
        run.run_id,
        class_of(status),
        spoken(status),
        escaped_line(&run.plan_name)
    )?;
    let changed = reader.changed_after_written(run.run_id)?;
    if !changed.is_empty() {
        let list: Vec<_> = changed.iter().map(|it| format!("<li>{}</li>", escaped(it))).collect();
        writeln!(
            out,
            "<div class=\"warning\"><b>Records of this run were changed after they were written:</b>\
             <ul>{}</ul></div>",
            list.concat()
        )?;
    }
    let took = run.ended_at_ms.map(|ended| format!("{} s", seconds(ended - run.started_at_ms)));
    let facts = [
        ("Started", Some(time(run.started_at_ms))),
        ("Ended", run.ended_at_ms.map(time).or_else(|| Some("no end recorded".to_owned()))),
        ("Took", took),
        ("Workspace", Some(code(&run.workspace))),
        ("Host", run.target.as_deref().map(code)),
        ("Plan", Some(code(&run.plan_id))),
        ("Plan digest", Some(code(&run.plan_digest.to_string()))),
        ("Run", Some(code(&run.run_id.to_string()))),
        ("Follow-up of", run.parent_run.map(|id| code(&format!("run {id}")))),
        ("Steps", Some(format!("{} of {} recorded", run.steps_recorded, run.step_count))),
        ("Purged", run.purged.as_ref().map(|note| escaped_line(&capitalized(&note.sentence())))),
    ];
    write_facts(&facts, out)?;
    let numbers = OUTCOMES.iter().filter_map(|(word, class)| {
        let number = counts.outcomes.get(*word)?;
        Some(format!("<li class=\"{class}\"><b>{number}</b> {}</li>", spoken(word)))
    });
    writeln!(out, "<ul class=\"tally\">{}</ul>\n</header>", numbers.collect::<String>())?;
    decisions(reader, run, out)
}

/// Who decided what about the run and its steps.
fn decisions(reader: &mut EvidenceReader, run: &RunSummary, out: &mut dyn Write) -> Result<()> {
    let decided = reader.decisions_of_run(run.run_id)?;
    if decided.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Decisions</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>When</th><th>What</th>\
         <th>About</th><th>Why</th></tr></thead>\n<tbody>"
    )?;
    for decision in decided {
        let about = match decision.step_index {
            Some(index) => format!("step {}", index + 1),
            None => "the run".to_owned(),
        };
        writeln!(
            out,
            "<tr><td class=\"when\">{}</td><td>{}</td><td>{about}</td><td class=\"why\">{}</td></tr>",
            time(decision.record.timestamp_ms),
            escaped_line(&decision.record.sentence()),
            escaped(&decision.record.note)
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    Ok(())
}

fn footer(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let head = walk.reader.ledger_head()?;
    // The end of the chain moves with every other run, and a report of one run must not.
    let head = match walk.query().run_id {
        Some(run_id) => {
            let mut last = None;
            walk.reader.ledger_of(RecordsOf::Run(run_id), |record| {
                last = Some((record.seq, format!("sha256:{}", record.digest)));
                Ok::<_, crate::export::ExportError>(())
            })?;
            last.map(|(seq, digest)| ("The last record of this run", seq.unsigned_abs(), digest))
        }
        None => Some(("The last record of this evidence", head.rows, head.digest.to_string())),
    };
    writeln!(out, "<footer>")?;
    if let Some((what, number, digest)) = head {
        writeln!(
            out,
            "<p>{what} is number {number} of the ledger, with the digest <code>{digest}</code>. Compare it with \
             <code>countersign evidence verify --head DIGEST</code>.</p>"
        )?;
    }
    writeln!(
        out,
        "<p>Times are UTC. Secrets that were recognised are replaced by markers. Made by Countersign {}.</p>\n\
         </footer>\n</main>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION")
    )?;
    Ok(())
}

/// Bytes in Base64, as a policy names the digest of a style.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut padded = [0; 3];
        for (to, from) in padded.iter_mut().zip(group) {
            *to = *from;
        }
        let bits = u32::from_be_bytes([0, padded[0], padded[1], padded[2]]);
        for place in 0..4 {
            let letter = LETTERS.get((bits >> (18 - 6 * place)) as usize & 63);
            let letter = letter.filter(|_| place <= group.len()).unwrap_or(&b'=');
            text.push(char::from(*letter));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_to_groups_of_four() {
        for (bytes, text) in
            [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes), text);
        }
    }
}
