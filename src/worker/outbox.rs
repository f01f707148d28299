//! The queue of events for the window, with a limit for output.
//!
//! A program may print faster than the window draws. Output never blocks the run: if too much is queued, the oldest is
//! dropped and replaced by its size. The evidence gets all output independently of this queue. Other events are never
//! dropped; the run waits while too many of them are queued.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Event;
use crate::run::{RunEvent, Stream};

/// The number of queued events other than output at which the run waits.
const MAX_EVENTS: usize = 4096;
/// The maximum size of the queued output, in bytes. Beyond it, the oldest output is dropped.
const MAX_OUTPUT: usize = 2 << 20;
/// The maximum size of the output in one event, in bytes. A frame stops taking output only between two events.
pub(super) const MAX_CHUNK: usize = 8 << 10;
/// The approximate size of an event without its text, in bytes. It counts as output.
const EVENT_OVERHEAD: usize = 256;

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
    other_events: usize,
    sender_dropped: bool,
    receiver_dropped: bool,
}

/// The end of the queue that the executor thread holds.
pub(super) struct Sender {
    shared: Arc<Outbox>,
}

/// The end of the queue that the window holds.
pub(super) struct Receiver {
    shared: Arc<Outbox>,
}

impl Sender {
    /// Adds an event; waits first if it is no output and too many events are queued. Returns false if the receiver was
    /// dropped.
    pub(super) fn send(&self, event: Event) -> bool {
        let mut state = self.shared.lock();
        match event {
            Event::Run(RunEvent::StepOutput { step_id, stream, chunk }) => {
                let mut rest = chunk.as_str();
                while !rest.is_empty() {
                    let (first, remaining) = rest.split_at(rest.floor_char_boundary(MAX_CHUNK));
                    state.add_output(step_id.clone(), stream, first.to_owned());
                    rest = remaining;
                }
            }
            event => {
                let is_full =
                    |state: &mut State| !state.receiver_dropped && state.other_events >= MAX_EVENTS;
                state = self
                    .shared
                    .changed
                    .wait_while(state, is_full)
                    .unwrap_or_else(PoisonError::into_inner);
                state.queue.push_back(event);
                state.other_events += 1;
            }
        }
        let is_received = !state.receiver_dropped;
        drop(state);
        self.shared.changed.notify_all();
        is_received
    }
}

impl State {
    fn add_output(&mut self, step_id: String, stream: Stream, chunk: String) {
        self.output += chunk.len() + EVENT_OVERHEAD;
        self.queue.push_back(Event::Run(RunEvent::StepOutput { step_id, stream, chunk }));
        while self.output > MAX_OUTPUT {
            let oldest = self.queue.iter().position(is_output);
            let Some(Event::Run(RunEvent::StepOutput { step_id, chunk, .. })) =
                oldest.and_then(|index| self.queue.remove(index))
            else {
                return;
            };
            self.output -= chunk.len() + EVENT_OVERHEAD;
            let (index, dropped) = (oldest.unwrap_or_default(), chunk.len() as u64);
            // If output of the same step was already dropped just before this, its event counts both.
            let previous = index.checked_sub(1).and_then(|previous| self.queue.get_mut(previous));
            match previous {
                Some(Event::Run(RunEvent::OutputLeftOut { step_id: same, bytes }))
                    if *same == step_id =>
                {
                    *bytes += dropped;
                }
                _ => {
                    let left_out = RunEvent::OutputLeftOut { step_id, bytes: dropped };
                    self.queue.insert(index, Event::Run(left_out));
                    self.other_events += 1;
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
        self.pop(self.shared.lock())
    }

    /// Waits for the next event; `None` if the queue is empty and the sender was dropped.
    pub(super) fn recv(&self) -> Option<Event> {
        let state = self.shared.lock();
        let is_empty = |state: &mut State| state.queue.is_empty() && !state.sender_dropped;
        let waited = self.shared.changed.wait_while(state, is_empty);
        self.pop(waited.unwrap_or_else(PoisonError::into_inner))
    }

    /// Removes the first event, updates the counts, and wakes a waiting sender.
    fn pop(&self, mut state: MutexGuard<'_, State>) -> Option<Event> {
        let event = state.queue.pop_front();
        match &event {
            Some(Event::Run(RunEvent::StepOutput { chunk, .. })) => {
                state.output -= chunk.len() + EVENT_OVERHEAD;
            }
            Some(_) => state.other_events -= 1,
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
        self.shared.lock().sender_dropped = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.lock().receiver_dropped = true;
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
        let (mut kept, mut left_out, mut left_out_events) = (String::new(), 0, 0);
        for event in &events {
            match event {
                Event::Run(RunEvent::StepOutput { chunk, .. }) => {
                    assert!(chunk.len() <= MAX_CHUNK);
                    kept.push_str(chunk);
                }
                Event::Run(RunEvent::OutputLeftOut { bytes, .. }) => {
                    left_out += bytes;
                    left_out_events += 1;
                }
                _ => {}
            }
        }
        assert_eq!(kept.len() as u64 + left_out, sent);
        assert!((MAX_OUTPUT / 2..=MAX_OUTPUT).contains(&kept.len()), "{}", kept.len());
        assert!(text.repeat(60).ends_with(&kept), "the newest output is kept");
        assert_eq!(left_out_events, 2, "one event for each step");
    }

    /// Output never blocks the sender; other events do when too many are queued.
    #[test]
    fn only_other_events_block_the_sender() {
        let (sender, receiver) = outbox();
        for _ in 0..MAX_EVENTS {
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
        assert_eq!(
            rest, MAX_EVENTS,
            "`recv` returns `None` after the last event of a dropped sender"
        );
    }

    #[test]
    fn a_dropped_receiver_never_blocks() {
        let (sender, receiver) = outbox();
        drop(receiver);
        for _ in 0..=MAX_EVENTS {
            assert!(!sender.send(Event::Run(RunEvent::Paused)));
        }
    }
}
