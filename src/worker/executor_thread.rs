//! The executor thread. It owns the executor and runs plans and bounded loops.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use uuid::Uuid;

use super::answer_slots::AnswerSlots;
use super::secrets::WindowSecrets;
use super::{Command, Event, Faults, Setup, Wake, outbox};
use crate::authorization::{ApprovedPlan, SecretInputs};
use crate::autonomy::PlanDecision;
use crate::engine::{ControlHandle, CutOff, Executor, ExecutorDeps, ProgressCallback, SystemClock};
use crate::risk::Policy;
use crate::run::text::panic_message;
use crate::run::{
    Answer, AskSecret, Control, ExecutionResult, Failure, RunEvent, Secret, StopSignal,
    TerminalPort,
};
use crate::tools::remove_abandoned_simulations;

/// The window's handle of the executor thread.
pub struct Worker {
    commands: SyncSender<Command>,
    events: outbox::Receiver,
    control: ControlHandle,
    answers: AnswerSlots,
    terminal: TerminalPort,
    check_secrets: Arc<dyn AskSecret>,
    signing_secrets: Arc<dyn AskSecret>,
    busy: Arc<AtomicBool>,
    policy: Arc<Mutex<Policy>>,
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(setup: Setup, wake: Wake) -> std::io::Result<Self> {
        // Capacity for one command: a second one is refused while the first is under way.
        let (commands, inbox) = sync_channel(1);
        let (events, outbox) = outbox::outbox();
        let control = ControlHandle::default();
        let answers = AnswerSlots::new(control.clone());
        let terminal = TerminalPort::default();
        let busy = Arc::new(AtomicBool::new(false));
        let out = EventSink {
            events: Arc::new(events),
            wake,
            answers: answers.clone(),
            faults: setup.faults.clone(),
        };
        let secrets = |slot| {
            let (out, answers) = (out.clone(), answers.clone());
            Arc::new(WindowSecrets { out, answers, slot, turn: Mutex::default() })
        };
        let check_secrets = secrets(Arc::clone(&answers.secret_of_check));
        let signing_secrets = secrets(Arc::clone(&answers.secret_of_signing));
        let policy = Arc::new(Mutex::new(setup.policy.clone()));
        let executor = ExecutorThread {
            policy: Arc::clone(&policy),
            control: control.clone(),
            answers: answers.clone(),
            terminal: terminal.clone(),
            busy: Arc::clone(&busy),
            out,
            setup,
        };
        thread::Builder::new().name("countersign-worker".to_owned()).spawn(move || {
            executor.serve(&inbox);
        })?;
        Ok(Self {
            commands,
            events: outbox,
            control,
            answers,
            terminal,
            check_secrets,
            signing_secrets,
            busy,
            policy,
        })
    }

    /// Sends a command to the thread.
    ///
    /// # Errors
    /// The command itself, if the thread is busy or has ended.
    pub fn send(&self, command: Command) -> Result<(), Command> {
        if self.busy.swap(true, Ordering::SeqCst) {
            return Err(command);
        }
        // Reset here and not on the thread, which may still be indexing the last run: a control that is requested
        // after this call is for the new run and must not be reset later.
        self.control.reset();
        self.commands.try_send(command).map_err(|error| {
            self.busy.store(false, Ordering::SeqCst);
            match error {
                TrySendError::Full(command) | TrySendError::Disconnected(command) => command,
            }
        })
    }

    /// Uses what the settings say in this policy in later runs. A run under way keeps those with which it began.
    pub fn take_settings(&self, read: &Policy) {
        self.policy.lock().unwrap_or_else(PoisonError::into_inner).take_settings(read);
    }

    /// Requests a control. *Stop now* also ends a wait for an answer; *Cancel after this step* ends only the wait for
    /// a decision about a plan.
    pub fn control(&self, control: Control) {
        self.answers.control(control);
    }

    /// Answers the current confirmation. Returns false if the run does not wait for an answer to this step.
    pub fn answer(&self, run_id: Uuid, step_index: usize, answer: Answer) -> bool {
        self.answers.step.answer((run_id, step_index), answer)
    }

    /// Answers the current question for a secret; with `None`, declines. Returns false if nothing waits for the answer to
    /// this question.
    pub fn answer_secret(&self, id: Uuid, answer: Option<Secret>) -> bool {
        self.answers.answer_secret(id, answer)
    }

    /// Decides about the plan of the current attempt. Returns false if no loop waits for a decision about this plan.
    pub fn answer_plan(&self, loop_id: Uuid, attempt: u32, decision: PlanDecision) -> bool {
        self.answers.plan.answer((loop_id, attempt), decision)
    }

    /// Answers the planner's question in the current attempt; `None` if the person gives no answer. Returns false if no
    /// loop waits for an answer to it.
    pub fn answer_planner(&self, loop_id: Uuid, attempt: u32, words: Option<String>) -> bool {
        self.answers.question.answer((loop_id, attempt), words)
    }

    /// Asks the person in the window while a host is tried.
    pub fn check_secrets(&self) -> Arc<dyn AskSecret> {
        Arc::clone(&self.check_secrets)
    }

    /// Asks the person in the window for the passphrase of the key that signs a decision.
    pub fn signing_secrets(&self) -> Arc<dyn AskSecret> {
        Arc::clone(&self.signing_secrets)
    }

    /// Whether this question for a secret is open, and of no run: a host is tried, or a decision is signed.
    pub fn is_beside_run(&self, id: Uuid) -> bool {
        self.answers.is_beside_run(id)
    }

    /// The keyboard and the size of the terminal of the current step, if its plan asks for one.
    pub fn terminal(&self) -> &TerminalPort {
        &self.terminal
    }

    /// The next event, if one has arrived.
    pub fn try_recv(&self) -> Option<Event> {
        self.events.try_recv()
    }

    /// Waits for the next event; `None` if the thread has ended. The window must not call this function, because it
    /// blocks.
    pub fn recv(&self) -> Option<Event> {
        self.events.recv()
    }
}

/// The state of the executor thread.
pub(super) struct ExecutorThread {
    pub(super) setup: Setup,
    pub(super) control: ControlHandle,
    pub(super) answers: AnswerSlots,
    pub(super) terminal: TerminalPort,
    busy: Arc<AtomicBool>,
    /// The policy, of which the window may change between runs what the settings say.
    policy: Arc<Mutex<Policy>>,
    pub(super) out: EventSink,
}

/// Sends events to the window and wakes it. After the window was closed, events are dropped and the run continues.
#[derive(Clone)]
pub(super) struct EventSink {
    events: Arc<outbox::Sender>,
    wake: Wake,
    answers: AnswerSlots,
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
            self.answers.step.open((request.run_id, request.step_index));
        }
        if let RunEvent::AuthorizationNeeded { loop_id, attempt, .. } = event {
            self.answers.plan.open((*loop_id, *attempt));
        }
        if let RunEvent::PlannerAsked { loop_id, attempt, .. } = event {
            self.answers.question.open((*loop_id, *attempt));
        }
        self.send(Event::Run(event.clone()));
        if let RunEvent::StepCompleted { .. } = event {
            self.faults.hit("worker");
        }
    }
}

/// Sends the events of a run to the window and to a client that waits for the run.
struct Both(EventSink, Arc<dyn ProgressCallback>);

impl ProgressCallback for Both {
    fn on_event(&self, event: &RunEvent) {
        self.1.on_event(event);
        self.0.on_event(event);
    }
}

impl ExecutorThread {
    fn serve(self, inbox: &Receiver<Command>) {
        // Removes folders that earlier simulations left behind. Those that cannot be removed now are left for a later
        // start.
        let _ = remove_abandoned_simulations();
        // Runs without a window may have left records to index.
        let mut has_records_to_index = true;
        loop {
            let command = if has_records_to_index {
                inbox.try_recv()
            } else {
                inbox.recv().map_err(|_| TryRecvError::Disconnected)
            };
            let command = match command {
                Ok(command) => command,
                Err(TryRecvError::Empty) => {
                    has_records_to_index = self.index_for_a_moment();
                    continue;
                }
                Err(TryRecvError::Disconnected) => break,
            };
            // Each run has its own executor, so that no state survives a panic. Unwinding closes the evidence, which
            // marks the run as interrupted.
            let event =
                catch_unwind(AssertUnwindSafe(|| self.execute(command))).unwrap_or_else(|panic| {
                    match panic.is::<CutOff>() {
                        true => Event::CutOff,
                        false => Event::Panicked { message: panic_message(&*panic) },
                    }
                });
            self.answers.close();
            // Reset before the window gets the event, because the window may send the next plan at once.
            self.busy.store(false, Ordering::SeqCst);
            self.out.send(event);
            // Indexes after the window has its answer.
            has_records_to_index = true;
        }
    }

    /// Indexes records for so short a time that no command waits for long. Returns whether there are more. If this
    /// fails, the next search indexes and reports the error.
    fn index_for_a_moment(&self) -> bool {
        let index = || {
            let limit = Duration::from_millis(400);
            let mut evidence = self.setup.location.open()?;
            evidence.catch_up_index_within(limit, &StopSignal::default(), &mut |_, _| {})
        };
        matches!(catch_unwind(AssertUnwindSafe(index)), Ok(Ok(1..)))
    }

    fn execute(&self, command: Command) -> Event {
        match command {
            Command::Run { approved, file, secret_inputs, call, cut_off_in } => {
                let progress: Arc<dyn ProgressCallback> = match &call {
                    None => Arc::new(self.out.clone()),
                    Some(call) => Arc::new(Both(self.out.clone(), call.progress())),
                };
                let plan = (*approved, file, secret_inputs);
                let result = self.run(plan, progress, cut_off_in);
                if let Some(call) = call {
                    call.end(&result);
                }
                Event::Finished(result.map(Box::new))
            }
            Command::Loop(order) => Event::LoopFinished(self.run_loop(*order).map(Box::new)),
        }
    }

    /// The policy for a run that begins now.
    pub(super) fn policy(&self) -> Policy {
        self.policy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the person in the window.
    pub(super) fn secrets(&self) -> Arc<dyn AskSecret> {
        let (out, answers) = (self.out.clone(), self.answers.clone());
        let slot = Arc::clone(&answers.secret);
        Arc::new(WindowSecrets { out, answers, slot, turn: Mutex::default() })
    }

    fn run(
        &self,
        (approved, file, secret_inputs): (ApprovedPlan, Option<PathBuf>, SecretInputs),
        progress: Arc<dyn ProgressCallback>,
        cut_off_in: Option<usize>,
    ) -> Result<ExecutionResult, Failure> {
        let store = self.setup.location.store().map_err(|error| error.failure())?;
        let mut executor = Executor::new(
            store,
            ExecutorDeps {
                policy: Policy { secret_inputs, ..self.policy() },
                clock: Arc::new(SystemClock::default()),
                confirmation: Box::new(self.answers.clone()),
                progress,
                control: self.control.clone(),
                terminal: Some(self.terminal.clone()),
                secrets: Some(self.secrets()),
                passphrase: Some(self.secrets()),
            },
        )
        .with_plan_file(file)
        .cut_off_in(cut_off_in);
        executor.execute(approved).map_err(|error| error.failure())
    }
}
