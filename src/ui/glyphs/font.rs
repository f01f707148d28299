//! One font file, and how it draws a cluster.

use egui::FontData;
use harfrust::{BufferFlags, ShapeOptions, ShaperData, UnicodeBuffer};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};
use vello_cpu::peniko;

/// A glyph and its place, in parts of the font size, from the origin of its cluster. Positive `y` is down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placed {
    pub(super) id: u32,
    pub(super) x: f32,
    pub(super) y: f32,
}

/// The glyphs of a cluster and its width, in parts of the font size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shaped {
    pub(super) glyphs: Vec<Placed>,
    pub(super) advance: f32,
}

/// A font file that can be read.
pub(super) struct Font {
    data: FontData,
    shaper: ShaperData,
    units_per_em: f32,
    /// The same bytes for the painter.
    pub(super) painted: peniko::FontData,
}

impl std::fmt::Debug for Font {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Font").field("index", &self.data.index).finish_non_exhaustive()
    }
}

impl Font {
    /// `None` if the bytes are not a font.
    pub(super) fn new(data: FontData) -> Option<Self> {
        let font = FontRef::from_index(data.bytes(), data.index).ok()?;
        let shaper = ShaperData::new(&font);
        let units_per_em =
            f32::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
        let blob = peniko::Blob::new(data.font.clone());
        let painted = peniko::FontData::new(blob, data.index);
        (units_per_em > 0.0).then_some(Self { data, shaper, units_per_em, painted })
    }

    fn font(&self) -> Option<FontRef<'_>> {
        FontRef::from_index(self.data.bytes(), self.data.index).ok()
    }

    /// Whether the font has a glyph for the character.
    pub(super) fn has(&self, c: char) -> bool {
        let glyph = self.font().and_then(|font| font.charmap().map(c));
        glyph.is_some_and(|glyph| glyph != GlyphId::NOTDEF)
    }

    /// The width of a character, in parts of the font size; `None` if the font lacks it.
    pub(super) fn advance(&self, c: char) -> Option<f32> {
        let font = self.font()?;
        let glyph = font.charmap().map(c)?;
        let metrics = font.glyph_metrics(Size::unscaled(), LocationRef::default());
        Some(metrics.advance_width(glyph)? / self.units_per_em)
    }

    /// The glyphs of the cluster; `None` if the font lacks one of them.
    pub(super) fn shape(&self, cluster: &str) -> Option<Shaped> {
        let font = self.font()?;
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(cluster);
        buffer.guess_segment_properties();
        buffer.set_flags(BufferFlags::BEGINNING_OF_TEXT | BufferFlags::END_OF_TEXT);
        let shaper = self.shaper.shaper(&font).build();
        let shaped = shaper.shape(buffer, ShapeOptions::new());
        let mut glyphs = Vec::new();
        let mut advance = 0.0;
        for (info, place) in shaped.glyph_infos().iter().zip(shaped.glyph_positions()) {
            if info.glyph_id == GlyphId::NOTDEF.to_u32() {
                return None;
            }
            glyphs.push(Placed {
                id: info.glyph_id,
                x: advance + place.x_offset as f32 / self.units_per_em,
                y: -(place.y_offset as f32) / self.units_per_em,
            });
            advance += place.x_advance as f32 / self.units_per_em;
        }
        (!glyphs.is_empty()).then_some(Shaped { glyphs, advance })
    }
}
