//! The query thread: opens, reviews and previews plans, records decisions, reads the evidence.
//!
//! Called by the window, whose queries never wait for a running step. A [`Query`] names the type of its answer and
//! is sent together with what the window does with that answer. It comes back as a closure for the window's own
//! thread, so that no answer can be taken for one of another kind.

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

/// Queries and answers that wait. The window asks for one thing at a time in each of its places, so
/// that a person never reaches this.
const WAITING: usize = 256;

/// A question to the query thread.
pub trait Query: Send + 'static {
    /// Its answer.
    type Answer: Send + 'static;

    /// What could not be done when there is no answer, as a sentence.
    const FAILURE: &str = "The question cannot be answered.";

    /// Whether it runs on a thread of its own, because it may take so long that no other query can wait for it.
    const OWN_THREAD: bool = false;

    /// Finds the answer.
    ///
    /// # Errors
    /// Why there is none.
    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError>;

    /// [`FAILURE`](Self::FAILURE), or the same with more details.
    fn failure(&self) -> String {
        Self::FAILURE.to_owned()
    }

    /// Which plan it reads.
    fn plan(&self) -> PlanRead<'_> {
        PlanRead::Current
    }

    /// What a newer query must share with this one to supersede it.
    fn topic() -> TypeId {
        TypeId::of::<Self>()
    }
}

/// Which plan a query reads. Opening another plan stops what is still read for the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanRead<'a> {
    /// The one that was opened last, or none.
    Current,
    /// The one in this file.
    File(&'a Path),
    /// One that has no file yet.
    New,
}

/// Why a query has no answer.
#[derive(Debug)]
pub enum QueryError {
    /// It failed.
    Failed(Failure),
    /// It panicked, with this message. The thread is ready for another query.
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

/// What a window `W` does with an answer, on its own thread.
pub type Continuation<W> = Box<dyn FnOnce(&mut W) + Send>;

type Job<W> = Box<dyn FnOnce(&mut QueryContext) -> Continuation<W> + Send>;

/// The end of the query thread that belongs to a window `W`.
pub struct QueryThread<W> {
    jobs: SyncSender<Job<W>>,
    answers: Receiver<Continuation<W>>,
    /// For queries with a thread of their own.
    answer_to: SyncSender<Continuation<W>>,
    setup: Setup,
    wake: Wake,
    /// Stops the queries that have a thread of their own.
    stop: RefCell<Arc<StopSignal>>,
    /// Stops what is read for the plan that was opened last; with its file where it has one.
    reading: RefCell<(Option<PathBuf>, Arc<StopSignal>)>,
}

impl<W: 'static> QueryThread<W> {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
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

    /// Sends a query; `then` comes back from [`try_recv`](Self::try_recv) with the answer in it.
    ///
    /// # Errors
    /// When too many queries are waiting already, or the system gives no thread.
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
                // The evidence may be there when it is opened for the next query.
                context.evidence = context.setup.location.reader();
            }
            Box::new(move |window| then(window, answer))
        });
        if !Q::OWN_THREAD {
            let full = "More questions are waiting than can be kept.";
            return self.jobs.try_send(job).map_err(|_| io::Error::other(full));
        }
        let mut context = QueryContext::new(self.setup.clone());
        let (answer_to, wake) = (self.answer_to.clone(), Arc::clone(&self.wake));
        let work = move || {
            // The window may be gone by now.
            if answer_to.send(job(&mut context)).is_ok() {
                wake();
            }
        };
        thread::Builder::new().name("countersign-long-query".to_owned()).spawn(work).map(drop)
    }

    /// Stops every query that has a thread of its own. Each still gives an answer, that it was stopped.
    pub fn stop_long_queries(&self) {
        // A later query gets another signal, so that this one never has to be taken back.
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

    /// The next answer, if there is one.
    pub fn try_recv(&self) -> Option<Continuation<W>> {
        self.answers.try_recv().ok()
    }

    /// Waits for the next answer. For callers that are no window.
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

/// What queries are answered from.
pub struct QueryContext {
    pub(super) setup: Setup,
    pub(super) evidence: EvidenceReader,
    /// Stops the query that is being answered.
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
