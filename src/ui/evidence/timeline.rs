//! The times of the results as a bar chart, or as a table. The lower part of a bar, in another colour, counts the
//! executions that failed, were denied or were interrupted.
//!
//! A click on a bar, a drag over several, or Enter narrows the search to their times, and Escape takes the times away.
//! The wheel, the buttons and the keys plus and minus zoom, which leaves the search as it is.

use egui::{
    Align, CornerRadius, CursorIcon, Event, Id, Key, Layout, Modifiers, PointerButton, Rect,
    Response, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};

use super::time_span::{Marked, TimeAxis, ZOOM, snapped};
use super::{EvidenceView, parse, within, without_times};
use crate::run::TimeBucket;
use crate::ui::artifact::keep_keyboard;
use crate::ui::{
    Action, EvidenceAction, Icon, Now, Text, Theme, controls, format, icon, rows, widgets,
};

/// The height of the chart, in points.
const HEIGHT: f32 = 56.0;
/// The height of the table, in points.
const TABLE: f32 = 148.0;
/// The maximum width of a bar, in points, so that a few executions do not look like many.
const MAX_BAR_WIDTH: f32 = 28.0;

/// The hits of the search over time.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimelineView<'a> {
    /// The numbers of hits, in intervals of equal length.
    pub buckets: &'a [TimeBucket],
    /// Whether not all hits are counted.
    pub is_partial: bool,
    /// The span that the person has zoomed to, in Unix milliseconds, both ends included; `None` for the usual one.
    pub span: Option<(i64, i64)>,
}

impl TimelineView<'_> {
    fn axis(&self, rect: Rect) -> Option<TimeAxis> {
        let (first, last) = (self.buckets.first()?, self.buckets.last()?);
        let (from_ms, to_ms) = match self.span {
            // The bars of the earlier span move at once; those of the new one follow.
            Some((from, to)) if from > i64::MIN => (from, to.saturating_add(1)),
            _ => (first.from_ms, last.to_ms),
        };
        Some(TimeAxis { from_ms, to_ms, left: rect.left(), width: rect.width() })
    }
}

/// The id of the choice to see the table, which lasts until the window closes.
fn as_table_id() -> Id {
    Id::unique("the results over time as a table")
}

pub(super) fn timeline_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    if view.timeline.buckets.is_empty() {
        return;
    }
    let mut as_table: bool = ui.data(|data| data.get_temp(as_table_id())).unwrap_or(false);
    let size = vec2(ui.available_width(), if as_table { TABLE } else { HEIGHT });
    let axis = if as_table {
        let (_, rect) = ui.allocate_space(size);
        ui.scope_builder(egui::UiBuilder::new().max_rect(rect), |ui| table_ui(ui, view, actions));
        view.timeline.axis(rect)
    } else {
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let axis = view.timeline.axis(rect);
        if let Some(axis) = &axis {
            chart_ui(ui, (rect, &response), axis, view, actions);
        }
        axis
    };
    let Some(axis) = axis else { return };
    let before = as_table;
    below_ui(ui, &axis, view, &mut as_table, actions);
    if as_table != before {
        ui.data_mut(|data| data.insert_temp(as_table_id(), as_table));
    }
}

/// Narrows the search to these times.
fn narrow(view: &EvidenceView<'_>, (from_ms, to_ms): (i64, i64), actions: &mut Vec<Action>) {
    let text = within(view.text, from_ms, to_ms, view.now);
    actions.push(Action::Evidence(EvidenceAction::Search(text)));
}

/// Takes the times away from the search.
fn widen(view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let text = without_times(view.text);
    actions.push(Action::Evidence(EvidenceAction::Search(text)));
}

/// The times of the search, if it has any.
fn times(view: &EvidenceView<'_>) -> Option<(Option<i64>, Option<i64>)> {
    let query = parse(view.text, view.now).query;
    let times = (query.since_ms, query.until_ms);
    (times != (None, None)).then_some(times)
}

/// Marked bars, and of which bars they are: the beginning, the end and the number of all.
type MarkedBars = (Option<Marked>, (Option<i64>, Option<i64>, usize));

fn chart_ui(
    ui: &Ui,
    (rect, response): (Rect, &Response),
    axis: &TimeAxis,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let buckets = view.timeline.buckets;
    let marked_id = response.id.with("marked");
    // Marks are numbers of bars, which are others once the times are.
    let bars =
        (buckets.first().map(|it| it.from_ms), buckets.last().map(|it| it.to_ms), buckets.len());
    let known: Option<MarkedBars> = ui.data(|data| data.get_temp(marked_id));
    let mut marked = known.filter(|(_, of)| *of == bars).and_then(|(marked, _)| marked);
    keys_ui(ui, response, axis, &mut marked, view, actions);
    let marked = marked.filter(|_| response.has_focus());
    ui.data_mut(|data| data.insert_temp(marked_id, (marked, bars)));
    wheel(ui, response, axis, actions);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let dragged = dragged_times(ui, response, axis, buckets);
    let chosen = dragged.or_else(|| marked.and_then(|marked| marked.times(buckets)));
    let searched = times(view).map(|(since, until)| {
        (since.unwrap_or(axis.from_ms), until.map_or(axis.to_ms, |until| until + 1))
    });
    for (span, fill) in [(searched, theme.selection), (chosen, theme.hover)] {
        if let Some((from, to)) = span {
            let band = Rect::from_x_y_ranges(axis.x(from)..=axis.x(to), rect.y_range());
            painter.rect_filled(band, CornerRadius::ZERO, fill);
            let edge = egui::Stroke::new(2.0, theme.accent);
            for x in [band.left() + 1.0, band.right() - 1.0] {
                painter.vline(x, rect.y_range(), edge);
            }
        }
    }
    let most = buckets.iter().map(|it| it.fine + it.bad).max().unwrap_or(1).max(1);
    for bucket in buckets {
        let (left, end) = (axis.x(bucket.from_ms), axis.x(bucket.to_ms));
        let right = left + (end - left - 2.0).clamp(1.0, MAX_BAR_WIDTH);
        let bar = |number: u64, bottom: f32| {
            // Even the smallest number stays visible.
            let part = number as f32 / most as f32;
            let height = if number == 0 { 0.0 } else { (part * HEIGHT).max(2.0) };
            Rect::from_min_max(pos2(left, bottom - height), pos2(right, bottom))
        };
        let bad = bar(bucket.bad, rect.bottom());
        let fine = bar(bucket.fine, bad.top());
        let tint = theme.background.lerp_to_gamma(theme.accent, 0.6);
        painter.rect_filled(fine, CornerRadius::same(1), tint);
        painter.rect_filled(bad, CornerRadius::same(1), theme.danger);
    }
    painter.hline(rect.x_range(), rect.bottom() - 0.5, egui::Stroke::new(1.0, theme.line));
    let total: u64 = buckets.iter().map(|bucket| bucket.fine + bucket.bad).sum();
    let so_far = if view.timeline.is_partial { " so far" } else { "" };
    let name = || {
        let mut name = format!("Timeline of {} executions{so_far}", format::count(total));
        if let Some(times) = marked.and_then(|marked| marked.times(buckets)) {
            name.push_str(&format!(", marked: {}", sum_words(buckets, times, view.now)));
        }
        name
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name()));
    widgets::focus_ring(ui, response);
    let pointer = response.hover_pos().or(response.interact_pointer_pos());
    let at = pointer.map(|pointer| axis.time(pointer.x));
    let under = at.and_then(|ms| buckets.iter().find(|it| it.from_ms <= ms && ms < it.to_ms));
    let Some(bucket) = under.filter(|it| it.fine + it.bad > 0) else { return };
    // The keys that press a button do not: they are about the marked bars.
    if response.clicked_by(PointerButton::Primary) {
        narrow(view, (bucket.from_ms, bucket.to_ms), actions);
    } else if dragged.is_none() {
        let words = sum_words(buckets, (bucket.from_ms, bucket.to_ms), view.now);
        response.clone().on_hover_cursor(CursorIcon::PointingHand).on_hover_text(format!(
            "{words}\nClick to show only these, drag to choose more, scroll to zoom."
        ));
    }
    if let Some(times) = dragged.filter(|_| response.drag_stopped()) {
        narrow(view, times, actions);
    }
}

/// The times that a drag covers, while it lasts and in the frame in which it ends.
fn dragged_times(
    ui: &Ui,
    response: &Response,
    axis: &TimeAxis,
    buckets: &[TimeBucket],
) -> Option<(i64, i64)> {
    let id = response.id.with("drag began");
    let pointer = response.interact_pointer_pos()?;
    if response.drag_started() {
        let origin = ui.input(|input| input.pointer.press_origin()).unwrap_or(pointer);
        ui.data_mut(|data| data.insert_temp(id, axis.time(origin.x)));
    }
    if !response.dragged() && !response.drag_stopped() {
        return None;
    }
    let began: i64 = ui.data(|data| data.get_temp(id))?;
    snapped(buckets, began, axis.time(pointer.x))
}

/// Zooms with the wheel, around the pointer.
fn wheel(ui: &Ui, response: &Response, axis: &TimeAxis, actions: &mut Vec<Action>) {
    let Some(pointer) = response.hover_pos() else { return };
    let turned: f32 = ui.input(|input| {
        let wheel = |event: &Event| match event {
            Event::MouseWheel { unit: egui::MouseWheelUnit::Point, delta, .. } => delta.y / 40.0,
            Event::MouseWheel { delta, .. } => delta.y,
            _ => 0.0,
        };
        input.events.iter().map(wheel).sum()
    });
    if turned != 0.0 {
        let factor = ZOOM.powf(f64::from(turned.clamp(-4.0, 4.0)));
        let span = axis.zoomed(axis.time(pointer.x), factor);
        actions.push(Action::Evidence(EvidenceAction::ShowTimes(Some(span))));
    }
}

/// While the chart has the focus: arrow keys mark bars, Enter shows only these, plus and minus zoom, Page Up and Page
/// Down move the span, Home shows the usual one, and Escape takes the times away or gives up the focus.
fn keys_ui(
    ui: &Ui,
    response: &Response,
    axis: &TimeAxis,
    marked: &mut Option<Marked>,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    if !response.has_focus() {
        return;
    }
    keep_keyboard(ui, response.id);
    let buckets = view.timeline.buckets;
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    for (key, by) in [(Key::ArrowLeft, -1), (Key::ArrowRight, 1)] {
        if pressed(Modifiers::SHIFT, key) {
            *marked = Some(Marked::moved(*marked, by, true, buckets.len()));
        } else if pressed(Modifiers::NONE, key) {
            *marked = Some(Marked::moved(*marked, by, false, buckets.len()));
        }
    }
    let times_marked = marked.and_then(|marked| marked.times(buckets));
    let middle = times_marked
        .map_or(i64::midpoint(axis.from_ms, axis.to_ms), |(from, to)| i64::midpoint(from, to));
    let mut show = |span| actions.push(Action::Evidence(EvidenceAction::ShowTimes(span)));
    for (key, factor) in [(Key::Plus, ZOOM), (Key::Equals, ZOOM), (Key::Minus, 1.0 / ZOOM)] {
        if pressed(Modifiers::NONE, key) || pressed(Modifiers::SHIFT, key) {
            show(Some(axis.zoomed(middle, factor)));
        }
    }
    for (key, share) in [(Key::PageUp, -0.5), (Key::PageDown, 0.5)] {
        if pressed(Modifiers::NONE, key) {
            show(Some(axis.moved(share)));
        }
    }
    if pressed(Modifiers::NONE, Key::Home) {
        show(None);
    }
    if let Some(span) = times_marked.filter(|_| pressed(Modifiers::NONE, Key::Enter)) {
        narrow(view, span, actions);
    }
    if pressed(Modifiers::NONE, Key::Escape) {
        match times(view) {
            Some(_) => widen(view, actions),
            None => response.surrender_focus(),
        }
    }
}

/// The span of some bars and the numbers in them, as words.
fn sum_words(buckets: &[TimeBucket], (from_ms, to_ms): (i64, i64), now: &Now) -> String {
    let inside = buckets.iter().filter(|it| it.from_ms >= from_ms && it.to_ms <= to_ms);
    let (fine, bad) = inside.fold((0, 0), |(fine, bad), it| (fine + it.fine, bad + it.bad));
    format!(
        "{} to {}\n{} fine, {} failed, denied or interrupted",
        now.full(from_ms),
        now.full(to_ms),
        format::count(fine),
        format::count(bad)
    )
}

/// The bars as rows of a table. A click narrows the search to the time of a row.
fn table_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    ScrollArea::vertical().id_salt("timeline table").auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for bucket in view.timeline.buckets.iter().filter(|it| it.fine + it.bad > 0) {
            let size = vec2(ui.available_width(), 22.0);
            let (rect, response) = ui.allocate_exact_size(size, Sense::click());
            rows::row_background(ui, &response, false);
            let middle = rect.center().y;
            let time = view.now.full(bucket.from_ms);
            let parts = [(time.as_str(), Text::Mono, theme.text)];
            widgets::paint_parts(ui, pos2(rect.left() + 6.0, middle), 220.0, &parts);
            let fine = format!("{} fine", format::count(bucket.fine));
            let bad = format!("{} failed, denied or interrupted", format::count(bucket.bad));
            let bad_color = if bucket.bad > 0 { theme.danger } else { theme.dim };
            let parts = [(fine.as_str(), Text::Mono, theme.text), (&bad, Text::Mono, bad_color)];
            let left = pos2(rect.left() + 236.0, middle);
            widgets::paint_parts(ui, left, (rect.width() - 242.0).max(0.0), &parts);
            let span = (bucket.from_ms, bucket.to_ms);
            let name = || sum_words(view.timeline.buckets, span, view.now);
            if controls::painted_button(ui, &response, name) {
                narrow(view, span, actions);
            }
        }
    });
}

/// Below the chart: its ends, the times of the search as a button that takes them away, and the buttons that zoom.
fn below_ui(
    ui: &mut Ui,
    axis: &TimeAxis,
    view: &EvidenceView<'_>,
    as_table: &mut bool,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let (start, end) = ends(axis.from_ms, axis.to_ms, view.now);
    // The labels are centred beside the buttons only if the row has its height from the start.
    let usual = std::mem::replace(&mut ui.spacing_mut().interact_size.y, 24.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.label(widgets::rich(start, Text::Small, theme.dim));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(widgets::rich(end, Text::Small, theme.dim));
            if widgets::view_choice(ui, "Table", *as_table) {
                *as_table = !*as_table;
            }
            let middle = i64::midpoint(axis.from_ms, axis.to_ms);
            let mut button = |icon: Icon, name: &str, span: Option<(i64, i64)>| {
                if widgets::icon_button(ui, icon, name).clicked() {
                    actions.push(Action::Evidence(EvidenceAction::ShowTimes(span)));
                }
            };
            // Beside the times of the search, the usual span is the one around them.
            let whole = times(view).map(|_| (i64::MIN, i64::MAX));
            button(icon::CLOCK, "The whole time", whole);
            button(icon::ZOOM_IN, "Zoom in", Some(axis.zoomed(middle, ZOOM)));
            button(icon::ZOOM_OUT, "Zoom out", Some(axis.zoomed(middle, 1.0 / ZOOM)));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                note_ui(ui, view, actions);
            });
        });
    });
    ui.spacing_mut().interact_size.y = usual;
}

/// The times of the search, or else what the colours mean.
fn note_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    if let Some((since, until)) = times(view) {
        let moment = |ms: i64| view.now.moment(ms);
        let text = match (since, until) {
            (Some(since), Some(until)) => format!("{} to {}", moment(since), moment(until)),
            (Some(since), None) => format!("since {}", moment(since)),
            (_, until) => format!("until {}", until.map(moment).unwrap_or_default()),
        };
        ui.add_space(6.0);
        let space = ui.available_width() - 32.0;
        if Text::Meta.width_of(ui, &text) <= space {
            ui.label(widgets::rich(text, Text::Meta, Theme::of(ui).text));
        }
        let name = "Take the times away from the search";
        if widgets::icon_button(ui, icon::CLOSE, name).clicked() {
            widen(view, actions);
        }
        return;
    }
    let so_far = if view.timeline.is_partial { "so far · " } else { "" };
    let is_bad = view.timeline.buckets.iter().any(|bucket| bucket.bad > 0);
    let legend = if is_bad { "lower part, in red: failed, denied or interrupted" } else { "" };
    let note = format!("{so_far}{legend}");
    if Text::Small.width_of(ui, &note) <= ui.available_width() {
        ui.label(widgets::rich(note, Text::Small, Theme::of(ui).dim));
    }
}

/// The labels below the first and the last bar, as precise as the time between them requires.
fn ends(from: i64, to: i64, now: &Now) -> (String, String) {
    let same_day = now.is_same_day(from, to);
    let label = |ms: i64| match to - from {
        0..600_000 if same_day => now.second(ms),
        _ if same_day => now.minute(ms),
        0..259_200_000 => format!("{} {}", now.day(ms), now.minute(ms)),
        _ => now.day(ms),
    };
    (label(from), label(to.min(now.ms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_year_shows_both_years() {
        let now = Now { ms: 1_700_000_000_000, zone: jiff::tz::TimeZone::UTC };
        let labels = |age_ms: i64| {
            let (start, end) = ends(now.ms - age_ms, now.ms, &now);
            format!("{start} to {end}")
        };
        assert_eq!(labels(365 * 86_400_000), "14 Nov 2022 to 14 Nov");
        assert_eq!(labels(86_400_000), "13 Nov 22:13 to 14 Nov 22:13");
        assert_eq!(labels(3_600_000), "21:13 to 22:13");
        assert_eq!(labels(60_000), "22:12:20 to 22:13:20");
    }
}
