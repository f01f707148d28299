//! Attempts to escape the walls. Each is made without walls, where it must succeed to count, and behind both
//! levels. Everything happens in separate namespaces, on mounts that disappear afterwards, so that no attempt
//! can do harm.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use attempts::ATTEMPTS;
use attempts::Holds::{Always, AtFull};
use countersign::authorization::WallLevel;
use yard::Yard;

mod attempts;
mod yard;

/// A secret in an own folder and in the environment of this process.
const SECRET: &str = "HERON-SECRET";
/// An attempt prints this when a system call succeeded.
const ESCAPED: &str = "ESCAPED";
/// The environment variable that is set inside the namespaces.
const INSIDE: &str = "COUNTERSIGN_TEST_INSIDE";
/// An environment variable that this program must not pass to child processes.
const KEY: &str = "COUNTERSIGN_MODEL_KEY";
/// The least number of attempts that must succeed without walls.
const LEAST: usize = 40;

/// Makes every attempt at every level.
fn try_everything() {
    let base = PathBuf::from(std::env::var("COUNTERSIGN_TEST_BASE").unwrap());
    let mut counted = 0;
    let mut faults = Vec::new();
    for (number, (name, command, holds)) in ATTEMPTS.iter().enumerate() {
        let reached = |level| Yard::new(&base, number, level).reaches(command);
        if reached(WallLevel::None).is_none() {
            println!("not possible without walls: {name}");
            continue;
        }
        counted += 1;
        let (files, full) = (reached(WallLevel::Files), reached(WallLevel::Full));
        println!("{name}: files {}, full {}", files.is_some(), full.is_some());
        if let Some(what) = full {
            faults.push(format!("at full, {name}: {what}"));
        }
        match (holds, files) {
            (Always, Some(what)) => faults.push(format!("at files, {name}: {what}")),
            (AtFull, None) => println!("better than said at files: {name}"),
            _ => {}
        }
    }
    println!("{counted} attempts succeed without walls");
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    assert!(counted >= LEAST, "only {counted} attempts succeed without walls");
}

/// Prepares the namespaces: private mounts, processes and names, with nothing of the host below them.
const OUTER: &str = r#"
set -eu
mount -t tmpfs tmpfs /mnt
mount -t tmpfs tmpfs /tmp
mkdir -m 777 /mnt/base /mnt/tools /mnt/mounted
chmod 1777 /tmp
mount -t tmpfs tmpfs /mnt/mounted
cat > /mnt/tools/attempts.c
gcc -w -o /mnt/tools/attempts /mnt/tools/attempts.c
printf '#include <stdio.h>\n#include <unistd.h>\nint main(void) { if (geteuid() == 4711) puts("ESCAPED"); return 0; }\n' > /mnt/tools/other.c
gcc -o /mnt/base/as-other /mnt/tools/other.c
chown 4711 /mnt/base/as-other && chmod 4755 /mnt/base/as-other
export COUNTERSIGN_TEST_AS_OTHER=/mnt/base/as-other
export COUNTERSIGN_TEST_ATTEMPTS=/mnt/tools/attempts COUNTERSIGN_TEST_BASE=/mnt/base
export COUNTERSIGN_TEST_MOUNTED=/mnt/mounted HOME=/mnt/base TMPDIR=/tmp
exec 9<"$TEST"
# The folder of this process is one that attempts may write in.
cd /mnt/base
exec $AS /proc/self/fd/9 --exact "$NAME" --nocapture --test-threads=1
"#;

/// Runs the test with this name again inside the namespaces, as root or as another user.
fn inside(name: &str, becomes: &str) {
    if std::env::var_os(INSIDE).is_some() {
        return try_everything();
    }
    let is_root = rustix::process::geteuid().is_root();
    #[expect(clippy::disallowed_methods, reason = "makes the namespaces around the test")]
    let mut command = Command::new("unshare");
    if !is_root {
        command.args(["--user", "--map-root-user"]);
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/walls/attempts.c");
    let done = command
        .args(["--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc", "--kill-child"])
        .args(["sh", "-c", OUTER])
        .stdin(fs::File::open(source).unwrap())
        .env("TEST", std::env::current_exe().unwrap())
        .env("NAME", name)
        .env("AS", becomes)
        .env(INSIDE, "1")
        .env(KEY, SECRET)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
    println!("{out}");
}

#[test]
fn nothing_escapes_that_root_starts() {
    inside("walls::escape::nothing_escapes_that_root_starts", "");
}

#[test]
fn nothing_escapes_that_an_ordinary_user_starts() {
    let becomes = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    inside("walls::escape::nothing_escapes_that_an_ordinary_user_starts", becomes);
}
