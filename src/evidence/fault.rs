//! Ends the process at a named point, for tests of what an interruption leaves. Nothing in a released build.

use std::path::Path;

use rusqlite::Connection;

/// The name of the file that names the point.
#[cfg(any(test, feature = "inspection"))]
const FILE_NAME: &str = "execution_log.abort_at";

/// Ends the process if a test has named this point in the evidence folder.
pub(super) fn point(dir: &Path, name: &str) {
    #[cfg(any(test, feature = "inspection"))]
    if std::fs::read_to_string(dir.join(FILE_NAME)).is_ok_and(|at| at.trim() == name) {
        std::process::abort();
    }
    #[cfg(not(any(test, feature = "inspection")))]
    let _ = (dir, name);
}

/// As [`point`], within the next statement: after the groups of 50 steps of SQLite whose number follows `name` in the file.
pub(super) fn point_within(dir: &Path, name: &str, conn: &mut Connection) -> rusqlite::Result<()> {
    #[cfg(any(test, feature = "inspection"))]
    if let Ok(at) = std::fs::read_to_string(dir.join(FILE_NAME))
        && let Some(steps) = at.trim().strip_prefix(name)
        && let Ok(mut left) = steps.trim().parse::<u32>()
    {
        return conn.progress_handler(
            50,
            Some(move || {
                left = left.saturating_sub(1);
                if left == 0 {
                    std::process::abort();
                }
                false
            }),
        );
    }
    let _ = (dir, name, conn);
    Ok(())
}
