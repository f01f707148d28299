//! Runs `ansible-playbook`, and passes what its plugin reports to a receiver.

use std::cell::RefCell;
use std::fs;
use std::io::{self, PipeWriter, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::super::RemoteError;
use super::super::control_connection::Folder;
use super::results::Reader;
use super::{FleetEvent, files, program};
use crate::plan::Plan;
use crate::process;
use crate::process::{
    Capture, Cause, Input, Leftovers, NOTHING_HIDDEN, ProcessIo, Profile, Program,
};
use crate::run::{FleetReview, SshFiles, SshPart, StopSignal, Stream};

/// Maximum size of all reports and messages, in bytes.
const OUTPUT_LIMIT: u64 = 64 << 30;
/// Maximum size of one report, which has the whole output of a command, in bytes.
const LINE_BYTES: usize = 256 << 20;
/// Maximum size of the messages that are kept, in bytes.
const MESSAGES_BYTES: usize = 8 << 10;

/// Receives the events of a run.
pub trait FleetReceiver {
    /// Takes an event. Returns false if the run must end: before a task, at once without starting it; else as by a stop.
    fn on_event(&self, event: FleetEvent) -> bool;
}

/// The end of a run.
#[derive(Debug)]
pub struct FleetEnd {
    /// Why ansible was ended; `None` if it ended by itself.
    pub cause: Option<Cause>,
    /// What was wrong with a report, after which ansible was ended.
    pub fault: Option<String>,
    /// What ansible printed besides the reports.
    pub messages: String,
}

/// Runs the steps of a plan on its hosts, except for the steps in `skipped`.
///
/// # Errors
/// ansible cannot be started, or its folder cannot be written.
pub fn run(
    plan: &Plan,
    fleet: &FleetReview,
    skipped: &[usize],
    stop: &StopSignal,
    receiver: &dyn FleetReceiver,
) -> Result<FleetEnd, RemoteError> {
    let failed = RemoteError::AnsibleNotStarted;
    let folder = Folder::new().map_err(failed)?;
    let place = folder.path().to_str().map(str::to_owned);
    let place =
        place.ok_or_else(|| failed(io::Error::other("the temporary folder is not UTF-8")))?;
    let plugin = format!("{}.py", files::PLUGIN_NAME);
    let contents = [
        ("playbook.yml", fleet.files.playbook.as_str()),
        ("inventory.yml", &fleet.files.inventory),
        ("ansible.cfg", &fleet.files.config),
        (&plugin, files::PLUGIN),
    ];
    for (name, content) in contents {
        fs::write(folder.path().join(name), content).map_err(failed)?;
    }
    write_ssh_files(folder.path(), &fleet.ssh)?;
    let at = |name: &str| format!("{place}/{name}");
    let (config, home, socket) = (at("ansible.cfg"), at("home"), at("c"));
    let environment = [
        ("LC_ALL", "C.UTF-8"),
        ("ANSIBLE_CONFIG", config.as_str()),
        ("ANSIBLE_HOME", &home),
        ("ANSIBLE_LOCAL_TEMP", &home),
        ("ANSIBLE_CALLBACK_PLUGINS", &place),
        ("ANSIBLE_SSH_CONTROL_PATH_DIR", &socket),
    ];
    let (inventory, playbook) = (at("inventory.yml"), at("playbook.yml"));
    let tags: Vec<String> = skipped.iter().map(|index| format!("step_{}", index + 1)).collect();
    let tags = tags.join(",");
    let mut arguments = vec!["-i", inventory.as_str()];
    if !tags.is_empty() {
        arguments.extend(["--skip-tags", &tags]);
    }
    arguments.push(&playbook);
    let (reader, writer) = io::pipe().map_err(failed)?;
    let unset = program::removed_variables();
    let program = Program {
        profile: Profile::Client,
        program: fleet.program.as_os_str(),
        arguments: &arguments,
        input: Some(Input::Pipe(&reader)),
        folder: folder.path(),
        environment: &environment,
        unset: &unset,
        leftovers: Leftovers::End,
        timeout: Duration::MAX,
        output_limit: OUTPUT_LIMIT,
    };
    let reports = Reports {
        reader: Reader {
            mark: files::status_mark(plan),
            timeouts: plan.steps.iter().map(|step| files::timeout_of(&step.call)).collect(),
            hosts: fleet.hosts.len(),
        },
        receiver,
        state: RefCell::new(State { line: Vec::new(), writer, fault: None, messages: Vec::new() }),
    };
    let io = ProcessIo { stop, output: &|_, _| {}, capture: &reports, hidden: &NOTHING_HIDDEN };
    let finished = process::stream(&program, io).map_err(failed)?;
    end_connections(&folder.path().join("c"));
    let State { fault, messages, .. } = reports.state.into_inner();
    let messages = String::from_utf8_lossy(&messages).trim().to_owned();
    Ok(FleetEnd { cause: finished.cause, fault, messages })
}

/// Writes what `ssh` reads. It is started in this folder, so that the known hosts have a short name; files that settings
/// include have whole paths.
pub(super) fn write_ssh_files(folder: &Path, files: &SshFiles) -> Result<(), RemoteError> {
    let failed = RemoteError::AnsibleNotStarted;
    fs::write(folder.join("known_hosts"), &files.known_hosts).map_err(failed)?;
    let name = |index: usize| match index {
        0 => program::SSH_SETTINGS.to_owned(),
        _ => format!("{}_{index}", program::SSH_SETTINGS),
    };
    for (index, parts) in files.settings.iter().enumerate() {
        let mut content = Vec::new();
        for part in parts {
            match part {
                SshPart::Text(text) => content.extend_from_slice(text),
                SshPart::Include(indices) if indices.is_empty() => {}
                SshPart::Include(indices) => {
                    content.extend_from_slice(b"Include");
                    for index in indices {
                        let path = folder.join(name(*index));
                        content.push(b' ');
                        content.extend_from_slice(program::plain(path.as_os_str())?.as_bytes());
                    }
                    content.push(b'\n');
                }
            }
        }
        fs::write(folder.join(name(index)), content).map_err(failed)?;
    }
    Ok(())
}

/// Ends the connections that `ssh` keeps for the next step, by its protocol for shared connections. They are processes in
/// the background, which would stay logged in for a minute after the run.
fn end_connections(sockets: &Path) {
    /// The messages `MUX_MSG_HELLO` of version 4, and `MUX_C_TERMINATE`, each after its length.
    const TERMINATE: [u8; 24] =
        [0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 8, 0x10, 0, 0, 5, 0, 0, 0, 0];
    let patience = Some(Duration::from_secs(1));
    let Ok(entries) = fs::read_dir(sockets) else { return };
    for socket in entries.flatten() {
        let Ok(mut stream) = UnixStream::connect(socket.path()) else { continue };
        let is_limited =
            stream.set_read_timeout(patience).and_then(|()| stream.set_write_timeout(patience));
        if is_limited.is_ok() && stream.write_all(&TERMINATE).is_ok() {
            // The process closes its end when it ends.
            let _ = io::copy(&mut stream, &mut io::sink());
        }
    }
}

struct State {
    /// The beginning of a report whose end has not come yet.
    line: Vec<u8>,
    writer: PipeWriter,
    fault: Option<String>,
    messages: Vec<u8>,
}

/// Splits the output of ansible into reports, and answers those that wait for an answer.
struct Reports<'a> {
    reader: Reader,
    receiver: &'a dyn FleetReceiver,
    state: RefCell<State>,
}

impl Reports<'_> {
    /// Takes a report; false if ansible must be ended.
    fn take(&self, line: &[u8]) -> bool {
        let event = match self.reader.event(line) {
            Ok(event) => event,
            Err(fault) => {
                self.state.borrow_mut().fault = Some(fault);
                return false;
            }
        };
        let is_question = matches!(event, FleetEvent::Task { .. });
        let goes_on = self.receiver.on_event(event);
        if !is_question {
            return goes_on;
        }
        // One byte for each task: a pipe holds far more than there are tasks before ansible reads the next.
        let answer: &[u8] = if goes_on { b"g" } else { b"e" };
        self.state.borrow_mut().writer.write_all(answer).is_ok()
    }
}

impl Capture for Reports<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        if stream == Stream::Stderr {
            let messages = &mut self.state.borrow_mut().messages;
            let left = MESSAGES_BYTES.saturating_sub(messages.len());
            messages.extend_from_slice(bytes.get(..left).unwrap_or(bytes));
            return true;
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = rest.split_at(end);
            let mut line = std::mem::take(&mut self.state.borrow_mut().line);
            line.extend_from_slice(head);
            if !self.take(&line) {
                return false;
            }
            rest = tail.get(1..).unwrap_or_default();
        }
        let line = &mut self.state.borrow_mut().line;
        line.extend_from_slice(rest);
        line.len() <= LINE_BYTES
    }

    fn quiet(&self, _: Duration) {}
}
