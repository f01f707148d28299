//! The selected diagnostic in full: the source with marks, its notes, and the compiler's text.

use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Layout, Margin, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use super::copy::location;
use super::excerpt::ExcerptRow;
use super::listing::Entry;
use super::{
    DiagnosticsAction, DiagnosticsView, Excerpt, baseline_look, diagnostic, level_look, written,
};
use crate::plan::drawable;
use crate::run::{
    BaselineState, DiagnosticArtifact, DiagnosticSpan, LineKind, Question, TargetKind,
};
use crate::ui::evidence::question_items_ui;
use crate::ui::plan::{CodeRow, Gutter, cached_rows, code_rows_ui, columns, sections, text_rows};
use crate::ui::{
    Action, Chip, Command, Commands, Look, Text, Theme, Tone, controls, icon, narrow, theme,
    widgets,
};

pub(super) fn detail_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, commands: &mut Commands<'_>) {
    let Some(entry) = view.listing.selected_entry() else { return };
    let Some(it) = diagnostic(view.run, entry.position) else { return };
    ui.spacing_mut().item_spacing.y = 0.0;
    widgets::margins(10, 8).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        head_ui(ui, entry, it, commands);
    });
    widgets::line_below(ui);
    let id = ("diagnostic", entry.position);
    ScrollArea::vertical().id_salt(id).auto_shrink([false, false]).show(ui, |ui| {
        widgets::margins(10, 16).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            ui.set_min_width(ui.available_width());
            widgets::paragraph(ui, &it.message, Text::Strong, Tone::Plain);
            if !it.file_name.is_empty() {
                let location = location(it);
                widgets::copyable(ui, &location, &location, "the location");
            }
            excerpt_ui(ui, it, view.excerpt);
            other_files_ui(ui, it);
            let picked = view.options.picked_of(view.run, entry.position);
            suggestions_ui(ui, it, None, &picked, commands.actions);
            for (index, child) in it.children.iter().enumerate() {
                child_ui(ui, child);
                suggestions_ui(ui, it, Some(index), &picked, commands.actions);
            }
            if let left_out @ 1.. = it.fixes_left_out() {
                ui.horizontal(|ui| {
                    ui.add_space(SUGGESTION_INDENT);
                    let text = format!("{left_out} more suggestions of the tool are left out");
                    widgets::line(ui, &text, Text::Meta, Tone::Dim);
                });
            }
            if !it.suggested_fixes().is_empty() {
                ui.horizontal(|ui| {
                    ui.add_space(SUGGESTION_INDENT);
                    commands.button(ui, Command::PlanSuggestion, Look::Plain, None);
                });
            }
            rendered_ui(ui, view, entry, it);
        });
    });
}

/// The severity, the code and the result of the comparison, with the actions on the diagnostic.
fn head_ui(ui: &mut Ui, entry: Entry, it: &DiagnosticArtifact, commands: &mut Commands<'_>) {
    let theme = Theme::of(ui);
    let (icon, _, tone) = level_look(it.level);
    let is_narrow = ui.available_width() < narrow::ONE_PANE;
    ui.horizontal(|ui| {
        ui.set_min_height(theme::BUTTON);
        Chip::new(icon, it.tool_level.as_str(), tone).ui(ui);
        if let Some(code) = &it.code {
            ui.label(widgets::rich(drawable(code), Text::Mono, theme.text));
        }
        if let Some(state) = entry.baseline {
            let (icon, word, tone) = baseline_look(state);
            Chip::new(icon, word, tone).with_tooltip(meaning(state)).ui(ui);
        }
        if !is_narrow {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                evidence_menu(ui, it, commands.actions);
                commands.button(ui, Command::CopyDiagnostic, Look::Plain, Some("Copy"));
                commands.button(ui, Command::OpenInEditor, Look::Plain, None);
            });
        }
    });
    if is_narrow {
        ui.horizontal_wrapped(|ui| {
            commands.button(ui, Command::OpenInEditor, Look::Plain, None);
            commands.button(ui, Command::CopyDiagnostic, Look::Plain, Some("Copy"));
            evidence_menu(ui, it, commands.actions);
        });
    }
}

fn meaning(state: BaselineState) -> &'static str {
    match state {
        BaselineState::New => "The earlier check did not report it.",
        BaselineState::Unchanged => "The earlier check reported it too; its line may have moved.",
        BaselineState::Gone => "The earlier check reported it, and this one no longer does.",
    }
}

/// A menu of queries to the evidence: about the code and the file of a diagnostic, and about recurring ones.
fn evidence_menu(ui: &mut Ui, it: &DiagnosticArtifact, actions: &mut Vec<Action>) {
    let mut questions = Vec::new();
    if let Some(code) = &it.code {
        questions.push(Question::WithCode(code.clone()));
        let file = Some(it.file_name.clone()).filter(|file| !file.is_empty());
        questions.push(Question::ChangesAfter { code: code.clone(), file });
    }
    if !it.file_name.is_empty() {
        let (kind, target) = (TargetKind::File, it.file_name.clone());
        questions.push(Question::Touched { kind, target });
    }
    questions.push(Question::Recurring);
    let response = controls::menu(ui, icon::DATABASE, "In the evidence", |ui| {
        question_items_ui(ui, questions, actions);
    });
    response.on_hover_text("Search the evidence for this code and this file.");
}

fn excerpt_ui(ui: &mut Ui, it: &DiagnosticArtifact, excerpt: Option<&Excerpt>) {
    match excerpt {
        None if it.file_name.is_empty() => {}
        Some(Excerpt::Nowhere) => {}
        None => widgets::remark(ui, icon::CLOCK, Tone::Dim, "Reading the source…"),
        Some(Excerpt::Changed) => {
            let file = &it.file_name;
            let text = format!("{file} has changed since the check. The compiler's text is below.");
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
        }
        Some(Excerpt::Missing(why)) => {
            let text = format!("No source: {why}. The compiler's text is below.");
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
        }
        Some(Excerpt::Shown { rows, compared }) => {
            rows_ui(ui, rows, level_look(it.level).2);
            if !compared {
                let text =
                    "The file as it is now. The lines that the check read were not recorded.";
                widgets::remark(ui, icon::INFO, Tone::Dim, text);
            }
        }
    }
}

/// The width of the line numbers, in points.
const NUMBERS: f32 = 56.0;

fn rows_ui(ui: &mut Ui, rows: &[ExcerptRow], tone: Tone) {
    let theme = Theme::of(ui);
    widgets::card(ui).inner_margin(Margin::symmetric(0, 6)).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        // Lines scroll and do not wrap, because a wrapped line would be separated from its carets.
        ScrollArea::horizontal().id_salt("excerpt").auto_shrink([false, true]).show(ui, |ui| {
            for row in rows {
                let galley = ui.painter().layout_job(row_job(row, tone, theme));
                let width = (NUMBERS + galley.size().x + 16.0).max(ui.available_width());
                let (rect, response) =
                    ui.allocate_exact_size(vec2(width, theme::CODE_ROW), Sense::hover());
                let middle = rect.center().y;
                if let Some(number) = row.number {
                    let right = pos2(rect.left() + NUMBERS - 18.0, middle);
                    let number = number.to_string();
                    widgets::paint_right(ui, right, (&number, Text::SmallMono, theme.dim));
                }
                widgets::paint_galley(ui, pos2(rect.left() + NUMBERS, middle), galley);
                response.widget_info(|| {
                    let number = row.number.map_or_else(String::new, |number| format!("{number} "));
                    WidgetInfo::labeled(Role::Label, true, format!("{number}{}", row.text))
                });
            }
        });
    });
}

fn row_job(row: &ExcerptRow, tone: Tone, theme: &Theme) -> LayoutJob {
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    let row_color = match (row.carets, row.number) {
        (Some(true), _) => theme.tone(tone),
        (Some(false), _) => theme.accent,
        (None, Some(_)) => theme.text,
        (None, None) => theme.dim,
    };
    let marked = row.colours.iter().map(|(it, _)| it).chain(row.marks.iter().map(|(it, _)| it));
    for (start, text) in sections(&row.text, marked) {
        let colour = row.colours.iter().find(|(it, _)| it.contains(&start));
        let mark = row.marks.iter().find(|(it, _)| it.contains(&start));
        let format = match mark {
            // A mark has its own background, designed for the plain text colour.
            Some((_, is_primary)) => TextFormat {
                background: theme
                    .chip(if *is_primary { tone } else { Tone::Accent }, theme.background),
                underline: theme.mark_line(),
                ..widgets::text_format(Text::Mono, theme.text)
            },
            None => {
                let color = colour.map_or(row_color, |(_, class)| theme.syntax(*class));
                widgets::text_format(Text::Mono, color)
            }
        };
        job.append(text, 0.0, format);
    }
    job
}

/// The spans in other files, which the excerpt does not show.
fn other_files_ui(ui: &mut Ui, it: &DiagnosticArtifact) {
    for span in it.spans.iter().filter(|span| span.file_name != it.file_name).take(8) {
        let label = span.label.as_deref().unwrap_or("also reported here");
        let text = format!("{}:{}: {label}", span.file_name, span.line_start);
        widgets::remark(ui, icon::LINK, Tone::Dim, text);
    }
}

/// A note or help of the diagnostic.
fn child_ui(ui: &mut Ui, child: &DiagnosticArtifact) {
    let tone = if child.tool_level == "help" { Tone::Safe } else { Tone::Accent };
    let icon = if child.tool_level == "help" { icon::HELP } else { icon::INFO };
    widgets::remark(ui, icon, tone, format!("{}: {}", child.tool_level, child.message));
}

/// The indent of suggestions, in points.
const SUGGESTION_INDENT: f32 = 24.0;
/// The maximum number of places of one suggestion that are shown.
const MAX_PLACES: usize = 8;

/// The suggestions of the diagnostic itself, or of one of its notes. If the diagnostic has several, each can be picked.
fn suggestions_ui(
    ui: &mut Ui,
    it: &DiagnosticArtifact,
    child: Option<usize>,
    picked: &[usize],
    actions: &mut Vec<Action>,
) {
    let fixes = it.suggested_fixes();
    let several = fixes.len() > 1;
    for (index, fix) in fixes.iter().enumerate() {
        if fix.child != child {
            continue;
        }
        ui.horizontal(|ui| {
            ui.add_space(SUGGESTION_INDENT);
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 4.0;
                let places = fix.spans.iter().take(MAX_PLACES).enumerate();
                for (place, span) in places {
                    let head = suggestion_head(span);
                    let mut is_picked = picked.contains(&index);
                    if !several || place > 0 {
                        widgets::line(ui, &head, Text::Meta, Tone::Dim);
                    } else {
                        let tick = ui.checkbox(&mut is_picked, drawable(&head));
                        widgets::reveal_focused(ui, &tick);
                        if tick.changed() {
                            actions.push(Action::Diagnostics(DiagnosticsAction::Pick(index)));
                        }
                    }
                    suggestion_ui(ui, (index, place), span);
                }
                if let Some(more @ 1..) = fix.spans.len().checked_sub(MAX_PLACES) {
                    let text = format!("and {more} more places");
                    widgets::line(ui, &text, Text::Meta, Tone::Dim);
                }
            });
        });
    }
}

/// What a suggestion does at one place.
fn suggestion_head(span: &DiagnosticSpan) -> String {
    let text = span.suggested_replacement.as_deref().unwrap_or_default();
    let confidence = match span.applicability.as_deref() {
        Some("MachineApplicable") => "can be applied as it is",
        Some("MaybeIncorrect") => "may be wrong",
        Some("HasPlaceholders") => "has placeholders",
        _ => "not rated",
    };
    let inserts = (span.line_start, span.column_start) == (span.line_end, span.column_end);
    let action = match (text.is_empty(), inserts) {
        (true, _) => "Remove the text at",
        (false, true) => "Insert at",
        (false, false) => "Replace the text at",
    };
    let DiagnosticSpan { file_name, line_start, column_start, .. } = span;
    format!("{action} {file_name}:{line_start}:{column_start} ({confidence})")
}

fn suggestion_ui(ui: &mut Ui, index: (usize, usize), span: &DiagnosticSpan) {
    let text = span.suggested_replacement.as_deref().unwrap_or_default();
    if text.is_empty() {
        return;
    }
    code_ui(ui, ("suggestion", index, span.byte_start), text, |columns| {
        let added = |row| CodeRow { kind: LineKind::Added, sign: "+", ..row };
        text_rows(text.trim_end_matches('\n'), columns).into_iter().map(added).collect()
    });
}

fn rendered_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, entry: Entry, it: &DiagnosticArtifact) {
    ui.add_space(2.0);
    widgets::heading(
        ui,
        if it.rendered.is_some() { "As the compiler wrote it" } else { "In short" },
    );
    // A result never changes, so its id and the index identify the text.
    let result = super::listing::result(view.run, entry.position.step);
    let id = result.map(|it| it.execution_id.to_string()).unwrap_or_default();
    let key = format!("{id} {}", entry.position.index);
    code_ui(ui, "rendered", &key, |columns| text_rows(&written(it), columns));
}

/// A box with rows of code, laid out again only when `key` or the number of columns changes.
fn code_ui(
    ui: &mut Ui,
    id_salt: impl egui::AsIdSalt + Copy,
    key: &str,
    rows: impl FnOnce(usize) -> Vec<CodeRow>,
) {
    widgets::card(ui).inner_margin(Margin::symmetric(0, 6)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        let columns = columns(ui, ui.available_width(), Gutter::NONE);
        let rows = cached_rows(ui, id_salt, &[key], columns, || {
            let unnumbered = |row| CodeRow { numbers: (None, None), ..row };
            rows(columns).into_iter().map(unnumbered).collect()
        });
        code_rows_ui(ui, id_salt, &rows, Gutter::NONE);
    });
}
