//! Asks the person at the terminal for the passphrase of the key that signs.

use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};

use super::inputs::{Silence, ask_line};
use super::output::{quoted_in_line, say};
use super::run::is_terminal;
use crate::run::{AskSecret, Secret, SecretQuestion};

/// Asks at the terminal, without echo.
#[derive(Debug)]
struct AtTerminal {
    /// Written when a question is withdrawn, so that nobody has to answer it.
    withdrawn: (Mutex<PipeReader>, Mutex<PipeWriter>),
}

/// Who is asked on this command line; `None` if there is no terminal.
pub(super) fn asks_at_terminal() -> Option<Arc<dyn AskSecret>> {
    if !is_terminal() {
        return None;
    }
    let (reader, writer) = io::pipe().ok()?;
    Some(Arc::new(AtTerminal { withdrawn: (Mutex::new(reader), Mutex::new(writer)) }))
}

impl AtTerminal {
    fn answer(&self, prompt: &str, is_withdrawn: &dyn Fn() -> bool) -> io::Result<Option<Secret>> {
        let _silence = Silence::begin()?;
        let mut stderr = io::stderr();
        write!(stderr, "{prompt}")?;
        stderr.flush()?;
        let reader = self.withdrawn.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stdin = io::stdin();
        let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&*reader, PollFlags::IN)];
        if is_withdrawn() {
            return Ok(None);
        }
        poll(&mut ready, None)?;
        if is_withdrawn() {
            return Ok(None);
        }
        Ok(Some(Secret::new(ask_line("")?.into_bytes())))
    }
}

impl AskSecret for AtTerminal {
    fn ask(&self, question: &SecretQuestion, is_withdrawn: &dyn Fn() -> bool) -> Option<Secret> {
        say(&quoted_in_line(&format!("{} asks:", question.asked_by)));
        let answer = self.answer(&quoted_in_line(&format!("{} ", question.prompt)), is_withdrawn);
        // The line break was not shown, either.
        let _ = writeln!(io::stderr());
        answer.ok().flatten()
    }

    fn withdraw(&self) {
        let mut writer = self.withdrawn.1.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.write_all(b"w");
    }
}
