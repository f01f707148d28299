//! The program of an agent, and the threads around it.

use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::mailbox::{Mail, Mailbox};
use crate::acp::{Lines, MAX_MESSAGE};
use crate::autonomy::WalledAgent;
use crate::plan::Code;
use crate::run::{Failure, StopSignal, Stream};
use crate::tools::AgentEnd;

/// The maximum number of lines that wait to be read by the agent. It gets one answer for each of its questions.
const MAX_LINES: usize = 64;

/// An agent's program that was started. Dropping it ends the program, with all that it started, and waits for the end.
pub(super) struct Child {
    /// `None` once its input is closed.
    input: Option<SyncSender<Vec<u8>>>,
    end: Arc<StopSignal>,
    supervisor: Option<JoinHandle<()>>,
}

impl Child {
    /// Starts the program. What it prints, and its end, are put into the mailbox; at its end, `over` is set, too.
    ///
    /// # Errors
    /// The system has no pipe or no thread for it. A program that cannot be started has ended.
    pub(super) fn start(
        agent: WalledAgent,
        mailbox: &Arc<Mailbox>,
        over: &Arc<StopSignal>,
    ) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let (input, lines) = sync_channel(MAX_LINES);
        let builder = thread::Builder::new().name("agent-input".to_owned());
        builder.spawn(move || write_lines(&lines, writer))?;
        let end = Arc::new(StopSignal::default());
        let (mailbox, over, stop) = (Arc::clone(mailbox), Arc::clone(over), Arc::clone(&end));
        let builder = thread::Builder::new().name("agent".to_owned());
        let supervisor = builder.spawn(move || {
            let ended = supervise(agent, reader, &stop, &mailbox);
            mailbox.put(Mail::Ended(ended));
            over.set();
        })?;
        Ok(Self { input: Some(input), end, supervisor: Some(supervisor) })
    }

    /// Sends a line to the agent. Returns false if it does not read.
    pub(super) fn send(&self, line: Vec<u8>) -> bool {
        self.input.as_ref().is_some_and(|input| input.try_send(line).is_ok())
    }

    /// Tells the agent by the end of its input that nothing follows.
    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    /// Ends the program with all that it started. Its end is put into the mailbox.
    pub(super) fn end(&mut self) {
        self.close_input();
        self.end.set();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
        // A panic of that thread is reported by its hook.
        let _ = self.supervisor.take().map(JoinHandle::join);
    }
}

/// Writes lines until there are no more, or the agent has ended.
fn write_lines(lines: &Receiver<Vec<u8>>, mut writer: PipeWriter) {
    while let Ok(line) = lines.recv() {
        if writer.write_all(&line).is_err() {
            return;
        }
    }
}

fn supervise(
    agent: WalledAgent,
    input: PipeReader,
    stop: &StopSignal,
    mailbox: &Mailbox,
) -> Result<AgentEnd, Failure> {
    let WalledAgent { toolbox, command, walls, .. } = agent;
    let sorter = Sorter { lines: Mutex::default(), fault: Mutex::default(), mailbox };
    let ended = toolbox.run_agent_session(&command, &walls, &input, stop, &|stream, bytes| {
        sorter.keep(stream, bytes)
    });
    // The thread that writes gets an error from now on.
    drop(input);
    let ended = ended.map_err(|error| error.failure())?;
    let fault = sorter.fault.into_inner().unwrap_or_else(PoisonError::into_inner);
    match fault {
        Some(message) => {
            let next = "The agent was ended. Try it with a smaller task.".to_owned();
            Err(Failure { code: Code::OutputLimit, message: message.to_owned(), next })
        }
        None => Ok(ended),
    }
}

/// Sorts the output of the agent into the mailbox.
struct Sorter<'a> {
    lines: Mutex<Lines>,
    fault: Mutex<Option<&'static str>>,
    mailbox: &'a Mailbox,
}

impl Sorter<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let mut has_room = true;
        let is_line = match stream {
            Stream::Stderr => {
                has_room = self.mailbox.put(Mail::Stderr(bytes.to_vec()));
                true
            }
            Stream::Stdout => {
                let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
                lines
                    .push(bytes, MAX_MESSAGE, |line| has_room &= self.mailbox.put(Mail::Line(line)))
            }
        };
        let fault = match (is_line, has_room) {
            (true, true) => return true,
            (false, _) => "a message of the agent is too large",
            (true, false) => "the agent sends more than can be kept while a person decides",
        };
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        false
    }
}
