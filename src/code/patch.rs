//! Replaces one definition in a text (SPEC §4, `splice_patch`).

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Node;

use super::source::visit_nodes;
use super::{CodeError, Definition, ParsedText, Source, Span};

const BOM: char = '\u{feff}';

/// A text with one definition replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// The complete new text.
    pub text: String,
    /// The replaced definition.
    pub definition: Definition,
    /// The replaced bytes of the old text. Everything else is unchanged.
    pub replaced: Range<usize>,
    /// The bytes of the new text that replace them.
    pub inserted: Range<usize>,
    /// The full name of the first definition in the replacement, if no definition in it has the replaced name.
    pub defines_instead: Option<String>,
}

/// Replaces the definition that matches `symbol`. Comments and attributes before it are kept unless the replacement
/// has its own. Line breaks and indentation are adapted to the file.
///
/// # Errors
///
/// The symbol is missing, ambiguous, near a syntax error, or defined in one statement with others; the kind is
/// unknown; the replacement has no code; the result has a new syntax error; or a text exceeds a limit of the parser.
/// Parsing may also be stopped.
pub fn patch(
    source: &Source<'_>,
    symbol: &str,
    kind: Option<&str>,
    replacement: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Patched, CodeError> {
    let (definition, node) = source.matching(symbol, kind)?;
    let others: Vec<_> = source
        .definitions()
        .into_iter()
        .filter(|it| it.span == definition.span && it.name_start != definition.name_start)
        .map(|it| it.fqn)
        .collect();
    if !others.is_empty() {
        return Err(CodeError::Shared { symbol: symbol.to_owned(), others: others.join(", ") });
    }
    let replacement = replacement.strip_prefix(BOM).unwrap_or(replacement);
    // Parsed alone only to find its first parts: a method does not parse outside its class.
    let parsed = Source::parse(source.language, replacement, stop)?;
    let parts = first_parts(&parsed)?;
    let (start, kept) = replaced_start(source, node, &parts);
    let end = item_end(source, target(source, node, &parts));
    let body = replacement.get(parts.start..).unwrap_or_default().trim_end();
    let body = indented(source, start, &parsed, parts.start, body);
    let body = with_line_breaks(source.text, &body);
    checked_result(source, definition, start..end, &(kept + &body), stop)
}

/// The end of an item, without the line break that some grammars include, such as C's after a macro.
fn item_end(source: &Source<'_>, node: Node<'_>) -> usize {
    let head = source.text.get(..node.end_byte()).unwrap_or_default();
    head.trim_end_matches(['\r', '\n']).len()
}

/// Replaces a definition literally: comments and attributes before it stay, and line breaks and indentation are not
/// adapted. The program `splice` does the same.
///
/// # Errors
///
/// As [`patch`], except that a statement with several definitions is replaced.
pub fn replace(
    source: &Source<'_>,
    symbol: &str,
    kind: Option<&str>,
    replacement: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Patched, CodeError> {
    let (definition, node) = source.matching(symbol, kind)?;
    first_parts(&Source::parse(source.language, replacement, stop)?)?;
    checked_result(source, definition, node.byte_range(), replacement, stop)
}

/// Replaces these bytes, parses the result, and finds what the replacement defines.
fn checked_result(
    source: &Source<'_>,
    definition: Definition,
    replaced: Range<usize>,
    replacement: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Patched, CodeError> {
    let mut text = source.text.to_owned();
    text.replace_range(replaced.clone(), replacement);
    let inserted = replaced.start..replaced.start + replacement.len();
    let result = Source::parse(source.language, &text, stop)?;
    check_syntax_errors(source, &replaced, &result, &inserted)?;
    let defined: Vec<_> = result
        .definitions()
        .into_iter()
        .filter(|it| inserted.start <= it.span.byte_start && it.span.byte_end <= inserted.end)
        .collect();
    let kept = defined.iter().any(|it| it.name == definition.name);
    let defines_instead = defined.into_iter().next().filter(|_| !kept).map(|now| now.fqn);
    Ok(Patched { text, definition, replaced, inserted, defines_instead })
}

/// Refuses a syntax error at the replaced definition, whose span would then be a guess, and a syntax error that the
/// replacement adds. Other existing errors may stay, because a grammar may lag behind its language, and C is
/// incomplete before preprocessing.
fn check_syntax_errors(
    source: &Source<'_>,
    replaced: &Range<usize>,
    result: &Source<'_>,
    inserted: &Range<usize>,
) -> Result<(), CodeError> {
    let before = source.syntax_errors();
    let is_near = |it: &&Span| it.byte_start <= replaced.end && replaced.start <= it.byte_end;
    if let Some(syntax_error) = before.iter().find(is_near) {
        return Err(source.syntax_error(ParsedText::File, *syntax_error));
    }
    let after = result.syntax_errors();
    // Positions after the replacement are compared relative to the end of the text.
    let position =
        |it: &Span, length: usize, range: &Range<usize>| match it.byte_start < range.start {
            true => (true, it.byte_start, it.byte_end),
            false => (false, length - it.byte_start, length - it.byte_end),
        };
    let known: HashSet<_> =
        before.iter().map(|it| position(it, source.text.len(), replaced)).collect();
    let is_new = |it: &&Span| {
        it.byte_start <= inserted.end && inserted.start <= it.byte_end
            || !known.contains(&position(it, result.text.len(), inserted))
    };
    after
        .iter()
        .find(is_new)
        .map_or(Ok(()), |syntax_error| Err(result.syntax_error(ParsedText::Result, *syntax_error)))
}

/// The first parts of a replacement.
struct FirstParts<'t> {
    /// Start of its first comment, attribute or item, in bytes.
    start: usize,
    has_comments: bool,
    has_attributes: bool,
    /// The node kind of its first item.
    item_kind: &'t str,
}

fn first_parts<'s>(parsed: &'s Source<'_>) -> Result<FirstParts<'s>, CodeError> {
    let root = parsed.tree.root_node();
    let mut parts =
        FirstParts { start: usize::MAX, has_comments: false, has_attributes: false, item_kind: "" };
    let mut cursor = root.walk();
    // If the replacement has syntax errors alone, its first parts may be inside an error node.
    let mut has_node = cursor.goto_first_child();
    while has_node {
        let part = cursor.node();
        parts.start = parts.start.min(part.start_byte());
        if is_comment(part) {
            parts.has_comments = true;
        } else if parsed.language.is_attribute(part.kind()) {
            parts.has_attributes = true;
        } else if part.is_error() && cursor.goto_first_child() {
            continue;
        } else {
            parts.item_kind = part.kind();
            parts.has_attributes |= first_attribute(parsed, part).is_some();
            break;
        }
        has_node = cursor.goto_next_sibling();
    }
    if parts.item_kind.is_empty() {
        return Err(CodeError::EmptyReplacement);
    }
    Ok(parts)
}

/// The node to replace: the definition, or its wrapper if the replacement has the same one.
fn target<'tree>(source: &Source<'_>, node: Node<'tree>, parts: &FirstParts<'_>) -> Node<'tree> {
    let wrapper = node.parent().filter(|parent| source.language.is_wrapper(parent.kind()));
    wrapper.filter(|parent| parent.kind() == parts.item_kind).unwrap_or(node)
}

/// The start of the replaced bytes, and the part of them that is kept before the replacement.
fn replaced_start(source: &Source<'_>, node: Node<'_>, parts: &FirstParts<'_>) -> (usize, String) {
    let target = target(source, node, parts);
    // Annotations inside the item itself, as in Java's grammar.
    let own = first_attribute(source, target);
    if !parts.has_attributes
        && let Some(own) = own
    {
        let after = after_attributes(source, own);
        return (after, String::new());
    }
    let mut leading = Vec::new();
    let mut before = target;
    // Collected once, because finding the previous sibling takes linear time.
    for part in preceding_siblings(target).into_iter().rev() {
        let belongs = is_comment(part) || source.language.is_attribute(part.kind());
        let is_directly_above = is_line_gap(source.text, part.end_byte(), before.start_byte());
        if !belongs || !is_directly_above || shares_line(source.text, part) {
            break;
        }
        leading.push(part);
        before = part;
    }
    leading.reverse();
    let is_replaced =
        |part: &Node<'_>| if is_comment(*part) { parts.has_comments } else { parts.has_attributes };
    let Some(first) = leading.iter().position(is_replaced) else {
        return (target.start_byte(), String::new());
    };
    let rest = leading.get(first..).unwrap_or_default();
    let start = rest.first().map_or(target.start_byte(), Node::start_byte);
    let mut kept = String::new();
    for (index, part) in rest.iter().enumerate() {
        if !is_replaced(part) {
            // Includes the space up to the next part, which keeps lines separate.
            let next = rest.get(index + 1).unwrap_or(&target).start_byte();
            kept.push_str(source.text.get(part.start_byte()..next).unwrap_or_default());
        }
    }
    (start, kept)
}

/// The preceding siblings of a node, in order.
fn preceding_siblings(node: Node<'_>) -> Vec<Node<'_>> {
    let Some(parent) = node.parent() else { return Vec::new() };
    let mut cursor = parent.walk();
    parent.children(&mut cursor).take_while(|part| part.id() != node.id()).collect()
}

/// The first annotation among an item's modifiers.
fn first_attribute<'tree>(source: &Source<'_>, item: Node<'tree>) -> Option<Node<'tree>> {
    let first = item.child(0)?;
    let first = if first.kind() == "modifiers" { first.child(0)? } else { first };
    source.language.is_attribute(first.kind()).then_some(first)
}

/// The start of the item after its annotations.
fn after_attributes(source: &Source<'_>, first: Node<'_>) -> usize {
    let mut last = first;
    while let Some(next) = last.next_sibling() {
        if !source.language.is_attribute(next.kind()) {
            return next.start_byte();
        }
        last = next;
    }
    // If all modifiers are annotations, the item continues after their parent.
    let after = last.parent().and_then(|modifiers| modifiers.next_sibling());
    after.map_or(last.end_byte(), |node| node.start_byte())
}

fn is_comment(node: Node<'_>) -> bool {
    node.is_extra() && node.kind().contains("comment")
}

/// Whether only white space with at most one line break separates two positions.
fn is_line_gap(text: &str, from: usize, to: usize) -> bool {
    // Line comments of some grammars include their line break.
    let from = text.get(..from).map_or(from, |head| head.trim_end_matches(['\r', '\n']).len());
    text.get(from..to)
        .is_some_and(|gap| gap.chars().all(char::is_whitespace) && gap.matches('\n').count() <= 1)
}

/// Whether other code precedes the node on its line.
fn shares_line(text: &str, node: Node<'_>) -> bool {
    let head = text.get(..node.start_byte()).unwrap_or_default();
    let line = head.rsplit('\n').next().unwrap_or_default();
    !line.trim_start_matches(BOM).trim().is_empty()
}

/// The indentation of the line that contains a position.
fn indentation(text: &str, at: usize) -> &str {
    let begin = text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    let line = text.get(begin..at).unwrap_or_default();
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

/// Indents the replacement like the line at `position`, except for lines that start inside a string.
fn indented(
    source: &Source<'_>,
    position: usize,
    parsed: &Source<'_>,
    offset: usize,
    body: &str,
) -> String {
    let new = indentation(source.text, position);
    let old = indentation(parsed.text, offset);
    if new == old || (old.is_empty() && is_cut_out(body, new)) {
        return body.to_owned();
    }
    let strings = strings(parsed);
    let mut moved = String::with_capacity(body.len());
    let mut at = offset;
    for (number, line) in body.split_inclusive('\n').enumerate() {
        let movable = number > 0 && !line.trim().is_empty() && !any_contains(&strings, at);
        match line.strip_prefix(old).filter(|_| movable) {
            Some(rest) => {
                moved.push_str(new);
                moved.push_str(rest);
            }
            None => moved.push_str(line),
        }
        at += line.len();
    }
    moved
}

/// Whether a text has the form that `splice` expects, as if cut out of a file where it had this indentation: only the
/// first line lacks the indentation, the second line is indented further, and the last line has a closing brace at
/// exactly this indentation.
fn is_cut_out(body: &str, indentation: &str) -> bool {
    let continues_with = |line: Option<&str>, with: &[char]| {
        line.and_then(|line| line.strip_prefix(indentation))
            .is_some_and(|rest| rest.starts_with(with))
    };
    let mut lines = body.lines().skip(1);
    continues_with(lines.next(), &[' ', '\t']) && continues_with(lines.last(), &['}'])
}

/// The ranges of all strings, in order and disjoint.
fn strings(source: &Source<'_>) -> Vec<Range<usize>> {
    let mut strings = Vec::new();
    visit_nodes(source.tree.root_node(), |node| {
        let kind = node.kind();
        let is_string =
            kind.contains("string") || kind.contains("template") || kind.contains("text_block");
        let is_string = is_string && kind != "template_declaration";
        if is_string {
            // For adjacent strings: the start of the second is not inside the first.
            strings.push(node.start_byte() + 1..node.end_byte());
        }
        !is_string
    });
    strings
}

/// Converts the line breaks of the replacement to those of most lines in the file.
fn with_line_breaks<'a>(file: &str, body: &'a str) -> Cow<'a, str> {
    let all = file.matches('\n').count();
    let crlf = file.matches("\r\n").count();
    let unix =
        if body.contains('\r') { Cow::Owned(body.replace("\r\n", "\n")) } else { body.into() };
    if all == 0 {
        Cow::Borrowed(body)
    } else if crlf * 2 > all {
        Cow::Owned(unix.replace('\n', "\r\n"))
    } else {
        unix
    }
}

/// Whether one of these ordered, disjoint ranges contains `at`.
fn any_contains(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|it| it.start <= at);
    after.checked_sub(1).and_then(|index| ranges.get(index)).is_some_and(|it| it.contains(&at))
}
