//! Searches the executions of all origins. What is found comes from the tables that the server makes from the records; what is
//! shown of it comes from the record itself, whose link is computed anew.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::conditions::{COUNTED, Conditions, TeamPlace, expression};
use super::connection::Connection;
use super::error::Result;
use super::rows::{Param, Row};
use super::{Patience, Server, TeamError};
use crate::evidence::{Patterns, SEARCHED_FIELDS, chain_link, genesis};
use crate::plan::{Code, Digest};
use crate::risk::RiskLevel;
use crate::run::{Execution, Known, ListedExecution, Outcome, SearchHit, SearchQuery};

/// The maximum number of hits if the query sets no limit.
const DEFAULT_LIMIT: usize = 200;

/// An execution that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TeamHit {
    /// The execution, and where the words are.
    #[serde(flatten)]
    pub hit: SearchHit,
    /// The evidence that it was pushed from.
    pub origin: String,
}

/// What is searched. `SearchQuery::after` is not used, which is a place on one computer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamQuery {
    /// The words and filters.
    pub query: SearchQuery,
    /// Only what was pushed from there: the whole name, or the id in it.
    pub origin: Option<String>,
    /// Only hits after the page whose [`next`](TeamPage::next) this is. They are not counted.
    pub after: Option<TeamPlace>,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamPage {
    /// The hits, newest first.
    pub hits: Vec<TeamHit>,
    /// The number of all hits, as far as they were counted.
    pub total: u64,
    /// Whether there may be more hits than `total`.
    pub is_partial: bool,
    /// Where the next page begins; `None` if this is the last one.
    pub next: Option<TeamPlace>,
    /// The records of this page that no program of this kind has written: the name of the evidence and the number of each.
    pub unreadable: Vec<(String, i64)>,
}

/// Searches the server.
///
/// # Errors
/// When the server cannot be used.
pub fn search(server: &Server, wanted: &TeamQuery, patience: Patience) -> Result<TeamPage> {
    let conditions = Conditions::of(&wanted.query, wanted.origin.as_deref());
    let mut connection = Connection::open(server, patience)?;
    connection.run("BEGIN TRANSACTION READ ONLY", &[])?;
    let limit = if wanted.query.limit == 0 { DEFAULT_LIMIT } else { wanted.query.limit };
    let mut page = TeamPage::default();
    let mut hits = Vec::new();
    let rest = conditions.after(wanted.after.as_ref());
    connection.rows::<TeamError>(&rest.page(limit + 1), &rest.params(), |row| {
        if hits.len() > limit {
            return Err(TeamError::Answer("it has more rows than were asked for".to_owned()));
        }
        let place = TeamPlace {
            timestamp_ms: row.int(8).unwrap_or_default(),
            origin: row.owned(0),
            sequence: row.int(1).unwrap_or_default(),
        };
        // One who may write must not keep others from what they look for.
        hits.push((hit(&row).ok(), place));
        Ok(())
    })?;
    page.total = hits.len() as u64;
    if hits.len() > limit {
        hits.truncate(limit);
        page.next = hits.last().map(|(_, place)| place.clone());
        if wanted.after.is_none() {
            let counted = connection.first(&conditions.count(), &conditions.params())?;
            let counted = counted.and_then(|row| row.int(0)).unwrap_or_default();
            page.is_partial = counted > COUNTED;
            page.total = counted.min(COUNTED).unsigned_abs();
        }
    }
    for (hit, place) in hits {
        match hit {
            Some(hit) => page.hits.push(hit),
            None => page.unreadable.push((place.origin, place.sequence)),
        }
    }
    add_excerpts(&mut connection, &conditions, &mut page.hits)?;
    Ok(page)
}

/// The execution in a row of [`Conditions::page`].
fn hit(row: &Row) -> Result<TeamHit> {
    let invalid = |what: &str| TeamError::Answer(format!("a record has no {what}"));
    let entry = row.text(5).ok_or_else(|| invalid("text"))?;
    let changed = !is_linked(entry, row.int(1) == Some(1), row.bytes(7), row.bytes(6));
    let record: Value = serde_json::from_str(entry).map_err(|_| invalid("JSON"))?;
    let columns = record.get("columns").unwrap_or(&Value::Null);
    let is_intent = row.text(4) == Some("intents");
    let plan_id = row.owned(3);
    let row_of = execution(columns, plan_id, is_intent).ok_or_else(|| invalid("execution"))?;
    let listed = ListedExecution { row: row_of, changed };
    let hit =
        SearchHit { listed, found_in: String::new(), excerpt: String::new(), marks: Vec::new() };
    Ok(TeamHit { hit, origin: row.owned(0) })
}

/// Whether the hash of a record is that of its text and of the hash before.
pub(super) fn is_linked(
    entry: &str,
    is_first: bool,
    previous: Option<&[u8]>,
    hash: Option<&[u8]>,
) -> bool {
    let previous = match is_first {
        true => Some(genesis()),
        false => previous.and_then(|it| it.try_into().ok()).map(Digest::from_bytes),
    };
    previous.is_some_and(|previous| {
        hash == Some(chain_link(&previous, entry.as_bytes()).as_bytes().as_slice())
    })
}

/// The execution or intent with these columns.
pub(super) fn execution(columns: &Value, plan_id: String, is_intent: bool) -> Option<Execution> {
    let text = |name: &str| columns.get(name)?.as_str().map(str::to_owned);
    let number = |name: &str| columns.get(name)?.as_i64();
    let id = |name: &str| -> Option<Uuid> { columns.get(name)?.as_str()?.parse().ok() };
    let word = |text: &str| -> Option<Outcome> { serde_json::from_value(text.into()).ok() };
    let known = match is_intent {
        true => Known::Interrupted,
        false => Known::Outcome(word(&text("outcome")?)?),
    };
    Some(Execution {
        execution_id: id("id")?,
        run_id: id("run_id")?,
        plan_id,
        step_id: text("step_id")?,
        step_index: usize::try_from(number("step_index")?).ok()?,
        tool_name: text("tool_name")?,
        about: text("about")?,
        timestamp_ms: number("timestamp")?,
        duration_ms: number("duration_ms"),
        known,
        risk: text("risk_level").and_then(|it| serde_json::from_value::<RiskLevel>(it.into()).ok()),
        walls: text("walls_json").and_then(|it| serde_json::from_str(&it).ok()),
        exit_code: number("exit_code").and_then(|it| i32::try_from(it).ok()),
        error_code: text("error_code").as_deref().and_then(Code::from_text),
        error_message: text("error_message"),
    })
}

/// Adds to each hit where its words are first.
fn add_excerpts(
    connection: &mut Connection,
    conditions: &Conditions,
    hits: &mut [TeamHit],
) -> Result<()> {
    let patterns = Patterns::of(&conditions.terms);
    let found: Vec<_> =
        conditions.terms.iter().filter(|it| !it.is_excluded).map(expression).collect();
    if found.is_empty() || hits.is_empty() {
        return Ok(());
    }
    let any = found.iter().map(|it| format!("({it})")).collect::<Vec<_>>().join(" | ");
    let ids: Vec<_> = hits.iter().map(|it| it.hit.listed.row.execution_id.to_string()).collect();
    let places: HashMap<_, _> = hits
        .iter()
        .zip(&ids)
        .enumerate()
        .map(|(n, (it, id))| ((it.origin.clone(), id.clone()), n))
        .collect();
    let sql = "SELECT t.origin, t.execution_id, t.field, t.text FROM countersign.texts AS t
               WHERE t.execution_id = ANY ($1::text[]) AND t.words @@ to_tsquery('simple', $2::text)";
    let wanted =
        [Param::Texts(ids.iter().map(|it| Some(it.as_str())).collect()), Param::Text(Some(&any))];
    let mut ranks = vec![usize::MAX; hits.len()];
    connection.rows::<TeamError>(sql, &wanted, |row| {
        let place = places.get(&(row.owned(0), row.owned(1))).copied();
        let field = row.owned(2);
        let rank = SEARCHED_FIELDS.iter().position(|it| *it == field);
        let rank = rank.unwrap_or(SEARCHED_FIELDS.len());
        let Some(place) = place else { return Ok(()) };
        if let (Some(best), Some(found)) = (ranks.get_mut(place), hits.get_mut(place))
            && rank < *best
            && let Some((excerpt, marks)) = row.text(3).and_then(|text| patterns.excerpt(text))
        {
            *best = rank;
            let hit = &mut found.hit;
            (hit.found_in, hit.excerpt, hit.marks) = (field, excerpt, marks);
        }
        Ok(())
    })?;
    Ok(())
}
