//! One connection to a server: the login, and statements whose rows are read one after the other.
//!
//! Blocking, with a time limit for everything that is waited for. Every statement is prepared and bound; no value is ever
//! part of its text.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use rustls::{ClientConnection, StreamOwned};

use super::error::Result;
use super::password::password;
use super::rows::{Param, Row};
use super::server::SslMode;
use super::{FORMAT, Server, TeamError, tls};

/// The size of one read from the connection, in bytes.
const READ_BYTES: usize = 64 << 10;
/// The largest message that a server may send, in bytes. A row has at most the text of one record.
const MAX_MESSAGE: usize = 512 << 20;

/// The server's ends of a connection.
enum Stream {
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
    fn set_limit(&self, limit: Duration) -> io::Result<()> {
        let limit = Some(limit);
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit))
            }
            Self::Tls(stream) => {
                let stream = stream.get_ref();
                stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit))
            }
            #[cfg(unix)]
            Self::Socket(stream) => {
                stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit))
            }
        }
    }
}

/// A connection on which a login succeeded.
pub(super) struct Connection {
    stream: Stream,
    /// How a message names the server.
    name: String,
    /// How long the server may say nothing.
    patience: Duration,
    incoming: BytesMut,
    outgoing: BytesMut,
}

impl Connection {
    /// Connects, logs in, and checks that the database is made ready. Afterwards the server may say nothing for at most
    /// `patience`.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses the login, or its database is not ready.
    pub(super) fn open(server: &Server, patience: Duration) -> Result<Self> {
        let stream = connect(server)?;
        let connecting = Duration::from_secs(server.connect_seconds);
        let (incoming, outgoing) = (BytesMut::new(), BytesMut::new());
        let name = server.to_string();
        let mut connection = Self { stream, name, patience: connecting, incoming, outgoing };
        connection.log_in(server)?;
        connection.patience = patience;
        connection.stream.set_limit(patience).map_err(TeamError::Broken)?;
        // Without the schema, its privilege cannot be asked for.
        let exists = "SELECT to_regnamespace('countersign') IS NOT NULL";
        if !connection.first(exists, &[])?.is_some_and(|row| row.flag(0)) {
            return Err(TeamError::NotReady);
        }
        let may_use = "SELECT has_schema_privilege('countersign', 'USAGE')";
        if !connection.first(may_use, &[])?.is_some_and(|row| row.flag(0)) {
            let (state, constraint) = ("42501".to_owned(), String::new());
            let message = format!("{} has no role of the evidence", server.user);
            return Err(TeamError::Refused { state, constraint, message });
        }
        match connection.first("SELECT countersign.format()", &[])?.and_then(|row| row.int(0)) {
            Some(FORMAT) => Ok(connection),
            other => Err(TeamError::Format(other.unwrap_or_default())),
        }
    }

    /// Runs a statement, and passes each of its rows to `each` as it arrives. Returns how many rows it affected or had.
    ///
    /// # Errors
    /// When the server refuses it or breaks the connection, and errors of `each`.
    pub(super) fn rows<E: From<TeamError>>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut each: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<u64, E> {
        self.send(sql, params)?;
        let (mut number, mut refused, mut failure) = (0, None, None);
        loop {
            match self.message()? {
                // After a failure, the rest of the answer still has to be read before the next statement.
                Message::DataRow(row) if failure.is_none() => {
                    failure = Row::of(&row).map_err(E::from).and_then(&mut each).err();
                }
                Message::CommandComplete(body) => {
                    let tag = body.tag().unwrap_or_default();
                    number = tag.rsplit(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0);
                }
                Message::ErrorResponse(body) => refused = Some(refusal(&body)),
                Message::ReadyForQuery(_) => break,
                _ => {}
            }
        }
        match (failure, refused) {
            (Some(failure), _) => Err(failure),
            (None, Some(refused)) => Err(refused.into()),
            (None, None) => Ok(number),
        }
    }

    /// The first row of a statement.
    ///
    /// # Errors
    /// As for [`rows`](Self::rows).
    pub(super) fn first(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Option<Row>> {
        let mut first = None;
        self.rows::<TeamError>(sql, params, |row| {
            first.get_or_insert(row);
            Ok(())
        })?;
        Ok(first)
    }

    /// Runs a statement without rows. Returns how many rows it affected.
    ///
    /// # Errors
    /// As for [`rows`](Self::rows).
    pub(super) fn run(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.rows::<TeamError>(sql, params, |_| Ok(()))
    }

    fn send(&mut self, sql: &str, params: &[Param<'_>]) -> Result<()> {
        let out = &mut self.outgoing;
        frontend::parse("", sql, [], out).map_err(TeamError::Broken)?;
        let formats = params.iter().map(Param::format);
        let write = |param: &Param<'_>, out: &mut BytesMut| param.write(out);
        // Binary, for every column.
        frontend::bind("", "", formats, params, write, [1], out)
            .map_err(|_| TeamError::Answer("a value is too large".to_owned()))?;
        frontend::execute("", 0, out).map_err(TeamError::Broken)?;
        frontend::sync(out);
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        let sent = self.stream.write_all(&self.outgoing).and_then(|()| self.stream.flush());
        self.outgoing.clear();
        sent.map_err(|error| self.broken(error))
    }

    /// The next message, without those that the server sends by itself.
    fn message(&mut self) -> Result<Message> {
        loop {
            let parsed = Message::parse(&mut self.incoming);
            match parsed.map_err(|error| TeamError::Answer(error.to_string()))? {
                Some(Message::NoticeResponse(_) | Message::ParameterStatus(_)) => {}
                Some(message) => return Ok(message),
                None => self.receive()?,
            }
        }
    }

    fn receive(&mut self) -> Result<()> {
        if self.incoming.len() > MAX_MESSAGE {
            return Err(TeamError::Answer("a message is too large".to_owned()));
        }
        let begin = self.incoming.len();
        self.incoming.resize(begin + READ_BYTES, 0);
        let free = self.incoming.get_mut(begin..).unwrap_or_default();
        let read = loop {
            match self.stream.read(free) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.incoming.truncate(begin + read.as_ref().copied().unwrap_or(0));
        match read {
            Ok(0) => Err(self.broken(ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(()),
            Err(error) => Err(self.broken(error)),
        }
    }

    fn broken(&self, error: io::Error) -> TeamError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                TeamError::Silent { server: self.name.clone(), seconds: self.patience.as_secs() }
            }
            ErrorKind::InvalidData => TeamError::Tls(error.to_string()),
            _ => TeamError::Broken(error),
        }
    }

    fn log_in(&mut self, server: &Server) -> Result<()> {
        let parameters = [
            ("user", server.user.as_str()),
            ("database", &server.database),
            ("client_encoding", "UTF8"),
            ("application_name", "countersign"),
        ];
        frontend::startup_message(parameters, &mut self.outgoing).map_err(TeamError::Broken)?;
        self.flush()?;
        let mut scram = None;
        let wanted = || password(server)?.ok_or(TeamError::NoPassword);
        loop {
            match self.message()? {
                Message::AuthenticationOk => {}
                Message::AuthenticationCleartextPassword => {
                    if !matches!(self.stream, Stream::Tls(_)) && !server.is_local() {
                        return Err(TeamError::ClearPassword);
                    }
                    self.answer(wanted()?.as_bytes())?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(server.user.as_bytes(), wanted()?.as_bytes(), body.salt());
                    self.answer(hash.as_bytes())?;
                }
                Message::AuthenticationSasl(_) => {
                    // A server that is encrypted offers the other mechanism as well.
                    let begun =
                        ScramSha256::new(wanted()?.as_bytes(), ChannelBinding::unsupported());
                    let out = &mut self.outgoing;
                    frontend::sasl_initial_response(SCRAM_SHA_256, begun.message(), out)
                        .map_err(TeamError::Broken)?;
                    self.flush()?;
                    scram = Some(begun);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let begun = scram.as_mut().ok_or_else(out_of_order)?;
                    begun.update(body.data()).map_err(|it| TeamError::Answer(it.to_string()))?;
                    frontend::sasl_response(begun.message(), &mut self.outgoing)
                        .map_err(TeamError::Broken)?;
                    self.flush()?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    let begun = scram.as_mut().ok_or_else(out_of_order)?;
                    begun.finish(body.data()).map_err(|it| TeamError::Answer(it.to_string()))?;
                }
                Message::AuthenticationGss | Message::AuthenticationKerberosV5 => {
                    return Err(TeamError::Login("GSSAPI"));
                }
                Message::AuthenticationSspi => return Err(TeamError::Login("SSPI")),
                Message::ErrorResponse(body) => return Err(refusal(&body)),
                Message::ReadyForQuery(_) => return Ok(()),
                Message::BackendKeyData(_) => {}
                _ => return Err(out_of_order()),
            }
        }
    }

    fn answer(&mut self, password: &[u8]) -> Result<()> {
        frontend::password_message(password, &mut self.outgoing).map_err(TeamError::Broken)?;
        self.flush()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        frontend::terminate(&mut self.outgoing);
        // The server notices a closed connection as well.
        let _ = self.stream.write_all(&self.outgoing);
    }
}

fn out_of_order() -> TeamError {
    TeamError::Answer("a message is out of order".to_owned())
}

fn refusal(body: &ErrorResponseBody) -> TeamError {
    use fallible_iterator::FallibleIterator as _;
    let (mut state, mut constraint, mut message) = (String::new(), String::new(), String::new());
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => state = text(),
            b'M' => message = text(),
            b'n' => constraint = text(),
            _ => {}
        }
    }
    TeamError::Refused { state, constraint, message }
}

fn connect(server: &Server) -> Result<Stream> {
    let limit = Duration::from_secs(server.connect_seconds);
    let error = |source: io::Error| match source.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => {
            TeamError::Silent { server: server.to_string(), seconds: server.connect_seconds }
        }
        _ => TeamError::Unreachable { server: server.to_string(), source },
    };
    #[cfg(unix)]
    if server.host.starts_with('/') {
        let path = format!("{}/.s.PGSQL.{}", server.host, server.port);
        let stream = Stream::Socket(std::os::unix::net::UnixStream::connect(path).map_err(error)?);
        stream.set_limit(limit).map_err(error)?;
        return Ok(stream);
    }
    let addresses = (server.host.as_str(), server.port).to_socket_addrs().map_err(error)?;
    let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
    let mut connected = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, limit) {
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
    stream.set_limit(limit).map_err(error)?;
    if server.ssl == SslMode::Disable {
        return Ok(stream);
    }
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    let mut answer = [0];
    stream.write_all(&request).and_then(|()| stream.read_exact(&mut answer)).map_err(error)?;
    match (answer, stream) {
        ([b'S'], Stream::Tcp(stream)) => {
            let mut encrypted = StreamOwned::new(tls::encryption(server)?, stream);
            // What is wrong with a certificate is said before anything is sent.
            while encrypted.conn.is_handshaking() {
                let done = encrypted.conn.complete_io(&mut encrypted.sock);
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
