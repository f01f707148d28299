//! Reads the terminal colours (`ESC [ … m`) of a program's output (SPEC §7.2).
//!
//! Every other escape sequence, for instance one that moves the cursor, stays in the text, where the callers make it
//! visible.

use std::ops::Range;

/// The size from which an unfinished escape sequence is treated as ordinary text.
const MAX_ESCAPE_BYTES: usize = 64;

/// One of the eight colours that every terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the colours by their names")]
pub enum Hue {
    Black,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    White,
}

impl Hue {
    /// The colour with this number in terminal escape sequences, 0 to 7.
    pub(super) fn from_index(index: u16) -> Option<Self> {
        use Hue::{Black, Blue, Cyan, Green, Magenta, Red, White, Yellow};
        let all = [Black, Red, Green, Yellow, Blue, Magenta, Cyan, White];
        all.get(usize::from(index)).copied()
    }

    /// The one of the eight colours that is nearest to an RGB colour with components from 0 to 255.
    pub(super) fn nearest(red: u16, green: u16, blue: u16) -> Option<Self> {
        let brightest = red.max(green).max(blue);
        let bit = |component: u16| u16::from(u32::from(component) * 2 > u32::from(brightest));
        if brightest < 48 {
            Some(Self::Black)
        } else {
            Self::from_index(bit(red) | bit(green) << 1 | bit(blue) << 2)
        }
    }
}

/// The colour and emphasis of a piece of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnsiStyle {
    /// The colour; `None` for the default one.
    pub hue: Option<Hue>,
    /// Whether the text is dimmed.
    pub faint: bool,
    /// Whether the text is underlined.
    pub underlined: bool,
}

impl AnsiStyle {
    /// The style after an `ESC [ … m` with these parameters.
    pub(super) fn after(mut self, parameters: &str) -> Self {
        let mut rest = parameters.split(';');
        while let Some(parameter) = rest.next() {
            // Parts after a colon belong to the same parameter.
            let (parameter, details) = parameter
                .split_once(':')
                .map_or((parameter, None), |(code, more)| (code, Some(more)));
            match number(parameter) {
                0 => self = Self::default(),
                2 => self.faint = true,
                // `4:0` means no underline, `4:3` a wavy one.
                4 => self.underlined = details.is_none_or(|kind| number(kind) != 0),
                22 => self.faint = false,
                24 => self.underlined = false,
                code @ 30..=37 => self.hue = Hue::from_index(code - 30),
                // The colours of the background and of the underline are ignored, but their parameters must be skipped.
                code @ (38 | 48 | 58) => {
                    let hue = match details {
                        Some(details) => extended_with_colons(details),
                        None => extended(&mut rest.by_ref().map(number)),
                    };
                    if code == 38 {
                        self.hue = hue;
                    }
                }
                39 => self.hue = None,
                code @ 90..=97 => self.hue = Hue::from_index(code - 90),
                _ => {}
            }
        }
        self
    }
}

fn number(parameter: &str) -> u16 {
    parameter.parse().unwrap_or(0)
}

/// The colour that the parameters after 38, 48 or 58 select: `5` and one of 256 numbers, or `2` and three components.
fn extended(rest: &mut impl Iterator<Item = u16>) -> Option<Hue> {
    match rest.next()? {
        5 => match rest.next()? {
            index @ 0..=15 => Hue::from_index(index % 8),
            index @ 16..=231 => {
                let index = index - 16;
                let component = |step: u16| if step == 0 { 0 } else { 55 + 40 * step };
                Hue::nearest(component(index / 36), component(index / 6 % 6), component(index % 6))
            }
            grey => {
                let component = grey.saturating_sub(232).saturating_mul(10);
                Hue::nearest(component, component, component)
            }
        },
        2 => Hue::nearest(rest.next()?, rest.next()?, rest.next()?),
        _ => None,
    }
}

/// As [`extended`], for parameters with colons, in which the number of a colour space may precede the three components:
/// `2:SPACE:RED:GREEN:BLUE`.
fn extended_with_colons(details: &str) -> Option<Hue> {
    let mut numbers: Vec<u16> = details.split(':').map(number).collect();
    if numbers.len() > 4 && numbers.first() == Some(&2) {
        numbers.remove(1);
    }
    extended(&mut numbers.into_iter())
}

/// The kind of a text that starts with an escape character.
pub(super) enum Sequence {
    /// More characters may make it a colour sequence.
    Unfinished,
    /// The whole text is one colour sequence.
    Colours,
    /// The text is no colour sequence and cannot become one.
    Other,
}

impl Sequence {
    pub(super) fn of(text: &str) -> Self {
        let Some(body) = text.strip_prefix("\x1b[") else {
            return if text == "\x1b" { Self::Unfinished } else { Self::Other };
        };
        let parameters = body.strip_suffix('m').unwrap_or(body);
        let known = parameters.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
        match known {
            true if parameters.len() < body.len() => Self::Colours,
            true if text.len() < MAX_ESCAPE_BYTES => Self::Unfinished,
            _ => Self::Other,
        }
    }
}

/// Removes the colour sequences from a text. Returns the plain text and, in order, the byte ranges of it that do not
/// have the default style. Every other escape sequence stays in the text.
pub fn coloured(text: &str) -> (String, Vec<(Range<usize>, AnsiStyle)>) {
    let mut plain = String::with_capacity(text.len());
    let mut styles: Vec<(Range<usize>, AnsiStyle)> = Vec::new();
    let mut style = AnsiStyle::default();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(length) = colour_length(rest) {
            let (sequence, behind) = rest.split_at(length);
            style = style.after(sequence.trim_start_matches("\x1b[").trim_end_matches('m'));
            rest = behind;
            continue;
        }
        // Up to the next escape. An escape that begins no colour sequence is copied like any other character.
        let next = rest.bytes().skip(1).position(|byte| byte == 0x1b);
        let (piece, behind) = rest.split_at(next.map_or(rest.len(), |at| at + 1));
        let start = plain.len();
        plain.push_str(piece);
        match styles.last_mut() {
            _ if style == AnsiStyle::default() => {}
            Some((last, same)) if last.end == start && *same == style => last.end = plain.len(),
            _ => styles.push((start..plain.len(), style)),
        }
        rest = behind;
    }
    (plain, styles)
}

/// The size of the colour sequence at the start of the text, in bytes, if there is one.
fn colour_length(text: &str) -> Option<usize> {
    let beginnings = (1..=text.len().min(MAX_ESCAPE_BYTES)).filter_map(|end| text.get(..end));
    let mut read = beginnings.map(|beginning| (beginning.len(), Sequence::of(beginning)));
    let (length, sequence) = read.find(|(_, it)| !matches!(it, Sequence::Unfinished))?;
    matches!(sequence, Sequence::Colours).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_sequences_are_removed_others_stay() {
        let (text, styles) =
            coloured("a \x1b[1;31mred \x1b[4mline\x1b[0m\n\x1b[2J\x1b]0;t\x07\x1b[32");
        assert_eq!(text, "a red line\n\x1b[2J\x1b]0;t\x07\x1b[32");
        let red = AnsiStyle { hue: Some(Hue::Red), ..AnsiStyle::default() };
        assert_eq!(styles, [(2..6, red), (6..10, AnsiStyle { underlined: true, ..red })]);
        assert_eq!(coloured("plain é"), ("plain é".to_owned(), Vec::new()));
    }

    fn hue(parameters: &str) -> Option<Hue> {
        AnsiStyle::default().after(parameters).hue
    }

    #[test]
    fn the_eight_colours_are_distinct() {
        for (parameters, expected) in [
            ("31", Some(Hue::Red)),
            ("1;32", Some(Hue::Green)),
            ("93", Some(Hue::Yellow)),
            ("38;5;9", Some(Hue::Red)),
            ("38;5;208", Some(Hue::Yellow)),
            ("38;5;196", Some(Hue::Red)),
            ("38;5;250", Some(Hue::White)),
            ("38;5;232", Some(Hue::Black)),
            ("38;2;20;40;250", Some(Hue::Blue)),
            ("48;5;31", None),
            ("48;2;1;2;31;36", Some(Hue::Cyan)),
            ("31;39", None),
            ("31;0", None),
            ("31;", None),
            ("", None),
            ("99999999999999", None),
            ("38", None),
            ("38;5;999", Some(Hue::White)),
            ("38:5:9", Some(Hue::Red)),
            ("38:2:20:40:250", Some(Hue::Blue)),
            ("38:2::20:40:250", Some(Hue::Blue)),
            ("38:2:1:20:40:250:0:1", Some(Hue::Blue)),
            ("38:2", None),
            ("38:5:9;32", Some(Hue::Green)),
            ("31;48:2::1:2:32", Some(Hue::Red)),
            ("31;58;2;1;2;32", Some(Hue::Red)),
            ("31;58;5;0", Some(Hue::Red)),
            ("31;58:2::1:2:0", Some(Hue::Red)),
            ("31;4:0", Some(Hue::Red)),
        ] {
            assert_eq!(hue(parameters), expected, "{parameters}");
        }
    }

    #[test]
    fn styles_accumulate_until_reset() {
        let style = AnsiStyle::default().after("2;4;35");
        assert_eq!(style, AnsiStyle { hue: Some(Hue::Magenta), faint: true, underlined: true });
        assert_eq!(
            style.after("22;24"),
            AnsiStyle { hue: Some(Hue::Magenta), ..AnsiStyle::default() }
        );
        assert!(style.after("4:3").underlined && AnsiStyle::default().after("4:3").underlined);
        assert_eq!(style.after("4:0"), AnsiStyle { underlined: false, ..style });
    }
}
