//! The log of the program, for people who look for a fault of the program itself. What was run and decided is in the
//! evidence.
//!
//! Every room logs through the macros of the crate `log`, and only the start of the program ([`start`]) and the bug report
//! use this room. A message says what happened with words of the program, and values as `key=value`: numbers, ids, codes, and
//! in quotation marks (`{:?}`) paths and errors of the system. It never contains plans, arguments, outputs or answers.
//!
//! A call puts its message into a queue of limited size and returns. A thread of its own redacts the message by the rules of
//! the evidence, makes it one line (`line.rs`) and appends it to the file (`file.rs`). So nothing waits for the disk, and a
//! folder that cannot be used costs only the log. What is lost is counted in the next line that can be written.

mod file;
mod line;
mod panics;
mod queue;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use log::{LevelFilter, Log, Metadata, Record};

use file::LogFile;
use line::Message;
use queue::Queue;

/// The names of the levels, in settings and on the command line.
pub const LEVELS: [&str; 5] = ["off", "error", "warn", "info", "debug"];

/// The variable that names the level; the command line comes before it, and the settings after it.
pub const VARIABLE: &str = "COUNTERSIGN_LOG";

/// The level if nothing names another.
pub const DEFAULT: LevelFilter = LevelFilter::Info;

/// The longest time that the end of the program waits for the last lines to be written. A busy computer may take some of it.
const LAST_LINES: Duration = Duration::from_secs(5);

/// The libraries whose warnings and errors are logged: those of the window, whose faults depend on the computer. Their
/// other messages, and those of all other libraries, may contain anything.
const LIBRARIES: [&str; 8] =
    ["accesskit_winit", "eframe", "egui", "egui_glow", "egui_winit", "glutin", "rfd", "winit"];

static LOGGER: OnceLock<Logger> = OnceLock::new();

/// The level with this name.
///
/// # Errors
/// A sentence with the names that there are.
pub fn level_named(name: &str) -> Result<LevelFilter, String> {
    let is_known = LEVELS.contains(&name);
    let level = name.parse().ok().filter(|_| is_known);
    level.ok_or_else(|| format!("the log has no level {name:?}; there are {}", LEVELS.join(", ")))
}

/// Starts the log in the folder of the program's state, and logs panics from now on. Without a folder, and at the level
/// `off`, nothing is written. A second call changes only the level.
pub fn start(state: Option<&Path>, level: LevelFilter) {
    if let (Some(state), false) = (state, level == LevelFilter::Off) {
        let mut is_first = false;
        let logger = LOGGER.get_or_init(|| {
            is_first = true;
            Logger::new(folder(state))
        });
        if is_first && log::set_logger(logger).is_ok() {
            panics::log_panics();
        }
    }
    log::set_max_level(level);
}

/// The folder of the log in the folder of the program's state.
pub fn folder(state: &Path) -> PathBuf {
    state.join("log")
}

/// The last lines of the log in this folder, the latest last. Lines that this process has logged are among them.
///
/// # Errors
/// The log is not there or cannot be read.
pub fn last_lines(state: &Path, count: usize) -> std::io::Result<Vec<String>> {
    log::logger().flush();
    LogFile::new(folder(state)).last_lines(count)
}

/// Why the latest lines could not be written; `None` if they could.
pub fn fault() -> Option<String> {
    LOGGER.get()?.queue.fault()
}

/// Puts messages into the queue of the thread that writes them.
struct Logger {
    queue: Arc<Queue>,
}

impl Logger {
    /// A logger that writes into this folder, with its thread. Without a thread, it drops all messages.
    fn new(folder: PathBuf) -> Self {
        let queue = Arc::new(Queue::default());
        let file = LogFile::new(folder);
        let writer = {
            let queue = Arc::clone(&queue);
            move || queue.write_to(&file)
        };
        let thread = thread::Builder::new().name("countersign-log".to_owned()).spawn(writer);
        if let Err(error) = thread {
            queue.close(&error);
        }
        Self { queue }
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let mut names = metadata.target().split("::");
        match names.next() {
            Some("countersign") => true,
            Some(library) => metadata.level() <= log::Level::Warn && LIBRARIES.contains(&library),
            None => false,
        }
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            self.queue.add(Message::of(record));
        }
    }

    fn flush(&self) {
        self.queue.wait_until_written(LAST_LINES);
    }
}
