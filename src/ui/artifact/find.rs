//! Search in a shown text. Each frame searches a limited part of it, so that no frame is slow.

use egui::{Id, Key, Margin, Modifiers, TextEdit, Ui};
use regex::{Regex, RegexBuilder};

use super::list::keep_keyboard;
use super::text::TextDoc;
use crate::ui::format;
use crate::ui::icon;
use crate::ui::theme::{Text, Theme};
use crate::ui::widgets;

/// The height of the search field with its margins, in points.
pub(super) const HEIGHT: f32 = 36.0;
/// The maximum number of hits. The search stops when it is reached.
const MAX_HITS: usize = 100_000;

/// A search and its hits.
#[derive(Debug, Clone, Default)]
pub(super) struct Finder {
    pub(super) query: String,
    pattern: Option<Regex>,
    /// The start and end of each hit, in bytes.
    hits: Vec<(u32, u32)>,
    /// The next line to search.
    next_line: usize,
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
        self.pattern.is_none() || self.next_line >= doc.line_count() || self.hits.len() >= MAX_HITS
    }

    /// Searches about this many more bytes.
    pub(super) fn advance(&mut self, doc: &TextDoc, bytes: usize) {
        let Some(pattern) = self.pattern.as_ref().filter(|_| !self.is_complete(doc)) else {
            return;
        };
        let start = doc.start(self.next_line);
        // The field has one line, so that no hit spans a line break and none is lost between two parts.
        let last = doc.line_at(start.saturating_add(bytes));
        let next = last.max(self.next_line) + 1;
        let part = doc.text().get(start..doc.start(next)).unwrap_or_default();
        let found = pattern.find_iter(part).take(MAX_HITS - self.hits.len());
        self.hits.extend(found.map(|it| ((start + it.start()) as u32, (start + it.end()) as u32)));
        self.next_line = next;
    }

    /// The hits in a part of the text, cut at its ends; the flag marks the current hit.
    pub(super) fn hits_in(&self, start: usize, end: usize) -> Vec<(usize, usize, bool)> {
        let first = self.hits.partition_point(|hit| hit.1 as usize <= start);
        let hits = self.hits.iter().enumerate().skip(first);
        hits.take_while(|(_, hit)| (hit.0 as usize) < end)
            .map(|(index, hit)| {
                ((hit.0 as usize).max(start), (hit.1 as usize).min(end), index == self.current)
            })
            .collect()
    }

    /// The number of the current hit and of all hits, as shown beside the field; empty without a query.
    fn count(&self, doc: &TextDoc) -> String {
        if self.pattern.is_none() {
            return String::new();
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
                self.advance(doc, super::text::BYTES_PER_FRAME);
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

    fn found(text: &str, query: &str) -> (TextDoc, Finder) {
        let doc = TextDoc::new(text);
        let mut finder = Finder::default();
        finder.start(query.to_owned());
        while !finder.is_complete(&doc) {
            finder.advance(&doc, 8);
        }
        (doc, finder)
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
        assert_eq!(finder.hits_in(10, 21), [(10, 15, false)]);
        assert_eq!(finder.hits_in(27, 32), [(27, 30, true)], "a hit cut at the start of the part");
        assert_eq!(found(text, "Heron").1.hits, [(0, 5)], "case sensitive");
        assert_eq!(found(text, "(two)").1.hits, [(16, 21)], "not a regular expression");
        let (doc, mut finder) = found(text, "egret");
        assert_eq!((finder.count(&doc).as_str(), finder.step(true)), ("not found", None));
    }

    #[test]
    fn the_search_stops_at_its_limit() {
        let (doc, finder) = found(&"aaaa\n".repeat(50_000), "a");
        assert_eq!(finder.count(&doc), "1 of 100,000+");
    }
}
