//! Every control of every scene has a name, a role and its state.

use std::collections::HashMap;
use std::fmt::Write as _;

use egui::Role;
use egui::accessibility::is_input;
use egui::accesskit::Action as Request;

use super::Tree;
use crate::plan::is_hidden;
use crate::ui::tests::{SCENES, window};

/// What a person cannot tell by a screen reader, in every scene.
fn faults(name: &str) -> Vec<String> {
    let mut harness = window(name, [1280.0, 800.0]);
    let tree = Tree::of(&mut harness);
    let mut faults = Vec::new();
    let mut seen: HashMap<_, Vec<_>> = HashMap::new();
    for (id, node) in tree.ids() {
        if node.is_hidden() {
            continue;
        }
        let role = node.role();
        let said = tree.name(id);
        let place = node.bounds().map(|it| format!("at {:.0},{:.0}", it.x0, it.y0));
        let place = place.unwrap_or_default();
        let focusable = node.supports_action(Request::Focus);
        if (is_input(role) || focusable) && said.is_none() {
            faults.push(format!("{role:?} {place} has no name"));
        }
        let is_plain = matches!(
            role,
            Role::Unknown | Role::GenericContainer | Role::Pane | Role::Label | Role::Image
        );
        if focusable && is_plain {
            faults.push(format!("{role:?} {said:?} {place} can have the focus"));
        }
        if is_input(role) && node.is_disabled() && node.description().is_none() {
            faults.push(format!("{role:?} {said:?} {place} does not say why it is disabled"));
        }
        for text in [node.label(), node.value(), node.description()].into_iter().flatten() {
            let is_own = |c: char| {
                is_hidden(c) && !matches!(c, '\n' | '\u{a0}')
                    || ('\u{E000}'..='\u{F8FF}').contains(&c)
            };
            if text.contains(is_own) && role != Role::TextRun {
                faults.push(format!("{role:?} {place} has characters nobody can hear: {text:?}"));
            }
        }
        if let Some(said) = said.filter(|_| focusable && !node.is_disabled()) {
            let mut above = tree.parent(id);
            while let Some((id, node)) = above {
                if tree.name(id).is_some() || node.role() == Role::Dialog {
                    break;
                }
                above = tree.parent(id);
            }
            let context = above.map(|it| it.0);
            let said = (said.to_owned(), node.description().map(str::to_owned));
            seen.entry((context, role, said)).or_default().push(place);
        }
    }
    for ((_, role, said), places) in seen {
        if places.len() > 1 {
            faults.push(format!("{role:?} {said:?} is there more than once: {places:?}"));
        }
    }
    let modals: Vec<_> = tree.ids().filter(|(_, node)| node.is_modal()).collect();
    for (id, node) in &modals {
        if node.role() != Role::Dialog || tree.name(*id).is_none() {
            faults.push(format!("the dialog is {:?} {:?}", node.role(), tree.name(*id)));
        }
    }
    let scene = &harness.state().scene;
    let view = scene.view();
    let covered = view.dialog.is_some() || view.overlay.is_some();
    if modals.len() != usize::from(covered) {
        faults.push(format!("{} modal dialogs", modals.len()));
    }
    if !tree.ids().any(|(_, node)| node.role() == Role::Main) {
        faults.push("no main part".to_owned());
    }
    faults
}

#[test]
fn every_control_of_every_scene_says_what_it_is() {
    let mut all = String::new();
    for name in SCENES {
        for fault in faults(name) {
            let _ = writeln!(all, "{name}: {fault}");
        }
    }
    assert!(all.is_empty(), "{all}");
}
