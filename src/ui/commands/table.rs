//! The table of commands, with the text, the key and the availability of each.

use egui::{Key, Modifiers};

use super::needs::{
    ON_HOSTS, needs_diagnostics, needs_ended_run, needs_no_loop, needs_no_run, needs_own_evidence,
    needs_own_search, needs_plan, needs_plan_page, needs_plans, needs_queued, needs_revisable,
    needs_revision, needs_rows, needs_run, needs_team, needs_tour,
};
use super::{Command, RUNS_ELSEWHERE, Spec, agent};
use crate::ui::{Page, icon};

const SHIFT_COMMAND: Modifiers = Modifiers { shift: true, ..Modifiers::COMMAND };

/// Every command, in the order of [`Command`], which is also that of the palette.
pub static TABLE: [Spec; 93] = [
    Spec::new(Command::OpenPlan, "Open plan…", Some(icon::OPEN))
        .tooltip("Choose a plan file. Nothing of it runs before you authorize it.")
        .key(Modifiers::COMMAND, Key::O),
    // Without a key of its own: what is pasted with the usual one where no text is edited opens as a plan, too.
    Spec::new(Command::PastePlan, "Paste as plan", None)
        .tooltip("Open the text of the clipboard: a plan, a diff, a tool call, a runbook. It is kept in the inbox."),
    Spec::new(Command::OpenTour, "Open the tour", Some(icon::BOOKMARK))
        .tooltip("Try everything on a small workspace, copied to a temporary folder."),
    Spec::new(Command::TourGuide, "Show or hide the guide of the tour", None)
        .tooltip("A line at the top of the window that names the next thing to do in the tour.").unless(needs_tour),
    Spec::new(Command::ExampleCommands, "Example of commands", Some(icon::TERMINAL))
        .tooltip("Shell commands in a copied workspace: some only read, and one that deletes asks you."),
    Spec::new(Command::ExampleActions, "Example of actions", Some(icon::WRITE))
        .tooltip("Edits of several files in a copied workspace: all of them, or none."),
    Spec::new(Command::ExampleLoop, "Example of a loop", Some(icon::REPEAT))
        .tooltip("A goal in a copied workspace: the compiler proposes, you sign, and it is verified."),
    Spec::new(Command::Reload, "Review again", Some(icon::REVIEW))
        .tooltip("Read the plan file and check the workspace again.")
        .key(Modifiers::COMMAND, Key::R)
        .unless(|state| needs_plan(state).or(needs_no_run(state))),
    Spec::new(Command::Simulate, "Simulate", Some(icon::SIMULATE))
        .tooltip("Show what all steps would change together, as one diff. Nothing runs or changes.")
        .key(Modifiers::NONE, Key::F9)
        .unless(|state| needs_plan(state).or(needs_no_run(state)).or(state.not_simulatable)),
    Spec::new(Command::TryHost, "Try the connection", Some(icon::CONNECT))
        .tooltip("Connect to the plan's host and show how it answers. Nothing of the plan is sent.")
        .unless(|state| {
            needs_plan(state)
                .or(state.asked.then_some("It is a request of somebody else: nothing of it runs here."))
                .or((!state.remote).then_some("The plan runs on this computer."))
                .or(state.testing_connection.then_some("The connection is being tried."))
        }),
    Spec::new(Command::StopTrying, "Stop trying", Some(icon::STOP))
        .tooltip("Do not wait for the host's answer any longer.")
        .unless(|state| (!state.testing_connection).then_some("No connection is being tried.")),
    Spec::new(Command::FillIn, "Fill in…", Some(icon::FILE_TEXT))
        .tooltip("Give the plan values of its inputs. What becomes of it is reviewed.")
        .key(Modifiers::NONE, Key::F3)
        .unless(|state| {
            needs_plan(state).or(needs_plan_page(state)).or(needs_no_run(state)).or(state.not_fillable)
        }),
    Spec::new(Command::Authorize, "Authorize…", Some(icon::SIGNATURE))
        .tooltip("See exactly what your authorization covers, then give it.")
        .key(Modifiers::COMMAND, Key::Enter)
        .unless(|state| {
            needs_plan(state)
                .or(needs_plan_page(state))
                .or(state.not_authorizable)
                .or(state.approved.then_some("The plan is authorized already."))
        }),
    Spec::new(Command::Reject, "Reject…", Some(icon::PROHIBIT))
        .tooltip("Record that this plan must not run, and why.")
        .unless(|state| needs_plan(state).or(needs_plan_page(state)).or(state.not_rejectable)),
    Spec::new(Command::AskForSignature, "Ask for a signature…", Some(icon::ENVELOPE))
        .tooltip("Write a file in which another person sees this plan and signs it. What comes back, you open here.")
        .unless(|state| needs_plan(state).or(needs_plan_page(state)).or(state.not_askable)),
    Spec::new(Command::SignRequest, "Sign…", Some(icon::SIGNATURE))
        .tooltip("Sign exactly this plan with your SSH key, for the person who asks. Nothing runs here.")
        .unless(|state| needs_plan_page(state).or(state.not_signable)),
    Spec::new(Command::RefuseRequest, "Refuse…", Some(icon::PROHIBIT))
        .tooltip("Say why the plan may not run. The person who asks gets your words, signed.")
        .unless(|state| needs_plan_page(state).or(state.not_refusable)),
    Spec::new(Command::SaveAnswer, "Save the answer…", Some(icon::SAVE))
        .tooltip("Write your signed answer to a file for the person who asks.")
        .unless(|state| (!state.answered).then_some("No request was signed or refused here.")),
    Spec::new(Command::Run, "Run", Some(icon::PLAY))
        .tooltip("Run the authorized plan, step by step.")
        .key(Modifiers::NONE, Key::F5)
        .unless(|state| {
            needs_no_run(state)
                .or(needs_no_loop(state))
                .or((!state.approved).then_some("The plan is not authorized."))
        }),
    Spec::new(Command::Enqueue, "Queue", Some(icon::QUEUE))
        .tooltip("Run the authorized plan as soon as what is under way has completed.")
        .key(Modifiers::COMMAND, Key::F5)
        .unless(|state| {
            (!state.approved)
                .then_some("The plan is not authorized.")
                .or(state.queue_place.map(|_| "The plan is queued."))
                .or((!state.running && !state.looping && state.queued == 0)
                    .then_some("Nothing is under way: run it."))
        }),
    Spec::new(Command::Unqueue, "Take out of the queue", None)
        .tooltip("Do not run the shown plan when its turn comes. Its authorization stays.")
        .unless(needs_queued),
    Spec::new(Command::RunEarlier, "Run earlier", None)
        .tooltip("Move the shown plan one place forward in the queue.")
        .key(SHIFT_COMMAND, Key::ArrowUp)
        .unless(|state| needs_queued(state).or((state.queue_place == Some(0)).then_some("It is the next one."))),
    Spec::new(Command::RunLater, "Run later", None)
        .tooltip("Move the shown plan one place back in the queue.")
        .key(SHIFT_COMMAND, Key::ArrowDown)
        .unless(|state| {
            let is_last = state.queue_place.is_some_and(|place| place + 1 == state.queued);
            needs_queued(state).or(is_last.then_some("It is the last one."))
        }),
    Spec::new(Command::EmptyQueue, "Empty the queue", None)
        .tooltip("Take all plans out of the queue. Their authorizations stay.")
        .unless(|state| (state.queued == 0).then_some("No plan is queued.")),
    Spec::new(Command::GoOnQueue, "Go on with the queue", None)
        .tooltip("Run the next plan of the queue, although what ran before did not complete.")
        .unless(|state| {
            (!state.queue_held)
                .then_some("The queue does not wait for you.")
                .or(needs_no_run(state))
                .or(needs_no_loop(state))
        }),
    Spec::new(Command::RunAgain, "Run again…", Some(icon::AGAIN))
        .tooltip("Review this run's plan against the present workspace, and authorize it again.")
        .unless(|state| needs_ended_run(state, state.over, "No ended run is shown.")),
    Spec::new(Command::ContinueFromHere, "Continue from here…", Some(icon::PLAY))
        .tooltip("Make a new plan of the steps that did not succeed. It needs your authorization.")
        .unless(|state| {
            needs_ended_run(state, state.unfinished, "No run with unfinished steps is shown.")
                .or(state.on_hosts.then_some(ON_HOSTS))
        }),
    Spec::new(Command::RollBack, "Roll back…", Some(icon::ROLL_BACK))
        .tooltip("Open the plan's rollback commands as a new plan. It needs your authorization.")
        .unless(|state| {
            needs_ended_run(state, state.unfinished, "No run with unfinished steps is shown.")
                .or((!state.way_back).then_some("The plan has no rollback commands, or no host needs them."))
        }),
    Spec::new(Command::Revert, "Revert…", Some(icon::REVERT))
        .tooltip("Make a plan that undoes this run's file changes. It needs your authorization.")
        .key(SHIFT_COMMAND, Key::R)
        .unless(|state| needs_ended_run(state, state.changed_files, "No ended run that changed files is shown.")),
    Spec::new(Command::Reconcile, "Reconcile", Some(icon::RECONCILE))
        .tooltip("Compare the interrupted step's files with what it was to write, and record the result.")
        .unless(|state| needs_ended_run(state, state.interrupted, "No run is shown that was interrupted during a step.")),
    Spec::new(Command::Pause, "Pause", Some(icon::PAUSE))
        .tooltip("Wait before the next step.")
        .key(Modifiers::NONE, Key::F6)
        .unless(|state| {
            needs_run(state)
                .or(state.paused.then_some("The run is paused."))
                .or(state.requested.then_some("A pause or an end is already requested."))
        }),
    Spec::new(Command::Resume, "Resume", Some(icon::PLAY))
        .tooltip("Go on with the next step.")
        .key(Modifiers::NONE, Key::F7)
        .unless(|state| needs_run(state).or((!state.paused).then_some("The run is not paused."))),
    Spec::new(Command::GoOnGuided, "Go on guided", Some(icon::GUIDED))
        .tooltip("From the next step on, ask at each one: run it, do it by hand, or skip it.")
        .unless(|state| {
            needs_run(state)
                .or((!state.automatic).then_some("The run is guided already, or it runs no commands."))
        }),
    Spec::new(Command::CancelAfterStep, "Cancel after this step", Some(icon::CLOCK))
        .tooltip("Let the step under way end, then end the run.")
        .unless(needs_run),
    Spec::new(Command::StopNow, "Stop now", Some(icon::STOP))
        .tooltip("End the run or the loop at once, with every process it started.")
        .key(SHIFT_COMMAND, Key::Period)
        .unless(|state| match needs_run(state) {
            Some(_) if state.looping => None,
            Some(RUNS_ELSEWHERE) => Some(RUNS_ELSEWHERE),
            why_not => why_not.map(|_| "Nothing is under way."),
        }),
    Spec::new(Command::AnswerStep, "Answer step", Some(icon::HAND))
        .tooltip("The run waits for your answer to a step. Open the question again.")
        .key(Modifiers::NONE, Key::F8)
        .unless(|state| {
            let elsewhere = (!state.running && state.runs_elsewhere).then_some(RUNS_ELSEWHERE);
            elsewhere.or(state.asking.is_none().then_some("No step waits for an answer."))
        }),
    Spec::new(Command::NextStep, "Next step or result", None)
        .tooltip("Select the one below.")
        .key(Modifiers::NONE, Key::ArrowDown)
        .unless(needs_rows),
    Spec::new(Command::PreviousStep, "Previous step or result", None)
        .tooltip("Select the one above.")
        .key(Modifiers::NONE, Key::ArrowUp)
        .unless(needs_rows),
    Spec::new(Command::NextUnseen, "Next unseen", Some(icon::DOWN))
        .tooltip("Select the next step that you have not seen to its end, one that matters first.")
        .key(Modifiers::NONE, Key::F4)
        .unless(|state| needs_plan(state).or((!state.unseen).then_some("You have looked at every step."))),
    Spec::new(Command::NextChange, "Next change", Some(icon::DOWN))
        .tooltip("Scroll what the step would do, or the simulation, to the next change of a file.")
        .key(Modifiers::ALT, Key::ArrowDown)
        .unless(|state| needs_plan(state).or(needs_plan_page(state))),
    Spec::new(Command::PreviousChange, "Previous change", Some(icon::UP))
        .tooltip("Scroll back to the change before.")
        .key(Modifiers::ALT, Key::ArrowUp)
        .unless(|state| needs_plan(state).or(needs_plan_page(state))),
    Spec::new(Command::Find, "Find", Some(icon::SEARCH))
        .tooltip("Find and filter what the page shows: the steps of the plan, diagnostics, or the evidence.")
        .key(Modifiers::COMMAND, Key::F),
    Spec::new(Command::FollowRun, "Follow the run", None)
        .tooltip("Keep the step under way selected.")
        .key(Modifiers::COMMAND, Key::J)
        .unless(|state| {
            needs_run(state).or((!state.current_step_hidden).then_some("The list follows the run already."))
        }),
    Spec::new(Command::ToggleOutput, "Output", Some(icon::TERMINAL))
        .tooltip("Show or hide everything that the run prints, below the steps.")
        .key(SHIFT_COMMAND, Key::O)
        .unless(needs_plan),
    Spec::new(Command::TypeInTerminal, "Type in the terminal", Some(icon::TERMINAL))
        .tooltip("Give the keyboard to the terminal of the step, or take it back.")
        .key(SHIFT_COMMAND, Key::T)
        .unless(|state| (!state.terminal).then_some("No step of the shown run has a terminal now.")),
    Spec::new(Command::CopyDigest, "Copy plan digest", Some(icon::COPY))
        .tooltip("Copy the SHA-256 of the plan's exact bytes.")
        .key(SHIFT_COMMAND, Key::C)
        .unless(needs_plan),
    Spec::new(Command::SavePlanAs, "Save the plan as…", Some(icon::SAVE))
        .tooltip("Write exactly the bytes that are shown to a file of your choice.")
        .key(Modifiers::COMMAND, Key::S)
        .unless(needs_plan),
    Spec::new(Command::EditArguments, "Edit the arguments", None)
        .tooltip("Change an argument of the selected step. The plan becomes a revision of yours.")
        .key(Modifiers::NONE, Key::F2)
        .unless(needs_revisable),
    Spec::new(Command::LeaveOutStep, "Leave out", None)
        .tooltip("Leave out the selected step, or all that are marked, and the steps that need them.")
        .key(SHIFT_COMMAND, Key::X)
        .unless(needs_revisable),
    Spec::new(Command::MarkStep, "Mark or unmark the step", None)
        .tooltip("Mark several steps to leave them out together.")
        .key(Modifiers::COMMAND, Key::M)
        .unless(needs_revisable),
    Spec::new(Command::ChooseLines, "Choose lines", None)
        .tooltip("Choose the hunks and lines that the selected step may change.")
        .key(SHIFT_COMMAND, Key::L)
        .unless(|state| needs_revisable(state).or(state.no_lines)),
    Spec::new(Command::ListChanges, "List my changes", None)
        .tooltip("Show or hide what you changed in the plan.")
        .key(Modifiers::COMMAND, Key::D)
        .unless(needs_revision),
    Spec::new(Command::DiscardRevision, "Discard revision", None)
        .tooltip("Undo all that you changed, and show the file as it is.")
        .unless(|state| needs_revision(state).or(needs_revisable(state))),
    Spec::new(Command::PinPlan, "Pin or unpin the plan", Some(icon::BOOKMARK))
        .tooltip("Keep the shown plan at the top of the recent plans, or no longer.")
        .unless(needs_plan),
    Spec::new(Command::ForgetPlan, "Remove from the recent plans", None)
        .tooltip("Take the shown plan off the list of recent plans. Its file stays.")
        .unless(needs_plan),
    Spec::new(Command::NextPlan, "Next open plan", None)
        .tooltip("Show the plan that was opened after this one.")
        .key(Modifiers::COMMAND, Key::PageDown)
        .unless(needs_plans),
    Spec::new(Command::PreviousPlan, "Previous open plan", None)
        .tooltip("Show the plan that was opened before this one.")
        .key(Modifiers::COMMAND, Key::PageUp)
        .unless(needs_plans),
    Spec::new(Command::ClosePlan, "Close the plan", None)
        .tooltip("Close the shown plan, and show another open one. An unused authorization of it ends.")
        .key(Modifiers::COMMAND, Key::W)
        .unless(needs_plan),
    Spec::new(Command::OpenWaiting, "Next plan in the inbox", Some(icon::ENVELOPE))
        .tooltip("Open the plan of others that waits longest, and after it the next one.")
        .key(Modifiers::COMMAND, Key::I)
        .unless(|state| (state.inbox_waiting == 0).then_some("No plan waits in the inbox.")),
    Spec::new(Command::RemoveFromInbox, "Remove from the inbox", None)
        .tooltip("Move the shown plan into the folder of what was removed from the inbox.")
        .unless(|state| (!state.in_inbox).then_some("No plan of the inbox is shown.")),
    Spec::new(Command::RemoveDecided, "Remove decided plans from the inbox", None)
        .tooltip("Move the plans that were authorized or rejected out of the inbox.")
        .unless(|state| (!state.inbox_decided).then_some("No plan in the inbox was decided about.")),
    Spec::new(Command::GoPlan, "Plan", Some(icon::PLAN))
        .tooltip("Show the open plan.")
        .key(Modifiers::COMMAND, Key::Num1),
    Spec::new(Command::GoEvidence, "Evidence", Some(icon::DATABASE))
        .tooltip("Search everything that was ever run, asked and answered.")
        .key(Modifiers::COMMAND, Key::Num2),
    Spec::new(Command::GoDiagnostics, "Diagnostics", Some(icon::DIAGNOSTICS))
        .tooltip("Show what the checks of the run found in the code.")
        .key(Modifiers::COMMAND, Key::Num3),
    Spec::new(Command::GoLoop, "Loop", Some(icon::REPEAT))
        .tooltip("Let a planner work towards a goal, attempt by attempt. Its plans need your authorization.")
        .key(Modifiers::COMMAND, Key::Num4),
    agent::GO,
    Spec::new(Command::GoBack, "Back", None)
        .tooltip("Return to where you were before: the page, and what was selected on it.")
        .key(Modifiers::ALT, Key::ArrowLeft)
        .unless(|state| (!state.can_go_back).then_some("There is no earlier place.")),
    Spec::new(Command::GoForward, "Forward", None)
        .tooltip("Return to where you were before going back.")
        .key(Modifiers::ALT, Key::ArrowRight)
        .unless(|state| (!state.can_go_forward).then_some("There is no later place.")),
    Spec::new(Command::NewLoop, "New plan from a goal…", Some(icon::FILE_PLUS))
        .tooltip("Describe a goal and who makes the plans. Nothing starts yet.")
        .key(Modifiers::COMMAND, Key::L),
    Spec::new(Command::StartLoop, "Start and run the planner", Some(icon::PLAY))
        .tooltip("Run the planner of the form at once. Its plans still need your authorization.")
        .key(Modifiers::SHIFT, Key::F5)
        .unless(|state| {
            let no_form = state.page != Page::Loop || !state.loop_form;
            no_form
                .then_some("Fill in the form of a new loop first.")
                .or(needs_no_loop(state))
                .or(needs_no_run(state))
                .or(state.form_lacks)
                .or(state.folders_unusable)
        }),
    Spec::new(Command::OpenAttempt, "Look at the plan", Some(icon::PLAN))
        .tooltip("Show the plan of the attempt that waits for you. This authorizes nothing.")
        .key(Modifiers::SHIFT, Key::F8)
        .unless(|state| {
            (!state.attempt_waits).then_some("No plan of a loop waits for your authorization.")
        }),
    Spec::new(Command::LoopAgain, "Same goal again…", Some(icon::AGAIN))
        .tooltip("Fill the form with the goal, the planner and the workspace of this loop.")
        .unless(|state| (state.page != Page::Loop || state.loop_form).then_some("No loop is shown.")),
    Spec::new(Command::RevertLoop, "Revert the loop…", Some(icon::REVERT))
        .tooltip("Make one plan that undoes the file changes of all attempts. It needs your authorization.")
        .unless(|state| {
            needs_ended_run(state, state.page == Page::Loop && state.loop_changed_files,
                "No ended loop that changed files is shown.")
        }),
    agent::NEW,
    agent::START,
    agent::STOP,
    agent::ALLOW,
    Spec::new(Command::FilterDiagnostics, "Filter diagnostics", Some(icon::SEARCH))
        .tooltip("Go to the diagnostics and filter them.")
        .key(SHIFT_COMMAND, Key::F),
    Spec::new(Command::PlanSuggestion, "Make a plan…", Some(icon::PLAN))
        .tooltip("Make a plan of the picked suggestions. It is reviewed, and needs your authorization.")
        .unless(|state| {
            needs_diagnostics(state).or((state.suggestions == 0).then_some(
                "Pick a suggestion of the selected diagnostic first."))
        }),
    Spec::new(Command::OpenInEditor, "Open in editor", Some(icon::EDITOR))
        .tooltip("Open the file of the diagnostic in the editor that the settings name.")
        .key(Modifiers::COMMAND, Key::E)
        .unless(needs_diagnostics),
    Spec::new(Command::CopyDiagnostic, "Copy diagnostic", Some(icon::COPY))
        .tooltip("Copy the compiler's text of the diagnostic.")
        .key(SHIFT_COMMAND, Key::D)
        .unless(needs_diagnostics),
    Spec::new(Command::CopyDiagnostics, "Copy all diagnostics shown", Some(icon::COPY))
        .tooltip("Copy the compiler's text of every diagnostic in the table.")
        .unless(needs_diagnostics),
    Spec::new(Command::FocusSearch, "Search evidence", Some(icon::SEARCH))
        .tooltip("Go to the evidence and search it.").key(SHIFT_COMMAND, Key::E),
    Spec::new(Command::SaveSearch, "Save or remove the search", Some(icon::BOOKMARK))
        .tooltip("Keep the text of the search field among the saved searches, or no longer.")
        .unless(needs_own_search),
    Spec::new(Command::SwitchEvidence, "Evidence of this computer or of the team", Some(icon::HOST))
        .tooltip("Change between the evidence of this computer and what all computers of the team have pushed.")
        .key(SHIFT_COMMAND, Key::G).unless(needs_team),
    Spec::new(Command::Verify, "Verify evidence", Some(icon::SEAL))
        .tooltip("Recompute the hash chain of all records and name the first record that differs.")
        .unless(needs_own_evidence),
    Spec::new(Command::Export, "Export…", Some(icon::EXPORT))
        .tooltip("Write what the search finds, or a run, to a file: a report, a case file, CSV and others.")
        .unless(|state| state.not_exportable),
    Spec::new(Command::Purge, "Purge records…", Some(icon::ERASE))
        .tooltip("Delete old or large records, or those of a run or loop, for ever. A preview says what would go."),
    Spec::new(Command::Palette, "Commands", Some(icon::SEARCH))
        .tooltip("Find any command by its name.").key(Modifiers::COMMAND, Key::K),
    Spec::new(Command::Settings, "Settings…", Some(icon::SETTINGS))
        .tooltip("Every setting with what it costs and what it protects, and the keys of commands.")
        .key(Modifiers::COMMAND, Key::Comma),
    Spec::new(Command::SwitchTheme, "Light or dark", Some(icon::SUN))
        .tooltip("Switch between the light and the dark theme."),
    Spec::new(Command::BugReport, "Bug report…", Some(icon::COPY))
        .tooltip("Show diagnostics of the program itself for a bug report: versions, settings, log. You can copy them."),
    Spec::new(Command::Help, "Keys and help", Some(icon::HELP))
        .tooltip("Every command with its key, and how the pieces fit together.")
        .key(Modifiers::NONE, Key::F1),
];
