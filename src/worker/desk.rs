//! The reader thread: opens, reviews and previews plans, records answers, reads the evidence.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use uuid::Uuid;

use super::answers::{LoopReplayed, Replayed};
use super::contents::{self, missing};
use super::editor;
use super::executing::panic_message;
use super::files::keep_file;
use super::kept::{self, Kind};
use super::messages::{Reply, Request, Setup, Ticket, Wake};
use super::printed::printed;
use super::target;
use super::trusting;
use crate::authorization::Grants;
use crate::engine::{
    Clock as _, FollowUpError, SystemClock, preview_step, reconcile, simulate_shown,
};
use crate::evidence::{EvidenceError, EvidenceLocation, EvidenceReader, verify_with_kept_head};
use crate::plan::{Code, parse};
use crate::run::{AnsweredBy, Failure};
use crate::tools::{StopSignal, Toolbox};

/// Requests and answers that wait. The window asks for one thing at a time in each of its places, so
/// this is never reached by a person.
const WAITING: usize = 256;

/// The window's end of the reader thread.
pub struct Desk {
    requests: SyncSender<Asked>,
    replies: Mutex<Receiver<(Ticket, Reply)>>,
    next: AtomicU64,
    /// Ends what was asked for so far and is still tried beside the thread.
    stop: Mutex<Arc<StopSignal>>,
    /// Ends what is looked at for the plan that was opened last, and its file where it has one.
    looking: Mutex<(Option<PathBuf>, Arc<StopSignal>)>,
}

/// A request, its number, and what ends it.
type Asked = (Ticket, Request, Arc<StopSignal>);

impl Desk {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(setup: Setup, wake: Wake) -> std::io::Result<Self> {
        let (requests, inbox) = sync_channel::<Asked>(WAITING);
        let (replies, outbox) = sync_channel(WAITING);
        let mut reader = Reader { setup, evidence: None, stop: Arc::default() };
        thread::Builder::new().name("countersign-desk".to_owned()).spawn(move || {
            while let Ok((ticket, request, stop)) = inbox.recv() {
                if let Request::CheckTarget { destination, workspace } = request {
                    let (replies, wake) = (replies.clone(), Arc::clone(&wake));
                    let answer: Arc<dyn Fn(Reply) + Send + Sync> = Arc::new(move |reply| {
                        // Nobody may be there any more to hear it.
                        if replies.send((ticket, reply)).is_ok() {
                            wake();
                        }
                    });
                    target::check((destination, workspace), &reader.setup.policy, &stop, &answer);
                    continue;
                }
                reader.stop = stop;
                let reply = catch_unwind(AssertUnwindSafe(|| reader.answer(request)))
                    .unwrap_or_else(|panic| {
                        // Whatever it was in the middle of is opened anew.
                        reader.evidence = None;
                        Reply::Panicked { message: panic_message(&*panic) }
                    });
                if replies.send((ticket, reply)).is_err() {
                    break;
                }
                wake();
            }
        })?;
        Ok(Self {
            requests,
            replies: Mutex::new(outbox),
            next: AtomicU64::new(0),
            stop: Mutex::default(),
            looking: Mutex::default(),
        })
    }

    /// Asks; the answer comes with the same ticket. `None` when too much is waiting already.
    pub fn ask(&self, request: Request) -> Option<Ticket> {
        let ticket = Ticket(self.next.fetch_add(1, Ordering::Relaxed));
        let stop = match &request {
            Request::CheckTarget { .. } => {
                Arc::clone(&self.stop.lock().unwrap_or_else(PoisonError::into_inner))
            }
            request => self.look(request),
        };
        self.requests.try_send((ticket, request, stop)).ok().map(|()| ticket)
    }

    /// Ends every try of a host that was asked for so far. Each still gives an answer, that it was
    /// stopped.
    pub fn stop_trying(&self) {
        // What is asked for from now on has another signal, so that this one never has to be taken back.
        std::mem::take(&mut *self.stop.lock().unwrap_or_else(PoisonError::into_inner)).set();
    }

    /// What ends the look that is asked for. Whoever opens another plan no longer waits for the one before:
    /// that look ends, and its answer says so.
    fn look(&self, request: &Request) -> Arc<StopSignal> {
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match request {
            Request::Open { path, .. } if looking.0.as_ref() == Some(path) => None,
            Request::Open { path, .. } => Some(Some(path.clone())),
            Request::Again { .. }
            | Request::Continue { .. }
            | Request::RollBack { .. }
            | Request::Settle { .. }
            | Request::Revert { .. } => Some(None),
            _ => None,
        };
        if let Some(path) = opened {
            std::mem::replace(&mut *looking, (path, Arc::default())).1.set();
        }
        Arc::clone(&looking.1)
    }

    /// Ends every look that was asked for so far.
    fn stop_looking(&self) {
        self.looking.lock().unwrap_or_else(PoisonError::into_inner).1.set();
    }

    /// The next answer, if there is one.
    pub fn try_recv(&self) -> Option<(Ticket, Reply)> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
    }

    /// Blocks for the next answer; `None` when the thread is gone. For callers that are no window.
    pub fn recv(&self) -> Option<(Ticket, Reply)> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.stop_trying();
        self.stop_looking();
    }
}

pub(super) struct Reader {
    pub(super) setup: Setup,
    evidence: Option<EvidenceReader>,
    /// Ends what is looked at for the request that is answered.
    pub(super) stop: Arc<StopSignal>,
}

impl Reader {
    fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Open { path, workspace, grants } => {
                self.open(&path, workspace.as_deref(), grants)
            }
            Request::Preview { plan, workspace, step_index } => preview_step(
                &plan,
                &workspace,
                &self.setup.policy,
                Some(&self.setup.location),
                step_index,
                &self.stop,
            )
            .map_or_else(
                |error| Reply::Failed(error.failure()),
                |preview| Reply::Preview { step_index, preview: Box::new(preview) },
            ),
            Request::Simulate { plan, workspace } => {
                let (policy, location) = (&self.setup.policy, &self.setup.location);
                simulate_shown(&plan, &workspace, policy, Some(location), &self.stop).map_or_else(
                    |error| Reply::Failed(error.failure()),
                    |simulation| Reply::Simulated(Box::new(simulation)),
                )
            }
            Request::Record { authorization, plan } => {
                trusting::answer(&self.setup, &authorization, &plan)
            }
            Request::RevokeClass { class_id } => {
                let now_ms = SystemClock::default().now_ms();
                let revoked = self
                    .setup
                    .location
                    .store()
                    .and_then(|mut store| store.revoke_class(class_id, now_ms));
                match revoked {
                    Ok(revoked) => Reply::ClassRevoked { revoked },
                    Err(error) => Reply::Failed(error.failure()),
                }
            }
            Request::Trust(workspace, commands, trusted) => {
                trusting::record(&self.setup, &workspace, &commands, trusted)
            }
            Request::RememberWalls(workspace, grants) => {
                trusting::remember(&self.setup, &workspace, grants.as_ref())
            }
            Request::Place(place) => Reply::Place(Box::new(self.place(place))),
            Request::Source { workspace, file, wanted } => {
                let lines = Toolbox::open(&workspace, &self.setup.policy)
                    .and_then(|toolbox| Ok(toolbox.source_lines(&file, &wanted)?));
                Reply::Source(lines.map_err(|error| error.failure()))
            }
            Request::Edit { workspace, command, place } => {
                match editor::open(&command, &workspace, &self.setup.policy, &place) {
                    Ok(()) => Reply::Editing,
                    Err(failure) => Reply::Failed(failure),
                }
            }
            Request::Again { run_id } => self.follow_up(run_id, Kind::Again),
            Request::Continue { run_id } => self.follow_up(run_id, Kind::Rest),
            Request::RollBack { run_id } => self.follow_up(run_id, Kind::Rollback),
            Request::Settle { run_id, way } => self.follow_up(run_id, Kind::Settled(way)),
            Request::Revert { id } => self.follow_up(id, Kind::Revert),
            Request::Reconcile { run_id } => self.reconcile(run_id).unwrap_or_else(|error| {
                self.evidence = None;
                Reply::Failed(error.failure())
            }),
            Request::Keep { file, text } => keep_file(&file, &text).map_or_else(
                |error| {
                    Reply::Failed(Failure {
                        code: Code::WriteFailed,
                        message: format!("cannot write {}: {error}", file.display()),
                        next: "Your choices hold until the window is closed.".to_owned(),
                    })
                },
                |()| Reply::Kept,
            ),
            other => self.read(other).unwrap_or_else(|error| {
                // The next request opens the evidence anew: it may be there by then.
                self.evidence = None;
                Reply::Failed(error.failure())
            }),
        }
    }

    /// The requests that only read the evidence.
    fn read(&mut self, request: Request) -> Result<Reply, EvidenceError> {
        let evidence = self.evidence()?;
        Ok(match request {
            Request::Runs { limit } => Reply::Runs(evidence.runs(limit)?),
            Request::Replay { run_id } => match evidence.run(run_id)? {
                None => missing(format!("run {run_id}")),
                Some(summary) => {
                    let plan = evidence
                        .plan_of_run(run_id)?
                        .and_then(|bytes| parse(&bytes).into_shown())
                        .map(|plan| Arc::new(plan.on_target(summary.target.as_deref())));
                    let events = evidence.replay(run_id)?;
                    let attempt = evidence.attempt_of(run_id)?;
                    Reply::Replayed(Box::new(Replayed { summary, plan, events, attempt }))
                }
            },
            Request::Loops { limit } => Reply::Loops(evidence.loops(limit)?),
            Request::ReplayLoop { loop_id } => match evidence.bounded_loop(loop_id)? {
                None => missing(format!("loop {loop_id}")),
                Some(detail) => {
                    let events = evidence.replay_loop(loop_id)?;
                    let printed = printed(evidence, &detail)?;
                    Reply::LoopReplayed(Box::new(LoopReplayed { detail, events, printed }))
                }
            },
            Request::Search(query) => {
                let page = evidence.search(&query)?;
                self.setup.faults.strike("reader");
                Reply::Page(Box::new(page))
            }
            Request::Execution(id) => match evidence.execution(id)? {
                None => missing(format!("execution {id}")),
                Some(detail) => {
                    let attempt = evidence.attempt_of(detail.row.run_id)?;
                    Reply::Execution { detail: Box::new(detail), attempt }
                }
            },
            Request::Ask(question) => Reply::Answered(Box::new(evidence.answer(&question)?)),
            Request::Blob(digest) => {
                Reply::Blob { digest, content: contents::content(evidence, &digest)? }
            }
            Request::Save { file, what } => contents::save(evidence, &file, what)?,
            Request::Verify => {
                let EvidenceLocation { evidence, secrets } = &self.setup.location;
                Reply::Verified(verify_with_kept_head(evidence, secrets, None)?)
            }
            Request::Open { .. }
            | Request::Preview { .. }
            | Request::Simulate { .. }
            | Request::Record { .. }
            | Request::RevokeClass { .. }
            | Request::Trust(..)
            | Request::RememberWalls(..)
            | Request::Place(_)
            | Request::Again { .. }
            | Request::Continue { .. }
            | Request::RollBack { .. }
            | Request::Settle { .. }
            | Request::Revert { .. }
            | Request::Reconcile { .. }
            | Request::Source { .. }
            | Request::Edit { .. }
            | Request::CheckTarget { .. }
            | Request::Keep { .. } => missing("such request".to_owned()),
        })
    }

    pub(super) fn evidence(&mut self) -> Result<&mut EvidenceReader, EvidenceError> {
        let reader = match self.evidence.take() {
            Some(reader) => reader,
            None => self.setup.location.open()?,
        };
        Ok(self.evidence.insert(reader))
    }

    /// Opens a plan that is made of an old run; kept as a file, it can be opened like any other.
    fn follow_up(&mut self, run_id: Uuid, kind: Kind) -> Reply {
        let policy = self.setup.policy.clone();
        let made = self
            .evidence()
            .map_err(Into::into)
            .and_then(|evidence| kind.of(evidence, run_id, &policy));
        let kept = match made {
            Ok((_, bytes)) => kept::keep(&self.setup.location.evidence, run_id, kind, &bytes),
            Err(error) => {
                self.evidence = None;
                return Reply::Failed(error.failure());
            }
        };
        match kept {
            Ok(path) => self.open(&path, None, Grants::default()),
            Err(error) => Reply::Failed(Failure {
                code: Code::WriteFailed,
                message: format!("the plan cannot be kept below the evidence folder: {error}"),
                next: "See that the evidence folder can be written to, then try again.".to_owned(),
            }),
        }
    }

    fn reconcile(&mut self, run_id: Uuid) -> Result<Reply, FollowUpError> {
        let policy = self.setup.policy.clone();
        let found = reconcile(self.evidence()?, run_id, &policy)?;
        if !found.is_empty() {
            let now_ms = SystemClock::default().now_ms();
            self.setup.location.store()?.record_reconciliation(
                run_id,
                &found,
                AnsweredBy::Window,
                now_ms,
            )?;
        }
        Ok(Reply::Reconciled { run_id, found })
    }
}
