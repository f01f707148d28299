//! Passes what a person types from the window to the program of the current step, and the size of the pane.
//!
//! What is typed is only here and in the pseudo-terminal: it is no event and has no `Debug` form. What is typed is recorded
//! only as far as the terminal echoes it. Otherwise only the fact that a person typed is recorded.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::size::TerminalSize;
use crate::run::Secret;

/// The maximum size of the input that the program has not read, in bytes. More is refused.
const MAX_INPUT: usize = 1 << 20;
/// The maximum size of the input that is taken at once, in bytes.
const MAX_TAKEN: usize = 4 << 10;

/// The step whose program runs in the terminal: its run and its index.
type TerminalStep = (Uuid, usize);

/// The origin of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypedBy {
    /// A person.
    Person,
    /// The screen, which answers a query of the program, for instance for the position of the cursor.
    Screen,
}

/// The keyboard of the terminal. All clones share it.
#[derive(Clone, Default)]
pub struct TerminalPort(Arc<Mutex<State>>);

/// Wakes the thread that passes input on.
type Wake = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct State {
    /// The step whose terminal is open.
    step: Option<TerminalStep>,
    size: TerminalSize,
    /// Whether the program has yet to be told the size.
    is_resized: bool,
    /// The input that was not taken yet, in parts of at most [`MAX_TAKEN`] bytes. It may be a password.
    input: VecDeque<Secret>,
    /// The size of the input, in bytes.
    unread: usize,
    has_typed: bool,
    /// Called after each change.
    wake: Option<Wake>,
}

impl fmt::Debug for TerminalPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TerminalPort").field(&self.lock().step).finish()
    }
}

impl TerminalPort {
    /// Passes input to the program of this step. Returns false if its terminal is not open, or if the program has not
    /// read a mebibyte of earlier input; nothing of the input is passed then.
    pub fn write(&self, step: TerminalStep, bytes: &[u8], by: TypedBy) -> bool {
        let mut state = self.lock();
        if state.step != Some(step) || state.unread + bytes.len() > MAX_INPUT {
            return false;
        }
        state.input.extend(bytes.chunks(MAX_TAKEN).map(|part| Secret::new(part.to_vec())));
        state.unread += bytes.len();
        state.has_typed |= by == TypedBy::Person;
        wake(state);
        true
    }

    /// Sets the size of the open terminal and of later ones.
    pub fn resize(&self, size: TerminalSize) {
        let mut state = self.lock();
        state.is_resized |= state.size != size;
        state.size = size;
        wake(state);
    }

    /// Opens the terminal for a step. Input for earlier steps is dropped.
    pub fn open(&self, run_id: Uuid, step_index: usize) -> OpenTerminal {
        let mut state = self.lock();
        let size = state.size;
        *state = State { step: Some((run_id, step_index)), size, ..State::default() };
        OpenTerminal { port: self.clone(), size }
    }

    /// Ignores poisoning: the state is consistent even if a thread panicked while it held the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Unlocks a state that has changed, and wakes the thread that waits for changes.
fn wake(state: MutexGuard<'_, State>) {
    let wake = state.wake.clone();
    drop(state);
    if let Some(wake) = wake {
        wake();
    }
}

/// The terminal of one step; closed on drop.
pub struct OpenTerminal {
    port: TerminalPort,
    /// The size when the terminal was opened.
    pub size: TerminalSize,
}

impl fmt::Debug for OpenTerminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenTerminal").field(&self.size).finish()
    }
}

impl OpenTerminal {
    /// Whether a person has typed anything.
    pub fn has_typed(&self) -> bool {
        self.port.lock().has_typed
    }

    /// The current size.
    pub fn current_size(&self) -> TerminalSize {
        self.port.lock().size
    }

    /// The end of the port from which input is taken, on another thread than that of the step.
    pub fn keyboard(&self) -> Keyboard {
        Keyboard { port: self.port.clone(), step: self.port.lock().step }
    }
}

impl Drop for OpenTerminal {
    fn drop(&mut self) {
        let mut state = self.port.lock();
        let last = state.wake.take();
        *state = State { size: state.size, ..State::default() };
        drop(state);
        if let Some(wake) = last {
            wake();
        }
    }
}

/// Takes the input for one step.
pub struct Keyboard {
    port: TerminalPort,
    step: Option<TerminalStep>,
}

impl Keyboard {
    /// Has `wake` called now, after each change, and when the terminal is closed.
    pub fn listen(&self, wake: &Wake) {
        if let Some(mut state) = self.state() {
            state.wake = Some(Arc::clone(wake));
        }
        wake();
    }

    /// Whether the terminal is open.
    pub fn is_open(&self) -> bool {
        self.state().is_some()
    }

    /// The size of the terminal, if the program has yet to be told.
    pub fn take_size(&self) -> Option<TerminalSize> {
        let mut state = self.state()?;
        std::mem::take(&mut state.is_resized).then_some(state.size)
    }

    /// The next bytes for the program, at most 4 KiB; `None` if nothing was typed.
    pub fn take_input(&self) -> Option<Secret> {
        let mut state = self.state()?;
        let input = state.input.pop_front()?;
        state.unread -= input.bytes().len();
        Some(input)
    }

    /// The state, while the terminal of the step is open.
    fn state(&self) -> Option<MutexGuard<'_, State>> {
        let state = self.port.lock();
        (state.step.is_some() && state.step == self.step).then_some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_reaches_only_the_open_terminal_of_its_step() {
        let port = TerminalPort::default();
        let (run, other) = (Uuid::new_v4(), Uuid::new_v4());
        assert!(!port.write((run, 0), b"early", TypedBy::Person));
        port.resize(TerminalSize::new(100, 30));
        let terminal = port.open(run, 0);
        assert_eq!(terminal.size, TerminalSize::new(100, 30));
        let keyboard = terminal.keyboard();
        for step in [(run, 1), (other, 0)] {
            assert!(!port.write(step, b"elsewhere", TypedBy::Person));
        }
        assert!(port.write((run, 0), b"\x1b[1;1R", TypedBy::Screen));
        assert!(!terminal.has_typed(), "an answer of the screen is not typed by a person");
        assert!(port.write((run, 0), b"ls", TypedBy::Person));
        assert!(terminal.has_typed());
        port.resize(TerminalSize::new(90, 20));
        assert_eq!(keyboard.take_size(), Some(TerminalSize::new(90, 20)));
        assert_eq!(keyboard.take_size(), None);
        let taken = [keyboard.take_input(), keyboard.take_input()].map(Option::unwrap);
        assert_eq!([taken[0].bytes(), taken[1].bytes()], [&b"\x1b[1;1R"[..], b"ls"]);
        assert!(keyboard.take_input().is_none() && keyboard.is_open());
        assert!(port.write((run, 0), b"unread", TypedBy::Person));
        drop(terminal);
        assert!(!keyboard.is_open() && keyboard.take_input().is_none());
        let next = port.open(run, 1);
        assert!(!next.has_typed() && !keyboard.is_open());
        assert!(!port.write((run, 0), b"late", TypedBy::Person));
    }

    #[test]
    fn unread_input_is_limited() {
        let port = TerminalPort::default();
        let run = Uuid::new_v4();
        let terminal = port.open(run, 0);
        assert!(port.write((run, 0), &vec![b'a'; MAX_INPUT], TypedBy::Person));
        assert!(!port.write((run, 0), b"a", TypedBy::Person));
        let taken = terminal.keyboard().take_input().unwrap();
        assert_eq!(taken.bytes().len(), MAX_TAKEN);
        assert!(port.write((run, 0), taken.bytes(), TypedBy::Person), "there is room again");
        assert!(!port.write((run, 0), b"a", TypedBy::Person));
    }

    #[test]
    fn debug_output_has_no_input() {
        let port = TerminalPort::default();
        let run = Uuid::new_v4();
        let terminal = port.open(run, 0);
        port.write((run, 0), b"kingfisher", TypedBy::Person);
        assert!(!format!("{port:?} {terminal:?}").contains("kingfisher"));
    }
}
