//! Fixes in SARIF 2.1.0, the format of analysers. Each result may have several fixes, which are alternatives.

use std::collections::BTreeMap;

use super::super::files::Texts;
use super::super::json::{At, located, read};
use super::super::written::Edits;
use super::position::{Unit, byte, end_of_line};
use super::{Replacement, replaced, uri};
use crate::plan::{Code, Finding, Severity};

/// The edits of all fixes that have no alternative.
///
/// # Errors
/// An error for each part that cannot be made.
pub(in crate::openers) fn edits(text: &str, mut texts: Texts<'_>) -> Result<Edits, Vec<Finding>> {
    let value = read(text)?;
    let root = At::root(&value);
    let version = root.must("version").map_err(|error| located(text, vec![error]))?;
    if version != "2.1.0" {
        let error = root.error(format!("version {version:?} of SARIF is not known, only 2.1.0"));
        return Err(located(text, vec![error]));
    }
    let mut changes = Changes { of: BTreeMap::new(), findings: Vec::new(), errors: Vec::new() };
    if let Err(error) = read_runs(&root, &mut changes, &mut texts) {
        changes.errors.push(error);
    }
    let Changes { of, mut findings, mut errors } = changes;
    let mut made = Edits { files: of.len(), ..Edits::default() };
    for (path, replacements) in of {
        // None of them conflicts with another one, and all files were read.
        match texts.now(&path).map(|now| (replaced(now, &replacements), now)) {
            Ok((Ok(after), now)) => *now = after,
            _ => errors.push(root.error(format!("{path} cannot be changed"))),
        }
    }
    match texts.into_edits() {
        Ok((edits, expected)) => (made.edits, made.expected) = (edits, expected),
        Err(error) => errors.push(Finding::error(Code::Limit, "", error)),
    }
    findings = located(text, findings);
    if errors.is_empty() {
        made.findings = findings;
        return Ok(made);
    }
    Err(located(text, errors))
}

struct Changes {
    /// The replacements in each file.
    of: BTreeMap<String, Vec<Replacement>>,
    findings: Vec<Finding>,
    errors: Vec<Finding>,
}

impl Changes {
    /// Adds a fix with all of its replacements, or nothing of it if it conflicts with one before.
    fn add(&mut self, fix: &At<'_>, replacements: Vec<(String, Replacement)>) {
        let is_made = |(path, new): &(String, Replacement)| {
            self.of.get(path).is_some_and(|made| made.contains(new))
        };
        // Analysers report the same result for several builds of one file.
        if replacements.iter().all(is_made) {
            return;
        }
        let conflicts = |(path, new): &(String, Replacement)| {
            let made = self.of.get(path);
            made.is_some_and(|made| made.iter().any(|old| old.conflicts(new)))
        };
        if replacements.iter().any(conflicts) {
            self.findings.push(
                fix.warning("this fix is left out: it changes the same text as one before it"),
            );
            return;
        }
        for (path, it) in replacements {
            self.of.entry(path).or_default().push(it);
        }
    }
}

fn read_runs(root: &At<'_>, changes: &mut Changes, texts: &mut Texts<'_>) -> Result<(), Finding> {
    for run in root.list("runs")? {
        let unit = match run.text("columnKind")? {
            Some("utf16CodeUnits") => Unit::Utf16,
            Some("unicodeCodePoints") => Unit::Character,
            Some(other) => return Err(run.error(format!("{other:?} is no kind of columns"))),
            None => Unit::Unknown,
        };
        for result in run.list("results")? {
            let fixes = result.list("fixes")?;
            match fixes.as_slice() {
                [] => {}
                [fix] => match read_fix(fix, &run, unit, texts) {
                    Ok(replacements) => changes.add(fix, replacements),
                    // Fixes do not depend on each other.
                    Err(error) => changes.findings.push(Finding {
                        severity: Severity::Warning,
                        message: format!("this fix is left out: {}", error.message),
                        ..error
                    }),
                },
                many => {
                    let message = format!(
                        "the fixes of this result are left out: there are {}, of which one would have to be chosen",
                        many.len()
                    );
                    changes.findings.push(result.warning(message));
                }
            }
        }
    }
    Ok(())
}

/// The replacements of a fix, with their paths.
fn read_fix(
    fix: &At<'_>,
    run: &At<'_>,
    unit: Unit,
    texts: &mut Texts<'_>,
) -> Result<Vec<(String, Replacement)>, Finding> {
    let mut replacements: Vec<(String, Replacement)> = Vec::new();
    for change in fix.list("artifactChanges")? {
        let path = artifact(&change, run)?;
        let path = texts.path(&path).to_owned();
        let text = texts.now(&path).map_err(|error| change.error(error))?;
        for replacement in change.list("replacements")? {
            let region = replacement
                .get("deletedRegion")
                .ok_or_else(|| replacement.error("it has no region"))?;
            let range = range(&region, text, unit)?;
            let new = match replacement.get("insertedContent") {
                None => String::new(),
                Some(content) if content.get("binary").is_some() => {
                    return Err(content.error("bytes that are no text cannot be part of a plan"));
                }
                Some(content) => content.must("text")?.to_owned(),
            };
            let new = Replacement { range, text: new };
            if replacements.iter().any(|(of, it)| *of == path && it.conflicts(&new)) {
                return Err(replacement.error("the fix changes the same text twice"));
            }
            replacements.push((path.clone(), new));
        }
    }
    Ok(replacements)
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
fn range(region: &At<'_>, text: &str, unit: Unit) -> Result<std::ops::Range<usize>, Finding> {
    let wrong = |error: String| region.error(error);
    if let Some(start_line) = region.number("startLine")? {
        let one = |name, default| Ok::<_, Finding>(region.number(name)?.unwrap_or(default));
        let end_line = one("endLine", start_line)?;
        let from_0 = |number: usize| {
            number.checked_sub(1).ok_or_else(|| region.error("lines and columns count from 1"))
        };
        let start = byte(text, from_0(start_line)?, from_0(one("startColumn", 1)?)?, unit)
            .map_err(wrong)?;
        let end = match region.number("endColumn")? {
            Some(column) => byte(text, from_0(end_line)?, from_0(column)?, unit).map_err(wrong)?,
            None => end_of_line(text, from_0(end_line)?)
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
