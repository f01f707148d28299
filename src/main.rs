//! Countersign: the window, or a headless command.

use std::process::ExitCode;

use countersign::cli::{self, Started, WindowOptions};

fn main() -> ExitCode {
    match cli::start(std::env::args_os()) {
        Started::Window(options) => open_window(options),
        Started::Done(code) => code,
    }
}

/// Opens the window and stays until it is closed.
fn open_window(_options: WindowOptions) -> ExitCode {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "This build has no window yet; see `countersign --help`.");
    ExitCode::from(5)
}
