//! The queue between those who log and the thread that writes.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::Level;

use super::file::LogFile;
use super::line::Message;

/// The maximum size of the messages that wait, in bytes. More wait only if the disk does not answer.
const MAX_WAITING: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<Message>,
    /// The size of the waiting messages.
    bytes: usize,
    /// Whether the thread writes messages that it has taken.
    is_writing: bool,
    /// Whether no thread writes.
    is_closed: bool,
    /// The number of messages that were lost since the last line was written.
    lost: u64,
    fault: Option<String>,
}

/// The latest message that was written, and how often it came again.
#[derive(Default)]
struct Latest {
    message: Option<Message>,
    times: u64,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while it has the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, message: Message) {
        let mut state = self.state();
        let bytes = state.bytes + message.size();
        if state.is_closed || bytes > MAX_WAITING {
            state.lost += 1;
            return;
        }
        state.bytes = bytes;
        state.waiting.push(message);
        drop(state);
        self.changed.notify_all();
    }

    /// Why the latest lines could not be written.
    pub(super) fn fault(&self) -> Option<String> {
        self.state().fault.clone()
    }

    #[cfg(test)]
    pub(super) fn lost(&self) -> u64 {
        self.state().lost
    }

    /// Accepts no more messages, because nothing can write them.
    pub(super) fn close(&self, why: &io::Error) {
        let mut state = self.state();
        (state.is_closed, state.fault) = (true, Some(why.to_string()));
    }

    /// Waits until everything logged so far is written, but not longer than this.
    pub(super) fn wait_until_written(&self, longest: Duration) {
        let is_busy = |it: &mut State| !it.is_closed && (it.is_writing || !it.waiting.is_empty());
        let waited = self.changed.wait_timeout_while(self.state(), longest, is_busy);
        drop(waited);
    }

    /// Writes messages as they come, for ever.
    pub(super) fn write_to(&self, file: &LogFile) {
        let mut latest = Latest::default();
        loop {
            let waiting = self.changed.wait_while(self.state(), |it| it.waiting.is_empty());
            let mut state = waiting.unwrap_or_else(PoisonError::into_inner);
            let messages = std::mem::take(&mut state.waiting);
            (state.bytes, state.is_writing) = (0, true);
            let lost = state.lost;
            drop(state);
            // A message that makes its line panic must not end the log, for which others wait at their end.
            let written =
                catch_unwind(AssertUnwindSafe(|| write(file, &messages, lost, &mut latest)));
            let written = written.unwrap_or_else(|_| Err(io::Error::other("a line panicked")));
            let mut state = self.state();
            state.is_writing = false;
            match &written {
                Ok(()) => state.lost -= lost,
                Err(_) => {
                    state.lost += messages.len() as u64;
                    latest = Latest::default();
                }
            }
            state.fault = written.err().map(|error| error.to_string());
            drop(state);
            self.changed.notify_all();
        }
    }
}

/// Writes these messages after a line about those that were lost before. A message that comes again and again is written
/// once, with a count when another one follows.
fn write(file: &LogFile, messages: &[Message], lost: u64, latest: &mut Latest) -> io::Result<()> {
    let process = std::process::id();
    let mut lines = String::new();
    if lost > 0 {
        let lost = format!("messages lost count={lost}");
        lines.push_str(&Message::own(Level::Warn, &lost).line(process));
    }
    for message in messages {
        if latest.message.as_ref().is_some_and(|it| it.is_same(message)) {
            latest.times += 1;
            continue;
        }
        let times = std::mem::take(&mut latest.times);
        if times > 0 {
            let again = format!("the line before came again times={times}");
            lines.push_str(&Message::own(Level::Info, &again).line(process));
        }
        lines.push_str(&message.line(process));
        latest.message = Some(message.clone());
    }
    if lines.is_empty() { Ok(()) } else { file.append(lines.as_bytes()) }
}
