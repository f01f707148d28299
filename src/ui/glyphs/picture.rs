//! Pictures of clusters.

use egui::{ColorImage, FontFamily, GlyphBitmap, RasterizedGlyph, vec2};
use vello_cpu::color::{OpaqueColor, Srgb};
use vello_cpu::{Glyph, Pixmap, RenderContext, Resources};

use super::cluster::{Drawing, Piece};

/// The widest picture that egui accepts, in pixels, with space for rounding.
const MAX_WIDTH: f32 = 1_000.0;

/// The painted pixels around the origin of a cluster, which lies on the baseline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picture {
    pub(super) image: ColorImage,
    /// The position of the image's left upper corner, in pixels.
    pub(super) left: i32,
    pub(super) top: i32,
}

impl Picture {
    pub(super) fn right(&self) -> i32 {
        self.left + self.image.width() as i32
    }

    pub(super) fn bottom(&self) -> i32 {
        self.top + self.image.height() as i32
    }
}

/// Paints the pieces side by side, `size` pixels high, from `x` on; `None` if no pixel is painted.
pub(super) fn paint(pieces: &[Piece], x: f32, size: f32) -> Option<Picture> {
    let advance: f32 = pieces.iter().map(|piece| piece.shaped.advance).sum();
    // One em on each side of the line, because glyphs may be larger than their place.
    let width = (x + (advance + 2.0) * size).ceil().clamp(1.0, 4_096.0) as u16;
    let height = (3.0 * size).ceil().clamp(1.0, 4_096.0) as u16;
    let (origin_x, origin_y) = (size.ceil(), (2.0 * size).ceil());
    let mut context = RenderContext::new(width, height);
    let mut resources = Resources::new();
    context.set_paint(OpaqueColor::<Srgb>::WHITE);
    let mut start = origin_x + x;
    for piece in pieces {
        let glyphs = piece.shaped.glyphs.iter().map(|glyph| Glyph {
            id: glyph.id,
            x: start + glyph.x * size,
            y: origin_y + glyph.y * size,
        });
        context
            .glyph_run(&mut resources, &piece.font.painted)
            .font_size(size)
            .hint(false)
            .fill_glyphs(glyphs);
        start += piece.shaped.advance * size;
    }
    let mut pixmap = Pixmap::new(width, height);
    context.render(&mut pixmap, &mut resources);
    crop(&pixmap, usize::from(width), (origin_x as i32, origin_y as i32))
}

/// The painted part of a pixmap.
fn crop(pixmap: &Pixmap, width: usize, origin: (i32, i32)) -> Option<Picture> {
    let (pixels, _) = pixmap.data_as_u8_slice().as_chunks::<4>();
    let painted = || {
        let all = pixels.iter().enumerate().filter(|(_, pixel)| pixel[3] != 0);
        all.map(|(index, _)| (index % width, index / width))
    };
    let left = painted().map(|(x, _)| x).min()?;
    let right = painted().map(|(x, _)| x).max()?;
    let top = painted().map(|(_, y)| y).min()?;
    let bottom = painted().map(|(_, y)| y).max()?;
    let rows = pixels.chunks(width).take(bottom + 1).skip(top);
    let cropped = rows.flat_map(|row| row.iter().take(right + 1).skip(left));
    let bytes: Vec<u8> = cropped.flatten().copied().collect();
    let size = [right + 1 - left, bottom + 1 - top];
    Some(Picture {
        image: ColorImage::from_rgba_premultiplied(size, &bytes),
        left: left as i32 - origin.0,
        top: top as i32 - origin.1,
    })
}

/// The picture of a cluster for egui. In the font of code it is whole columns wide.
pub(super) fn rasterize(drawing: &Drawing, family: &FontFamily, size: f32) -> RasterizedGlyph {
    let width = match family {
        FontFamily::Monospace => drawing.columns() as f32 * super::cluster::COLUMN,
        _ => drawing.advance(),
    };
    let margin = (width - drawing.advance()) / 2.0;
    // In a very large font, a cluster of many code points is too wide for the texture.
    let size = size.min(MAX_WIDTH / (width + 2.0));
    let picture =
        paint(&drawing.pieces, margin * size, size * drawing.scale()).unwrap_or_else(|| Picture {
            image: ColorImage::from_rgba_premultiplied([1, 1], &[0; 4]),
            left: 0,
            top: 0,
        });
    let is_color = picture.image.pixels.iter().any(|it| it.r() != it.a() || it.g() != it.a());
    RasterizedGlyph {
        bitmap: GlyphBitmap {
            offset_px: vec2(picture.left as f32, picture.top as f32),
            image: picture.image,
            is_color,
        },
        advance_px: width * size,
    }
}
