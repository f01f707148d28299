//! What a search looks for, as statements of the server's SQL. No value is ever part of their text.

use super::rows::Param;
use crate::evidence::{Term, search_terms};
use crate::run::SearchQuery;

/// The place of a hit among all: its time in Unix milliseconds, its origin and its number there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamPlace {
    pub(super) timestamp_ms: i64,
    pub(super) origin: String,
    pub(super) sequence: i64,
}

/// How many hits are counted.
pub(super) const COUNTED: i64 = 10_000;

/// Every execution, and every step that was about to have an effect and has no execution.
const STEPS: &str = "
    (SELECT x.origin, x.sequence, x.id, x.timestamp, x.run_id, x.tool_name, x.outcome, x.risk_level, x.host, x.error_code
     FROM countersign.executions AS x
     UNION ALL
     SELECT i.origin, i.sequence, i.id, i.timestamp, i.run_id, i.tool_name, 'interrupted', i.risk_level, i.host, NULL
     FROM countersign.intents AS i WHERE NOT EXISTS
        (SELECT FROM countersign.executions AS x WHERE x.id = i.id AND x.origin = i.origin)) AS s";
const NEWEST_FIRST: &str = "s.timestamp DESC, s.origin DESC, s.sequence DESC";

/// What is searched, as conditions about a step `s` and their values.
#[derive(Clone)]
pub(super) struct Conditions {
    conditions: Vec<String>,
    values: Vec<Owned>,
    pub(super) terms: Vec<Term>,
}

#[derive(Clone)]
enum Owned {
    Text(String),
    Int(i64),
}

impl Conditions {
    pub(super) fn of(query: &SearchQuery, origin: Option<&str>) -> Self {
        let SearchQuery { words, run_id, loop_id, plan_id, tool, outcome, risk, host, .. } = query;
        let SearchQuery { path, wrote, code, by, since_ms, until_ms, .. } = query;
        let mut all =
            Self { conditions: Vec::new(), values: Vec::new(), terms: search_terms(words) };
        if all.terms.is_empty() && !words.trim().is_empty() {
            // Signs alone occur nowhere as words.
            all.conditions.push("false".to_owned());
        }
        for term in all.terms.clone() {
            let not = if term.is_excluded { "NOT " } else { "" };
            all.add(Owned::Text(expression(&term)), |value| {
                format!(
                    "{not}EXISTS (SELECT FROM countersign.texts AS t WHERE t.origin = s.origin
                     AND t.execution_id = s.id AND t.words @@ to_tsquery('simple', {value}::text))"
                )
            });
        }
        let text = |text: &Option<String>| text.clone().map(Owned::Text);
        for (column, value) in [
            ("s.tool_name", text(tool)),
            ("s.outcome", text(outcome)),
            ("s.risk_level", text(risk)),
            ("s.host", text(host)),
        ] {
            if let Some(value) = value {
                all.add(value, |value| same(column, value));
            }
        }
        if let Some(id) = run_id {
            all.add(Owned::Text(id.to_string()), |value| format!("s.run_id = {value}::text"));
        }
        if let Some(value) = text(plan_id) {
            all.add(value, |value| {
                format!(
                    "(s.origin, s.run_id) IN (SELECT r.origin, r.id FROM countersign.runs AS r
                     WHERE {})",
                    same_by_index("r.plan_id", value)
                )
            });
        }
        if let Some(value) = text(code) {
            all.add(value, |value| {
                format!(
                    "((s.origin, s.id) IN (SELECT c.origin, c.execution_id FROM countersign.codes AS c WHERE {})
                      OR {})",
                    same_by_index("c.code", value),
                    same("s.error_code", value)
                )
            });
        }
        if let Some(id) = loop_id {
            all.add(Owned::Text(id.to_string()), |value| {
                format!(
                    "(s.origin, s.run_id) IN (SELECT r.origin, r.id FROM countersign.runs AS r
                     JOIN countersign.attempts AS t ON t.origin = r.origin AND t.id = r.attempt_id
                     WHERE t.loop_id = {value}::text)"
                )
            });
        }
        if let Some(value) = text(by) {
            // Later decisions are comparisons with the disk.
            all.add(value, |value| {
                format!(
                    "((s.origin, s.run_id) IN (SELECT r.origin, r.id FROM countersign.runs AS r
                     JOIN countersign.authorizations AS a ON a.origin = r.origin AND a.id = r.authorization_id
                     WHERE {} OR {})
                     OR (s.origin, s.id) IN (SELECT d.origin, d.execution_id FROM countersign.decisions AS d
                     WHERE ({} OR {}) AND d.decision <> 'reconcile'))",
                    same("a.method", value),
                    same("a.user_name", value),
                    same("d.decided_by", value),
                    same("d.user_name", value)
                )
            });
        }
        for (path, wrote) in [(path, ""), (wrote, "f.wrote AND ")] {
            let Some(path) = path else { continue };
            let pattern = if path == "*" { "%".to_owned() } else { format!("%{}%", literal(path)) };
            all.add(Owned::Text(pattern), |value| {
                format!(
                    "(s.origin, s.id) IN (SELECT f.origin, f.execution_id FROM countersign.files AS f
                     WHERE {wrote}f.path ILIKE {value}::text)"
                )
            });
        }
        for (time, sign) in [(since_ms, ">="), (until_ms, "<=")] {
            if let Some(time) = time {
                all.add(Owned::Int(*time), |value| format!("s.timestamp {sign} {value}::bigint"));
            }
        }
        if let Some(origin) = origin {
            all.add(Owned::Text(whole_origin(origin)), |value| format!("s.origin = {value}::text"));
        }
        all
    }

    /// These conditions, for what comes after this place.
    pub(super) fn after(&self, place: Option<&TeamPlace>) -> Self {
        let mut all = self.clone();
        if let Some(TeamPlace { timestamp_ms, origin, sequence }) = place {
            let first = all.values.len() + 1;
            let (second, third) = (first + 1, first + 2);
            all.values.extend([
                Owned::Int(*timestamp_ms),
                Owned::Text(origin.clone()),
                Owned::Int(*sequence),
            ]);
            all.conditions.push(format!(
                "(s.timestamp, s.origin, s.sequence) < (${first}::bigint, ${second}::text, ${third}::bigint)"
            ));
        }
        all
    }

    fn add(&mut self, value: Owned, condition: impl FnOnce(&str) -> String) {
        self.values.push(value);
        self.conditions.push(condition(&format!("${}", self.values.len())));
    }

    pub(super) fn params(&self) -> Vec<Param<'_>> {
        fn param(value: &Owned) -> Param<'_> {
            match value {
                Owned::Text(text) => Param::Text(Some(text)),
                Owned::Int(number) => Param::Int(*number),
            }
        }
        self.values.iter().map(param).collect()
    }

    fn all(&self) -> String {
        if self.conditions.is_empty() { "true".to_owned() } else { self.conditions.join(" AND ") }
    }

    /// The statement for the newest hits, with their records and the hash before.
    pub(super) fn page(&self, limit: usize) -> String {
        let all = self.all();
        format!(
            "SELECT s.origin, s.sequence, s.outcome, r.plan_id, l.table_name, l.entry, l.hash, p.hash, s.timestamp
             FROM (SELECT * FROM {STEPS} WHERE {all} ORDER BY {NEWEST_FIRST} LIMIT {limit}) AS s
             JOIN countersign.ledger AS l ON l.origin = s.origin AND l.sequence = s.sequence
             LEFT JOIN countersign.ledger AS p ON p.origin = s.origin AND p.sequence = s.sequence - 1
             LEFT JOIN LATERAL (SELECT r.plan_id FROM countersign.runs AS r
                                WHERE r.id = s.run_id AND r.origin = s.origin LIMIT 1) AS r ON true
             ORDER BY {NEWEST_FIRST}"
        )
    }

    pub(super) fn count(&self) -> String {
        let (all, limit) = (self.all(), COUNTED + 1);
        format!("SELECT count(*) FROM (SELECT FROM {STEPS} WHERE {all} LIMIT {limit}) AS counted")
    }
}

/// The name of an evidence, of which the id may be given alone.
pub(super) fn whole_origin(origin: &str) -> String {
    match origin.contains('/') {
        true => origin.to_owned(),
        false => format!("countersign/evidence/{origin}"),
    }
}

/// Whether a column has this value, without regard to the case of ASCII letters, as filters of a computer's evidence have it.
fn same(column: &str, value: &str) -> String {
    format!("lower({column} COLLATE \"C\") = lower({value}::text COLLATE \"C\")")
}

/// As [`same`], for a column whose index has the beginning of each value.
fn same_by_index(column: &str, value: &str) -> String {
    let begins = format!("countersign.folded({column}) = countersign.folded({value}::text)");
    format!("({begins} AND {})", same(column, value))
}

/// The term in PostgreSQL's language for searches. Its words have letters and digits alone, so that nothing has a meaning
/// there.
pub(super) fn expression(term: &Term) -> String {
    let words: Vec<_> = term.words().map(|word| format!("'{word}'")).collect();
    format!("{}{}", words.join(" <-> "), if term.is_prefix { ":*" } else { "" })
}

/// A text in a pattern, in which no sign has a meaning.
fn literal(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
