//! Fixes in SARIF 2.1.0, the format of analysers. Each result may have several fixes, which are alternatives.

use std::collections::BTreeMap;

use super::super::files::Texts;
use super::super::json::{At, located, read};
use super::super::written::Edits;
use super::accepted::{Accepted, Added, Suggestion};
use super::position::{Lines, Unit, line_starts};
use super::{Replacement, uri};
use crate::plan::{Finding, Severity};

/// The edits of all fixes that have no alternative.
///
/// # Errors
/// An error for each part that cannot be made.
pub(in crate::openers) fn edits(text: &str, texts: Texts<'_>) -> Result<Edits, Vec<Finding>> {
    let value = read(text)?;
    let root = At::root(&value);
    let version = root.must("version").map_err(|error| located(text, vec![error]))?;
    if version != "2.1.0" {
        let error = root.error(format!("version {version:?} of SARIF is not known, only 2.1.0"));
        return Err(located(text, vec![error]));
    }
    let mut reader = Reader {
        texts,
        starts: BTreeMap::new(),
        accepted: Accepted::default(),
        findings: Vec::new(),
    };
    let read = reader.runs(&root);
    let Reader { texts, accepted, findings, .. } = reader;
    match read.and_then(|()| accepted.into_edits(texts)) {
        Ok(made) => Ok(Edits { findings: located(text, findings), ..made }),
        Err(error) => Err(located(text, vec![error])),
    }
}

struct Reader<'f> {
    texts: Texts<'f>,
    /// Where the lines of each file begin.
    starts: BTreeMap<String, Vec<usize>>,
    accepted: Accepted,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn runs(&mut self, root: &At<'_>) -> Result<(), Finding> {
        for run in root.must_list("runs")? {
            let unit = match run.text("columnKind")? {
                Some("utf16CodeUnits") => Unit::Utf16,
                Some("unicodeCodePoints") => Unit::Character,
                Some(other) => return Err(run.error(format!("{other:?} is no kind of columns"))),
                None => Unit::Unknown,
            };
            for result in run.list("results")? {
                let is_over = result.text("baselineState")? == Some("absent")
                    || !result.list("suppressions")?.is_empty()
                    || !matches!(result.text("kind")?, None | Some("fail" | "open" | "review"));
                match result.list("fixes")?.as_slice() {
                    [_, ..] if is_over => {
                        let message = "the fixes of this result are left out: it is suppressed, absent or no failure";
                        self.findings.push(result.warning(message));
                    }
                    [] => {}
                    [fix] => self.fix(fix, &run, unit),
                    many => {
                        let message = format!(
                            "the fixes of this result are left out: there are {}, of which one would have to be chosen",
                            many.len()
                        );
                        self.findings.push(result.warning(message));
                    }
                }
            }
        }
        Ok(())
    }

    /// Fixes do not depend on each other, so the others are made if one is left out.
    fn fix(&mut self, fix: &At<'_>, run: &At<'_>, unit: Unit) {
        let added = self.suggestion(fix, run, unit).map(|it| self.accepted.add(it));
        let (at, why) = match added {
            Ok(Added::Made) => return,
            Ok(Added::Contradiction) => {
                (fix.warning(""), "it changes the same text twice".to_owned())
            }
            Ok(Added::Conflict) => {
                (fix.warning(""), "it changes the same text as one before it".to_owned())
            }
            Err(error) => (Finding { severity: Severity::Warning, ..error.clone() }, error.message),
        };
        self.findings.push(Finding { message: format!("this fix is left out: {why}"), ..at });
    }

    /// The replacements of a fix.
    fn suggestion(
        &mut self,
        fix: &At<'_>,
        run: &At<'_>,
        unit: Unit,
    ) -> Result<Suggestion, Finding> {
        let mut suggestion = Suggestion::new();
        let changes = fix.must_list("artifactChanges")?;
        if changes.is_empty() {
            return Err(fix.error("it changes nothing"));
        }
        for change in changes {
            change.without_null()?;
            let path = artifact(&change, run)?;
            let path = self.texts.path(&path).to_owned();
            let text = self.texts.now(&path).map_err(|error| change.error(error))?;
            let starts = self.starts.entry(path.clone()).or_insert_with(|| line_starts(text));
            let lines = Lines::starting(text, starts);
            let replacements = change.must_list("replacements")?;
            if replacements.is_empty() {
                return Err(change.error("it changes nothing"));
            }
            for replacement in replacements {
                let region = replacement
                    .get("deletedRegion")
                    .ok_or_else(|| replacement.error("it has no region"))?;
                let range = range(&region, text, &lines, unit)?;
                let new = match replacement.get("insertedContent") {
                    None => String::new(),
                    Some(content) if content.get("binary").is_some() => {
                        return Err(
                            content.error("bytes that are no text cannot be part of a plan")
                        );
                    }
                    Some(content) => content.must("text")?.to_owned(),
                };
                suggestion.push((path.clone(), Replacement { range, text: new }));
            }
        }
        Ok(suggestion)
    }
}

/// The path of the file that a change is about.
fn artifact(change: &At<'_>, run: &At<'_>) -> Result<String, Finding> {
    let mut at = change.get("artifactLocation").ok_or_else(|| change.error("it names no file"))?;
    if at.get("uri").is_none()
        && let Some(index) = at.number("index")?
    {
        let artifacts = run.list("artifacts")?;
        let location = artifacts.get(index).and_then(|artifact| artifact.get("location"));
        at = location.ok_or_else(|| at.error(format!("the run has no file {index}")))?;
    }
    let mut path = uri::path(at.must("uri")?).map_err(|error| at.error(error))?;
    let mut base = at.text("uriBaseId")?;
    // Bases may have bases. One that is not given is the workspace.
    for _ in 0..8 {
        let found = base.and_then(|name| run.get("originalUriBaseIds")?.get(name));
        let Some(found) = found.filter(|_| !path.starts_with('/')) else { return Ok(path) };
        if let Some(folder) = found.text("uri")? {
            let folder = uri::path(folder).map_err(|error| found.error(error))?;
            path = format!("{}/{path}", folder.trim_end_matches('/'));
        }
        base = found.text("uriBaseId")?;
    }
    Err(at.error("the bases of its path have no end"))
}

/// The bytes of a region. Lines and columns count from 1; offsets of characters are in the unit of the run.
fn range(
    region: &At<'_>,
    text: &str,
    lines: &Lines<'_>,
    unit: Unit,
) -> Result<std::ops::Range<usize>, Finding> {
    let wrong = |error: String| region.error(error);
    if let Some(start_line) = region.number("startLine")? {
        let one = |name, default| Ok::<_, Finding>(region.number(name)?.unwrap_or(default));
        let end_line = one("endLine", start_line)?;
        let from_0 = |number: usize| {
            number.checked_sub(1).ok_or_else(|| region.error("lines and columns count from 1"))
        };
        let start = lines
            .byte(from_0(start_line)?, from_0(one("startColumn", 1)?)?, unit)
            .map_err(wrong)?;
        let end = match region.number("endColumn")? {
            Some(column) => lines.byte(from_0(end_line)?, from_0(column)?, unit).map_err(wrong)?,
            None => lines
                .end(from_0(end_line)?)
                .ok_or_else(|| region.error(format!("the file has no line {end_line}")))?,
        };
        return if start <= end {
            Ok(start..end)
        } else {
            Err(region.error("it ends before it begins"))
        };
    }
    if let Some(offset) = region.number("byteOffset")? {
        let end = offset.saturating_add(region.number("byteLength")?.unwrap_or(0));
        return match text.get(offset..end) {
            Some(_) => Ok(offset..end),
            None => Err(region.error("the file has no such bytes, or they cut a character")),
        };
    }
    Err(region.error("it has neither lines nor bytes"))
}
