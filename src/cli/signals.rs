//! Ctrl-C at a headless loop: it ends in order, with what it has started and with its record.

use crate::engine::ControlHandle;

/// From now on an interrupt or a request to end is a *Stop now*; the second one ends the program as ever.
///
/// # Errors
/// When the system does not take the wish, or gives no thread.
#[cfg(unix)]
pub(super) fn stop_at_interrupt(control: &ControlHandle) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::run::{AnsweredBy, Control};

    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let control = control.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in &mut signals {
            if control.is_stopped() {
                // Somebody is in a hurry, and nothing is left to say.
                let _ = emulate_default_handler(signal);
            }
            control.request(Control::StopNow, AnsweredBy::Terminal);
        }
    })?;
    Ok(())
}

/// Nothing can be asked for here; the system ends the program, and the loop is interrupted.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub(super) fn stop_at_interrupt(_: &ControlHandle) -> std::io::Result<()> {
    Ok(())
}
