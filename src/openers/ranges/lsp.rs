//! `WorkspaceEdit` of the Language Server Protocol 3.17, alone or in the message that carries it. Columns are code units
//! of UTF-16, the protocol's default.

use serde_json::Value;

use super::super::files::Texts;
use super::super::json::{At, located, read};
use super::super::written::Edits;
use super::position::{Lines, Unit};
use super::{Replacement, replaced, uri};
use crate::plan::{Code, Edit, Finding};

/// The edits of a workspace edit.
///
/// # Errors
/// An error for each part that cannot be made.
pub(in crate::openers) fn edits(text: &str, texts: Texts<'_>) -> Result<Edits, Vec<Finding>> {
    let value = read(text)?;
    let mut reader =
        Reader { texts, made: Edits::default(), moved: Vec::new(), errors: Vec::new() };
    if let Err(error) = edit_in(&At::root(&value)).and_then(|edit| reader.read(&edit)) {
        reader.errors.push(error);
    }
    reader.finished().map_err(|errors| located(text, errors)).map(|mut made| {
        made.findings = located(text, made.findings);
        made
    })
}

/// The workspace edit in a message: a request `workspace/applyEdit`, an answer, or a code action.
fn edit_in<'v>(root: &At<'v>) -> Result<At<'v>, Finding> {
    let mut at = root.clone();
    for name in ["params", "result", "edit"] {
        if at.get("error").is_some() || at.get("disabled").is_some() {
            return Err(at.error("the server says that this cannot be done"));
        }
        if at.get("command").is_some() {
            return Err(at.error("a code action with a command is not only an edit"));
        }
        if let Some(inner) = at.get(name) {
            at = inner;
        }
    }
    at.object()?;
    Ok(at)
}

struct Reader<'f> {
    texts: Texts<'f>,
    made: Edits,
    /// Files that are renamed and deleted.
    moved: Vec<Edit>,
    errors: Vec<Finding>,
}

impl Reader<'_> {
    fn read(&mut self, edit: &At<'_>) -> Result<(), Finding> {
        edit.only(&["changes", "documentChanges", "changeAnnotations"])?;
        let annotations = edit.get("changeAnnotations");
        if edit.get("documentChanges").is_some() && edit.get("changes").is_some() {
            return Err(edit.error(
                "it has both \"changes\" and \"documentChanges\", of which programs read one",
            ));
        }
        if let Some(changes) = edit.get("documentChanges") {
            for change in changes.elements()? {
                self.annotated(&change, annotations.as_ref());
                let result = match change.text("kind")? {
                    Some(kind) => self.operation(kind, &change),
                    None => self.document(&change, annotations.as_ref()),
                };
                self.errors.extend(result.err());
            }
            return Ok(());
        }
        let Some(changes) = edit.get("changes") else { return Ok(()) };
        for name in changes.object()?.keys() {
            let Some(list) = changes.get(name) else { continue };
            let result = list.elements().and_then(|edits| {
                let path = uri::path(name).map_err(|error| list.error(error))?;
                self.replace(&path, &edits, annotations.as_ref(), &list)
            });
            self.errors.extend(result.err());
        }
        Ok(())
    }

    fn document(&mut self, change: &At<'_>, annotations: Option<&At<'_>>) -> Result<(), Finding> {
        change.only(&["textDocument", "edits"])?;
        let document =
            change.get("textDocument").ok_or_else(|| change.error("it names no document"))?;
        document.only(&["uri", "version"])?;
        if let Some(version) = document.get("version").filter(|it| !it.value.is_i64()) {
            return Err(version.error("this must be a whole number"));
        }
        let path = uri::path(document.must("uri")?).map_err(|error| document.error(error))?;
        self.replace(&path, &change.must_list("edits")?, annotations, change)
    }

    /// Makes all edits of a document, whose ranges are those of the text before all of them.
    fn replace(
        &mut self,
        path: &str,
        edits: &[At<'_>],
        annotations: Option<&At<'_>>,
        at: &At<'_>,
    ) -> Result<(), Finding> {
        let path = self.texts.path(path).to_owned();
        let before = self.texts.now(&path).map_err(|error| at.error(error))?.clone();
        self.texts.spend(before.len()).map_err(|error| at.error(error))?;
        let (mut replacements, lines) = (Vec::new(), Lines::of(&before));
        for edit in edits {
            self.annotated(edit, annotations);
            replacements.push(replacement(edit, &lines)?);
        }
        let after = replaced(&before, &replacements).map_err(|index| {
            edits.get(index).unwrap_or(at).error("it changes the same text as an edit before it")
        })?;
        let now = self.texts.now(&path).map_err(|error| at.error(error))?;
        *now = after;
        Ok(())
    }

    fn operation(&mut self, kind: &str, change: &At<'_>) -> Result<(), Finding> {
        change.only(&["kind", "uri", "oldUri", "newUri", "options", "annotationId"])?;
        // Files would be replaced, or left as they are, depending on what is there.
        if let Some(options) = change.get("options") {
            for name in ["overwrite", "ignoreIfExists", "ignoreIfNotExists", "recursive"] {
                if options.flag(name)? {
                    return Err(options.error(format!("\"{name}\" leaves open what happens")));
                }
            }
        }
        let path = |name| -> Result<String, Finding> {
            let path = uri::path(change.must(name)?).map_err(|error| change.error(error))?;
            Ok(self.texts.path(&path).to_owned())
        };
        match kind {
            "create" => {
                let path = path("uri")?;
                if self.texts.exists(&path).map_err(|error| change.error(error))? {
                    return Err(change.error(format!("{path} is there already")));
                }
                // Edits that follow fill it.
                self.texts.set(&path, Some(String::new()));
            }
            "delete" => self.moved.push(Edit::Delete { path: path("uri")? }),
            "rename" => {
                self.moved.push(Edit::Rename { path: path("oldUri")?, to: path("newUri")? })
            }
            _ => return Err(change.error(format!("{kind:?} is no kind of change"))),
        }
        Ok(())
    }

    /// Says what a server wants to be confirmed. The signature of the plan confirms it.
    fn annotated(&mut self, at: &At<'_>, annotations: Option<&At<'_>>) {
        let name = at.value.get("annotationId").and_then(Value::as_str);
        let Some(annotation) = name.and_then(|name| annotations?.get(name)) else { return };
        if annotation.value.get("needsConfirmation") == Some(&Value::Bool(true)) {
            let text =
                |name| annotation.value.get(name).and_then(Value::as_str).unwrap_or_default();
            let message = format!("to be confirmed: {} {}", text("label"), text("description"));
            self.made.findings.push(at.warning(message.trim_end()));
        }
    }

    fn finished(mut self) -> Result<Edits, Vec<Finding>> {
        let mut error = |code, message| self.errors.push(Finding::error(code, "", message));
        match self.texts.into_edits() {
            Ok((edits, expected)) => (self.made.edits, self.made.expected) = (edits, expected),
            Err(message) => error(Code::Limit, message),
        }
        let is_edited =
            |path: &str| self.made.edits.iter().any(|edit| edit.paths().any(|it| it == path));
        if let Some(path) = self.moved.iter().flat_map(Edit::paths).find(|path| is_edited(path)) {
            let message =
                format!("{path} is renamed or deleted, and edited, too: split this into two edits");
            error(Code::BadValue, message);
        }
        self.made.edits.append(&mut self.moved);
        self.made.files = self.made.edits.len();
        if self.errors.is_empty() { Ok(self.made) } else { Err(self.errors) }
    }
}

fn replacement(edit: &At<'_>, lines: &Lines<'_>) -> Result<Replacement, Finding> {
    edit.only(&["range", "newText", "annotationId"])?;
    let range = edit.get("range").ok_or_else(|| edit.error("it has no range"))?;
    let offset = |name: &str| {
        let position = range.get(name).ok_or_else(|| range.error(format!("it has no {name}")))?;
        let (line, character) = (position.must_number("line")?, position.must_number("character")?);
        // The protocol moves a character behind the end of its line to that end. Programs differ in whether an edit that
        // begins there comes before others at that end.
        if name == "end"
            && lines.is_behind(line, character)
            && let Some(end) = lines.end(line)
        {
            return Ok(end);
        }
        lines.byte(line, character, Unit::Utf16).map_err(|error| position.error(error))
    };
    let (start, end) = (offset("start")?, offset("end")?);
    if start > end {
        return Err(range.error("it ends before it begins"));
    }
    Ok(Replacement { range: start..end, text: edit.must("newText")?.to_owned() })
}
