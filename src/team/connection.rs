//! One connection to a server: the login, and statements whose rows are read one after the other.
//!
//! Blocking, with a time limit for everything that is waited for (`stream.rs`). Every statement is prepared and bound; no
//! value is ever part of its text.

use std::io::{ErrorKind, Read as _, Write as _};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;

use super::error::Result;
use super::password::password;
use super::rows::{Param, Row};
use super::stream::{Patience, Stream, connect};
use super::{FORMAT, Server, TeamError};

/// The size of one read from the connection, in bytes.
const READ_BYTES: usize = 64 << 10;
/// The largest message that a server may send, in bytes. A row has at most the text of one record.
const MAX_MESSAGE: usize = 512 << 20;
/// How long a statement may wait for what another login holds.
const LOCKED: Duration = Duration::from_secs(15);
/// How long the server may take to hear that a statement is to be cancelled.
const CANCELLING: Duration = Duration::from_secs(2);

/// A connection on which a login succeeded.
pub(super) struct Connection {
    stream: Stream,
    server: Server,
    /// How long the server may say nothing.
    patience: Patience,
    /// With what the server cancels a statement of this connection.
    cancel_key: Option<(i32, i32)>,
    incoming: BytesMut,
    outgoing: BytesMut,
}

impl Connection {
    /// Connects, logs in, and checks that the database is made ready. Afterwards the server may say nothing for at most
    /// `patience`.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses the login, or its database is not ready.
    pub(super) fn open(server: &Server, patience: Patience) -> Result<Self> {
        let limit = Duration::from_secs(server.connect_seconds);
        let connecting = Patience { limit, ..patience.clone() };
        let stream = connect(server, &connecting)?;
        let (incoming, outgoing) = (BytesMut::new(), BytesMut::new());
        let mut connection = Self {
            stream,
            server: server.clone(),
            patience: connecting,
            cancel_key: None,
            incoming,
            outgoing,
        };
        connection.log_in(server)?;
        connection.stream.limit_writes(patience.limit).map_err(TeamError::Broken)?;
        connection.patience = patience;
        // What a login may create in other schemas must not be called in place of what is meant here.
        connection.run("SET search_path = pg_catalog, pg_temp", &[])?;
        connection.run("SET standard_conforming_strings = on", &[])?;
        // Another login may hold what this one waits for, as long as it likes.
        connection.run(&format!("SET lock_timeout = {}", LOCKED.as_millis()), &[])?;
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
        let mut failed_at: Option<Instant> = None;
        // A server whose answer has no end is not followed to it.
        while failed_at.is_none_or(|at| at.elapsed() < self.patience.limit) {
            match self.message()? {
                // After a failure, the rest of the answer still has to be read before the next statement.
                Message::DataRow(row) if failure.is_none() => {
                    failure = Row::of(&row).map_err(E::from).and_then(&mut each).err();
                    failed_at = failure.is_some().then(Instant::now);
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
        sent.map_err(|error| self.patience.error(self.server.to_string(), error))
    }

    /// The next message, without those that the server sends by itself.
    fn message(&mut self) -> Result<Message> {
        // Notices, and an answer that comes byte by byte, do not count as one.
        let begun = Instant::now();
        loop {
            let parsed = Message::parse(&mut self.incoming);
            match parsed.map_err(|error| TeamError::Answer(error.to_string()))? {
                Some(Message::NoticeResponse(_) | Message::ParameterStatus(_)) => {}
                Some(message) => return Ok(message),
                None => self.receive(begun)?,
            }
        }
    }

    fn receive(&mut self, begun: Instant) -> Result<()> {
        if self.incoming.len() > MAX_MESSAGE {
            return Err(TeamError::Answer("a message is too large".to_owned()));
        }
        let begin = self.incoming.len();
        self.incoming.resize(begin + READ_BYTES, 0);
        let free = self.incoming.get_mut(begin..).unwrap_or_default();
        let read = self.patience.wait_since(begun, || self.stream.read(free));
        self.incoming.truncate(begin + read.as_ref().copied().unwrap_or(0));
        let error = match read {
            Ok(1..) => return Ok(()),
            Ok(0) => ErrorKind::UnexpectedEof.into(),
            Err(error) => error,
        };
        let error = self.patience.error(self.server.to_string(), error);
        if matches!(error, TeamError::Stopped) {
            self.cancel();
        }
        Err(error)
    }

    /// Asks the server to end a statement whose rows nobody wants any more. It would notice that this connection has ended
    /// only once it has rows to send. Whether it does is not known.
    fn cancel(&self) {
        let Some((process, key)) = self.cancel_key else { return };
        let mut request = BytesMut::new();
        frontend::cancel_request(process, key, &mut request);
        if let Ok(mut stream) = connect(&self.server, &CANCELLING.into()) {
            let _ = stream.write_all(&request).and_then(|()| stream.flush());
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
        let (mut scram, mut is_proven) = (None, true);
        let wanted = || password(server)?.ok_or(TeamError::NoPassword);
        loop {
            match self.message()? {
                // A server that skips its own proof does not know the password.
                Message::AuthenticationOk if is_proven => {}
                Message::AuthenticationCleartextPassword => {
                    if !self.stream.is_encrypted() && !server.is_local() {
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
                    (scram, is_proven) = (Some(begun), false);
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
                    is_proven = true;
                }
                Message::AuthenticationGss | Message::AuthenticationKerberosV5 => {
                    return Err(TeamError::Login("GSSAPI"));
                }
                Message::AuthenticationSspi => return Err(TeamError::Login("SSPI")),
                Message::ErrorResponse(body) => return Err(refusal(&body)),
                Message::ReadyForQuery(_) => return Ok(()),
                Message::BackendKeyData(body) => {
                    self.cancel_key = Some((body.process_id(), body.secret_key()));
                }
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
