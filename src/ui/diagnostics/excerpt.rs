//! The source lines of a diagnostic, with its spans marked and carets below. Pure; computed once for each
//! selected diagnostic.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use crate::code::{Class, Language, highlight};
use crate::plan::drawable;
use crate::run::{DiagnosticArtifact, DiagnosticSpan, SourceLine, shown_line};

/// The number of context lines before and after a span.
const CONTEXT_LINES: usize = 2;
/// The number of lines shown at the start and at the end of a span that has more than twice as many.
const END_LINES: usize = 4;
/// The maximum number of spans shown.
const MAX_SPANS: usize = 8;

/// The source of a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excerpt {
    /// The source lines. They have not changed since the check, as far as the evidence can tell.
    Shown {
        /// The rows to draw.
        rows: Vec<ExcerptRow>,
        /// Whether lines that the compiler read are recorded, so that the file could be compared with them.
        compared: bool,
    },
    /// The file no longer has the lines that the compiler read.
    Changed,
    /// The source is missing, for this reason.
    Missing(String),
    /// The diagnostic has no location.
    Nowhere,
}

/// A row of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcerptRow {
    /// The line number, for rows with a source line.
    pub number: Option<usize>,
    /// The text, with hidden characters made visible.
    pub text: String,
    /// The ranges of the text that spans mark, and whether the span is primary.
    pub marks: Vec<(Range<usize>, bool)>,
    /// Syntax colours.
    pub colours: Vec<(Range<usize>, Class)>,
    /// For a row of carets, whether the span is primary.
    pub carets: Option<bool>,
}

fn number(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// The lines of a span.
fn lines_of(span: &DiagnosticSpan) -> RangeInclusive<usize> {
    number(span.line_start)..=number(span.line_end.max(span.line_start))
}

/// At most [`MAX_SPANS`] spans of a diagnostic in its own file, primary ones first. Without spans, one is made of the
/// diagnostic's own location.
fn spans(it: &DiagnosticArtifact) -> Vec<DiagnosticSpan> {
    let in_file = |span: &&DiagnosticSpan| span.file_name == it.file_name && span.line_start > 0;
    let mut spans: Vec<_> = it.spans.iter().filter(in_file).cloned().collect();
    spans.sort_by_key(|span| !span.is_primary);
    if spans.is_empty() && it.line_start > 0 {
        let column = it.column_start.unwrap_or(1);
        spans.push(DiagnosticSpan {
            file_name: it.file_name.clone(),
            line_start: it.line_start,
            column_start: column,
            line_end: it.line_end.unwrap_or(it.line_start),
            column_end: it.column_end.unwrap_or(column + 1),
            is_primary: true,
            ..DiagnosticSpan::default()
        });
    }
    spans.truncate(MAX_SPANS);
    spans
}

/// The ranges of lines that the excerpt of a diagnostic shows; empty when it has no location.
pub fn excerpt_lines(it: &DiagnosticArtifact) -> Vec<RangeInclusive<usize>> {
    if it.file_name.is_empty() {
        return Vec::new();
    }
    let mut ranges = Vec::new();
    for span in spans(it) {
        let (first, last) = lines_of(&span).into_inner();
        let from = first.saturating_sub(CONTEXT_LINES).max(1);
        if last - first >= 2 * END_LINES {
            ranges.push(from..=first + END_LINES - 1);
            ranges.push(last + 1 - END_LINES..=last + CONTEXT_LINES);
        } else {
            ranges.push(from..=last + CONTEXT_LINES);
        }
    }
    ranges.sort_by_key(|range| *range.start());
    let mut merged: Vec<RangeInclusive<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if *range.start() <= last.end() + 1 => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => merged.push(range),
        }
    }
    merged
}

/// The excerpt of a diagnostic. `lines` has the present lines of its file in the ranges of [`excerpt_lines`].
pub fn excerpt(it: &DiagnosticArtifact, lines: &[SourceLine]) -> Excerpt {
    let spans = spans(it);
    if it.file_name.is_empty() || spans.is_empty() {
        return Excerpt::Nowhere;
    }
    let line = |number: usize| lines.iter().find(|line| line.number == number);
    let mut compared = false;
    for span in &spans {
        for (number, text) in (*lines_of(span).start()..).zip(&span.text) {
            compared = true;
            // `lines` has only some lines of a long span.
            let is_shown = excerpt_lines(it).iter().any(|range| range.contains(&number));
            let is_same = line(number).is_some_and(|line| line.text == shown_line(text));
            if is_shown && !is_same {
                return Excerpt::Changed;
            }
        }
    }
    if line(spans.first().map_or(0, |span| number(span.line_start))).is_none() {
        return Excerpt::Changed;
    }
    let colours = colours(&it.file_name, lines);
    let mut rows: Vec<ExcerptRow> = Vec::new();
    let mut before: Option<usize> = None;
    for (source, colours) in lines.iter().zip(colours) {
        if before.is_some_and(|before| before + 1 < source.number) {
            rows.push(plain("⋯".to_owned()));
        }
        before = Some(source.number);
        let parts: Vec<_> = spans.iter().filter_map(|span| part(span, source)).collect();
        rows.push(ExcerptRow {
            number: Some(source.number),
            marks: parts.iter().map(|(range, span)| (range.clone(), span.is_primary)).collect(),
            colours,
            ..plain(drawable(&source.text).into_owned())
        });
        let ending = parts.iter().filter(|(_, span)| *lines_of(span).end() == source.number);
        rows.extend(ending.map(|(_, span)| carets(span, source)));
    }
    Excerpt::Shown { rows, compared }
}

fn plain(text: String) -> ExcerptRow {
    ExcerptRow { number: None, text, marks: Vec::new(), colours: Vec::new(), carets: None }
}

/// The range of a span in a line, in characters. In lines after the first of the span it starts after the indentation.
fn columns(span: &DiagnosticSpan, source: &SourceLine) -> Range<usize> {
    let (first, last) = lines_of(span).into_inner();
    let length = source.text.chars().count();
    let indent = source.text.chars().take_while(|c| c.is_whitespace()).count();
    let start = if source.number == first { number(span.column_start).max(1) - 1 } else { indent };
    let end = if source.number == last { number(span.column_end).max(1) - 1 } else { length };
    // A span without width, such as the end of a file, is marked with one character.
    start..end.max(start + 1)
}

/// The byte range of a span in the visible text of a line, with the span; `None` for a line outside the span.
fn part<'a>(
    span: &'a DiagnosticSpan,
    source: &SourceLine,
) -> Option<(Range<usize>, &'a DiagnosticSpan)> {
    if !lines_of(span).contains(&source.number) {
        return None;
    }
    let columns = columns(span, source);
    let bytes = |chars: usize| drawable(&beginning(&source.text, chars)).len();
    Some((bytes(columns.start)..bytes(columns.end), span))
}

fn beginning(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The row below a line with the carets and the label of a span.
fn carets(span: &DiagnosticSpan, source: &SourceLine) -> ExcerptRow {
    let columns = columns(span, source);
    let shown = |chars: usize| drawable(&beginning(&source.text, chars)).chars().count();
    let (start, end) = (shown(columns.start), shown(columns.end));
    let sign = if span.is_primary { "^" } else { "-" };
    let mut text = " ".repeat(start);
    text.push_str(&sign.repeat(end.saturating_sub(start).max(1)));
    if let Some(label) = &span.label {
        text.push(' ');
        text.push_str(&drawable(label.lines().next().unwrap_or_default()));
    }
    ExcerptRow { carets: Some(span.is_primary), ..plain(text) }
}

/// The syntax colours of each line. A line with hidden characters has none, because they are longer in its visible
/// form.
fn colours(file: &str, lines: &[SourceLine]) -> Vec<Vec<(Range<usize>, Class)>> {
    let mut colours = vec![Vec::new(); lines.len()];
    let Some(language) = Language::of_path(Path::new(file)) else { return colours };
    let text: String = lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
    let tokens = highlight(language, &text);
    let mut start = 0;
    for (line, colours) in lines.iter().zip(&mut colours) {
        let end = start + line.text.len();
        if drawable(&line.text) == line.text {
            let inside = tokens.iter().filter(|(it, _)| it.start < end && it.end > start);
            colours.extend(
                inside.map(|(it, class)| {
                    (it.start.max(start) - start..it.end.min(end) - start, *class)
                }),
            );
        }
        start = end + 1;
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Level;

    fn span(line: i64, columns: Range<i64>, text: &str, label: Option<&str>) -> DiagnosticSpan {
        DiagnosticSpan {
            file_name: "a.rs".to_owned(),
            line_start: line,
            column_start: columns.start,
            line_end: line,
            column_end: columns.end,
            is_primary: label.is_some(),
            text: vec![text.to_owned()],
            label: label.map(str::to_owned),
            ..DiagnosticSpan::default()
        }
    }

    fn with_spans(spans: Vec<DiagnosticSpan>) -> DiagnosticArtifact {
        DiagnosticArtifact {
            level: Level::Error,
            tool_level: "error".to_owned(),
            message: "m".to_owned(),
            file_name: "a.rs".to_owned(),
            line_start: spans.first().map_or(0, |span| span.line_start),
            column_start: None,
            line_end: None,
            column_end: None,
            code: None,
            spans,
            children: Vec::new(),
            rendered: None,
        }
    }

    fn lines(text: &str, it: &DiagnosticArtifact) -> Vec<SourceLine> {
        let ranges = excerpt_lines(it);
        let all = (1..).zip(text.split('\n'));
        all.filter(|(number, _)| ranges.iter().any(|range| range.contains(number)))
            .map(|(number, text)| SourceLine { number, text: shown_line(text) })
            .collect()
    }

    fn drawn(it: &DiagnosticArtifact, text: &str) -> Vec<String> {
        let Excerpt::Shown { rows, compared } = excerpt(it, &lines(text, it)) else {
            panic!("{:?}", excerpt(it, &lines(text, it)));
        };
        assert!(compared);
        let row = |row: &ExcerptRow| match row.number {
            Some(number) => format!("{number} {}", row.text),
            None => format!("  {}", row.text),
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn carets_stand_below_their_span() {
        let it = with_spans(vec![
            span(3, 5..8, "    foo(1);", Some("not found")),
            span(1, 4..5, "fn f() {", None),
        ]);
        let text = "fn f() {\n\n    foo(1);\n}\n\nfn g() {}\n";
        assert_eq!(
            drawn(&it, text),
            ["1 fn f() {", "     -", "2 ", "3     foo(1);", "      ^^^ not found", "4 }", "5 "]
        );
        let Excerpt::Shown { rows, .. } = excerpt(&it, &lines(text, &it)) else { panic!() };
        assert_eq!(rows[3].marks, [(4..7, true)]);
        assert_eq!(rows[4].carets, Some(true));
        assert!(
            rows[0].colours.iter().any(|(it, class)| (it, class) == (&(0..2), &Class::Keyword))
        );
    }

    #[test]
    fn carets_align_after_tabs_and_hidden_characters() {
        let line = "\tlet \u{202e}x = 1;";
        let it = with_spans(vec![span(1, 7..8, line, Some("here"))]);
        let shown = drawn(&it, line);
        assert_eq!(shown[0], "1     let ⟨U+202E⟩x = 1;");
        let caret = shown[1].chars().position(|c| c == '^').unwrap();
        assert_eq!(shown[0].chars().nth(caret), Some('x'));
    }

    #[test]
    fn distant_and_long_spans_have_gaps() {
        let text: String = (1..=60).map(|line| format!("line {line}\n")).collect();
        let mut long = span(5, 1..4, "line 5", Some("all of this"));
        long.line_end = 30;
        let it = with_spans(vec![long, span(50, 1..5, "line 50", None)]);
        assert_eq!(excerpt_lines(&it), [3..=8, 27..=32, 48..=52]);
        let shown = drawn(&it, &text);
        assert_eq!(shown.iter().filter(|row| row.contains('⋯')).count(), 2);
        let carets: Vec<_> = shown.iter().filter(|row| row.contains(['^', '-'])).collect();
        assert_eq!(carets, ["  ^^^ all of this", "  ----"]);
    }

    #[test]
    fn changed_lines_are_not_marked() {
        let it = with_spans(vec![span(2, 1..4, "foo();", Some("no"))]);
        for text in ["x\nfoo() ;\n", "foo();\n", ""] {
            assert_eq!(excerpt(&it, &lines(text, &it)), Excerpt::Changed, "{text:?}");
        }
        // Changes of the surrounding lines do not matter.
        assert!(matches!(excerpt(&it, &lines("y\nfoo();\r\n", &it)), Excerpt::Shown { .. }));
        let mut nowhere = with_spans(vec![]);
        assert_eq!(excerpt(&nowhere, &[]), Excerpt::Nowhere);
        assert!(excerpt_lines(&nowhere).is_empty());
        // Without recorded lines there is nothing to compare.
        nowhere.line_start = 1;
        let shown = excerpt(&nowhere, &lines("foo();\n", &nowhere));
        assert!(matches!(shown, Excerpt::Shown { compared: false, .. }), "{shown:?}");
        assert_eq!(excerpt(&nowhere, &[]), Excerpt::Changed);
    }

    #[test]
    fn empty_span_has_a_caret() {
        let it = with_spans(vec![span(1, 7..7, "foo(1)", Some("expected `;`"))]);
        assert_eq!(drawn(&it, "foo(1)")[1], "        ^ expected `;`");
    }
}
