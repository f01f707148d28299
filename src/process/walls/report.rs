//! What the helper tells the process that started it, message by message.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::system;

/// A message of the helper.
pub(super) enum Message {
    /// The walls stand, and the program is about to take the helper's place: when the channel closes without
    /// another message, it has.
    AboutToStart,
    /// The program was started below the helper.
    Started,
    /// It was not started.
    Failed(io::Error),
    /// The listener that hears of refused sockets.
    Listener(OwnedFd),
    /// The program's own exit status, a signal included: what was started in its place ends with a code.
    Ended(ExitStatus),
}

/// The helper's end.
pub(super) struct Teller(pub(super) OwnedFd);

impl Teller {
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

    /// Says why the program was not started, with the number of the system's error where there is one.
    pub(super) fn failed(&self, error: &io::Error) {
        let number = error.raw_os_error().unwrap_or(0).to_le_bytes();
        let mut text = error.to_string();
        text.truncate(text.floor_char_boundary(2000));
        // Who started it is gone when this fails.
        let _ = self.send(b'E', &[&number[..], text.as_bytes()].concat(), None);
    }

    pub(super) fn listener(&self, listener: &OwnedFd) -> io::Result<()> {
        self.send(b'L', b"", Some(listener))
    }

    pub(super) fn ended(&self, status: ExitStatus) -> io::Result<()> {
        self.send(b'S', &status.into_raw().to_le_bytes(), None)
    }
}

/// The other end.
#[derive(Debug)]
pub(super) struct Hearer(pub(super) OwnedFd);

impl Hearer {
    /// Whether there is a message, or the end, within this time.
    pub(super) fn hears_within(&self, time: Duration) -> io::Result<bool> {
        let time = Timespec::try_from(time).map_err(io::Error::other)?;
        let mut wanted = [PollFd::new(&self.0, PollFlags::IN)];
        loop {
            match poll(&mut wanted, Some(&time)) {
                Ok(count) => return Ok(count > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The next message; none at the end, or when there is none yet and `wait` was not asked for.
    pub(super) fn next(&self, wait: bool) -> io::Result<Option<Message>> {
        let Some((message, descriptor)) = system::receive(self.0.as_fd(), wait)? else {
            return Ok(None);
        };
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
            _ => return Err(io::Error::other("the helper said something that has no meaning")),
        };
        Ok(Some(message))
    }
}
