//! The table of commands, with the text, the key and the availability of each.

use egui::{Key, KeyboardShortcut, Modifiers};

use super::{Command, Situation, Spec, looping};
use crate::ui::action::Page;
use crate::ui::icon;

pub(super) const fn key(modifiers: Modifiers, key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(modifiers, key))
}

pub(super) fn always(_: &Situation) -> Option<&'static str> {
    None
}

fn needs_plan(at: &Situation) -> Option<&'static str> {
    (!at.plan_open).then_some("Open a plan first.")
}

fn needs_rows(at: &Situation) -> Option<&'static str> {
    let rows = match at.page {
        Page::Plan => at.steps,
        Page::Evidence => at.results,
        Page::Diagnostics => at.diagnostics,
        Page::Loop => 0,
    };
    (rows == 0).then_some("There is nothing to move between.")
}

fn needs_diagnostics(at: &Situation) -> Option<&'static str> {
    let shown = at.page == Page::Diagnostics && at.diagnostics > 0;
    (!shown).then_some("The diagnostics page shows none.")
}

fn needs_run(at: &Situation) -> Option<&'static str> {
    (!at.running).then_some("No run is under way.")
}

fn needs_end(at: &Situation, given: bool, why_not: &'static str) -> Option<&'static str> {
    at.running.then_some("A run is under way.").or((!given).then_some(why_not))
}

const SHIFT_COMMAND: Modifiers = Modifiers { shift: true, ..Modifiers::COMMAND };

/// Every command, in the order of the palette.
pub static TABLE: [Spec; 43] = [
    Spec {
        command: Command::OpenPlan,
        text: "Open plan…",
        tooltip: "Choose a plan file. Nothing of it runs before you authorize it.",
        shortcut: key(Modifiers::COMMAND, Key::O),
        icon: Some(icon::OPEN),
        unavailable: always,
    },
    Spec {
        command: Command::OpenTour,
        text: "Open the tour",
        tooltip: "Try everything on a small workspace, copied to a temporary folder.",
        shortcut: None,
        icon: Some(icon::BOOKMARK),
        unavailable: always,
    },
    Spec {
        command: Command::Reload,
        text: "Review again",
        tooltip: "Read the plan file again and look at the workspace again.",
        shortcut: key(Modifiers::COMMAND, Key::R),
        icon: Some(icon::REVERT),
        unavailable: |at| needs_plan(at).or(at.running.then_some("A run is under way.")),
    },
    Spec {
        command: Command::Simulate,
        text: "Simulate",
        tooltip: "See what all steps would do together, as one difference. Nothing is run or changed.",
        shortcut: key(Modifiers::NONE, Key::F9),
        icon: Some(icon::DIFF),
        unavailable: |at| {
            needs_plan(at).or(at.running.then_some("A run is under way.")).or(at.not_simulatable)
        },
    },
    Spec {
        command: Command::TryHost,
        text: "Try the connection",
        tooltip: "Connect to the plan's host and tell how it answers. Nothing of the plan is sent.",
        shortcut: None,
        icon: Some(icon::TERMINAL),
        unavailable: |at| {
            needs_plan(at)
                .or((!at.remote).then_some("The plan runs on this computer."))
                .or(at.trying.then_some("The connection is being tried."))
        },
    },
    Spec {
        command: Command::StopTrying,
        text: "Stop trying",
        tooltip: "Do not wait for the host's answer any longer.",
        shortcut: None,
        icon: Some(icon::STOP),
        unavailable: |at| (!at.trying).then_some("No connection is being tried."),
    },
    Spec {
        command: Command::Authorize,
        text: "Authorize…",
        tooltip: "See exactly what an approval covers, then give it.",
        shortcut: key(Modifiers::COMMAND, Key::Enter),
        icon: Some(icon::SIGNATURE),
        unavailable: |at| {
            needs_plan(at)
                .or(at.not_authorizable)
                .or(at.approved.then_some("The plan is authorized already."))
        },
    },
    Spec {
        command: Command::Reject,
        text: "Reject…",
        tooltip: "Record that this plan must not run, and why.",
        shortcut: None,
        icon: Some(icon::PROHIBIT),
        unavailable: |at| needs_plan(at).or(at.not_authorizable),
    },
    Spec {
        command: Command::Run,
        text: "Run",
        tooltip: "Run the authorized plan, step by step.",
        shortcut: key(Modifiers::NONE, Key::F5),
        icon: Some(icon::PLAY),
        unavailable: |at| {
            if at.running {
                Some("A run is under way.")
            } else if at.looping {
                Some("A loop is under way.")
            } else {
                (!at.approved).then_some("The plan is not authorized.")
            }
        },
    },
    Spec {
        command: Command::RunAgain,
        text: "Run again…",
        tooltip: "Review the plan of this run as things are now, and authorize it anew.",
        shortcut: None,
        icon: Some(icon::REVERT),
        unavailable: |at| needs_end(at, at.over, "No ended run is shown."),
    },
    Spec {
        command: Command::ContinueFromHere,
        text: "Continue from here…",
        tooltip: "Make a plan of the steps that did not succeed. It is shown and authorized like any other.",
        shortcut: None,
        icon: Some(icon::SKIP),
        unavailable: |at| {
            needs_end(at, at.unfinished, "No run that left something undone is shown.")
        },
    },
    Spec {
        command: Command::RollBack,
        text: "Roll back…",
        tooltip: "Open the plan's rollback commands as a plan. It is shown and authorized like any other.",
        shortcut: None,
        icon: Some(icon::REVERT),
        unavailable: |at| {
            needs_end(at, at.unfinished, "No run that left something undone is shown.")
                .or((!at.way_back).then_some("The plan has no rollback commands."))
        },
    },
    Spec {
        command: Command::Revert,
        text: "Revert…",
        tooltip: "Make a plan that takes back what this run changed in files. It is shown and authorized like any other.",
        shortcut: key(SHIFT_COMMAND, Key::R),
        icon: Some(icon::REVERT),
        unavailable: |at| {
            needs_end(at, at.changed_files, "No ended run that changed files is shown.")
        },
    },
    Spec {
        command: Command::Reconcile,
        text: "Reconcile",
        tooltip: "Compare the files of the interrupted step with the disk, and record what is found. Changes nothing.",
        shortcut: None,
        icon: Some(icon::DIFF),
        unavailable: |at| needs_end(at, at.interrupted, "No interrupted run is shown."),
    },
    Spec {
        command: Command::Pause,
        text: "Pause",
        tooltip: "Wait before the next step.",
        shortcut: key(Modifiers::NONE, Key::F6),
        icon: Some(icon::PAUSE),
        unavailable: |at| {
            needs_run(at)
                .or(at.paused.then_some("The run is paused."))
                .or(at.requested.then_some("Already asked for."))
        },
    },
    Spec {
        command: Command::Resume,
        text: "Resume",
        tooltip: "Go on with the next step.",
        shortcut: key(Modifiers::NONE, Key::F7),
        icon: Some(icon::PLAY),
        unavailable: |at| (!at.paused).then_some("The run is not paused."),
    },
    Spec {
        command: Command::GoOnGuided,
        text: "Go on guided",
        tooltip: "From the next step on, wait for you at each one: run it, do it by hand, or skip it.",
        shortcut: None,
        icon: Some(icon::HAND),
        unavailable: |at| {
            needs_run(at).or((!at.automatic)
                .then_some("The run is guided already, or it is one of files and not of commands."))
        },
    },
    Spec {
        command: Command::CancelAfterStep,
        text: "Cancel after this step",
        tooltip: "Let the step under way end, then end the run.",
        shortcut: None,
        icon: Some(icon::SKIP),
        unavailable: |at| needs_run(at),
    },
    Spec {
        command: Command::StopNow,
        text: "Stop now",
        tooltip: "End the run or the loop at once, with every process it started.",
        shortcut: key(SHIFT_COMMAND, Key::Period),
        icon: Some(icon::STOP),
        unavailable: |at| (!at.running && !at.looping).then_some("Nothing is under way."),
    },
    Spec {
        command: Command::AnswerStep,
        text: "Answer step",
        tooltip: "The run waits for your answer to a step. Open the question again.",
        shortcut: key(Modifiers::NONE, Key::F8),
        icon: Some(icon::HAND),
        unavailable: |at| at.asking.is_none().then_some("No step waits for an answer."),
    },
    Spec {
        command: Command::NextStep,
        text: "Next step or result",
        tooltip: "Select the one below.",
        shortcut: key(Modifiers::NONE, Key::ArrowDown),
        icon: None,
        unavailable: needs_rows,
    },
    Spec {
        command: Command::PreviousStep,
        text: "Previous step or result",
        tooltip: "Select the one above.",
        shortcut: key(Modifiers::NONE, Key::ArrowUp),
        icon: None,
        unavailable: needs_rows,
    },
    Spec {
        command: Command::FollowRun,
        text: "Follow the run",
        tooltip: "Select the step under way, and go on doing so.",
        shortcut: key(Modifiers::COMMAND, Key::J),
        icon: None,
        unavailable: |at| {
            needs_run(at).or((!at.looking_elsewhere).then_some("The list follows the run."))
        },
    },
    Spec {
        command: Command::ToggleOutput,
        text: "Output",
        tooltip: "Show or hide everything that the run prints, below the steps.",
        shortcut: key(SHIFT_COMMAND, Key::O),
        icon: Some(icon::TERMINAL),
        unavailable: needs_plan,
    },
    Spec {
        command: Command::CopyDigest,
        text: "Copy plan digest",
        tooltip: "Copy the SHA-256 of the plan's exact bytes.",
        shortcut: key(SHIFT_COMMAND, Key::C),
        icon: Some(icon::COPY),
        unavailable: needs_plan,
    },
    Spec {
        command: Command::GoPlan,
        text: "Plan",
        tooltip: "Show the open plan.",
        shortcut: key(Modifiers::COMMAND, Key::Num1),
        icon: Some(icon::PLAN),
        unavailable: always,
    },
    Spec {
        command: Command::GoEvidence,
        text: "Evidence",
        tooltip: "Search everything that was ever run, asked and answered.",
        shortcut: key(Modifiers::COMMAND, Key::Num2),
        icon: Some(icon::DATABASE),
        unavailable: always,
    },
    Spec {
        command: Command::GoDiagnostics,
        text: "Diagnostics",
        tooltip: "Show what the checks of the run found in the code.",
        shortcut: key(Modifiers::COMMAND, Key::Num3),
        icon: Some(icon::CHECK),
        unavailable: always,
    },
    looping::GO,
    looping::NEW,
    looping::START,
    looping::OPEN_ATTEMPT,
    looping::AGAIN,
    Spec {
        command: Command::FilterDiagnostics,
        text: "Filter diagnostics",
        tooltip: "Go to the diagnostics and type what you look for.",
        shortcut: key(SHIFT_COMMAND, Key::F),
        icon: Some(icon::SEARCH),
        unavailable: always,
    },
    Spec {
        command: Command::OpenInEditor,
        text: "Open in editor",
        tooltip: "Show the place of the diagnostic in your editor, which the settings name.",
        shortcut: key(Modifiers::COMMAND, Key::E),
        icon: Some(icon::WRITE),
        unavailable: needs_diagnostics,
    },
    Spec {
        command: Command::CopyDiagnostic,
        text: "Copy diagnostic",
        tooltip: "Copy the compiler's text of the diagnostic.",
        shortcut: key(SHIFT_COMMAND, Key::D),
        icon: Some(icon::COPY),
        unavailable: needs_diagnostics,
    },
    Spec {
        command: Command::CopyDiagnostics,
        text: "Copy all diagnostics shown",
        tooltip: "Copy the compiler's text of every diagnostic in the table.",
        shortcut: None,
        icon: Some(icon::COPY),
        unavailable: needs_diagnostics,
    },
    Spec {
        command: Command::FocusSearch,
        text: "Search evidence",
        tooltip: "Go to the evidence and type what you look for.",
        shortcut: key(Modifiers::COMMAND, Key::F),
        icon: Some(icon::SEARCH),
        unavailable: always,
    },
    Spec {
        command: Command::Verify,
        text: "Verify evidence",
        tooltip: "Recompute the chain over every row and name the first one that differs.",
        shortcut: None,
        icon: Some(icon::SEAL),
        unavailable: always,
    },
    Spec {
        command: Command::Palette,
        text: "Commands",
        tooltip: "Find any command by its name.",
        shortcut: key(Modifiers::COMMAND, Key::K),
        icon: Some(icon::SEARCH),
        unavailable: always,
    },
    Spec {
        command: Command::Settings,
        text: "Settings…",
        tooltip: "Theme, contrast, size, editor, and the rules from the settings file.",
        shortcut: key(Modifiers::COMMAND, Key::Comma),
        icon: Some(icon::SETTINGS),
        unavailable: always,
    },
    Spec {
        command: Command::SwitchTheme,
        text: "Light or dark",
        tooltip: "Switch between the light and the dark theme.",
        shortcut: None,
        icon: Some(icon::SUN),
        unavailable: always,
    },
    Spec {
        command: Command::Help,
        text: "Keys and help",
        tooltip: "Every command with its key, and how the pieces fit together.",
        shortcut: key(Modifiers::NONE, Key::F1),
        icon: Some(icon::HELP),
        unavailable: always,
    },
];
