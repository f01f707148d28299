//! The appearance of the window: colours, fonts, text sizes, and measures that several views share. Only this module
//! may have colour literals.
//!
//! Every view gets its colours from [`Theme::of`]. The window code applies the theme that the person has chosen, as
//! egui's theme preference and by [`set_contrast`].

mod cells;
mod fonts;
#[cfg(test)]
mod tests;
mod tokens;

use egui::style::{Selection, WidgetVisuals, Widgets};
use egui::{Color32, CornerRadius, FontFamily, FontId, Shadow, Stroke, Style, TextStyle, vec2};

use crate::code::Class;
use crate::risk::RiskLevel;
use crate::run::{AnsiStyle, Hue, LineKind};

pub use fonts::ICONS;
pub(super) use fonts::definitions as font_definitions;
use tokens::shade;
pub use tokens::{DARK, LIGHT, THEMES, Theme};

/// The height of the bar with the pages, in points.
pub const TOP_BAR: f32 = 44.0;
/// The height of the status bar, in points.
pub const STATUS_BAR: f32 = 30.0;
/// The height of the bar with the commands for a plan or a loop, in points.
pub const ACTION_BAR: f32 = 58.0;
/// The least default width of the panel at the left side of a page, in points; up to a window of 1,300 points.
pub const SIDEBAR: f32 = 208.0;
/// The greatest default width of that panel, in points; from a window of 2,000 points on.
pub const WIDE_SIDEBAR: f32 = 320.0;
/// The default width of the inspector, in points.
pub const INSPECTOR: f32 = 470.0;
/// The default height of the output pane, in points.
pub const OUTPUT: f32 = 280.0;
/// The height of a step or a search result, in points.
pub const ROW: f32 = 46.0;
/// The height of a line of code or output, in points.
pub const CODE_ROW: f32 = 20.0;
/// The height of a button, in points.
pub const BUTTON: f32 = 30.0;
/// The usual corner radius, in points.
pub const RADIUS: u8 = 6;
/// The room for a scroll bar beside what scrolls, in points.
pub const SCROLL_BAR: f32 = 12.0;
/// The corner radius of dialogs, in points.
pub const DIALOG_RADIUS: u8 = 10;

/// The purpose of a text, which determines its font and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// The name of a page's subject.
    Title,
    /// Names in rows, and sentences that must be read.
    Strong,
    /// All other text.
    Body,
    /// Group headings and second lines.
    Meta,
    /// The least important text.
    Small,
    /// Code, digests, paths, numbers and durations.
    Mono,
    /// Smaller `Mono`, for second lines.
    SmallMono,
}

impl Text {
    /// The font, with its size in points.
    pub fn font(self) -> FontId {
        match self {
            Self::Title => FontId::new(20.0, FontFamily::Proportional),
            Self::Strong => FontId::new(14.0, FontFamily::Proportional),
            Self::Body => FontId::new(13.0, FontFamily::Proportional),
            Self::Meta => FontId::new(12.0, FontFamily::Proportional),
            Self::Small => FontId::new(11.5, FontFamily::Proportional),
            Self::Mono => FontId::new(12.5, FontFamily::Monospace),
            Self::SmallMono => FontId::new(11.5, FontFamily::Monospace),
        }
    }

    /// The width of a text in one line, in points.
    pub fn width_of(self, ui: &egui::Ui, text: &str) -> f32 {
        let text = ui.painter().layout_no_wrap(text.to_owned(), self.font(), Color32::WHITE);
        text.size().x
    }

    /// The width of a digit, in points; in `Mono` and `SmallMono` that of every character.
    pub fn digit_width(self, ui: &egui::Ui) -> f32 {
        ui.fonts_mut(|fonts| fonts.glyph_width(&self.font(), '0')).max(1.0)
    }
}

/// The meaning of a colour; always shown together with a word or an icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(test, derive(serde::Serialize))]
pub enum Tone {
    /// A neutral text or state.
    Plain,
    /// A less important text or state.
    Dim,
    /// A state in progress, or a selection.
    Accent,
    /// A success, or a harmless state.
    Safe,
    /// A state that needs attention.
    Caution,
    /// A failure, or a danger.
    Danger,
}

impl From<RiskLevel> for Tone {
    fn from(level: RiskLevel) -> Self {
        match level {
            RiskLevel::Safe => Self::Safe,
            RiskLevel::Caution => Self::Caution,
            RiskLevel::Dangerous | RiskLevel::Blocked => Self::Danger,
        }
    }
}

impl Theme {
    /// The theme in which this part of the window is drawn.
    pub fn of(ui: &egui::Ui) -> &'static Self {
        // egui's style only distinguishes dark and light, so the theme is recognized by its accent colour,
        // which is unique.
        let visuals = ui.visuals();
        let fallback = if visuals.dark_mode { &DARK } else { &LIGHT };
        THEMES.into_iter().find(|theme| theme.accent == visuals.hyperlink_color).unwrap_or(fallback)
    }

    /// The colour of a tone, for text and icons.
    pub fn tone(&self, tone: Tone) -> Color32 {
        match tone {
            Tone::Plain => self.text,
            Tone::Dim => self.dim,
            Tone::Accent => self.accent,
            Tone::Safe => self.safe,
            Tone::Caution => self.caution,
            Tone::Danger => self.danger,
        }
    }

    /// The colour of a syntax class, legible on every background of code.
    pub fn syntax(&self, class: Class) -> Color32 {
        match class {
            Class::Attribute | Class::Comment => self.dim,
            Class::Constant | Class::Number => self.caution,
            Class::Function => self.accent,
            Class::Keyword => self.keyword,
            Class::String => self.safe,
            Class::Type => self.type_name,
        }
    }

    /// The colour that replaces a terminal colour, legible on every background of code.
    pub fn hue(&self, hue: Hue) -> Color32 {
        match hue {
            Hue::Black => self.dim,
            Hue::Red => self.danger,
            Hue::Green => self.safe,
            Hue::Yellow => self.caution,
            Hue::Blue => self.accent,
            Hue::Magenta => self.keyword,
            Hue::Cyan => self.type_name,
            Hue::White => self.text,
        }
    }

    /// The colour and the underline of a terminal style; `plain` is the colour of unstyled text.
    pub fn ansi_style(&self, style: AnsiStyle, plain: Color32) -> (Color32, Stroke) {
        let color = match style.hue {
            Some(hue) => self.hue(hue),
            None if style.faint => self.dim,
            None => plain,
        };
        (color, if style.underlined { Stroke::new(1.0, color) } else { Stroke::NONE })
    }

    /// The background of a changed word, on the background of its line.
    pub fn changed_word(&self, line: LineKind) -> Color32 {
        let (background, text) = match line {
            LineKind::Removed => (self.removed, self.removed_text),
            _ => (self.added, self.added_text),
        };
        background.lerp_to_gamma(text, if self.dark { 0.2 } else { 0.14 })
    }

    /// The fill of a chip: its tone at 16 percent over the colour `below`.
    pub fn chip(&self, tone: Tone, below: Color32) -> Color32 {
        below.lerp_to_gamma(self.tone(tone), 0.16)
    }

    /// The line below words that have a background of their own. With high contrast that background alone is not
    /// enough: it may differ little from the one around it.
    pub fn mark_line(&self) -> Stroke {
        if self.high_contrast { Stroke::new(1.0, self.text) } else { Stroke::NONE }
    }

    /// The text colour of a chip. It is closer to plain text than the tone, which would be too faint on its own tint.
    pub fn chip_text(&self, tone: Tone) -> Color32 {
        let towards_text = match (self.high_contrast, self.dark) {
            (true, _) => 0.6,
            (false, true) => 0.25,
            (false, false) => 0.3,
        };
        self.tone(tone).lerp_to_gamma(self.text, towards_text)
    }

    fn visuals(&self) -> egui::Visuals {
        let radius = CornerRadius::same(RADIUS);
        let widget = |fill: Color32, border: Color32| WidgetVisuals {
            bg_fill: fill,
            weak_bg_fill: fill,
            bg_stroke: Stroke::new(1.0, border),
            fg_stroke: Stroke::new(1.0, self.text),
            corner_radius: radius,
            expansion: 0.0,
        };
        let shadow = |below: i8, blur: u8, on_dark: u8, on_light: u8| {
            let color = shade(if self.dark { on_dark } else { on_light });
            Shadow { offset: [0, below], blur, spread: 0, color }
        };
        let base = if self.dark { egui::Visuals::dark() } else { egui::Visuals::light() };
        egui::Visuals {
            override_text_color: Some(self.text),
            weak_text_color: Some(self.dim),
            widgets: Widgets {
                noninteractive: widget(self.panel, self.line),
                inactive: widget(self.raised, self.line),
                hovered: widget(self.raised.lerp_to_gamma(self.accent, 0.08), self.dim),
                active: widget(self.raised.lerp_to_gamma(self.accent, 0.16), self.accent),
                open: widget(self.raised, self.accent),
            },
            selection: Selection { bg_fill: self.selection, stroke: Stroke::new(1.0, self.accent) },
            hyperlink_color: self.accent,
            extreme_bg_color: self.background,
            faint_bg_color: self.panel,
            code_bg_color: self.raised,
            warn_fg_color: self.caution,
            error_fg_color: self.danger,
            panel_fill: self.background,
            window_fill: self.raised,
            window_stroke: Stroke::new(1.0, self.line),
            window_corner_radius: CornerRadius::same(DIALOG_RADIUS),
            menu_corner_radius: radius,
            window_shadow: shadow(8, 24, 110, 50),
            popup_shadow: shadow(4, 12, 90, 40),
            disabled_alpha: if self.high_contrast { 0.75 } else { base.disabled_alpha },
            ..base
        }
    }

    /// The line around what is selected. In high contrast a shade alone does not stand out enough.
    pub fn selected_line(&self) -> Stroke {
        if self.high_contrast { Stroke::new(2.0, self.accent) } else { Stroke::NONE }
    }

    fn style(&self) -> Style {
        let mut style = Style {
            text_styles: [
                (TextStyle::Heading, Text::Title.font()),
                (TextStyle::Body, Text::Body.font()),
                (TextStyle::Button, Text::Body.font()),
                (TextStyle::Small, Text::Small.font()),
                (TextStyle::Monospace, Text::Mono.font()),
            ]
            .into(),
            visuals: self.visuals(),
            animation_time: 0.08,
            ..Style::default()
        };
        style.spacing.item_spacing = vec2(8.0, 4.0);
        style.spacing.button_padding = vec2(10.0, 6.0);
        style.spacing.interact_size = vec2(24.0, 24.0);
        style.spacing.scroll = egui::style::ScrollStyle {
            bar_width: 8.0,
            floating_width: 4.0,
            // A thin bar that is always there says that there is more. A fade would do so too, but would also lie over
            // buttons at the edge.
            dormant_handle_opacity: 0.6,
            fade: egui::style::ScrollFadeStyle { strength: 0.0, ..Default::default() },
            ..egui::style::ScrollStyle::floating()
        };
        // A blinking cursor would repaint an idle window twice a second.
        style.visuals.text_cursor.blink = false;
        style.interaction.selectable_labels = true;
        style
    }
}

/// Installs the fonts and the themes in the context. Call this once, before the first frame.
pub fn install(ctx: &egui::Context) {
    ctx.set_fonts(fonts::definitions());
    super::glyphs::install(ctx);
    super::clusters::install(ctx);
    ctx.add_plugin(super::access::Requests::default());
    set_contrast(ctx, false);
}

/// Sets the contrast of both the dark and the light theme.
pub fn set_contrast(ctx: &egui::Context, high: bool) {
    set_look(ctx, high, false);
}

/// Sets the contrast of both the dark and the light theme, and whether something may move.
pub fn set_look(ctx: &egui::Context, high_contrast: bool, reduced_motion: bool) {
    for theme in THEMES.into_iter().filter(|theme| theme.high_contrast == high_contrast) {
        let side = if theme.dark { egui::Theme::Dark } else { egui::Theme::Light };
        let mut style = theme.style();
        if reduced_motion {
            style.animation_time = 0.0;
            style.scroll_animation = egui::style::ScrollAnimation::none();
        }
        ctx.set_style_of(side, style);
    }
}
