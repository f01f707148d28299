//! The query thread: opens, reviews and previews plans, records decisions, and reads the evidence.
//!
//! It is separate from the executor thread, so that no query waits for a running step. A [`Query`] has an answer type
//! and is sent with a function that handles its answer. The window receives this function with the answer bound to it
//! and calls it on its own thread, so that answers cannot be mixed up.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{Setup, Wake};
use crate::engine::FollowUpError;
use crate::evidence::{EvidenceError, EvidenceReader, EvidenceStore};
use crate::risk::Policy;
use crate::run::text::panic_message;
use crate::run::{Failure, StopSignal};
use crate::tools::ToolError;

/// The maximum number of waiting queries, and of waiting answers. Normal use stays far below it.
const MAX_WAITING: usize = 256;

/// A query of the query thread.
pub trait Query: Send + 'static {
    /// The type of the answer.
    type Answer: Send + 'static;

    /// The message about a failed query, as a sentence.
    const FAILURE: &str = "The question cannot be answered.";

    /// Whether the query runs on its own thread, because it may take too long to let other queries wait for it.
    const OWN_THREAD: bool = false;

    /// The thread on which the query runs, together with the others that name it, one after the other; `None` for the query
    /// thread. It is for queries that may wait long for another computer, and of which new ones are sent meanwhile: each
    /// would have its own waiting thread otherwise.
    const LINE: Option<&str> = None;

    /// Whether the query stops the earlier ones of its topic that do so as well, because nobody needs their answers any
    /// more. Each of them still has an answer.
    const STOPS_EARLIER: bool = false;

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

    /// The topic. A later query supersedes an earlier one of the same topic.
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

/// Passes an answer to the window `W`. It is called on the window's thread.
pub type Continuation<W> = Box<dyn FnOnce(&mut W) + Send>;

type Job<W> = Box<dyn FnOnce(&mut QueryContext) -> Continuation<W> + Send>;

/// The handle of the query thread for a window `W`.
pub struct QueryThread<W> {
    jobs: SyncSender<Job<W>>,
    answers: Receiver<Continuation<W>>,
    /// Cloned for each query that has its own thread.
    answer_sender: SyncSender<Continuation<W>>,
    setup: Setup,
    wake: Wake,
    /// The stop signal of the queries that have their own threads.
    long_stop: RefCell<Arc<StopSignal>>,
    /// The file of the plan that was opened last, if it has one, and the stop signal of the queries that read that
    /// plan.
    current_plan: RefCell<(Option<PathBuf>, Arc<StopSignal>)>,
    /// The stop signals of the latest queries that stop earlier ones, by topic.
    latest: RefCell<HashMap<TypeId, Arc<StopSignal>>>,
    /// The threads of [`Query::LINE`] that were started, by name.
    lines: RefCell<HashMap<&'static str, SyncSender<Job<W>>>>,
}

/// Starts a thread that answers queries one after the other, and ends when none can come any more.
fn start_line<W: 'static>(
    name: &str,
    setup: Setup,
    out: SyncSender<Continuation<W>>,
    wake: Wake,
) -> io::Result<SyncSender<Job<W>>> {
    let (jobs, inbox) = sync_channel::<Job<W>>(MAX_WAITING);
    let mut context = QueryContext::new(setup);
    thread::Builder::new().name(format!("countersign-{name}")).spawn(move || {
        while let Ok(job) = inbox.recv() {
            if out.send(job(&mut context)).is_err() {
                break;
            }
            wake();
        }
    })?;
    Ok(jobs)
}

impl<W: 'static> QueryThread<W> {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(setup: Setup, wake: Wake) -> io::Result<Self> {
        let (answer_sender, answers) = sync_channel(MAX_WAITING);
        let jobs = start_line("query", setup.clone(), answer_sender.clone(), Arc::clone(&wake))?;
        Ok(Self {
            jobs,
            answers,
            answer_sender,
            setup,
            wake,
            long_stop: RefCell::default(),
            current_plan: RefCell::default(),
            latest: RefCell::default(),
            lines: RefCell::default(),
        })
    }

    /// Sends a query. [`try_recv`](Self::try_recv) returns `then` with the answer bound to it.
    ///
    /// # Errors
    /// When too many queries are waiting, the query thread has ended, or the system cannot start a thread.
    pub fn send<Q: Query>(
        &self,
        query: Q,
        then: impl FnOnce(&mut W, Result<Q::Answer, QueryError>) + Send + 'static,
    ) -> io::Result<()> {
        let stop = if Q::STOPS_EARLIER {
            let stop = Arc::<StopSignal>::default();
            let earlier = self.latest.borrow_mut().insert(Q::topic(), Arc::clone(&stop));
            earlier.iter().for_each(|earlier| earlier.set());
            stop
        } else if Q::OWN_THREAD || Q::LINE.is_some() {
            Arc::clone(&self.long_stop.borrow())
        } else {
            self.stop_signal_for(query.plan())
        };
        let job: Job<W> = Box::new(move |context| {
            context.stop = stop;
            let answer = catch_unwind(AssertUnwindSafe(|| query.run(context)))
                .unwrap_or_else(|panic| Err(QueryError::Panicked(panic_message(&*panic))));
            if answer.is_err() {
                // The next query opens the evidence again: it may have been created since, and a panic may have left
                // this reader inconsistent.
                context.evidence = context.setup.location.reader();
            }
            Box::new(move |window| then(window, answer))
        });
        let full = |_| io::Error::other("Too many queries are waiting.");
        if let Some(name) = Q::LINE {
            return self.line(name)?.try_send(job).map_err(full);
        }
        if !Q::OWN_THREAD {
            return self.jobs.try_send(job).map_err(full);
        }
        let mut context = QueryContext::new(self.setup.clone());
        let (answer_sender, wake) = (self.answer_sender.clone(), Arc::clone(&self.wake));
        let work = move || {
            // The window may have been closed.
            if answer_sender.send(job(&mut context)).is_ok() {
                wake();
            }
        };
        thread::Builder::new().name("countersign-long-query".to_owned()).spawn(work).map(drop)
    }

    /// The queue of the thread with this name, which is started on first use.
    fn line(&self, name: &'static str) -> io::Result<SyncSender<Job<W>>> {
        if let Some(jobs) = self.lines.borrow().get(name) {
            return Ok(jobs.clone());
        }
        let (setup, out) = (self.setup.clone(), self.answer_sender.clone());
        let jobs = start_line(name, setup, out, Arc::clone(&self.wake))?;
        self.lines.borrow_mut().insert(name, jobs.clone());
        Ok(jobs)
    }

    /// Uses what the settings say in this policy in later queries that have their own threads.
    pub fn take_settings(&mut self, read: &Policy) {
        self.setup.policy.take_settings(read);
    }

    /// Stops every query that has its own thread. Each of them still has an answer.
    pub fn stop_long_queries(&self) {
        // Later queries get a new signal, so that this one never has to be reset.
        self.long_stop.take().set();
    }

    /// Stops the latest query of this topic, if it is one that a later query would stop. It still has an answer.
    pub fn stop_latest(&self, topic: TypeId) {
        self.latest.borrow().get(&topic).iter().for_each(|stop| stop.set());
    }

    /// The stop signal for a query that reads `plan`. If that is another plan than before, stops the queries that
    /// read the previous one.
    fn stop_signal_for(&self, plan: PlanRead<'_>) -> Arc<StopSignal> {
        let mut current = self.current_plan.borrow_mut();
        let next = match plan {
            PlanRead::Current => None,
            PlanRead::File(path) if current.0.as_deref() == Some(path) => None,
            PlanRead::File(path) => Some((Some(path.to_owned()), Arc::default())),
            PlanRead::New => Some((None, Arc::default())),
        };
        if let Some(next) = next {
            std::mem::replace(&mut *current, next).1.set();
        }
        Arc::clone(&current.1)
    }

    /// The next answer, if one has arrived.
    pub fn try_recv(&self) -> Option<Continuation<W>> {
        self.answers.try_recv().ok()
    }

    /// Waits for the next answer. The window must not call this function, because it blocks.
    pub fn recv(&self) -> Option<Continuation<W>> {
        self.answers.recv().ok()
    }
}

impl<W> Drop for QueryThread<W> {
    fn drop(&mut self) {
        self.long_stop.take().set();
        self.current_plan.take().1.set();
        self.latest.take().values().for_each(|stop| stop.set());
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
