//! The difference between the arguments of two steps, as lines. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The number of equal lines around a difference.
const CONTEXT: usize = 2;
/// The maximum size of the difference of one step, in bytes.
const MAX_BYTES: usize = 8 << 10;
/// The line in place of what is left out.
const CUT: &str = "… the rest is on the plan page";

/// The lines that differ, each with `-`, `+` or a space in front, below the name of their argument. Empty if nothing
/// differs.
pub(super) fn argument_difference(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> String {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut text = String::new();
    for name in names {
        let [old, new] = [before, after].map(|arguments| arguments.get(name));
        if old == new {
            continue;
        }
        text.push_str(&format!(" {name}:\n"));
        let [old, new] = [old, new].map(|value| value.map_or_else(String::new, |it| readable(it)));
        for (sign, line) in differing_lines(&old, &new) {
            if text.len() + line.len() > MAX_BYTES {
                text.push_str(&format!(" {CUT}\n"));
                return text;
            }
            text.push_str(&format!("{sign}{line}\n"));
        }
    }
    text
}

/// The value in lines. JSON, such as the edits of a batch, is laid out, and its strings are broken after each line break
/// that they contain.
fn readable(value: &str) -> String {
    let json: Option<Value> = serde_json::from_str(value).ok();
    match json.filter(|json| json.is_array() || json.is_object()) {
        Some(json) => format!("{json:#}").replace("\\n", "\\n\n"),
        None => value.to_owned(),
    }
}

/// The lines between the equal first and last lines of both texts, with a little of these.
fn differing_lines<'t>(old: &'t str, new: &'t str) -> Vec<(char, &'t str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - first;
    let pairs = old.iter().rev().zip(new.iter().rev()).take(rest);
    let last = pairs.take_while(|(old, new)| old == new).count();
    let part = |lines: &[&'t str], from: usize, to: usize| -> Vec<&'t str> {
        lines.get(from..to).unwrap_or_default().to_vec()
    };
    let end = old.len() - last;
    let context = |lines: Vec<&'t str>| lines.into_iter().map(|line| (' ', line));
    context(part(&old, first.saturating_sub(CONTEXT), first))
        .chain(part(&old, first, end).into_iter().map(|line| ('-', line)))
        .chain(part(&new, first, new.len() - last).into_iter().map(|line| ('+', line)))
        .chain(context(part(&old, end, (end + CONTEXT).min(old.len()))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(values: &[(&str, &str)]) -> BTreeMap<String, String> {
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_differing_lines_are_shown() {
        let before =
            arguments(&[("path", "a"), ("contents", "1\n2\n3\nold\n4\n5\n6\n"), ("gone", "x")]);
        let after = arguments(&[("path", "a"), ("contents", "1\n2\n3\nnew\nmore\n4\n5\n6\n")]);
        assert_eq!(
            argument_difference(&before, &after),
            " contents:\n 2\n 3\n-old\n+new\n+more\n 4\n 5\n gone:\n-x\n"
        );
        assert_eq!(argument_difference(&after, &after), "");
    }

    #[test]
    fn repeated_lines_are_counted_once() {
        let text =
            argument_difference(&arguments(&[("a", "x\nx")]), &arguments(&[("a", "x\nx\nx")]));
        assert_eq!(text, " a:\n x\n x\n+x\n");
    }

    #[test]
    fn json_is_laid_out_and_long_differences_end() {
        let edits = |text: &str| format!(r#"[{{"op":"write","contents":"{text}"}}]"#);
        let [before, after] =
            [edits("a\\nb"), edits("a\\nc")].map(|it| arguments(&[("edits", &it)]));
        let text = argument_difference(&before, &after);
        assert!(
            text.contains("-b\"")
                && text.contains("+c\"")
                && !text.contains("-    \"contents\": \"a"),
            "{text}"
        );
        let long = "line\n".repeat(10_000);
        let text = argument_difference(&arguments(&[]), &arguments(&[("contents", &long)]));
        assert!(text.len() < MAX_BYTES + 100 && text.trim_end().ends_with(CUT));
    }
}
