//! Opens the window, or runs a headless command.

use std::io::Write as _;
use std::process::ExitCode;

use countersign::app;
use countersign::cli::{self, Started, WindowOptions};

/// Exit code if no window can be opened, for example without a display; the same as for a bad command line.
const NO_WINDOW: u8 = 5;

fn main() -> ExitCode {
    match cli::start(std::env::args_os()) {
        Started::Window(options) => open_window(options),
        Started::Done(code) => code,
    }
}

/// Opens the window and returns once it is closed.
fn open_window(options: WindowOptions) -> ExitCode {
    let WindowOptions { plan, workspace, evidence } = options;
    match app::run(app::Options { plan, workspace, evidence, ..app::Options::default() }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A failed write to stderr cannot be reported anywhere.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(NO_WINDOW)
        }
    }
}
