//! The user commands. Buttons, the palette, the help and the keyboard ([`super::keys`]) use the same table.

use egui::{KeyboardShortcut, Ui};

use super::access::Reason as _;
use super::plan::RuleOffer;
use super::{Action, Icon, Look, Page, widgets};

mod agent;
mod area;
mod needs;
mod shortcuts;
mod spec;
mod table;

pub use area::Area;
pub use needs::RUNS_ELSEWHERE;
pub(in crate::ui) use shortcuts::bound;
pub use shortcuts::{pressed_keys, set_shortcuts, shortcut_of, shortcuts};
pub use table::TABLE;

/// A user command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(test, derive(serde::Serialize))]
#[expect(missing_docs, reason = "each variant is described by its row in TABLE")]
pub enum Command {
    OpenPlan,
    PastePlan,
    OpenTour,
    TourGuide,
    ExampleCommands,
    ExampleActions,
    ExampleLoop,
    Reload,
    Simulate,
    TryHost,
    StopTrying,
    FillIn,
    Authorize,
    Reject,
    AskForSignature,
    SignRequest,
    RefuseRequest,
    SaveAnswer,
    Run,
    Enqueue,
    Unqueue,
    RunEarlier,
    RunLater,
    EmptyQueue,
    GoOnQueue,
    RunAgain,
    ContinueFromHere,
    RollBack,
    Revert,
    Reconcile,
    Pause,
    Resume,
    GoOnGuided,
    CancelAfterStep,
    StopNow,
    AnswerStep,
    NextStep,
    PreviousStep,
    NextUnseen,
    NextChange,
    PreviousChange,
    Find,
    FollowRun,
    ToggleOutput,
    TypeInTerminal,
    CopyDigest,
    SavePlanAs,
    EditArguments,
    LeaveOutStep,
    MarkStep,
    ChooseLines,
    ListChanges,
    DiscardRevision,
    PinPlan,
    ForgetPlan,
    NextPlan,
    PreviousPlan,
    ClosePlan,
    OpenWaiting,
    RemoveFromInbox,
    RemoveDecided,
    GoPlan,
    GoEvidence,
    GoDiagnostics,
    GoLoop,
    GoAgent,
    GoBack,
    GoForward,
    NewLoop,
    StartLoop,
    OpenAttempt,
    LoopAgain,
    RevertLoop,
    NewAgent,
    StartAgent,
    StopAgent,
    AllowIdentical,
    FilterDiagnostics,
    PlanSuggestion,
    OpenInEditor,
    CopyDiagnostic,
    CopyDiagnostics,
    FocusSearch,
    SaveSearch,
    SwitchEvidence,
    Verify,
    Export,
    Purge,
    Palette,
    Settings,
    SwitchTheme,
    BugReport,
    Help,
}

/// The state that determines which commands are available.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Situation {
    /// The page that is shown.
    pub page: Page,
    /// Whether the tour was opened in this window.
    pub tour: bool,
    /// Whether a plan or a recorded run is shown.
    pub plan_open: bool,
    /// The number of steps of the shown plan.
    pub steps: usize,
    /// The number of search results on the evidence page.
    pub results: usize,
    /// Whether the settings name the server of a team.
    pub team_set: bool,
    /// Whether the evidence page shows the evidence of the team.
    pub team_shown: bool,
    /// Whether the search of the evidence page is empty, or one that is always offered.
    pub search_offered: bool,
    /// Why nothing of the evidence can be exported; `None` when something can.
    pub not_exportable: Option<&'static str>,
    /// The number of diagnostics on the diagnostics page.
    pub diagnostics: usize,
    /// The number of picked suggestions of the selected diagnostic.
    pub suggestions: usize,
    /// Whether a step of the plan was not looked at.
    pub unseen: bool,
    /// Whether the plan can be authorized once the steps that matter were looked at.
    pub look_first: bool,
    /// Why the plan cannot be authorized; `None` when it can.
    pub not_authorizable: Option<&'static str>,
    /// Whether the plan lacks nothing but signatures of other persons before it can be authorized.
    pub lacks_signatures: bool,
    /// Why nobody can be asked for a signature under the plan; `None` when somebody can.
    pub not_askable: Option<&'static str>,
    /// Whether a request for the person's signature is shown. Nothing of its plan runs here.
    pub asked: bool,
    /// Why the request cannot be signed; `None` when it can.
    pub not_signable: Option<&'static str>,
    /// Why the request cannot be refused; `None` when it can.
    pub not_refusable: Option<&'static str>,
    /// Whether the person has signed or refused the request.
    pub answered: bool,
    /// Why the plan cannot be rejected; `None` when it can.
    pub not_rejectable: Option<&'static str>,
    /// Why the plan cannot be filled in; `None` when it can.
    pub not_fillable: Option<&'static str>,
    /// Whether the plan lacks nothing but inputs before it can be authorized.
    pub lacks_inputs: bool,
    /// Why the plan cannot be simulated; `None` when it can.
    pub not_simulatable: Option<&'static str>,
    /// Why the plan cannot be changed before it is decided about; `None` when it can.
    pub not_revisable: Option<&'static str>,
    /// Whether the plan is a revision of a file.
    pub revised: bool,
    /// Why no lines can be chosen of what the selected step changes; `None` when they can.
    pub no_lines: Option<&'static str>,
    /// Whether the shown plan is authorized and has not been run.
    pub approved: bool,
    /// Whether the shown run is over, so that its plan can be run again.
    pub over: bool,
    /// Whether the shown run is over and did not complete.
    pub unfinished: bool,
    /// Whether the shown plan names another host for its commands.
    pub remote: bool,
    /// Whether a connection to a host is being tested.
    pub testing_connection: bool,
    /// Whether the shown plan runs on several hosts.
    pub on_hosts: bool,
    /// Whether the shown plan has rollback commands.
    pub way_back: bool,
    /// Whether the shown run is over and may have changed files.
    pub changed_files: bool,
    /// Whether the shown run was interrupted during a step.
    pub interrupted: bool,
    /// Whether a run is under way in this window.
    pub running: bool,
    /// Whether the shown run is under way in another window or command, so that nothing here controls it.
    pub runs_elsewhere: bool,
    /// Whether the run waits between two steps.
    pub paused: bool,
    /// Whether the run can become guided: it runs commands, and not every step asks yet.
    pub automatic: bool,
    /// Whether a pause or an end after this step was already requested.
    pub requested: bool,
    /// The step that waits for confirmation, counted from 0.
    pub asking: Option<usize>,
    /// Whether the current step of the shown run has a terminal.
    pub terminal: bool,
    /// The number of plans in the inbox that wait for the person.
    pub inbox_waiting: usize,
    /// Whether the shown plan is in the inbox.
    pub in_inbox: bool,
    /// Whether the inbox has plans that were decided about.
    pub inbox_decided: bool,
    /// The number of plans that are open in the window.
    pub open_plans: usize,
    /// The place of the shown plan in the queue, from 0; `None` if it is not queued.
    pub queue_place: Option<usize>,
    /// The number of plans in the queue.
    pub queued: usize,
    /// Whether the queue does not go on by itself.
    pub queue_held: bool,
    /// Whether there is a place to go back to.
    pub can_go_back: bool,
    /// Whether there is a place to go forward to.
    pub can_go_forward: bool,
    /// Whether a bounded loop is under way.
    pub looping: bool,
    /// Whether the plan of an attempt waits for authorization.
    pub attempt_waits: bool,
    /// Whether the loop page has the form of a new loop; true even while another page is shown.
    pub loop_form: bool,
    /// What has to be entered in that form before a loop can start; `None` when nothing is missing.
    pub form_lacks: Option<&'static str>,
    /// Why no loop can start with the folders of that form; `None` when one can.
    pub folders_unusable: Option<&'static str>,
    /// Whether a loop is shown that is over and whose plans may have changed files.
    pub loop_changed_files: bool,
    /// Whether an agent works in this window.
    pub agent_works: bool,
    /// Whether the page of agents has the form of a session; true even while another page is shown.
    pub agent_form: bool,
    /// What has to be entered in that form; `None` when nothing is missing.
    pub agent_lacks: Option<&'static str>,
    /// Whether a rule for calls identical with the shown one can be made; `None` if none is offered.
    pub rule: Option<RuleOffer>,
    /// Whether the current step of the run is not shown, because another page, plan or step is.
    pub current_step_hidden: bool,
}

/// A row of the command table.
#[derive(Clone, Copy)]
pub struct Spec {
    /// The command.
    pub command: Command,
    /// The text of the command on buttons and in lists.
    pub text: &'static str,
    /// The effect of the command, as a sentence.
    pub tooltip: &'static str,
    /// The usual key of the command; `None` if an accidental press would be costly. The person may choose another one:
    /// [`Spec::keys`].
    pub shortcut: Option<KeyboardShortcut>,
    /// The icon of the command.
    pub icon: Option<Icon>,
    /// Why the command is not available now; `None` if it is.
    pub unavailable: fn(&Situation) -> Option<&'static str>,
}

impl Command {
    /// The command's row.
    pub fn spec(self) -> &'static Spec {
        // Every command has a row; the test `the_table_has_one_row_for_each_command` checks this.
        TABLE.iter().find(|spec| spec.command == self).unwrap_or(&TABLE[0])
    }
}

impl Spec {
    /// The key combination, with the names of this platform.
    pub fn shortcut_text(&self, ui: &Ui) -> Option<String> {
        Some(shortcut_text(ui, &self.keys(ui.ctx())?))
    }

    /// The tooltip, followed by the key if there is one.
    pub fn tooltip_text(&self, ui: &Ui) -> String {
        let key = self.shortcut_text(ui).map(|key| format!(" ({key})")).unwrap_or_default();
        format!("{}{key}", self.tooltip)
    }
}

/// Keys with the names of this platform.
pub fn shortcut_text(ui: &Ui, shortcut: &KeyboardShortcut) -> String {
    let (text, key) = (ui.ctx().format_shortcut(shortcut), shortcut.logical_key);
    // egui spells the name of a sign, such as Period.
    let sign = Some(key.symbol_or_name()).filter(|sign| sign.len() == 1);
    match (sign, text.strip_suffix(key.name())) {
        (Some(sign), Some(modifiers)) => format!("{modifiers}{sign}"),
        _ => text,
    }
}

/// What the person can do in this frame, and has done.
#[derive(Debug)]
pub struct Commands<'a> {
    /// The state that determines which commands are available.
    pub situation: &'a Situation,
    /// The actions of the person.
    pub actions: &'a mut Vec<Action>,
}

impl Commands<'_> {
    /// A button for a command, with its tooltip and key. An unavailable command is disabled and shows the reason.
    pub fn button(&mut self, ui: &mut Ui, command: Command, look: Look, text: Option<&str>) {
        let spec = command.spec();
        let why_not = (spec.unavailable)(self.situation);
        let text = text.unwrap_or(spec.text);
        let response = widgets::button(ui, look, spec.icon, text, why_not.is_none());
        if response.clicked() {
            self.actions.push(Action::Do(command));
        }
        response.on_hover_text(spec.tooltip_text(ui)).or_why(why_not.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers};

    use super::*;
    use crate::run::Outcome;
    use crate::ui::icon;
    use crate::ui::plan::outcome_look;

    #[test]
    fn the_table_has_one_row_for_each_command() {
        for (index, spec) in TABLE.iter().enumerate() {
            assert_eq!(spec.command.spec().text, spec.text);
            assert_eq!(spec.command as usize, index, "rows are in the order of the enum");
        }
        assert_eq!(TABLE.len(), Command::Help as usize + 1);
    }

    /// Commands that do the same to different things share an icon; any other two have different ones.
    #[test]
    fn only_commands_of_one_kind_share_an_icon() {
        use Command::*;
        const KINDS: [&[Command]; 16] = [
            &[SavePlanAs, SaveAnswer],
            &[AskForSignature, OpenWaiting],
            &[Authorize, SignRequest],
            &[Reject, RefuseRequest],
            &[ExampleCommands, ToggleOutput, TypeInTerminal],
            &[OpenTour, PinPlan, SaveSearch],
            &[ExampleLoop, GoLoop],
            &[GoAgent, NewAgent],
            &[RunAgain, LoopAgain],
            &[StopTrying, StopNow, StopAgent],
            &[Run, ContinueFromHere, Resume, StartLoop, StartAgent],
            &[Revert, RevertLoop],
            &[NextUnseen, NextChange],
            &[Find, FilterDiagnostics, FocusSearch, Palette],
            &[CopyDigest, CopyDiagnostic, CopyDiagnostics, BugReport],
            &[GoPlan, OpenAttempt, PlanSuggestion],
        ];
        let kind = |command: Command| KINDS.iter().position(|kind| kind.contains(&command));
        for (index, spec) in TABLE.iter().enumerate() {
            for other in TABLE.iter().skip(index + 1) {
                let of_one_kind =
                    kind(spec.command).is_some() && kind(spec.command) == kind(other.command);
                let is_shared = spec.icon.is_some() && spec.icon == other.icon;
                assert!(!is_shared || of_one_kind, "{} and {}", spec.text, other.text);
            }
        }
    }

    /// The button that stops, beside the mark of what was stopped.
    #[test]
    fn stop_and_cancelled_have_icons_of_their_own() {
        let cancelled = outcome_look(Outcome::Cancelled).0;
        assert_ne!(Command::StopNow.spec().icon, Some(cancelled));
        // An empty square would look like an empty check box.
        const EMPTY_SQUARE: char = '\u{e45e}';
        assert!(![icon::STOP.0, cancelled.0].contains(&EMPTY_SQUARE));
    }

    #[test]
    fn tooltips_name_a_key_only_if_bound() {
        egui::__run_test_ui(|ui| {
            for spec in &TABLE {
                let text = spec.tooltip_text(ui);
                let key = spec.shortcut_text(ui).map(|key| format!(" ({key})"));
                assert_eq!(text, format!("{}{}", spec.tooltip, key.unwrap_or_default()));
                assert!(!text.contains("()"), "{text}");
            }
        });
        assert!(TABLE.iter().any(|spec| spec.shortcut.is_none()));
    }

    #[test]
    fn keys_of_signs_show_the_sign() {
        egui::__run_test_ui(|ui| {
            let text = |command: Command| command.spec().shortcut_text(ui).unwrap();
            assert_eq!(text(Command::StopNow), "Ctrl+Shift+.");
            assert_eq!(text(Command::Settings), "Ctrl+,");
            assert_eq!([text(Command::Palette), text(Command::NextStep)], ["Ctrl+K", "Down"]);
        });
    }

    #[test]
    fn each_shortcut_has_one_command() {
        let mut seen = std::collections::HashMap::new();
        for spec in &TABLE {
            if let Some(shortcut) = spec.shortcut {
                let first = seen.insert(format!("{shortcut:?}"), spec.text);
                assert_eq!(first, None, "{} and {first:?}", spec.text);
            }
        }
    }

    #[test]
    fn no_shortcut_takes_a_key_of_text_fields() {
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
    fn command_texts_have_one_style() {
        for spec in &TABLE {
            assert!(spec.tooltip.ends_with('.'), "{}", spec.text);
            assert!(spec.text.chars().next().unwrap().is_uppercase(), "{}", spec.text);
        }
    }

    #[test]
    fn commands_are_available_only_where_they_apply() {
        let can = |command: Command, situation: &Situation| {
            (command.spec().unavailable)(situation).is_none()
        };
        let nothing = Situation::default();
        for command in [
            Command::Authorize,
            Command::Reject,
            Command::Run,
            Command::RunAgain,
            Command::ContinueFromHere,
            Command::RollBack,
            Command::Revert,
            Command::Reconcile,
            Command::Pause,
            Command::Resume,
            Command::GoOnGuided,
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
        let elsewhere = Situation { page: Page::Evidence, ..open.clone() };
        assert!(!can(Command::Authorize, &elsewhere) && !can(Command::Reject, &elsewhere));
        assert!(!can(Command::TryHost, &open));
        let remote = Situation { remote: true, ..open.clone() };
        assert!(can(Command::TryHost, &remote) && !can(Command::StopTrying, &remote));
        let trying = Situation { testing_connection: true, ..remote };
        assert!(!can(Command::TryHost, &trying) && can(Command::StopTrying, &trying));
        let faulty = Situation { not_authorizable: Some("It has errors."), ..open.clone() };
        assert!(!can(Command::Authorize, &faulty));
        let approved = Situation { approved: true, ..open.clone() };
        assert!(can(Command::Run, &approved) && !can(Command::Authorize, &approved));
        let over = Situation { over: true, ..open.clone() };
        assert!(can(Command::RunAgain, &over) && !can(Command::ContinueFromHere, &over));
        assert!(!can(Command::Revert, &over));
        let changed = Situation { changed_files: true, ..over.clone() };
        assert!(can(Command::Revert, &changed));
        assert!(!can(Command::Revert, &Situation { running: true, ..changed }));
        let interrupted = Situation { unfinished: true, interrupted: true, ..over };
        assert!(can(Command::ContinueFromHere, &interrupted));
        let on_hosts = Situation { on_hosts: true, ..interrupted.clone() };
        assert!(!can(Command::ContinueFromHere, &on_hosts));
        assert!(can(Command::Reconcile, &interrupted));
        assert!(!can(Command::RollBack, &interrupted));
        assert!(can(Command::RollBack, &Situation { way_back: true, ..interrupted.clone() }));
        let busy = Situation { running: true, ..interrupted };
        assert!(!can(Command::RunAgain, &busy) && !can(Command::ContinueFromHere, &busy));
        let running = Situation { running: true, ..approved };
        assert!(can(Command::Pause, &running) && can(Command::StopNow, &running));
        assert!(!can(Command::Run, &running) && !can(Command::Resume, &running));
        assert!(can(Command::Enqueue, &running), "an authorized plan waits for its turn");
        let queued = Situation { queue_place: Some(0), queued: 1, ..running.clone() };
        assert!(!can(Command::Enqueue, &queued) && can(Command::Unqueue, &queued));
        assert!(!can(Command::RunEarlier, &queued) && !can(Command::RunLater, &queued));
        assert!(!can(Command::GoOnGuided, &running), "it has no commands, or is guided already");
        let automatic = Situation { automatic: true, ..running.clone() };
        assert!(can(Command::GoOnGuided, &automatic));
        let paused = Situation { paused: true, ..running };
        assert!(can(Command::Resume, &paused) && !can(Command::Pause, &paused));
    }
}
