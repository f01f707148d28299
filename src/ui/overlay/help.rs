//! The help: how the pieces fit together, all keys, and what codes, tools, rules and words mean, with a search field.
//!
//! Any part of the window opens it at an entry with [`explain_ui`].

mod entries;
mod start;

use egui::style::ScrollAnimation;
use egui::{Context, Frame, Id, Key, Margin, ScrollArea, TextEdit, Ui};

use super::title_ui;
use crate::help::{Entry, Found, Help, Section};
use crate::plan::Code;
use crate::ui::action::WindowAction;
use crate::ui::commands::TABLE;
use crate::ui::{Action, Text, Tone, scroll, tabs, widgets};
use entries::entries_ui;

/// The greatest width of the help, in points.
pub(super) const WIDTH: f32 = 1_120.0;

/// A part of the help, as a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum HelpTab {
    #[default]
    Start,
    Keys,
    Section(Section),
    /// What was found in all parts; it has no tab.
    Found,
}

impl HelpTab {
    fn all() -> impl Iterator<Item = (Self, &'static str)> {
        let first = [(Self::Start, "How it works"), (Self::Keys, "Keys")];
        let sections = Section::ALL.map(|section| (Self::Section(section), section.title()));
        first.into_iter().chain(sections)
    }
}

/// What the person has typed and chosen while the help is open.
#[derive(Debug, Clone, Default)]
struct HelpState {
    /// The entry at which the help was opened.
    topic: String,
    text: String,
    tab: HelpTab,
    /// Whether the help has been drawn with this topic.
    is_drawn: bool,
}

impl HelpState {
    fn at(topic: &str, help: &Help) -> Self {
        let state = Self { topic: topic.to_owned(), ..Self::default() };
        match help.find(topic) {
            Found::Entry(entry) => Self { tab: HelpTab::Section(entry.section), ..state },
            // No entry has this name, so that the search shows what there is.
            Found::Nearest(_) => Self { text: topic.to_owned(), ..state },
        }
    }

    /// What the search has found, if anything is searched, otherwise the chosen part.
    fn shown(&self) -> HelpTab {
        if self.text.trim().is_empty() { self.tab } else { HelpTab::Found }
    }
}

fn state_id() -> Id {
    Id::unique("state of the help")
}

fn request_id() -> Id {
    Id::unique("entry at which the help is to open")
}

/// Forgets what was typed in the help. Call this in every frame without an overlay.
pub(super) fn clean_up(ctx: &Context) {
    ctx.data_mut(|data| data.remove::<HelpState>(state_id()));
}

/// Buttons that open the help at each of the codes that a text names.
pub fn explain_ui(ui: &mut Ui, codes: &[Code]) {
    for code in codes {
        let name = format!("What is {code}?");
        if widgets::view_choice(ui, &name, false) {
            ui.data_mut(|data| data.insert_temp(request_id(), code.as_str().to_owned()));
        }
    }
}

/// Reports that the person wants to read an entry. Call this once in a frame, after all that may ask for it.
pub(in crate::ui) fn take_request(ctx: &Context, actions: &mut Vec<Action>) {
    if let Some(key) = ctx.data_mut(|data| data.remove_temp::<String>(request_id())) {
        actions.push(Action::Window(WindowAction::OpenHelp(key)));
    }
}

pub(super) fn help_ui(ui: &mut Ui, topic: &str, help: &Help, actions: &mut Vec<Action>) {
    let state = ui.data(|data| data.get_temp::<HelpState>(state_id()));
    let mut state =
        state.filter(|it| it.topic == topic).unwrap_or_else(|| HelpState::at(topic, help));
    title_ui(ui, "Keys and help", actions);
    let scrolled = keys_for_scrolling(ui, state.text.is_empty());
    let edit = TextEdit::singleline(&mut state.text)
        .id(state_id().with("edit"))
        .hint_text("Find a key, code, tool, rule or word")
        .margin(Margin::symmetric(10, 6))
        .desired_width(f32::INFINITY);
    let response = ui.add(edit).accessible_name("Search the help");
    if !state.is_drawn {
        response.request_focus();
    }
    let tabs: Vec<_> = HelpTab::all().collect();
    if let Some(tab) = tabs::tabs_ui(ui, &tabs, state.shown()) {
        // A tab is a part of the whole help.
        (state.tab, state.text) = (tab, String::new());
    }
    ui.add_space(4.0);
    let salt = (state.text.clone(), tabs.iter().position(|(tab, _)| *tab == state.tab));
    let area = ScrollArea::vertical().id_salt(("help", salt)).auto_shrink([false, false]);
    area.show(ui, |ui| {
        if let Some(delta) = scrolled {
            ui.scroll_with_delta_animation(delta, ScrollAnimation::none());
        }
        // The bar floats over the content, so that room for it is left at the right.
        Frame::NONE.inner_margin(Margin { right: 14, ..Margin::ZERO }).show(ui, |ui| {
            let reveal = !state.is_drawn;
            match state.shown() {
                HelpTab::Found => found_ui(ui, &state.text, help),
                HelpTab::Start => start::start_ui(ui, actions),
                HelpTab::Keys => start::keys_ui(ui),
                HelpTab::Section(section) => {
                    let shown = help.entries().filter(|entry| entry.section == section);
                    entries_ui(ui, shown, topic, reveal);
                }
            }
        });
    });
    state.is_drawn = true;
    ui.data_mut(|data| data.insert_temp(state_id(), state));
}

/// What matches the words in the search field: commands, then filters, then entries.
fn found_ui(ui: &mut Ui, text: &str, help: &Help) {
    let lower = text.to_lowercase();
    let words: Vec<_> = lower.split_whitespace().collect();
    let commands: Vec<_> = TABLE
        .iter()
        .filter(|spec| {
            let key = spec.shortcut_text(ui).unwrap_or_default();
            let searched = format!("{} {} {key}", spec.text, spec.tooltip).to_lowercase();
            words.iter().all(|word| searched.contains(word))
        })
        .collect();
    let filters: Vec<_> = start::filters()
        .filter(|(example, meaning)| {
            let searched = format!("{example} {meaning}").to_lowercase();
            words.iter().all(|word| searched.contains(word))
        })
        .collect();
    let found = help.matching(text);
    if commands.is_empty() && filters.is_empty() && found.is_empty() {
        let text = "Nothing in the help has these words. Fewer words, or a part of one, find more.";
        widgets::paragraph(ui, text, Text::Body, Tone::Dim);
    }
    if let Some(entry) = found.first().filter(|entry| entry.key.to_lowercase() == lower.trim()) {
        entries_ui(ui, [*entry], &entry.key, false);
    }
    if !commands.is_empty() {
        start::heading(ui, "Commands");
        commands.iter().for_each(|spec| start::found_command_ui(ui, spec));
    }
    if !filters.is_empty() {
        start::heading(ui, "Searches and filters");
        filters.iter().for_each(|(example, meaning)| start::entry_ui(ui, example, None, meaning));
    }
    let is_first = |key: &str| key.to_lowercase() == lower.trim();
    for section in Section::ALL {
        let of_section = |entry: &&&Entry| entry.section == section && !is_first(&entry.key);
        if found.iter().any(|entry| of_section(&entry)) {
            start::heading(ui, section.title());
            entries_ui(ui, found.iter().filter(of_section).copied(), "", false);
        }
    }
}

/// How far the keys scroll that a field of one line has no use for. An empty one has none for Home and End either.
fn keys_for_scrolling(ui: &Ui, is_empty: bool) -> Option<egui::Vec2> {
    const KEYS: [Key; 4] = [Key::PageDown, Key::PageUp, Key::ArrowDown, Key::ArrowUp];
    let keys = if is_empty { &scroll::VERTICAL_KEYS[..] } else { &KEYS };
    scroll::pressed(ui.ctx(), ui.available_height(), keys)
}

#[cfg(test)]
mod tests;
