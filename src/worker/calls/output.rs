//! The run of a ticket, as the `countersign exec` sees it that waits for its end.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::engine::ProgressCallback;
use crate::hooks::channel::Reply;
use crate::plan::Code;
use crate::run::{ExecutionResult, Failure, Outcome, RunEvent, RunStatus, Stream};
use crate::worker::Wake;

/// The maximum size of output that waits to be sent, in bytes. A client that does not read gets no more than that, and is
/// told how much it did not get: the run never waits for it.
const MAX_QUEUED: usize = 8 << 20;
/// The exit code of `exec` for a ticket that is used, expired or stale.
pub(super) const REFUSED: u8 = 3;
/// The exit code of `exec` where the command has none.
const FAILED: u8 = 1;

/// The output of a run, between the executor thread and the thread of the connection.
#[derive(Clone)]
pub(super) struct CallOutput(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: Wake,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Reply>,
    bytes: usize,
    left_out: u64,
    end: Option<(u8, String)>,
    is_abandoned: bool,
}

impl CallOutput {
    /// An output whose client is there. `wake` is called when the client leaves.
    pub(super) fn new(wake: Wake) -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), wake }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, reply: Reply, size: usize) {
        let mut state = self.state();
        if state.end.is_some() || state.is_abandoned {
            return;
        }
        if state.bytes.saturating_add(size) > MAX_QUEUED {
            state.left_out = state.left_out.saturating_add(size as u64);
            return;
        }
        if state.left_out > 0 {
            let bytes = std::mem::take(&mut state.left_out);
            state.queue.push_back(Reply::LeftOut(bytes));
        }
        state.bytes += size;
        state.queue.push_back(reply);
        drop(state);
        self.0.changed.notify_all();
    }

    /// Notes the end of the run. Only the first one counts.
    fn finish(&self, code: u8, message: String) {
        self.state().end.get_or_insert((code, message));
        self.0.changed.notify_all();
    }

    /// The next message for the client, after waiting for it; the last one is [`Reply::End`]. `None` once the client has
    /// left.
    pub(super) fn next(&self) -> Option<Reply> {
        let waits = |state: &mut State| {
            state.queue.is_empty() && state.end.is_none() && !state.is_abandoned
        };
        let state = self.0.changed.wait_while(self.state(), waits);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.is_abandoned {
            return None;
        }
        if let Some(reply) = state.queue.pop_front() {
            if let Reply::Stdout(text) | Reply::Stderr(text) = &reply {
                state.bytes = state.bytes.saturating_sub(text.len());
            }
            return Some(reply);
        }
        let left_out = std::mem::take(&mut state.left_out);
        if left_out > 0 {
            return Some(Reply::LeftOut(left_out));
        }
        let (code, message) = state.end.clone()?;
        Some(Reply::End { code, message })
    }

    /// Notes that the client has left, so that nobody waits for the run any more.
    pub(super) fn abandon(&self) {
        let mut state = self.state();
        let is_news = !state.is_abandoned && state.end.is_none();
        state.is_abandoned = true;
        state.queue.clear();
        drop(state);
        self.0.changed.notify_all();
        if is_news {
            (self.0.wake)();
        }
    }

    fn is_abandoned(&self) -> bool {
        self.state().is_abandoned
    }
}

/// A run that a client waits for. If it is dropped without an end, the client is told that nothing was run.
pub struct CallRun {
    output: CallOutput,
}

impl fmt::Debug for CallRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRun").finish_non_exhaustive()
    }
}

impl CallRun {
    pub(super) fn new(output: CallOutput) -> Self {
        Self { output }
    }

    /// Tells the client why nothing is run.
    pub fn refuse(self, why: impl Into<String>) {
        self.output.finish(REFUSED, why.into());
    }

    /// Whether the client has left.
    pub fn is_abandoned(&self) -> bool {
        self.output.is_abandoned()
    }

    /// The same run, to ask whether its client has left while the executor thread has it.
    pub fn watched(&self) -> Watched {
        Watched(self.output.clone())
    }

    /// Tells the client how the run ended.
    pub(in crate::worker) fn end(self, result: &Result<ExecutionResult, Failure>) {
        let (code, message) = match result {
            Ok(result) => of_result(result),
            Err(failure) => (code_of(failure.code), sentence(failure)),
        };
        self.output.finish(code, message);
    }

    /// Sends the output of the run to the client.
    pub(in crate::worker) fn progress(&self) -> Arc<dyn ProgressCallback> {
        Arc::new(Progress(self.output.clone()))
    }
}

impl Drop for CallRun {
    fn drop(&mut self) {
        let message = "the run was interrupted, or never began; Countersign shows what is known";
        self.output.finish(FAILED, message.to_owned());
    }
}

/// Whether the client of a run has left.
pub struct Watched(CallOutput);

impl Watched {
    /// Whether the client has left.
    pub fn is_abandoned(&self) -> bool {
        self.0.is_abandoned()
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}

struct Progress(CallOutput);

impl ProgressCallback for Progress {
    fn on_event(&self, event: &RunEvent) {
        match event {
            RunEvent::StepOutput { stream, chunk, .. } => {
                let size = chunk.len();
                let reply = match stream {
                    Stream::Stdout => Reply::Stdout(chunk.clone()),
                    Stream::Stderr => Reply::Stderr(chunk.clone()),
                };
                self.0.push(reply, size);
            }
            RunEvent::OutputLeftOut { bytes, .. } => self.0.push(Reply::LeftOut(*bytes), 0),
            _ => {}
        }
    }
}

fn code_of(code: Code) -> u8 {
    match code {
        Code::NotAuthorized | Code::PlanIdMismatch | Code::Stale => REFUSED,
        _ => FAILED,
    }
}

fn sentence(failure: &Failure) -> String {
    format!("{} {}. {}", failure.code, failure.message, failure.next).trim_end().to_owned()
}

/// The command's own exit code; where it has none, that of a failure, with the reason.
fn of_result(result: &ExecutionResult) -> (u8, String) {
    // A call is one step; a plan of several has ended like the one at which it stopped.
    let Some(step) = result.step_results.last() else {
        return (FAILED, "the run ended before the command began".to_owned());
    };
    let message = |word: &str| match (&step.error_code, &step.error_message) {
        (Some(code), Some(message)) => format!("{code} {message}"),
        (_, Some(message)) => message.clone(),
        _ => word.to_owned(),
    };
    if step.outcome == Outcome::Denied {
        return (REFUSED, message("the person denied the command"));
    }
    if matches!(step.outcome, Outcome::Skipped | Outcome::DoneByHand) {
        let what = match step.outcome {
            Outcome::Skipped => "the person skipped the command, and nothing was run",
            _ => "the person says that they did it by hand, and nothing was run",
        };
        let words = if step.note.is_empty() { String::new() } else { format!(": {}", step.note) };
        return (REFUSED, format!("{what}{words}"));
    }
    if result.status == RunStatus::Cancelled {
        return (FAILED, message("the person stopped the command"));
    }
    match step.exit_code {
        // A command that succeeded, but whose step failed for another reason, did not succeed.
        Some(0) if !step.success => (FAILED, message("the step failed")),
        Some(code) => (u8::try_from(code).unwrap_or(FAILED), String::new()),
        None if step.success => (0, String::new()),
        None => (step.error_code.map_or(FAILED, code_of), message("the step failed")),
    }
}
