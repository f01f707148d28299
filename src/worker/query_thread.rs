//! The query thread: opens, reviews and previews plans, records decisions, and reads the evidence.
//!
//! The window uses it, so that its queries never wait for a running step. A [`Query`] has an answer type and is sent
//! with a continuation. The answer comes back as a closure that the window calls on its own thread, so that answers
//! cannot be mixed up.

use std::any::TypeId;
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::messages::{Setup, Wake};
use crate::engine::FollowUpError;
use crate::evidence::{EvidenceError, EvidenceReader, EvidenceStore};
use crate::run::Failure;
use crate::run::StopSignal;
use crate::run::text::panic_message;
use crate::tools::ToolError;

/// The maximum number of waiting queries, and of waiting answers. Each part of the window sends one query at a time,
/// so that a person never reaches this number.
const WAITING: usize = 256;

/// A query of the query thread.
pub trait Query: Send + 'static {
    /// The type of the answer.
    type Answer: Send + 'static;

    /// The message of a failed query, as a sentence.
    const FAILURE: &str = "The question cannot be answered.";

    /// Whether the query runs on a thread of its own, because it may take too long to let other queries wait for it.
    const OWN_THREAD: bool = false;

    /// Computes the answer.
    ///
    /// # Errors
    /// Why there is no answer.
    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError>;

    /// [`FAILURE`](Self::FAILURE), or a message with more details.
    fn failure(&self) -> String {
        Self::FAILURE.to_owned()
    }

    /// The plan that the query reads.
    fn plan(&self) -> PlanRead<'_> {
        PlanRead::Current
    }

    /// The key by which a newer query supersedes this one.
    fn topic() -> TypeId {
        TypeId::of::<Self>()
    }
}

/// The plan that a query reads. Opening another plan stops queries that still read the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanRead<'a> {
    /// The plan that was opened last, or none.
    Current,
    /// The plan in this file.
    File(&'a Path),
    /// A plan that has no file yet.
    New,
}

/// Why a query has no answer.
#[derive(Debug)]
pub enum QueryError {
    /// The query failed.
    Failed(Failure),
    /// The query panicked, with this message. The thread is ready for another query.
    Panicked(String),
}

impl From<Failure> for QueryError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<EvidenceError> for QueryError {
    fn from(error: EvidenceError) -> Self {
        Self::Failed(error.failure())
    }
}

impl From<FollowUpError> for QueryError {
    fn from(error: FollowUpError) -> Self {
        Self::Failed(error.failure())
    }
}

impl From<ToolError> for QueryError {
    fn from(error: ToolError) -> Self {
        Self::Failed(error.failure())
    }
}

/// Passes an answer to a window `W`, on the window's thread.
pub type Continuation<W> = Box<dyn FnOnce(&mut W) + Send>;

type Job<W> = Box<dyn FnOnce(&mut QueryContext) -> Continuation<W> + Send>;

/// The handle of the query thread that a window `W` holds.
pub struct QueryThread<W> {
    jobs: SyncSender<Job<W>>,
    answers: Receiver<Continuation<W>>,
    /// The channel for answers, for queries with a thread of their own.
    answer_to: SyncSender<Continuation<W>>,
    setup: Setup,
    wake: Wake,
    /// Stops the queries that have a thread of their own.
    stop: RefCell<Arc<StopSignal>>,
    /// The stop signal of the queries that read the plan that was opened last, and the plan's file if it has one.
    reading: RefCell<(Option<PathBuf>, Arc<StopSignal>)>,
}

impl<W: 'static> QueryThread<W> {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(setup: Setup, wake: Wake) -> io::Result<Self> {
        let (jobs, inbox) = sync_channel::<Job<W>>(WAITING);
        let (answer_to, answers) = sync_channel(WAITING);
        let (mut context, out) = (QueryContext::new(setup.clone()), answer_to.clone());
        let woken = Arc::clone(&wake);
        thread::Builder::new().name("countersign-query".to_owned()).spawn(move || {
            while let Ok(job) = inbox.recv() {
                if out.send(job(&mut context)).is_err() {
                    break;
                }
                woken();
            }
        })?;
        let (stop, reading) = (RefCell::default(), RefCell::default());
        Ok(Self { jobs, answers, answer_to, setup, wake, stop, reading })
    }

    /// Sends a query. [`try_recv`](Self::try_recv) returns `then` with the answer bound to it.
    ///
    /// # Errors
    /// When too many queries are waiting, or the system cannot start a thread.
    pub fn ask<Q: Query>(
        &self,
        query: Q,
        then: impl FnOnce(&mut W, Result<Q::Answer, QueryError>) + Send + 'static,
    ) -> io::Result<()> {
        let stop = if Q::OWN_THREAD {
            Arc::clone(&self.stop.borrow())
        } else {
            self.stop_of_plan(query.plan())
        };
        let job: Job<W> = Box::new(move |context| {
            context.stop = stop;
            let answer = catch_unwind(AssertUnwindSafe(|| query.run(context)))
                .unwrap_or_else(|panic| Err(QueryError::Panicked(panic_message(&*panic))));
            if answer.is_err() {
                // The evidence may exist when the next query opens it.
                context.evidence = context.setup.location.reader();
            }
            Box::new(move |window| then(window, answer))
        });
        if !Q::OWN_THREAD {
            let full = "Too many queries are waiting.";
            return self.jobs.try_send(job).map_err(|_| io::Error::other(full));
        }
        let mut context = QueryContext::new(self.setup.clone());
        let (answer_to, wake) = (self.answer_to.clone(), Arc::clone(&self.wake));
        let work = move || {
            // The window may have been closed.
            if answer_to.send(job(&mut context)).is_ok() {
                wake();
            }
        };
        thread::Builder::new().name("countersign-long-query".to_owned()).spawn(work).map(drop)
    }

    /// Stops every query that has a thread of its own. Each of them still answers, with an error.
    pub fn stop_long_queries(&self) {
        // Later queries get a new signal, so that this one never has to be reset.
        self.stop.take().set();
    }

    fn stop_of_plan(&self, plan: PlanRead<'_>) -> Arc<StopSignal> {
        let mut reading = self.reading.borrow_mut();
        let another = match plan {
            PlanRead::Current => None,
            PlanRead::File(path) if reading.0.as_deref() == Some(path) => None,
            PlanRead::File(path) => Some((Some(path.to_owned()), Arc::default())),
            PlanRead::New => Some((None, Arc::default())),
        };
        if let Some(another) = another {
            std::mem::replace(&mut *reading, another).1.set();
        }
        Arc::clone(&reading.1)
    }

    /// The next answer, if one has arrived.
    pub fn try_recv(&self) -> Option<Continuation<W>> {
        self.answers.try_recv().ok()
    }

    /// Waits for the next answer. The window must not call this, because it blocks.
    pub fn recv(&self) -> Option<Continuation<W>> {
        self.answers.recv().ok()
    }
}

impl<W> Drop for QueryThread<W> {
    fn drop(&mut self) {
        self.stop.take().set();
        self.reading.take().1.set();
    }
}

/// The state that queries use.
pub struct QueryContext {
    pub(super) setup: Setup,
    pub(super) evidence: EvidenceReader,
    /// The stop signal of the current query.
    pub(super) stop: Arc<StopSignal>,
}

impl QueryContext {
    fn new(setup: Setup) -> Self {
        Self { evidence: setup.location.reader(), setup, stop: Arc::default() }
    }

    /// Opens the evidence for writing.
    pub(super) fn store(&self) -> Result<EvidenceStore, EvidenceError> {
        self.setup.location.store()
    }
}
