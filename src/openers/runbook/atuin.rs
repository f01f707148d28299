//! Runbooks of Atuin Desktop (`.atrb`): YAML with texts and blocks. Each of its blocks runs in a shell of its own, as a step
//! does, in the folder and with the variables of blocks above it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

use super::{Block, at, shell};
use crate::openers::written::Commands;
use crate::plan::{Finding, Mode, PlanInput, Severity, limits, with_references};

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
    /// Variables of templates.
    variables: BTreeMap<String, Variable>,
    /// What a person is asked for, if something uses it.
    asked: Vec<PlanInput>,
}

/// A variable of templates.
#[derive(Clone)]
enum Variable {
    /// Its value is known.
    Value(String),
    /// A person gives it: the name of the input of the plan.
    Input(String),
    /// A block of the runbook makes it when it runs.
    OfBlock,
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
                let (path, _) = self.filled(text("path"))?;
                self.folder = Some(path).filter(|path| !path.is_empty());
            }
            "local-directory" => self.made.findings.push(at(
                line,
                Severity::Note,
                "the folder that a person chooses here is the workspace of the plan",
            )),
            "env" => {
                let name = text("name");
                let (value, inputs) = self.filled(text("value"))?;
                let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
                if name.is_empty()
                    || !name.chars().all(is_name)
                    || name.starts_with(|it: char| it.is_ascii_digit())
                {
                    return Err(format!("{name:?} is no name of a variable"));
                }
                let value = match inputs {
                    0 => format!("'{}'", value.replace('\'', "'\\''")),
                    // The template alone; it becomes a reference to a variable.
                    1 if value.starts_with("{{") && value.ends_with("}}") => format!("\"{value}\""),
                    _ => {
                        return Err("a value that is a person's only in part is no part of a plan"
                            .to_owned());
                    }
                };
                self.environment.push_str(&format!("export {name}={value}\n"));
            }
            "var" => {
                let (value, inputs) = self.filled(text("value"))?;
                if inputs > 0 {
                    return Err(
                        "a variable of the text of a person's is no part of a plan".to_owned()
                    );
                }
                self.variables.insert(text("name").to_owned(), Variable::Value(value));
            }
            // They only show something.
            "var_display" | "markdown_render" => {}
            // A person types or chooses it. The runbook keeps no value of it.
            "local-var" => self.input(text("name"), "", Vec::new()),
            "editor" => self.input(text("variableName"), text("code"), Vec::new()),
            "dropdown" if text("optionsType") == "fixed" => {
                let delimiter = Some(text("delimiter")).filter(|it| !it.is_empty());
                let choices = choices(text("fixedOptions"), delimiter.unwrap_or(":"));
                self.input(text("name"), text("value"), choices);
            }
            "dropdown" => {
                self.input(text("name"), text("value"), Vec::new());
                let message = "the choices of a list are made during the run of a runbook; in the plan its value is typed";
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
            self.variables.insert(output.to_owned(), Variable::OfBlock);
        }
        let (code, inputs) = self.filled(text("code"))?;
        let explained = std::mem::take(&mut self.text);
        if code.trim().is_empty() {
            return Ok(());
        }
        let shell = shell(interpreter)
            .ok_or_else(|| format!("{interpreter:?} is no shell, and its code not a command"))?;
        let code = match shell {
            "" => code,
            _ if inputs == 0 => code,
            // The step quotes the code, so that its templates must be references already.
            "sh" | "zsh" => with_references(&code, &self.made.inputs).ok_or_else(|| {
                format!("a template in code for {shell} cannot be a reference to a variable")
            })?,
            _ => {
                return Err(format!(
                    "a template in code for {shell} cannot be a reference to a variable"
                ));
            }
        };
        let title = Some(text("name").to_owned());
        let block = Block { line, shell, code, title, text: explained, expected_output: None };
        let mut step = block.step(&self.environment);
        step.cwd.clone_from(&self.folder);
        self.made.commands.push(step);
        Ok(())
    }

    /// Notes a variable that a person fills in. It becomes an input of the plan when something uses it.
    fn input(&mut self, variable: &str, default: &str, choices: Vec<String>) {
        // An editor may also show what a block has printed.
        if variable.is_empty() || matches!(self.variables.get(variable), Some(Variable::OfBlock)) {
            return;
        }
        let of_name =
            |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '_' };
        let mut name: String =
            variable.chars().map(of_name).take(limits::INPUT_NAME_BYTES / 2).collect();
        if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
            name.insert_str(0, "input_");
        }
        while self.asked.iter().any(|input| input.name == name) {
            name.push('_');
        }
        let is_default =
            !default.is_empty() && (choices.is_empty() || choices.iter().any(|it| it == default));
        self.asked.push(PlanInput {
            title: Some(variable.to_owned()).filter(|title| *title != name),
            default: Some(default.to_owned()).filter(|_| is_default),
            choices,
            name: name.clone(),
            ..PlanInput::default()
        });
        self.variables.insert(variable.to_owned(), Variable::Input(name));
    }

    /// A text with the variables of its templates replaced by their values, or by templates of the plan's inputs, and the
    /// number of these.
    ///
    /// # Errors
    /// A template is more than the name of a variable, or its value is not known before the run.
    fn filled(&mut self, text: &str) -> Result<(String, usize), String> {
        let (mut filled, mut rest, mut inputs) = (String::new(), text, 0);
        while let Some((before, behind)) = rest.split_once("{{") {
            let (template, after) =
                behind.split_once("}}").ok_or("a template begins with {{ and has no end")?;
            let name = template.trim().strip_prefix("var.").unwrap_or_default();
            filled.push_str(before);
            match self.variables.get(name) {
                Some(Variable::Value(value)) => filled.push_str(value),
                Some(Variable::Input(name)) => {
                    inputs += 1;
                    filled.push_str(&format!("{{{{{name}}}}}"));
                    let asked = self.asked.iter().find(|input| input.name == *name);
                    let is_new = !self.made.inputs.iter().any(|input| input.name == *name);
                    self.made.inputs.extend(asked.filter(|_| is_new).cloned());
                }
                Some(Variable::OfBlock) | None => {
                    let template = template.trim();
                    return Err(format!("{{{{ {template} }}}} has no value before the run"));
                }
            }
            rest = after;
        }
        filled.push_str(rest);
        if filled.contains("{%") || filled.contains("{#") {
            return Err("a template with statements cannot be part of a plan".to_owned());
        }
        Ok((filled, inputs))
    }
}

/// The values of a list of choices. Each may stand behind a label.
fn choices(text: &str, delimiter: &str) -> Vec<String> {
    let mut choices = Vec::new();
    for option in text.split([',', '\n']).map(str::trim) {
        let value = option.split_once(delimiter).map_or(option, |(_, value)| value);
        if !value.is_empty() && !choices.iter().any(|it| it == value) {
            choices.push(value.to_owned());
        }
    }
    choices
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
