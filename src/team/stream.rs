//! The bytes between this program and a server: reaching it, its encryption, and waiting for it.
//!
//! Every wait has a limit, and ends soon after it is stopped. Only the lookup of a name is the system's, which cannot be
//! stopped.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustls::{ClientConnection, StreamOwned};

use super::error::Result;
use super::server::SslMode;
use super::{Server, TeamError, tls};
use crate::run::StopSignal;

/// How often a wait looks whether it was stopped.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long one attempt to reach a host may take, after which a stop is looked at.
const ATTEMPT: Duration = Duration::from_secs(2);

/// How long a server may say nothing, and what ends the wait earlier.
#[derive(Debug, Clone, Default)]
pub struct Patience {
    /// The time.
    pub limit: Duration,
    /// Ends the wait.
    pub stop: Arc<StopSignal>,
}

impl From<Duration> for Patience {
    fn from(limit: Duration) -> Self {
        Self { limit, stop: Arc::default() }
    }
}

impl Patience {
    /// Repeats what ended without a result, until it has one, the server has said nothing for too long, or this is stopped.
    ///
    /// # Errors
    /// Those of `attempt`, and [`ErrorKind::TimedOut`] if it took too long or was stopped.
    pub(super) fn wait_for<T>(&self, attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        self.wait_since(Instant::now(), attempt)
    }

    /// As [`wait_for`](Self::wait_for), for what is waited for since then.
    ///
    /// # Errors
    /// As for [`wait_for`](Self::wait_for).
    pub(super) fn wait_since<T>(
        &self,
        begun: Instant,
        mut attempt: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        while !self.stop.is_set() && begun.elapsed() < self.limit {
            match attempt() {
                Err(error) if error.kind() == ErrorKind::Interrupted || is_silence(&error) => {}
                done => return done,
            }
        }
        Err(ErrorKind::TimedOut.into())
    }

    /// The error of a wait for this server.
    pub(super) fn error(&self, server: String, error: io::Error) -> TeamError {
        match error.kind() {
            _ if self.stop.is_set() => TeamError::Stopped,
            _ if is_silence(&error) => TeamError::Silent { server, seconds: self.limit.as_secs() },
            ErrorKind::InvalidData => TeamError::Tls(error.to_string()),
            _ => TeamError::Broken(error),
        }
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A connection to a server.
pub(super) enum Stream {
    Tcp(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
    #[cfg(unix)]
    Socket(std::os::unix::net::UnixStream),
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into),
            Self::Tls(stream) => stream.read(into),
            #[cfg(unix)]
            Self::Socket(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(from),
            Self::Tls(stream) => stream.write(from),
            #[cfg(unix)]
            Self::Socket(stream) => stream.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
            #[cfg(unix)]
            Self::Socket(stream) => stream.flush(),
        }
    }
}

impl Stream {
    /// Lets reads end without a result after [`LOOK_EVERY`]. Writes take as long as `limit`.
    fn look_often(&self, limit: Duration) -> io::Result<()> {
        let (read, write) = (Some(LOOK_EVERY), Some(limit));
        let set = |stream: &TcpStream| {
            stream.set_read_timeout(read).and_then(|()| stream.set_write_timeout(write))
        };
        match self {
            Self::Tcp(stream) => set(stream),
            Self::Tls(stream) => set(stream.get_ref()),
            #[cfg(unix)]
            Self::Socket(stream) => {
                stream.set_read_timeout(read).and_then(|()| stream.set_write_timeout(write))
            }
        }
    }

    /// Writes take at most as long as `limit`.
    pub(super) fn limit_writes(&self, limit: Duration) -> io::Result<()> {
        self.look_often(limit)
    }

    /// Whether the connection is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

/// Connects to a server, which may say nothing for at most `patience`.
///
/// # Errors
/// When it cannot be reached, or the connection is not as safe as `sslmode` demands.
pub(super) fn connect(server: &Server, patience: &Patience) -> Result<Stream> {
    let error = |source: io::Error| match source.kind() {
        _ if patience.stop.is_set() => TeamError::Stopped,
        _ if is_silence(&source) => patience.error(server.to_string(), source),
        _ => TeamError::Unreachable { server: server.to_string(), source },
    };
    #[cfg(unix)]
    if server.host.starts_with('/') {
        let path = format!("{}/.s.PGSQL.{}", server.host, server.port);
        let stream = Stream::Socket(std::os::unix::net::UnixStream::connect(path).map_err(error)?);
        stream.look_often(patience.limit).map_err(error)?;
        return Ok(stream);
    }
    let addresses = (server.host.as_str(), server.port).to_socket_addrs().map_err(error)?;
    let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
    let mut connected = None;
    for address in addresses {
        match reach(&address, patience) {
            Ok(stream) => {
                connected = Some(stream);
                break;
            }
            Err(error) => last = error,
        }
    }
    let stream = connected.ok_or(last).map_err(error)?;
    stream.set_nodelay(true).map_err(error)?;
    let mut stream = Stream::Tcp(stream);
    stream.look_often(patience.limit).map_err(error)?;
    if server.ssl == SslMode::Disable {
        return Ok(stream);
    }
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    let mut answer = [0];
    stream.write_all(&request).map_err(error)?;
    patience.wait_for(|| stream.read_exact(&mut answer)).map_err(error)?;
    match (answer, stream) {
        ([b'S'], Stream::Tcp(stream)) => {
            let mut encrypted = StreamOwned::new(tls::encryption(server)?, stream);
            // What is wrong with a certificate is said before anything is sent.
            while encrypted.conn.is_handshaking() {
                let done = patience.wait_for(|| encrypted.conn.complete_io(&mut encrypted.sock));
                done.map_err(|it| match it.kind() {
                    ErrorKind::InvalidData => TeamError::Tls(it.to_string()),
                    _ => error(it),
                })?;
            }
            Ok(Stream::Tls(Box::new(encrypted)))
        }
        ([b'N'], stream) if server.ssl == SslMode::Prefer => Ok(stream),
        ([b'N'], _) => Err(TeamError::NotEncrypted(server.ssl.as_str())),
        _ => Err(TeamError::Answer("it is no PostgreSQL server".to_owned())),
    }
}

/// A connection to this address. It is tried again and again, so that a stop does not wait for a host that is not there.
fn reach(address: &SocketAddr, patience: &Patience) -> io::Result<TcpStream> {
    let begun = Instant::now();
    patience.wait_for(|| {
        let left = patience.limit.saturating_sub(begun.elapsed()).max(Duration::from_millis(1));
        TcpStream::connect_timeout(address, left.min(ATTEMPT))
    })
}
