//! How the pieces fit together, what search fields accept, and the keys of all commands.

use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Label, Layout, Ui};

use crate::ui::commands::{Area, Spec, TABLE};
use crate::ui::{
    Action, Command, Look, Text, Theme, Tone, diagnostics, evidence, icon, plan, widgets,
};

/// The width from which a part of the help has two columns, in points.
const TWO_COLUMNS: f32 = 720.0;
/// The width of a key or a filter beside its description, in points.
const TERM: f32 = 136.0;

/// How it works, and searching.
pub(super) fn start_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    let mut left = |ui: &mut Ui| {
        concepts_ui(ui);
        fault_ui(ui, actions);
    };
    columns_ui(ui, [&mut left, &mut |ui| searches_ui(ui)]);
}

/// Where to go on when the program itself is at fault.
fn fault_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    heading(ui, "When something does not work");
    let text = "A bug report collects what is needed to find a fault of the program, and shows it before you copy it.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    let spec = Command::BugReport.spec();
    if widgets::button(ui, Look::Plain, spec.icon, spec.text, true).clicked() {
        actions.push(Action::Do(Command::BugReport));
    }
}

/// The keys, by the area of their commands.
pub(super) fn keys_ui(ui: &mut Ui) {
    let (left, right) = Area::ALL.split_at(3);
    columns_ui(ui, [&mut |ui| areas_ui(ui, left), &mut |ui| areas_ui(ui, right)]);
    let palette = Command::Palette.spec().shortcut_text(ui);
    let key = palette.map(|key| format!(" ({key})")).unwrap_or_default();
    let text = format!("Every command, also without a key, is in the list of commands{key}.");
    ui.add_space(4.0);
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
}

/// Two parts beside each other, or below each other where there is no room.
fn columns_ui(ui: &mut Ui, parts: [&mut dyn FnMut(&mut Ui); 2]) {
    if ui.available_width() < TWO_COLUMNS {
        for part in parts {
            part(ui);
        }
        return;
    }
    ui.spacing_mut().item_spacing.x = 32.0;
    ui.columns(2, |columns| {
        for (ui, part) in columns.iter_mut().zip(parts) {
            // Columns would stretch the lines of a paragraph.
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                part(ui);
            });
        }
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

fn areas_ui(ui: &mut Ui, areas: &[Area]) {
    for area in areas {
        heading(ui, area.title());
        for spec in TABLE.iter().filter(|spec| spec.command.area() == *area) {
            command_ui(ui, spec);
        }
    }
}

/// A command with a key; nothing for one without.
pub(super) fn command_ui(ui: &mut Ui, spec: &Spec) {
    if let Some(key) = spec.shortcut_text(ui) {
        entry_ui(ui, &key, Some(spec.text.trim_end_matches('…')), spec.tooltip);
    }
}

/// A command that was searched, also one without a key.
pub(super) fn found_command_ui(ui: &mut Ui, spec: &Spec) {
    let key = spec.shortcut_text(ui).unwrap_or_else(|| "no key".to_owned());
    entry_ui(ui, &key, Some(spec.text.trim_end_matches('…')), spec.tooltip);
}

/// Every filter of a search field, by an example, and what it finds.
pub(super) fn filters() -> impl Iterator<Item = (String, String)> {
    let of_diagnostics = diagnostics::filters_help().map(|(it, meaning)| (it, meaning.to_owned()));
    let of_steps = plan::kinds_help().map(|(it, meaning)| (it.to_owned(), meaning.to_owned()));
    evidence::filters_help().chain(of_steps).chain(of_diagnostics)
}

pub(super) fn heading(ui: &mut Ui, text: &str) {
    ui.add_space(8.0);
    widgets::line(ui, text, Text::Strong, Tone::Plain);
    ui.add_space(2.0);
}

/// A key or a filter, with its description beside it. The name of a command comes first, in the colour of text.
pub(super) fn entry_ui(ui: &mut Ui, term: &str, name: Option<&str>, description: &str) {
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
