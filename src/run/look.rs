//! What a planner looks at before it plans (SPEC §10), as plain data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The maximum number of looks in one answer of a planner.
pub const MAX_LOOKS: usize = 20;
/// The maximum number of answers with looks in one attempt.
pub const MAX_LOOK_ROUNDS: u32 = 10;
/// The maximum size of the answer to one look, in bytes.
pub const LOOK_BYTES: usize = 256 << 10;

/// One thing that a planner wants to see before it plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// The text of a file, or some of its lines.
    Read {
        /// The path, relative to the workspace.
        path: String,
        /// The first and the last line, from 1; `None` for all lines.
        lines: Option<(u64, u64)>,
    },
    /// The lines that match a regular expression.
    Search {
        /// The regular expression.
        pattern: String,
        /// The folder or file to search.
        root: String,
    },
    /// The files whose paths match a pattern.
    Glob {
        /// The pattern.
        pattern: String,
    },
    /// The definitions of a symbol, and where it is used.
    Symbol {
        /// The name.
        name: String,
    },
    /// A query of the tool `inspect`.
    Inspect {
        /// The query, as in a plan.
        query: String,
    },
    /// The system and the programs of the host of the goal.
    Host {
        /// The SSH destination.
        target: String,
    },
}

/// The key that says what kind of look an object is.
const KINDS: [&str; 6] = ["read", "search", "glob", "symbol", "inspect", "host"];

impl Look {
    /// Reads a look from an answer.
    ///
    /// # Errors
    /// Why the value is no look, as a sentence without its subject.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let Some(fields) = value.as_object() else { return Err("is no object".to_owned()) };
        let kinds: Vec<_> = KINDS.iter().filter(|kind| fields.contains_key(**kind)).collect();
        let [kind] = kinds[..] else {
            return Err(format!("needs exactly one of {}", KINDS.join(", ")));
        };
        let (look, optional) = match *kind {
            "read" => {
                let lines = fields.get("lines").map(line_range).transpose()?;
                (Self::Read { path: text(fields, kind)?, lines }, Some("lines"))
            }
            "search" => {
                let root = if fields.contains_key("root") {
                    text(fields, "root")?
                } else {
                    ".".to_owned()
                };
                (Self::Search { pattern: text(fields, kind)?, root }, Some("root"))
            }
            "glob" => (Self::Glob { pattern: text(fields, kind)? }, None),
            "symbol" => (Self::Symbol { name: text(fields, kind)? }, None),
            "inspect" => (Self::Inspect { query: text(fields, kind)? }, None),
            _ => (Self::Host { target: text(fields, kind)? }, None),
        };
        let unknown = fields.keys().find(|key| *key != kind && Some(key.as_str()) != optional);
        match unknown {
            Some(key) => Err(format!("has the unknown field {key:?}")),
            None => Ok(look),
        }
    }

    /// The look as it stands in an answer.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Read { path, lines: None } => json!({ "read": path }),
            Self::Read { path, lines: Some((first, last)) } => {
                json!({ "read": path, "lines": [first, last] })
            }
            Self::Search { pattern, root } => json!({ "search": pattern, "root": root }),
            Self::Glob { pattern } => json!({ "glob": pattern }),
            Self::Symbol { name } => json!({ "symbol": name }),
            Self::Inspect { query } => json!({ "inspect": query }),
            Self::Host { target } => json!({ "host": target }),
        }
    }

    /// The look as verb and object, for people.
    pub fn headline(&self) -> (&'static str, String) {
        match self {
            Self::Read { path, lines: None } => ("Read", path.clone()),
            Self::Read { path, lines: Some((first, last)) } => {
                ("Read", format!("{path}, lines {first}–{last}"))
            }
            Self::Search { pattern, root } if root == "." => ("Search", pattern.clone()),
            Self::Search { pattern, root } => ("Search", format!("{pattern} in {root}")),
            Self::Glob { pattern } => ("List", pattern.clone()),
            Self::Symbol { name } => ("Look up", name.clone()),
            Self::Inspect { query } => ("Inspect", query.clone()),
            Self::Host { target } => ("Host", target.clone()),
        }
    }
}

impl Serialize for Look {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Look {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_json(&value).map_err(serde::de::Error::custom)
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Result<String, String> {
    match fields.get(key).and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(format!("needs a text for {key:?}")),
    }
}

fn line_range(value: &Value) -> Result<(u64, u64), String> {
    let numbers: Option<Vec<u64>> =
        value.as_array().map(|all| all.iter().filter_map(Value::as_u64).collect());
    match numbers.as_deref() {
        Some([first, last]) if *first >= 1 && first <= last => Ok((*first, *last)),
        _ => Err("needs for \"lines\" the numbers of the first and the last line".to_owned()),
    }
}

/// A look with its answer, as the planner gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Looked {
    /// The look.
    pub look: Look,
    /// Whether it was answered.
    pub ok: bool,
    /// The text that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The rows that were found, or an object with lists of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Value>,
    /// Whether something was left out of the answer.
    pub truncated: bool,
    /// Why there is no answer, or what was left out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Looked {
    /// A look that was not answered.
    pub fn refused(look: Look, why: impl Into<String>) -> Self {
        let error = Some(why.into());
        Self { look, ok: false, text: None, rows: None, truncated: false, error }
    }

    /// The answer without its contents, for events and lists.
    pub fn record(&self) -> LookRecord {
        let text = self.text.as_ref().map_or(0, String::len);
        let rows = self.rows.as_ref().map_or(0, |rows| rows.to_string().len());
        LookRecord {
            look: self.look.clone(),
            ok: self.ok,
            bytes: text + rows,
            truncated: self.truncated,
            error: self.error.clone(),
        }
    }
}

/// What became of a look: its answer without the contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookRecord {
    /// The look.
    pub look: Look,
    /// Whether it was answered.
    pub ok: bool,
    /// The size of the answer, in bytes.
    pub bytes: usize,
    /// Whether something was left out of the answer.
    pub truncated: bool,
    /// Why there is no answer, or what was left out of it.
    pub error: Option<String>,
}

/// What a planner may look at (SPEC §10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookScope {
    /// Nothing beyond what the request contains.
    None,
    /// The files of the workspace, except sensitive ones, and the facts of the goal's host.
    #[default]
    Workspace,
}

impl LookScope {
    /// The value as it is written in options, settings and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Workspace => "workspace",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_read_back_as_they_were_written() {
        for value in [
            json!({"read": "src/lib.rs"}),
            json!({"read": "src/lib.rs", "lines": [3, 3]}),
            json!({"search": "fn .*", "root": "src"}),
            json!({"glob": "**/*.rs"}),
            json!({"symbol": "main"}),
            json!({"inspect": "overview"}),
            json!({"host": "ada@example.org"}),
        ] {
            assert_eq!(Look::from_json(&value).unwrap().to_json(), value);
        }
        let search = Look::from_json(&json!({"search": "x"})).unwrap();
        assert_eq!(search, Look::Search { pattern: "x".to_owned(), root: ".".to_owned() });
    }

    #[test]
    fn faulty_looks_say_what_is_wrong() {
        for (value, why) in [
            (json!("src/lib.rs"), "no object"),
            (json!({}), "exactly one of"),
            (json!({"read": "a", "glob": "b"}), "exactly one of"),
            (json!({"read": ""}), "a text for \"read\""),
            (json!({"read": 1}), "a text for \"read\""),
            (json!({"read": "a", "lines": [0, 4]}), "\"lines\""),
            (json!({"read": "a", "lines": [5, 4]}), "\"lines\""),
            (json!({"read": "a", "lines": "1-2"}), "\"lines\""),
            (json!({"read": "a", "root": "."}), "unknown field \"root\""),
            (json!({"glob": "a", "lines": [1, 2]}), "unknown field \"lines\""),
        ] {
            let error = Look::from_json(&value).unwrap_err();
            assert!(error.contains(why), "{value}: {error}");
        }
    }
}
