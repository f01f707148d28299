//! A search as an FTS5 expression and a range of documents.

use rusqlite::Connection;

use super::beginnings::words_beginning;
use super::words::{Term, terms};
use crate::evidence::error::Result;
use crate::evidence::index::{Fact, FileFact, MARK, any, ids_between};
use crate::run::SearchQuery;

/// What a search looks for in the index.
pub(super) struct Scope {
    /// The FTS5 expression; `None` finds every document.
    pub(super) expression: Option<String>,
    /// The first and the last document, both included.
    pub(super) ids: (i64, i64),
    /// The first and the last time, both included, in Unix milliseconds.
    pub(super) times: (i64, i64),
}

impl Scope {
    /// The scope of a search; `None` if nothing can be found.
    ///
    /// # Errors
    /// Any error of the index.
    pub(super) fn of(conn: &Connection, query: &SearchQuery) -> Result<Option<Self>> {
        let Some(ids) = ids_between(conn, query.since_ms, query.until_ms)? else { return Ok(None) };
        let Some(expression) = expression(conn, query)? else { return Ok(None) };
        let times = (query.since_ms.unwrap_or(i64::MIN), query.until_ms.unwrap_or(i64::MAX));
        Ok(Some(Self { expression: Some(expression).filter(|it| !it.is_empty()), ids, times }))
    }

    /// The scope without the documents from this one on.
    pub(super) fn before(self, id: i64) -> Self {
        let last = self.ids.1.min(id.saturating_sub(1));
        Self { ids: (self.ids.0, last), ..self }
    }

    /// The statement that selects these columns of `docs AS d` for all hits, newest first.
    pub(super) fn select(&self, columns: &str) -> String {
        let (table, id, matching) = match self.expression {
            Some(_) => (
                "texts CROSS JOIN docs AS d ON d.id = texts.rowid",
                "texts.rowid",
                "texts MATCH ?1",
            ),
            None => ("docs AS d", "d.id", "?1 IS NULL"),
        };
        format!(
            "SELECT {columns} FROM {table} WHERE {matching} AND {id} >= ?2 AND {id} <= ?3
             AND d.timestamp >= ?4 AND d.timestamp <= ?5 ORDER BY {id} DESC"
        )
    }

    /// The parameters of [`Self::select`].
    pub(super) fn params(&self) -> (Option<&str>, i64, i64, i64, i64) {
        let Self { expression, ids, times } = self;
        (expression.as_deref(), ids.0, ids.1, times.0, times.1)
    }
}

/// The expression of a search; empty if everything is found, and `None` if nothing is.
fn expression(conn: &Connection, query: &SearchQuery) -> Result<Option<String>> {
    let terms = terms(&query.words);
    if terms.is_empty() && !query.words.trim().is_empty() {
        // Signs alone occur nowhere as words.
        return Ok(None);
    }
    let (excluded, found): (Vec<_>, Vec<_>) =
        terms.iter().partition::<Vec<&Term>, _>(|term| term.is_excluded);
    let mut all = found.into_iter().map(|it| of_term(conn, it)).collect::<Result<Vec<_>>>()?;
    let run_id = query.run_id.map(|id| id.to_string());
    let loop_id = query.loop_id.map(|id| id.to_string());
    for (fact, value) in [
        (Fact::Run, &run_id),
        (Fact::Loop, &loop_id),
        (Fact::Plan, &query.plan_id),
        (Fact::Tool, &query.tool),
        (Fact::Outcome, &query.outcome),
        (Fact::Risk, &query.risk),
        (Fact::Host, &query.host),
        (Fact::Code, &query.code),
        (Fact::By, &query.by),
    ] {
        all.extend(value.as_ref().map(|value| quoted(&fact.word(value), false)));
    }
    for (fact, path) in [(FileFact::Touched, &query.path), (FileFact::Wrote, &query.wrote)] {
        all.extend(path.as_ref().map(|path| of_path(fact, path)));
    }
    if all.is_empty() && !excluded.is_empty() {
        all.push(quoted(&any(), false));
    }
    let all = all.join(" AND ");
    if excluded.is_empty() {
        return Ok(Some(all));
    }
    let excluded = excluded.into_iter().map(phrase).collect::<Vec<_>>().join(" OR ");
    Ok(Some(format!("({all}) NOT ({excluded})")))
}

/// A word or phrase; for the beginning of a word, the words of the index that begin so, where they are few.
fn of_term(conn: &Connection, term: &Term) -> Result<String> {
    let words = match term.is_prefix {
        true => words_beginning(conn, &term.text)?.unwrap_or_default(),
        false => Vec::new(),
    };
    if words.is_empty() {
        return Ok(phrase(term));
    }
    let words: Vec<_> = words.iter().map(|word| quoted(word, false)).collect();
    Ok(format!("({})", words.join(" OR ")))
}

fn phrase(term: &Term) -> String {
    quoted(&term.text.replace(MARK, " "), term.is_prefix)
}

/// Words as a phrase of the expression, in which nothing has a special meaning.
fn quoted(text: &str, is_prefix: bool) -> String {
    format!("\"{}\"{}", text.replace(['\0', '"'], " "), if is_prefix { " *" } else { "" })
}

/// The words of a path as a phrase. The last one may be the beginning of a word, unless a sign follows.
fn of_path(fact: FileFact, path: &str) -> String {
    let words = fact.words(path);
    if words.is_empty() {
        return quoted(&fact.any(), false);
    }
    quoted(&words, path.ends_with(char::is_alphanumeric))
}
