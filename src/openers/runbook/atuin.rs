//! Runbooks of Atuin Desktop (`.atrb`): YAML with texts and blocks. Each of its blocks runs in a shell of its own, as a step
//! does, in the folder and with the variables of blocks above it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

use super::{Block, at, shell};
use crate::openers::written::Commands;
use crate::plan::{Finding, Mode, Severity};

/// The only version of the format.
const VERSION: u64 = 1;

#[derive(Deserialize)]
struct Document {
    name: Option<String>,
    version: u64,
    content: Vec<Spanned<Part>>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    props: Map<String, Value>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    children: Vec<Spanned<Part>>,
}

/// Whether a text has the top-level fields of a runbook.
pub(in crate::openers) fn is_atuin(text: &str) -> bool {
    let has = |name: &str| text.lines().any(|line| line.starts_with(name));
    has("content:")
        && has("version:")
        && text.lines().any(|line| line.trim_start_matches([' ', '-']).starts_with("type: "))
        && text.lines().next().is_some_and(|line| line.contains(':'))
}

/// The steps of a runbook.
///
/// # Errors
/// It is no runbook, or an error for each block that cannot be a step.
pub(in crate::openers) fn commands(text: &str) -> Result<Commands, Vec<Finding>> {
    let document: Document = serde_saphyr::from_str(text).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        let message = error.without_snippet().to_string();
        vec![at(
            usize::try_from(line).unwrap_or(1),
            Severity::Error,
            format!("no runbook: {message}"),
        )]
    })?;
    if document.version != VERSION {
        let message =
            format!("version {} of runbooks is not known, only {VERSION}", document.version);
        return Err(vec![at(1, Severity::Error, message)]);
    }
    let mut reader = Reader::default();
    reader.read(&document.content);
    reader.made.title = document.name;
    reader.made.mode = Mode::Guided;
    if reader.errors.is_empty() { Ok(reader.made) } else { Err(reader.errors) }
}

#[derive(Default)]
struct Reader {
    made: Commands,
    errors: Vec<Finding>,
    /// The text since the block above.
    text: String,
    folder: Option<String>,
    /// Variables of the environment, as commands.
    environment: String,
    /// Variables of templates; `None` for one whose value is not known before the run.
    variables: BTreeMap<String, Option<String>>,
}

impl Reader {
    fn read(&mut self, parts: &[Spanned<Part>]) {
        for part in parts {
            let line = usize::try_from(part.referenced.line()).unwrap_or(1);
            if let Err(message) = self.part(line, &part.value) {
                self.errors.push(at(line, Severity::Error, message));
            }
            self.read(&part.value.children);
        }
    }

    fn part(&mut self, line: usize, part: &Part) -> Result<(), String> {
        let text = |name: &str| part.props.get(name).and_then(Value::as_str).unwrap_or_default();
        match part.kind.as_str() {
            "paragraph" | "heading" | "quote" | "bulletListItem" | "numberedListItem"
            | "checkListItem" | "toggleListItem" | "codeBlock" | "horizontal_rule" | "table"
            | "image" | "file" | "media" => {
                let mut written = String::new();
                words(&part.content, &mut written);
                if !written.trim().is_empty() {
                    self.text.push_str(written.trim());
                    self.text.push('\n');
                }
            }
            "script" => return self.block(line, part, text("interpreter")),
            "run" => return self.block(line, part, text("type")),
            "directory" => {
                let path = self.filled(text("path"))?;
                self.folder = Some(path).filter(|path| !path.is_empty());
            }
            "local-directory" => self.made.findings.push(at(
                line,
                Severity::Note,
                "the folder that a person chooses here is the workspace of the plan",
            )),
            "env" => {
                let (name, value) = (text("name"), self.filled(text("value"))?);
                let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
                if name.is_empty()
                    || !name.chars().all(is_name)
                    || name.starts_with(|it: char| it.is_ascii_digit())
                {
                    return Err(format!("{name:?} is no name of a variable"));
                }
                let value = value.replace('\'', "'\\''");
                self.environment.push_str(&format!("export {name}='{value}'\n"));
            }
            "var" => {
                let value = self.filled(text("value"))?;
                self.variables.insert(text("name").to_owned(), Some(value));
            }
            // They only show something.
            "var_display" | "markdown_render" => {}
            // What a person types or chooses there is known only during the run.
            "editor" | "dropdown" | "local-var" => {
                for name in [text("variableName"), text("name")] {
                    self.variables.insert(name.to_owned(), None);
                }
                let message = format!(
                    "left out: a block of type {:?}, whose value is not known now",
                    part.kind
                );
                self.made.findings.push(at(line, Severity::Warning, message));
            }
            other => return Err(format!("a block of type {other:?} cannot be a step of a plan")),
        }
        Ok(())
    }

    fn block(&mut self, line: usize, part: &Part, interpreter: &str) -> Result<(), String> {
        let text = |name: &str| part.props.get(name).and_then(Value::as_str).unwrap_or_default();
        let output = text("outputVariable");
        if !output.is_empty() {
            self.variables.insert(output.to_owned(), None);
        }
        let code = self.filled(text("code"))?;
        let explained = std::mem::take(&mut self.text);
        if code.trim().is_empty() {
            return Ok(());
        }
        let shell = shell(interpreter)
            .ok_or_else(|| format!("{interpreter:?} is no shell, and its code not a command"))?;
        let title = Some(text("name").to_owned());
        let block = Block { line, shell, code, title, text: explained, expected_output: None };
        let mut step = block.step(&self.environment);
        step.cwd.clone_from(&self.folder);
        self.made.commands.push(step);
        Ok(())
    }

    /// A text with the variables of its templates replaced by their values.
    ///
    /// # Errors
    /// A template is more than the name of a variable, or its value is not known before the run.
    fn filled(&self, text: &str) -> Result<String, String> {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, behind)) = rest.split_once("{{") {
            let (template, after) =
                behind.split_once("}}").ok_or("a template begins with {{ and has no end")?;
            let name = template.trim().strip_prefix("var.").unwrap_or_default();
            let Some(Some(value)) = self.variables.get(name) else {
                let template = template.trim();
                return Err(format!("{{{{ {template} }}}} has no value before the run"));
            };
            filled.push_str(before);
            filled.push_str(value);
            rest = after;
        }
        filled.push_str(rest);
        if filled.contains("{%") || filled.contains("{#") {
            return Err("a template with statements cannot be part of a plan".to_owned());
        }
        Ok(filled)
    }
}

/// The words of a text, in any depth.
fn words(content: &Value, written: &mut String) {
    match content {
        Value::Array(list) => list.iter().for_each(|it| words(it, written)),
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get("text") {
                written.push_str(text);
            }
            fields.get("content").into_iter().for_each(|it| words(it, written));
        }
        _ => {}
    }
}
