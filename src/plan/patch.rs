//! Writes unified diffs of one file.

use similar::TextDiff;

/// Lines around a change.
const CONTEXT: usize = 3;

/// The most pairs of changed lines that are compared. Above it, the time of a comparison could grow without a limit.
const MAX_PAIRS: usize = 1 << 26;

/// The diff of a file in the format of `diff -u`.
pub(super) fn patch(path: &str, before: &str, after: &str) -> String {
    // Only a line feed ends a line, because the patch is applied by the same rule.
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = before.iter().zip(&after).take_while(same).count();
    let most = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(same).count();
    let pairs = (before.len() - head - tail).saturating_mul(after.len() - head - tail);
    let (from, to) = (format!("a/{path}"), format!("b/{path}"));
    // The library takes CR at the end for a line break.
    let ends_with_return = |lines: &[&str]| lines.last().is_some_and(|line| line.ends_with('\r'));
    if pairs <= MAX_PAIRS && !ends_with_return(&before) && !ends_with_return(&after) {
        let diff = TextDiff::configure().newline_terminated(true).diff_slices(&before, &after);
        return diff.unified_diff().context_radius(CONTEXT).header(&from, &to).to_string();
    }
    format!("--- {from}\n+++ {to}\n{}", whole_hunk(&before, &after, head, tail))
}

/// One hunk that removes all lines between an equal beginning and an equal end, and adds those in their place.
fn whole_hunk(before: &[&str], after: &[&str], head: usize, tail: usize) -> String {
    let (above, below) = (head.min(CONTEXT), tail.min(CONTEXT));
    let start = head - above;
    let length = |lines: &[&str]| lines.len() - head - tail + above + below;
    let range = |lines: &[&str]| match length(lines) {
        0 => format!("{start},0"),
        length => format!("{},{length}", start + 1),
    };
    let mut hunk = format!("@@ -{} +{} @@\n", range(before), range(after));
    let mut add = |sign: char, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            hunk.push(sign);
            hunk.push_str(line);
            if !line.ends_with('\n') {
                hunk.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    add(' ', before.get(start..head));
    add('-', before.get(head..before.len() - tail));
    add('+', after.get(head..after.len() - tail));
    add(' ', before.get(before.len() - tail..before.len() - tail + below));
    hunk
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the comparison takes too long, the diff is one hunk of the same form.
    #[test]
    fn a_whole_hunk_is_what_one_change_is() {
        for (before, after) in [
            ("a\nb\nc\n", "a\nx\nc\n"),
            ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\ny\n6\n7\n8\n9\n"),
            ("a", "b\n"),
            ("a\n", "b"),
            ("", "a\n"),
            ("a\n", ""),
            ("a\nb\n", "a\n"),
        ] {
            let lines = |text: &'static str| text.split_inclusive('\n').collect::<Vec<_>>();
            let (old, new) = (lines(before), lines(after));
            let same = |(a, b): &(&&str, &&str)| a == b;
            let head = old.iter().zip(&new).take_while(same).count();
            let most = old.len().min(new.len()) - head;
            let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(same).count();
            let diff = patch("f", before, after);
            let hunk = whole_hunk(&old, &new, head, tail);
            // A single line is written without its number.
            let diff = diff.replace("-1 +", "-1,1 +").replace("+1 @@", "+1,1 @@");
            assert_eq!(
                diff.split_once("@@").unwrap().1,
                hunk.split_once("@@").unwrap().1,
                "{before:?} {after:?}"
            );
        }
    }

    #[test]
    fn a_carriage_return_is_no_line_break() {
        assert_eq!(
            patch("f", "a\nb\r", "a\nc\r"),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\r\n\\ No newline at end of file\n+c\r\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn large_changes_are_not_compared() {
        let text =
            |word: &str| (0..20_000).map(|line| format!("{word}{line}\n")).collect::<String>();
        let diff = patch("f", &text("a"), &text("b"));
        assert_eq!(diff.lines().count(), 3 + 40_000);
        assert!(diff.starts_with("--- a/f\n+++ b/f\n@@ -1,20000 +1,20000 @@\n-a0\n"));
    }
}
