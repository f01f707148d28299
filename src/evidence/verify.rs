//! Verifies the evidence (SPEC §8): no row was changed, removed or added, the schema is that of the format, and the
//! database passes SQLite's integrity check.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, Rows, Statement};
use serde_json::Value;

use super::error::Result;
use super::head_check::check_head;
use super::heads::KeptHeads;
use super::index::Index;
use super::ledger::EntryWriter;
use super::migrations::PURGEABLE;
use super::purge::forged_purge;
use super::purge::ranges::PurgedRows;
use super::rows::{find, has_row, value};
use super::vault::Vault;
use super::{UserFolders, ledger, schema, schema_check};
use crate::plan::Digest;
use crate::run::{HeadReport, VerifyReport};

/// A program in Python that does the same as [`verify`] without this one, and also reads case files (SPEC §14).
pub const VERIFIER: &str = include_str!("../../assets/verifier/verify.py");

/// After how many rows the progress is told.
const TELL_EVERY: u64 = 4_096;

/// What is told of a verification while it goes on.
pub(super) struct Observer<'o> {
    /// Gets the number of verified rows and of all, many times a second.
    pub(super) progress: &'o mut dyn FnMut(u64, u64),
    /// Gets each verified link, in their order.
    pub(super) link: &'o mut dyn FnMut(&Digest),
}

/// Recomputes the chain of the evidence in `dir`, and compares the schema. The report names the first difference.
///
/// `known_head` is a head that was copied earlier. If it is not a link of the chain, the chain was truncated or
/// rewritten. Without a known head, a chain that was recomputed completely is not detected. A missing or empty database
/// is sound, unless a head is known.
///
/// # Errors
/// When the database cannot be read at all. Tampering is not an error but a difference in the report.
pub fn verify(dir: &Path, known_head: Option<&Digest>) -> Result<VerifyReport> {
    let mut silent = Observer { progress: &mut |_, _| {}, link: &mut |_| {} };
    report(dir, None, known_head, &mut silent)
}

/// Verifies a database that is alone in its file; `None` if it is empty.
///
/// # Errors
/// As [`verify`].
pub(super) fn verify_file(database: &Path) -> Result<Option<VerifyReport>> {
    let Some((conn, format)) = schema::open_unchecked(database)? else { return Ok(None) };
    let tx = conn.unchecked_transaction()?;
    let mut silent = Observer { progress: &mut |_, _| {}, link: &mut |_| {} };
    report_of(&tx, format, None, None, &mut silent).map(Some)
}

/// As [`verify`], and compares the database with the head in the user's folders. Deletes the search index if it is
/// damaged or was not written with this user's key.
///
/// # Errors
/// As [`verify`], or when the key cannot be used.
pub fn verify_with_kept_head(
    dir: &Path,
    folders: impl Into<UserFolders>,
    known_head: Option<&Digest>,
) -> Result<VerifyReport> {
    verify_telling(dir, folders, known_head, &mut |_, _| {})
}

/// As [`verify_with_kept_head`]. `progress` gets the number of verified rows and of all, many times a second.
///
/// # Errors
/// As [`verify_with_kept_head`].
pub fn verify_telling(
    dir: &Path,
    folders: impl Into<UserFolders>,
    known_head: Option<&Digest>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<VerifyReport> {
    verify_observed(dir, folders.into(), known_head, &mut Observer { progress, link: &mut |_| {} })
}

/// As [`verify_with_kept_head`], with an observer.
///
/// # Errors
/// As [`verify_with_kept_head`].
pub(super) fn verify_observed(
    dir: &Path,
    folders: UserFolders,
    known_head: Option<&Digest>,
    observer: &mut Observer<'_>,
) -> Result<VerifyReport> {
    let vault = Vault::open(&folders.key)?.map(Arc::new);
    let kept = KeptHeads::read(&folders, vault.as_deref());
    let mut report = report(dir, Some(&kept), known_head, observer)?;
    if report.ok
        && let Some(vault) = vault.as_deref()
        && let Some((conn, format)) = schema::open_unchecked(&schema::database_path(dir))?
    {
        report.first_bad = forged_purge(&conn, format, vault)?;
        report.ok = report.first_bad.is_none();
    }
    if !Index::is_sound(dir, vault.as_ref()) {
        // The next search rebuilds it from the rows.
        Index::discard(dir);
    }
    Ok(report)
}

fn report(
    dir: &Path,
    kept: Option<&KeptHeads>,
    known_head: Option<&Digest>,
    observer: &mut Observer<'_>,
) -> Result<VerifyReport> {
    let opened = schema::open_unchecked(&schema::database_path(dir))?;
    let Some((conn, format)) = opened else {
        let is_expected = known_head.is_none_or(|head| *head == ledger::GENESIS);
        let first_bad =
            (!is_expected).then(|| "the evidence is empty; the known head is gone".to_owned());
        let kept = kept.map(|kept| check_head(None, dir, kept)).transpose()?;
        return Ok(concluded((0, 0), ledger::GENESIS, first_bad, Vec::new(), kept));
    };
    // One snapshot, so that rows that a run inserts meanwhile are no differences.
    let tx = conn.unchecked_transaction()?;
    report_of(&tx, format, kept.map(|kept| (kept, dir)), known_head, observer)
}

/// The report of an open database in a transaction.
fn report_of(
    tx: &Connection,
    format: i64,
    kept: Option<(&KeptHeads, &Path)>,
    known_head: Option<&Digest>,
    observer: &mut Observer<'_>,
) -> Result<VerifyReport> {
    let schema = schema_check::differences(tx, format)?;
    let kept = match kept {
        // Skipped if the schema differs, because views may have replaced tables.
        Some((kept, dir)) if schema.is_empty() => Some(check_head(Some((tx, format)), dir, kept)?),
        _ => None,
    };
    let intact = schema_check::intact_tables(tx, format)?;
    let seen_known = known_head.is_none_or(|known| *known == ledger::GENESIS);
    let purged = match intact.iter().any(|table| table == "purged_rows") {
        true => PurgedRows::read(tx)?,
        false => PurgedRows::default(),
    };
    let head = ledger::GENESIS;
    let mut verification = Verification { rows: 0, head, known_head, seen_known, purged };
    let first_bad = match verification.first_bad(tx, &intact, observer)? {
        None => damage(tx)?,
        difference => difference,
    };
    let rows = (verification.rows, verification.purged.rows);
    Ok(concluded(rows, verification.head, first_bad, schema, kept))
}

fn concluded(
    (rows, purged): (u64, u64),
    head: Digest,
    first_bad: Option<String>,
    schema: Vec<String>,
    kept: Option<HeadReport>,
) -> VerifyReport {
    let difference = kept.as_ref().and_then(|kept| kept.difference.clone());
    let first_bad = first_bad.or_else(|| schema.first().cloned()).or(difference);
    VerifyReport { ok: first_bad.is_none(), rows, purged, head, first_bad, schema, kept }
}

/// The first problem that SQLite's integrity check finds. A damaged index could hide rows from queries.
fn damage(conn: &Connection) -> Result<Option<String>> {
    let found: String = value(conn, "PRAGMA integrity_check(1)", [])?;
    Ok((found != "ok").then(|| {
        format!("the database is damaged: {}", found.lines().collect::<Vec<_>>().join(" "))
    }))
}

/// The progress of a verification.
struct Verification<'k> {
    /// The number of verified rows.
    rows: u64,
    /// The link of the last verified row.
    head: Digest,
    known_head: Option<&'k Digest>,
    /// Whether a verified link is the known head, or no head is known.
    seen_known: bool,
    /// The rows that may be missing, because a person purged them.
    purged: PurgedRows,
}

impl Verification<'_> {
    /// The first row or link that differs from the chain.
    fn first_bad(
        &mut self,
        conn: &Connection,
        intact: &[String],
        observer: &mut Observer<'_>,
    ) -> Result<Option<String>> {
        let mut tables = tables(conn, intact)?;
        if tables.remove("ledger").is_none() {
            return Ok(Some("the ledger is missing".to_owned()));
        }
        let mut statements = Vec::new();
        for table in tables.keys() {
            let sql = format!("SELECT rowid, * FROM \"{table}\" NOT INDEXED ORDER BY rowid");
            statements.push((table.clone(), conn.prepare(&sql)?));
        }
        let mut readers = HashMap::new();
        for (table, statement) in &mut statements {
            readers.insert(table.clone(), TableRows::new(table, statement)?);
        }
        let mut links =
            conn.prepare("SELECT seq, table_name, digest, entry FROM ledger ORDER BY seq")?;
        let mut links = links.query([])?;
        let all: i64 = value(conn, "SELECT coalesce(max(seq), 0) FROM ledger", [])?;
        let mut expected_seq = 1;
        while let Some(row) = links.next()? {
            let (seq, stored): (i64, Option<String>) = (row.get(0)?, row.get(3)?);
            let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
            let (table, digest) = (text(1)?, text(2)?);
            if seq != expected_seq {
                return Ok(Some(format!("link {expected_seq} of the ledger is missing")));
            }
            let name = || format!("row {seq} of {table}");
            let Some(reader) = readers.get_mut(table) else {
                return Ok(Some(format!("{}: there is no such table", name())));
            };
            let is_purged_row = self.purged.has(seq) && PURGEABLE.contains(&table);
            let head = match (reader.entry_at(seq)?, stored) {
                (Some(_), _) if is_purged_row => {
                    return Ok(Some(format!("{} was purged, and is there", name())));
                }
                (None, _) if is_purged_row => {
                    if let Some(difference) = self.purged.take(seq, table, digest) {
                        return Ok(Some(difference));
                    }
                    // The digest of its range covers this link.
                    digest.parse().ok()
                }
                (None, Some(stored)) if is_purged(conn, table, &stored)? => {
                    Some(ledger::link(&self.head, &stored))
                }
                (None, _) => return Ok(Some(format!("{} is missing", name()))),
                (Some(entry), stored) => {
                    if stored.is_some_and(|stored| stored.as_bytes() != entry) {
                        return Ok(Some(format!("{} is not what was written", name())));
                    }
                    if let Some(count) = tables.get_mut(table) {
                        *count -= 1;
                    }
                    Some(ledger::link(&self.head, entry))
                }
            };
            let Some(head) = head.filter(|head| head.is_hex(digest)) else {
                return Ok(Some(format!("{} is not what was written", name())));
            };
            (observer.link)(&head);
            self.head = head;
            self.seen_known |= self.known_head == Some(&self.head);
            self.rows += 1;
            expected_seq += 1;
            if self.rows.is_multiple_of(TELL_EVERY) {
                (observer.progress)(self.rows, all.unsigned_abs());
            }
        }
        if let Some(difference) = self.purged.unfinished() {
            return Ok(Some(difference));
        }
        for (table, unaccounted) in &tables {
            if *unaccounted != 0 {
                return Ok(Some(additional_row(conn, table)?));
            }
        }
        Ok((!self.seen_known).then(|| {
            format!(
                "the known head is not in the chain of {} links: it was truncated or rewritten",
                self.rows
            )
        }))
    }
}

/// The rows of a table, read in the order of their numbers.
struct TableRows<'s> {
    rows: Rows<'s>,
    writer: EntryWriter,
    /// The number and the entry of the row that was read last, if it is not behind.
    next: Option<i64>,
    entry: Vec<u8>,
}

impl<'s> TableRows<'s> {
    /// `statement` selects the number and all columns.
    fn new(table: &str, statement: &'s mut Statement<'_>) -> Result<Self> {
        let names: Vec<&str> = statement.column_names().skip(1).collect();
        let writer = EntryWriter::new(table, &names, 1);
        let rows = statement.query([])?;
        let mut table = Self { rows, writer, next: None, entry: Vec::new() };
        table.read()?;
        Ok(table)
    }

    fn read(&mut self) -> Result<()> {
        self.next = None;
        if let Some(row) = self.rows.next()? {
            self.next = Some(row.get(0)?);
            self.writer.write(row, &mut self.entry)?;
        }
        Ok(())
    }

    /// The entry of the row with this number, if it exists. Numbers must increase.
    fn entry_at(&mut self, seq: i64) -> Result<Option<&[u8]>> {
        while self.next.is_some_and(|next| next < seq) {
            self.read()?;
        }
        Ok((self.next == Some(seq)).then_some(&*self.entry))
    }
}

/// The number of rows of each table whose definition is intact. Other tables are reported with the schema. They are not
/// read, because a view in place of a table may return rows without end.
fn tables(conn: &Connection, intact: &[String]) -> Result<BTreeMap<String, i64>> {
    let mut tables = BTreeMap::new();
    for name in intact {
        let sql = format!("SELECT count(*) FROM \"{name}\" NOT INDEXED");
        tables.insert(name.clone(), value(conn, &sql, [])?);
    }
    Ok(tables)
}

/// Whether the row of this entry may be absent: it is a part of a content, and the purge of that content is recorded, as
/// versions before format 5 did.
fn is_purged(conn: &Connection, table: &str, entry: &str) -> Result<bool> {
    let entry: Value = serde_json::from_str(entry).unwrap_or_default();
    // The chain covers the table in the entry and not the one beside it.
    if table != "blobs" || entry.get("table").and_then(Value::as_str) != Some(table) {
        return Ok(false);
    }
    let digest = entry.pointer("/columns/digest").and_then(Value::as_str).unwrap_or_default();
    has_row(conn, "purges", "digest", digest)
}

/// Names the first row of a table that is not in the ledger.
fn additional_row(conn: &Connection, table: &str) -> Result<String> {
    let sql = format!(
        "SELECT rowid FROM \"{table}\" WHERE rowid NOT IN
         (SELECT seq FROM ledger WHERE table_name = ?1) ORDER BY rowid LIMIT 1"
    );
    Ok(match find::<i64>(conn, &sql, [table], |row| Ok(row.get(0)?))? {
        Some(row_id) => format!("row {row_id} of {table} is not in the ledger"),
        None => format!("the number of rows of {table} differs from the ledger"),
    })
}
