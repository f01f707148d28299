//! Limits for the work on one text. Operations are counted instead of time, so that the same text reaches the same
//! limit on every machine.
//!
//! A text of opening brackets only is the worst case. The parser keeps every bracket open, at up to 400 bytes per
//! step, and then returns one error node with all of them as children. A query then compares each bracket with all
//! that follow.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{
    Node, Parser, Query, QueryCursor, QueryCursorOptions, StreamingIterator as _, Tree,
};

use super::{CodeError, meter};

/// Limit for parser steps on one text, a step being a token or a completed rule. Ordinary sources take one step per
/// one or two bytes.
pub const PARSER_STEPS: u64 = 1_000_000;
/// Parser steps between two progress callbacks.
const STEPS_PER_CALLBACK: u64 = 100;
/// Limit for brackets that are open at once. The parser frees its state recursively, on a thread stack of 2 MiB.
pub(super) const OPEN_BRACKETS: u64 = 22_000;
/// The same limit for a text with an error or unclosed brackets: during recovery the parser may copy the state of
/// every open bracket.
/// Ordinary sources have at most 200.
pub(super) const OPEN_BRACKETS_IN_ERROR: u64 = 1_000;
/// Limit for tokens without a separator between them. The parser may keep all of them open, which takes quadratic
/// memory where casts and type arguments are ambiguous: `a<a<a<` in Java, `+(a)+(a)` in C.
pub(super) const OPEN_TOKENS: u64 = 4_000;
/// Limit for all memory that the parser allocates, freed or not, in bytes. Ordinary sources take about 100 bytes
/// per step; error recovery can take a thousand times as many.
pub(super) const ALLOCATED_BYTES: u64 = 512 << 20;
/// Weight of a step in error recovery, in which the parser tries several alternatives.
const ERROR_WEIGHT: u64 = 3;
/// Limit for the bytes that the parser reads, including repeated reads.
pub(super) const READ_BYTES: u64 = 256 << 20;
/// Size of one chunk given to the parser. Chunks are small so that repeated reads are counted.
const CHUNK_BYTES: usize = 256;
/// Limit for comparisons of a node with its unnamed siblings.
pub(super) const SIBLING_COMPARISONS: u64 = 50_000_000;
/// Limit for the steps of a query.
pub(super) const QUERY_STEPS: u64 = 30_000_000;
/// Query steps between two progress callbacks.
const QUERY_STEPS_PER_CALLBACK: u64 = 1_000;
/// Queries of a smaller tree take few steps and are not checked.
const FEW_NODES: usize = 20_000;

/// Parses a text within the limits and returns the number of parser steps. `open_brackets` is the maximum number of
/// brackets that are open at once, from [`check_open_brackets`].
///
/// # Errors
///
/// A limit is reached, or parsing was stopped.
pub(super) fn parse(
    parser: &mut Parser,
    text: &str,
    open_brackets: u64,
    stop: &dyn Fn() -> bool,
) -> Result<(Tree, u64), CodeError> {
    let allocated_before = meter::allocated();
    let error: Cell<Option<CodeError>> = Cell::new(None);
    let (mut steps, read_bytes) = (0_u64, Cell::new(0_u64));
    let mut callback = |state: &tree_sitter::ParseState| {
        steps +=
            if state.has_error() { STEPS_PER_CALLBACK * ERROR_WEIGHT } else { STEPS_PER_CALLBACK };
        let failure = if read_bytes.get() > READ_BYTES {
            Some(too_many("bytes read by the parser", READ_BYTES))
        } else if steps > PARSER_STEPS {
            Some(too_many("parser steps", PARSER_STEPS))
        } else if open_brackets > OPEN_BRACKETS_IN_ERROR && state.has_error() {
            Some(too_many("open brackets in a text with a syntax error", OPEN_BRACKETS_IN_ERROR))
        } else if meter::allocated().wrapping_sub(allocated_before) > ALLOCATED_BYTES {
            Some(too_many("bytes allocated by the parser", ALLOCATED_BYTES))
        } else {
            stop().then_some(CodeError::Stopped)
        };
        let is_over = failure.is_some();
        error.set(failure);
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut read = |start: usize, _| {
        let end = start.saturating_add(CHUNK_BYTES).min(text.len());
        read_bytes.set(read_bytes.get() + CHUNK_BYTES as u64);
        // Simulates the end of the text, because a parser that reads without stepping never calls the progress
        // callback.
        let is_over =
            read_bytes.get() > READ_BYTES || (read_bytes.get().is_multiple_of(1 << 20) && stop());
        if is_over { &[] } else { text.as_bytes().get(start..end).unwrap_or_default() }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut callback);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    if read_bytes.get() > READ_BYTES {
        return Err(too_many("bytes read by the parser", READ_BYTES));
    }
    if stop() {
        return Err(CodeError::Stopped);
    }
    let tree = tree.ok_or_else(|| error.take().unwrap_or(CodeError::Stopped))?;
    Ok((tree, steps))
}

/// Refuses a text with too many open brackets or, if `counts_tokens` is set, too many tokens without a separator.
/// Returns the maximum number of brackets that are open at once. Strings and comments count like code, because only
/// the parser finds their ends reliably.
///
/// # Errors
///
/// A limit is reached.
pub(super) fn check_open_brackets(text: &str, counts_tokens: bool) -> Result<u64, CodeError> {
    let (mut brackets, mut most, mut tokens) = (0_u64, 0_u64, 0_u64);
    let (mut in_word, mut begins_line) = (false, true);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => brackets += 1,
            b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        most = most.max(brackets);
        if brackets > OPEN_BRACKETS {
            return Err(too_many("open brackets", OPEN_BRACKETS));
        }
        let is_word =
            byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'_' | b'\\' | b'"');
        match byte {
            b';' | b',' | b'{' | b'}' => tokens = 0,
            // A preprocessor line separates tokens.
            b'#' if begins_line => tokens = 0,
            byte if byte.is_ascii_whitespace() => {}
            // Comment frames at the start of a line do not count as tokens.
            b'-' | b'=' | b'*' | b'/' if begins_line => {}
            _ if is_word && in_word => {}
            _ => tokens += 1,
        }
        begins_line = byte == b'\n' || (begins_line && byte.is_ascii_whitespace());
        in_word = is_word;
        if counts_tokens && tokens > OPEN_TOKENS {
            return Err(too_many("tokens without a , ; { or } between them", OPEN_TOKENS));
        }
    }
    if brackets > OPEN_BRACKETS_IN_ERROR {
        return Err(too_many("unclosed brackets", OPEN_BRACKETS_IN_ERROR));
    }
    Ok(most)
}

/// Checks that a query of the tree stays within the limits. The query itself then runs without callbacks.
///
/// # Errors
///
/// A limit is reached, or the check was stopped.
pub(super) fn check_query(
    query: &Query,
    root: Node<'_>,
    text: &str,
    stop: &dyn Fn() -> bool,
) -> Result<(), CodeError> {
    // Only error nodes can have very many adjacent children.
    if root.has_error() {
        check_siblings(root, stop)?;
    }
    if root.descendant_count() < FEW_NODES {
        return Ok(());
    }
    let (mut steps, mut ended) = (0_u64, None);
    let mut callback = |_: &tree_sitter::QueryCursorState| {
        steps += QUERY_STEPS_PER_CALLBACK;
        if steps > QUERY_STEPS {
            ended = Some(too_many("steps of the query for definitions", QUERY_STEPS));
        } else if stop() {
            ended = Some(CodeError::Stopped);
        } else {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(())
    };
    let options = QueryCursorOptions::new().progress_callback(&mut callback);
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches_with_options(query, root, text.as_bytes(), options);
    while matches.next().is_some() {}
    drop(matches);
    ended.map_or(Ok(()), Err)
}

/// Limits the comparisons that a query makes between each node and the siblings up to its next named one.
fn check_siblings(root: Node<'_>, stop: &dyn Fn() -> bool) -> Result<(), CodeError> {
    let mut cursor = root.walk();
    // For each level, the number of siblings since the last named one, including it.
    let mut levels = vec![0_u64];
    let (mut comparisons, mut nodes) = (0_u64, 0_u64);
    loop {
        let node = cursor.node();
        nodes += 1;
        if nodes.is_multiple_of(10_000) && stop() {
            return Err(CodeError::Stopped);
        }
        if let Some(since) = levels.last_mut() {
            comparisons = comparisons.saturating_add(*since);
            *since = if node.is_named() { 1 } else { *since + 1 };
        }
        if comparisons > SIBLING_COMPARISONS {
            return Err(too_many("comparisons of neighbouring nodes", SIBLING_COMPARISONS));
        }
        if cursor.goto_first_child() {
            levels.push(0);
            continue;
        }
        while !cursor.goto_next_sibling() {
            levels.pop();
            if !cursor.goto_parent() {
                return Ok(());
            }
        }
    }
}

fn too_many(what: &'static str, limit: u64) -> CodeError {
    CodeError::TooMany { what, limit }
}
