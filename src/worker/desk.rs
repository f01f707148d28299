//! The reader thread: opens, reviews and previews plans, records answers, reads the evidence.

use std::fs::File;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::executing::{evidence_failure, panic_message};
use super::folders::default_folders;
use super::messages::{OpenedPlan, Replayed, Reply, Request, Setup, Ticket, Wake};
use crate::engine::{choose_workspace, preview_step, review};
use crate::evidence::{EvidenceError, EvidenceReader, EvidenceStore};
use crate::plan::{Code, Digest, Finding, limits, parse};
use crate::run::Failure;

/// Requests and answers that wait. The window asks for one thing at a time in each of its places, so
/// this is never reached by a person.
const WAITING: usize = 256;

/// The window's end of the reader thread.
pub struct Desk {
    requests: SyncSender<(Ticket, Request)>,
    replies: Mutex<Receiver<(Ticket, Reply)>>,
    next: AtomicU64,
}

impl Desk {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(setup: Setup, wake: Wake) -> std::io::Result<Self> {
        let (requests, inbox) = sync_channel::<(Ticket, Request)>(WAITING);
        let (replies, outbox) = sync_channel(WAITING);
        let mut reader = Reader { setup, evidence: None };
        thread::Builder::new().name("countersign-desk".to_owned()).spawn(move || {
            while let Ok((ticket, request)) = inbox.recv() {
                let reply = catch_unwind(AssertUnwindSafe(|| reader.answer(request)))
                    .unwrap_or_else(|panic| {
                        // Whatever it was in the middle of is opened anew.
                        reader.evidence = None;
                        Reply::Failed(panicked(&*panic))
                    });
                if replies.send((ticket, reply)).is_err() {
                    break;
                }
                wake();
            }
        })?;
        Ok(Self { requests, replies: Mutex::new(outbox), next: AtomicU64::new(0) })
    }

    /// Asks; the answer comes with the same ticket. `None` when too much is waiting already.
    pub fn ask(&self, request: Request) -> Option<Ticket> {
        let ticket = Ticket(self.next.fetch_add(1, Ordering::Relaxed));
        self.requests.try_send((ticket, request)).ok().map(|()| ticket)
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

struct Reader {
    setup: Setup,
    evidence: Option<EvidenceReader>,
}

impl Reader {
    fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Open { path, workspace } => self.open(&path, workspace.as_deref()),
            Request::Preview { plan, workspace, step_index } => {
                preview_step(&plan, &workspace, &self.setup.policy, step_index).map_or_else(
                    |error| Reply::Failed(error.failure()),
                    |preview| Reply::Preview { step_index, preview: Box::new(preview) },
                )
            }
            Request::Record { authorization, plan } => {
                let recorded = EvidenceStore::open(&self.setup.evidence, &self.setup.secrets)
                    .and_then(|mut store| store.record_authorization(&authorization, &plan));
                match recorded {
                    Ok(()) => Reply::Recorded,
                    Err(error) => Reply::Failed(evidence_failure(&error)),
                }
            }
            other => self.read(other).unwrap_or_else(|error| {
                // The next request opens the evidence anew: it may be there by then.
                self.evidence = None;
                Reply::Failed(evidence_failure(&error))
            }),
        }
    }

    /// The requests that only read the evidence.
    fn read(&mut self, request: Request) -> Result<Reply, EvidenceError> {
        let missing = |what: String| {
            Reply::Failed(Failure {
                code: Code::EvidenceStore,
                message: format!("the evidence has no {what}"),
                next: "Look it up on the evidence page.".to_owned(),
            })
        };
        let evidence = self.evidence()?;
        Ok(match request {
            Request::Runs { limit } => Reply::Runs(evidence.runs(limit)?),
            Request::Replay { run_id } => match evidence.run(run_id)? {
                None => missing(format!("run {run_id}")),
                Some(summary) => {
                    let plan = evidence
                        .plan_of_run(run_id)?
                        .and_then(|bytes| parse(&bytes).plan)
                        .map(Arc::new);
                    let events = evidence.replay(run_id)?;
                    Reply::Replayed(Box::new(Replayed { summary, plan, events }))
                }
            },
            Request::Search(query) => Reply::Page(Box::new(evidence.search(&query)?)),
            Request::Execution(id) => match evidence.execution(id)? {
                None => missing(format!("execution {id}")),
                Some(detail) => Reply::Execution(Box::new(detail)),
            },
            Request::Blob(digest) => match evidence.blob(&digest)? {
                None => missing(format!("content {digest}")),
                Some(bytes) => Reply::Blob { digest, bytes },
            },
            Request::Verify => {
                Reply::Verified(crate::evidence::verify(&self.setup.evidence, None)?)
            }
            Request::Open { .. } | Request::Preview { .. } | Request::Record { .. } => {
                missing("such request".to_owned())
            }
        })
    }

    fn evidence(&mut self) -> Result<&mut EvidenceReader, EvidenceError> {
        let reader = match self.evidence.take() {
            Some(reader) => reader,
            None => EvidenceReader::open(&self.setup.evidence, &self.setup.secrets)?,
        };
        Ok(self.evidence.insert(reader))
    }

    fn open(&self, path: &Path, workspace: Option<&Path>) -> Reply {
        let opened = |plan, digest, findings, review| {
            let path = path.to_owned();
            Reply::Opened(Box::new(OpenedPlan { path, plan, digest, findings, review }))
        };
        let bytes = match read_plan_file(path) {
            Ok(bytes) => bytes,
            Err(finding) => return opened(None, Digest::of(&[]), vec![finding], None),
        };
        let parsed = parse(&bytes);
        let mut findings = parsed.findings;
        let Some(plan) = parsed.plan else {
            return opened(None, parsed.digest, findings, None);
        };
        let home: Option<PathBuf> = default_folders().map(|folders| folders.home);
        let choice = choose_workspace(path, workspace, home.as_deref());
        match review(&plan, &choice, &self.setup.policy) {
            Ok(review) => {
                findings.extend(review.findings.iter().cloned());
                opened(Some(Arc::new(plan)), parsed.digest, findings, Some(Arc::new(review)))
            }
            Err(error) => {
                findings.push(Finding::error(error.code(), "", error.to_string()));
                opened(Some(Arc::new(plan)), parsed.digest, findings, None)
            }
        }
    }
}

/// The bytes of a plan file, at most one more than the limit.
///
/// # Errors
/// The finding at line 1 that says why there are none.
pub fn read_plan_file(path: &Path) -> Result<Vec<u8>, Finding> {
    let refuse = |message: String| Finding::error(Code::NotJson, "", message);
    let cannot = |error: std::io::Error| refuse(format!("cannot read {}: {error}", path.display()));
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "a folder" } else { "no regular file" };
        return Err(refuse(format!("{} is {kind}; choose a plan file", path.display())));
    }
    let mut bytes = Vec::new();
    // One byte more than the limit is enough to say that it is exceeded.
    let limit = u64::try_from(limits::PLAN_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path).map_err(cannot)?.take(limit).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Failure {
    Failure {
        code: Code::EvidenceStore,
        message: format!("the reader panicked: {}", panic_message(panic)),
        next: "Try again; if it happens again, report it with these words.".to_owned(),
    }
}
