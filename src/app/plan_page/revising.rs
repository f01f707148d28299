//! Changes the shown plan before it is decided about (SPEC §13 *Revisions*). The query thread makes the revision; its
//! session takes the place of the session of the file, so that what was looked at and chosen stays.

use super::{PlanPage, PlanSession};
use crate::app::App;
use crate::app::recent::RecentChange;
use crate::app::shared::{Prompt, Shared};
use crate::plan::{Digest, Revision, ShownStep, one_line};
use crate::run::Preview;
use crate::ui::action::{RevisionAction, Tab};
use crate::ui::notice::Scope;
use crate::ui::plan::{
    Approval, ArgumentEdit, RevisedView, Revising, RevisionView, no_lines, show_step, whole_choice,
};
use crate::ui::{Command, Page, Tone};
use crate::worker::{
    ChosenLines, OpenedPlan, ReadArgument, RevisePlan, RevisedPlan, RevisionBase, RevisionEdit,
};

/// The arguments that a person edits most, the first one first.
const EDITED_MOSTLY: [&str; 4] = ["command", "contents", "edits", "pattern"];

/// What a revision finishes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finishes {
    Edit,
    Lines,
    Nothing,
}

impl PlanSession {
    /// Whether the plan is one that can be changed at some time: a recorded run and a plan without a file are none.
    fn offers_revision(&self) -> bool {
        self.path().is_some()
            && self.opened.plan.is_some()
            && self.approval != Approval::Recorded
            && self.attempt.is_none()
    }

    /// The preview of the selected step.
    fn selected_preview(&self) -> Option<(&ShownStep, &Preview)> {
        let step = self.opened.plan.as_ref()?.steps.get(self.pane.selected)?;
        Some((step, self.pane.previews.get(&self.pane.selected)?))
    }

    /// Why no lines can be chosen of the selected step; `None` if they can.
    pub(super) fn no_lines(&self) -> Option<&'static str> {
        match self.selected_preview() {
            Some((step, preview)) => no_lines(step, &preview.changes),
            None => Some("What the step would do is not known yet."),
        }
    }
}

impl PlanPage {
    /// Why the shown plan cannot be changed now; `None` if it can.
    pub(super) fn not_revisable(&self) -> Option<&'static str> {
        let Some(session) = &self.shown else { return Some("Open a plan first.") };
        let held = session.opened.held.as_ref();
        match () {
            () if session.approval == Approval::Recorded => {
                Some("This is a run from the records, which nothing changes.")
            }
            () if session.attempt.is_some() => {
                Some("The plan of a loop is not changed: reject it, and tell the planner why.")
            }
            () if session.opened.request.is_some() => {
                Some("It is a request of somebody else: sign it as it is, or refuse it.")
            }
            () if session.opened.plan.is_none() => Some("The file cannot be read as a plan."),
            () if session.path().is_none() => Some("The plan has no file."),
            () if session.run.is_active() => Some("Its run is under way."),
            () if session.approval.is_pending() => Some("Your answer is being recorded."),
            () if held.is_some_and(|held| held.asked_until_ms.is_some()) => Some(
                "An agent waits for exactly this call: authorize it, or reject it and say why.",
            ),
            () if session.path().is_some_and(|path| self.queue.place_of(path).is_some()) => {
                Some("It is queued: take it out of the queue first.")
            }
            () if session.revising.is_applying => Some("A change is being made."),
            () => None,
        }
    }

    /// What the page shows of the revision.
    pub(super) fn revision_view<'a>(&'a self, session: &'a PlanSession) -> RevisionView<'a> {
        let is_offered = session.offers_revision();
        RevisionView {
            is_offered,
            why_not: self.not_revisable(),
            revising: is_offered.then_some(&session.revising),
            revised: session.opened.revised.as_ref().map(|revised| RevisedView {
                base: &revised.base,
                parts: &revised.parts,
                difference: &revised.difference,
            }),
        }
    }

    /// Applies an action that changes the plan, or prepares that.
    pub(super) fn revise(&mut self, action: RevisionAction, shared: &mut Shared) {
        let why_not = self.not_revisable();
        let Some(session) = &mut self.shown else { return };
        let revising = &mut session.revising;
        let edit = match action {
            RevisionAction::Type(text) => {
                if let Some(edit) = &mut revising.edit {
                    edit.text = text;
                    edit.wants_focus = false;
                }
                revising.told = false;
                self.told_of_edits = false;
                return;
            }
            RevisionAction::LeaveEdit => {
                let is_changed = revising.edit.as_ref().is_some_and(ArgumentEdit::is_changed);
                match &mut revising.edit {
                    Some(edit) if is_changed => (edit.asks, edit.wants_focus) = (true, true),
                    _ => revising.edit = None,
                }
                return;
            }
            RevisionAction::DropEdit => return revising.edit = None,
            RevisionAction::GoOnEditing => return session.go_on_editing(),
            RevisionAction::Mark(step) => {
                if !revising.marked.remove(&step) {
                    revising.marked.insert(step);
                }
                return;
            }
            RevisionAction::DropLines => return revising.lines = None,
            RevisionAction::WantLines { path, lines, wanted } => {
                if let Some(choice) = &mut revising.lines {
                    let of_file = choice.deselected.entry(path).or_default();
                    lines.iter().for_each(|line| of_file.set(line, wanted));
                }
                return;
            }
            RevisionAction::ListChanges(lists) => return revising.lists_changes = lists,
            RevisionAction::ChooseLines(step) => {
                let preview = session.pane.previews.get(&step);
                let choice = preview.map(|preview| whole_choice(step, &preview.changes));
                session.revising.lines = choice;
                session.pane.tab = Tab::WillDo;
                return;
            }
            RevisionAction::Edit(step, name) => {
                if why_not.is_none() {
                    self.read_argument(step, name, shared);
                }
                return;
            }
            RevisionAction::ApplyEdit => match revising.edit.clone() {
                Some(ArgumentEdit { step: Some(step), name, text, .. }) => {
                    let edit = RevisionEdit::Argument { step, name, text: Some(text) };
                    return self.send_revision(edit, Finishes::Edit, shared);
                }
                _ => return,
            },
            RevisionAction::TakeAway(step, name) => {
                let edit = RevisionEdit::Argument { step, name, text: None };
                return self.send_revision(edit, Finishes::Edit, shared);
            }
            RevisionAction::ApplyLines => {
                let (Some(choice), Some(review)) = (&revising.lines, &session.opened.review) else {
                    return;
                };
                let chosen = choice.changes.iter().map(|change| ChosenLines {
                    shown: change.clone(),
                    deselected: choice.deselected.get(&change.path).cloned().unwrap_or_default(),
                });
                let (step, chosen) = (choice.step, chosen.collect());
                let workspace = review.workspace.clone();
                let edit = RevisionEdit::Lines { step, workspace, chosen };
                return self.send_revision(edit, Finishes::Lines, shared);
            }
            RevisionAction::LeaveOut(steps) => RevisionEdit::LeaveOut(steps),
            RevisionAction::Undo(step, argument) => RevisionEdit::Undo { step, argument },
            RevisionAction::Discard => RevisionEdit::Discard,
        };
        self.send_revision(edit, Finishes::Nothing, shared);
    }

    /// Applies a command about revisions.
    pub fn apply_revising(&mut self, command: Command, ctx: &egui::Context, shared: &mut Shared) {
        let Some(session) = &self.shown else { return };
        let selected = session.pane.selected;
        let action = match command {
            Command::EditArguments => {
                show_step(ctx);
                let step = session.opened.plan.as_ref().and_then(|it| it.steps.get(selected));
                let Some(step) = step else { return };
                let has = |name: &&&str| step.arguments.contains_key(**name);
                let mostly = EDITED_MOSTLY.iter().find(has).map(|name| (*name).to_owned());
                let first = || step.arguments.keys().next().cloned();
                let name = mostly.or_else(first);
                let is_open = session.revising.edit.as_ref().is_some_and(ArgumentEdit::is_changed);
                match name {
                    _ if is_open => RevisionAction::GoOnEditing,
                    Some(name) => RevisionAction::Edit(selected, name),
                    None => return self.with_shown(|it| it.pane.tab = Tab::Arguments),
                }
            }
            Command::LeaveOutStep => RevisionAction::LeaveOut(session.revising.concerned(selected)),
            Command::MarkStep => RevisionAction::Mark(selected),
            Command::ChooseLines => {
                show_step(ctx);
                RevisionAction::ChooseLines(selected)
            }
            Command::ListChanges => RevisionAction::ListChanges(!session.revising.lists_changes),
            _ => RevisionAction::Discard,
        };
        self.revise(action, shared);
    }

    /// Reads an argument and opens it in the editor. What is being edited stays.
    fn read_argument(&mut self, step: usize, name: String, shared: &mut Shared) {
        let Some(session) = &mut self.shown else { return };
        if session.revising.edit.as_ref().is_some_and(ArgumentEdit::is_changed) {
            let summary = "First apply or drop what you typed for another argument.";
            shared.notify_here(Tone::Caution, summary, "", "");
            return session.go_on_editing();
        }
        let Some(plan) = session.opened.plan.clone() else { return };
        let Some(step_id) = plan.steps.get(step).map(|step| step.step_id.clone()) else { return };
        let digest = session.opened.digest;
        let index = plan.steps.get(step).map_or(step, |step| step.step_index);
        let query = ReadArgument { plan, step: index, name: name.clone() };
        shared.query(query, move |app, original| {
            let shown = app.plan.shown.as_mut();
            let Some(session) = shown.filter(|it| it.opened.digest == digest) else { return };
            session.pane.select(step);
            session.pane.tab = Tab::Arguments;
            session.pane.is_pinned = true;
            let text = original.clone().unwrap_or_default();
            session.revising.edit = Some(ArgumentEdit {
                step_id,
                step: Some(step),
                name,
                original,
                text,
                asks: false,
                wants_focus: true,
            });
        });
    }

    /// Whether the window stays open, because closing it would drop what was typed or chosen. The second request closes
    /// it.
    pub fn asks_about_edits(&mut self, shared: &mut Shared) -> bool {
        let is_open = |revising: &Revising| revising.unfinished().is_some();
        let has_some = self.sessions().any(|session| is_open(&session.revising))
            || self.left.values().any(|left| is_open(&left.revising));
        if !has_some || std::mem::replace(&mut self.told_of_edits, true) {
            return false;
        }
        let summary = "The window stays open: you have not finished changing a plan.";
        let next = "Apply the change, or close the window again to drop it.";
        shared.notify(Tone::Caution, summary, "", next);
        true
    }

    /// Makes a revision with one more change, and shows it.
    pub(super) fn send_revision(
        &mut self,
        edit: RevisionEdit,
        finishes: Finishes,
        shared: &mut Shared,
    ) {
        if let Some(why_not) = self.not_revisable() {
            return shared.notify_here(Tone::Caution, why_not, "", "");
        }
        let Some(session) = &mut self.shown else { return };
        let Some(shown) = session.opened.plan.clone() else { return };
        let path = session.opened.base().to_owned();
        let base = match &session.opened.revised {
            Some(revised) => RevisionBase {
                path,
                plan: revised.plan.clone(),
                revision: revised.revision.clone(),
            },
            None => RevisionBase { path, plan: shown.clone(), revision: Revision::default() },
        };
        let chosen = session.chosen();
        let digest = shown.digest;
        session.revising.is_applying = true;
        let query =
            RevisePlan { base, shown, edit, workspace: chosen.workspace, choices: chosen.choices };
        shared.query_latest(query, move |app, revised| {
            app.plan.with_shown(|session| session.revising.is_applying = false);
            match revised {
                Ok(revised) => app.take_revision(revised, digest, finishes),
                Err(failed) if failed.is_cancelled() => {}
                Err(failed) => app.shared.report(failed),
            }
        });
    }

    /// Shows a revision in place of what was shown.
    fn take_revision(&mut self, opened: OpenedPlan, finishes: Finishes, shared: &mut Shared) {
        let Some(session) = &mut self.shown else { return };
        let old = session.path().map(std::path::Path::to_path_buf);
        let had_authorization = session.authorization.is_some();
        session.apply_review(opened);
        // A decision about other bytes says nothing about these.
        if !matches!(session.approval, Approval::Void(_)) {
            session.approval = Approval::None;
        }
        session.authorization = None;
        match finishes {
            Finishes::Edit => session.revising.edit = None,
            Finishes::Lines | Finishes::Nothing => {}
        }
        session.revising.follow(session.opened.plan.as_deref());
        session.revising.lists_changes &= session.opened.revised.is_some();
        session.seen.update(&session.opened, self.must_see);
        let new = session.path().map(std::path::Path::to_path_buf);
        shared.close_prompt(&Prompt::ABOUT_PLAN);
        if had_authorization {
            shared.notify_in(
                Scope::Change,
                Tone::Caution,
                "The authorization is void: you revised the plan.",
                "",
                "Review the steps again, then authorize the revised plan.",
            );
        }
        if let (Some(old), Some(new)) = (old, new) {
            self.take_place(&old, new);
        }
        self.note_open();
        self.watch_files(shared);
    }
}

impl PlanSession {
    /// Shows the argument in the editor.
    fn go_on_editing(&mut self) {
        let Some(edit) = &mut self.revising.edit else { return };
        edit.asks = false;
        edit.wants_focus = true;
        if let Some(step) = edit.step {
            self.pane.select(step);
            self.pane.is_pinned = true;
            self.pane.tab = Tab::Arguments;
        }
    }
}

impl App {
    /// Shows a revision of the plan with this digest, unless another plan is shown by now.
    fn take_revision(&mut self, revised: RevisedPlan, of: Digest, finishes: Finishes) {
        let RevisedPlan { opened, also_left_out } = revised;
        self.note_opened(&opened);
        let Some(session) = self.plan.shown.as_ref().filter(|it| it.opened.digest == of) else {
            let summary = "The plan that you changed is no longer shown.";
            let next = "Its revision is in the list of recent plans.";
            return self.shared.notify_here(Tone::Dim, summary, "", next);
        };
        // A revision that was taken back is no plan any more.
        let before = session.path().filter(|it| opened.revised.is_none() && *it != opened.path);
        if let Some(before) = before.map(std::path::Path::to_owned) {
            self.change_recent(RecentChange::Remove(before));
        }
        self.plan.take_revision(opened, finishes, &mut self.shared);
        if also_left_out.is_empty() {
            return;
        }
        let sentence = |(id, needs): &(String, String)| {
            format!("{} is left out, too: it needs {}.", one_line(id), one_line(needs))
        };
        let details: Vec<_> = also_left_out.iter().map(sentence).collect();
        let summary = match also_left_out.len() {
            1 => "One more step was left out, which cannot run without these.".to_owned(),
            count => format!("{count} more steps were left out, which cannot run without these."),
        };
        let next = "Undo it in the list of changes.";
        self.shared.notify_in(Scope::Plan, Tone::Caution, summary, details.join("\n"), next);
    }

    /// Shows the plan page for a command about revisions.
    pub(in crate::app) fn apply_revising(&mut self, command: Command, ctx: &egui::Context) {
        self.shared.page = Page::Plan;
        self.plan.apply_revising(command, ctx, &mut self.shared);
    }
}
