//! Reads the next rows that are indexed. The rows of an execution are written directly after it and have the numbers of
//! their links, so that a range of numbers contains all rows of some executions, and each table is read once for many.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::facts::{Fact, FileFact, any, separator};
use super::text::{artifact_text, flat_json, searchable};
use crate::evidence::error::Result;
use crate::evidence::rows::{count, digest, json, optional, unreadable, written_with};
use crate::evidence::runs;
use crate::evidence::source::Source;
use crate::run::{ArtifactRecord, EdgeType, Known, RunFate, TargetKind};

/// An execution, or an intent without execution, with everything that is indexed of it.
pub(super) struct Document {
    /// The number of its row.
    pub(super) row: i64,
    pub(super) is_intent: bool,
    /// The row of its intent, if that was read in an earlier batch.
    pub(super) earlier_intent: Option<i64>,
    pub(super) id: String,
    pub(super) tool: String,
    arguments_json: String,
    error_message: Option<String>,
    pub(super) timestamp_ms: i64,
    pub(super) run_id: String,
    pub(super) outcome: Option<String>,
    pub(super) risk: String,
    pub(super) host: Option<String>,
    artifacts: Vec<Artifact>,
    pub(super) codes: BTreeSet<String>,
    /// The paths of its files, each with whether it was written.
    pub(super) paths: BTreeMap<String, bool>,
    /// The persons and places of the decisions about it.
    by: BTreeSet<String>,
}

/// An artifact that is indexed.
enum Artifact {
    Text(String),
    /// One whose text is in a blob.
    InBlob(ArtifactRecord),
}

/// What is indexed of a run with each of its executions.
pub(super) struct RunFacts {
    pub(super) plan_id: String,
    /// The user who authorized the run, or the place without one.
    pub(super) user: String,
    loop_id: Option<String>,
    by: Vec<String>,
}

/// Reads a run.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn run_facts(source: &Source<'_>, run_id: &str) -> Result<Option<RunFacts>> {
    source.first(
        "SELECT r.plan_id, a.method, a.user_name, t.loop_id FROM runs AS r
         JOIN authorizations AS a ON a.id = r.authorization_id
         LEFT JOIN attempts AS t ON t.id = r.attempt_id WHERE r.id = ?1",
        [run_id],
        |row| {
            let (method, user): (String, Option<String>) = (row.get(1)?, row.get(2)?);
            Ok(RunFacts {
                plan_id: row.get(0)?,
                user: user.clone().unwrap_or_else(|| method.clone()),
                loop_id: row.get(3)?,
                by: std::iter::once(method).chain(user).collect(),
            })
        },
    )
}

impl Document {
    /// All words of the execution: its texts in the order of [`FIELDS`](super::FIELDS), and its facts.
    ///
    /// # Errors
    /// When the evidence cannot be read.
    pub(super) fn words(
        &self,
        source: &Source<'_>,
        run: &RunFacts,
        outcome: &str,
    ) -> Result<String> {
        let separator = format!("\n{}\n", separator());
        let mut text = searchable(&self.tool).into_owned();
        let mut add = |more: &str| {
            if !more.is_empty() {
                text.push_str(&separator);
                text.push_str(more);
            }
        };
        add(&searchable(&flat_json(&self.arguments_json).unwrap_or_default()));
        add(&searchable(self.error_message.as_deref().unwrap_or_default()));
        for artifact in &self.artifacts {
            match artifact {
                Artifact::Text(text) => add(&searchable(text)),
                Artifact::InBlob(record) => add(&searchable(&artifact_text(source, record)?)),
            }
        }
        add(&self.facts(run, outcome));
        Ok(text)
    }

    /// The facts, separated by spaces.
    fn facts(&self, run: &RunFacts, outcome: &str) -> String {
        let mut facts = vec![
            any(),
            Fact::Outcome.word(outcome),
            Fact::Tool.word(&self.tool),
            Fact::Risk.word(&self.risk),
            Fact::Plan.word(&run.plan_id),
            Fact::Run.word(&self.run_id),
        ];
        facts.extend(self.host.as_ref().map(|host| Fact::Host.word(host)));
        facts.extend(run.loop_id.as_ref().map(|id| Fact::Loop.word(id)));
        let by: BTreeSet<_> = run.by.iter().chain(&self.by).map(|by| Fact::By.word(by)).collect();
        facts.extend(by);
        let codes: BTreeSet<_> = self.codes.iter().map(|code| Fact::Code.word(code)).collect();
        facts.extend(codes);
        for kind in [FileFact::Touched, FileFact::Wrote] {
            let is_of_kind = |wrote: bool| kind == FileFact::Touched || wrote;
            let mut paths = self.paths.iter().filter(|(_, wrote)| is_of_kind(**wrote)).peekable();
            facts.extend(paths.peek().map(|_| kind.any()));
            for words in paths.map(|(path, _)| kind.words(path)).filter(|it| !it.is_empty()) {
                facts.extend([words, separator()]);
            }
        }
        facts.join(" ")
    }
}

/// The number of the last row that belongs to the next `limit` executions and intents after row `from`, at least.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn end_of_batch(source: &Source<'_>, from: i64, head: i64, limit: i64) -> Result<i64> {
    let mut end = head;
    for table in ["executions", "intents"] {
        // A decision about a step is written before the step, and belongs to its batch.
        let sql = format!(
            "SELECT x.row, (SELECT min(d.id) FROM decisions AS d
                            WHERE d.execution_id = x.id AND d.id > ?1 + 1 AND d.id < x.row)
             FROM {table} AS x WHERE x.row > ?1 ORDER BY x.row LIMIT 1 OFFSET ?2"
        );
        let next: Option<(i64, Option<i64>)> =
            source.first(&sql, [from, limit], |row| Ok(row.try_into()?))?;
        end = end.min(next.map_or(head, |(row, decision)| decision.unwrap_or(row) - 1));
    }
    Ok(end)
}

/// The executions and intents in this range of rows, in the order of recording. An intent whose execution is in it as
/// well is left out. `open_before` has the rows of the intents before the range that have no execution before it, by id.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn read(
    source: &Source<'_>,
    from: i64,
    end: i64,
    open_before: &HashMap<String, i64>,
) -> Result<Vec<Document>> {
    let mut documents = rows(source, "executions", from, end)?;
    let executions: HashMap<String, usize> =
        documents.iter().enumerate().map(|(index, it)| (it.id.clone(), index)).collect();
    let (with_execution, mut open): (Vec<_>, Vec<_>) = rows(source, "intents", from, end)?
        .into_iter()
        .partition(|intent| executions.contains_key(&intent.id));
    for document in &mut documents {
        if let Some(intent_row) = open_before.get(&document.id) {
            document.earlier_intent = Some(*intent_row);
            add_earlier(source, document)?;
        }
    }
    let places: BTreeMap<i64, String> = with_execution
        .iter()
        .chain(&open)
        .chain(&documents)
        .map(|it| (it.row, it.id.clone()))
        .collect();
    set_outcomes(source, &mut open)?;
    documents.extend(open);
    documents.sort_by_key(|it| it.row);
    let mut batch = Batch {
        index: documents.iter().enumerate().map(|(index, it)| (it.id.clone(), index)).collect(),
        documents,
        places,
    };
    batch.add_artifacts(source, from, end)?;
    batch.add_files(source, from, end)?;
    batch.add_others(source, from, end)?;
    Ok(batch.documents)
}

/// Sets the outcomes of intents without execution: running or interrupted.
fn set_outcomes(source: &Source<'_>, open: &mut [Document]) -> Result<()> {
    let mut of_runs: HashMap<String, Known> = HashMap::new();
    for document in open {
        let known = match of_runs.get(&document.run_id) {
            Some(known) => *known,
            None => {
                let run_id = document.run_id.parse().map_err(unreadable)?;
                let known = match runs::fate(source, run_id)?.0 {
                    RunFate::Active => Known::Running,
                    _ => Known::Interrupted,
                };
                of_runs.insert(document.run_id.clone(), known);
                known
            }
        };
        document.outcome = Some(known.as_str().to_owned());
    }
    Ok(())
}

/// The intent in this row; `None` if its execution was recorded.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn read_intent(source: &Source<'_>, row: i64) -> Result<Option<Document>> {
    let sql = "SELECT 1 FROM intents AS i JOIN executions AS x ON x.id = i.id WHERE i.row = ?1";
    if source.first(sql, [row], |_| Ok(()))?.is_some() {
        return Ok(None);
    }
    let end = end_of_batch(source, row - 1, source.length()?, 1)?;
    let found = read(source, row - 1, end, &HashMap::new())?.into_iter().find(|it| it.row == row);
    found.map_or(Ok(None), |mut found| add_earlier(source, &mut found).map(|()| Some(found)))
}

fn rows(source: &Source<'_>, table: &str, from: i64, end: i64) -> Result<Vec<Document>> {
    let is_intent = table == "intents";
    let columns = if is_intent { "NULL, NULL, NULL" } else { "error_message, outcome, error_code" };
    let sql = format!(
        "SELECT row, id, tool_name, arguments_json, timestamp, run_id, risk_level, host, {columns}
         FROM {table} WHERE row > ?1 AND row <= ?2 ORDER BY row"
    );
    source.all(&sql, [from, end], |row| {
        Ok(Document {
            row: row.get(0)?,
            is_intent,
            earlier_intent: None,
            id: row.get(1)?,
            tool: row.get(2)?,
            arguments_json: row.get(3)?,
            timestamp_ms: row.get(4)?,
            run_id: row.get(5)?,
            risk: row.get(6)?,
            host: row.get(7)?,
            error_message: row.get(8)?,
            outcome: row.get(9)?,
            codes: row.get::<_, Option<String>>(10)?.into_iter().collect(),
            artifacts: Vec::new(),
            paths: BTreeMap::new(),
            by: BTreeSet::new(),
        })
    })
}

/// Adds what was recorded with an earlier intent: the files that it names, and who decided.
fn add_earlier(source: &Source<'_>, document: &mut Document) -> Result<()> {
    let sql = format!(
        "SELECT f.path FROM intents AS x JOIN file_contents AS f ON {}
         WHERE x.id = ?1 AND f.execution_id = x.id",
        written_with("f.id", "intents", "x.row")
    );
    let paths = source.all(&sql, [&document.id], |row| Ok((row.get(0)?, false)))?;
    document.paths.extend(paths);
    let sql = "SELECT decided_by, user_name FROM decisions WHERE execution_id = ?1 AND id < ?2";
    source.all(sql, (&document.id, document.row), |row| {
        document.by.insert(row.get(0)?);
        document.by.extend(row.get::<_, Option<String>>(1)?);
        Ok(())
    })?;
    Ok(())
}

/// Documents to which the rows of other tables are added.
struct Batch {
    documents: Vec<Document>,
    /// The documents by the id of their execution.
    index: HashMap<String, usize>,
    /// The ids of the executions and intents by the numbers of their rows.
    places: BTreeMap<i64, String>,
}

impl Batch {
    fn document(&mut self, execution_id: &str) -> Option<&mut Document> {
        self.documents.get_mut(*self.index.get(execution_id)?)
    }

    /// The document of an execution, if row number `row` was written directly after it.
    fn written_before(&mut self, row: i64, execution_id: &str) -> Option<&mut Document> {
        let (_, written) = self.places.range(..row).next_back()?;
        if written != execution_id {
            return None;
        }
        self.document(execution_id)
    }

    fn add_artifacts(&mut self, source: &Source<'_>, from: i64, end: i64) -> Result<()> {
        let sql = "SELECT execution_id, artifact_type, content_json, bytes, blob
                   FROM execution_artifacts WHERE id > ?1 AND id <= ?2 ORDER BY id";
        source.all(sql, [from, end], |row| {
            let Some(document) = self.document(row.get_ref(0)?.as_str().unwrap_or_default()) else {
                return Ok(());
            };
            let content = row.get_ref(2)?.as_str().map_err(unreadable)?;
            document.artifacts.extend(match optional(row, 4, digest)? {
                _ if !super::FIELDS.contains(&row.get_ref(1)?.as_str().unwrap_or_default()) => None,
                None => Some(Artifact::Text(flat_json(content).unwrap_or_default())),
                blob => Some(Artifact::InBlob(ArtifactRecord {
                    artifact_type: row.get(1)?,
                    content: json(row, 2)?,
                    bytes: count(row, 3)?,
                    blob,
                })),
            });
            Ok(())
        })?;
        Ok(())
    }

    fn add_files(&mut self, source: &Source<'_>, from: i64, end: i64) -> Result<()> {
        let sql = "SELECT id, execution_id, target_kind, target, edge_type FROM edges
                   WHERE id > ?1 AND id <= ?2 ORDER BY id";
        source.all(sql, [from, end], |row| {
            let (id, execution_id): (i64, String) = (row.get(0)?, row.get(1)?);
            let Some(document) = self.written_before(id, &execution_id) else { return Ok(()) };
            let (kind, target): (String, String) = (row.get(2)?, row.get(3)?);
            if kind == TargetKind::File.as_str() {
                let wrote = row.get::<_, String>(4)? == EdgeType::Affected.as_str();
                *document.paths.entry(target).or_default() |= wrote;
            } else if kind == TargetKind::Diagnostic.as_str() {
                document.codes.insert(target);
            }
            Ok(())
        })?;
        let sql = "SELECT id, execution_id, path FROM file_contents
                   WHERE id > ?1 AND id <= ?2 ORDER BY id";
        source.all(sql, [from, end], |row| {
            let (id, execution_id): (i64, String) = (row.get(0)?, row.get(1)?);
            if let Some(document) = self.written_before(id, &execution_id) {
                document.paths.entry(row.get(2)?).or_default();
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Adds the codes of diagnostics, and who decided.
    fn add_others(&mut self, source: &Source<'_>, from: i64, end: i64) -> Result<()> {
        let sql = "SELECT execution_id, code FROM diagnostics
                   WHERE id > ?1 AND id <= ?2 AND code IS NOT NULL";
        source.all(sql, [from, end], |row| {
            if let Some(document) = self.document(row.get_ref(0)?.as_str().unwrap_or_default()) {
                document.codes.insert(row.get(1)?);
            }
            Ok(())
        })?;
        let sql = "SELECT execution_id, decided_by, user_name, id FROM decisions
                   WHERE id > ?1 AND id <= ?2 AND execution_id IS NOT NULL";
        source.all(sql, [from, end], |row| {
            let id: i64 = row.get(3)?;
            // Later decisions are comparisons with the disk.
            if let Some(document) = self.document(row.get_ref(0)?.as_str().unwrap_or_default())
                && id < document.row
            {
                document.by.insert(row.get(1)?);
                document.by.extend(row.get::<_, Option<String>>(2)?);
            }
            Ok(())
        })?;
        Ok(())
    }
}
