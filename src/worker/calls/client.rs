//! The side of `countersign hook` and `countersign exec`.

use std::io::{self, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::socket::{is_this_user, socket_path};
use crate::hooks::channel::{Ask, Reply, Request, line, read};

/// Why the window gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No window is open, or it cannot be reached.
    #[error("no window of Countersign can be reached")]
    NoWindow(#[source] io::Error),
    /// The window has closed the connection.
    #[error("the window of Countersign was closed")]
    Closed,
    /// The time is over.
    #[error("nobody answered in time")]
    TooLate,
    /// Something else is wrong with the connection.
    #[error("the window of Countersign cannot be understood: {0}")]
    Broken(#[source] io::Error),
}

/// Asks the window in whose folder this is, and passes its replies to `take` until that returns something. Waits until
/// `deadline`, if there is one.
///
/// # Errors
/// No window can be reached, it closes the connection, or the time is over.
pub fn ask_window<T>(
    folder: &Path,
    ask: Ask,
    deadline: Option<Instant>,
    mut take: impl FnMut(Reply) -> Option<T>,
) -> Result<T, AskError> {
    let path = socket_path(folder).map_err(AskError::NoWindow)?;
    let mut stream = UnixStream::connect(path).map_err(AskError::NoWindow)?;
    if !is_this_user(&stream).map_err(AskError::NoWindow)? {
        let other = io::Error::other("the socket belongs to another user");
        return Err(AskError::NoWindow(other));
    }
    let left = |stream: &UnixStream| match deadline {
        None => Ok(()),
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(AskError::TooLate);
            }
            let left = Some(left.max(Duration::from_millis(1)));
            stream.set_read_timeout(left).map_err(AskError::Broken)?;
            stream.set_write_timeout(left).map_err(AskError::Broken)
        }
    };
    left(&stream)?;
    let request = line(&Request::new(ask)).map_err(AskError::Broken)?;
    stream.write_all(&request).map_err(of_stream)?;
    let mut input = BufReader::new(stream);
    loop {
        left(input.get_ref())?;
        let reply = read::<Reply>(&mut input).map_err(of_stream)?;
        let reply = reply.ok_or(AskError::Closed)?;
        if let Some(taken) = take(reply) {
            let _ = input.get_ref().shutdown(Shutdown::Both);
            return Ok(taken);
        }
    }
}

fn of_stream(error: io::Error) -> AskError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => AskError::TooLate,
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => AskError::Closed,
        _ => AskError::Broken(error),
    }
}
