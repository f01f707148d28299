//! A child process with all its descendants, and the threads that read its output and wait for its exit.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::error::stream_name;
use super::output_queue::OutputQueue;
use super::terminal::{PseudoTerminal, TerminalOutput};
use super::tree::{Listing, Tree};
use super::walls::{WallReport, Walled};
use super::{CHUNK, Input, MODEL_KEY, Program, command, path, tree};
use crate::run::Stream;

/// The value of [`tree::MARK`] for a program: the marks that this process was started with, then this one.
fn mark_list(mark: &str) -> OsString {
    let mut marks = std::env::var_os(tree::MARK).unwrap_or_default();
    if !marks.is_empty() {
        marks.push(",");
    }
    marks.push(mark);
    marks
}

/// An anonymous file with these bytes, positioned at its beginning.
fn anonymous_file_with(bytes: &[u8]) -> io::Result<File> {
    let mut file = anonymous_file()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// An anonymous file in memory, so that its content is never on a disk.
#[cfg(target_os = "linux")]
pub(super) fn anonymous_file() -> io::Result<File> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    Ok(rustix::fs::memfd_create("countersign-input", flags)?.into())
}

#[cfg(not(target_os = "linux"))]
fn anonymous_file() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("countersign-{}", uuid::Uuid::new_v4()));
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path)?;
    // Unlinked while it is empty, so that nothing is left after a crash.
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Maximum number of bytes of stderr in the error for walls that cannot be put up.
const MAX_ERROR_BYTES: u64 = 4096;

/// A child process with all its descendants. Dropping it before [`Self::reap`] kills all of them.
pub(super) struct Running {
    child: Child,
    pub(super) tree: Tree,
    pub(super) queue: Arc<OutputQueue>,
    reaped: bool,
    walled: Option<Walled>,
}

impl Running {
    /// Starts the program and its threads. Returns when a walled program runs behind its walls.
    pub(super) fn start(program: &Program<'_>, queue: Arc<OutputQueue>) -> io::Result<Self> {
        let mark = uuid::Uuid::new_v4().to_string();
        let mut walled = Walled::of(program, &mark)?;
        let mut terminal = None;
        let input = match program.input {
            Some(Input::Bytes(bytes)) => Stdio::from(anonymous_file_with(bytes)?),
            Some(Input::Pipe(reader)) => Stdio::from(reader.try_clone()?),
            Some(Input::Terminal(open)) => {
                terminal = Some(PseudoTerminal::open(open)?);
                Stdio::null()
            }
            None => Stdio::null(),
        };
        let mut command = match &mut walled {
            Some(walled) => walled.command(),
            None => {
                let mut command = command(program.program);
                command.args(program.arguments);
                command
            }
        };
        for name in program.unset {
            command.env_remove(name);
        }
        command
            .env_remove(MODEL_KEY)
            .current_dir(program.folder)
            .envs(program.environment.iter().copied())
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(terminal) = &terminal {
            terminal.connect(&mut command)?;
        }
        let workspaces = path::workspaces(program.profile);
        match std::env::var_os("PATH").and_then(|paths| path::trusted_path(&paths, &workspaces)) {
            Some(paths) => command.env("PATH", paths),
            None => command.env_remove("PATH"),
        };
        command.env(tree::MARK, mark_list(&mark));
        match &mut walled {
            Some(walled) => walled.new_session(&mut command),
            None if terminal.is_some() => tree::new_terminal_session(&mut command),
            None => tree::new_session(&mut command),
        }
        let before = Listing::now();
        let child = command.spawn()?;
        // This process must not keep the descriptors that the child inherited.
        drop(command);
        let tree = Tree::of(&child, &mark, before);
        // From here on an error drops `running`, which kills the child.
        let mut running = Self { child, tree, queue, reaped: false, walled };
        let terminal = terminal.map(PseudoTerminal::start).transpose()?;
        running.wait_until_walled(program.timeout, terminal.as_ref())?;
        if let Some(output) = terminal {
            running.read(Stream::Stdout, output)?;
        }
        if let Some(stdout) = running.child.stdout.take() {
            running.read(Stream::Stdout, stdout)?;
        }
        if let Some(stderr) = running.child.stderr.take() {
            running.read(Stream::Stderr, stderr)?;
        }
        let queue = Arc::clone(&running.queue);
        let waiter = running.tree.exit_waiter(move || queue.set_exited());
        thread::Builder::new().name("child-exit".to_owned()).spawn(waiter)?;
        Ok(running)
    }

    /// Reads one output to its end on a separate thread. The thread outlives the program only while another
    /// process holds the output open; it then ends at the next byte.
    fn read(&self, stream: Stream, mut pipe: impl Read + Send + 'static) -> io::Result<()> {
        let queue = Arc::clone(&self.queue);
        let name = format!("child-{}", stream_name(stream));
        queue.open(stream);
        thread::Builder::new().name(name).spawn(move || {
            let mut buffer = vec![0; CHUNK];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        if !queue.put(stream, buffer.get(..count).unwrap_or_default()) {
                            break;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            queue.close(stream);
        })?;
        Ok(())
    }

    /// Waits until a walled program runs behind its walls. On an error, every process that was started is
    /// killed.
    fn wait_until_walled(
        &mut self,
        timeout: Duration,
        terminal: Option<&TerminalOutput>,
    ) -> io::Result<()> {
        let Some(walled) = &mut self.walled else { return Ok(()) };
        let Err(error) = walled.wait_until_started(timeout) else { return Ok(()) };
        self.kill();
        // Every process that could write to this pipe or terminal has been killed, so the read ends.
        let mut message = Vec::new();
        let _ = match (self.child.stderr.take(), terminal) {
            (Some(stderr), _) => stderr.take(MAX_ERROR_BYTES).read_to_end(&mut message),
            (None, Some(terminal)) => terminal.take(MAX_ERROR_BYTES).read_to_end(&mut message),
            (None, None) => Ok(0),
        };
        match (error.raw_os_error(), String::from_utf8_lossy(&message).trim()) {
            (Some(_), _) | (None, "") => Err(error),
            (None, message) => Err(io::Error::new(error.kind(), format!("{error}: {message}"))),
        }
    }

    /// The report of the program's walls so far; empty without walls.
    pub(super) fn walls(&self) -> WallReport {
        self.walled.as_ref().map_or_else(WallReport::default, Walled::report)
    }

    pub(super) fn terminate(&mut self) {
        self.tree.terminate(&mut self.child);
    }

    pub(super) fn kill(&mut self) {
        self.tree.kill(&mut self.child);
    }

    /// Ends the reading of output, and reaps the child. Returns the exit status of the program; `None` while the
    /// child has not exited.
    pub(super) fn reap(&mut self) -> Option<ExitStatus> {
        self.queue.abandon();
        let status = tree::status(&mut self.child);
        self.reaped = status.is_some();
        match &self.walled {
            Some(walled) => walled.status(status),
            None => status,
        }
    }
}

impl Drop for Running {
    /// Kills the child, with all its descendants, when it was not reaped because of a panic or an error.
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            self.reap();
        }
    }
}
