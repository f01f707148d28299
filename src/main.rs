//! Countersign: the window, or a headless command.

use std::io::Write as _;
use std::process::ExitCode;

use countersign::app;
use countersign::cli::{self, Started, WindowOptions};

/// As for a command line that cannot be followed: there is nothing to show a window on.
const NO_WINDOW: u8 = 5;

fn main() -> ExitCode {
    match cli::start(std::env::args_os()) {
        Started::Window(options) => open_window(options),
        Started::Done(code) => code,
    }
}

/// Opens the window and stays until it is closed.
fn open_window(options: WindowOptions) -> ExitCode {
    let WindowOptions { plan, workspace, evidence } = options;
    match app::run(app::Options { plan, workspace, evidence, ..app::Options::default() }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a terminal there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(NO_WINDOW)
        }
    }
}
