//! Signals that this process ignores, for example because `nohup` or a script without job control started it in the
//! background.
//!
//! What a process ignores, the programs that it starts ignore too, and a shell cannot change that: Ctrl-C in a step's
//! terminal would do nothing. A signal that is handled gets its default effect in the program again. So this process
//! handles what it was told to ignore, by doing nothing.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// The signals with which a terminal or a stop ends programs. The standard library itself takes care of SIGPIPE.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Gives the programs that are started from now on the default effects of [`ENDING`] signals. For this process nothing
/// changes. Where the system does not tell which signals are ignored, they stay ignored.
pub(super) fn not_for_programs() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        for signal in ENDING.into_iter().filter(|signal| is_ignored(*signal)) {
            // If this fails, programs ignore the signal too; a stop then kills them.
            let _ = signal_hook::flag::register(signal, Arc::<AtomicBool>::default());
        }
    });
}

/// Whether this process ignores a signal. False if the system does not tell; only Linux does.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    is_in_mask(&status, signal)
}

/// Whether `SigIgn` in a status of `/proc` contains the signal.
fn is_in_mask(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    (1..=64).contains(&signal) && mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_names_its_signals() {
        let status = "Name:\tx\nSigBlk:\tffffffffffffffff\nSigIgn:\t8000000000001003\n";
        let ignored: Vec<_> = (-1..70).filter(|signal| is_in_mask(status, *signal)).collect();
        assert_eq!(ignored, [1, 2, 13, 64]);
        assert!(!is_in_mask("SigIgn:\tnone\n", 1) && !is_in_mask("", 1));
    }
}
