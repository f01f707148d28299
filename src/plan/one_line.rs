//! Commands of several lines in a list, where each has one line.

use std::borrow::Cow;

use super::visible_name;

/// The sign of a line break.
const SIGN: char = '↵';

/// As [`visible_name`], with ` ↵ ` for each line break inside the text. The same sign in the text itself has its code
/// point.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches(['\n', '\r']);
    if !text.contains(['\n', SIGN]) {
        return visible_name(text);
    }
    let lines = text.split('\n').map(|line| {
        let parts = line.strip_suffix('\r').unwrap_or(line).split(SIGN).map(visible_name);
        parts.collect::<Vec<_>>().join(&format!("⟨U+{:04X}⟩", u32::from(SIGN)))
    });
    lines.collect::<Vec<_>>().join(&format!(" {SIGN} ")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_are_told_apart_from_their_sign() {
        assert_eq!(one_line("ls -l"), "ls -l");
        assert_eq!(one_line("cd a\n  make\r\nls\n"), "cd a ↵   make ↵ ls");
        assert_eq!(one_line("echo ↵ x"), "echo ⟨U+21B5⟩ x");
        assert_eq!(one_line("p\u{430}y\n\u{202e}x\ry"), "p\u{430}⟨U+0430⟩y ↵ ⟨U+202E⟩x⟨U+000D⟩y");
    }
}
