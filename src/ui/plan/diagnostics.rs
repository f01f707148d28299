//! The diagnostics of a step: counts by level, and each diagnostic as its tool rendered it.

use egui::{ScrollArea, Ui};

use super::wrap::wrap;
use super::{CodeRow, Gutter, cached_rows, code_rows_ui, columns, indented};
use crate::run::{DiagnosticArtifact, Level, StepResult};
use crate::ui::action::DiagnosticsAction;
use crate::ui::diagnostics::written;
use crate::ui::{Action, Icon, Look, Tone, format, icon, widgets};

pub(super) fn diagnostics_ui(ui: &mut Ui, result: &StepResult, actions: &mut Vec<Action>) {
    let all = &result.diagnostic_artifacts;
    ui.add_space(8.0);
    indented(ui, |ui| {
        for (icon, tone, text) in counts(all) {
            widgets::remark(ui, icon, tone, text);
        }
        let text = "Show in the table";
        let hint = "Each with its source, compared with an earlier check.";
        if widgets::tooltip_button(ui, Look::Plain, icon::DIAGNOSTICS, text, hint) {
            let step = Some(result.step_index);
            actions.push(Action::Diagnostics(DiagnosticsAction::Show(step)));
        }
    });
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    // A result never changes, so its id identifies its content.
    let id = result.execution_id.to_string();
    let rows =
        cached_rows(ui, "diagnostics", &[id.as_str()], columns, || diagnostic_rows(all, columns));
    ScrollArea::vertical()
        .id_salt(("diagnostics", id))
        .auto_shrink([false, false])
        .show(ui, |ui| code_rows_ui(ui, "diagnostics", &rows, Gutter::NONE));
}

/// The levels that occur, with their counts, the worst level first.
fn counts(all: &[DiagnosticArtifact]) -> Vec<(Icon, Tone, String)> {
    [
        (Level::Error, icon::FAILED, Tone::Danger, "error"),
        (Level::Warning, icon::WARNING, Tone::Caution, "warning"),
        (Level::Info, icon::INFO, Tone::Dim, "note"),
    ]
    .into_iter()
    .filter_map(|(level, icon, tone, noun)| {
        let count = all.iter().filter(|it| it.level == level).count();
        (count > 0).then(|| (icon, tone, format::counted(count, noun)))
    })
    .collect()
}

/// The diagnostics in rows of at most `columns` columns, separated by empty rows.
pub fn diagnostic_rows(all: &[DiagnosticArtifact], columns: usize) -> Vec<CodeRow> {
    let mut rows = Vec::new();
    for it in all {
        if !rows.is_empty() {
            rows.push(CodeRow::numbered(None, String::new()));
        }
        let text = written(it);
        for line in text.trim_end().lines() {
            rows.extend(
                wrap(line, columns).into_iter().map(|piece| CodeRow::numbered(None, piece)),
            );
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(level: Level, word: &str, rendered: Option<&str>) -> DiagnosticArtifact {
        DiagnosticArtifact {
            level,
            tool_level: word.to_owned(),
            message: "mismatched types".to_owned(),
            file_name: "src/lib.rs".to_owned(),
            line_start: 3,
            column_start: Some(5),
            line_end: None,
            column_end: None,
            code: Some("E0308".to_owned()),
            spans: Vec::new(),
            children: Vec::new(),
            rendered: rendered.map(str::to_owned),
        }
    }

    #[test]
    fn diagnostics_are_rendered_and_counted_by_level() {
        let help = DiagnosticArtifact {
            code: None,
            message: "try this".to_owned(),
            ..diagnostic(Level::Info, "help", None)
        };
        let plain =
            DiagnosticArtifact { children: vec![help], ..diagnostic(Level::Error, "error", None) };
        let all = [
            diagnostic(Level::Warning, "warning", Some("warning: un\u{202e}used\n --> a.rs\n\n")),
            plain,
            diagnostic(Level::Error, "error", Some("error: third")),
        ];
        let texts: Vec<_> = diagnostic_rows(&all, 80).into_iter().map(|row| row.text).collect();
        let expected = [
            &*crate::plan::visible("warning: un\u{202e}used"),
            " --> a.rs",
            "",
            "error[E0308]: mismatched types",
            " --> src/lib.rs:3:5",
            "  = help: try this",
            "",
            "error: third",
        ];
        assert_eq!(texts, expected);
        assert!(!texts[0].contains('\u{202e}'), "hidden characters are made visible");
        let words: Vec<_> = counts(&all).into_iter().map(|(_, _, text)| text).collect();
        assert_eq!(words, ["2 errors", "1 warning"]);
    }
}
