//! The messages from the helper to the process that started it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use super::system;

/// A message of the helper.
pub(super) enum Message {
    /// The walls are up, and the program is about to replace the helper. If the channel then closes without another
    /// message, the program has replaced the helper.
    AboutToStart,
    /// The program was started as a child of the helper.
    Started,
    /// The program was not started.
    Failed(io::Error),
    /// The listener that is notified of refused sockets.
    Listener(OwnedFd),
    /// The program's own exit status, which may be a signal; the helper itself can only exit with a code.
    Ended(ExitStatus),
}

/// The sending end of the channel, in the helper.
pub(super) struct Sender(pub(super) OwnedFd);

impl Sender {
    fn send(&self, kind: u8, rest: &[u8], descriptor: Option<&OwnedFd>) -> io::Result<()> {
        let message = [&[kind], rest].concat();
        system::send(self.0.as_fd(), &message, descriptor.map(|it| it.as_fd()))
    }

    pub(super) fn about_to_start(&self) -> io::Result<()> {
        self.send(b'W', b"", None)
    }

    pub(super) fn started(&self) -> io::Result<()> {
        self.send(b'R', b"", None)
    }

    /// Reports why the program was not started, with the OS error number if there is one.
    pub(super) fn failed(&self, error: &io::Error) {
        let number = error.raw_os_error().unwrap_or(0).to_le_bytes();
        let mut text = error.to_string();
        text.truncate(text.floor_char_boundary(2000));
        // Sending fails only if the process that started the helper is gone.
        let _ = self.send(b'E', &[&number[..], text.as_bytes()].concat(), None);
    }

    pub(super) fn listener(&self, listener: &OwnedFd) -> io::Result<()> {
        self.send(b'L', b"", Some(listener))
    }

    pub(super) fn ended(&self, status: ExitStatus) -> io::Result<()> {
        self.send(b'S', &status.into_raw().to_le_bytes(), None)
    }
}

/// The receiving end of the channel, in the process that started the helper.
#[derive(Debug)]
pub(super) struct Receiver(pub(super) OwnedFd);

impl Receiver {
    /// Receives the next message; `None` if the channel is closed, or if no message has arrived and `wait` is false.
    pub(super) fn next(&self, wait: bool) -> io::Result<Option<Message>> {
        let (message, descriptor) = system::receive(self.0.as_fd(), wait)?;
        let Some((kind, rest)) = message.split_first() else { return Ok(None) };
        let number = rest.first_chunk().map(|bytes| i32::from_le_bytes(*bytes));
        let message = match (kind, number, descriptor) {
            (b'W', ..) => Message::AboutToStart,
            (b'R', ..) => Message::Started,
            (b'L', _, Some(listener)) => Message::Listener(listener),
            (b'S', Some(status), _) => Message::Ended(ExitStatus::from_raw(status)),
            (b'E', Some(0), _) => {
                let text = rest.get(4..).unwrap_or_default();
                Message::Failed(io::Error::other(String::from_utf8_lossy(text).into_owned()))
            }
            (b'E', Some(number), _) => Message::Failed(io::Error::from_raw_os_error(number)),
            _ => return Err(io::Error::other("the helper sent an unknown message")),
        };
        Ok(Some(message))
    }
}
