//! The executor thread: owns the executor and everything that has an effect.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use uuid::Uuid;

use super::faults::Faults;
use super::messages::{Command, Event, Setup, Wake};
use super::outbox;
use super::prompt::Prompt;
use crate::authorization::ApprovedPlan;
use crate::autonomy::PlanAnswer;
use crate::engine::{ControlHandle, Executor, Parts, ProgressCallback, SystemClock};
use crate::evidence::{EvidenceReader, EvidenceStore};
use crate::plan::visible_lines;
use crate::run::{Answer, Control, RunEvent};
use crate::tools::tidy_simulations;

/// The window's end of the worker thread.
pub struct Worker {
    commands: SyncSender<Command>,
    events: outbox::Receiver,
    control: ControlHandle,
    prompt: Prompt,
    busy: Arc<AtomicBool>,
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(setup: Setup, wake: Wake) -> std::io::Result<Self> {
        // One place, because a second command is refused while the first is under way.
        let (commands, inbox) = sync_channel(1);
        let (events, outbox) = outbox::outbox();
        let control = ControlHandle::default();
        let prompt = Prompt::new(control.clone());
        let busy = Arc::new(AtomicBool::new(false));
        let body = ExecutorThread {
            control: control.clone(),
            prompt: prompt.clone(),
            busy: Arc::clone(&busy),
            out: EventSink {
                events: Arc::new(events),
                wake,
                prompt: prompt.clone(),
                faults: setup.faults.clone(),
            },
            setup,
        };
        thread::Builder::new().name("countersign-worker".to_owned()).spawn(move || {
            body.serve(&inbox);
        })?;
        Ok(Self { commands, events: outbox, control, prompt, busy })
    }

    /// Hands over a plan; gives it back when a run is still under way.
    ///
    /// # Errors
    /// The command itself, when the worker is busy or gone.
    pub fn send(&self, command: Command) -> Result<(), Command> {
        if self.busy.swap(true, Ordering::SeqCst) {
            return Err(command);
        }
        // Here and not where the thread begins: it may still be indexing the last run, and what is
        // asked for meanwhile is about this one.
        self.control.reset();
        self.commands.try_send(command).map_err(|error| {
            self.busy.store(false, Ordering::SeqCst);
            match error {
                TrySendError::Full(command) | TrySendError::Disconnected(command) => command,
            }
        })
    }

    /// Takes effect at once, whatever the worker waits for.
    pub fn control(&self, control: Control) {
        self.prompt.control(control);
    }

    /// Answers the confirmation that the run waits for. An answer to any other step is ignored, and
    /// false.
    pub fn answer(&self, run_id: Uuid, step_index: usize, answer: Answer) -> bool {
        self.prompt.answer(run_id, step_index, answer)
    }

    /// Answers for the plan of an attempt that waits for its authorization. An answer to any other plan is
    /// ignored, and false.
    pub fn answer_plan(&self, loop_id: Uuid, attempt: u32, answer: PlanAnswer) -> bool {
        self.prompt.answer_plan(loop_id, attempt, answer)
    }

    /// The next event, if there is one.
    pub fn try_recv(&self) -> Option<Event> {
        self.events.try_recv()
    }

    /// Blocks for the next event; `None` when the thread is gone. For callers that are no window.
    pub fn recv(&self) -> Option<Event> {
        self.events.recv()
    }
}

/// What the thread owns.
pub(super) struct ExecutorThread {
    pub(super) setup: Setup,
    pub(super) control: ControlHandle,
    pub(super) prompt: Prompt,
    busy: Arc<AtomicBool>,
    pub(super) out: EventSink,
}

/// Sends to the window and wakes it. A window that is gone is no reason to stop a run.
#[derive(Clone)]
pub(super) struct EventSink {
    events: Arc<outbox::Sender>,
    wake: Wake,
    prompt: Prompt,
    faults: Faults,
}

impl EventSink {
    pub(super) fn send(&self, event: Event) {
        if self.events.send(event) {
            (self.wake)();
        }
    }
}

impl ProgressCallback for EventSink {
    fn on_event(&self, event: &RunEvent) {
        if let RunEvent::ConfirmationNeeded { request } = event {
            self.prompt.open(request);
        }
        if let RunEvent::AuthorizationNeeded { loop_id, attempt, .. } = event {
            self.prompt.open_plan(*loop_id, *attempt);
        }
        self.send(Event::Run(event.clone()));
        if let RunEvent::StepCompleted { .. } = event {
            self.faults.strike("worker");
        }
    }
}

impl ExecutorThread {
    fn serve(self, inbox: &Receiver<Command>) {
        // What cannot be removed now is tried again before the next simulation.
        let _ = tidy_simulations();
        while let Ok(command) = inbox.recv() {
            // The executor is made anew for each run, so that a panic leaves nothing half-way; the
            // evidence that it had open is closed by then, which is what interrupts the run.
            let event = catch_unwind(AssertUnwindSafe(|| self.carry_out(command)))
                .unwrap_or_else(|panic| Event::Panicked { message: panic_message(&*panic) });
            self.prompt.close();
            // Free before the window hears of it: it may hand over the next plan at once.
            self.busy.store(false, Ordering::SeqCst);
            self.out.send(event);
            // Now nobody waits. A search does the same when this could not, and says why not.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                EvidenceReader::open(&self.setup.evidence, &self.setup.secrets)
                    .and_then(|mut evidence| evidence.catch_up_index())
            }));
        }
    }

    fn carry_out(&self, command: Command) -> Event {
        match command {
            Command::Run { approved, file } => self.run(*approved, file),
            Command::Loop(order) => self.run_loop(*order),
        }
    }

    fn run(&self, approved: ApprovedPlan, file: Option<PathBuf>) -> Event {
        let store = match EvidenceStore::open(&self.setup.evidence, &self.setup.secrets) {
            Ok(store) => store,
            Err(error) => return Event::Finished(Err(error.failure())),
        };
        let mut executor = Executor::new(
            store,
            Parts {
                policy: self.setup.policy.clone(),
                clock: Arc::new(SystemClock::default()),
                confirmation: Box::new(self.prompt.clone()),
                progress: Box::new(self.out.clone()),
                control: self.control.clone(),
            },
        )
        .of_plan(file);
        Event::Finished(executor.execute(approved).map(Box::new).map_err(|error| error.failure()))
    }
}

/// The text of a panic, with everything hidden made visible: it may quote a plan or an output.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.map_or_else(|| "a panic without a message".to_owned(), visible_lines)
}
