//! Search in a shown text, limited in each frame so that no frame is slow.

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
/// The largest number of hits; the search stops there.
const MAX_HITS: usize = 100_000;

/// A search and its hits.
#[derive(Debug, Clone, Default)]
pub(super) struct Finder {
    pub(super) query: String,
    pattern: Option<Regex>,
    hits: Vec<(u32, u32)>,
    /// The next line to search.
    line: usize,
    /// The index of the current hit.
    at: usize,
    /// Whether to scroll to the first hit as soon as one is found.
    go: bool,
}

impl Finder {
    /// Starts a search. It is case sensitive if the query has an uppercase letter.
    pub(super) fn ask(&mut self, query: String) {
        let any_case = !query.chars().any(char::is_uppercase);
        let pattern = RegexBuilder::new(&regex::escape(&query)).case_insensitive(any_case).build();
        let pattern = pattern.ok().filter(|_| !query.is_empty());
        *self = Self { query, pattern, go: true, ..Self::default() };
    }

    pub(super) fn is_complete(&self, doc: &TextDoc) -> bool {
        self.pattern.is_none() || self.line >= doc.line_count() || self.hits.len() >= MAX_HITS
    }

    /// Searches about this many more bytes.
    pub(super) fn advance(&mut self, doc: &TextDoc, bytes: usize) {
        let Some(pattern) = self.pattern.as_ref().filter(|_| !self.is_complete(doc)) else {
            return;
        };
        let start = doc.start(self.line);
        // A hit never spans a line break, so whole lines are searched.
        let last = doc.line_at(start.saturating_add(bytes));
        let next = last.max(self.line) + 1;
        let part = doc.text().get(start..doc.start(next)).unwrap_or_default();
        let room = MAX_HITS - self.hits.len();
        let places = pattern.find_iter(part).take(room);
        self.hits.extend(places.map(|it| ((start + it.start()) as u32, (start + it.end()) as u32)));
        self.line = next;
    }

    /// The hits in a part of the text; the flag marks the current hit.
    pub(super) fn hits_in(&self, start: usize, end: usize) -> Vec<(usize, usize, bool)> {
        let first = self.hits.partition_point(|hit| hit.1 as usize <= start);
        let hits = self.hits.iter().enumerate().skip(first);
        hits.take_while(|(_, hit)| (hit.0 as usize) < end)
            .map(|(index, hit)| {
                ((hit.0 as usize).max(start), (hit.1 as usize).min(end), index == self.at)
            })
            .collect()
    }

    /// The number of hits, in words.
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
                format::count(self.at as u64 + 1),
                format::count(hits as u64)
            ),
        }
    }

    fn step(&mut self, forward: bool) -> Option<usize> {
        let count = self.hits.len();
        let by = if forward { 1 } else { count.saturating_sub(1) };
        self.at = (self.at + by).checked_rem(count)?;
        self.hits.get(self.at).map(|hit| hit.0 as usize)
    }

    fn field(id: Id) -> Id {
        id.with("find")
    }

    /// Gives the search field the focus.
    pub(super) fn focus(ui: &Ui, id: Id) {
        ui.memory_mut(|memory| memory.request_focus(Self::field(id)));
    }

    /// Draws the field. Returns the position in the text to scroll to, if any.
    pub(super) fn ui(&mut self, ui: &mut Ui, id: Id, name: &str, doc: &TextDoc) -> Option<usize> {
        let theme = Theme::of(ui);
        let mut place = None;
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
                    place = self.step(false);
                } else if take(Modifiers::NONE) {
                    place = self.step(true);
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
                self.ask(text);
                self.advance(doc, super::text::A_FRAME);
            }
            if self.go && !self.hits.is_empty() {
                self.go = false;
                place = self.hits.first().map(|hit| hit.0 as usize);
            }
            if !self.hits.is_empty() {
                if widgets::icon_button(ui, icon::UP, "Previous hit").clicked() {
                    place = self.step(false);
                }
                if widgets::icon_button(ui, icon::DOWN, "Next hit").clicked() {
                    place = self.step(true);
                }
            }
            let count = self.count(doc);
            if !count.is_empty() {
                ui.label(widgets::rich(count, Text::Meta, theme.dim));
            }
        });
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, query: &str) -> (TextDoc, Finder) {
        let doc = TextDoc::new(text);
        let mut finder = Finder::default();
        finder.ask(query.to_owned());
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
        let places: Vec<_> = [true, true, true, false].map(|on| finder.step(on).unwrap()).into();
        assert_eq!(places, [10, 25, 0, 25]);
        assert_eq!(finder.hits_in(10, 21), [(10, 15, false)]);
        assert_eq!(finder.hits_in(27, 32), [(27, 30, true)], "a hit that a row's end has cut");
        assert_eq!(found(text, "Heron").1.hits, [(0, 5)], "capital letters matter");
        assert_eq!(found(text, "(two)").1.hits, [(16, 21)], "no pattern is meant");
        let (doc, mut finder) = found(text, "egret");
        assert_eq!((finder.count(&doc).as_str(), finder.step(true)), ("not found", None));
    }

    #[test]
    fn the_search_stops_at_its_limit() {
        let (doc, finder) = found(&"aaaa\n".repeat(50_000), "a");
        assert_eq!(finder.count(&doc), "1 of 100,000+");
    }
}
