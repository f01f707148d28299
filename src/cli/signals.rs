//! Signals to a headless loop or export: the first one stops the loop and its processes, and the end is recorded; it stops
//! an export, and nothing is left of its file.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::engine::ControlHandle;

/// Handles interrupt, termination and hangup signals: the first one requests *Stop now*. Once *Stop now* was
/// requested, a further signal has its default effect. A hangup is ignored if it was when the program started (`nohup`).
///
/// # Errors
/// The signal handler or its thread cannot be set up.
#[cfg(unix)]
pub(super) fn stop_at_interrupt(control: &ControlHandle) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::process::is_ignored;
    use crate::run::{AnsweredBy, Control};

    let hangup = Some(SIGHUP).filter(|signal| !is_ignored(*signal));
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?;
    let control = control.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in &mut signals {
            if control.is_stopped() {
                // After *Stop now*, a further signal has its default effect.
                let _ = emulate_default_handler(signal);
            }
            control.request(Control::StopNow, AnsweredBy::Terminal);
        }
    })?;
    Ok(())
}

/// A flag that interrupt, termination and hangup signals set. A further signal has its default effect.
///
/// # Errors
/// The signal handlers cannot be set up.
#[cfg(unix)]
pub(super) fn interrupt_flag() -> std::io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag::{register, register_conditional_default};

    use crate::process::is_ignored;

    let flag = Arc::new(AtomicBool::new(false));
    let hangup = Some(SIGHUP).filter(|signal| !is_ignored(*signal));
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        register_conditional_default(signal, Arc::clone(&flag))?;
        register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}

/// A flag that is never set: on this system, a signal ends the program.
///
/// # Errors
/// Never returns an error.
#[cfg(not(unix))]
pub(super) fn interrupt_flag() -> std::io::Result<Arc<AtomicBool>> {
    Ok(Arc::default())
}

/// Does nothing on this system: a signal ends the program, which interrupts the loop.
///
/// # Errors
/// Never returns an error.
#[cfg(not(unix))]
pub(super) fn stop_at_interrupt(_: &ControlHandle) -> std::io::Result<()> {
    Ok(())
}
