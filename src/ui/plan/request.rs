//! The request for a decision about a step, in the dialog and in the card of a guided run. A command is shown in full
//! in a box, and the part that determines its risk is underlined.

use std::ops::Range;

use egui::{Align2, Margin, Ui, UiBuilder, Vec2, vec2};

use super::code::marked_rows;
use super::letters::letters_ui;
use super::marks::Marks;
use super::text_rows;
use super::walls::{WALLS, of_temporary_files, sentence};
use super::{CodeRow, Gutter, cached_rows, code_rows_ui, columns, full_text_ui, risk_icon};
use crate::authorization::WallLevel;
use crate::plan::{drawable, lookalikes, one_line, prose_lines, visible_name};
use crate::risk::{RiskLevel, Verdict};
use crate::run::ConfirmationRequest;
use crate::ui::{Text, Theme, Tone, access, icon, widgets};

/// The width of the copy button at the right, in points.
const COPY: f32 = 24.0;

/// Shows where the step runs, the complete command, its purpose, its risk with the reason, its walls, and why the
/// person is asked.
pub(crate) fn request_ui(ui: &mut Ui, request: &ConfirmationRequest) {
    location_ui(ui, request);
    if let Some(command) = request.command() {
        command_ui(ui, ("command", request.step_index), command, Some(&request.risk));
        partly_marked_ui(ui, command, &request.risk);
    }
    if let Some(purpose) = &request.purpose {
        full_text_ui(ui, "purpose", &prose_lines(purpose), |ui, text| {
            widgets::paragraph(ui, text, Text::Strong, Tone::Plain);
        });
    }
    if let Some(explanation) = &request.explanation {
        explanation_ui(ui, explanation);
    }
    verdict_ui(ui, &request.risk);
    letters_ui(ui, (request.run_id, request.step_index), &request.arguments, false);
    if let Some(walls) = &request.walls {
        let tone = if walls.is_widened() || walls.level == WallLevel::None {
            Tone::Caution
        } else {
            Tone::Safe
        };
        widgets::remark(ui, WALLS, tone, drawable(&sentence(walls)));
        let command = request.command().unwrap_or_default();
        if let Some(text) = of_temporary_files(walls, command) {
            widgets::remark(ui, icon::INFO, Tone::Caution, text);
        }
    }
    if let Some(warning) = &request.warning {
        let text = format!("The plan's author warns: {}", prose_lines(warning));
        full_text_ui(ui, "warning", &text, |ui, text| {
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
        });
    }
    if request.required {
        let text = format!("You are asked because {}", reason_clause(&request.why));
        widgets::remark(ui, icon::HAND, Tone::Dim, drawable(&text));
    }
    if let Some(text) = request.skipping() {
        widgets::remark(ui, icon::LINK, Tone::Dim, text);
    }
}

/// Shows what the author of a plan says about a step, in full. Lines that are indented, as in a list of changes, keep
/// their columns.
pub(super) fn explanation_ui(ui: &mut Ui, explanation: &str) {
    let text = prose_lines(explanation);
    if text.lines().any(|line| line.starts_with("  ")) {
        widgets::card(ui).inner_margin(Margin::symmetric(0, 6)).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            let columns = columns(ui, ui.available_width(), Gutter::NONE);
            let rows = cached_rows(ui, "explanation", &[text.as_str()], columns, || {
                text_rows(&text, columns)
            });
            code_rows_ui(ui, "explanation", &rows, Gutter::NONE);
        });
        return;
    }
    full_text_ui(ui, "explanation", &text, |ui, text| {
        widgets::paragraph(ui, text, Text::Body, Tone::Plain);
    });
}

/// The tooltip of an approval of a step whose files have changed since the question.
pub(crate) const OUTDATED: &str = "What the question shows is no longer so: the step would fail.";

/// Says which files are no longer as the question shows them.
pub(crate) fn outdated_ui(ui: &mut Ui, changed: &[String]) {
    let Some(first) = changed.first() else { return };
    let (more, have) = match changed.len() {
        1 => (String::new(), "has"),
        count => (format!(" and {} more", count - 1), "have"),
    };
    let text = format!(
        "{first}{more} {have} changed since you were asked, so the step would fail and change nothing. Deny it, look at \
         the plan again, and authorize it as things are now."
    );
    widgets::remark(ui, icon::WARNING, Tone::Danger, drawable(&text));
}

/// Shows a risk with its reason, and the safer alternative if there is one.
pub(super) fn verdict_ui(ui: &mut Ui, verdict: &Verdict) {
    let (level, reason) = (verdict.level, &verdict.reason);
    let text = format!("{reason} (rule {})", verdict.rule);
    widgets::remark(ui, risk_icon(level), level.into(), drawable(&text));
    if let Some(suggestion) = &verdict.suggestion {
        widgets::remark(ui, icon::INFO, Tone::Dim, format!("Safer: {suggestion}"));
    }
}

/// Shows the host, the folder and the user of the step.
fn location_ui(ui: &mut Ui, request: &ConfirmationRequest) {
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
            ui.label(widgets::rich(visible_name(text), kind, color));
        }
    });
}

/// A sentence with a lower-case first letter, to follow "because". An empty one is replaced.
fn reason_clause(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "the plan says so.".to_owned(),
    }
}

/// Shows the complete command, underlines the part that determines its risk. `id_salt` distinguishes several uses in
/// the same part of the window.
pub(crate) fn command_ui(
    ui: &mut Ui,
    id_salt: impl egui::AsIdSalt + Copy,
    command: &str,
    risk: Option<&Verdict>,
) {
    // In a safe command nothing is underlined.
    let risk = risk.filter(|it| it.level > RiskLevel::Safe);
    let emphasized = risk.and_then(|it| Some((it.span.as_ref()?, Tone::from(it.level))));
    widgets::card(ui).inner_margin(Margin::symmetric(0, 8)).show(ui, |ui| {
        let width = ui.available_width();
        ui.set_min_width(width);
        let right_top = ui.cursor().left_top() + vec2(width - 4.0, -2.0);
        let columns = columns(ui, width - COPY, Gutter::NONE);
        let rows = cached_rows(ui, (id_salt, &emphasized), &[command], columns, || {
            command_rows(command, emphasized, columns)
        });
        code_rows_ui(ui, id_salt, &rows, Gutter::NONE);
        let corner = Align2::RIGHT_TOP.anchor_size(right_top, Vec2::splat(24.0));
        ui.scope_builder(UiBuilder::new().max_rect(corner), |ui| {
            let copy = widgets::copy_button(ui, command, "command");
            access::describe(&copy, &one_line(command));
        });
    });
}

/// Says that the unmarked part of a command counts, too, unless all of it is marked or nothing.
pub(super) fn partly_marked_ui(ui: &mut Ui, command: &str, risk: &Verdict) {
    let marked = risk.span.clone().filter(|_| risk.level > RiskLevel::Safe);
    if marked.is_some_and(|span| command.get(span) != Some(command.trim())) {
        let text = "Only the part that determines the risk is marked. Read the rest, too.";
        widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    }
}

/// The command in rows of at most `columns` columns; its line breaks are kept. `emphasized` is the range of the part
/// that determines its risk, and the tone of the risk. Letters that look
/// like others have their code points.
pub fn command_rows(
    command: &str,
    emphasized: Option<(&Range<usize>, Tone)>,
    columns: usize,
) -> Vec<CodeRow> {
    let mut rows = Vec::new();
    let mut offset = 0;
    for line in command.split_inclusive('\n') {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let mark = emphasized.and_then(|(span, tone)| {
            let part = span.start.max(offset)..span.end.min(offset + text.len());
            (part.start < part.end).then(|| (part.start - offset..part.end - offset, tone))
        });
        offset += line.len();
        // Hidden characters and letters that look like others get longer, which shifts the text after them.
        let alike = lookalikes(text);
        let shown_length = |end: usize| {
            let letters = alike.iter().filter(|letter| letter.end <= end);
            let letters = letters.filter_map(|letter| text.get(letter.clone()));
            let added: usize = letters.map(|it| visible_name(it).len() - it.len()).sum();
            drawable(text.get(..end).unwrap_or_default()).len() + added
        };
        let mark =
            mark.map(|(range, tone)| (shown_length(range.start)..shown_length(range.end), tone));
        let marks = Marks { emphasized: mark.into_iter().collect(), ..Marks::default() };
        let text = &visible_name(text);
        rows.extend(marked_rows(text, &marks, 0, columns));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emphasized(command: &str, span: Range<usize>, columns: usize) -> Vec<(String, Vec<String>)> {
        let rows = command_rows(command, Some((&span, Tone::Caution)), columns);
        let marked = |row: &CodeRow| {
            let texts = row.marks.emphasized.iter().map(|(it, tone)| {
                assert_eq!(*tone, Tone::Caution);
                row.text[it.clone()].to_owned()
            });
            (row.text.clone(), texts.collect())
        };
        rows.iter().map(marked).collect()
    }

    #[test]
    fn matched_part_of_the_command_is_marked() {
        let command = "cd /srv\n\trm\u{200b} -rf ~/work && echo gone";
        let start = command.find("rm").unwrap();
        let end = command.find(" &&").unwrap();
        assert_eq!(
            emphasized(command, start..end, 80),
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
    fn a_mark_is_on_its_text_after_a_letter_that_looks_like_another() {
        let command = "curl pаypal.com | sh";
        let start = command.find("sh").unwrap();
        let rows = emphasized(command, start..command.len(), 80);
        assert_eq!(rows, [("curl pа⟨U+0430⟩ypal.com | sh".to_owned(), vec!["sh".to_owned()])]);
    }

    #[test]
    fn marks_continue_in_wrapped_rows() {
        let command = "find / -name '*.log' -delete; true";
        let rows = emphasized(command, 0..28, 10);
        let text: String = rows.iter().map(|(text, _)| text.as_str()).collect();
        let marked: String = rows.iter().flat_map(|(_, marked)| marked.clone()).collect();
        assert_eq!((text.as_str(), marked.as_str()), (command, &command[..28]));
        assert!(rows.len() > 3);
    }
}
