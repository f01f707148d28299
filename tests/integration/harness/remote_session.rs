//! Runs commands over a connection to a test's `sshd`.

use std::cell::RefCell;
use std::fs;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use countersign::process::{Capture, HiddenTexts, ProcessIo};
use countersign::remote::{Connection, RemoteCommand, RemoteEnd, RemoteFinished};
use countersign::run::StopSignal;
use countersign::run::Stream;

pub const LONG: Duration = Duration::from_secs(300);

pub fn command(command: &str) -> RemoteCommand<'_> {
    RemoteCommand {
        command,
        inputs: &[],
        folder: None,
        timeout: LONG,
        output_limit: 1 << 30,
        terminal: None,
    }
}

/// A finished command with its whole output.
#[derive(Debug)]
pub struct Finished {
    pub end: RemoteEnd,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub greeting: Vec<u8>,
    pub duration: Duration,
    pub left_open: bool,
}

/// Collects the output of a command.
#[derive(Default)]
pub struct CollectedOutput(pub RefCell<[Vec<u8>; 2]>);

impl Capture for CollectedOutput {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        self.0.borrow_mut()[usize::from(stream == Stream::Stderr)].extend_from_slice(bytes);
        true
    }

    fn quiet(&self, _: Duration) {}
}

pub fn run_on(
    connection: &Connection,
    command: &RemoteCommand<'_>,
    stop: &StopSignal,
    output: &dyn Fn(Stream, &str),
) -> Finished {
    let kept = CollectedOutput::default();
    let hidden = HiddenTexts::default();
    let io = ProcessIo { stop, output, capture: &kept, hidden: &hidden };
    let finished = connection.run(command, io).unwrap();
    let [stdout, stderr] = kept.0.into_inner();
    assert_eq!(finished.stdout.bytes(), stdout.len() as u64);
    assert_eq!(finished.stderr.bytes(), stderr.len() as u64);
    let RemoteFinished { end, greeting, duration, left_open, .. } = finished;
    Finished { end, stdout, stderr, greeting, duration, left_open }
}

pub fn run(connection: &Connection, text: &str) -> Finished {
    run_on(connection, &command(text), &StopSignal::default(), &|_, _| {})
}

/// Runs a command, and calls `then` on another thread once the command has printed this many lines. Also
/// returns the printed lines.
pub fn run_and_then(
    connection: &Connection,
    command: &RemoteCommand<'_>,
    lines: usize,
    then: impl FnOnce(&StopSignal) + Send,
) -> (Finished, Vec<String>) {
    let stop = StopSignal::default();
    let printed = RefCell::new(String::new());
    let (ready, wait) = sync_channel(1);
    let finished = thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            wait.recv().unwrap();
            then(stop);
        });
        let hear = |_: Stream, text: &str| {
            let before = printed.borrow().matches('\n').count();
            printed.borrow_mut().push_str(text);
            if before < lines && printed.borrow().matches('\n').count() >= lines {
                ready.send(()).unwrap();
            }
        };
        run_on(connection, command, stop, &hear)
    });
    (finished, printed.into_inner().lines().map(str::to_owned).collect())
}

pub fn is_alive(id: &str) -> bool {
    assert!(id.parse::<u32>().is_ok(), "{id:?} is no process id");
    fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
    })
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
