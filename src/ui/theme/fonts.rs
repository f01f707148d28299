//! The bundled fonts, with ligatures disabled.

use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily};

/// The family of the icons. It is separate because the text font has letters in the same private use area.
pub const ICONS: &str = "icons";

static INTER: &[u8] = include_bytes!("../../../assets/fonts/Inter-Regular.otf");
static MONO: &[u8] = include_bytes!("../../../assets/fonts/JetBrainsMono-Regular.ttf");
static PHOSPHOR: &[u8] = include_bytes!("../../../assets/fonts/Phosphor.ttf");

/// The fonts: Inter for text, JetBrains Mono for code, and Phosphor for icons in a family of its own. egui's fonts
/// are the fallback for characters that Inter and JetBrains Mono lack.
pub(in crate::ui) fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    for (name, bytes, family) in [
        ("inter", INTER, FontFamily::Proportional),
        ("jetbrains-mono", MONO, FontFamily::Monospace),
        ("phosphor", PHOSPHOR, FontFamily::Name(ICONS.into())),
    ] {
        fonts
            .font_data
            .insert(name.to_owned(), Arc::new(FontData::from_owned(without_substitution(bytes))));
        fonts.families.entry(family).or_default().insert(0, name.to_owned());
    }
    // Marks of hidden characters such as `⟨U+202E⟩` also occur in sentences, and Inter lacks the brackets.
    if let Some(text) = fonts.families.get_mut(&FontFamily::Proportional) {
        text.insert(1, "jetbrains-mono".to_owned());
    }
    fonts
}

/// Disables the glyph substitution table (`GSUB`) of a font by renaming it.
///
/// With this table, both text fonts draw some character sequences as ligatures, for example `->`. People compare
/// characters before they sign, so every character must stay separate. The new name keeps the table directory sorted.
pub(super) fn without_substitution(font: &[u8]) -> Vec<u8> {
    const HEADER: usize = 12;
    const RECORD: usize = 16;
    let mut font = font.to_vec();
    let tables = match font.get(4..6) {
        Some(&[high, low]) => usize::from(u16::from_be_bytes([high, low])),
        _ => 0,
    };
    for index in 0..tables {
        let start = HEADER + index * RECORD;
        if let Some(tag) = font.get_mut(start..start + 4)
            && tag == b"GSUB"
        {
            tag.copy_from_slice(b"GSUA");
        }
    }
    font
}
