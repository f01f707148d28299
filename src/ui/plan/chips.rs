//! The effects of a plan as chips below its name.

use super::{PlanView, previewed, walls};
use crate::plan::{Mode, ShownPlan, ToolClass, prose, visible_name};
use crate::risk::RiskLevel;
use crate::run::Review;
use crate::ui::{Chip, Icon, Tone, format, icon};

/// The icon of a risk.
pub(crate) fn risk_icon(level: RiskLevel) -> Icon {
    match level {
        RiskLevel::Safe => icon::SHIELD_CHECK,
        RiskLevel::Caution => icon::WARNING,
        RiskLevel::Dangerous => icon::STOP_SIGN,
        RiskLevel::Blocked => icon::PROHIBIT,
    }
}

/// A risk as a chip.
pub(crate) fn risk_chip(level: RiskLevel) -> Chip {
    Chip::new(risk_icon(level), level.as_str(), level.into())
}

/// Step counts by kind, cached because counting in every frame would be slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepCounts {
    /// Steps without a valid call.
    pub(super) faulty: usize,
    /// Steps that change files.
    pub(super) changing: usize,
    /// Steps that run a command.
    pub(super) commands: usize,
}

impl StepCounts {
    /// Counts the steps of a plan.
    pub fn of(plan: &ShownPlan) -> Self {
        let calls = plan.steps.iter().filter_map(|step| step.call.as_ref());
        let of = |class| calls.clone().filter(move |call| call.class() == class).count();
        Self {
            faulty: plan.steps.iter().filter(|step| step.call.is_none()).count(),
            changing: of(ToolClass::Mutate),
            commands: of(ToolClass::Command),
        }
    }
}

/// The effects of a plan as chips; for a faulty plan, the number of faulty steps.
pub fn chips(view: &PlanView<'_>) -> Vec<Chip> {
    let mut chips = Vec::new();
    let faulty = view.step_counts.faulty;
    if faulty > 0 {
        let text = format!("{} faulty", format::counted(faulty, "step"));
        chips.push(
            Chip::new(icon::FAILED, text, Tone::Danger)
                .with_tooltip("What these steps would do is unknown. The findings say why."),
        );
        return chips;
    }
    let Some(review) = view.review else { return chips };
    if view.run.is_over() {
        return previewed::done_chips(view, review);
    }
    let impact = &review.impact;
    chips.push(previewed::planned_files_chip(view, impact));
    if !impact.hosts.is_empty() {
        let target = view.plan.and_then(|plan| plan.target.as_deref());
        let text = match target {
            Some(target) => format!("on {}", visible_name(target)),
            None => format::counted(impact.hosts.len(), "host"),
        };
        chips.push(
            Chip::new(icon::HOST, text, Tone::Caution).with_tooltip(visible_list(&impact.hosts)),
        );
    }
    if let Some(plan) = view.plan {
        chips.extend(notes_chips(plan));
    }
    chips.extend(worst_chip(review));
    chips.extend(review.walls.as_ref().and_then(walls::chip));
    let predicted = if view.run.has_begun() { 0 } else { review.preconditions.len() };
    let fails = (0..predicted).filter(|it| review.fails_precondition(*it));
    let fails: Vec<_> = fails.map(|index| (index + 1).to_string()).collect();
    if !fails.is_empty() {
        let text = match fails.len() {
            1 => "1 precondition fails".to_owned(),
            number => format!("{number} preconditions fail"),
        };
        let steps =
            format!("Does not hold now, and would stop the run: step {}.", fails.join(", "));
        chips.push(Chip::new(icon::WARNING, text, Tone::Danger).with_tooltip(steps));
    }
    if !view.run.has_begun() {
        chips.extend(previewed::chips(view.previewed));
    }
    chips.push(match impact.asks {
        0 => Chip::new(icon::HAND, "asks nothing", Tone::Dim)
            .with_tooltip("No step waits for your answer."),
        asks => Chip::new(icon::HAND, format!("asks you {asks}×"), Tone::Accent)
            .with_tooltip("This many steps wait for your answer before they run."),
    });
    chips.push(match view.agent_acts {
        true => Chip::new(icon::ROBOT, "done by the agent", Tone::Caution)
            .with_tooltip("The agent does it itself. The evidence keeps no old contents."),
        false => restorable_chip(impact.irreversible),
    });
    chips
}

/// The risk of the most dangerous step; `None` without steps.
pub(super) fn worst_chip(review: &Review) -> Option<Chip> {
    let worst = review.impact.worst?;
    let icon = risk_icon(worst);
    let chip = Chip::new(icon, format!("worst: {}", worst.as_str()), worst.into());
    Some(chip.with_tooltip("The most dangerous step of the plan."))
}

/// Whether the evidence can restore what the steps change.
/// `irreversible` is the number of steps for which that is not sure.
pub(super) fn restorable_chip(irreversible: usize) -> Chip {
    match irreversible {
        0 => Chip::new(icon::KEPT, "old contents kept", Tone::Safe)
            .with_tooltip("The evidence keeps what is needed to restore every file."),
        number => Chip::new(icon::WARNING, format!("{number} not restorable"), Tone::Caution)
            .with_tooltip("This many steps may change something that the evidence cannot restore."),
    }
}

/// Chips for the guided mode and the author's rollback commands, if the plan has them.
fn notes_chips(plan: &ShownPlan) -> Vec<Chip> {
    let mut chips = Vec::new();
    if plan.mode == Mode::Guided {
        chips.push(
            Chip::new(icon::GUIDED, "guided", Tone::Accent)
                .with_tooltip("You start each step, do it by hand, or leave it out."),
        );
    }
    let rollback = &plan.notes.rollback;
    if !rollback.is_empty() {
        let text = format!("rollback: {}", format::counted(rollback.len(), "command"));
        chips.push(Chip::new(icon::ROLL_BACK, text, Tone::Dim).with_tooltip(format!(
            "The author's commands to undo the plan. After a failure they are offered as a plan:\n{}",
            visible_list(rollback)
        )));
    }
    chips
}

pub(super) fn visible_list(items: &[String]) -> String {
    const MAX_SHOWN: usize = 30;
    let mut lines: Vec<_> =
        items.iter().take(MAX_SHOWN).map(|item| prose(item).into_owned()).collect();
    if items.len() > MAX_SHOWN {
        lines.push(format!("and {} more", items.len() - MAX_SHOWN));
    }
    lines.join("\n")
}
