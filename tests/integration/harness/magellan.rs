//! Indexes folders with the real `magellan`, which `packaging/test.sh` installs.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Indexes a folder with magellan and waits until it is done.
pub fn index(folder: &Path) {
    #[expect(clippy::disallowed_methods, reason = "the test watches it while it works")]
    let mut magellan = Command::new("sh")
        .args(["-c", "exec magellan watch --root . --db codegraph.db --scan-initial 2>&1"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(magellan.stdout.take().unwrap()).lines();
    let mut said = Vec::new();
    let watches = lines.by_ref().map(Result::unwrap).any(|line| {
        said.push(line);
        said.last().is_some_and(|line| line.starts_with("Database:"))
    });
    assert!(watches, "magellan, which packaging/test.sh installs, said {said:?}");
    let id = rustix::process::Pid::from_child(&magellan);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    // The output is read to its end, so that magellan never writes into a closed pipe.
    for _ in lines {}
    magellan.wait().unwrap();
    assert!(folder.join("codegraph.db").exists(), "{said:?}");
}
