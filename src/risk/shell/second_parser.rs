//! The second parser: the tree-sitter grammar for bash, independent of the first parser.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use crate::grammars;

/// Parsing stops after this many progress callbacks, one per hundred operations. The longest commands need about
/// two thousand callbacks.
const MAX_CALLBACKS: u32 = 20_000;

/// The result of the second parser.
#[derive(Default)]
pub(super) struct SecondParse {
    /// The positions of program names.
    pub(super) programs: Vec<usize>,
    /// The positions of commands with a node kind of their own: declarations, tests.
    pub(super) others: Vec<usize>,
    /// Whether the command could not be parsed completely.
    pub(super) faulty: bool,
}

/// Parses a command; `None` if the grammar cannot be loaded.
pub(super) fn read(source: &str) -> Option<SecondParse> {
    let mut parser = Parser::new();
    parser.set_language(&grammars::bash()).ok()?;
    // The grammar fails on blanks at the end of the text, but not at the end of a line. After a backslash a line
    // break would change the meaning.
    let end = if source.ends_with('\\') { "" } else { "\n" };
    let text = format!("{source}{end}");
    let mut callbacks = 0;
    // Error recovery can take exponential time, and a command with errors is dangerous in any case.
    let mut check_limit = |state: &ParseState| {
        callbacks += 1;
        if state.has_error() || callbacks > MAX_CALLBACKS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut check_limit);
    let mut rest = |index: usize, _| text.as_bytes().get(index..).unwrap_or_default();
    let Some(tree) = parser.parse_with_options(&mut rest, None, Some(options)) else {
        return Some(SecondParse { faulty: true, ..SecondParse::default() });
    };
    let faulty = tree.root_node().has_error();
    let mut found = SecondParse { faulty, ..SecondParse::default() };
    let mut cursor = tree.walk();
    loop {
        collect(cursor.node(), &mut found);
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return Some(found);
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

fn collect(node: Node, found: &mut SecondParse) {
    match node.kind() {
        "command_name" => found.programs.push(node.start_byte()),
        "declaration_command" | "unset_command" | "test_command" => {
            found.others.push(node.start_byte());
        }
        _ => {}
    }
}
