//! A JSON value as a tree whose nodes can be expanded and collapsed.

use std::sync::{Arc, Weak};

use egui::{Id, Rect, Ui, pos2};
use serde_json::Value;

use super::list::{Area, Cursor, list_ui, row_buttons_ui, row_label, with_state};
use crate::plan::drawable;
use crate::ui::{Text, Theme, format, icon, widgets};

/// The root, a field of an object, or an item of an array.
#[derive(Debug)]
struct Node {
    depth: u16,
    parent: u32,
    /// The index of the first node after its descendants.
    end: u32,
    key: Key,
    value: NodeValue,
}

#[derive(Debug)]
enum Key {
    Root,
    Item(u32),
    Field(Box<str>),
}

#[derive(Debug)]
enum NodeValue {
    /// An object with this number of fields.
    Object(u32),
    /// An array with this number of items.
    Array(u32),
    /// Any other value.
    Scalar(Value),
}

/// A JSON value as a list of nodes in depth-first order, parents first.
#[derive(Debug, Default)]
pub struct TreeDoc {
    nodes: Vec<Node>,
}

/// Nodes with more children than this are collapsed at first, except for the root.
const MAX_EXPANDED_CHILDREN: u32 = 100;
/// Nodes at this depth and deeper are collapsed at first. The root has depth 0.
const COLLAPSED_DEPTH: u16 = 3;

impl TreeDoc {
    /// Creates the tree of a value.
    pub fn of(value: &Value) -> Self {
        let mut tree = Self::default();
        tree.add(Key::Root, value, 0, 0);
        tree
    }

    /// The number of nodes without the root.
    pub fn value_count(&self) -> usize {
        self.nodes.len().saturating_sub(1)
    }

    fn add(&mut self, key: Key, value: &Value, depth: u16, parent: u32) {
        let index = self.nodes.len() as u32;
        let node_value = match value {
            Value::Object(fields) => NodeValue::Object(fields.len() as u32),
            Value::Array(items) => NodeValue::Array(items.len() as u32),
            scalar => NodeValue::Scalar(scalar.clone()),
        };
        self.nodes.push(Node { depth, parent, end: index + 1, key, value: node_value });
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.add(Key::Field(name.as_str().into()), value, depth + 1, index);
                }
            }
            Value::Array(items) => {
                for (item, value) in items.iter().enumerate() {
                    self.add(Key::Item(item as u32), value, depth + 1, index);
                }
            }
            _ => {}
        }
        let end = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(index as usize) {
            node.end = end;
        }
    }

    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    /// The path of a node, as a JSON Pointer.
    fn pointer(&self, index: u32) -> String {
        let mut parts = Vec::new();
        let mut ancestor = index;
        while let Some(node) = self.node(ancestor) {
            match &node.key {
                Key::Root => break,
                Key::Item(index) => parts.push(index.to_string()),
                Key::Field(name) => parts.push(name.replace('~', "~0").replace('/', "~1")),
            }
            ancestor = node.parent;
        }
        parts.iter().rev().map(|part| format!("/{part}")).collect()
    }

    /// The value of a node as text: a string without quotes, anything else as JSON.
    fn value(&self, index: u32) -> String {
        match self.node(index).map(|node| &node.value) {
            Some(NodeValue::Scalar(Value::String(text))) => text.clone(),
            _ => serde_json::to_string_pretty(&self.json(index)).unwrap_or_default(),
        }
    }

    fn json(&self, index: u32) -> Value {
        let Some(node) = self.node(index) else { return Value::Null };
        match &node.value {
            NodeValue::Object(_) => Value::Object(
                self.children(index).map(|child| (self.name(child), self.json(child))).collect(),
            ),
            NodeValue::Array(_) => self.children(index).map(|child| self.json(child)).collect(),
            NodeValue::Scalar(value) => value.clone(),
        }
    }

    fn name(&self, index: u32) -> String {
        match self.node(index).map(|node| &node.key) {
            Some(Key::Field(name)) => name.to_string(),
            Some(Key::Item(index)) => index.to_string(),
            Some(Key::Root) | None => String::new(),
        }
    }

    fn children(&self, index: u32) -> impl Iterator<Item = u32> {
        let end = self.node(index).map_or(0, |node| node.end);
        let next = |child: &u32| self.node(*child).map(|node| node.end);
        std::iter::successors(Some(index + 1), next).take_while(move |child| *child < end)
    }

    /// Whether each node is expanded at first.
    fn initially_expanded(&self) -> Vec<bool> {
        let is_expanded = |node: &Node| match node.value {
            NodeValue::Object(count) | NodeValue::Array(count) => {
                node.depth == 0 || (count <= MAX_EXPANDED_CHILDREN && node.depth < COLLAPSED_DEPTH)
            }
            NodeValue::Scalar(_) => false,
        };
        self.nodes.iter().map(is_expanded).collect()
    }

    /// The nodes that are visible if those marked in `expanded` are expanded.
    fn rows(&self, expanded: &[bool]) -> Vec<u32> {
        let mut rows = Vec::new();
        let mut index = 0;
        while let Some(node) = self.node(index) {
            rows.push(index);
            index = if expanded.get(index as usize) == Some(&true) { index + 1 } else { node.end };
        }
        rows
    }
}

#[derive(Debug, Clone, Default)]
struct TreeState {
    tree: Weak<TreeDoc>,
    /// Whether each node is expanded.
    expanded: Vec<bool>,
    /// The nodes of the rows.
    rows: Vec<u32>,
    cursor: Cursor,
}

/// Draws a tree.
pub(super) fn tree_ui(ui: &mut Ui, area: Area<'_>, tree: &Arc<TreeDoc>) {
    with_state(ui, |ui, state: &mut TreeState| shown_ui(ui, area, tree, state));
}

fn shown_ui(ui: &mut Ui, area: Area<'_>, tree: &Arc<TreeDoc>, state: &mut TreeState) {
    if !std::ptr::eq(state.tree.as_ptr(), Arc::as_ptr(tree)) {
        let expanded = tree.initially_expanded();
        let rows = tree.rows(&expanded);
        let tree = Arc::downgrade(tree);
        *state = TreeState { tree, expanded, rows, cursor: Cursor::default() };
    }
    let TreeState { expanded, rows, cursor, .. } = state;
    let mut copied = None;
    let input = list_ui(ui, area, rows.len(), cursor, |ui, rect, row, current| {
        let Some(index) = rows.get(row).copied() else { return };
        let Some(node) = tree.node(index) else { return };
        let is_expanded = expanded.get(index as usize) == Some(&true);
        let reserved = if current { BUTTONS } else { 0.0 };
        row_ui(ui, rect, tree, index, node, is_expanded, reserved);
        if current {
            copied = copied.take().or(buttons_ui(ui, rect, area.id, tree, index));
        }
    });
    let Some(index) = rows.get(cursor.row).copied() else { return };
    let Some(node) = tree.node(index) else { return };
    if let Some(text) = copied.or_else(|| input.copy.then(|| tree.value(index))) {
        ui.ctx().copy_text(text);
    }
    let is_expanded = expanded.get(index as usize) == Some(&true);
    let has_children = node.end > index + 1;
    let caret = f32::from(super::MARGIN) + INDENT * (f32::from(node.depth) + 1.0);
    let on_caret = input.clicked.is_some_and(|(_, pos)| pos.x < ui.min_rect().left() + caret + 4.0);
    let toggle = has_children && (input.enter || on_caret || (input.right && !is_expanded));
    if toggle || (input.left && is_expanded) {
        if let Some(expanded) = expanded.get_mut(index as usize) {
            *expanded = !is_expanded;
        }
        *rows = tree.rows(expanded);
        ui.ctx().request_repaint();
    } else if input.left {
        let row = rows.partition_point(|row| *row < node.parent);
        *cursor = Cursor::to(row);
        ui.ctx().request_repaint();
    }
}

/// The indentation of one level, in points.
const INDENT: f32 = 16.0;
/// The width that the buttons of the current row take, in points.
const BUTTONS: f32 = 62.0;

/// Draws a row that leaves `reserved` points free at its right end.
fn row_ui(
    ui: &Ui,
    rect: Rect,
    tree: &TreeDoc,
    index: u32,
    node: &Node,
    is_expanded: bool,
    reserved: f32,
) {
    let theme = Theme::of(ui);
    let middle = rect.center().y;
    let left = rect.left() + f32::from(super::MARGIN) + INDENT * f32::from(node.depth);
    if node.end > index + 1 {
        let icon = if is_expanded { icon::DOWN } else { icon::RIGHT };
        widgets::paint_icon(ui, pos2(left + 6.0, middle), icon, 12.0, theme.dim);
    }
    let (text, color) = match &node.value {
        NodeValue::Object(0) => ("{}".to_owned(), theme.dim),
        NodeValue::Array(0) => ("[]".to_owned(), theme.dim),
        NodeValue::Object(count) => (format::counted(*count as usize, "field"), theme.dim),
        NodeValue::Array(count) => (format::counted(*count as usize, "item"), theme.dim),
        NodeValue::Scalar(Value::String(text)) => {
            let end = text.floor_char_boundary(1_000);
            let more = if end < text.len() { "…" } else { "" };
            let text = text.get(..end).unwrap_or_default();
            (format!("\"{text}\"{more}"), theme.safe)
        }
        NodeValue::Scalar(number @ Value::Number(_)) => (number.to_string(), theme.caution),
        NodeValue::Scalar(other) => (other.to_string(), theme.keyword),
    };
    let key = tree.name(index);
    let parts = match &node.key {
        Key::Root => vec![(text.as_str(), Text::Mono, color)],
        Key::Item(_) => vec![(&*key, Text::Mono, theme.dim), (&*text, Text::Mono, color)],
        Key::Field(_) => vec![(&*key, Text::Mono, theme.text), (&*text, Text::Mono, color)],
    };
    let start = pos2(left + INDENT, middle);
    let width = (rect.right() - start.x - 8.0 - reserved).max(0.0);
    let (_, truncated) = widgets::paint_parts(ui, start, width, &parts);
    let name = || drawable(&format!("{key} {text}")).trim_start().to_owned();
    let response = row_label(ui, rect, index as usize, name);
    if truncated && let NodeValue::Scalar(Value::String(text)) = &node.value {
        let text = text.get(..text.floor_char_boundary(2_000)).unwrap_or_default();
        response.on_hover_text(crate::plan::drawable_lines(text));
    }
}

/// Draws the buttons of the current row. Returns the text that one of them copies.
fn buttons_ui(ui: &mut Ui, rect: Rect, id: Id, tree: &TreeDoc, index: u32) -> Option<String> {
    row_buttons_ui(ui, rect, id, |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let value = widgets::icon_button(ui, icon::COPY, "Copy value").clicked();
        // The root has no path.
        let path = index > 0 && widgets::icon_button(ui, icon::LINK, "Copy path").clicked();
        if value { Some(tree.value(index)) } else { path.then(|| tree.pointer(index)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_pointer_finds_its_value() {
        let value = json!({"a/b": [{"x": null}, "two\nlines", 1.50], "~": true, "e": {}});
        let tree = TreeDoc::of(&value);
        assert_eq!(tree.value_count(), 7);
        for index in 0..tree.nodes.len() as u32 {
            let pointer = tree.pointer(index);
            let expected = value.pointer(&pointer).unwrap_or_else(|| panic!("{pointer}"));
            assert_eq!(&tree.json(index), expected, "{pointer}");
        }
        let text = (0..8).find(|index| tree.pointer(*index) == "/a~1b/1").unwrap();
        assert_eq!(tree.value(text), "two\nlines");
        assert_eq!(tree.value(0), serde_json::to_string_pretty(&value).unwrap());
    }

    // Long lists are collapsed at first.
    #[test]
    fn closed_nodes_hide_their_children() {
        let long: Vec<_> = (0..200).collect();
        let tree = TreeDoc::of(&json!({"long": long, "short": [1, {"deep": {"deeper": [1]}}]}));
        let mut expanded = tree.initially_expanded();
        let names = |expanded: &[bool]| {
            let rows = tree.rows(expanded).into_iter();
            rows.map(|row| tree.name(row)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&expanded).trim(), "long short 0 1 deep");
        expanded[0] = false;
        assert_eq!(names(&expanded), "");
        expanded.fill(true);
        assert_eq!(tree.rows(&expanded).len(), tree.value_count() + 1);
    }
}
