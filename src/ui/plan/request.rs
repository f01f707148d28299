//! The request for a decision about a step, in the dialog and in the card of a guided run. A command is shown in full
//! in a box, with the parts that determine its risk underlined.

use std::ops::Range;

use egui::{Align2, Margin, Ui, UiBuilder, Vec2, vec2};

use super::code::{CodeRow, Gutter, code_rows_ui, columns, marked_rows, whole_ui};
use super::row_cache::kept_rows;
use super::marks::Marks;
use super::rows::risk_icon;
use super::walls::{WALLS, sentence};
use crate::authorization::WallLevel;
use crate::plan::visible;
use crate::risk::{RiskLevel, Verdict};
use crate::run::ConfirmationRequest;
use crate::ui::icon;
use crate::ui::theme::{Text, Theme, Tone};
use crate::ui::widgets;

/// The width of the copy button at the right, in points.
const COPY: f32 = 24.0;

/// Shows the host and user, the whole command, its purpose, and its risk with the reason.
pub(crate) fn request_ui(ui: &mut Ui, request: &ConfirmationRequest) {
    place_ui(ui, request);
    if let Some(command) = request.command() {
        command_ui(ui, ("command", request.step_index), command, Some(&request.risk));
    }
    if let Some(purpose) = &request.purpose {
        whole_ui(ui, "purpose", purpose, |ui, text| {
            widgets::paragraph(ui, text, Text::Strong, Tone::Plain);
        });
    }
    if let Some(explanation) = &request.explanation {
        whole_ui(ui, "explanation", explanation, |ui, text| {
            widgets::paragraph(ui, text, Text::Body, Tone::Plain);
        });
    }
    verdict_ui(ui, &request.risk);
    if let Some(walls) = &request.walls {
        let tone = if walls.is_widened() || walls.level == WallLevel::None {
            Tone::Caution
        } else {
            Tone::Safe
        };
        widgets::remark(ui, WALLS, tone, visible(&sentence(walls)));
    }
    if let Some(warning) = &request.warning {
        let text = format!("The plan's author warns: {warning}");
        whole_ui(ui, "warning", &text, |ui, text| {
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
        });
    }
    if request.required {
        let why = format!("You are asked because {}", lower(&request.why));
        widgets::remark(ui, icon::HAND, Tone::Dim, visible(&why));
    }
}

/// Shows a risk with its reason, and the safer alternative if there is one.
pub(super) fn verdict_ui(ui: &mut Ui, verdict: &Verdict) {
    let (level, reason) = (verdict.level, &verdict.reason);
    let text = format!("{reason} (rule {})", verdict.rule);
    widgets::remark(ui, risk_icon(level), level.into(), visible(&text));
    if let Some(suggestion) = &verdict.suggestion {
        widgets::remark(ui, icon::INFO, Tone::Dim, format!("Safer: {suggestion}"));
    }
}

fn place_ui(ui: &mut Ui, request: &ConfirmationRequest) {
    let theme = Theme::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let host = request.host.as_deref().or(request.target.as_deref());
        let host = host.unwrap_or("this computer");
        for (text, strong) in [
            ("on", false),
            (host, true),
            ("in", false),
            (&*request.cwd, true),
            ("as", false),
            (&*request.user, true),
        ] {
            let (kind, color) =
                if strong { (Text::Mono, theme.text) } else { (Text::Meta, theme.dim) };
            ui.label(widgets::rich(visible(text), kind, color));
        }
    });
}

/// The sentence with a lower-case first letter, to continue another sentence. An empty one is replaced.
fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "the plan says so.".to_owned(),
    }
}

/// Shows the untruncated command and underlines the parts that determine its risk.
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
