use super::tokens::rgb;
use super::*;

/// The relative luminance of a colour, as WCAG defines it.
fn luminance(color: Color32) -> f64 {
    let channel = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(color.r()) + 0.7152 * channel(color.g()) + 0.0722 * channel(color.b())
}

fn contrast(a: Color32, b: Color32) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn contrast_is_measured_as_the_guideline_says() {
    assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 0.01);
    assert!((contrast(rgb(0x77_77_77), Color32::WHITE) - 4.48).abs() < 0.01);
}

/// The contrast ratio that WCAG requires for text: level AA, and AAA for the themes with higher contrast.
fn min_ratio(theme: &Theme) -> f64 {
    if theme.high_contrast { 7.0 } else { 4.5 }
}

#[test]
fn theme_is_recognized_by_its_style() {
    let ctx = egui::Context::default();
    for high in [true, false] {
        set_contrast(&ctx, high);
        for dark in [true, false] {
            ctx.set_theme(if dark { egui::Theme::Dark } else { egui::Theme::Light });
            let mut found = None;
            let mut output =
                ctx.run_ui(egui::RawInput::default(), |ui| found = Some(Theme::of(ui)));
            output.textures_delta.clear();
            let found = found.unwrap();
            assert_eq!((found.dark, found.high_contrast), (dark, high));
        }
    }
}

/// Nothing moves: no fading, no scrolling in steps, no blinking cursor.
#[test]
fn reduced_motion_moves_nothing() {
    let ctx = egui::Context::default();
    for (high, reduced) in [(false, true), (true, true), (false, false)] {
        set_look(&ctx, high, reduced);
        for side in [egui::Theme::Dark, egui::Theme::Light] {
            let style = ctx.style_of(side);
            assert_eq!(style.animation_time == 0.0, reduced);
            let still = style.scroll_animation == egui::style::ScrollAnimation::none();
            assert_eq!(still, reduced);
            assert!(!style.visuals.text_cursor.blink);
        }
    }
}

#[test]
fn high_contrast_lines_stand_out() {
    for theme in THEMES.into_iter().filter(|theme| theme.high_contrast) {
        for background in [theme.background, theme.panel, theme.raised, theme.hover] {
            assert!(contrast(theme.line, background) >= 3.0, "{background:?}, dark {}", theme.dark);
            let selected = theme.selected_line();
            assert!(selected.width > 0.0 && contrast(selected.color, background) >= 3.0);
        }
    }
}

#[test]
fn every_text_can_be_read_on_every_ground() {
    for theme in THEMES {
        let backgrounds =
            [theme.background, theme.panel, theme.raised, theme.selection, theme.hover];
        for background in backgrounds {
            for tone in
                [Tone::Plain, Tone::Dim, Tone::Accent, Tone::Safe, Tone::Caution, Tone::Danger]
            {
                let ratio = contrast(theme.tone(tone), background);
                assert!(
                    ratio >= min_ratio(theme),
                    "{tone:?} on {background:?}, dark {}: {ratio}",
                    theme.dark
                );
            }
        }
        for (text, background) in [
            (theme.on_accent, theme.accent),
            (theme.added_text, theme.added),
            (theme.removed_text, theme.removed),
        ] {
            assert!(contrast(text, background) >= min_ratio(theme), "{text:?} on {background:?}");
        }
    }
}

#[test]
fn code_is_legible_on_its_backgrounds() {
    use crate::code::Class::{Comment, Function, Keyword, Number, String, Type};
    for theme in THEMES {
        let plain = [theme.background, theme.panel, theme.raised, theme.added, theme.removed];
        for class in [Comment, Function, Keyword, Number, String, Type] {
            for background in plain {
                let ratio = contrast(theme.syntax(class), background);
                assert!(
                    ratio >= min_ratio(theme),
                    "{class:?} on {background:?}, dark {}: {ratio}",
                    theme.dark
                );
            }
        }
        for (kind, text) in
            [(LineKind::Added, theme.added_text), (LineKind::Removed, theme.removed_text)]
        {
            let ratio = contrast(text, theme.changed_word(kind));
            assert!(ratio >= 4.5, "{kind:?}, dark {}: {ratio}", theme.dark);
        }
    }
}

#[test]
fn every_chip_can_be_read() {
    for theme in THEMES {
        for below in [theme.background, theme.panel, theme.raised, theme.selection] {
            for tone in
                [Tone::Plain, Tone::Dim, Tone::Accent, Tone::Safe, Tone::Caution, Tone::Danger]
            {
                let background = theme.chip(tone, below);
                let text = theme.chip_text(tone);
                let ratio = contrast(text, background);
                assert!(
                    ratio >= min_ratio(theme),
                    "{tone:?} on {below:?}, dark {}: {ratio}",
                    theme.dark
                );
            }
        }
    }
}

#[test]
fn no_font_joins_characters() {
    let fonts = fonts::definitions();
    for (name, data) in &fonts.font_data {
        if ["inter", "jetbrains-mono", "phosphor"].contains(&name.as_str()) {
            let font: &[u8] = (*data.font).as_ref();
            let tables = usize::from(u16::from_be_bytes([font[4], font[5]]));
            let tags: Vec<_> = (0..tables).map(|i| &font[12 + 16 * i..16 + 16 * i]).collect();
            assert!(!tags.contains(&&b"GSUB"[..]), "{name}");
            assert!(tags.is_sorted(), "{name}: the table directory may be searched by bisection");
        }
    }
}

#[test]
fn hidden_character_marks_have_glyphs() {
    let ctx = egui::Context::default();
    install(&ctx);
    let mut shown = Vec::new();
    let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
        for kind in [Text::Title, Text::Body, Text::Small, Text::Mono] {
            let marks = crate::plan::visible("\u{202E}\u{1b}\t\u{E0041}").into_owned() + "…·−“”×⋯";
            shown.push(ui.fonts_mut(|fonts| fonts.has_glyphs(&kind.font(), &marks)));
        }
    });
    output.textures_delta.clear();
    assert_eq!(shown, [true; 4]);
}

#[test]
fn icons_are_no_part_of_the_text_fonts() {
    let fonts = fonts::definitions();
    for family in [FontFamily::Proportional, FontFamily::Monospace] {
        assert!(!fonts.families[&family].contains(&"phosphor".to_owned()));
    }
}
