//! Checks before any parsing, in one pass: size, rough nesting, number of parts, hidden characters.

use std::ops::Range;

/// Limit for the length of a command (SPEC §7.1).
pub(super) const MAX_LENGTH: usize = 64 * 1024;
/// Limit for nesting, counted by brackets and keywords in any position.
const MAX_DEPTH: usize = 16;
/// Limit for the number of commands, counted by separators in any position.
const MAX_PARTS: usize = 200;

/// Why a command is refused.
pub(super) struct Refused {
    pub(super) rule: &'static str,
    pub(super) span: Range<usize>,
    pub(super) reason: &'static str,
}

/// The first reason to refuse a command before parsing.
pub(super) fn scan(command: &str) -> Option<Refused> {
    let whole = 0..command.len();
    let refuse = |rule, reason| Some(Refused { rule, span: whole.clone(), reason });
    if command.len() > MAX_LENGTH {
        return refuse("too-long", "The command is longer than 64 KiB and was not read.");
    }
    let (mut depth, mut count) = (0_usize, 1_usize);
    let mut word = String::new();
    let mut previous = ' ';
    for (index, next) in command.char_indices() {
        if is_hidden(next) {
            let span = index..index + next.len_utf8();
            let reason = "Contains an invisible character, or one that looks like another one.";
            return Some(Refused { rule: "hidden-character", span, reason });
        }
        match next {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match next {
            ';' | '\n' | '&' | '|' | '`' if previous != next => count += 1,
            '(' if previous == '$' || previous == '<' || previous == '>' => count += 1,
            _ => {}
        }
        if next.is_ascii_alphabetic() {
            word.push(next);
        } else {
            match word.as_str() {
                "if" | "do" | "case" => depth += 1,
                "fi" | "done" | "esac" => depth = depth.saturating_sub(1),
                _ => {}
            }
            word.clear();
        }
        if depth > MAX_DEPTH {
            return refuse(
                "too-deep",
                "The command is nested more than 16 levels deep and was not read.",
            );
        }
        previous = next;
    }
    if count > MAX_PARTS {
        return refuse("too-many", "The command has more than 200 parts and was not read.");
    }
    None
}

/// Whether a character is invisible, or looks like an ASCII character. Other letters that resemble Latin ones are
/// checked in program names only.
pub(super) fn is_hidden(next: char) -> bool {
    (next.is_control() && next != '\n' && next != '\t')
        || matches!(next,
            '\u{AD}' | '\u{A0}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{1680}'
            | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{2000}'..='\u{200F}'
            | '\u{2028}'..='\u{202F}' | '\u{205F}'..='\u{206F}' | '\u{2800}' | '\u{3000}'
            | '\u{3164}' | '\u{E000}'..='\u{F8FF}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
            | '\u{FF01}'..='\u{FF5E}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFC}'
            | '\u{E0000}'..='\u{10FFFF}')
}
