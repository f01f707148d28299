//! Passes what a person types from the window to the program of the current step, and the size of the pane.
//!
//! What is typed is only here and in the pseudo-terminal: it is not an event, it is not recorded, and it has no `Debug`
//! form. Only the fact that a person typed is recorded.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::size::TerminalSize;

/// The maximum size of the input that the program has not read, in bytes. More is refused.
const MAX_INPUT: usize = 1 << 20;

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
pub struct TerminalPort(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The step whose terminal is open.
    step: Option<TerminalStep>,
    size: TerminalSize,
    /// Whether the program has yet to be told the size.
    is_resized: bool,
    input: Vec<u8>,
    has_typed: bool,
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
        if state.step != Some(step) || state.input.len() + bytes.len() > MAX_INPUT {
            return false;
        }
        state.input.extend_from_slice(bytes);
        state.has_typed |= by == TypedBy::Person;
        drop(state);
        self.0.changed.notify_all();
        true
    }

    /// Sets the size of the open terminal and of later ones.
    pub fn resize(&self, size: TerminalSize) {
        let mut state = self.lock();
        state.is_resized |= state.size != size;
        state.size = size;
        drop(state);
        self.0.changed.notify_all();
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
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Something for the program in the terminal.
pub enum TerminalInput {
    /// Bytes to read from its terminal.
    Bytes(Vec<u8>),
    /// The size of the terminal is now this.
    Resized(TerminalSize),
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
        state.step = None;
        state.input = Vec::new();
        drop(state);
        self.port.0.changed.notify_all();
    }
}

/// Takes the input for one step.
pub struct Keyboard {
    port: TerminalPort,
    step: Option<TerminalStep>,
}

impl Keyboard {
    /// Waits for input or a new size; `None` once the terminal is closed. A size comes before input, so that a program
    /// that does not read its input still learns it.
    pub fn next(&self) -> Option<TerminalInput> {
        let is_idle = |state: &mut State| {
            state.step == self.step && state.input.is_empty() && !state.is_resized
        };
        let state = self.port.lock();
        let waited = self.port.0.changed.wait_while(state, is_idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.step != self.step || state.step.is_none() {
            return None;
        }
        if std::mem::take(&mut state.is_resized) {
            return Some(TerminalInput::Resized(state.size));
        }
        Some(TerminalInput::Bytes(std::mem::take(&mut state.input)))
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
        let Some(TerminalInput::Resized(size)) = keyboard.next() else { panic!("a size first") };
        assert_eq!(size, TerminalSize::new(90, 20));
        let Some(TerminalInput::Bytes(bytes)) = keyboard.next() else { panic!("input") };
        assert_eq!(bytes, b"\x1b[1;1Rls");
        assert!(port.write((run, 0), b"unread", TypedBy::Person));
        drop(terminal);
        assert!(keyboard.next().is_none());
        let next = port.open(run, 1);
        assert!(!next.has_typed() && keyboard.next().is_none());
        assert!(!port.write((run, 0), b"late", TypedBy::Person));
    }

    #[test]
    fn unread_input_is_limited() {
        let port = TerminalPort::default();
        let run = Uuid::new_v4();
        let _terminal = port.open(run, 0);
        assert!(port.write((run, 0), &vec![b'a'; MAX_INPUT], TypedBy::Person));
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
