//! The hosts of a plan for several hosts: before its run what is generated for ansible, then the state of the selected
//! step on each host.

mod entries;

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Frame, Id, Key, Margin, Rect, Sense, Ui, pos2, vec2};

use self::entries::{Entry, GroupKey, entries};
use super::inspector::empty_tab_ui;
use super::{Gutter, PlanView, cached_rows, code_rows_ui, columns, indented, text_rows};
use crate::plan::{drawable, drawable_lines, visible_name};
use crate::run::{FleetReview, HostKind, HostState, HostTable};
use crate::ui::rows::{row_background, rows_ui};
use crate::ui::{Action, Icon, Text, Theme, Tone, controls, format, icon, scroll, theme, widgets};

/// The height of the details of a host, in points.
const DETAILS: f32 = 150.0;
/// How far hosts of a group are indented, in points.
const INDENT: f32 = 21.0;
/// The maximum number of names in the row of a group.
const NAMES: usize = 20;

/// What a person has chosen in the list of hosts.
#[derive(Debug, Clone, Default)]
struct HostList {
    text: String,
    kinds: BTreeSet<HostKind>,
    selected: Option<String>,
    /// The groups whose hosts have rows.
    open: BTreeSet<GroupKey>,
}

/// What a click on a row does.
enum Click {
    Host(String),
    Group(GroupKey),
    /// The filter is cleared.
    All,
}

/// Draws the tab.
pub(super) fn hosts_tab_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let hosts = &view.run.hosts;
    if hosts.of_step(view.selected).next().is_some() {
        return hosts_ui(ui, hosts, view.selected);
    }
    match view.review.and_then(|review| review.fleet.as_ref()) {
        Some(fleet) if !view.run.has_begun() => fleet_ui(ui, fleet),
        _ => {
            let text = match view.run.is_over() {
                true => "The step began on no host.",
                false => "The hosts appear here when the step begins on the first of them.",
            };
            empty_tab_ui(ui, icon::HOST, ("No hosts yet", text), actions);
        }
    }
}

/// The hosts and the files that an authorization covers.
fn fleet_ui(ui: &mut Ui, fleet: &FleetReview) {
    ui.add_space(8.0);
    indented(ui, |ui| {
        let count = format::counted(fleet.hosts.len(), "host");
        let version = drawable(&fleet.ansible_version);
        let text = format!("All steps run on {count}, by ansible-core {version}.");
        widgets::remark(ui, icon::HOST, Tone::Plain, text);
        if let Some(batches) = &fleet.batches {
            widgets::remark(ui, icon::INFO, Tone::Dim, format!("The hosts run {batches}."));
        }
    });
    ui.add_space(6.0);
    egui::ScrollArea::vertical().id_salt("fleet").auto_shrink([false, false]).show(ui, |ui| {
        scroll::by_key(ui);
        files_ui(ui, fleet);
    });
}

/// The hosts and the generated files as rows of code.
pub(crate) fn files_ui(ui: &mut Ui, fleet: &FleetReview) {
    let text: Arc<str> = drawable_lines(&fleet.text()).into();
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    let key = ("fleet", fleet.binding.files);
    let rows = cached_rows(ui, key, &[Arc::clone(&text)], columns, || text_rows(&text, columns));
    code_rows_ui(ui, "fleet", &rows, Gutter::NONE);
}

/// The icon, the word and the tone of a kind.
const fn look(kind: HostKind) -> (Icon, &'static str, Tone) {
    match kind {
        HostKind::Failed => (icon::FAILED, "failed", Tone::Danger),
        HostKind::NotRun => (icon::CANCELLED, "not run", Tone::Caution),
        HostKind::Running => (icon::RUNNING, "running", Tone::Accent),
        HostKind::Waiting => (icon::WAITING, "waiting", Tone::Dim),
        HostKind::Succeeded => (icon::DONE, "succeeded", Tone::Safe),
    }
}

/// The list of hosts with its filter, and the details of the selected host below.
fn hosts_ui(ui: &mut Ui, table: &HostTable, step_index: usize) {
    let id = Id::unique("list of hosts");
    let mut list: HostList = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    filter_ui(ui, table, step_index, &mut list);
    let listed: Vec<(&str, &HostState)> = table
        .of_step(step_index)
        .filter(|(host, state)| {
            (list.kinds.is_empty() || list.kinds.contains(&state.kind()))
                && (list.text.is_empty() || host.contains(list.text.trim()))
        })
        .collect();
    let selected = list.selected.as_deref();
    let state = listed.iter().find(|(host, _)| Some(*host) == selected).copied();
    let height = if state.is_some() { DETAILS.min(ui.available_height() / 2.0) } else { 0.0 };
    let top = ui.available_rect_before_wrap();
    let split = top.bottom() - height;
    let upper = Rect::from_min_max(top.min, pos2(top.right(), split));
    let rows = entries(&listed, &list.open);
    let mut clicked = None;
    ui.scope_builder(egui::UiBuilder::new().max_rect(upper), |ui| {
        if listed.is_empty() {
            let texts = ("No hosts", "No host is as the filter says.");
            if widgets::empty_state(ui, icon::HOST, texts, (icon::HOST, "List all hosts")) {
                clicked = Some(Click::All);
            }
            return;
        }
        rows_ui(ui, "hosts", theme::ROW, rows.len(), None, |ui, rect, index| {
            match rows.get(index) {
                Some(Entry::Host { host, state, is_indented }) => {
                    let indent = if *is_indented { INDENT } else { 0.0 };
                    if row_ui(ui, rect, (host, state), indent, Some(*host) == selected) {
                        clicked = Some(Click::Host((*host).to_owned()));
                    }
                }
                Some(Entry::Group { key, state, hosts, is_open }) => {
                    let is_clicked = group_ui(ui, rect, (hosts, state), *is_open);
                    let click = is_clicked.then(|| Click::Group(key.clone()));
                    clicked = click.or_else(|| clicked.take());
                }
                None => {}
            }
        });
    });
    if let Some((host, state)) = state {
        let lower = Rect::from_min_max(pos2(top.left(), split), top.max);
        let builder = egui::UiBuilder::new().max_rect(lower);
        ui.scope_builder(builder, |ui| details_ui(ui, host, state));
    }
    match clicked {
        // A second click closes the details, or folds the group.
        Some(Click::Host(host)) => {
            list.selected = (list.selected.as_ref() != Some(&host)).then_some(host);
        }
        Some(Click::Group(key)) if !list.open.remove(&key) => {
            list.open.insert(key);
        }
        Some(Click::All) => (list.kinds, list.text) = (BTreeSet::new(), String::new()),
        Some(Click::Group(_)) | None => {}
    }
    ui.data_mut(|data| data.insert_temp(id, list));
}

fn filter_ui(ui: &mut Ui, table: &HostTable, step_index: usize, list: &mut HostList) {
    let margin = Margin { left: 18, right: 18, top: 8, bottom: 6 };
    Frame::NONE.inner_margin(margin).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing = vec2(6.0, 4.0);
        ui.horizontal_wrapped(|ui| {
            let id = ui.scope_id().with("find host");
            let field = widgets::code_field(&mut list.text, id, 110.0)
                .margin(Margin::symmetric(8, 3))
                .hint_text("Find a host");
            let response = ui.add(field).accessible_name("Find a host");
            widgets::focus_ring(ui, &response);
            if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
                list.text.clear();
            }
            let counts = table.counts(step_index);
            for (kind, count) in HostKind::ALL.into_iter().zip(counts) {
                let on = list.kinds.contains(&kind);
                if count == 0 && !on {
                    continue;
                }
                let (icon, word, tone) = look(kind);
                let text = format!("{word} {}", format::count(count as u64));
                if controls::toggle(ui, icon, &text, tone, on).clicked()
                    && !list.kinds.remove(&kind)
                {
                    list.kinds.insert(kind);
                }
            }
        });
    });
    widgets::line_below(ui);
}

/// How hosts in this state ended, or the first line of what they printed.
fn about(state: &HostState) -> String {
    match state {
        HostState::Done(result) => {
            let message = result.error_message.as_deref().unwrap_or(&result.output);
            let first = message.lines().find(|line| !line.trim().is_empty());
            first.unwrap_or("printed nothing").to_owned()
        }
        HostState::Waiting | HostState::Running => look(state.kind()).1.to_owned(),
    }
}

/// Draws the row of several hosts. Returns whether it was clicked.
fn group_ui(ui: &mut Ui, rect: Rect, (hosts, state): (&[&str], &HostState), is_open: bool) -> bool {
    let theme = Theme::of(ui);
    let salt = ("group", hosts.first().copied().unwrap_or_default());
    let response = ui.interact(rect, ui.scope_id().with(salt), Sense::click());
    row_background(ui, &response, false);
    let (icon, word, tone) = look(state.kind());
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 27.0, middle), icon, 17.0, theme.tone(tone));
    let arrow = if is_open { icon::UP } else { icon::DOWN };
    widgets::paint_icon(ui, pos2(rect.right() - 26.0, middle), arrow, 14.0, theme.dim);
    let left = rect.left() + 48.0;
    let width = (rect.right() - 44.0 - left).max(0.0);
    let count = format::counted(hosts.len(), "host");
    // More names than fit are never drawn.
    let names: Vec<_> = hosts.iter().take(NAMES).map(|host| visible_name(host)).collect();
    let names = names.join("  ");
    let parts = [(&*count, Text::Strong, theme.text), (&*names, Text::SmallMono, theme.dim)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 15.0), width, &parts);
    let about = about(state);
    let about = drawable(&about);
    let color = if tone == Tone::Danger { theme.danger } else { theme.dim };
    let parts = [(&*about, Text::Small, color)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 32.0), width, &parts);
    let folded = if is_open { "unfolded" } else { "folded" };
    controls::painted_button(ui, &response, || format!("{count}: {word}, {about}, {folded}"))
}

/// Draws a row. Returns whether it was clicked.
fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    (host, state): (&str, &HostState),
    indent: f32,
    selected: bool,
) -> bool {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with(("host", host)), Sense::click());
    row_background(ui, &response, selected);
    let (icon, word, tone) = look(state.kind());
    let middle = rect.center().y;
    let center = pos2(rect.left() + 27.0 + indent, middle);
    widgets::paint_icon(ui, center, icon, 17.0, theme.tone(tone));
    let about = about(state);
    let took = match state {
        HostState::Done(result) if result.duration_ms > 0 => {
            crate::run::text::took(result.duration_ms)
        }
        _ => String::new(),
    };
    let right = rect.right() - 18.0;
    let reserved = widgets::paint_right(ui, pos2(right, middle), (&took, Text::Mono, theme.dim));
    let left = rect.left() + 48.0 + indent;
    let width = (right - reserved - 12.0 - left).max(0.0);
    let name = visible_name(host);
    let parts = [(&*name, Text::Mono, theme.text)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 15.0), width, &parts);
    let about = drawable(&about);
    let color = if tone == Tone::Danger { theme.danger } else { theme.dim };
    let parts = [(&*about, Text::Small, color)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 32.0), width, &parts);
    controls::painted_button(ui, &response, || format!("Host {name}: {word}, {about}"))
}

fn details_ui(ui: &mut Ui, host: &str, state: &HostState) {
    widgets::line_below(ui);
    let scroll = egui::ScrollArea::vertical().id_salt(("host", host)).auto_shrink([false, false]);
    scroll.show(ui, |ui| {
        indented(ui, |ui| {
            let (icon, word, tone) = look(state.kind());
            widgets::line(ui, visible_name(host), Text::Mono, Tone::Plain);
            let HostState::Done(result) = state else {
                widgets::paragraph(ui, word, Text::Body, Tone::Dim);
                return;
            };
            if let Some(message) = &result.error_message {
                widgets::remark(ui, icon, tone, drawable_lines(message));
            }
            if let Some(code) = result.exit_code {
                widgets::fact(ui, "exit code", code.to_string(), Text::Mono);
            }
            let id = result.execution_id.to_string();
            widgets::copyable_value(ui, "execution", &id, "the id of the execution");
            if !result.output.is_empty() {
                widgets::paragraph(ui, drawable_lines(&result.output), Text::Mono, Tone::Plain);
            }
            if result.output_bytes > result.output.len() as u64 {
                let text = "This is the beginning; the evidence has all of it.";
                widgets::paragraph(ui, text, Text::Small, Tone::Dim);
            }
        });
    });
}

#[cfg(test)]
mod tests;
