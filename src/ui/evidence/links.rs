//! The targets that an execution touched, each as a link with a menu of queries about the target.

use egui::Ui;

use super::{Filter, toggle};
use crate::plan::drawable;
use crate::run::{Edge, Question, TargetKind};
use crate::ui::{Action, EvidenceAction, Text, Tone, controls, format, widgets};

/// The maximum number of links shown; a check of a large project has a thousand.
const MAX_LINKS: usize = 40;

/// `workspace` is that of the execution, in which the paths are.
/// Queries about them read the evidence of this computer: without one, there are none.
pub(super) fn links_ui(
    ui: &mut Ui,
    edges: &[Edge],
    workspace: Option<&str>,
    actions: &mut Vec<Action>,
) {
    for (index, edge) in edges.iter().take(MAX_LINKS).enumerate() {
        ui.push_id(index, |ui| link_ui(ui, edge, workspace, actions));
    }
    if let Some(more) = edges.len().checked_sub(MAX_LINKS).filter(|more| *more > 0) {
        let text = format!(
            "{} more. `countersign evidence show` lists all of them.",
            format::count(more as u64)
        );
        widgets::paragraph(ui, text, Text::Small, Tone::Dim);
    }
}

fn link_ui(ui: &mut Ui, edge: &Edge, workspace: Option<&str>, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        widgets::value_label(ui, edge.edge_type.words());
        let name = format!("{} {}", edge.target_kind.as_str(), edge.target);
        let response = controls::menu_link(ui, &edge.target, &name, |ui| {
            let asked = workspace.map(|workspace| questions(edge, workspace)).unwrap_or_default();
            question_items_ui(ui, asked, actions);
            let changes = format!("Every change of {}", edge.target);
            if edge.target_kind == TargetKind::File && controls::menu_item(ui, &changes) {
                let text = toggle("", Filter::Wrote, &edge.target);
                actions.push(Action::Evidence(EvidenceAction::Search(text)));
            }
            if controls::menu_item(ui, "Copy") {
                ui.ctx().copy_text(edge.target.clone());
            }
        });
        response
            .on_hover_text(format!("{}\nClick to search the evidence for it.", drawable(&name)));
    });
}

/// Menu items, one for each query.
pub(crate) fn question_items_ui(ui: &mut Ui, questions: Vec<Question>, actions: &mut Vec<Action>) {
    for question in questions {
        if controls::menu_item(ui, &question.title()) {
            actions.push(Action::Evidence(EvidenceAction::RunQuery(question)));
        }
    }
}

/// The queries that apply to a target.
fn questions(edge: &Edge, workspace: &str) -> Vec<Question> {
    let target = || edge.target.clone();
    match edge.target_kind {
        TargetKind::File => vec![
            Question::FileHistory { path: target(), workspace: workspace.to_owned() },
            Question::Touched { kind: TargetKind::File, target: target() },
            Question::Latest(target()),
        ],
        TargetKind::Symbol => {
            vec![Question::Touched { kind: TargetKind::Symbol, target: target() }]
        }
        TargetKind::Diagnostic => vec![
            Question::WithCode(target()),
            Question::ChangesAfter { code: target(), file: None },
            Question::Recurring,
        ],
    }
}
