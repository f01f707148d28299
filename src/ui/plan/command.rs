//! A command as a card: every character of it, with the parts that determine its risk underlined (SPEC §7.1).

use std::ops::Range;

use egui::{Align2, Margin, Ui, UiBuilder, Vec2, vec2};

use super::code::{CodeRow, Gutter, code_rows_ui, columns, marked_rows};
use super::kept::kept_rows;
use super::marks::Marks;
use crate::plan::visible;
use crate::risk::{RiskLevel, Verdict};
use crate::ui::theme::Tone;
use crate::ui::widgets;

/// The width of the copy button at the right, in points.
const COPY: f32 = 24.0;

/// The untruncated command and its risk.
pub(crate) fn command_ui(
    ui: &mut Ui,
    place: impl egui::AsIdSalt + Copy,
    command: &str,
    risk: Option<&Verdict>,
) {
    // A harmless command has nothing to underline.
    let risk = risk.filter(|it| it.level > RiskLevel::Safe);
    let pointed = risk.and_then(|it| Some((it.span.as_ref()?, Tone::from(it.level))));
    widgets::card(ui).inner_margin(Margin::symmetric(0, 8)).show(ui, |ui| {
        let width = ui.available_width();
        ui.set_min_width(width);
        let right_top = ui.cursor().left_top() + vec2(width - 4.0, -2.0);
        let columns = columns(ui, width - COPY, Gutter::NONE);
        let rows = kept_rows(ui, (place, &pointed), &[command], columns, || {
            command_rows(command, pointed, columns)
        });
        code_rows_ui(ui, place, &rows, Gutter::NONE);
        let corner = Align2::RIGHT_TOP.anchor_size(right_top, Vec2::splat(24.0));
        ui.scope_builder(UiBuilder::new().max_rect(corner), |ui| {
            widgets::copy_button(ui, command, "command");
        });
    });
}

/// The command in rows of at most `columns` characters; its line breaks are kept. `pointed` has the parts
/// that determine its risk and their colour.
pub fn command_rows(
    command: &str,
    pointed: Option<(&Range<usize>, Tone)>,
    columns: usize,
) -> Vec<CodeRow> {
    let mut rows = Vec::new();
    let mut begin = 0;
    for line in command.split_inclusive('\n') {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let inside = pointed.and_then(|(span, tone)| {
            let cut = span.start.max(begin)..span.end.min(begin + text.len());
            (cut.start < cut.end).then(|| (cut.start - begin..cut.end - begin, tone))
        });
        begin += line.len();
        // A hidden character takes more room once it is made visible, which shifts the text after it.
        let shown = |bytes: Range<usize>| visible(text.get(bytes).unwrap_or_default()).len();
        let inside = inside.map(|(it, tone)| {
            let start = shown(0..it.start);
            (start..start + shown(it), tone)
        });
        let marks = Marks { pointed: inside.into_iter().collect(), ..Marks::default() };
        rows.extend(marked_rows(text, &marks, 0, columns));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointed(command: &str, span: Range<usize>, columns: usize) -> Vec<(String, Vec<String>)> {
        let rows = command_rows(command, Some((&span, Tone::Caution)), columns);
        let of = |row: &CodeRow| {
            let texts = row.marks.pointed.iter().map(|(it, tone)| {
                assert_eq!(*tone, Tone::Caution);
                row.text[it.clone()].to_owned()
            });
            (row.text.clone(), texts.collect())
        };
        rows.iter().map(of).collect()
    }

    #[test]
    fn what_the_rule_found_is_marked_wherever_it_stands() {
        let command = "cd /srv\n\trm\u{200b} -rf ~/work && echo gone";
        let start = command.find("rm").unwrap();
        let end = command.find(" &&").unwrap();
        assert_eq!(
            pointed(command, start..end, 80),
            [
                ("cd /srv".to_owned(), vec![]),
                (
                    "    rm⟨U+200B⟩ -rf ~/work && echo gone".to_owned(),
                    vec!["rm⟨U+200B⟩ -rf ~/work".to_owned()]
                ),
            ]
        );
    }

    #[test]
    fn a_mark_goes_on_in_the_next_row_and_nothing_is_lost() {
        let command = "find / -name '*.log' -delete; true";
        let rows = pointed(command, 0..28, 10);
        let text: String = rows.iter().map(|(text, _)| text.as_str()).collect();
        let marked: String = rows.iter().flat_map(|(_, marked)| marked.clone()).collect();
        assert_eq!((text.as_str(), marked.as_str()), (command, &command[..28]));
        assert!(rows.len() > 3);
    }
}
