//! Draws every character that the bundled fonts cannot draw on their own, so that what is seen is what is
//! signed (invariant 8 of the crate).
//!
//! egui shapes a run of text in the direction of its first letter, so that a Hebrew letter mirrors the Latin text that
//! follows it. It draws the same box for every character without a glyph, and drops a combining mark that the font of
//! its base lacks. Two different texts can then look the same.
//!
//! So this room is asked first for every grapheme cluster (`install`), in every widget and input field. It leaves the
//! characters to egui that a bundled font draws from left to right. Each other cluster becomes one picture, and the
//! pictures stand in the order of the text, also those of scripts that are written from right to left. A picture is
//! drawn with a font of the system ([`use_system_fonts`]). Where no font has the cluster, or where its picture would be
//! empty, cover its neighbours or look as if a part of it were missing, it shows the code points instead, for instance
//! `⟨U+05D0⟩`.

mod cluster;
mod font;
mod picture;

#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use egui::{FallbackRequest, FontFamily, FontPriority, FontProvider, GlyphRasterizer};

use super::theme::ICONS;

/// Finds a font of the system for a cluster. Set at most once.
static SYSTEM: OnceLock<Arc<dyn FontProvider>> = OnceLock::new();

/// The fonts of the system, for characters that the bundled fonts lack. Without them, only the bundled fonts are used.
/// They are the same for the whole process: a second call has no effect.
pub fn use_system_fonts(fonts: Arc<dyn FontProvider>) {
    let _ = SYSTEM.set(fonts);
}

/// The font of the system for a cluster; `None` if there is none. Reads the font.
pub fn system_font(cluster: &str) -> Option<String> {
    let family = &FontFamily::Proportional;
    Some(SYSTEM.get()?.font_for(&FallbackRequest { cluster, family })?.name)
}

/// Makes egui ask this room first for every grapheme cluster.
pub(super) fn install(ctx: &egui::Context) {
    let rasterize = |request: &egui::GlyphRasterizerRequest<'_>| {
        // Icons have a font of their own.
        if *request.family == FontFamily::Name(ICONS.into()) {
            return None;
        }
        let drawing = cluster::drawing(request.cluster, request.family)?;
        Some(picture::rasterize(&drawing, request.family, request.font_size_px))
    };
    let rasterizer = GlyphRasterizer::new("countersign::ui::glyphs", rasterize);
    ctx.add_glyph_rasterizer(rasterizer.with_priority(FontPriority::Highest));
}

/// The number of columns of code that a grapheme cluster takes. Its picture has exactly this width; a character that
/// egui draws is at most this wide.
pub fn columns(cluster: &str) -> usize {
    match cluster::drawing(cluster, &FontFamily::Monospace) {
        Some(drawing) => drawing.columns(),
        None => cluster::bundled_columns(cluster),
    }
}
