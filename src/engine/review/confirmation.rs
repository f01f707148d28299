//! Decides before which steps a person is asked (SPEC §3, §7.1, §7.5).

use crate::authorization::StepWalls;
use crate::engine::walls;
use crate::plan::{Mode, Step};
use crate::risk::{Policy, RiskLevel, Verdict};

/// Why a person is asked before a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct ConfirmationReason {
    /// The reason as text.
    pub(in crate::engine) text: String,
    /// Whether missing walls are the only reason, and the risk is at most caution. A flag of the command line may
    /// answer such a question.
    pub(in crate::engine) unwalled: bool,
}

/// What makes a run ask before every step, whatever the step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) struct Asking {
    /// The person chose it for the run.
    pub(in crate::engine) by_choice: bool,
    /// The run is guided.
    pub(in crate::engine) guided: bool,
}

impl Asking {
    /// What applies to a run in this mode.
    pub(in crate::engine) fn of(policy: &Policy, mode: Mode) -> Self {
        Self { by_choice: policy.choices.ask_every_step, guided: mode == Mode::Guided }
    }

    /// What asks in front of everything else. If the run is guided, the card of each step is the question that the
    /// person chose to be asked, so that the choice asks no second one.
    pub(in crate::engine) const fn without_cards(self) -> Self {
        Self { by_choice: self.by_choice && !self.guided, guided: false }
    }
}

/// Why a person is asked before this step; `None` if nobody is asked. `walls` are those of the step, if it has any.
pub(in crate::engine) fn confirmation_reason(
    step: &Step,
    risk: &Verdict,
    policy: &Policy,
    asking: Asking,
    walls: Option<&StepWalls>,
) -> Option<ConfirmationReason> {
    let because = |text: String| Some(ConfirmationReason { text, unwalled: false });
    if risk.level >= RiskLevel::Dangerous {
        return because(format!("The step is {}.", risk.level.as_str()));
    }
    if step.requires_confirmation {
        return because("The plan asks for it.".to_owned());
    }
    if asking.by_choice {
        return because("You chose to be asked before every step.".to_owned());
    }
    if asking.guided {
        return because("In guided mode each step waits for you.".to_owned());
    }
    let tool = step.call.tool();
    if policy.confirm_tools.contains(&tool) {
        return because(format!("Your settings ask before every {}.", tool.name()));
    }
    let text = walls::confirmation_reason(risk, walls, policy)?;
    Some(ConfirmationReason { text: text.to_owned(), unwalled: true })
}
