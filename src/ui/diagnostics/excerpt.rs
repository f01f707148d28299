//! The lines of source that a diagnostic is about, with the place marked and a line of carets below it.
//! Pure; made once for each diagnostic that is looked at.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use crate::code::{Class, Language, highlight};
use crate::plan::visible;
use crate::run::{DiagnosticArtifact, DiagnosticSpan, SourceLine, shown_line};

/// Lines shown before and behind a place.
const AROUND: usize = 2;
/// Of a place of many lines, this many are shown at its begin and as many at its end.
const ENDS: usize = 4;
/// Most places that are shown.
const MOST_PLACES: usize = 8;

/// The source that a diagnostic is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excerpt {
    /// The lines are those that the compiler read, as far as that is known.
    Shown {
        /// What to draw.
        rows: Vec<ExcerptRow>,
        /// Whether the records hold the lines as the compiler read them, to compare with.
        compared: bool,
    },
    /// The file has other lines there now.
    Changed,
    /// There are none, because of this.
    Missing(String),
    /// The diagnostic names no place.
    Nowhere,
}

/// One row of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcerptRow {
    /// The number of the line, for rows that are one.
    pub number: Option<usize>,
    /// The text, with everything hidden made visible.
    pub text: String,
    /// The pieces of the text that places mark, and whether it is what the diagnostic is about.
    pub marks: Vec<(Range<usize>, bool)>,
    /// Colours of code.
    pub colours: Vec<(Range<usize>, Class)>,
    /// Of a row of carets, whether they are of what the diagnostic is about.
    pub carets: Option<bool>,
}

fn number(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// The places of a diagnostic in its own file, what it is about first.
fn places(it: &DiagnosticArtifact) -> Vec<DiagnosticSpan> {
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
            byte_start: 0,
            byte_end: 0,
            is_primary: true,
            text: Vec::new(),
            label: None,
            suggested_replacement: None,
            applicability: None,
        });
    }
    spans.truncate(MOST_PLACES);
    spans
}

/// The numbers of the lines that the excerpt of a diagnostic is made of; empty where it names no place.
pub fn wanted(it: &DiagnosticArtifact) -> Vec<RangeInclusive<usize>> {
    if it.file_name.is_empty() {
        return Vec::new();
    }
    let mut ranges = Vec::new();
    for span in places(it) {
        let (first, last) = (number(span.line_start), number(span.line_end.max(span.line_start)));
        let from = first.saturating_sub(AROUND).max(1);
        if last - first >= 2 * ENDS {
            ranges.push(from..=first + ENDS - 1);
            ranges.push(last + 1 - ENDS..=last + AROUND);
        } else {
            ranges.push(from..=last + AROUND);
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

/// The excerpt of a diagnostic, of these lines of its file.
pub fn excerpt(it: &DiagnosticArtifact, lines: &[SourceLine]) -> Excerpt {
    let places = places(it);
    if it.file_name.is_empty() || places.is_empty() {
        return Excerpt::Nowhere;
    }
    let line = |wanted: usize| lines.iter().find(|line| line.number == wanted);
    let mut compared = false;
    for span in &places {
        for (number, text) in (number(span.line_start)..).zip(&span.text) {
            compared = true;
            // Of a long place not every line was read.
            let was_wanted = wanted(it).iter().any(|range| range.contains(&number));
            let is_same = line(number).is_some_and(|line| line.text == shown_line(text));
            if was_wanted && !is_same {
                return Excerpt::Changed;
            }
        }
    }
    if line(places.first().map_or(0, |span| number(span.line_start))).is_none() {
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
        let parts: Vec<_> = places.iter().filter_map(|span| part(span, source)).collect();
        rows.push(ExcerptRow {
            number: Some(source.number),
            marks: parts.iter().map(|(range, span)| (range.clone(), span.is_primary)).collect(),
            colours,
            ..plain(visible(&source.text).into_owned())
        });
        for (_, span) in parts
            .iter()
            .filter(|(_, span)| number(span.line_end.max(span.line_start)) == source.number)
        {
            rows.push(carets(span, source));
        }
    }
    Excerpt::Shown { rows, compared }
}

fn plain(text: String) -> ExcerptRow {
    ExcerptRow { number: None, text, marks: Vec::new(), colours: Vec::new(), carets: None }
}

/// The characters of a line, from 0, that a place takes; of a line in the middle, from its first letter.
fn columns(span: &DiagnosticSpan, source: &SourceLine) -> Range<usize> {
    let (first, last) = (number(span.line_start), number(span.line_end.max(span.line_start)));
    let length = source.text.chars().count();
    let indent = source.text.chars().take_while(|c| c.is_whitespace()).count();
    let start = if source.number == first { number(span.column_start).max(1) - 1 } else { indent };
    let end = if source.number == last { number(span.column_end).max(1) - 1 } else { length };
    // A place without width, such as the end of a file, still has to be seen.
    start..end.max(start + 1)
}

/// The bytes of the visible text of a line that a place takes; none where it is elsewhere.
fn part<'a>(
    span: &'a DiagnosticSpan,
    source: &SourceLine,
) -> Option<(Range<usize>, &'a DiagnosticSpan)> {
    let lines = number(span.line_start)..=number(span.line_end.max(span.line_start));
    if !lines.contains(&source.number) {
        return None;
    }
    let columns = columns(span, source);
    let bytes = |chars: usize| visible(&beginning(&source.text, chars)).len();
    Some((bytes(columns.start)..bytes(columns.end), span))
}

fn beginning(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The row below a line that points at a place and says what is the matter with it.
fn carets(span: &DiagnosticSpan, source: &SourceLine) -> ExcerptRow {
    let columns = columns(span, source);
    let shown = |chars: usize| visible(&beginning(&source.text, chars)).chars().count();
    let (start, end) = (shown(columns.start), shown(columns.end));
    let sign = if span.is_primary { "^" } else { "-" };
    let mut text = " ".repeat(start);
    text.push_str(&sign.repeat(end.saturating_sub(start).max(1)));
    if let Some(label) = &span.label {
        text.push(' ');
        text.push_str(&visible(label.lines().next().unwrap_or_default()));
    }
    ExcerptRow { carets: Some(span.is_primary), ..plain(text) }
}

/// The colours of each line; none where what is hidden in one would move them.
fn colours(file: &str, lines: &[SourceLine]) -> Vec<Vec<(Range<usize>, Class)>> {
    let mut colours = vec![Vec::new(); lines.len()];
    let Some(language) = Language::of_path(Path::new(file)) else { return colours };
    let text: String = lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
    let pieces = highlight(language, &text);
    let mut start = 0;
    for (line, colours) in lines.iter().zip(&mut colours) {
        let end = start + line.text.len();
        if visible(&line.text) == line.text {
            let inside = pieces.iter().filter(|(it, _)| it.start < end && it.end > start);
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
            byte_start: 0,
            byte_end: 0,
            is_primary: label.is_some(),
            text: vec![text.to_owned()],
            label: label.map(str::to_owned),
            suggested_replacement: None,
            applicability: None,
        }
    }

    fn about(spans: Vec<DiagnosticSpan>) -> DiagnosticArtifact {
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
        let wanted = wanted(it);
        let all = (1..).zip(text.split('\n'));
        all.filter(|(number, _)| wanted.iter().any(|range| range.contains(number)))
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
    fn carets_stand_below_what_they_mean_with_their_label() {
        let it = about(vec![
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
    fn tabs_and_hidden_characters_take_the_room_they_are_shown_with() {
        let line = "\tlet \u{202e}x = 1;";
        let it = about(vec![span(1, 7..8, line, Some("here"))]);
        let shown = drawn(&it, line);
        assert_eq!(shown[0], "1     let ⟨U+202E⟩x = 1;");
        let caret = shown[1].chars().position(|c| c == '^').unwrap();
        assert_eq!(shown[0].chars().nth(caret), Some('x'));
    }

    #[test]
    fn places_far_apart_and_long_ones_are_shown_with_gaps() {
        let text: String = (1..=60).map(|line| format!("line {line}\n")).collect();
        let mut long = span(5, 1..4, "line 5", Some("all of this"));
        long.line_end = 30;
        let it = about(vec![long, span(50, 1..5, "line 50", None)]);
        assert_eq!(wanted(&it), [3..=8, 27..=32, 48..=52]);
        let shown = drawn(&it, &text);
        assert_eq!(shown.iter().filter(|row| row.contains('⋯')).count(), 2);
        let carets: Vec<_> = shown.iter().filter(|row| row.contains(['^', '-'])).collect();
        assert_eq!(carets, ["  ^^^ all of this", "  ----"]);
    }

    #[test]
    fn lines_that_are_others_now_are_not_shown_as_if_they_were_meant() {
        let it = about(vec![span(2, 1..4, "foo();", Some("no"))]);
        for text in ["x\nfoo() ;\n", "foo();\n", ""] {
            assert_eq!(excerpt(&it, &lines(text, &it)), Excerpt::Changed, "{text:?}");
        }
        // What is around it may be another.
        assert!(matches!(excerpt(&it, &lines("y\nfoo();\r\n", &it)), Excerpt::Shown { .. }));
        let mut nowhere = about(vec![]);
        assert_eq!(excerpt(&nowhere, &[]), Excerpt::Nowhere);
        assert!(wanted(&nowhere).is_empty());
        // Of records that hold no lines, nobody can tell.
        nowhere.line_start = 1;
        let shown = excerpt(&nowhere, &lines("foo();\n", &nowhere));
        assert!(matches!(shown, Excerpt::Shown { compared: false, .. }), "{shown:?}");
        assert_eq!(excerpt(&nowhere, &[]), Excerpt::Changed);
    }

    #[test]
    fn a_place_without_width_is_seen() {
        let it = about(vec![span(1, 7..7, "foo(1)", Some("expected `;`"))]);
        assert_eq!(drawn(&it, "foo(1)")[1], "        ^ expected `;`");
    }
}
