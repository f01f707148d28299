//! Positions in texts, as other programs count them.

use std::borrow::Cow;

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Code units of UTF-16.
    Utf16,
    /// Characters.
    Character,
    /// Either, which is said nowhere: both must be the same place.
    Unknown,
}

/// The lines of a text, for any number of positions in it.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Cow<'t, [usize]>,
}

/// Where each line of a text begins. A line ends with `\n`, `\r\n` or `\r`.
pub(super) fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(index, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(index + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0).chain(ends.map(|(index, _)| index + 1)).collect()
}

impl<'t> Lines<'t> {
    /// The lines of a text.
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, starts: line_starts(text).into() }
    }

    /// The lines of a text of which it is known where they begin.
    pub(super) fn starting(text: &'t str, starts: &'t [usize]) -> Self {
        Self { text, starts: starts.into() }
    }

    /// The byte of a position; line and column count from 0. A column behind the end of its line is not moved there.
    ///
    /// # Errors
    /// There is no such position.
    pub(super) fn byte(&self, line: usize, column: usize, unit: Unit) -> Result<usize, String> {
        let (start, text) =
            self.line(line).ok_or_else(|| format!("the file has no line {}", line + 1))?;
        let column_of = |unit| in_line(text, column, unit);
        let found = match unit {
            Unit::Utf16 | Unit::Character => column_of(unit),
            Unit::Unknown => match (column_of(Unit::Utf16), column_of(Unit::Character)) {
                (a, b) if a == b => a,
                _ => {
                    return Err(format!(
                        "column {} of line {} is one place in characters and another in units of UTF-16, and the file \
                         does not say which (columnKind)",
                        column + 1,
                        line + 1
                    ));
                }
            },
        };
        found
            .map(|offset| start + offset)
            .ok_or_else(|| format!("line {} of the file has no column {}", line + 1, column + 1))
    }

    /// The byte behind the last character of a line, which counts from 0.
    pub(super) fn end(&self, line: usize) -> Option<usize> {
        self.line(line).map(|(start, line)| start + line.len())
    }

    /// Whether a column in code units of UTF-16 is behind the end of its line.
    pub(super) fn is_behind(&self, line: usize, column: usize) -> bool {
        self.line(line).is_some_and(|(_, line)| column > line.encode_utf16().count())
    }

    /// Where a line begins, and its text without its line break.
    fn line(&self, line: usize) -> Option<(usize, &'t str)> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        Some((start, self.text.get(start..end)?.trim_end_matches(['\r', '\n'])))
    }
}

fn in_line(line: &str, column: usize, unit: Unit) -> Option<usize> {
    let mut counted = 0;
    for (offset, character) in line.char_indices() {
        if counted >= column {
            // In the middle of a character, the count has jumped over the column.
            return (counted == column).then_some(offset);
        }
        counted += if unit == Unit::Utf16 { character.len_utf16() } else { 1 };
    }
    (counted == column).then_some(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_their_unit() {
        let lines = Lines::of("a😀b\r\nc\rd\n");
        for (line, column, unit, expected) in [
            (0, 1, Unit::Utf16, Ok(1)),
            (0, 3, Unit::Utf16, Ok(5)),
            (0, 2, Unit::Character, Ok(5)),
            (0, 1, Unit::Unknown, Ok(1)),
            (0, 4, Unit::Utf16, Ok(6)),
            (1, 1, Unit::Utf16, Ok(9)),
            (2, 0, Unit::Utf16, Ok(10)),
            (3, 0, Unit::Unknown, Ok(12)),
            (0, 2, Unit::Utf16, Err(())),
            (0, 2, Unit::Unknown, Err(())),
            (0, 5, Unit::Utf16, Err(())),
            (4, 0, Unit::Utf16, Err(())),
        ] {
            let found = lines.byte(line, column, unit).map_err(drop);
            assert_eq!(found, expected, "{line}:{column} {unit:?}");
        }
        assert_eq!(lines.end(1), Some(9));
        assert!(lines.is_behind(0, 5) && !lines.is_behind(0, 4));
    }
}
