//! Authorized plans that wait for the worker (SPEC §13).
//!
//! The queue has only files. The authorization of each stays where it is for a plan that is not shown
//! ([`PlanPage::set_aside`]), or with its session on the page. When its turn comes, a plan is read and reviewed once more, so
//! that an authorization that has ended is refused by its reason, before the executor compares everything again.
//!
//! The queue goes on by itself only after a run that completed. What was planned after a run that failed or was stopped
//! may not be wanted any more, so the person has to say that it goes on.

use std::path::{Path, PathBuf};

use super::{Chosen, PlanPage, PlanSession};
use crate::app::pending::FailedQuery;
use crate::app::shared::Shared;
use crate::app::tour::cut_off_in;
use crate::plan::drawable;
use crate::ui::notice::Scope;
use crate::ui::plan::{Approval, QueueView, QueuedPlan};
use crate::ui::{Page, Tone};
use crate::worker::calls::CallRun;
use crate::worker::{Clock as _, Command, OpenQueued, OpenedPlan, SystemClock};

/// The maximum number of plans in the queue.
const MAX_QUEUED: usize = 50;

/// The plans that wait for the worker.
#[derive(Debug, Default)]
pub(super) struct Queue {
    plans: Vec<QueuedPlan>,
    /// Why the next one does not begin by itself.
    held: Option<String>,
    /// The plan whose file is being read, because its turn has come.
    starting: Option<PathBuf>,
}

impl Queue {
    /// The number of plans before this one; `None` if it is not in the queue.
    pub(super) fn place_of(&self, path: &Path) -> Option<usize> {
        self.plans.iter().position(|plan| plan.path == path)
    }

    /// Whether another plan can be added.
    pub(super) fn has_room(&self) -> bool {
        self.plans.len() < MAX_QUEUED
    }

    /// Adds a plan, unless it is there.
    pub(super) fn push(&mut self, plan: QueuedPlan) {
        if self.place_of(&plan.path).is_none() {
            self.plans.push(plan);
        }
    }

    fn remove(&mut self, path: &Path) -> Option<QueuedPlan> {
        let plan = self.place_of(path).map(|index| self.plans.remove(index));
        if self.plans.is_empty() {
            self.held = None;
        }
        plan
    }
}

impl PlanPage {
    pub fn queue_view(&self) -> QueueView<'_> {
        QueueView { plans: &self.queue.plans, held: self.queue.held.as_deref() }
    }

    /// The place of the shown plan in the queue, from 0, and the number of plans there.
    pub fn queue_place(&self) -> (Option<usize>, usize) {
        let path = self.shown.as_ref().and_then(PlanSession::path);
        (path.and_then(|path| self.queue.place_of(path)), self.queue.plans.len())
    }

    /// Adds the shown plan to the queue, if it is authorized.
    pub fn enqueue(&mut self, shared: &mut Shared) {
        let shown = self.shown.as_ref();
        let shown = shown.filter(|it| matches!(it.approval, Approval::Approved { .. }));
        let Some((path, name)) = shown.and_then(|it| Some((it.path()?.to_owned(), it.name())))
        else {
            return;
        };
        if self.queue.place_of(&path).is_some() {
            return;
        }
        if self.queue.plans.len() >= MAX_QUEUED {
            let summary = format!("The queue is full: it has {MAX_QUEUED} plans.");
            shared.notify_here(
                Tone::Caution,
                summary,
                "",
                "Take one out, or wait until some have run.",
            );
            return;
        }
        self.queue.plans.push(QueuedPlan { path, name: name.to_owned() });
    }

    /// Takes a plan out of the queue. Its authorization still counts.
    pub fn unqueue(&mut self, path: &Path) {
        self.queue.remove(path);
    }

    /// Moves a plan in the queue by this many places.
    pub fn move_queued(&mut self, path: &Path, by: isize) {
        let Some(at) = self.queue.place_of(path) else { return };
        let last = self.queue.plans.len().saturating_sub(1);
        let to = at.saturating_add_signed(by).min(last);
        let plan = self.queue.plans.remove(at);
        self.queue.plans.insert(to, plan);
    }

    /// Takes all plans out of the queue. Their authorizations still count.
    pub fn empty_queue(&mut self) {
        self.queue = Queue::default();
    }

    /// Keeps the queue from going on by itself, for this reason.
    pub fn hold_queue(&mut self, why: &str) {
        if !self.queue.plans.is_empty() {
            self.queue.held = Some(why.to_owned());
        }
    }

    /// Lets the queue go on.
    pub fn release_queue(&mut self) {
        self.queue.held = None;
    }

    /// Begins the next plan of the queue. Call this only while the worker is idle.
    pub fn start_next(&mut self, shared: &mut Shared) {
        let Queue { plans, held, starting } = &self.queue;
        let next = plans.first().filter(|_| held.is_none() && starting.is_none());
        let Some(path) = next.map(|plan| plan.path.clone()) else { return };
        if self.shown.as_ref().is_some_and(|it| it.path() == Some(&*path)) {
            return self.start_shown(&path, shared);
        }
        self.queue.starting = Some(path.clone());
        let chosen = self.chosen_for(&path);
        let query = OpenQueued(chosen.clone().query(path.clone()));
        let sent = shared.query_each(query, move |app, opened, _| {
            let is_current = app.plan.queue.starting.take() == Some(path.clone());
            // The person may have changed the queue, shown the plan or started something meanwhile.
            if is_current && !app.is_busy() {
                app.plan.start_read(&path, opened, chosen, &mut app.shared);
            }
        });
        if !sent {
            self.queue.starting = None;
            self.hold_queue("The next plan could not be read.");
        }
    }

    /// Begins the run of the plan on the page, whose turn has come.
    fn start_shown(&mut self, path: &Path, shared: &mut Shared) {
        let queued = self.queue.remove(path);
        self.start_run(shared);
        let shown = self.shown.as_ref().filter(|it| !it.run.is_active());
        if let Some((session, queued)) = shown.zip(queued) {
            let why = why_not(session);
            self.refuse(&queued, &why, shared);
        }
    }

    /// Begins the run of a plan that was read because its turn has come.
    fn start_read(
        &mut self,
        path: &Path,
        opened: Result<OpenedPlan, FailedQuery>,
        chosen: Chosen,
        shared: &mut Shared,
    ) {
        let is_next = self.queue.place_of(path) == Some(0);
        if !is_next || self.shown.as_ref().is_some_and(|it| it.path() == Some(path)) {
            return self.start_next(shared);
        }
        let Some(queued) = self.queue.remove(path) else { return };
        let opened = match opened {
            Ok(opened) => opened,
            Err(failed) => {
                shared.report(failed);
                return self.refuse(&queued, "Its file could not be read.", shared);
            }
        };
        let Chosen { workspace, mut choices, version } = chosen;
        choices.end_with_version(version, opened.digest);
        let session = PlanSession::from_opened(opened, workspace);
        let mut session = PlanSession { choices, ..session };
        if let Some(authorization) = self.set_aside.remove(path) {
            session.restore(authorization, shared.now.ms, &SystemClock::default().since_boot());
        }
        let approved = match session.approval {
            Approval::Approved { .. } => session.begin_run(),
            _ => None,
        };
        let Some(approved) = approved else {
            let why = why_not(&session);
            return self.refuse(&queued, &why, shared);
        };
        let file = Some(path.to_owned());
        let call = self.orders.remove(path);
        let waited = call.as_ref().map(CallRun::watched);
        let secret_inputs = session.choices.secret_inputs.clone();
        let command = Command::Run {
            cut_off_in: cut_off_in(approved.plan.digest),
            approved: Box::new(approved),
            file,
            secret_inputs,
            call,
        };
        match shared.worker.send(command) {
            Ok(()) => {
                self.call_run = waited;
                self.live = Some(session);
                self.forget_secrets(path);
                self.watch_files(shared);
            }
            // Something else has begun. The authorization was not used.
            Err(refused) => {
                if let Command::Run { approved, call, .. } = refused {
                    self.orders.extend(call.map(|call| (path.to_owned(), call)));
                    self.set_aside.insert(path.to_owned(), approved.authorization);
                }
                self.queue.plans.insert(0, queued);
            }
        }
    }

    /// Says that a plan of the queue was not run, and why. The queue does not go on by itself.
    fn refuse(&mut self, queued: &QueuedPlan, why: &str, shared: &mut Shared) {
        // The agent that waits for it goes on by itself.
        let call = self.orders.remove(&queued.path);
        let of_agent = call.is_some();
        if let Some(call) = call {
            self.refuse_call(queued.path.clone(), call, why);
        }
        let summary = format!("“{}” was not run.", drawable(&queued.name));
        let next = "Review and authorize it again.";
        shared.notify_in(Scope::Window, Tone::Caution, summary, why, next);
        if !of_agent {
            self.hold_queue(&format!("“{}” was not run.", queued.name));
        }
    }
}

/// Why a plan whose turn has come is not run.
fn why_not(session: &PlanSession) -> String {
    match &session.approval {
        Approval::Expired => "Its authorization has expired.".to_owned(),
        Approval::Void(changes) if !changes.is_empty() => {
            let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
            format!("Its authorization is void. Changed since: {}", changes.join("\n"))
        }
        Approval::Void(_) => {
            "Its authorization is void: you have chosen otherwise since.".to_owned()
        }
        Approval::Rejected(_) => "It was rejected.".to_owned(),
        _ => match session.not_authorizable() {
            Some(why) => format!("It cannot be authorized any more. {why}"),
            None => "It has no authorization any more.".to_owned(),
        },
    }
}

impl crate::app::App {
    /// Begins the next plan of the queue, if nothing is under way.
    pub(in crate::app) fn start_next(&mut self) {
        if !self.is_busy() && !self.close_when_idle {
            self.plan.start_next(&mut self.shared);
        }
    }

    /// Puts the shown plan into the queue. If nothing is under way, and the queue is not held, it begins.
    pub(in crate::app) fn enqueue(&mut self) {
        self.plan.enqueue(&mut self.shared);
        self.start_next();
    }

    /// Goes on with the queue, although what ran before did not complete.
    pub(in crate::app) fn go_on_with_queue(&mut self) {
        self.plan.release_queue();
        self.shared.page = Page::Plan;
        self.start_next();
    }
}
