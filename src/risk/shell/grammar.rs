//! The second reader: the grammar that editors use, written by other people from the same manual.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

/// The grammar is stopped after so many hundreds of operations; the longest commands need some two thousand.
const MOST_LOOKS: u32 = 20_000;

/// What the second reader found.
pub(super) struct Second {
    /// The bytes at which programs are named.
    pub(super) programs: Vec<usize>,
    /// The bytes at which commands begin that the grammar knows by their own names: declarations, tests.
    pub(super) others: Vec<usize>,
    /// It could not read everything.
    pub(super) faulty: bool,
}

/// Reads a command with the grammar of editors; nothing when the grammar cannot be loaded.
pub(super) fn read(source: &str) -> Option<Second> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    // The grammar stumbles over blanks before the end of the text that it reads before the end of a line;
    // behind a backslash a line break would mean something of its own.
    let ends = if source.ends_with('\\') { "" } else { "\n" };
    let text = format!("{source}{ends}");
    let mut looks = 0;
    // Recovering from errors can take time that grows exponentially, and what has one is in doubt anyway.
    let mut go_on = |state: &ParseState| {
        looks += 1;
        if state.has_error() || looks > MOST_LOOKS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut go_on);
    let mut rest = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    let Some(tree) = parser.parse_with_options(&mut rest, None, Some(options)) else {
        return Some(Second { programs: Vec::new(), others: Vec::new(), faulty: true });
    };
    let mut found =
        Second { programs: Vec::new(), others: Vec::new(), faulty: tree.root_node().has_error() };
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

fn collect(node: Node, found: &mut Second) {
    match node.kind() {
        "command_name" => found.programs.push(node.start_byte()),
        "declaration_command" | "unset_command" | "test_command" => {
            found.others.push(node.start_byte());
        }
        _ => {}
    }
}
