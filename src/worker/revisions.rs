//! Revisions of plans (SPEC §13): stored as files below the evidence folder, so that they have a path and are opened,
//! reviewed and authorized like any plan.
//!
//! Beside the plan are the bytes of its base and what the person changed in them. The place of a file proves nothing: it
//! counts as a revision only if the changes, made to the base, give exactly its bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::files::{PlanFile, Unusable, read_file_bytes};
use crate::evidence::write_private;
use crate::plan::{Code, Digest, Finding, RevisedPart, Revision, Severity, ShownPlan, parse};
use crate::run::ErrorInfo;
use crate::tools::ToolError;

const FOLDER: &str = "revisions";

/// The most text of a difference that is kept for display, in bytes.
const MAX_DIFFERENCE: usize = 1 << 20;

/// A plan that a person revised, with what it was made from.
#[derive(Debug, Clone)]
pub struct Revised {
    /// The file that was revised.
    pub base: PathBuf,
    /// The plan in the file when it was revised first.
    pub plan: Arc<ShownPlan>,
    /// What was changed.
    pub revision: Revision,
    /// Every change, in the order of the steps.
    pub parts: Vec<RevisedPart>,
    /// The difference of the two files as text.
    pub difference: String,
    /// What became of the file since.
    pub state: BaseState,
}

/// What became of a file since it was revised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BaseState {
    /// It is the same.
    #[default]
    Same,
    /// It has other bytes now.
    Changed,
    /// It cannot be read any more.
    Gone,
}

/// What is stored beside a revision.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    base: PathBuf,
    base_digest: Digest,
    digest: Digest,
    revision: Revision,
}

/// The names of the files of a revision.
struct Place {
    /// The folder with all revisions.
    folder: PathBuf,
    /// Names the file that was revised, with its bytes.
    key: String,
}

impl Place {
    fn new(evidence: &Path, base: &Path, digest: Digest) -> io::Result<Self> {
        let base = std::path::absolute(base)?;
        let key = [base.as_os_str().as_encoded_bytes(), digest.hex().as_bytes()].concat();
        let folder = std::path::absolute(evidence)?.join(FOLDER);
        Ok(Self { folder, key: format!("revised-{}", Digest::of(&key).short(16)) })
    }

    /// The place to which a file belongs; `None` if it is somewhere else.
    fn of_file(evidence: &Path, file: &Path) -> Option<Self> {
        let file = std::path::absolute(file).ok()?;
        let folder = std::path::absolute(evidence).ok()?.join(FOLDER);
        let within = file.parent()?;
        let key = within.file_name()?.to_str()?.to_owned();
        (within.parent()? == folder).then_some(Self { folder, key })
    }

    fn record(&self, digest: Digest) -> PathBuf {
        self.folder.join(format!("{}.{}.json", self.key, digest.short(16)))
    }

    /// The file of the revised plan, with the name of the file that was revised.
    fn plan(&self, base: &Path) -> PathBuf {
        self.folder.join(&self.key).join(base.file_name().unwrap_or("plan.json".as_ref()))
    }

    fn base(&self, digest: Digest) -> PathBuf {
        self.folder.join(format!("{}.base", digest.hex()))
    }

    /// Deletes the base with this digest if it is that of no revision.
    fn forget_base(&self, digest: Digest) {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|it| it.path());
        let mut records = files.filter(|path| path.extension().is_some_and(|it| it == "json"));
        let is_its = |path: PathBuf| {
            let record = fs::read(path).ok().map(|bytes| serde_json::from_slice::<Record>(&bytes));
            // What cannot be read may be one of a later version.
            record.is_some_and(|it| it.is_err() || it.is_ok_and(|it| it.base_digest == digest))
        };
        if !records.any(is_its) {
            let _ = fs::remove_file(self.base(digest));
        }
    }

    /// Deletes what was stored beside earlier revisions of the same file.
    fn forget_records(&self, except: Option<&Path>) {
        let records = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let prefix = format!("{}.", self.key);
        for record in records.map(|it| it.path()) {
            let name = record.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with(&prefix) && except != Some(&record) {
                // What stays is looked at by nobody.
                let _ = fs::remove_file(&record);
            }
        }
    }
}

/// Stores a revision of the plan in `base` and returns the path of its file. An earlier revision of the same bytes of
/// this file is replaced.
pub(super) fn store(
    evidence: &Path,
    base: &Path,
    plan: &ShownPlan,
    revision: &Revision,
) -> Result<PathBuf, ToolError> {
    let bytes = revision.apply(plan)?;
    // A value may be JSON that no plan may have, for example nested too deeply. Then nothing could be shown any more.
    let parsed = parse(&bytes);
    if parsed.plan == Err(None) {
        let why = parsed.findings.into_iter().next().map(|it| it.message).unwrap_or_default();
        return Err(Unreadable { why }.into());
    }
    stored(evidence, base, plan, revision, &bytes).map_err(|error| NotStored(error).into())
}

fn stored(
    evidence: &Path,
    base: &Path,
    plan: &ShownPlan,
    revision: &Revision,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let place = Place::new(evidence, base, plan.digest)?;
    let digest = Digest::of(bytes);
    let record = Record {
        base: std::path::absolute(base)?,
        base_digest: plan.digest,
        digest,
        revision: revision.clone(),
    };
    let kept = place.base(plan.digest);
    if !fs::read(&kept).is_ok_and(|kept| kept == *plan.source) {
        write_private(&kept, &plan.source)?;
    }
    let path = place.plan(base);
    let record_path = place.record(digest);
    // In this order, a file with these bytes always has its record.
    write_private(&record_path, &serde_json::to_vec_pretty(&record)?)?;
    // Renamed when it is whole, because the window watches the file.
    let unfinished = path.with_file_name(format!(".{}.part", std::process::id()));
    write_private(&unfinished, bytes)?;
    fs::rename(&unfinished, &path)?;
    place.forget_records(Some(&record_path));
    Ok(path)
}

/// Deletes the revision of these bytes of a file, if there is one.
pub(super) fn discard_of(evidence: &Path, base: &Path, digest: Digest) {
    let Ok(place) = Place::new(evidence, base, digest) else { return };
    place.forget_records(None);
    place.forget_base(digest);
    // Nothing follows from a file that stays.
    let _ = fs::remove_file(place.plan(base));
    let _ = fs::remove_dir(place.folder.join(&place.key));
}

/// A revision as it was stored.
pub(super) struct Stored {
    bytes: Vec<u8>,
    revised: Revised,
}

/// The revision in a file; `None` if the file is somewhere else, or is no longer what was stored.
pub(super) fn find(evidence: &Path, file: &Path) -> Option<Stored> {
    let place = Place::of_file(evidence, file)?;
    let bytes = read_file_bytes(file).ok()?;
    let digest = Digest::of(&bytes);
    let record: Record = serde_json::from_slice(&fs::read(place.record(digest)).ok()?).ok()?;
    let base = read_file_bytes(&place.base(record.base_digest)).ok()?;
    let plan = parse(&base).into_shown()?;
    let is_whole = record.digest == digest
        && plan.digest == record.base_digest
        && record.revision.apply(&plan).is_ok_and(|revised| revised == bytes);
    let parts = record.revision.parts(&plan).ok().filter(|_| is_whole)?;
    let mut difference = Revision::text_difference(&base, &bytes);
    difference.truncate(difference.floor_char_boundary(MAX_DIFFERENCE));
    let revised = Revised {
        base: record.base,
        plan: Arc::new(plan),
        revision: record.revision,
        parts,
        difference,
        state: BaseState::Same,
    };
    Some(Stored { bytes, revised })
}

impl Stored {
    /// The file that was revised.
    pub(super) fn base(&self) -> &Path {
        &self.revised.base
    }

    /// The plan file in place of `base`, as that was read now, and what is known about the revision.
    pub(super) fn instead_of(self, base: Result<PlanFile, Unusable>) -> (PlanFile, Revised) {
        let Self { bytes, mut revised } = self;
        let mut findings = Vec::new();
        revised.state = match base {
            Ok(file) if Digest::of(&file.bytes) == revised.plan.digest => {
                findings = file.findings;
                BaseState::Same
            }
            Ok(_) => BaseState::Changed,
            Err(_) => BaseState::Gone,
        };
        let name = revised.base.display();
        let note = match revised.state {
            BaseState::Same => None,
            BaseState::Changed => Some(format!(
                "{name} has changed since you revised it; this plan is still made from what it was"
            )),
            BaseState::Gone => Some(format!(
                "{name}, which you revised, cannot be read any more; this plan is still made from what it was"
            )),
        };
        findings.extend(note.map(|note| Finding::new(Severity::Warning, Code::BadValue, "", note)));
        (PlanFile { bytes, format: None, findings }, revised)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("with this change the plan could not be read any more: {why}")]
struct Unreadable {
    why: String,
}

impl ErrorInfo for Unreadable {
    fn code(&self) -> Code {
        Code::BadValue
    }

    fn next(&self) -> String {
        "Write another value, or a shorter one.".to_owned()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the revision cannot be written below the evidence folder: {0}")]
struct NotStored(#[source] io::Error);

impl ErrorInfo for NotStored {
    fn code(&self) -> Code {
        Code::WriteFailed
    }

    fn next(&self) -> String {
        "See that the evidence folder can be written to, then try again.".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"{"plan_id": "p", "intent": "READ", "steps": [
        {"tool": "file_read", "arguments": {"path": "a"}},
        {"tool": "file_read", "arguments": {"path": "b"}}
    ]}"#;

    fn plan() -> ShownPlan {
        parse(PLAN.as_bytes()).into_shown().unwrap()
    }

    fn revision(path: &str) -> Revision {
        let mut revision = Revision::default();
        revision.set_argument(&plan(), 0, "path", Some(path)).unwrap();
        revision
    }

    #[test]
    fn a_stored_revision_is_found_by_name_and_content() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().join("wip plan.json");
        let file = store(temp.path(), &base, &plan(), &revision("x")).unwrap();
        assert_eq!(file.file_name(), base.file_name());
        let found = find(temp.path(), &file).unwrap();
        assert_eq!(found.base(), base);
        assert_eq!(found.revised.revision, revision("x"));
        assert_eq!(found.revised.parts.len(), 1);
        assert!(found.revised.difference.contains("+        {\"tool\""));

        let again = store(temp.path(), &base, &plan(), &revision("y")).unwrap();
        assert_eq!(again, file, "a revision of a file replaces the one before");
        assert_eq!(find(temp.path(), &file).unwrap().revised.revision, revision("y"));

        fs::write(&file, PLAN.replace("\"b\"", "\"c\"")).unwrap();
        assert!(find(temp.path(), &file).is_none(), "somebody else changed it");
        let elsewhere = temp.path().join("plan.json");
        fs::write(&elsewhere, revision("y").apply(&plan()).unwrap()).unwrap();
        assert!(find(temp.path(), &elsewhere).is_none());
    }

    #[test]
    fn what_could_not_be_read_again_is_not_stored() {
        let temp = tempfile::tempdir().unwrap();
        let text = r#"{"version": "2026-02-19", "goal": "g", "actions": [
            {"type": "mutate_batch", "request": {"edits": []}}]}"#;
        let plan = parse(text.as_bytes()).into_shown().unwrap();
        let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
        let mut revision = Revision::default();
        revision.set_argument(&plan, 0, "edits", Some(&deep)).unwrap();
        let refused = store(temp.path(), &temp.path().join("p.json"), &plan, &revision);
        assert!(refused.unwrap_err().to_string().contains("nested deeper"));
        assert!(!temp.path().join(FOLDER).exists());
    }

    #[test]
    fn a_record_that_lies_about_the_changes_does_not_count() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().join("plan.json");
        let file = store(temp.path(), &base, &plan(), &revision("x")).unwrap();
        let place = Place::of_file(temp.path(), &file).unwrap();
        let record = place.record(Digest::of(&fs::read(&file).unwrap()));
        let text = fs::read_to_string(&record).unwrap();
        fs::write(&record, text.replace("\\\"x\\\"", "\\\"z\\\"")).unwrap();
        assert!(find(temp.path(), &file).is_none());
        fs::write(&record, &text).unwrap();
        assert!(find(temp.path(), &file).is_some());
        let copy = temp.path().join("copy.json");
        let other = store(temp.path(), &copy, &plan(), &revision("x")).unwrap();
        discard_of(temp.path(), &base, plan().digest);
        assert!(find(temp.path(), &file).is_none() && !record.exists());
        assert!(find(temp.path(), &other).is_some(), "it has the same base");
        discard_of(temp.path(), &copy, plan().digest);
        assert_eq!(fs::read_dir(temp.path().join(FOLDER)).unwrap().count(), 0);
    }

    #[test]
    fn a_base_that_changed_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().join("plan.json");
        let file = store(temp.path(), &base, &plan(), &revision("x")).unwrap();
        let read = |bytes: &[u8]| {
            Ok(PlanFile { bytes: bytes.to_vec(), format: None, findings: Vec::new() })
        };
        for (now, state, findings) in [
            (read(PLAN.as_bytes()), BaseState::Same, 0),
            (read(b"{}"), BaseState::Changed, 1),
            (Err(Unusable { format: None, findings: Vec::new() }), BaseState::Gone, 1),
        ] {
            let (file, revised) = find(temp.path(), &file).unwrap().instead_of(now);
            assert_eq!((revised.state, file.findings.len()), (state, findings));
            assert_eq!(file.bytes, revision("x").apply(&plan()).unwrap());
        }
    }
}
