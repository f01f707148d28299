//! The time since the computer was started. This clock cannot be set, and it also runs while the computer sleeps.

use std::sync::OnceLock;
use std::time::Instant;

use uuid::Uuid;

use crate::authorization::SinceBoot;

/// The present time since boot; on a system without such a clock, the time since the first call in this process.
pub(super) fn now() -> SinceBoot {
    of_system().unwrap_or_else(of_process)
}

#[cfg(target_os = "linux")]
fn of_system() -> Option<SinceBoot> {
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    // CLOCK_BOOTTIME as text: seconds with two decimals.
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = uptime.split_whitespace().next()?.split_once('.')?;
    let seconds: i64 = seconds.parse().ok()?;
    let hundredths: i64 = hundredths.parse().ok()?;
    let ms = seconds.checked_mul(1_000)?.checked_add(hundredths.checked_mul(10)?)?;
    Some(SinceBoot { boot_id: boot_id.trim().to_owned(), ms })
}

#[cfg(not(target_os = "linux"))]
const fn of_system() -> Option<SinceBoot> {
    None
}

fn of_process() -> SinceBoot {
    static START: OnceLock<(Instant, Uuid)> = OnceLock::new();
    let (start, id) = START.get_or_init(|| (Instant::now(), Uuid::new_v4()));
    let ms = i64::try_from(start.elapsed().as_millis()).unwrap_or(i64::MAX);
    SinceBoot { boot_id: format!("process {id}"), ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_never_run_backwards() {
        for clock in [now, of_process] {
            let (first, second) = (clock(), clock());
            assert_eq!(first.boot_id, second.boot_id);
            assert!(second.ms >= first.ms);
        }
    }
}
