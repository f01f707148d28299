//! Expressions of `test` and `[`.

use super::super::listed::listed;
use super::super::syntax::UNKNOWN;
use super::{Argument, CallEffect};

/// Operators with one operand.
const UNARY: &str = "-a -b -c -d -e -f -g -h -k -n -p -r -s -t -u -w -x -z -G -L -N -O -S";
/// Operators with two operands.
const BINARY: [&str; 14] =
    ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

/// The effect of an expression. An unquoted unknown word could expand to several.
pub(super) fn effect(arguments: &[Argument]) -> CallEffect {
    let mut rest = match arguments.split_last() {
        Some((last, rest)) if last.text == "]" => rest,
        _ => arguments,
    };
    let fits = |argument: &Argument| {
        argument.quoted || !argument.text.contains(UNKNOWN) || super::is_known(argument.text)
    };
    if !rest.iter().all(fits) {
        return CallEffect::Unlisted;
    }
    if rest.is_empty() {
        return CallEffect::ReadsOnly;
    }
    loop {
        while let Some((Argument { text: "!", .. }, others)) = rest.split_first() {
            rest = others;
        }
        let used = match rest {
            [_, middle, _, ..] if BINARY.contains(&middle.text) => 3,
            [first, second, ..]
                if listed(UNARY, first.text) && !matches!(second.text, "-a" | "-o") =>
            {
                2
            }
            [first, ..] if !first.text.starts_with('-') && !first.text.starts_with(UNKNOWN) => 1,
            [first] if first.quoted => 1,
            _ => return CallEffect::Unlisted,
        };
        rest = rest.get(used..).unwrap_or_default();
        match rest.split_first() {
            None => return CallEffect::ReadsOnly,
            Some((word, others)) if matches!(word.text, "-a" | "-o") && !others.is_empty() => {
                rest = others
            }
            Some(_) => return CallEffect::Unlisted,
        }
    }
}
