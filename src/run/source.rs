//! Lines of a source file beside what was said about them.

/// The longest line that is shown, in characters; the rest is left out, visibly.
const MAX_CHARACTERS: usize = 1_000;

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its text without the line's end, as [`shown_line`] gives it.
    pub text: String,
}

/// A line as compilers and people count its columns: without a byte order mark and without its end, and
/// no longer than a screen can show.
pub fn shown_line(line: &str) -> String {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let line = line.trim_end_matches(['\r', '\n']);
    match line.char_indices().nth(MAX_CHARACTERS) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_line_is_limited() {
        assert_eq!(shown_line("\u{feff}let a = 1;\r"), "let a = 1;");
        assert_eq!(shown_line("\tlet a"), "\tlet a");
        let long = shown_line(&"é".repeat(3_000));
        assert_eq!(long.chars().count(), MAX_CHARACTERS + 1);
        assert!(long.ends_with("é…"));
    }
}
