//! Parts of pictures: plain SVG that styles of the report colour, and tables with the same numbers.
//!
//! All places are whole, so that the same evidence gives the same bytes everywhere.

use std::fmt::{Display, Write as _};
use std::io::Write;

use super::super::super::Result;
use super::super::super::xml::escaped_line;

/// The width of a picture. At full width, its unit is a CSS pixel.
pub(super) const WIDTH: i64 = 900;

/// A place in a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// Where the values between two ends are in a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) left: i64,
    pub(super) width: i64,
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Scale {
    /// The place of a value; the nearer end for one outside.
    pub(super) fn x(&self, value: i64) -> i64 {
        let length = (i128::from(self.to) - i128::from(self.from)).max(1);
        let share = (i128::from(value) - i128::from(self.from)).clamp(0, length);
        self.left + i64::try_from(i128::from(self.width) * share / length).unwrap_or_default()
    }

    /// The left end and the width from one value to another. Even the shortest one stays visible.
    pub(super) fn span(&self, from: i64, to: i64) -> (i64, i64) {
        let left = self.x(from).min(self.left + self.width - 2);
        (left, (self.x(to) - left).max(2))
    }
}

/// A picture while it is drawn.
#[derive(Debug, Default)]
pub(super) struct Picture {
    parts: String,
}

impl Picture {
    fn push(&mut self, part: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.parts, "{part}");
    }

    /// A rectangle with a title, which browsers show as a tooltip.
    pub(super) fn bar(&mut self, class: &str, area: Area, title: &str) {
        let Area { x, y, width, height } = area;
        let shape = format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""
        );
        match title {
            "" => self.push(format_args!("{shape}/>")),
            title => {
                self.push(format_args!("{shape}><title>{}</title></rect>", escaped_line(title)))
            }
        }
    }

    /// A line between two points.
    pub(super) fn line(&mut self, class: &str, (x1, y1): (i64, i64), (x2, y2): (i64, i64)) {
        self.push(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    /// A text that begins, ends or is centred at `x`: `start`, `end` or `middle`.
    pub(super) fn text(&mut self, anchor: &str, (x, y): (i64, i64), text: &str) {
        self.push(format_args!(
            "<text class=\"{anchor}\" x=\"{x}\" y=\"{y}\">{}</text>",
            escaped_line(text)
        ));
    }

    /// A text on the left of a row, cut where the row's bars begin.
    pub(super) fn label(&mut self, class: &str, area: Area, text: &str) {
        let Area { x, y, width, height } = area;
        // SVG cuts what leaves an inner picture.
        self.push(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><text class=\"{class}\" x=\"0\" \
             y=\"{}\">{}</text></svg>",
            height / 2 + 4,
            escaped_line(text)
        ));
    }

    /// Writes the picture with what it shows, in words, for those who do not see it.
    pub(super) fn write(self, height: i64, alternative: &str, out: &mut dyn Write) -> Result<()> {
        writeln!(
            out,
            "<div class=\"picture\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n{}</svg></div>",
            escaped_line(alternative),
            self.parts
        )?;
        Ok(())
    }
}

/// Writes a table with the numbers of a picture. The cells are escaped already.
pub(super) fn write_table<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    out: &mut dyn Write,
) -> Result<()> {
    let cells = |element: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{element}>{cell}</{element}>")).collect()
    };
    writeln!(
        out,
        "<details class=\"numbers\"><summary>The same as a table</summary>\n<div class=\"wide\"><table>\n\
         <thead><tr>{}</tr></thead>\n<tbody>",
        cells("th", &head.map(str::to_owned))
    )?;
    for row in rows {
        writeln!(out, "<tr>{}</tr>", cells("td", &row))?;
    }
    writeln!(out, "</tbody></table></div></details>")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_span_stays_inside_and_visible() {
        let scale = Scale { left: 100, width: 50, from: 1_000, to: 2_000 };
        assert_eq!((scale.x(1_500), scale.x(0), scale.x(9_000)), (125, 100, 150));
        assert_eq!(scale.span(2_000, 2_000), (148, 2));
        assert_eq!(scale.span(1_000, 2_000), (100, 50));
        let whole = Scale { left: 0, width: 900, from: i64::MIN, to: i64::MAX };
        assert_eq!((whole.x(0), whole.x(i64::MAX)), (450, 900));
        let none = Scale { left: 3, width: 10, from: 5, to: 5 };
        assert_eq!(none.x(5), 3);
    }

    #[test]
    fn texts_are_escaped() {
        let mut picture = Picture::default();
        picture.text("end", (1, 2), "<a>\u{202e}");
        picture.bar("x", Area { x: 0, y: 0, width: 1, height: 1 }, "\"&");
        picture.label("x", Area { x: 0, y: 0, width: 1, height: 1 }, "</svg>");
        let mut out = Vec::new();
        picture.write(5, "\"<", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in
            ["&lt;a&gt;⟨U+202E⟩", "&quot;&amp;", "&lt;/svg&gt;", "aria-label=\"&quot;&lt;\""]
        {
            assert!(text.contains(part), "{text}");
        }
    }
}
