//! Positions in texts, as other programs count them.

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

/// The byte of a position; line and column count from 0. A column behind the end of its line is not moved there.
///
/// # Errors
/// There is no such position.
pub(super) fn byte(text: &str, line: usize, column: usize, unit: Unit) -> Result<usize, String> {
    let (start, line_text) =
        line_at(text, line).ok_or_else(|| format!("the file has no line {}", line + 1))?;
    let column_of = |unit| in_line(line_text, column, unit);
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
pub(super) fn end_of_line(text: &str, line: usize) -> Option<usize> {
    line_at(text, line).map(|(start, line)| start + line.len())
}

/// Whether a column in code units of UTF-16 is behind the end of its line.
pub(super) fn is_behind_line(text: &str, line: usize, column: usize) -> bool {
    line_at(text, line).is_some_and(|(_, line)| column > line.encode_utf16().count())
}

/// Where a line begins, and its text without its line break, which is `\n`, `\r\n` or `\r`.
fn line_at(text: &str, line: usize) -> Option<(usize, &str)> {
    let (mut start, mut left) = (0, line);
    loop {
        let rest = text.get(start..)?;
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        if left == 0 {
            return Some((start, rest.get(..end)?));
        }
        let line_break = if rest.get(end..)?.starts_with("\r\n") { 2 } else { 1 };
        // The last line has no break.
        if end == rest.len() {
            return None;
        }
        (start, left) = (start + end + line_break, left - 1);
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
        let text = "a😀b\r\nc\rd\n";
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
            assert_eq!(
                byte(text, line, column, unit).map_err(drop),
                expected,
                "{line}:{column} {unit:?}"
            );
        }
        assert_eq!(end_of_line(text, 1), Some(9));
        assert!(is_behind_line(text, 0, 5) && !is_behind_line(text, 0, 4));
    }
}
