//! The dialog that asks whether every plan in a workspace gets what one plan was granted beyond its walls.

use egui::Ui;

use super::{Answer, Answers, DialogShape, PromptId, READ_FIRST, question_ui};
use crate::authorization::Grants;
use crate::risk::RiskLevel;
use crate::ui::plan::{WALLS, indented};
use crate::ui::{Action, DialogAction, Text, Tone, icon, widgets};

pub(super) fn remember_walls_ui(
    ui: &mut Ui,
    prompt: PromptId,
    workspace: &str,
    grants: &Grants,
    actions: &mut Vec<Action>,
) {
    let shape = DialogShape {
        title: "Grant this to every plan here?",
        risk: Some(RiskLevel::Caution),
        chip_prefix: "",
        width: 560.0,
        subject: None,
        word: None,
    };
    let action =
        DialogAction::RememberWalls { workspace: workspace.to_owned(), grants: grants.clone() };
    let answers = Answers {
        safe: vec![Answer::leave("Not now")],
        approve: Some(Answer::approve(icon::WALL, "Grant to every plan", READ_FIRST, action)),
    };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |_| answers,
        |ui, _, _, _| indented(ui, |ui| body_ui(ui, workspace, grants)),
    );
}

fn body_ui(ui: &mut Ui, workspace: &str, grants: &Grants) {
    let text = "From now on, every plan that works in this folder gets this beyond its walls, whoever wrote it:";
    widgets::paragraph(ui, text, Text::Body, Tone::Plain);
    ui.add_space(2.0);
    widgets::fact(ui, "folder", workspace, Text::Mono);
    for grant in sentences(grants) {
        widgets::remark(ui, WALLS, Tone::Caution, grant);
    }
    ui.add_space(2.0);
    let text = "You still authorize each plan, and the dialog lists what its steps get. To take this back, open any plan of \
                the folder and press “Forget this grant” above its steps.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
}

/// What is granted, one sentence each.
fn sentences(grants: &Grants) -> Vec<String> {
    let mut sentences = Vec::new();
    if grants.proposed {
        sentences
            .push("Whatever is proposed for a step, for example the network for curl.".to_owned());
    }
    if grants.network {
        sentences.push("The network, for every step.".to_owned());
    }
    sentences.extend(grants.write.iter().map(|path| format!("Writing to {path} and below it.")));
    sentences
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::tests::window;

    #[test]
    fn it_names_what_is_granted_and_the_way_back() {
        let mut harness = window("remember-walls", [900.0, 600.0]);
        for text in ["/home/ada/src/parser", "The network, for every step.", "Forget this grant"] {
            assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
        }
        harness.run_steps(4);
        harness.get_by_label("Grant to every plan").click();
        harness.run_ok();
        let granted = harness.state().actions.iter().find_map(|action| match action {
            Action::Dialog(DialogAction::RememberWalls { workspace, grants }) => {
                Some((workspace.as_str(), grants.network))
            }
            _ => None,
        });
        assert_eq!(granted, Some(("/home/ada/src/parser", true)));
    }
}
