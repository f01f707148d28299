//! What reading one text may cost, in counts: the same text reaches the same limit on every machine, however slow.
//!
//! A text of nothing but opening brackets is the hard case. The parser keeps all of it open, at up to 400 bytes
//! for each step, and then gives one faulty node with every bracket in it; there a query looks from each bracket
//! at all that follow.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{
    Node, Parser, Query, QueryCursor, QueryCursorOptions, StreamingIterator as _, Tree,
};

use super::error::{CodeError, PARSER_STEPS};
use super::meter;

/// So many of them are made between two looks of the parser at its watch.
const STEPS_AT_ONCE: u64 = 100;
/// Most brackets that are open at once. The parser lets go of what it keeps for them by calling itself, and a
/// thread of ours has 2 MiB for that.
pub(super) const OPEN_BRACKETS: u64 = 22_000;
/// The same in a text with a fault: to find a way out of it, the parser may keep a copy of all that is open for each
/// of the brackets. Sources that people write have up to 200.
pub(super) const OPEN_IN_A_FAULT: u64 = 1_000;
/// Most words and signs with nothing between them that ends a part of a program. The parser may keep all of them
/// open, and then takes memory by their square where casts and types look like other things: for `a<a<a<` in
/// Java, for `+(a)+(a)` in C.
pub(super) const OPEN_TOKENS: u64 = 4_000;
/// Most bytes of memory that the parser asks for, given back or not. For sources that people write it asks for some
/// 100 in a step; where it tries hundreds of ways out of a fault, for a thousand times as many.
pub(super) const ASKED_BYTES: u64 = 512 << 20;
/// A step after which no reading is without a fault counts so many times: it tries several ways to go on.
const IN_A_FAULT: u64 = 3;
/// Most bytes that the parser is handed, those that it reads again with the others.
pub(super) const READ_BYTES: u64 = 256 << 20;
/// So many bytes are handed at once: few, or reading the same ones again would not be counted.
const BYTES_AT_ONCE: usize = 256;
/// Most looks from a node to those beside it until one has a name of its own.
pub(super) const SIBLING_LOOKS: u64 = 50_000_000;
/// Most steps of a query.
pub(super) const QUERY_STEPS: u64 = 30_000_000;
/// So many of them are made between two looks of a query at its watch.
const QUERY_STEPS_AT_ONCE: u64 = 1_000;
/// A tree with fewer nodes cannot take a query many steps.
const FEW_NODES: usize = 20_000;

/// Parses within the limits a text in which at most so many brackets are open at once; with how many steps that took.
///
/// # Errors
/// A limit that is reached, or a stop.
pub(super) fn parse(
    parser: &mut Parser,
    text: &str,
    open_brackets: u64,
    stop: &dyn Fn() -> bool,
) -> Result<(Tree, u64), CodeError> {
    let begun = meter::asked();
    let over: Cell<Option<CodeError>> = Cell::new(None);
    let (mut steps, handed) = (0_u64, Cell::new(0_u64));
    let mut watch = |state: &tree_sitter::ParseState| {
        steps += if state.has_error() { STEPS_AT_ONCE * IN_A_FAULT } else { STEPS_AT_ONCE };
        let end = if handed.get() > READ_BYTES {
            Some(too_many("bytes to be read, again and again", READ_BYTES))
        } else if steps > PARSER_STEPS {
            Some(too_many("steps of the parser", PARSER_STEPS))
        } else if open_brackets > OPEN_IN_A_FAULT && state.has_error() {
            Some(too_many("brackets that are open at once in a text with a fault", OPEN_IN_A_FAULT))
        } else if meter::asked().wrapping_sub(begun) > ASKED_BYTES {
            Some(too_many("bytes of memory, one after the other", ASKED_BYTES))
        } else {
            stop().then_some(CodeError::Stopped)
        };
        let ends = end.is_some();
        over.set(end);
        if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut read = |at: usize, _| {
        let end = at.saturating_add(BYTES_AT_ONCE).min(text.len());
        handed.set(handed.get() + BYTES_AT_ONCE as u64);
        // As if the text ended here: a parser that reads without a step would never look at its watch.
        let is_over = handed.get() > READ_BYTES || (handed.get().is_multiple_of(1 << 20) && stop());
        if is_over { &[] } else { text.as_bytes().get(at..end).unwrap_or_default() }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut watch);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    if handed.get() > READ_BYTES {
        return Err(too_many("bytes to be read, again and again", READ_BYTES));
    }
    if stop() {
        return Err(CodeError::Stopped);
    }
    let tree = tree.ok_or_else(|| over.take().unwrap_or(CodeError::Stopped))?;
    Ok((tree, steps))
}

/// Refuses a text in which too much may stay open at once; how many brackets are in any other. Strings and comments
/// are not told apart: who looks for their ends could be led astray.
///
/// # Errors
/// A limit is reached.
pub(super) fn not_too_open(text: &str, counts_tokens: bool) -> Result<u64, CodeError> {
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
            return Err(too_many("brackets that are open at once", OPEN_BRACKETS));
        }
        let is_word =
            byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'_' | b'\\' | b'"');
        match byte {
            b';' | b',' | b'{' | b'}' => tokens = 0,
            // A line for the preprocessor.
            b'#' if begins_line => tokens = 0,
            byte if byte.is_ascii_whitespace() => {}
            // Of the signs that frame a comment, those at the beginning of a line.
            b'-' | b'=' | b'*' | b'/' if begins_line => {}
            _ if is_word && in_word => {}
            _ => tokens += 1,
        }
        begins_line = byte == b'\n' || (begins_line && byte.is_ascii_whitespace());
        in_word = is_word;
        if counts_tokens && tokens > OPEN_TOKENS {
            return Err(too_many("words and signs without a , ; { or } between them", OPEN_TOKENS));
        }
    }
    if brackets > OPEN_IN_A_FAULT {
        return Err(too_many("brackets that nobody closes", OPEN_IN_A_FAULT));
    }
    Ok(most)
}

/// Whether the query can be asked of the tree within the limits. Afterwards it is asked without a watch.
///
/// # Errors
/// A limit that is reached, or a stop.
pub(super) fn can_be_asked(
    query: &Query,
    root: Node<'_>,
    text: &str,
    stop: &dyn Fn() -> bool,
) -> Result<(), CodeError> {
    // Only a faulty node has its children in one row; those of every other are few, or in a balanced tree.
    if root.has_error() {
        sibling_looks(root, stop)?;
    }
    if root.descendant_count() < FEW_NODES {
        return Ok(());
    }
    let (mut steps, mut ended) = (0_u64, None);
    let mut watch = |_: &tree_sitter::QueryCursorState| {
        steps += QUERY_STEPS_AT_ONCE;
        if steps > QUERY_STEPS {
            ended = Some(too_many("steps to find what it defines", QUERY_STEPS));
        } else if stop() {
            ended = Some(CodeError::Stopped);
        } else {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(())
    };
    let options = QueryCursorOptions::new().progress_callback(&mut watch);
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches_with_options(query, root, text.as_bytes(), options);
    while matches.next().is_some() {}
    drop(matches);
    ended.map_or(Ok(()), Err)
}

/// Counts how many looks a query takes from each node to the next one beside it that has a name of its own.
fn sibling_looks(root: Node<'_>, stop: &dyn Fn() -> bool) -> Result<(), CodeError> {
    let mut cursor = root.walk();
    // Of each row around the place: how many stand there since the last one with a name of its own.
    let mut rows = vec![0_u64];
    let (mut looks, mut nodes) = (0_u64, 0_u64);
    loop {
        let node = cursor.node();
        nodes += 1;
        if nodes.is_multiple_of(10_000) && stop() {
            return Err(CodeError::Stopped);
        }
        if let Some(since) = rows.last_mut() {
            looks = looks.saturating_add(*since);
            *since = if node.is_named() { 1 } else { *since + 1 };
        }
        if looks > SIBLING_LOOKS {
            return Err(too_many("looks from one place to the next", SIBLING_LOOKS));
        }
        if cursor.goto_first_child() {
            rows.push(0);
            continue;
        }
        while !cursor.goto_next_sibling() {
            rows.pop();
            if !cursor.goto_parent() {
                return Ok(());
            }
        }
    }
}

fn too_many(what: &'static str, limit: u64) -> CodeError {
    CodeError::TooMany { what, limit }
}
