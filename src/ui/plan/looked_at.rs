//! Which steps a person has looked at, so that nothing is authorized unseen.

use serde::{Deserialize, Serialize};

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
    /// For each step, whether it was shown to its end.
    shown: Vec<bool>,
    /// The number of steps that must be looked at and were not.
    pub missing: usize,
    /// The number of other steps that were not looked at.
    pub others: usize,
}

impl LookedAt {
    /// For each step, whether it must be looked at, and whether it was shown to its end.
    pub fn new(required: Vec<bool>, shown: Vec<bool>) -> Self {
        let unseen = || required.iter().zip(&shown).filter(|(_, shown)| !**shown);
        let missing = unseen().filter(|(required, _)| **required).count();
        Self { missing, others: unseen().count() - missing, required, shown }
    }

    /// Records that a step was shown to its end.
    pub fn mark(&mut self, index: usize) {
        if let Some(shown) = self.shown.get_mut(index)
            && !std::mem::replace(shown, true)
        {
            let required = self.required.get(index).copied().unwrap_or(false);
            *(if required { &mut self.missing } else { &mut self.others }) -= 1;
        }
    }

    /// The first step after `after`, in a circle, that must be looked at and was not; if there is none, the first one
    /// that was not looked at.
    pub fn next(&self, after: usize) -> Option<usize> {
        let count = self.shown.len();
        let circle = || (1..=count).map(|by| (after + by) % count);
        circle().find(|index| self.misses(*index)).or_else(|| circle().find(|it| self.lacks(*it)))
    }

    /// Whether it is known that a step was not shown to its end.
    pub fn lacks(&self, index: usize) -> bool {
        self.shown.get(index) == Some(&false)
    }

    /// Whether a step must be looked at and was not.
    pub fn misses(&self, index: usize) -> bool {
        self.required.get(index).copied().unwrap_or(false) && self.lacks(index)
    }
}

#[cfg(test)]
mod tests {
    use egui::Key;

    use super::*;
    use crate::ui::action::Tab;
    use crate::ui::tests::window;
    use crate::ui::{Action, PlanAction};

    /// The end of a long difference is not all of it.
    #[test]
    fn a_step_is_looked_at_once_all_of_it_was_on_screen() {
        let mut harness = window("unseen", [1280.0, 800.0]);
        let lines = "a line of the file\n".repeat(200);
        harness.state_mut().scene.show_contents(&lines, Tab::WillDo);
        harness.run_ok();
        harness.state_mut().actions.clear();
        let looked_at = |actions: &[Action]| {
            let is = |it: &Action| matches!(it, Action::Plan(PlanAction::LookedAt(_)));
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

    #[test]
    fn the_next_step_is_a_required_one_first() {
        let required = vec![false, true, false, true];
        let mut looked_at = LookedAt::new(required, vec![true, false, false, false]);
        assert_eq!((looked_at.missing, looked_at.others), (2, 1));
        let next = [0, 1, 3].map(|after| looked_at.next(after));
        assert_eq!(next, [Some(1), Some(3), Some(1)]);
        for index in [1, 3, 3] {
            looked_at.mark(index);
        }
        assert_eq!((looked_at.missing, looked_at.others, looked_at.next(3)), (0, 1, Some(2)));
        looked_at.mark(2);
        assert_eq!((looked_at.others, looked_at.next(0)), (0, None));
        assert_eq!(LookedAt::default().next(0), None);
    }
}
