//! What a person did, as the views report it. The window's glue turns each into effects.

use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use super::artifact::Shape;
use super::commands::Command;
use super::diagnostics::{Column, Facet, Place};
use super::loop_page::Form;
use crate::plan::Digest;
use crate::run::{Decision, Question, Way};

/// One of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Page {
    /// The open plan.
    #[default]
    Plan,
    /// The evidence log.
    Evidence,
    /// What the checks of the shown run found.
    Diagnostics,
    /// The bounded loop.
    Loop,
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
    Evidence,
}

/// Something a person did.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A command of the table, by button, key or palette.
    Do(Command),
    /// On the plan page.
    Plan(PlanAction),
    /// In a dialog.
    Dialog(DialogAction),
    /// On the evidence page.
    Evidence(EvidenceAction),
    /// On the diagnostics page.
    Diagnostics(DiagnosticsAction),
    /// On the page of the bounded loop.
    Loop(LoopAction),
    /// With an artifact.
    Artifact(ArtifactAction),
    /// Anywhere.
    Window(WindowAction),
}

/// Something a person did on the plan page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanAction {
    /// Open this plan file.
    Open(PathBuf),
    /// Show this recorded run.
    OpenRun(Uuid),
    /// Look at this step, counted from 0.
    SelectStep(usize),
    /// Show the steps again instead of what they would do together.
    CloseSimulation,
    /// Look at this side of the selected step.
    ShowTab(Tab),
    /// Copy everything that the run has printed, as far as it is shown.
    CopyOutput,
    /// Show the commands that the workspace names, to decide about them.
    LookAtCommands,
    /// Grant what the review proposes beyond the walls of the steps, or no longer.
    GrantProposed(bool),
    /// Grant what this plan is granted to every plan in its workspace, or nothing of that any more.
    RememberWalls(bool),
    /// Open the question about the plan again, with the network granted to every step.
    RunAgainWithNetwork,
    /// The same with writing to this path granted.
    RunAgainWithWrite(String),
    /// Bring the question of the step that waits to the front of everything else.
    AskInFront,
}

/// Something a person did in a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAction {
    /// Answer the step that the run waits for.
    Answer {
        /// The run that asked.
        run_id: Uuid,
        /// The step that asked, counted from 0.
        step_index: usize,
        /// The answer.
        decision: Decision,
    },
    /// Authorize the plan with this digest, as shown.
    Authorize(Digest),
    /// Reject the plan with this digest.
    Reject {
        /// The digest of the plan that was shown.
        digest: Digest,
        /// Why, in the person's words.
        reason: String,
    },
    /// Trust the commands of the workspace in the file with this digest, or no longer trust them.
    Trust {
        /// The digest of the file that was shown.
        digest: Digest,
        /// Whether they are trusted from now on.
        trusted: bool,
    },
    /// Close the dialog; nothing is decided.
    LeaveUndecided,
    /// Stop the run and close the window.
    StopAndClose,
}

/// Something a person did on the evidence page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceAction {
    /// The search box now reads so; search once typing pauses.
    Edit(String),
    /// Search for exactly this now.
    Search(String),
    /// Show one execution in full.
    Open(Uuid),
    /// Close it.
    CloseDetail,
    /// Compare the interrupted steps of this run with the disk.
    Reconcile(Uuid),
    /// Open the plan that brings the files of this run's interrupted steps somewhere.
    Settle(Uuid, Way),
    /// Open the plan that takes back what this execution changed.
    Revert(Uuid),
    /// Ask this, and show the answer in place of the search.
    Ask(Question),
    /// Go back from the answer to the search.
    CloseAnswer,
}

/// Something a person did on the diagnostics page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiagnosticsAction {
    /// Show the diagnostics of this step, from 0; none for the latest that has some.
    Show(Option<usize>),
    /// The filter field now reads so.
    Filter(String),
    /// Hide what is shown, or show what is hidden.
    Toggle(Facet),
    /// Sort by this column, or the other way round.
    SortBy(Column),
    /// Look at this one.
    Pick(Place),
}

/// Something a person did on the page of the bounded loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopAction {
    /// The form now reads so.
    Edit(Box<Form>),
    /// Choose a folder for a field of the form.
    PickFolder(FolderFor),
    /// Show the commands that the workspace of the form names, to decide about them.
    LookAtCommands,
    /// Show this loop.
    Show(Uuid),
    /// Unfold this attempt, or fold it.
    Unfold(u32, bool),
    /// Show the plan of this attempt on the plan page. Nothing is authorized by that.
    OpenAttempt(u32),
    /// Take back the class of plans that was authorized in advance.
    RevokeClass(Uuid),
}

/// What a folder is chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderFor {
    /// The plans that are replayed.
    Plans,
    /// The workspace of the loop.
    Workspace,
}

/// Something a person did with an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactAction {
    /// Have the whole of a content read and shown.
    Load {
        /// The content.
        digest: Digest,
        /// What it is expected to be.
        shape: Shape,
        /// Whether it is put on the clipboard as well.
        copy: bool,
    },
    /// Write a content to a file that the person chooses.
    Save {
        /// A name for it.
        name: String,
        /// The content.
        what: Saved,
    },
}

/// A content that is to be written to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// This text.
    Text(Arc<str>),
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// The content of the evidence with this digest.
    Kept {
        /// The content.
        digest: Digest,
        /// What it is expected to be.
        shape: Shape,
    },
}

/// Something a person did anywhere.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowAction {
    /// Show this page.
    Go(Page),
    /// Draw the page again that could not be drawn.
    TryAgain,
    /// Close this notice.
    DismissNotice(u64),
    /// Close the palette, the help or the settings.
    CloseOverlay,
    /// Use this theme.
    SetTheme(egui::ThemePreference),
    /// Use more contrast than usual, or not.
    SetHighContrast(bool),
    /// Use this zoom, 1 being the usual size.
    SetZoom(f32),
    /// Use this command to open files in an editor.
    SetEditor(String),
}
