//! Moves the cursor of every text field by grapheme clusters, as they are drawn, and deletes whole ones.
//!
//! egui moves by code points. The cursor could then stand inside of what is one picture (`glyphs`), and Delete could take the
//! base of a mark, which would join the letter before it: another text than the person sees being edited.

use egui::output::OutputEvent;
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{Context, Event, Id, ImeEvent, Key, Modifiers, Plugin, RawInput, Ui};
use unicode_segmentation::GraphemeCursor;

/// The field that has the focus, as it last reported itself.
struct Field {
    id: Id,
    text: String,
    /// Where its cursor was.
    cursor: usize,
}

#[derive(Default)]
struct Clusters {
    field: Option<Field>,
    /// Events from a deletion on, for the next frame.
    waiting: Vec<Event>,
    /// Whether the first of them deletes a selected cluster.
    is_selected: bool,
    is_composing: bool,
}

/// Makes all text fields of this context work by clusters.
pub(super) fn install(ctx: &Context) {
    ctx.add_plugin(Clusters::default());
}

impl Plugin for Clusters {
    fn debug_name(&self) -> &'static str {
        "countersign::ui::clusters"
    }

    /// Has a deletion of several code points select them first, and delete the selection in the next frame.
    fn input_hook(&mut self, ctx: &Context, input: &mut RawInput) {
        let mut events = std::mem::take(&mut self.waiting);
        let first = usize::from(std::mem::take(&mut self.is_selected) && !events.is_empty());
        events.append(&mut input.events);
        let deletions: Vec<(usize, Key)> = events
            .iter()
            .enumerate()
            .skip(first)
            .filter_map(|(index, event)| Some((index, deletion(event)?)))
            .collect();
        if let (Some(field), Some((at, key))) = (self.focused(ctx), deletions.first()) {
            let is_known = !events.iter().take(*at).any(changes_text);
            if is_known && let Some(arrow) = selects(ctx, field, *key) {
                self.waiting = events.split_off(*at);
                self.is_selected = true;
                events.push(arrow);
            } else if !is_known {
                self.waiting = events.split_off(*at);
            } else if let Some((next, _)) = deletions.get(1) {
                self.waiting = events.split_off(*next);
            }
        }
        if !self.waiting.is_empty() {
            ctx.request_repaint();
        }
        input.events = events;
    }

    /// Moves a cursor that stands inside of a cluster on to its end, or back to its begin, as it moved.
    fn on_end_pass(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.note_composition(&ctx);
        let Some(id) = ctx.memory(|memory| memory.focused()) else {
            self.field = None;
            return;
        };
        let text = ctx.output(|output| output.events.iter().rev().find_map(text_of));
        let Some(mut state) = TextEditState::load(&ctx, id) else { return };
        let Some(range) = state.cursor.char_range() else { return };
        match (&mut self.field, text) {
            (Some(field), Some(text)) if field.id == id => field.text = text,
            (_, Some(text)) => {
                self.field = Some(Field { id, text, cursor: range.primary.index.0 });
            }
            // Nothing was typed, moved or selected.
            _ => return,
        }
        let Some(field) = self.field.as_mut().filter(|_| !self.is_composing) else { return };
        let snapped = snapped(&field.text, range, field.cursor);
        field.cursor = snapped.primary.index.0;
        if snapped != range {
            state.cursor.set_char_range(Some(snapped));
            state.store(&ctx, id);
            ctx.request_repaint();
        }
    }
}

impl Clusters {
    fn focused(&self, ctx: &Context) -> Option<&Field> {
        let id = ctx.memory(|memory| memory.focused())?;
        self.field.as_ref().filter(|field| field.id == id && !self.is_composing)
    }

    /// What is composed is selected, and its ends are those of the input method.
    fn note_composition(&mut self, ctx: &Context) {
        ctx.input(|input| {
            for event in &input.events {
                match event {
                    Event::Ime(ImeEvent::Preedit { text, .. }) => {
                        self.is_composing = !text.is_empty();
                    }
                    Event::Ime(ImeEvent::Commit(_)) => self.is_composing = false,
                    _ => {}
                }
            }
        });
    }
}

/// The key of a deletion of one character.
fn deletion(event: &Event) -> Option<Key> {
    match event {
        Event::Key {
            key: key @ (Key::Backspace | Key::Delete), pressed: true, modifiers, ..
        } if modifiers.is_none() => Some(*key),
        _ => None,
    }
}

/// Whether the event may change the text or the cursor of a field.
fn changes_text(event: &Event) -> bool {
    !matches!(event, Event::Key { pressed: false, .. } | Event::PointerMoved(_))
}

/// The key that selects what the deletion is to take, if that is more than one code point.
fn selects(ctx: &Context, field: &Field, deletion: Key) -> Option<Event> {
    let range = TextEditState::load(ctx, field.id)?.cursor.char_range()?;
    if !range.is_empty() {
        return None;
    }
    let at = range.primary.index.0;
    let (end, key) = match deletion {
        Key::Backspace => (at.checked_sub(1)?, Key::ArrowLeft),
        _ => (at + 1, Key::ArrowRight),
    };
    let (physical_key, pressed, repeat, modifiers) = (None, true, false, Modifiers::SHIFT);
    let arrow = Event::Key { key, physical_key, pressed, repeat, modifiers };
    (!is_boundary(&field.text, end)).then_some(arrow)
}

/// The text of the field that an event of the output is about.
fn text_of(event: &OutputEvent) -> Option<String> {
    match event {
        OutputEvent::TextSelectionChanged(info)
        | OutputEvent::ValueChanged(info)
        | OutputEvent::FocusGained(info)
        | OutputEvent::Clicked(info) => info.current_text_value.clone(),
        _ => None,
    }
}

/// The range with its ends between clusters. `before` is where the cursor was.
fn snapped(text: &str, range: CCursorRange, before: usize) -> CCursorRange {
    let (cursor, other) = (range.primary.index.0, range.secondary.index.0);
    let primary = boundary(text, cursor, cursor < before);
    let secondary = match other == cursor {
        true => primary,
        false => boundary(text, other, other < cursor),
    };
    let at = |index: usize, of: CCursor| CCursor { index: index.into(), ..of };
    let mut snapped = range;
    snapped.primary = at(primary, range.primary);
    snapped.secondary = at(secondary, range.secondary);
    snapped
}

/// The boundary at this character, or the next one in a direction.
fn boundary(text: &str, mut index: usize, is_backwards: bool) -> usize {
    while !is_boundary(text, index) {
        index = if is_backwards { index.saturating_sub(1) } else { index + 1 };
    }
    index
}

/// Whether a cluster begins or ends at this character.
fn is_boundary(text: &str, index: usize) -> bool {
    let Some((offset, _)) = text.char_indices().nth(index) else { return true };
    GraphemeCursor::new(offset, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use egui::TextEdit;
    use egui_kittest::Harness;

    use super::*;

    /// A letter, and one cluster of several code points: marks, an Indic syllable, Hangul letters, emoji and a flag.
    const CLUSTERS: [&str; 8] = [
        "e\u{301}",
        "\u{5d1}\u{5bc}\u{5b8}",
        "\u{628}\u{651}\u{64e}",
        "\u{915}\u{94d}\u{937}\u{93f}",
        "\u{e01}\u{e33}",
        "\u{1112}\u{1161}\u{11ab}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{1f1e9}\u{1f1ea}",
    ];

    fn field(text: String) -> Harness<'static, String> {
        let show = |ui: &mut Ui, text: &mut String| {
            let id = Id::unique("field");
            let label = ui.label("Field").id;
            let field = TextEdit::singleline(text).id(id).desired_width(400.0);
            ui.add(field).labelled_by(label).request_focus();
        };
        let mut harness = Harness::builder()
            .with_context_setup(crate::ui::theme::install)
            .build_ui_state(show, text);
        harness.run_ok();
        harness
    }

    fn press(harness: &mut Harness<'_, String>, keys: &[(Key, Modifiers)]) {
        for (key, modifiers) in keys {
            let (physical_key, repeat, modifiers) = (None, false, *modifiers);
            for pressed in [true, false] {
                let key = *key;
                harness.event(Event::Key { key, physical_key, pressed, repeat, modifiers });
            }
        }
        harness.run_ok();
    }

    fn cursor(harness: &Harness<'_, String>) -> (usize, usize) {
        let state = TextEditState::load(&harness.ctx, Id::unique("field")).unwrap();
        let range = state.cursor.char_range().unwrap();
        (range.primary.index.0, range.secondary.index.0)
    }

    const NONE: Modifiers = Modifiers::NONE;

    #[test]
    fn cursor_moves_and_selects_by_clusters() {
        for cluster in CLUSTERS {
            let length = cluster.chars().count();
            let mut harness = field(format!("a{cluster}b"));
            press(&mut harness, &[(Key::Home, NONE), (Key::ArrowRight, NONE)]);
            assert_eq!(cursor(&harness), (1, 1));
            press(&mut harness, &[(Key::ArrowRight, NONE)]);
            assert_eq!(cursor(&harness), (1 + length, 1 + length), "{cluster:?}");
            press(&mut harness, &[(Key::ArrowLeft, NONE)]);
            assert_eq!(cursor(&harness), (1, 1), "{cluster:?}");
            press(&mut harness, &[(Key::ArrowRight, Modifiers::SHIFT)]);
            assert_eq!(cursor(&harness), (1 + length, 1), "{cluster:?}");
            harness.event(Event::Copy);
            harness.step();
            let copied = harness.output().platform_output.commands.iter().find_map(|it| match it {
                egui::OutputCommand::CopyText(text) => Some(text.clone()),
                _ => None,
            });
            assert_eq!(copied.as_deref(), Some(cluster), "the characters themselves");
        }
    }

    #[test]
    fn whole_clusters_are_deleted() {
        for cluster in CLUSTERS {
            let mut harness = field(format!("a{cluster}b"));
            press(&mut harness, &[(Key::Home, NONE), (Key::ArrowRight, NONE)]);
            press(&mut harness, &[(Key::Delete, NONE)]);
            assert_eq!(harness.state(), "ab", "{cluster:?}");
            let mut harness = field(format!("a{cluster}b"));
            press(&mut harness, &[(Key::End, NONE), (Key::ArrowLeft, NONE)]);
            press(&mut harness, &[(Key::Backspace, NONE)]);
            assert_eq!(harness.state(), "ab", "{cluster:?}");
        }
    }

    #[test]
    fn keys_in_one_frame_delete_in_their_order() {
        let flag = CLUSTERS[7];
        let mut harness = field(format!("a{flag}{flag}b"));
        press(&mut harness, &[(Key::End, NONE)]);
        press(&mut harness, &[(Key::Backspace, NONE); 3]);
        assert_eq!(harness.state(), "a");
        press(&mut harness, &[(Key::Backspace, NONE); 3]);
        assert_eq!(harness.state(), "", "nothing is left to delete");
        harness.event(Event::Text("e\u{301}".to_owned()));
        press(&mut harness, &[(Key::Backspace, NONE)]);
        assert_eq!(harness.state(), "");
    }

    #[test]
    fn a_click_stands_between_clusters() {
        let family = CLUSTERS[6];
        let text = family.repeat(3);
        let length = family.chars().count();
        for index in 0..=text.chars().count() {
            let range = CCursorRange::one(CCursor::new(index));
            let snapped = snapped(&text, range, 0).primary.index.0;
            assert!(snapped.is_multiple_of(length) && snapped.abs_diff(index) < length);
        }
    }
}
