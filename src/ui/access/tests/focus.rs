//! The order in which Tab goes through the pages.

use egui::{Id, Key, Modifiers, Rect};
use egui_kittest::Harness;

use super::Tree;
use crate::ui::tests::{Window, window};

/// A control that Tab reaches.
#[derive(Debug, Clone, PartialEq)]
struct Stop {
    id: Id,
    rect: Rect,
}

fn focused(harness: &Harness<'_, Window>) -> Option<Stop> {
    let id = harness.ctx.memory(|memory| memory.focused())?;
    let rect = harness.ctx.read_response(id)?.interact_rect;
    Some(Stop { id, rect })
}

/// The stops of Tab, until the first one comes again.
fn stops(harness: &mut Harness<'_, Window>, modifiers: Modifiers) -> Result<Vec<Stop>, String> {
    let mut stops: Vec<Stop> = Vec::new();
    let mut without = 0;
    let (mut moved, mut again) = (false, 0);
    for _ in 0..600 {
        if !moved {
            harness.key_press_modifiers(modifiers, Key::Tab);
        }
        // The press, its release, and the frame after which the focus may scroll.
        harness.step();
        moved = false;
        let Some(stop) = focused(harness) else {
            without += 1;
            if without > 2 {
                let last = stops.last().map(|it| name_of(harness, it));
                return Err(format!("Tab loses the focus after {last:?}"));
            }
            // Backwards, egui moves the focus a frame later.
            moved = modifiers.shift;
            continue;
        };
        without = 0;
        if stops.last().is_some_and(|last| last.id == stop.id) {
            again += 1;
            if again > 3 && stops.len() == 1 {
                return Ok(stops);
            }
            continue;
        }
        again = 0;
        if stops.first().is_some_and(|first| first.id == stop.id) {
            return Ok(stops);
        }
        if stops.iter().any(|it| it.id == stop.id) {
            return Err(format!("Tab is trapped at {}", name_of(harness, &stop)));
        }
        // What gets the focus out of sight is scrolled to in the next frames.
        if !stop.rect.is_positive() {
            harness.run_steps(2);
        }
        stops.push(focused(harness).filter(|it| it.id == stop.id).unwrap_or(stop));
    }
    Err(format!("Tab does not come around: {} stops", stops.len()))
}

fn name_of(harness: &mut Harness<'_, Window>, stop: &Stop) -> String {
    let tree = Tree::of(harness);
    let id = stop.id.accesskit_id();
    let role = tree.nodes.get(&id).map(|it| it.role());
    format!("{role:?} {:?} at {}", tree.name(id), stop.rect.min)
}

/// A scene of each page and of each kind of dialog.
const PAGES: [&str; 26] = [
    "plan",
    "authorized",
    "dialog",
    "dangerous",
    "guided",
    "completed",
    "empty",
    "returning",
    "inbox",
    "queue",
    "evidence",
    "execution",
    "authorize",
    "reject",
    "fill-in",
    "purge",
    "settings",
    "help",
    "notices",
    "diagnostics",
    "answer",
    "agent",
    "loop",
    "loop-filled",
    "loop-completed",
    "command",
];

#[test]
fn tab_reaches_every_control_and_comes_around() {
    let mut faults = String::new();
    for name in PAGES {
        let mut harness = window(name, [1280.0, 800.0]);
        harness.run_steps(12);
        let forward = match stops(&mut harness, Modifiers::NONE) {
            Ok(stops) => stops,
            Err(fault) => {
                faults += &format!("{name}: {fault}\n");
                continue;
            }
        };
        let drawn = Tree::of(&mut harness);
        let screen = Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1280.0, 800.0));
        for stop in &forward {
            let is_row = drawn
                .nodes
                .get(&stop.id.accesskit_id())
                .is_none_or(|it| it.role() == egui::Role::ListBoxOption);
            if !is_row && (!screen.intersects(stop.rect) || !stop.rect.is_positive()) {
                faults += &format!("{name}: invisible {}\n", name_of(&mut harness, stop));
            }
        }
        if std::env::var_os("STOPS").is_some() {
            println!("{name}");
            for stop in &forward {
                println!("  {}", name_of(&mut harness, stop));
            }
        }
        let back = match stops(&mut harness, Modifiers::SHIFT) {
            Ok(stops) => stops,
            Err(fault) => {
                faults += &format!("{name}: backwards {fault}\n");
                continue;
            }
        };
        // Which rows of a long list are drawn depends on where it was scrolled to.
        let tree = Tree::of(&mut harness);
        let is_row = |stop: &&Stop| {
            let node = tree.nodes.get(&stop.id.accesskit_id());
            node.is_none_or(|it| it.role() == egui::Role::ListBoxOption)
        };
        let mut ids: Vec<_> = back.iter().rev().filter(|it| !is_row(it)).map(|it| it.id).collect();
        let there: Vec<_> = forward.iter().filter(|it| !is_row(it)).map(|it| it.id).collect();
        if let Some(at) = ids.iter().position(|id| Some(id) == there.first()) {
            ids.rotate_left(at);
        }
        if ids != there {
            let mut names = |stops: &[Stop]| -> Vec<_> {
                stops.iter().map(|it| name_of(&mut harness, it)).collect()
            };
            let back: Vec<_> = back.iter().rev().cloned().collect();
            faults += &format!("{name}: {:?} is not {:?}\n", names(&back), names(&forward));
        }
    }
    assert!(faults.is_empty(), "{faults}");
}
