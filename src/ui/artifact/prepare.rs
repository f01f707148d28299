//! Prepares the content of an artifact for a viewer. Pure, so that long content can be prepared on any thread.

use std::sync::Arc;

use serde_json::Value;

use super::table::Table;
use super::text_doc::TextDoc;
use super::tree::TreeDoc;
use super::unified::parse_unified;
use crate::run::FileChange;

/// The maximum size of a content that is shown completely, in bytes; of a larger one only a part is shown.
pub const MAX_SHOWN_BYTES: u64 = 64 << 20;
/// The maximum length of a diff that is laid out as a diff, in bytes; a longer one is shown as text.
const MAX_DIFF_BYTES: usize = 2 << 20;

/// The expected shape of an artifact, from its type and its tool. The content may have another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Tool output or the text of a file.
    Text,
    /// Command output with its terminal colours.
    Printed,
    /// A JSON value.
    Json,
    /// A JSON array of matches, symbols, references or diagnostics.
    Rows,
    /// A unified diff.
    Diff,
}

impl Shape {
    /// The shape of an artifact of this type, made by a step with this tool.
    pub fn of(artifact_type: &str, tool: &str) -> Self {
        let list_tools = [
            "file_search",
            "file_glob",
            "symbols_in_file",
            "references_to_symbol_name",
            "references_from_file_to_symbol_name",
        ];
        match artifact_type {
            "stdout" if list_tools.contains(&tool) => Self::Rows,
            "stdout" | "stderr" if tool == "shell" => Self::Printed,
            "stdout" | "stderr" => Self::Text,
            "diagnostics" => Self::Rows,
            "diff" => Self::Diff,
            _ => Self::Json,
        }
    }
}

/// The form in which a content is shown first.
#[derive(Debug, Clone)]
pub enum Form {
    /// The content is empty.
    Empty,
    /// The content is shown as text.
    Text,
    /// The content is shown as a tree of JSON values.
    Tree(Arc<TreeDoc>),
    /// The content is shown as a table.
    Table(Arc<Table>),
    /// The content is shown as a diff.
    Diff(Arc<[FileChange]>),
    /// The content is shown as bytes.
    Hex(Arc<[u8]>),
}

/// A content ready to be shown.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The form in which the content is shown first.
    pub form: Form,
    /// The content as text; empty for bytes.
    pub text: Arc<TextDoc>,
}

impl Prepared {
    /// Prepares stored bytes: as text if they are UTF-8, otherwise as bytes.
    pub fn of_bytes(shape: Shape, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::of_text(shape, &text),
            Err(error) => Self {
                form: Form::Hex(error.into_bytes().into()),
                text: Arc::new(TextDoc::new("")),
            },
        }
    }

    /// Prepares a text. A text that does not match its shape is shown as plain text.
    pub fn of_text(shape: Shape, text: &str) -> Self {
        if text.is_empty() {
            return Self { form: Form::Empty, text: Arc::new(TextDoc::new("")) };
        }
        let json = || serde_json::from_str::<Value>(text).ok();
        match shape {
            Shape::Text => Self::plain(text),
            Shape::Printed => Self::printed(text),
            Shape::Json | Shape::Rows => match json() {
                Some(value) => Self::of_json(shape, &value),
                None => Self::plain(text),
            },
            // A long diff is stored as a JSON string.
            Shape::Diff => match text.starts_with('"').then(json).flatten() {
                Some(value) => Self::of_json(shape, &value),
                None => Self::diff(text),
            },
        }
    }

    /// Prepares a JSON value, the storage format of short contents.
    pub fn of_json(shape: Shape, value: &Value) -> Self {
        match (shape, value) {
            (Shape::Diff, Value::String(text)) => return Self::diff(text),
            // Tool output is stored as a JSON string, which may itself contain JSON.
            (Shape::Text | Shape::Printed | Shape::Rows, Value::String(text)) => {
                return Self::of_text(shape, text);
            }
            _ => {}
        }
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        let table = (shape == Shape::Rows).then(|| Table::of(value)).flatten();
        let form = match (table, value) {
            (Some(table), _) => Form::Table(Arc::new(table)),
            (None, Value::Array(items)) if items.is_empty() => Form::Empty,
            (None, Value::Object(_) | Value::Array(_)) => Form::Tree(Arc::new(TreeDoc::of(value))),
            (None, _) => Form::Text,
        };
        Self { form, text: Arc::new(TextDoc::new(&text)) }
    }

    /// Prepares the beginning of a longer content.
    pub fn of_head(shape: Shape, head: &str) -> Self {
        match shape {
            Shape::Diff => Self::of_text(shape, &unquoted_head(head)),
            Shape::Printed => Self::printed(head),
            _ => Self::plain(head),
        }
    }

    fn plain(text: &str) -> Self {
        Self { form: Form::Text, text: Arc::new(TextDoc::new(text)) }
    }

    fn printed(text: &str) -> Self {
        Self { form: Form::Text, text: Arc::new(TextDoc::printed(text)) }
    }

    fn diff(text: &str) -> Self {
        let plain = Self::plain(text);
        if text.is_empty() {
            return Self { form: Form::Empty, ..plain };
        }
        match (text.len() <= MAX_DIFF_BYTES).then(|| parse_unified(text)).flatten() {
            Some(changes) => Self { form: Form::Diff(changes.into()), ..plain },
            None => plain,
        }
    }

    /// The number of lines, values, rows or files of the content, or that it is empty or binary.
    pub fn summary(&self) -> String {
        use crate::ui::format::counted;
        match &self.form {
            Form::Empty => "empty".to_owned(),
            Form::Text => counted(self.text.line_count(), "line"),
            Form::Tree(tree) => counted(tree.value_count(), "value"),
            Form::Table(table) => counted(table.row_count(), "row"),
            Form::Diff(changes) => counted(changes.len(), "file"),
            Form::Hex(_) => "binary".to_owned(),
        }
    }
}

/// Decodes the beginning of a JSON string; any other text is returned unchanged.
/// An escape sequence that is cut off at the end is dropped.
fn unquoted_head(head: &str) -> String {
    // The text may end inside an escape sequence, which has at most twelve characters.
    let longest = if head.starts_with('"') { 12 } else { 0 };
    let prefixes = (0..longest).filter_map(|cut| head.get(..head.len().checked_sub(cut)?));
    prefixes
        .filter_map(|prefix| serde_json::from_str(&format!("{prefix}\"")).ok())
        .next()
        .unwrap_or_else(|| head.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_tool_and_content_choose_the_viewer() {
        let form = |kind: &str, tool: &str, value: Value| match Prepared::of_json(
            Shape::of(kind, tool),
            &value,
        )
        .form
        {
            Form::Empty => "empty",
            Form::Text => "text",
            Form::Tree(_) => "tree",
            Form::Table(_) => "table",
            Form::Diff(_) => "diff",
            Form::Hex(_) => "hex",
        };
        let text = |text: &str| Value::String(text.to_owned());
        assert_eq!(form("stdout", "file_read", text("[1]")), "text", "a file is shown as text");
        assert_eq!(form("stdout", "file_read", text("")), "empty");
        assert_eq!(form("stdout", "file_glob", text("[\"a\"]")), "table");
        assert_eq!(form("stdout", "file_glob", text("[]")), "empty");
        assert_eq!(form("stdout", "file_search", text("no JSON")), "text");
        assert_eq!(
            form("diagnostics", "lsp_check", serde_json::json!([{"level": "x", "message": "m"}])),
            "table"
        );
        assert_eq!(form("diagnostics", "lsp_check", serde_json::json!({"odd": 1})), "tree");
        assert_eq!(form("result", "file_read", serde_json::json!({"bytes": 1})), "tree");
        assert_eq!(form("result", "file_read", serde_json::json!(7)), "text");
        assert_eq!(form("diff", "file_write", text("@@ -1 +1 @@\n-a\n+b\n")), "diff");
        assert_eq!(form("diff", "file_write", text("not a diff")), "text");
        assert_eq!(Shape::of("stderr", "shell"), Shape::Printed);
        assert_eq!(
            Shape::of("stdout", "file_read"),
            Shape::Text,
            "escape sequences of a file are no colours"
        );
        assert_eq!(form("stdout", "shell", text("[1]")), "text");
        let bytes = Prepared::of_bytes(Shape::Text, vec![0xff, 0x00]);
        assert!(matches!(bytes.form, Form::Hex(_)));
    }

    // A complete diff, and the beginning of one.
    #[test]
    fn a_stored_diff_is_decoded() {
        let diff = "--- a/ä.txt\n+++ b/ä.txt\n@@ -1,1 +1,1 @@\n-\"old\"\t\u{1}\n+new\n";
        let stored = Value::from(diff).to_string();
        let complete = Prepared::of_bytes(Shape::Diff, stored.clone().into_bytes());
        assert_eq!(&**complete.text.text(), diff);
        for end in (2..stored.len()).filter(|end| stored.is_char_boundary(*end)) {
            let head = unquoted_head(&stored[..end]);
            assert!(diff.starts_with(&head), "{head:?}");
        }
        let head = Prepared::of_head(Shape::Diff, &stored[..stored.len() - 6]);
        assert!(matches!(head.form, Form::Diff(_)), "an incomplete diff is still a diff");
    }

    #[test]
    fn a_diff_over_the_limit_is_text() {
        let long = format!("@@ -1 +1 @@\n-a\n{}", "+line\n".repeat(MAX_DIFF_BYTES / 6 + 1));
        assert!(matches!(Prepared::of_text(Shape::Diff, &long).form, Form::Text));
    }
}
