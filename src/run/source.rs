//! Source lines that are shown with diagnostics.

/// The maximum length of a shown line, in characters. The rest is replaced by an ellipsis.
const MAX_CHARACTERS: usize = 1_000;

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The line number, from 1.
    pub number: usize,
    /// The text without its line break, as [`shown_line`] returns it.
    pub text: String,
}

/// Prepares a line for display: without a byte order mark, so that columns count as compilers count them, without its
/// line break, and with a long text cut.
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
