//! Decides how a grapheme cluster is drawn: by egui, with a font of the system, or as code points.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use egui::{FallbackRequest, FontDefinitions, FontFamily};
use harfrust::{Direction, UnicodeBuffer};

use super::SYSTEM;
use super::font::{Font, Shaped};
use super::picture::{Picture, paint};
use crate::plan::{is_hidden, is_mark};
use crate::ui::theme;

/// The width of a column of code, in parts of the font size.
pub(super) const COLUMN: f32 = 0.6;
/// The size at which a picture is examined, in pixels.
const EXAMINED: f32 = 64.0;
/// How far a picture may reach beyond its place to the left and to the right, in parts of the font size.
const OVERHANG: f32 = 0.3;
/// The part of a line above and below the baseline that a picture may cover, in parts of the font size. Together they are
/// the height of a row of code, 1.6 times its font size, so that no ink touches the rows above and below.
const ABOVE: f32 = 1.16;
const BELOW: f32 = 0.44;
/// The narrowest place of a cluster, in parts of the font size.
const NARROWEST: f32 = 0.12;
/// The width of a picture, in columns of code, from which on it is drawn smaller, but not below half of its size: a cluster
/// is never broken, and has to fit into the narrowest window.
const WIDE: f32 = 34.0;
/// The longest cluster that is drawn as one picture, in characters. A cluster may have any length.
const LONGEST: usize = 12;
/// The number of remembered clusters after which all are forgotten.
const MAX_REMEMBERED: usize = 20_000;

/// A part of a cluster's picture: its glyphs, all of one font.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) font: Arc<Font>,
    pub(super) shaped: Shaped,
}

/// How a cluster is drawn that egui does not draw.
#[derive(Debug)]
pub(super) struct Drawing {
    /// Side by side, from left to right.
    pub(super) pieces: Vec<Piece>,
}

impl Drawing {
    /// The width, in parts of the font size.
    pub(super) fn advance(&self) -> f32 {
        self.pieces.iter().map(|piece| piece.shaped.advance).sum::<f32>() * self.scale()
    }

    /// The size of the letters, in parts of the font size.
    pub(super) fn scale(&self) -> f32 {
        let width: f32 = self.pieces.iter().map(|piece| piece.shaped.advance).sum();
        (WIDE * COLUMN / width.max(COLUMN)).clamp(0.5, 1.0)
    }

    /// The width in columns of code.
    pub(super) fn columns(&self) -> usize {
        whole_columns(self.advance())
    }
}

/// The number of columns of code for a width in parts of the font size. A letter that is slightly wider than a column
/// takes one.
fn whole_columns(advance: f32) -> usize {
    ((advance / COLUMN - 0.1).ceil() as usize).max(1)
}

/// The bundled fonts of a family, in the order in which egui asks them.
struct Bundled {
    text: Vec<Arc<Font>>,
    code: Vec<Arc<Font>>,
}

static BUNDLED: LazyLock<Bundled> = LazyLock::new(|| {
    let definitions = theme::font_definitions();
    let fonts = |family| chain(&definitions, &family);
    Bundled { text: fonts(FontFamily::Proportional), code: fonts(FontFamily::Monospace) }
});

fn chain(definitions: &FontDefinitions, family: &FontFamily) -> Vec<Arc<Font>> {
    let names = definitions.families.get(family).into_iter().flatten();
    let data = names.filter_map(|name| definitions.font_data.get(name));
    data.filter_map(|data| Font::new((**data).clone())).map(Arc::new).collect()
}

fn bundled(family: &FontFamily) -> &'static [Arc<Font>] {
    match family {
        FontFamily::Monospace => &BUNDLED.code,
        _ => &BUNDLED.text,
    }
}

/// The width in columns of a character that egui draws.
pub(super) fn bundled_columns(cluster: &str) -> usize {
    let Some(c) = cluster.chars().next().filter(|c| !c.is_ascii()) else { return 1 };
    let advance = bundled(&FontFamily::Monospace).iter().find_map(|font| font.advance(c));
    advance.map_or(1, whole_columns)
}

type Remembered = HashMap<(String, bool), Option<Rc<Drawing>>>;

thread_local! {
    /// How clusters are drawn; the key says whether in the font of code.
    static REMEMBERED: RefCell<Remembered> = RefCell::default();
}

/// How a cluster is drawn; `None` if egui draws it.
pub(super) fn drawing(cluster: &str, family: &FontFamily) -> Option<Rc<Drawing>> {
    if is_usual(cluster) {
        return None;
    }
    let key = (cluster.to_owned(), *family == FontFamily::Monospace);
    if let Some(known) = REMEMBERED.with_borrow(|all| all.get(&key).cloned()) {
        return known;
    }
    let decided = decide(cluster, family).map(|pieces| Rc::new(Drawing { pieces }));
    REMEMBERED.with_borrow_mut(|all| {
        if all.len() >= MAX_REMEMBERED {
            all.clear();
        }
        all.insert(key, decided.clone());
    });
    decided
}

/// Whether the cluster is of ASCII, and no control character but a tab or a line break.
fn is_usual(cluster: &str) -> bool {
    cluster.is_ascii() && (!cluster.contains(|c: char| c.is_ascii_control()) || is_space(cluster))
}

fn is_space(cluster: &str) -> bool {
    matches!(cluster, "\t" | "\n" | "\r\n")
}

fn decide(cluster: &str, family: &FontFamily) -> Option<Vec<Piece>> {
    let mut chars = cluster.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        // A font may have an empty glyph for a hidden character, which a person can paste into a field.
        let is_egui = !is_right_to_left(cluster)
            && !is_mark(c)
            && !is_hidden(c)
            && bundled(family).iter().any(|font| font.has(c));
        return (!is_egui).then(|| single(c, family));
    }
    let whole = whole(cluster, family);
    Some(whole.unwrap_or_else(|| cluster.chars().flat_map(|c| single(c, family)).collect()))
}

fn is_right_to_left(cluster: &str) -> bool {
    let mut buffer = UnicodeBuffer::new();
    buffer.push_str(cluster);
    buffer.guess_segment_properties();
    buffer.direction() == Direction::RightToLeft
}

/// A cluster as one picture of one font; `None` if no font draws all of it.
fn whole(cluster: &str, family: &FontFamily) -> Option<Vec<Piece>> {
    let base = cluster.chars().next().filter(|_| cluster.chars().count() <= LONGEST)?;
    let of_system = || {
        let insert = SYSTEM.get()?.font_for(&FallbackRequest { cluster, family })?;
        Font::new(insert.data).map(Arc::new)
    };
    let bundled = bundled(family).iter().filter(|font| font.has(base)).cloned();
    let mut fonts = bundled.chain(std::iter::once_with(of_system).flatten());
    fonts.find_map(|font| {
        let shaped = font.shape(cluster)?;
        let piece = Piece { font, shaped };
        is_complete(&piece, cluster, family).then(|| vec![piece])
    })
}

/// Whether the picture is not empty, stays in its place, and shows every character of the cluster.
fn is_complete(piece: &Piece, cluster: &str, family: &FontFamily) -> bool {
    let advance = piece.shaped.advance;
    let Some(picture) = examined(std::slice::from_ref(piece)) else { return false };
    let (left, right) = (picture.left as f32 / EXAMINED, picture.right() as f32 / EXAMINED);
    let (above, below) = (-picture.top as f32 / EXAMINED, picture.bottom() as f32 / EXAMINED);
    let stays =
        left >= -OVERHANG && right <= advance + OVERHANG && above <= ABOVE && below <= BELOW;
    if advance < NARROWEST || !stays {
        return false;
    }
    // The cluster must not look as it would without one of its characters.
    let count = cluster.chars().count();
    count == 1
        || (0..count).all(|omitted| {
            let rest: String =
                cluster.chars().enumerate().filter(|it| it.0 != omitted).map(|it| it.1).collect();
            let shorter = match count {
                // How a character is drawn alone may depend on another font.
                2 => decide(&rest, family).or_else(|| of_egui(&rest, family)),
                _ => piece.font.shape(&rest).map(|shaped| vec![Piece { shaped, ..piece.clone() }]),
            };
            shorter.is_none_or(|pieces| examined(&pieces).as_ref() != Some(&picture))
        })
}

/// What egui draws for one character of a bundled font.
fn of_egui(alone: &str, family: &FontFamily) -> Option<Vec<Piece>> {
    let c = alone.chars().next()?;
    let font = bundled(family).iter().find(|font| font.has(c))?;
    Some(vec![Piece { font: font.clone(), shaped: font.shape(alone)? }])
}

fn examined(pieces: &[Piece]) -> Option<Picture> {
    paint(pieces, 0.0, EXAMINED)
}

/// One character on its own: its glyph, or its code point.
fn single(c: char, family: &FontFamily) -> Vec<Piece> {
    let mut bytes = [0; 4];
    let alone = c.encode_utf8(&mut bytes);
    let drawn = match c {
        // A mark that follows a space is in one cluster with it.
        ' ' => of_egui(alone, family),
        c if is_hidden(c) || is_mark(c) => None,
        _ => whole(alone, family),
    };
    drawn.unwrap_or_else(|| code_point(c))
}

/// `⟨U+05D0⟩`, in the font of code.
fn code_point(c: char) -> Vec<Piece> {
    let text = format!("⟨U+{:04X}⟩", u32::from(c));
    let Some(font) = bundled(&FontFamily::Monospace).first() else { return Vec::new() };
    let shaped = font.shape(&text);
    shaped.map(|shaped| Piece { font: font.clone(), shaped }).into_iter().collect()
}

/// Whether a character that egui draws paints a pixel.
#[cfg(test)]
pub(super) fn is_painted(c: char, family: &FontFamily) -> bool {
    of_egui(&c.to_string(), family).and_then(|pieces| examined(&pieces)).is_some()
}
