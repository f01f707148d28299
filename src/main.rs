//! Opens the window, or runs a headless command.

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
    let closed = app::run(app::Options { plan, workspace, evidence, ..app::Options::default() });
    match &closed {
        Ok(()) => log::info!("window closed"),
        Err(error) => log::error!("window not opened reason={:?}", error.to_string()),
    }
    log::logger().flush();
    match closed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            cli::say(&error.to_string());
            ExitCode::from(NO_WINDOW)
        }
    }
}
