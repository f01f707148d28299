//! The one table of user commands: it feeds buttons, palette, help and keyboard ([`super::keys`]).

use egui::{Key, KeyboardShortcut, Modifiers, Ui};

use super::action::{Action, Page};
use super::icon::{self, Icon};
use super::widgets::{self, Look};

/// Something a person can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(test, derive(serde::Serialize))]
#[expect(missing_docs, reason = "each variant is described by its row in TABLE")]
pub enum Command {
    OpenPlan,
    OpenTour,
    Reload,
    Authorize,
    Reject,
    Run,
    RunAgain,
    ContinueFromHere,
    Reconcile,
    Pause,
    Resume,
    CancelAfterStep,
    StopNow,
    AnswerStep,
    NextStep,
    PreviousStep,
    FollowRun,
    CopyDigest,
    GoPlan,
    GoEvidence,
    FocusSearch,
    Verify,
    Palette,
    Settings,
    SwitchTheme,
    Help,
}

/// What decides whether a command can be given now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Situation {
    /// The page that is shown.
    pub page: Page,
    /// Whether a plan file is open.
    pub plan_open: bool,
    /// How many steps the open plan has.
    pub steps: usize,
    /// How many results the evidence page shows.
    pub results: usize,
    /// Why the plan cannot be authorized; none when it can.
    pub not_authorizable: Option<&'static str>,
    /// Whether an approval is waiting for its run.
    pub approved: bool,
    /// Whether the run that is shown is over, so that its plan can be run again.
    pub over: bool,
    /// Whether it left something undone.
    pub unfinished: bool,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// Whether a run is under way.
    pub running: bool,
    /// Whether it waits at a step boundary.
    pub paused: bool,
    /// Whether a pause, or an end after this step, was asked for already.
    pub requested: bool,
    /// The step that waits for an answer, counted from 0.
    pub asking: Option<usize>,
    /// Whether the list shows another step than the one under way.
    pub looking_elsewhere: bool,
}

/// One row of the table.
pub struct Spec {
    /// The command.
    pub command: Command,
    /// Its name on buttons and in lists.
    pub text: &'static str,
    /// What it does, as a sentence.
    pub tooltip: &'static str,
    /// The key that gives it; none where a slip would be costly.
    pub shortcut: Option<KeyboardShortcut>,
    /// Its icon.
    pub icon: Option<Icon>,
    /// Why it cannot be given now; none when it can.
    pub unavailable: fn(&Situation) -> Option<&'static str>,
}

const fn key(modifiers: Modifiers, key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(modifiers, key))
}

fn always(_: &Situation) -> Option<&'static str> {
    None
}

fn needs_plan(at: &Situation) -> Option<&'static str> {
    (!at.plan_open).then_some("Open a plan first.")
}

fn needs_rows(at: &Situation) -> Option<&'static str> {
    let rows = if at.page == Page::Plan { at.steps } else { at.results };
    (rows == 0).then_some("There is nothing to move between.")
}

fn needs_run(at: &Situation) -> Option<&'static str> {
    (!at.running).then_some("No run is under way.")
}

fn needs_end(at: &Situation, given: bool, why_not: &'static str) -> Option<&'static str> {
    at.running.then_some("A run is under way.").or((!given).then_some(why_not))
}

const SHIFT_COMMAND: Modifiers = Modifiers { shift: true, ..Modifiers::COMMAND };

/// Every command, in the order of the palette.
pub static TABLE: [Spec; 26] = [
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
        tooltip: "End the run at once, with every process it started.",
        shortcut: key(SHIFT_COMMAND, Key::Period),
        icon: Some(icon::STOP),
        unavailable: needs_run,
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
        tooltip: "Theme, size, and what you have settled in advance.",
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

impl Command {
    /// The command's row.
    pub fn spec(self) -> &'static Spec {
        // Every command has a row, which `the_table_has_one_row_for_each_command` checks.
        TABLE.iter().find(|spec| spec.command == self).unwrap_or(&TABLE[0])
    }
}

impl Spec {
    /// The key as the person's keyboard names it.
    pub fn key(&self, ui: &Ui) -> Option<String> {
        self.shortcut.map(|shortcut| ui.ctx().format_shortcut(&shortcut))
    }
}

/// A button for a command, with its tooltip and key; disabled with the reason.
pub fn command_button(
    ui: &mut Ui,
    command: Command,
    look: Look,
    text: Option<&str>,
    situation: &Situation,
    actions: &mut Vec<Action>,
) {
    let spec = command.spec();
    let why_not = (spec.unavailable)(situation);
    let text = text.unwrap_or(spec.text);
    let response = widgets::button(ui, look, spec.icon, text, why_not.is_none());
    if response.clicked() {
        actions.push(Action::Do(command));
    }
    let key = spec.key(ui).map(|key| format!(" ({key})")).unwrap_or_default();
    response
        .on_hover_text(format!("{}{key}", spec.tooltip))
        .on_disabled_hover_text(why_not.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_one_row_for_each_command() {
        for (index, spec) in TABLE.iter().enumerate() {
            assert_eq!(spec.command.spec().text, spec.text);
            assert_eq!(spec.command as usize, index, "rows stand in the order of the enum");
        }
        assert_eq!(TABLE.len(), Command::Help as usize + 1);
    }

    #[test]
    fn no_key_gives_two_commands() {
        let mut seen = std::collections::HashMap::new();
        for spec in &TABLE {
            if let Some(shortcut) = spec.shortcut {
                let first = seen.insert(format!("{shortcut:?}"), spec.text);
                assert_eq!(first, None, "{} and {first:?}", spec.text);
            }
        }
    }

    #[test]
    fn no_key_is_one_that_text_fields_live_on() {
        for spec in &TABLE {
            let Some(shortcut) = spec.shortcut else { continue };
            if shortcut.modifiers == Modifiers::COMMAND {
                assert!(
                    ![Key::C, Key::V, Key::X, Key::A, Key::Z].contains(&shortcut.logical_key),
                    "{}",
                    spec.text
                );
            }
        }
    }

    #[test]
    fn texts_read_alike() {
        for spec in &TABLE {
            assert!(spec.tooltip.ends_with('.'), "{}", spec.text);
            assert!(spec.text.chars().next().unwrap().is_uppercase(), "{}", spec.text);
        }
    }

    #[test]
    fn commands_can_be_given_only_when_they_mean_something() {
        let can = |command: Command, at: &Situation| (command.spec().unavailable)(at).is_none();
        let nothing = Situation::default();
        for command in [
            Command::Authorize,
            Command::Reject,
            Command::Run,
            Command::RunAgain,
            Command::ContinueFromHere,
            Command::Reconcile,
            Command::Pause,
            Command::Resume,
            Command::StopNow,
            Command::CancelAfterStep,
            Command::AnswerStep,
            Command::NextStep,
            Command::CopyDigest,
        ] {
            assert!(!can(command, &nothing), "{command:?}");
        }
        let open = Situation { plan_open: true, steps: 2, ..Situation::default() };
        assert!(can(Command::Authorize, &open) && !can(Command::Run, &open));
        let faulty = Situation { not_authorizable: Some("It has errors."), ..open.clone() };
        assert!(!can(Command::Authorize, &faulty));
        let approved = Situation { approved: true, ..open.clone() };
        assert!(can(Command::Run, &approved) && !can(Command::Authorize, &approved));
        let over = Situation { over: true, ..open.clone() };
        assert!(can(Command::RunAgain, &over) && !can(Command::ContinueFromHere, &over));
        let interrupted = Situation { unfinished: true, interrupted: true, ..over };
        assert!(can(Command::ContinueFromHere, &interrupted));
        assert!(can(Command::Reconcile, &interrupted));
        let busy = Situation { running: true, ..interrupted };
        assert!(!can(Command::RunAgain, &busy) && !can(Command::ContinueFromHere, &busy));
        let running = Situation { running: true, ..approved };
        assert!(can(Command::Pause, &running) && can(Command::StopNow, &running));
        assert!(!can(Command::Run, &running) && !can(Command::Resume, &running));
        let paused = Situation { paused: true, ..running };
        assert!(can(Command::Resume, &paused) && !can(Command::Pause, &paused));
    }
}
