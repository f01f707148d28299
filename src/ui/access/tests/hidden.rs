//! Characters that cannot be seen, or look like others, are said with the marks that the window shows.

use egui::Role;

use super::Tree;
use crate::plan::{ShownPlan, ToolCall, is_hidden};
use crate::ui::action::Tab;
use crate::ui::tests::window;

const PATH: &str = "src/\u{202e}gnp.\u{200b}exe";
const SAID: &str = "src/⟨U+202E⟩gnp.⟨U+200B⟩exe";
/// The first letter is Cyrillic.
const HOST: &str = "src/\u{430}pi.rs";
const NAMED: &str = "src/\u{430}⟨U+0430⟩pi.rs";
const TITLE: &str = "Tidy\u{2066} the\u{ad} nest \u{5d0}\u{5d1}";
const TITLED: &str = "Tidy⟨U+2066⟩ the⟨U+00AD⟩ nest \u{5d0}\u{5d1}";

/// Puts such characters into everything of a plan.
fn make_hostile(plan: &mut ShownPlan) {
    plan.title = Some(TITLE.to_owned());
    for (index, step) in plan.steps.iter_mut().enumerate() {
        let path = if index % 2 == 0 { PATH } else { HOST };
        step.title = Some(TITLE.to_owned());
        step.reason = Some(TITLE.to_owned());
        for value in step.arguments.values_mut() {
            *value = format!("{path}\n\u{feff}{path}");
        }
        match &mut step.call {
            Some(ToolCall::FileRead { path: it } | ToolCall::FileWrite { path: it, .. }) => {
                *it = path.to_owned();
            }
            Some(ToolCall::Shell { command, .. }) => *command = format!("cat {path}\nls {HOST}"),
            _ => {}
        }
    }
}

#[test]
fn nothing_hidden_is_in_any_name() {
    let mut all = String::new();
    // Scenes that draw the plan in another way, or beside something else.
    for name in [
        "plan",
        "authorized",
        "running",
        "dialog",
        "guided",
        "failed",
        "completed",
        "invalid",
        "revert",
        "inbox",
        "queue",
        "authorize",
        "reject",
        "notices",
        "diagnostics",
        "simulation",
        "output",
        "command",
        "loop-completed",
    ] {
        let mut harness = window(name, [1280.0, 800.0]);
        make_hostile(&mut harness.state_mut().scene.plan);
        harness.run_steps(2);
        for tab in [Tab::WillDo, Tab::Arguments] {
            let tab = crate::ui::Action::Plan(crate::ui::PlanAction::ShowTab(tab));
            let ctx = harness.ctx.clone();
            harness.state_mut().scene.play(&tab, &ctx);
            harness.run_steps(2);
            let tree = Tree::of(&mut harness);
            for (_, node) in tree.ids().filter(|(_, node)| !node.is_hidden()) {
                // The places in a field are counted in its own characters.
                let is_field = matches!(node.role(), Role::TextInput | Role::MultilineTextInput);
                let value = node.value().filter(|_| !is_field && node.role() != Role::TextRun);
                let texts = [node.label(), node.description(), value];
                for text in texts.into_iter().flatten() {
                    if text.chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\u{a0}')) {
                        all += &format!("{name}: {:?} {text:?}\n", node.role());
                    }
                }
            }
        }
    }
    assert!(all.is_empty(), "{all}");
}

/// What a view has to do itself: a letter that looks like another one is no hidden character.
#[test]
fn marks_of_paths_titles_and_commands_are_said() {
    let mut harness = window("plan", [1280.0, 800.0]);
    make_hostile(&mut harness.state_mut().scene.plan);
    harness.run_steps(3);
    let tree = Tree::of(&mut harness);
    let names: Vec<_> = tree
        .ids()
        .filter(|(_, node)| node.role() == Role::ListBoxOption)
        .filter_map(|(id, _)| tree.name(id))
        .collect();
    let steps = names.iter().filter(|name| name.starts_with("Step "));
    assert!(steps.clone().any(|name| name.contains(SAID)), "{names:?}");
    let headings = tree.ids().filter(|(_, node)| node.role() == Role::Heading);
    let titles: Vec<_> = headings.filter_map(|(_, node)| node.label()).collect();
    assert!(titles.contains(&TITLED), "{titles:?}");

    // A row of the evidence, in which the path has a letter of another script.
    let mut harness = window("evidence", [1280.0, 800.0]);
    let hits = &mut harness.state_mut().scene.search.as_mut().unwrap().hits;
    hits[0].listed.row.about = HOST.to_owned();
    harness.run_steps(3);
    let tree = Tree::of(&mut harness);
    let is_row = |name: &str| name.contains(NAMED);
    assert!(tree.ids().any(|(id, _)| tree.name(id).is_some_and(is_row)), "the row of {NAMED}");
}

/// A text that was drawn without marks gets them before anybody hears it.
#[test]
fn a_view_that_forgets_the_marks_is_corrected() {
    let mut harness = egui_kittest::Harness::builder()
        .with_context_setup(crate::ui::theme::install)
        .build_ui(|ui| {
            ui.label(PATH);
            let _ = ui.button(PATH).on_hover_text(PATH);
        });
    harness.run_ok();
    use egui_kittest::kittest::{NodeT as _, Queryable as _};
    assert_eq!(harness.get_all_by_label(SAID).count(), 2, "the label and the button");
    let button = harness.get_by_role_and_label(Role::Button, SAID);
    assert!(button.accesskit_node().description().is_none(), "it would say the same");
}
