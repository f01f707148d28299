//! The area that a command belongs to, by which the help groups the keys.

use super::Command;

/// An area of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is described by its title")]
pub enum Area {
    Plan,
    Run,
    Lists,
    Loop,
    Agent,
    Diagnostics,
    Evidence,
    Window,
}

impl Area {
    /// Every area, in the order of the help.
    pub const ALL: [Self; 8] = [
        Self::Plan,
        Self::Run,
        Self::Lists,
        Self::Loop,
        Self::Agent,
        Self::Diagnostics,
        Self::Evidence,
        Self::Window,
    ];

    /// The heading of its keys.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Plan => "Plan",
            Self::Run => "Run",
            Self::Lists => "Steps, results and changes",
            Self::Loop => "Loop",
            Self::Agent => "Agent",
            Self::Diagnostics => "Diagnostics",
            Self::Evidence => "Evidence",
            Self::Window => "Pages and window",
        }
    }
}

impl Command {
    /// The area of the command.
    pub const fn area(self) -> Area {
        match self {
            Self::OpenPlan
            | Self::PastePlan
            | Self::OpenTour
            | Self::TourGuide
            | Self::ExampleCommands
            | Self::ExampleActions
            | Self::ExampleLoop
            | Self::Reload
            | Self::Simulate
            | Self::TryHost
            | Self::StopTrying
            | Self::FillIn
            | Self::Authorize
            | Self::Reject
            | Self::AskForSignature
            | Self::SignRequest
            | Self::RefuseRequest
            | Self::SaveAnswer
            | Self::CopyDigest
            | Self::SavePlanAs
            | Self::EditArguments
            | Self::LeaveOutStep
            | Self::MarkStep
            | Self::ChooseLines
            | Self::ListChanges
            | Self::DiscardRevision
            | Self::PinPlan
            | Self::ForgetPlan
            | Self::NextPlan
            | Self::PreviousPlan
            | Self::ClosePlan
            | Self::OpenWaiting
            | Self::RemoveFromInbox
            | Self::RemoveDecided => Area::Plan,
            Self::Run
            | Self::Enqueue
            | Self::Unqueue
            | Self::RunEarlier
            | Self::RunLater
            | Self::EmptyQueue
            | Self::GoOnQueue
            | Self::RunAgain
            | Self::ContinueFromHere
            | Self::RollBack
            | Self::Revert
            | Self::Reconcile
            | Self::Pause
            | Self::Resume
            | Self::GoOnGuided
            | Self::CancelAfterStep
            | Self::StopNow
            | Self::AnswerStep
            | Self::FollowRun
            | Self::ToggleOutput
            | Self::TypeInTerminal => Area::Run,
            Self::NextStep
            | Self::PreviousStep
            | Self::NextUnseen
            | Self::NextChange
            | Self::PreviousChange
            | Self::Find => Area::Lists,
            Self::NewLoop
            | Self::StartLoop
            | Self::OpenAttempt
            | Self::LoopAgain
            | Self::RevertLoop => Area::Loop,
            Self::NewAgent | Self::StartAgent | Self::StopAgent | Self::AllowIdentical => {
                Area::Agent
            }
            Self::FilterDiagnostics
            | Self::PlanSuggestion
            | Self::OpenInEditor
            | Self::CopyDiagnostic
            | Self::CopyDiagnostics => Area::Diagnostics,
            Self::FocusSearch
            | Self::SaveSearch
            | Self::SwitchEvidence
            | Self::Verify
            | Self::Export
            | Self::Purge => Area::Evidence,
            Self::GoPlan
            | Self::GoEvidence
            | Self::GoDiagnostics
            | Self::GoLoop
            | Self::GoAgent
            | Self::GoBack
            | Self::GoForward
            | Self::Palette
            | Self::Settings
            | Self::SwitchTheme
            | Self::BugReport
            | Self::Help => Area::Window,
        }
    }
}
