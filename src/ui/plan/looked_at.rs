//! Which steps a person has looked at, so that nothing is authorized unseen.

use egui::{Context, Id};
use serde::{Deserialize, Serialize};

use super::PlanView;
use crate::plan::Digest;
use crate::ui::format;
use crate::ui::scroll::OnScreen;

/// The steps that must be looked at before a plan can be authorized; a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MustSee {
    /// None.
    Nothing,
    /// Those that ask, are dangerous, or start a process without walls.
    #[default]
    Careful,
    /// All.
    Everything,
}

/// The steps that must be looked at before the plan is authorized, and those that were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookedAt {
    /// For each step, whether it must be looked at.
    required: Vec<bool>,
    /// For each step, how much of it was shown.
    shown: Vec<OnScreen>,
    /// The number of steps that must be looked at and were not.
    pub missing: usize,
    /// The number of other steps that were not looked at.
    pub others: usize,
    /// The number of long steps of which only the beginning and the end were shown. They count as looked at.
    pub ends: usize,
}

impl LookedAt {
    /// For each step, whether it must be looked at, and how much of it was shown.
    pub fn new(required: Vec<bool>, shown: Vec<OnScreen>) -> Self {
        let unseen = || required.iter().zip(&shown).filter(|(_, shown)| **shown == OnScreen::Part);
        let missing = unseen().filter(|(required, _)| **required).count();
        let ends = shown.iter().filter(|shown| **shown == OnScreen::Ends).count();
        Self { missing, others: unseen().count() - missing, ends, required, shown }
    }

    /// Records how much of a step was shown, if it is more than before.
    pub fn mark(&mut self, index: usize, now: OnScreen) {
        let Some(shown) = self.shown.get_mut(index).filter(|shown| **shown < now) else { return };
        let before = std::mem::replace(shown, now);
        if before == OnScreen::Part {
            let required = self.required.get(index).copied().unwrap_or(false);
            *(if required { &mut self.missing } else { &mut self.others }) -= 1;
        } else {
            self.ends -= 1;
        }
        self.ends += usize::from(now == OnScreen::Ends);
    }

    /// Whether this is more of a step than was shown before, and enough to count as looked at.
    pub fn is_news(&self, index: usize, now: OnScreen) -> bool {
        now > OnScreen::Part && self.shown.get(index).is_some_and(|shown| *shown < now)
    }

    /// Whether only the beginning and the end of a long step were shown.
    pub fn has_ends_only(&self, index: usize) -> bool {
        self.shown.get(index) == Some(&OnScreen::Ends)
    }

    /// The first step after `after`, in a circle, that must be looked at and was not; if there is none, the first one
    /// that was not looked at.
    pub fn next(&self, after: usize) -> Option<usize> {
        let count = self.shown.len();
        let circle = || (1..=count).map(|by| (after + by) % count);
        circle().find(|index| self.misses(*index)).or_else(|| circle().find(|it| self.lacks(*it)))
    }

    /// Whether to go on with this step before any other: the rest of it must be looked at, or no other step must be.
    pub fn goes_on(&self, index: usize) -> bool {
        self.misses(index) || self.missing == 0 && self.lacks(index)
    }

    /// Whether it is known that a step was not shown to its end.
    pub fn lacks(&self, index: usize) -> bool {
        self.shown.get(index) == Some(&OnScreen::Part)
    }

    /// Whether a step must be looked at and was not.
    pub fn misses(&self, index: usize) -> bool {
        self.required.get(index).copied().unwrap_or(false) && self.lacks(index)
    }
}

/// Whether this part of the step was drawn in the frame before, too. A person can see it only once its frame is on the
/// screen, and the next frame may show another step.
pub(super) fn was_on_screen(ctx: &Context, shown: (Digest, usize, OnScreen)) -> bool {
    let id = Id::unique("what of a step was on screen");
    let frame = ctx.cumulative_frame_nr();
    let last = ctx.data(|data| data.get_temp::<((Digest, usize, OnScreen), u64)>(id));
    match last.filter(|(before, _)| *before == shown) {
        Some((_, drawn)) if drawn + 1 == frame => true,
        // One frame may be laid out twice.
        Some((_, drawn)) if drawn == frame => false,
        _ => {
            ctx.data_mut(|data| data.insert_temp(id, (shown, frame)));
            ctx.request_repaint();
            false
        }
    }
}

/// The steps that must still be looked at, `missing` in number; of the selected one, that its rest is missing.
pub(super) fn to_look_at(view: &PlanView<'_>, missing: usize) -> String {
    let (looked_at, selected) = (view.looked_at, view.selected);
    let number = selected + 1;
    match (missing, looked_at.misses(selected)) {
        (1, true) => format!("Step {number}: look at the rest of what it would do."),
        (_, true) => {
            let others = format::counted(missing - 1, "more step");
            format!("Look at the rest of step {number}, and at {others}.")
        }
        (1, false) => {
            let step = looked_at.next(selected).map_or(number, |next| next + 1);
            format!("Step {step} to look at first.")
        }
        (_, false) => format!("{} to look at first.", format::counted(missing, "step")),
    }
}

#[cfg(test)]
mod tests {
    use egui::Key;

    use super::*;
    use crate::ui::action::Tab;
    use crate::ui::plan::step_row;
    use crate::ui::tests::window;
    use crate::ui::{Action, PlanAction};

    fn as_shown(is_shown: bool) -> OnScreen {
        if is_shown { OnScreen::Whole } else { OnScreen::Part }
    }

    /// The end of a long difference is not all of it.
    #[test]
    fn a_step_is_looked_at_once_all_of_it_was_on_screen() {
        let mut harness = window("unseen", [1280.0, 800.0]);
        let lines = "a line of the file\n".repeat(200);
        harness.state_mut().scene.show_contents(&lines, Tab::WillDo);
        harness.run_ok();
        harness.state_mut().actions.clear();
        let looked_at = |actions: &[Action]| {
            let is = |it: &Action| matches!(it, Action::Plan(PlanAction::LookedAt(..)));
            actions.iter().any(is)
        };
        for key in [Key::End, Key::Home, Key::PageDown] {
            harness.key_press(key);
            harness.run_ok();
            assert!(!looked_at(&harness.state().actions), "{key:?}");
        }
        for _ in 0..10 {
            harness.key_press(Key::PageDown);
            harness.run_ok();
        }
        assert!(looked_at(&harness.state().actions));
    }

    /// The command that goes on shows the rest of the selected step page by page, until it counts as looked at.
    #[test]
    fn going_on_scrolls_to_the_rest_of_the_selected_step() {
        for (size, lines) in [([1280.0, 800.0], 60), ([900.0, 600.0], 200)] {
            let mut harness = window("unseen", size);
            let text = "a line of the file that is long enough to wrap once\n".repeat(lines);
            harness.state_mut().scene.show_contents(&text, Tab::WillDo);
            harness.run_ok();
            let misses = |harness: &egui_kittest::Harness<'_, crate::ui::tests::Window>| {
                harness.state().scene.view().plan.unwrap().looked_at.misses(4)
            };
            assert!(misses(&harness));
            let detail = |harness: &egui_kittest::Harness<'_, crate::ui::tests::Window>| {
                let scene = &harness.state().scene;
                let view = scene.view();
                crate::ui::plan::bar(view.plan.as_ref().unwrap(), &view.situation).detail
            };
            // In the small window the third step was not seen, either.
            let names_rest = |detail: String| {
                detail == "Step 5: look at the rest of what it would do."
                    || detail == "Look at the rest of step 5, and at 1 more step."
            };
            assert!(names_rest(detail(&harness)));
            let mut presses = 0;
            while misses(&harness) {
                presses += 1;
                assert!(presses < 40, "it never counts as looked at");
                harness.key_press(Key::F4);
                harness.run_ok();
            }
            assert!(presses > 1, "each press shows a page");
            assert!(!names_rest(detail(&harness)));
        }
    }

    /// The differences of many files are shown in parts. Going on shows the next part, too.
    #[test]
    fn going_on_leads_through_many_files() {
        let mut harness = window("unseen", [1280.0, 800.0]);
        harness.state_mut().scene.show_contents("a line of the file\n", Tab::WillDo);
        harness.state_mut().scene.repeat_change(120);
        harness.run_ok();
        let mut presses = 0;
        while harness.state().scene.view().plan.unwrap().looked_at.misses(4) {
            presses += 1;
            assert!(presses < 60, "it never counts as looked at");
            harness.key_press(Key::F4);
            harness.run_ok();
        }
        assert!(presses > 10, "{presses}");
    }

    /// Above a length that people scroll through, the beginning and the end are enough, and the list and the bar say so.
    #[test]
    fn a_long_step_of_which_only_the_ends_were_shown_says_so() {
        let mut harness = window("unseen", [1280.0, 800.0]);
        harness.state_mut().scene.show_contents(&"a line of the file\n".repeat(4_000), Tab::WillDo);
        harness.run_ok();
        harness.state_mut().actions.clear();
        harness.key_press(Key::End);
        harness.run_ok();
        let actions = &harness.state().actions;
        let shown = actions.iter().find_map(|it| match it {
            Action::Plan(PlanAction::LookedAt(_, shown)) => Some(*shown),
            _ => None,
        });
        assert_eq!(shown, Some(OnScreen::Ends));
        harness.run_ok();
        let view = harness.state().scene.view();
        let row = step_row(view.plan.as_ref().unwrap(), 4).unwrap();
        assert!(row.detail.contains("only its beginning and end were shown"), "{}", row.detail);
    }

    #[test]
    fn the_ends_of_a_step_count_until_all_of_it_was_shown() {
        let mut looked_at = LookedAt::new(vec![true, false], vec![OnScreen::Part, OnScreen::Ends]);
        assert!(looked_at.has_ends_only(1) && !looked_at.has_ends_only(0));
        looked_at.mark(0, OnScreen::Ends);
        assert_eq!((looked_at.missing, looked_at.ends), (0, 2));
        assert!(!looked_at.is_news(0, OnScreen::Ends) && looked_at.is_news(0, OnScreen::Whole));
        looked_at.mark(0, OnScreen::Whole);
        looked_at.mark(0, OnScreen::Ends);
        assert_eq!((looked_at.missing, looked_at.others, looked_at.ends), (0, 0, 1));
    }

    #[test]
    fn the_next_step_is_a_required_one_first() {
        let required = vec![false, true, false, true];
        let mut looked_at =
            LookedAt::new(required, [true, false, false, false].map(as_shown).to_vec());
        assert_eq!((looked_at.missing, looked_at.others), (2, 1));
        let next = [0, 1, 3].map(|after| looked_at.next(after));
        assert_eq!(next, [Some(1), Some(3), Some(1)]);
        for index in [1, 3, 3] {
            looked_at.mark(index, OnScreen::Whole);
        }
        assert_eq!((looked_at.missing, looked_at.others, looked_at.next(3)), (0, 1, Some(2)));
        looked_at.mark(2, OnScreen::Whole);
        assert_eq!((looked_at.others, looked_at.next(0)), (0, None));
        assert_eq!(LookedAt::default().next(0), None);
    }
}
