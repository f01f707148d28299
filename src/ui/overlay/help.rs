//! The help: how the pieces fit together, what search fields accept, and all keys.

use egui::style::ScrollAnimation;
use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Frame, Label, Layout, Margin, ScrollArea, Ui};

use super::title_ui;
use crate::ui::commands::{Area, TABLE};
use crate::ui::{
    Action, Command, Text, Theme, Tone, diagnostics, evidence, icon, plan, scroll, widgets,
};

/// The greatest width of the help, in points.
pub(super) const WIDTH: f32 = 1_120.0;
/// The width from which the help has two columns, in points.
const TWO_COLUMNS: f32 = 720.0;
/// The width of a key or a filter beside its description, in points.
const TERM: f32 = 136.0;

pub(super) fn help_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    title_ui(ui, "Keys and help", actions);
    ScrollArea::vertical().auto_shrink([false, true]).show(ui, |ui| {
        // Nothing in the help takes the focus, so that these keys scroll it.
        if let Some(delta) =
            scroll::pressed(ui.ctx(), ui.clip_rect().height(), &scroll::VERTICAL_KEYS)
        {
            ui.scroll_with_delta_animation(delta, ScrollAnimation::none());
        }
        // The bar floats over the content, so that room for it is left at the right.
        Frame::NONE.inner_margin(Margin { right: 14, ..Margin::ZERO }).show(ui, |ui| {
            if ui.available_width() < TWO_COLUMNS {
                concepts_ui(ui);
                searches_ui(ui);
                keys_ui(ui);
                return;
            }
            ui.spacing_mut().item_spacing.x = 32.0;
            ui.columns(2, |columns| {
                let parts: [&[fn(&mut Ui)]; 2] = [&[concepts_ui, searches_ui], &[keys_ui]];
                for (ui, parts) in columns.iter_mut().zip(parts) {
                    // Columns would stretch the lines of a paragraph.
                    ui.with_layout(Layout::top_down(Align::Min), |ui| {
                        ui.spacing_mut().item_spacing.x = 8.0;
                        parts.iter().for_each(|part| part(ui));
                    });
                }
            });
        });
    });
}

fn concepts_ui(ui: &mut Ui) {
    heading(ui, "How it works");
    for text in [
        "Open a plan: nothing runs. Each step shows what it would do to which file.",
        "Authorize: your authorization covers exactly these bytes, this workspace, these settings and the \
         present content of every file a step changes. If one of them changes, the authorization is void.",
        "Run: steps run in order, one at a time. A step that asks waits until you answer; closing \
         its dialog leaves it unanswered.",
        "Evidence: each step is recorded before and after it runs, with every decision, in a chain that \
         shows every later change.",
        "Marks such as ⟨U+202E⟩ or ⟨ESC⟩ stand for characters that could not be seen, or follow a letter that looks \
         like another one. In a name, ⟨U+200D⟩ also stands for what joins emoji: fonts draw different ones alike, and \
         two names must not look the same.",
    ] {
        widgets::remark(ui, icon::INFO, Tone::Accent, text);
    }
}

/// What the search fields of the pages accept.
fn searches_ui(ui: &mut Ui) {
    heading(ui, "Searching the evidence");
    let text = "Words and filters, all of which must match. The last word may be incomplete. Quotation marks keep words \
                together, also in a value: path:\"my file.rs\".";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    for (example, meaning) in evidence::filters_help() {
        entry_ui(ui, &example, None, &meaning);
    }
    heading(ui, "Finding steps of a plan");
    widgets::paragraph(ui, plan::FIELD_HELP, Text::Meta, Tone::Dim);
    let text = "The buttons beside the field list the steps of one kind, or of several:";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    for (word, meaning) in plan::kinds_help() {
        entry_ui(ui, word, None, meaning);
    }
    heading(ui, "Filtering diagnostics");
    let text = "Words in the code, the file, the message or a label; all of them must occur.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    for (example, meaning) in diagnostics::filters_help() {
        entry_ui(ui, &example, None, meaning);
    }
}

/// The keys, by the area of their commands.
fn keys_ui(ui: &mut Ui) {
    heading(ui, "Keys");
    for area in Area::ALL {
        ui.add_space(4.0);
        widgets::heading(ui, area.title());
        for spec in TABLE.iter().filter(|spec| spec.command.area() == area) {
            if let Some(key) = spec.shortcut_text(ui) {
                let name = spec.text.trim_end_matches('…');
                entry_ui(ui, &key, Some(name), spec.tooltip);
            }
        }
    }
    let palette = Command::Palette.spec().shortcut_text(ui).unwrap_or_default();
    let text =
        format!("Every command, also without a key, is in the list of commands ({palette}).");
    ui.add_space(4.0);
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
}

fn heading(ui: &mut Ui, text: &str) {
    ui.add_space(8.0);
    widgets::line(ui, text, Text::Strong, Tone::Plain);
    ui.add_space(2.0);
}

/// A key or a filter, with its description beside it. The name of a command comes first, in the colour of text.
fn entry_ui(ui: &mut Ui, term: &str, name: Option<&str>, description: &str) {
    let theme = Theme::of(ui);
    ui.horizontal_top(|ui| {
        let left = ui.cursor().left();
        ui.add(Label::new(widgets::rich(term, Text::Mono, theme.text)).extend());
        let rest = TERM - (ui.cursor().left() - left);
        ui.add_space(rest.max(0.0));
        let mut job = LayoutJob::default();
        let parts = name.map(|name| (format!("{name}. "), theme.text));
        for (text, color) in parts.into_iter().chain([(description.to_owned(), theme.dim)]) {
            job.append(&text, 0.0, TextFormat::simple(Text::Meta.font(), color));
        }
        ui.add(Label::new(job).wrap());
    });
}

#[cfg(test)]
mod tests {
    use egui::Key;
    use egui_kittest::kittest::Queryable as _;

    use crate::ui::commands::{Area, TABLE};
    use crate::ui::evidence::Filter;
    use crate::ui::tests::window;

    #[test]
    fn help_names_every_filter_and_key() {
        for size in [[900.0, 600.0], [1280.0, 800.0]] {
            let harness = window("help", size);
            for (word, _) in Filter::WORDS {
                let filter = format!("{word}:");
                assert!(harness.query_all_by_label_contains(&filter).count() > 0, "{word}");
            }
            for text in ["Ctrl+Shift+.", "Ctrl+,", "unseen", "code:E0308"] {
                assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
            }
            assert!(harness.query_by_label_contains("Period").is_none());
            for area in Area::ALL {
                assert!(harness.query_all_by_label(area.title()).next().is_some(), "{area:?}");
            }
            for spec in &TABLE {
                let text = format!("{}. {}", spec.text.trim_end_matches('…'), spec.tooltip);
                let is_shown = harness.query_by_label(&text).is_some();
                assert_eq!(is_shown, spec.shortcut.is_some(), "{text}");
            }
        }
    }

    #[test]
    fn help_says_what_a_mark_stands_for() {
        let harness = window("help", [1280.0, 800.0]);
        let mark = "In a name, ⟨U+200D⟩ also stands for what joins emoji";
        assert!(harness.query_by_label_contains(mark).is_some());
    }

    #[test]
    fn help_uses_the_room_of_the_window() {
        let size = [1280.0, 800.0];
        let mut harness = window("help", size);
        let left = harness.get_by_label("How it works").rect();
        let right = harness.get_by_label("Keys").rect();
        assert_eq!(left.top(), right.top(), "the keys are beside the rest");
        assert!(left.left() < 120.0 && left.top() < 120.0, "{left}");
        let top =
            |harness: &egui_kittest::Harness<'_, _>| harness.get_by_label("Keys").rect().top();
        harness.key_press(Key::PageDown);
        harness.run_ok();
        assert!(top(&harness) < right.top() - 100.0, "{}", top(&harness));
        harness.key_press(Key::Home);
        harness.run_ok();
        assert_eq!(top(&harness), right.top());
    }
}
