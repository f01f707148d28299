//! Answers a search from the index (SPEC §8): hits, facets, timeline and excerpts.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};
use uuid::Uuid;

use super::error::Result;
use super::index::{FIELDS, Index};
use super::rows::{count, list, size, value};
use super::source::Source;
use super::{
    EvidenceError, EvidenceReader, changed, index_text, loop_reader, queries, rejections, runs,
};
use crate::plan::Tool;
use crate::run::{Facets, ListedExecution, SearchHit, SearchPage, SearchQuery, TimeBucket};

/// The maximum number of hits on a page if the query sets no limit.
const DEFAULT_LIMIT: usize = 200;
/// The maximum number of bars in the timeline.
const BUCKETS: i64 = 60;
/// The maximum number of words in an excerpt.
const EXCERPT_WORDS: u32 = 24;
/// The outcomes that the timeline does not count as failures.
const FINE: &str = "('succeeded', 'skipped', 'done_by_hand', 'running')";

impl EvidenceReader {
    /// Updates the search index; fast if there is nothing new. [`search`](Self::search) calls this first. Calling it
    /// while idle makes the next search faster.
    ///
    /// # Errors
    /// [`EvidenceError::Index`] if another program has changed the index; otherwise as for [`runs`](Self::runs).
    pub fn catch_up_index(&mut self) -> Result<()> {
        let mut index = match self.index.take() {
            Some(index) => index,
            None if self.source()?.is_none() => return Ok(()),
            None => Index::open(&self.location.evidence, self.vault.as_ref())?,
        };
        if let Some(source) = self.source()? {
            index.catch_up(&source)?;
        }
        self.index = Some(index);
        Ok(())
    }

    /// Searches all executions and interrupted steps by text and by filters.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn search(&mut self, query: &SearchQuery) -> Result<SearchPage> {
        let mut result = self.search_once(query);
        // A power cut may damage the index, because it is not flushed like the evidence, and other programs may write
        // to it. It is rebuilt once.
        if result.as_ref().is_err_and(EvidenceError::is_index_damage) {
            self.index = None;
            Index::discard(&self.location.evidence);
            result = self.search_once(query);
        }
        let mut page = result?;
        let report = self.head_report()?;
        (page.read_only, page.note) = (report.difference, report.note);
        Ok(page)
    }

    fn search_once(&mut self, query: &SearchQuery) -> Result<SearchPage> {
        self.catch_up_index()?;
        let Some(index) = self.index.take() else { return Ok(SearchPage::default()) };
        let page = self.query(|source| page(&index, source, query));
        self.index = Some(index);
        page
    }
}

/// One page of hits, with the totals, facets and timeline of all hits.
fn page(index: &Index, source: &Source<'_>, query: &SearchQuery) -> Result<SearchPage> {
    let started = Instant::now();
    let conn = &index.conn;
    let words = text_query(&query.words);
    let runs = match query.loop_id {
        Some(loop_id) => Some(loop_reader::run_ids(source, loop_id)?),
        None => None,
    };
    collect(conn, query, words.as_deref(), runs.as_deref())?;
    let number = |sql: &str| value::<i64>(conn, sql, []);
    let hits = hits(conn, source, query, words.as_deref())?;
    let of_hits: BTreeSet<Uuid> = hits.iter().map(|hit| hit.listed.row.run_id).collect();
    let mut runs = Vec::with_capacity(of_hits.len());
    for run_id in of_hits {
        runs.extend(runs::run(source, run_id)?);
    }
    Ok(SearchPage {
        hits,
        runs,
        total: number("SELECT count(*) FROM found")?.unsigned_abs(),
        of: number("SELECT count(*) FROM docs")?.unsigned_abs(),
        unknown_tool: is_unknown_tool(conn, query.tool.as_deref())?,
        rejections: rejections::number_with(source, &query.words)?,
        facets: Facets {
            outcome: facet(conn, "outcome")?,
            tool: facet(conn, "tool")?,
            risk: facet(conn, "risk")?,
        },
        timeline: timeline(conn)?,
        took_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        read_only: None,
        note: None,
    })
}

/// Whether this is neither a tool nor the name that a tool had in an older record.
fn is_unknown_tool(conn: &Connection, tool: Option<&str>) -> Result<bool> {
    let Some(tool) = tool.filter(|tool| Tool::from_name(tool).is_none()) else { return Ok(false) };
    Ok(!value::<bool>(conn, "SELECT EXISTS (SELECT 1 FROM docs WHERE tool = ?1)", [tool])?)
}

/// The words of a search as an expression for the index; `None` if there are no words. Only quotation marks have a
/// special meaning.
fn text_query(text: &str) -> Option<String> {
    let mut terms = Vec::new();
    for (n, piece) in text.split('"').enumerate() {
        if n % 2 == 1 {
            terms.push((piece, false));
        } else {
            terms.extend(piece.split_whitespace().map(|word| (word, true)));
        }
    }
    if terms.is_empty() {
        return None;
    }
    terms.retain(|(term, _)| term.chars().any(char::is_alphanumeric));
    let last = terms.len();
    let terms = terms.into_iter().enumerate().map(|(n, (term, is_word))| {
        let term = term.replace(['\0', '"'], " ");
        // The person may still be typing the last word.
        let prefix = if is_word && n + 1 == last { " *" } else { "" };
        format!("\"{term}\"{prefix}")
    });
    let terms: Vec<_> = terms.collect();
    // The empty phrase matches nothing.
    Some(if terms.is_empty() { "\"\"".to_owned() } else { terms.join(" AND ") })
}

/// Fills the table `found` with all hits.
fn collect(
    conn: &Connection,
    query: &SearchQuery,
    words: Option<&str>,
    of_runs: Option<&[String]>,
) -> Result<()> {
    conn.execute("DELETE FROM found", [])?;
    let mut from = "docs AS d".to_owned();
    let mut conditions = vec!["1".to_owned()];
    let mut values: Vec<SqlValue> = Vec::new();
    if let Some(expression) = words {
        from.push_str(" JOIN texts ON texts.rowid = d.id");
        values.push(expression.to_owned().into());
        conditions.push("texts MATCH ?1".to_owned());
    }
    if let Some(runs) = of_runs {
        let first = values.len() + 1;
        values.extend(runs.iter().map(|run| run.clone().into()));
        let numbers: Vec<_> = (first..=values.len()).map(|number| format!("?{number}")).collect();
        conditions.push(format!("d.run_id IN ({})", numbers.join(", ")));
    }
    let text = |value: &Option<String>| value.clone().map(SqlValue::from);
    for (condition, value) in [
        ("d.run_id = ?", query.run_id.map(|id| id.to_string().into())),
        ("d.plan_id = ?", text(&query.plan_id)),
        ("d.tool = ?", text(&query.tool)),
        ("d.outcome = ?", text(&query.outcome)),
        ("d.risk = ?", text(&query.risk)),
        ("d.host = ?", text(&query.host)),
        (
            "EXISTS (SELECT 1 FROM doc_paths AS p WHERE p.doc = d.id AND instr(p.path, ?) > 0)",
            text(&query.path),
        ),
        (
            "EXISTS (SELECT 1 FROM doc_paths AS p
             WHERE p.doc = d.id AND p.wrote AND (? = '*' OR instr(p.path, ?) > 0))",
            text(&query.wrote),
        ),
        (
            "(d.error_code = ? COLLATE NOCASE OR EXISTS
             (SELECT 1 FROM doc_codes AS c WHERE c.doc = d.id AND c.code = ? COLLATE NOCASE))",
            text(&query.code),
        ),
        ("d.timestamp >= ?", query.since_ms.map(SqlValue::from)),
        ("d.timestamp <= ?", query.until_ms.map(SqlValue::from)),
    ] {
        if let Some(value) = value {
            values.push(value);
            conditions.push(condition.replace('?', &format!("?{}", values.len())));
        }
    }
    conn.prepare_cached(&format!(
        "INSERT INTO found SELECT d.id, d.execution_id, d.timestamp, d.outcome, d.tool, d.risk
         FROM {from} WHERE {}",
        conditions.join(" AND ")
    ))?
    .execute(params_from_iter(values))?;
    Ok(())
}

/// The hits on the page of this query, newest first.
///
/// # Errors
/// [`EvidenceError::Index`] if the index differs from the rows.
fn hits(
    conn: &Connection,
    source: &Source<'_>,
    query: &SearchQuery,
    words: Option<&str>,
) -> Result<Vec<SearchHit>> {
    let limit = if query.limit == 0 { DEFAULT_LIMIT } else { query.limit };
    let sql = "SELECT doc, execution_id, timestamp, tool FROM found
               ORDER BY timestamp DESC, doc DESC LIMIT ?1 OFFSET ?2";
    let range = [limit, query.offset].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    let page: Vec<(i64, String, i64, String)> = list(conn, sql, range, |row| Ok(row.try_into()?))?;
    let mut hits = Vec::with_capacity(page.len());
    for (doc, execution_id, timestamp_ms, tool_name) in page {
        let Ok(id) = execution_id.parse() else { return Err(EvidenceError::Index) };
        let Some(row) = queries::execution_row(source, id)? else {
            return Err(EvidenceError::Index);
        };
        if row.timestamp_ms != timestamp_ms || row.tool_name != tool_name {
            return Err(EvidenceError::Index);
        }
        let changed = changed::is_changed_in_list(source.conn, id)?;
        let mut hit = SearchHit {
            listed: ListedExecution { row, changed },
            found_in: String::new(),
            excerpt: String::new(),
            marks: Vec::new(),
        };
        if let Some(expression) = words
            && let Some((field, text)) = excerpt(conn, expression, doc)?
        {
            // Only recorded text may be shown, so the index must contain the text of the rows.
            let row = &hit.listed.row;
            let sql = format!("SELECT {field} FROM texts WHERE rowid = ?1");
            let indexed: String = value(conn, &sql, [doc])?;
            if indexed != index_text::field_text(source, row, field)? {
                return Err(EvidenceError::Index);
            }
            (hit.excerpt, hit.marks) = first_marked_line(&text);
            field.clone_into(&mut hit.found_in);
        }
        hits.push(hit);
    }
    Ok(hits)
}

/// The first field with a match, and the words around the match, with each matching word between U+0001 and U+0002.
fn excerpt(
    conn: &Connection,
    expression: &str,
    doc: i64,
) -> Result<Option<(&'static str, String)>> {
    for (n, field) in FIELDS.iter().enumerate() {
        // One field at a time: most matches are in the short fields at the beginning.
        let sql = format!(
            "SELECT snippet(texts, {n}, char(1), char(2), '…', {EXCERPT_WORDS}) FROM texts
             WHERE texts MATCH ?1 AND rowid = ?2"
        );
        let text: String = value(conn, &sql, (expression, doc))?;
        if text.contains('\u{1}') {
            return Ok(Some((field, text)));
        }
    }
    Ok(None)
}

/// The first line with a match, without marks, and the ranges of its matches. White space becomes one space. Text far
/// before the first match is cut, so that the match is visible in a long line.
fn first_marked_line(text: &str) -> (String, Vec<Range<usize>>) {
    /// The number of characters before the first match from which text is cut.
    const LEAD: usize = 28;
    let line = text.lines().find(|line| line.contains('\u{1}')).unwrap_or_default();
    let mut plain = String::with_capacity(line.len());
    let mut marks: Vec<Range<usize>> = Vec::new();
    let mut from = None;
    for character in line.trim_start().chars() {
        match character {
            '\u{1}' => {
                if marks.is_empty() {
                    let cut = plain.char_indices().rev().nth(LEAD).map(|(index, _)| index);
                    plain = cut.map_or(plain.clone(), |cut| {
                        format!("…{}", plain.split_at(cut).1.trim_start_matches('…'))
                    });
                }
                from = Some(plain.len());
            }
            '\u{2}' => marks.extend(from.take().map(|from| from..plain.len())),
            space if space.is_whitespace() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            other => plain.push(other),
        }
    }
    // A phrase that continues on the next line is marked to the end of this line.
    marks.extend(from.map(|from| from..plain.len()));
    (plain, marks)
}

/// The number of hits for each value of a column, most frequent first.
fn facet(conn: &Connection, column: &str) -> Result<Vec<(String, u64)>> {
    let sql = format!(
        "SELECT {column}, count(*) FROM found WHERE {column} IS NOT NULL
         GROUP BY {column} ORDER BY count(*) DESC, {column}"
    );
    list(conn, &sql, [], |row| Ok((row.get(0)?, count(row, 1)?)))
}

/// The numbers of hits in at most [`BUCKETS`] intervals of equal length.
fn timeline(conn: &Connection) -> Result<Vec<TimeBucket>> {
    let ends = "SELECT min(timestamp), max(timestamp) FROM found";
    let (first, last): (Option<i64>, Option<i64>) =
        conn.query_row(ends, [], |row| row.try_into())?;
    let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
    let span = last.saturating_sub(first).saturating_add(1);
    let width = span / BUCKETS + i64::from(span % BUCKETS != 0);
    let mut buckets: Vec<_> = (0..span.div_euclid(width) + i64::from(span % width != 0))
        .map(|n| TimeBucket {
            from_ms: first + n * width,
            to_ms: first + (n + 1) * width,
            fine: 0,
            bad: 0,
        })
        .collect();
    let sql = format!(
        "SELECT (timestamp - ?1) / ?2, sum(outcome IN {FINE}), sum(outcome NOT IN {FINE})
         FROM found GROUP BY 1"
    );
    list(conn, &sql, [first, width], |row| {
        if let Some(bucket) = buckets.get_mut(size(row, 0)?) {
            bucket.fine = count(row, 1)?;
            bucket.bad = count(row, 2)?;
        }
        Ok(())
    })?;
    Ok(buckets)
}
