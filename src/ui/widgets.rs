//! The widgets that all pages share. They give controls their accessible names, except for [`code_field`].

use std::borrow::Cow;
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{
    Align, Align2, Button, CentralPanel, Color32, CornerRadius, Frame, Galley, Id, Label, Margin,
    Pos2, Rect, Response, RichText, Role, Sense, Stroke, TextEdit, Ui, Vec2, WidgetInfo,
    WidgetText, pos2, vec2,
};

mod empty;

pub use super::copying::{copy_button, copyable, copyable_value};
pub use super::reveal::{reveal_focus_in, reveal_focused};
use super::{Icon, Text, Theme, Tone, access, format, theme};
use crate::plan::{drawable, drawable_lines};
pub use empty::{empty_state, reading_state};

/// A text with its font and colour.
pub fn rich(text: impl Into<String>, kind: Text, color: Color32) -> RichText {
    RichText::new(text).font(kind.font()).color(color)
}

/// The part of a text that can be visible in a truncated line, with hidden characters made visible. A step's argument
/// may be a megabyte long, and laying all of it out would delay the frame.
pub fn beginning(text: &str) -> Cow<'_, str> {
    const MAX_CHARS: usize = 1_000;
    match text.char_indices().nth(MAX_CHARS) {
        None => drawable(text),
        Some((end, _)) => {
            let shown = text.get(..format::whole_before(text, end)).unwrap_or_default();
            Cow::Owned(format!("{}…", drawable(shown)))
        }
    }
}

/// A label in one line, truncated with an ellipsis if it does not fit. Hovering shows the [`beginning`] of the text.
pub fn line(ui: &mut Ui, text: impl AsRef<str>, kind: Text, tone: Tone) -> Response {
    let color = Theme::of(ui).tone(tone);
    let line = ui.add(Label::new(rich(beginning(text.as_ref()), kind, color)).truncate());
    if kind == Text::Title {
        access::heading(&line, 1);
    }
    line
}

/// A label that wraps.
pub fn paragraph(ui: &mut Ui, text: impl AsRef<str>, kind: Text, tone: Tone) -> Response {
    let color = Theme::of(ui).tone(tone);
    ui.add(Label::new(rich(drawable_lines(text.as_ref()), kind, color)).wrap())
}

/// The heading of a group.
pub fn heading(ui: &mut Ui, text: &str) -> Response {
    let heading = line(ui, text, Text::Meta, Tone::Dim);
    access::heading(&heading, 3);
    heading
}

/// The heading of a list, with the space below it.
pub fn list_heading(ui: &mut Ui, text: &str) {
    heading(ui, text);
    ui.add_space(4.0 - ui.spacing().item_spacing.y);
}

/// The appearance of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// One of several equal buttons.
    Plain,
    /// The primary button; at most one in a bar.
    Primary,
    /// As [`Self::Primary`], for what is dangerous.
    Danger,
    /// A button without a frame until hovered.
    Bare,
}

/// One of several choices of which one is chosen.
pub fn choice(ui: &mut Ui, text: &str, chosen: bool) -> Response {
    let look = if chosen { Look::Primary } else { Look::Plain };
    let response = button(ui, look, None, text, true);
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, chosen, text));
    response
}

/// A button with an icon and a name.
pub fn button(ui: &mut Ui, look: Look, icon: Option<Icon>, text: &str, enabled: bool) -> Response {
    let theme = Theme::of(ui);
    let color = match (look, enabled) {
        (Look::Primary | Look::Danger, true) => theme.on_accent,
        (_, true) => theme.text,
        (_, false) => theme.dim,
    };
    let label = rich(text, Text::Body, color);
    let mut button = match icon {
        Some(icon) => Button::new((icon.text(16.0).color(color), label)),
        None => Button::new(label),
    };
    button = button.min_size(vec2(0.0, theme::BUTTON)).gap(6.0);
    button = match look {
        Look::Primary if enabled => {
            button.fill(theme.accent).stroke(Stroke::new(1.0, theme.accent))
        }
        Look::Danger if enabled => button.fill(theme.danger).stroke(Stroke::new(1.0, theme.danger)),
        Look::Bare => button.frame_when_inactive(false),
        Look::Primary | Look::Danger | Look::Plain => button,
    };
    let response = ui.add_enabled(enabled, button);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, text));
    match look {
        // On a button in the accent colour the usual ring would be invisible.
        Look::Primary | Look::Danger if enabled => {
            reveal_focused(ui, &response);
            ring(ui, &response, response.rect.shrink(2.0), theme.on_accent)
        }
        _ => focus_ring(ui, &response),
    }
    response
}

/// A button with a tooltip. Returns whether it was clicked.
pub fn tooltip_button(
    ui: &mut Ui,
    look: Look,
    icon: impl Into<Option<Icon>>,
    text: &str,
    hint: &str,
) -> bool {
    button(ui, look, icon.into(), text, true).on_hover_text(hint).clicked()
}

/// A word without a frame that chooses one of several views. Returns whether it was clicked.
pub fn view_choice(ui: &mut Ui, name: &str, selected: bool) -> bool {
    let theme = Theme::of(ui);
    let text = rich(name, Text::Meta, if selected { theme.text } else { theme.dim });
    let response = ui.add(Button::selectable(selected, text).frame_when_inactive(false));
    if selected {
        selected_line(ui, response.rect);
    }
    focus_ring(ui, &response);
    response.clicked()
}

/// A small square button with only an icon; its name is shown on hover.
pub fn icon_button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let theme = Theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(24.0), Sense::click());
    let color = if response.hovered() || response.has_focus() { theme.text } else { theme.dim };
    if response.hovered() {
        ui.painter().rect_filled(rect, CornerRadius::same(theme::RADIUS), theme.raised);
    }
    paint_icon(ui, rect.center(), icon, 17.0, color);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    focus_ring(ui, &response);
    response.on_hover_text(name)
}

/// Draws the line around what is selected, which only high contrast has.
pub fn selected_line(ui: &Ui, rect: Rect) {
    let (radius, line) = (CornerRadius::same(theme::RADIUS), Theme::of(ui).selected_line());
    ui.painter().rect_stroke(rect, radius, line, egui::StrokeKind::Inside);
}

/// Draws a ring around the focused control, and scrolls to it when it gets the focus.
pub fn focus_ring(ui: &Ui, response: &Response) {
    reveal_focused(ui, response);
    row_ring(ui, response);
}

/// Draws a ring around the focused row. Tab leaves a long list after the rows in sight, so nothing scrolls.
pub(crate) fn row_ring(ui: &Ui, response: &Response) {
    ring(ui, response, response.rect, Theme::of(ui).accent);
}

pub(super) fn ring(ui: &Ui, response: &Response, rect: Rect, color: Color32) {
    if response.has_focus() {
        let radius = CornerRadius::same(theme::RADIUS);
        ui.painter().rect_stroke(rect, radius, Stroke::new(2.0, color), egui::StrokeKind::Inside);
    }
}

/// Paints an icon centred at a point.
pub fn paint_icon(ui: &Ui, center: Pos2, icon: Icon, size: f32, color: Color32) {
    ui.painter().text(center, Align2::CENTER_CENTER, icon.0, icon.font(size), color);
}

/// The format of a text in a layout, vertically centred.
pub fn text_format(kind: Text, color: Color32) -> TextFormat {
    TextFormat { font_id: kind.font(), color, valign: Align::Center, ..TextFormat::default() }
}

/// A part of a painted line.
pub type Part<'a> = (&'a str, Text, Color32);

/// Paints parts one after another, vertically centred, truncated with an ellipsis at `width`. Returns the painted
/// rectangle and whether anything was truncated.
pub fn paint_parts(ui: &Ui, left_center: Pos2, width: f32, parts: &[Part<'_>]) -> (Rect, bool) {
    let mut job =
        LayoutJob { wrap: TextWrapping::truncate_at_width(width), ..LayoutJob::default() };
    for (index, (text, kind, color)) in parts.iter().enumerate() {
        let space = if index == 0 { 0.0 } else { 8.0 };
        job.append(&beginning(text), space, text_format(*kind, *color));
    }
    let galley = ui.painter().layout_job(job);
    let truncated = galley.elided;
    (paint_galley(ui, left_center, galley), truncated)
}

/// Paints a laid out text, vertically centred. Returns the painted rectangle.
pub fn paint_galley(ui: &Ui, left_center: Pos2, galley: Arc<Galley>) -> Rect {
    let rect = Align2::LEFT_CENTER.anchor_size(left_center, galley.size());
    ui.painter().galley(rect.min, galley, Theme::of(ui).text);
    rect
}

/// Adds an icon of `size` points, centred in an area of the size `area`.
pub fn icon_ui(ui: &mut Ui, area: Vec2, icon: Icon, size: f32, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(area, Sense::hover());
    paint_icon(ui, rect.center(), icon, size, color);
}

/// Paints one right-aligned, vertically centred text. Returns its width.
pub fn paint_right(ui: &Ui, right_center: Pos2, (text, kind, color): Part<'_>) -> f32 {
    let rect =
        ui.painter().text(right_center, Align2::RIGHT_CENTER, drawable(text), kind.font(), color);
    rect.width()
}

/// A state as an icon and a word on a tinted background.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Chip {
    /// The icon.
    #[cfg_attr(test, serde(skip))]
    pub icon: Icon,
    /// The word.
    pub text: String,
    /// The tone of the state.
    pub tone: Tone,
    /// The tooltip, a sentence; empty when the word is clear.
    pub tooltip: String,
}

const CHIP_HEIGHT: f32 = 20.0;

impl Chip {
    /// A chip without a tooltip.
    pub fn new(icon: Icon, text: impl Into<String>, tone: Tone) -> Self {
        Self { icon, text: text.into(), tone, tooltip: String::new() }
    }

    /// The same chip with a tooltip.
    #[must_use]
    pub fn with_tooltip(mut self, tooltip: impl Into<String>) -> Self {
        self.tooltip = tooltip.into();
        self
    }

    /// The chip's width in points.
    pub fn width(&self, ui: &Ui) -> f32 {
        Text::Meta.width_of(ui, &self.text) + 33.0
    }

    /// Paints the chip without allocating space, its right edge at a point.
    pub fn paint_right(&self, ui: &Ui, right_center: Pos2, below: Color32) -> Rect {
        let size = vec2(self.width(ui), CHIP_HEIGHT);
        let rect = Align2::RIGHT_CENTER.anchor_size(right_center, size);
        self.paint(ui, rect, below);
        rect
    }

    fn paint(&self, ui: &Ui, rect: Rect, below: Color32) {
        let theme = Theme::of(ui);
        let color = theme.chip_text(self.tone);
        ui.painter().rect_filled(rect, CornerRadius::same(4), theme.chip(self.tone, below));
        paint_icon(ui, pos2(rect.left() + 14.0, rect.center().y), self.icon, 14.0, color);
        let left = pos2(rect.left() + 25.0, rect.center().y);
        ui.painter().text(left, Align2::LEFT_CENTER, &self.text, Text::Meta.font(), color);
    }

    /// Adds the chip to a line.
    pub fn ui(&self, ui: &mut Ui) -> Response {
        let size = vec2(self.width(ui), CHIP_HEIGHT);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        self.paint(ui, rect, Theme::of(ui).background);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &self.text));
        if self.tooltip.is_empty() {
            return response;
        }
        response.on_hover_text(&self.tooltip)
    }
}

/// Paints the line below the selected tab.
pub fn underline(ui: &Ui, rect: Rect) {
    let theme = Theme::of(ui);
    // In high contrast, the line below all tabs is nearly as bright.
    let stroke = Stroke::new(if theme.high_contrast { 4.0 } else { 2.0 }, theme.accent);
    ui.painter().hline(rect.x_range(), rect.bottom() - stroke.width / 2.0, stroke);
}

/// A name and its value in two columns; the value can be selected and wraps.
pub fn fact(ui: &mut Ui, name: &str, value: impl AsRef<str>, kind: Text) {
    let theme = Theme::of(ui);
    ui.horizontal_top(|ui| {
        value_label(ui, name);
        ui.add(Label::new(rich(drawable_lines(value.as_ref()), kind, theme.text)).wrap());
    });
}

/// The name in the first of two columns.
pub fn value_label(ui: &mut Ui, name: &str) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.x = 0.0;
    let (rect, response) = ui.allocate_exact_size(vec2(112.0, 18.0), Sense::hover());
    let parts = [(name, Text::Meta, theme.dim)];
    paint_parts(ui, rect.left_center(), rect.width() - 8.0, &parts);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, name));
}

/// A sentence with an icon in front.
pub fn remark(ui: &mut Ui, icon: Icon, tone: Tone, text: impl AsRef<str>) {
    let theme = Theme::of(ui);
    ui.horizontal_top(|ui| {
        icon_ui(ui, vec2(16.0, 18.0), icon, 15.0, theme.tone(tone));
        let color = if tone == Tone::Dim { theme.dim } else { theme.text };
        ui.add(Label::new(rich(drawable_lines(text.as_ref()), Text::Body, color)).wrap());
    });
}

/// The part of a page that the other panels leave.
pub fn main_panel_ui(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let frame = panel_frame(Theme::of(ui).background, Margin::ZERO);
    CentralPanel::no_frame().frame(frame).show(ui, |ui| {
        access::landmark(ui, Role::Main, "Page");
        add(ui);
    });
}

/// A frame with the left and right margin of the pages, and these margins above and below, in points.
pub fn margins(top: i8, bottom: i8) -> Frame {
    Frame::NONE.inner_margin(Margin { left: 16, right: 16, top, bottom })
}

/// The frame of a panel.
pub fn panel_frame(fill: Color32, margin: Margin) -> Frame {
    Frame::NONE.fill(fill).inner_margin(margin)
}

/// Paints a line across the panel below the item added last. Call this before adding anything else.
pub fn line_below(ui: &Ui) {
    let stroke = Stroke::new(1.0, Theme::of(ui).line);
    ui.painter().hline(ui.max_rect().x_range(), ui.cursor().top() - 0.5, stroke);
}

/// The frame of a box with a border.
pub fn card(ui: &Ui) -> Frame {
    let theme = Theme::of(ui);
    Frame::NONE
        .fill(theme.background)
        .stroke(Stroke::new(1.0, theme.line))
        .corner_radius(CornerRadius::same(theme::RADIUS))
        .inner_margin(Margin::symmetric(12, 10))
}

/// A field for one line of code, a path or a number. The caller must set its accessible name.
pub fn code_field(text: &mut String, id: Id, width: f32) -> TextEdit<'_> {
    TextEdit::singleline(text)
        .id(id)
        .font(Text::Mono.font())
        .margin(Margin::symmetric(10, 6))
        .desired_width(width)
}

/// A text whose parts have different fonts and colours.
pub fn styled_text(parts: &[Part<'_>]) -> WidgetText {
    let mut job = LayoutJob::default();
    for (text, kind, color) in parts {
        job.append(&drawable(text), 0.0, text_format(*kind, *color));
    }
    job.into()
}
