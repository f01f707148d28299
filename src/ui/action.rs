//! The actions of a person, as reported by the views. The window code carries them out.

mod agent;
mod dialog;
mod evidence;
mod inputs;
mod revision;
mod settings;
mod waiting;

use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use super::Command;
use super::artifact::Shape;
use super::diagnostics::{Column, DiagnosticPosition, Facet};
use super::loop_page::LoopForm;
use super::plan::StepFilter;
use super::scroll::OnScreen;
use super::settings_page::RuleForm;
use crate::authorization::{HostChoice, WallSetting};
use crate::plan::{Digest, Mode};
use crate::run::{PurgeRule, TerminalSize};

pub use agent::AgentAction;
pub use dialog::DialogAction;
pub use evidence::{EvidenceAction, PlayerAction};
pub use inputs::FilledIn;
pub use revision::RevisionAction;
pub use settings::SettingsAction;
pub use waiting::{AgentsAction, InboxAction, QueueAction};

/// A page of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Page {
    /// The open plan.
    #[default]
    Plan,
    /// The evidence log.
    Evidence,
    /// The diagnostics of the shown run.
    Diagnostics,
    /// The bounded loop.
    Loop,
    /// A session with an agent.
    Agent,
    /// The settings.
    Settings,
}

/// A tab of the inspector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the tabs by their names")]
pub enum Tab {
    #[default]
    WillDo,
    Arguments,
    Output,
    Diagnostics,
    Artifacts,
    Hosts,
    Evidence,
}

/// A tab of an execution on the evidence page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the tabs by their names")]
pub enum RecordTab {
    #[default]
    Did,
    Why,
    Decisions,
    Record,
}

/// An action of the person.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A command of the table, given by button, key or palette.
    Do(Command),
    /// An action on the plan page.
    Plan(PlanAction),
    /// An action in a dialog.
    Dialog(DialogAction),
    /// An action on the evidence page.
    Evidence(EvidenceAction),
    /// An action on the diagnostics page.
    Diagnostics(DiagnosticsAction),
    /// An action on the page of the bounded loop.
    Loop(LoopAction),
    /// An action on the page of an agent.
    Agent(AgentAction),
    /// An action on an artifact.
    Artifact(ArtifactAction),
    /// An action on the settings page.
    Settings(SettingsAction),
    /// An action that every page allows.
    Window(WindowAction),
}

/// An action on the plan page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanAction {
    /// An action on the inbox.
    Inbox(InboxAction),
    /// An action on the sessions of agents.
    Agents(AgentsAction),
    /// Show this plan file, which is open in the window.
    ShowOpen(PathBuf),
    /// Close this plan file.
    CloseOpen(PathBuf),
    /// An action on the plans that wait for the worker.
    Queue(QueueAction),
    /// Open this plan file.
    Open(PathBuf),
    /// Show this recorded run.
    OpenRun(Uuid),
    /// Show this step, counted from 0, of this recorded run.
    OpenStepOfRun(Uuid, usize),
    /// Open the file of the rejected plan with this digest.
    OpenRejected(Digest),
    /// Select this step, counted from 0.
    SelectStep(usize),
    /// List the steps that this filter lets through.
    FilterSteps(StepFilter),
    /// List all steps, and close the bar above them.
    CloseFilter,
    /// Select the listed step this many rows below, and go on at the other end of the list.
    SelectListed(isize),
    /// This step was shown to its end.
    LookedAt(usize, OnScreen),
    /// Show the steps instead of the simulation.
    CloseSimulation,
    /// Show this tab of the selected step.
    ShowTab(Tab),
    /// Copy all output of the run that is still in memory.
    CopyOutput,
    /// Open the trust dialog for the commands of the workspace.
    ReviewCommands,
    /// Grant the steps everything that the review proposes beyond their walls, or withdraw these grants.
    GrantNeeds(bool),
    /// Open the dialog that asks whether to apply the grants of this plan to every plan in its workspace.
    AskToRememberWalls,
    /// Withdraw the grants for every plan in the workspace of this one.
    ForgetWalls,
    /// Open the authorization dialog again, with a further grant to every step: writing to this path, or for `None`
    /// the network.
    AuthorizeWithGrant(Option<String>),
    /// Open the dialog for the step that waits for a decision.
    OpenConfirmation,
    /// Choose where or how the plan runs. It is reviewed again at once.
    Choose(PlanChoice),
    /// An action on the terminal of the current step.
    Terminal(TerminalAction),
    /// Change the plan, or prepare that.
    Revise(RevisionAction),
}

/// A choice before the plan is authorized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChoice {
    /// Choose a folder in a folder dialog.
    PickFolder(PlanFolder),
    /// Use the default workspace of the plan.
    DefaultWorkspace,
    /// Run the commands there.
    Host(HostChoice),
    /// Run the commands in this mode; for `None` in the plan's.
    Mode(Option<Mode>),
    /// Ask before every step, or only where it is needed.
    AskEveryStep(bool),
    /// Use these walls; for `None` those of the settings.
    Walls(Option<WallSetting>),
    /// Grant every step the network, or withdraw that.
    Network(bool),
    /// Withdraw that every step may write this path.
    NotWritable(String),
}

/// The purpose of a folder that is chosen for a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFolder {
    /// The workspace.
    Workspace,
    /// A folder that every step may write.
    Writable,
}

/// An action on the terminal of the current step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalAction {
    /// Pass this to the program.
    Type(Typed),
    /// The terminal is drawn with this size.
    Resize(TerminalSize),
    /// Show earlier lines (positive) or later ones (negative).
    Scroll(i32),
}

/// What a person typed. It may be a secret, so it has no `Debug` form.
#[derive(Clone, PartialEq, Eq)]
pub struct Typed(pub Vec<u8>);

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Typed")
    }
}

/// An action on the diagnostics page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiagnosticsAction {
    /// Show the diagnostics of this step, counted from 0; `None` means the latest step that has some.
    Show(Option<usize>),
    /// The text of the filter field changed.
    Filter(String),
    /// Hide these diagnostics, or show them if they are hidden.
    Toggle(Facet),
    /// Sort by this column, or reverse the order if it is sorted by it already.
    SortBy(Column),
    /// Select this diagnostic.
    Select(DiagnosticPosition),
    /// Pick this suggestion of the selected diagnostic, or take it away if it is picked.
    Pick(usize),
}

/// An action on the page of the bounded loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopAction {
    /// The form changed to this.
    Edit(Box<LoopForm>),
    /// Choose a folder for a field of the form.
    PickFolder(FolderFor),
    /// Open the trust dialog for the commands of the workspace in the form.
    ReviewCommands,
    /// Show this loop.
    Show(Uuid),
    /// Expand or collapse this attempt.
    SetExpanded(u32, bool),
    /// Show the plan of this attempt on the plan page. This authorizes nothing.
    OpenAttempt(u32),
    /// The answer to the planner's question changed to this.
    EditAnswer(String),
    /// Give the planner the answer, or say that there is none. The loop then ends.
    AnswerPlanner {
        /// Whether there is an answer.
        answered: bool,
    },
    /// Revoke the class of plans that was authorized in advance.
    RevokeClass(Uuid),
}

/// The purpose of a folder dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderFor {
    /// The folder of the plans to replay.
    Plans,
    /// The workspace of the loop.
    Workspace,
    /// The workspace of an agent.
    Agent,
}

/// An action on an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactAction {
    /// Load the complete content and show it.
    Load {
        /// The digest of the content.
        digest: Digest,
        /// The expected shape.
        shape: Shape,
        /// Whether to copy it to the clipboard as well.
        copy: bool,
    },
    /// Write a content to a file that the person chooses.
    Save {
        /// The suggested file name.
        name: String,
        /// The content.
        content: SavedContent,
    },
}

/// The content to write to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedContent {
    /// This text.
    Text(Arc<str>),
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// A content stored in the evidence.
    Stored {
        /// The digest of the content.
        digest: Digest,
        /// The expected shape.
        shape: Shape,
    },
}

/// An action that every page allows.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowAction {
    /// Try again to draw the page that panicked.
    TryAgain,
    /// Close this notice.
    DismissNotice(u64),
    /// Pin the recent plan of this file, or no longer.
    PinRecent(PathBuf, bool),
    /// Remove the plan of this file from the recent plans.
    RemoveRecent(PathBuf),
    /// Save this search of the evidence, or remove it from the saved ones.
    ToggleSearch(String),
    /// Close the palette or the help.
    CloseOverlay,
    /// Open the help at the entry with this name.
    OpenHelp(String),
    /// Open the tour's second plan.
    OpenSecondPlan,
    /// Show the run of the tour's first plan.
    ShowFirstRun,
    /// Copy the shown bug report.
    CopyBugReport,
    /// Open the settings file in the person's editor, or show its folder.
    OpenSettingsFile,
    /// Open the dialog that purges the records of this run.
    AskToPurge(Uuid),
    /// Choose this rule in that dialog, and count what it takes.
    ChoosePurge(PurgeRule),
    /// Show the form for a rule with this content.
    EditRule(RuleForm),
    /// Close the form for a rule and forget its content.
    DropRule,
    /// Save the rule in the form.
    SaveRule,
    /// Remove the rule with this id from the settings file.
    RemoveRule(String),
    /// Put the rule with this id, which was removed since the settings were opened, back into the settings file.
    RestoreRule(String),
}
