//! Countersign: the window, or a headless command.

use std::io::Write as _;
use std::process::ExitCode;

use countersign::app::{self, Options};
use countersign::cli::{self, Started, WindowOptions};

fn main() -> ExitCode {
    match cli::start(std::env::args_os()) {
        Started::Window(options) => open_window(options),
        Started::Done(code) => code,
    }
}

/// Opens the window and stays until it is closed.
fn open_window(options: WindowOptions) -> ExitCode {
    let WindowOptions { plan, workspace, evidence } = options;
    match app::run(Options { plan, evidence, workspace, ..Options::default() }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A closed stderr must not turn the message into a panic.
            let _ = writeln!(std::io::stderr(), "countersign: {error}");
            ExitCode::FAILURE
        }
    }
}
