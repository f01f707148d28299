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

/// Why a person is asked before this step; `None` if nobody is asked. `walls` are those of the step, if it has any.
pub(in crate::engine) fn confirmation_reason(
    step: &Step,
    risk: &Verdict,
    policy: &Policy,
    mode: Mode,
    walls: Option<&StepWalls>,
) -> Option<ConfirmationReason> {
    let because = |text: String| Some(ConfirmationReason { text, unwalled: false });
    if risk.level >= RiskLevel::Dangerous {
        return because(format!("The step is {}.", risk.level.as_str()));
    }
    if step.requires_confirmation {
        return because("The plan asks for it.".to_owned());
    }
    if policy.choices.ask_every_step {
        return because("You chose to be asked before every step.".to_owned());
    }
    if mode == Mode::Guided {
        return because("In guided mode each step waits for you.".to_owned());
    }
    let tool = step.call.tool();
    if policy.confirm_tools.contains(&tool) {
        return because(format!("Your settings ask before every {}.", tool.name()));
    }
    let text = walls::confirmation_reason(risk, walls, policy)?;
    Some(ConfirmationReason { text: text.to_owned(), unwalled: true })
}
