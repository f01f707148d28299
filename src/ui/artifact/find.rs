//! Search in a shown text. Each frame searches a limited part of it, so that no frame is slow.

use egui::{Id, Key, Margin, Modifiers, TextEdit, Ui};
use regex::{Regex, RegexBuilder};

use super::keep_keyboard;
use super::text_doc::{BYTES_PER_FRAME, TextDoc};
use crate::ui::{Text, Theme, format, icon, widgets};

/// The height of the search field with its margins, in points.
pub(super) const HEIGHT: f32 = 36.0;
/// The maximum number of hits. The search stops when it is reached.
const MAX_HITS: usize = 100_000;

/// A hit, or its part in one row, as a byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_current: bool,
}

/// A search and its hits.
#[derive(Debug, Clone, Default)]
pub(super) struct Finder {
    pub(super) query: String,
    /// `None` for an empty query, and for one that is too long to compile.
    pattern: Option<Regex>,
    /// The start and end of each hit, in bytes.
    hits: Vec<(u32, u32)>,
    /// The byte offset at which the search continues.
    offset: usize,
    /// The index of the current hit.
    current: usize,
    /// Whether to scroll to the first hit as soon as it is found.
    scroll_to_first: bool,
}

impl Finder {
    /// Starts a new search. It is case sensitive if the query has an uppercase letter.
    pub(super) fn start(&mut self, query: String) {
        let ignore_case = !query.chars().any(char::is_uppercase);
        let pattern =
            RegexBuilder::new(&regex::escape(&query)).case_insensitive(ignore_case).build();
        let pattern = pattern.ok().filter(|_| !query.is_empty());
        *self = Self { query, pattern, scroll_to_first: true, ..Self::default() };
    }

    pub(super) fn is_complete(&self, doc: &TextDoc) -> bool {
        self.pattern.is_none() || self.offset >= doc.text().len() || self.hits.len() >= MAX_HITS
    }

    /// Searches about this many more bytes.
    pub(super) fn advance(&mut self, doc: &TextDoc, bytes: usize) {
        let Some(pattern) = self.pattern.as_ref().filter(|_| !self.is_complete(doc)) else {
            return;
        };
        let (text, start) = (doc.text(), self.offset);
        let stop = text.ceil_char_boundary(start.saturating_add(bytes));
        // A hit that starts before `stop` may end after it. It has as many characters as the query, but another case
        // of a letter may have more bytes.
        let longest = self.query.chars().count().saturating_mul(4);
        let part = text.get(start..text.ceil_char_boundary(stop.saturating_add(longest)));
        let hits = pattern.find_iter(part.unwrap_or_default());
        let hits = hits.map(|hit| (start + hit.start(), start + hit.end()));
        let hits = hits.take_while(|hit| hit.0 < stop).take(MAX_HITS - self.hits.len());
        self.hits.extend(hits.map(|(start, end)| (start as u32, end as u32)));
        self.offset = self.hits.last().map_or(stop, |hit| stop.max(hit.1 as usize));
    }

    /// The hits in a part of the text, cut at its ends.
    pub(super) fn hits_in(&self, start: usize, end: usize) -> Vec<Hit> {
        let first = self.hits.partition_point(|hit| hit.1 as usize <= start);
        let hits = self.hits.iter().enumerate().skip(first);
        hits.take_while(|(_, hit)| (hit.0 as usize) < end)
            .map(|(index, hit)| Hit {
                start: (hit.0 as usize).max(start),
                end: (hit.1 as usize).min(end),
                is_current: index == self.current,
            })
            .collect()
    }

    /// The number of the current hit and of all hits, as shown beside the field; empty without a query.
    fn count(&self, doc: &TextDoc) -> String {
        if self.pattern.is_none() {
            return if self.query.is_empty() { "" } else { "too long" }.to_owned();
        }
        let more = if self.hits.len() >= MAX_HITS || !self.is_complete(doc) { "+" } else { "" };
        match self.hits.len() {
            0 if self.is_complete(doc) => "not found".to_owned(),
            0 => "searching".to_owned(),
            hits => format!(
                "{} of {}{more}",
                format::count(self.current as u64 + 1),
                format::count(hits as u64)
            ),
        }
    }

    /// Moves to the next or previous hit, around the ends of the text. Returns its start, or `None` without hits.
    fn step(&mut self, forward: bool) -> Option<usize> {
        let count = self.hits.len();
        let by = if forward { 1 } else { count.saturating_sub(1) };
        self.current = (self.current + by).checked_rem(count)?;
        self.hits.get(self.current).map(|hit| hit.0 as usize)
    }

    fn field(id: Id) -> Id {
        id.with("find")
    }

    /// Focuses the search field.
    pub(super) fn focus(ui: &Ui, id: Id) {
        ui.memory_mut(|memory| memory.request_focus(Self::field(id)));
    }

    /// Draws the field. Returns the byte offset in the text to scroll to, if any.
    pub(super) fn ui(&mut self, ui: &mut Ui, id: Id, name: &str, doc: &TextDoc) -> Option<usize> {
        let theme = Theme::of(ui);
        let mut target = None;
        let mut text = self.query.clone();
        ui.horizontal(|ui| {
            ui.set_height(HEIGHT - 6.0);
            ui.spacing_mut().item_spacing.x = 4.0;
            let field = Self::field(id);
            if ui.memory(|memory| memory.has_focus(field)) {
                keep_keyboard(ui, field);
                // Handle Enter before the field does: a single-line field loses the focus on Enter.
                let take =
                    |modifiers| ui.input_mut(|input| input.consume_key(modifiers, Key::Enter));
                if take(Modifiers::SHIFT) {
                    target = self.step(false);
                } else if take(Modifiers::NONE) {
                    target = self.step(true);
                }
            }
            let width = (ui.available_width() - 140.0).clamp(90.0, 240.0);
            let edit = TextEdit::singleline(&mut text)
                .id(field)
                .prefix(icon::SEARCH.text(14.0).color(theme.dim))
                .hint_text("Find")
                .margin(Margin::symmetric(8, 4))
                .desired_width(width);
            let response = ui.add(edit).accessible_name(format!("Find in {name}"));
            if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
                text.clear();
                ui.memory_mut(|memory| memory.request_focus(id));
            }
            if text != self.query {
                self.start(text);
                self.advance(doc, BYTES_PER_FRAME);
            }
            if self.scroll_to_first && !self.hits.is_empty() {
                self.scroll_to_first = false;
                target = self.hits.first().map(|hit| hit.0 as usize);
            }
            if !self.hits.is_empty() {
                if widgets::icon_button(ui, icon::UP, "Previous hit").clicked() {
                    target = self.step(false);
                }
                if widgets::icon_button(ui, icon::DOWN, "Next hit").clicked() {
                    target = self.step(true);
                }
            }
            let count = self.count(doc);
            if !count.is_empty() {
                ui.label(widgets::rich(count, Text::Meta, theme.dim));
            }
        });
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in_parts(text: &str, query: &str, bytes: usize) -> (TextDoc, Finder) {
        let doc = TextDoc::new(text);
        let mut finder = Finder::default();
        finder.start(query.to_owned());
        while !finder.is_complete(&doc) {
            finder.advance(&doc, bytes);
        }
        (doc, finder)
    }

    fn found(text: &str, query: &str) -> (TextDoc, Finder) {
        found_in_parts(text, query, 8)
    }

    // The text is searched in parts, and the hit after the last one is the first one.
    #[test]
    fn the_search_wraps_around() {
        let text = "Heron one\nheron (two)\n\na heron\n";
        let (doc, mut finder) = found(text, "heron");
        assert_eq!(finder.count(&doc), "1 of 3");
        assert_eq!(finder.hits, [(0, 5), (10, 15), (25, 30)]);
        let steps = [true, true, true, false];
        assert_eq!(steps.map(|forward| finder.step(forward).unwrap()), [10, 25, 0, 25]);
        let hit = |start, end, is_current| Hit { start, end, is_current };
        assert_eq!(finder.hits_in(10, 21), [hit(10, 15, false)]);
        assert_eq!(
            finder.hits_in(27, 32),
            [hit(27, 30, true)],
            "a hit cut at the start of the part"
        );
        assert_eq!(found(text, "Heron").1.hits, [(0, 5)], "case sensitive");
        assert_eq!(found(text, "(two)").1.hits, [(16, 21)], "not a regular expression");
        let (doc, mut finder) = found(text, "egret");
        assert_eq!((finder.count(&doc).as_str(), finder.step(true)), ("not found", None));
    }

    // The Kelvin sign is another case of k, with two more bytes.
    #[test]
    fn hits_across_parts_are_found() {
        let text = "é-\u{212a}\u{212a}-kk-kkkk\nkk";
        for bytes in 1..=text.len() {
            let hits = found_in_parts(text, "kk", bytes).1.hits;
            assert_eq!(hits, [(3, 9), (10, 12), (13, 15), (15, 17), (18, 20)], "{bytes}");
        }
    }

    #[test]
    fn a_long_line_is_searched_in_parts() {
        let doc = TextDoc::new(&"wide ".repeat(1_000));
        let mut finder = Finder::default();
        finder.start("not there".to_owned());
        finder.advance(&doc, 1_000);
        assert!(!finder.is_complete(&doc));
        assert_eq!(finder.offset, 1_000);
    }

    #[test]
    fn a_query_that_is_too_long_is_reported() {
        let (doc, finder) = found("heron", &"a".repeat(1 << 20));
        assert_eq!(finder.count(&doc), "too long");
        let (doc, finder) = found("heron", "");
        assert_eq!(finder.count(&doc), "");
    }

    #[test]
    fn colour_sequences_are_not_searched() {
        let doc = TextDoc::printed("one \x1b[31mred\nstill\x1b[0m end\n");
        let mut finder = Finder::default();
        finder.start("red".to_owned());
        finder.advance(&doc, BYTES_PER_FRAME);
        assert_eq!(finder.hits, [(4, 7)]);
    }

    #[test]
    fn the_search_stops_at_its_limit() {
        let (doc, finder) = found(&"aaaa\n".repeat(50_000), "a");
        assert_eq!(finder.count(&doc), "1 of 100,000+");
    }
}
