//! The queue of events for the window, with a limit for output.
//!
//! A program may print faster than the window draws. Output never blocks the run: when there is too much, the oldest
//! is dropped and replaced by its size. The evidence stores all of it first. Other events are never dropped; the run
//! waits when too many of them are queued.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::messages::Event;
use crate::run::{RunEvent, Stream};

/// The maximum number of queued events other than output. When it is reached, the run waits.
const EVENTS: usize = 4096;
/// The maximum size of the queued output, in bytes. When it is exceeded, the oldest is dropped.
const OUTPUT_BYTES: usize = 2 << 20;
/// The maximum size of the output in one event, in bytes, so that a frame can stop after any of them.
pub(super) const PIECE: usize = 8 << 10;
/// The approximate size of an event without its text, in bytes.
const OVERHEAD: usize = 256;

/// A queue with its two ends.
pub(super) fn outbox() -> (Sender, Receiver) {
    let shared = Arc::new(Outbox::default());
    (Sender { shared: Arc::clone(&shared) }, Receiver { shared })
}

#[derive(Default)]
struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Event>,
    /// The size of the queued output, in bytes.
    output: usize,
    /// The number of queued events other than output.
    others: usize,
    sender_gone: bool,
    receiver_gone: bool,
}

/// The end of the executor thread.
pub(super) struct Sender {
    shared: Arc<Outbox>,
}

/// The end of the window.
pub(super) struct Receiver {
    shared: Arc<Outbox>,
}

impl Sender {
    /// Adds an event. Returns false if the receiver was dropped.
    pub(super) fn send(&self, event: Event) -> bool {
        let mut state = self.shared.lock();
        match event {
            Event::Run(RunEvent::StepOutput { step_id, stream, chunk }) => {
                let mut rest = chunk.as_str();
                while !rest.is_empty() {
                    let (piece, later) = rest.split_at(rest.floor_char_boundary(PIECE));
                    state.add_output(step_id.clone(), stream, piece.to_owned());
                    rest = later;
                }
            }
            event => {
                let is_full = |state: &mut State| !state.receiver_gone && state.others >= EVENTS;
                state = self
                    .shared
                    .changed
                    .wait_while(state, is_full)
                    .unwrap_or_else(PoisonError::into_inner);
                state.queue.push_back(event);
                state.others += 1;
            }
        }
        let is_received = !state.receiver_gone;
        drop(state);
        self.shared.changed.notify_all();
        is_received
    }
}

impl State {
    fn add_output(&mut self, step_id: String, stream: Stream, chunk: String) {
        self.output += chunk.len() + OVERHEAD;
        self.queue.push_back(Event::Run(RunEvent::StepOutput { step_id, stream, chunk }));
        while self.output > OUTPUT_BYTES {
            let oldest = self.queue.iter().position(is_output);
            let Some(Event::Run(RunEvent::StepOutput { step_id, chunk, .. })) =
                oldest.and_then(|at| self.queue.remove(at))
            else {
                return;
            };
            self.output -= chunk.len() + OVERHEAD;
            let (at, lost) = (oldest.unwrap_or_default(), chunk.len() as u64);
            // One event for all output that was dropped at one place.
            let before = at.checked_sub(1).and_then(|before| self.queue.get_mut(before));
            match before {
                Some(Event::Run(RunEvent::OutputLeftOut { step_id: same, bytes }))
                    if *same == step_id =>
                {
                    *bytes += lost;
                }
                _ => {
                    let told = RunEvent::OutputLeftOut { step_id, bytes: lost };
                    self.queue.insert(at, Event::Run(told));
                    self.others += 1;
                }
            }
        }
    }
}

fn is_output(event: &Event) -> bool {
    matches!(event, Event::Run(RunEvent::StepOutput { .. }))
}

impl Receiver {
    /// The next event, if one is queued.
    pub(super) fn try_recv(&self) -> Option<Event> {
        let mut state = self.shared.lock();
        let event = state.queue.pop_front();
        self.taken(state, event)
    }

    /// Waits for the next event; `None` if the sender was dropped.
    pub(super) fn recv(&self) -> Option<Event> {
        let state = self.shared.lock();
        let nothing = |state: &mut State| state.queue.is_empty() && !state.sender_gone;
        let waited = self.shared.changed.wait_while(state, nothing);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let event = state.queue.pop_front();
        self.taken(state, event)
    }

    fn taken(&self, mut state: MutexGuard<'_, State>, event: Option<Event>) -> Option<Event> {
        match &event {
            Some(Event::Run(RunEvent::StepOutput { chunk, .. })) => {
                state.output -= chunk.len() + OVERHEAD;
            }
            Some(_) => state.others -= 1,
            None => {}
        }
        drop(state);
        self.shared.changed.notify_all();
        event
    }
}

impl Outbox {
    /// Ignores poisoning: the queue is consistent even if a thread panicked while it held the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.shared.lock().sender_gone = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.lock().receiver_gone = true;
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::thread;

    use super::*;

    fn output(step: &str, chunk: &str) -> Event {
        let step_id = step.to_owned();
        Event::Run(RunEvent::StepOutput {
            step_id,
            stream: Stream::Stdout,
            chunk: chunk.to_owned(),
        })
    }

    /// Dropped output is replaced by its size.
    #[test]
    fn a_flood_keeps_the_newest_output() {
        let (sender, receiver) = outbox();
        sender.send(Event::Run(RunEvent::Paused));
        let line = "kingfisher é\n";
        let text = line.repeat(10_000);
        let mut sent = 0;
        for step in ["a", "b"] {
            for _ in 0..60 {
                assert!(sender.send(output(step, &text)));
                sent += text.len() as u64;
            }
            sender.send(Event::Run(RunEvent::Resumed));
        }
        let events: Vec<Event> = std::iter::from_fn(|| receiver.try_recv()).collect();
        assert!(matches!(events.first(), Some(Event::Run(RunEvent::Paused))));
        assert!(matches!(events.last(), Some(Event::Run(RunEvent::Resumed))));
        let (mut kept, mut left_out, mut told) = (String::new(), 0, 0);
        for event in &events {
            match event {
                Event::Run(RunEvent::StepOutput { chunk, .. }) => {
                    assert!(chunk.len() <= PIECE);
                    kept.push_str(chunk);
                }
                Event::Run(RunEvent::OutputLeftOut { bytes, .. }) => {
                    left_out += bytes;
                    told += 1;
                }
                _ => {}
            }
        }
        assert_eq!(kept.len() as u64 + left_out, sent);
        assert!((OUTPUT_BYTES / 2..=OUTPUT_BYTES).contains(&kept.len()), "{}", kept.len());
        assert!(text.repeat(60).ends_with(&kept), "the newest");
        assert_eq!(told, 2, "once for each step");
    }

    /// Output never blocks the sender; other events do when too many are queued.
    #[test]
    fn only_other_events_block_the_sender() {
        let (sender, receiver) = outbox();
        for _ in 0..EVENTS {
            sender.send(Event::Run(RunEvent::Paused));
        }
        thread::scope(|scope| {
            let (done, is_done) = sync_channel(1);
            scope.spawn(move || {
                sender.send(Event::Run(RunEvent::Resumed));
                done.send(()).unwrap();
            });
            assert!(is_done.recv_timeout(std::time::Duration::from_millis(100)).is_err());
            receiver.recv().unwrap();
            is_done.recv().unwrap();
        });
        let rest = std::iter::from_fn(|| receiver.recv()).count();
        assert_eq!(rest, EVENTS, "and then there are no more, because the sender is gone");
    }

    #[test]
    fn a_dropped_receiver_never_blocks() {
        let (sender, receiver) = outbox();
        drop(receiver);
        for _ in 0..=EVENTS {
            assert!(!sender.send(Event::Run(RunEvent::Paused)));
        }
    }
}
