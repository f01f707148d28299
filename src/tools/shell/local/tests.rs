//! Cases that a plan cannot cause on a machine with `bash`, or could cause only by printing gigabytes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use uuid::Uuid;

use super::*;
use crate::process::NoCapture;
use crate::risk::Shell;
use crate::run::{StopSignal, Stream};

/// Runs a command with this shell and limit; also returns its output.
fn run_by(reader: &CommandShell, command: &str, limit: u64) -> (Invocation, String) {
    let folder = tempfile::tempdir().unwrap();
    let command = Command { command, target: None, cwd: None, timeout_seconds: Some(60) };
    let printed = RefCell::new(String::new());
    let context = Context {
        expected: &BTreeMap::new(),
        stop: &StopSignal::default(),
        execution_id: Uuid::new_v4(),
        output: &|_, text| printed.borrow_mut().push_str(text),
        capture: &NoCapture,
        walls: crate::authorization::StepWalls::NONE,
    };
    let invocation =
        read_by(reader, &command, (".", folder.path()), limit, Profile::Client, &context).unwrap();
    (invocation, printed.into_inner())
}

#[test]
fn posix_shell_is_used_without_bash() {
    let only_sh = |name: &str| (name == "sh").then(|| PathBuf::from("/bin/sh"));
    let reader = command_shell::choose(only_sh).unwrap();
    assert_eq!((reader.shell, &*reader.path), (Shell::Posix, Path::new("/bin/sh")));
    assert!(command_shell::choose(|_| None).is_none());
    let both = command_shell::choose(|name| Some(PathBuf::from(format!("/bin/{name}")))).unwrap();
    assert_eq!((both.shell, &*both.path), (Shell::Bash, Path::new("/bin/bash")));

    // The arguments use no option that only bash has.
    let (invocation, printed) = run_by(&reader, "echo \"$0\"; exit 3", OUTPUT_BYTES);
    assert_eq!((invocation.exit_code, printed.as_str()), (Some(3), "/bin/sh\n"));
    assert_eq!(invocation.result["shell"], "/bin/sh");
    let (invocation, printed) = run_by(&reader, "-x; echo still read", OUTPUT_BYTES);
    assert_eq!(invocation.exit_code, Some(0), "{:?}", invocation.error);
    assert!(printed.contains("still read\n"), "{printed}");

    // Syntax that this shell parses differently from bash is at least dangerous.
    let rules = crate::risk::UserRules::default();
    let level = |command, shell| crate::risk::of_command(command, shell, &rules).level;
    for command in ["[[ -e a ]]", "echo {a,b}", "ls |& cat", "cat <<< a", "echo $'a'"] {
        let danger = crate::plan::RiskLevel::Dangerous;
        assert!(level(command, Shell::Posix) >= danger, "{command}");
    }
}

#[test]
fn output_over_the_limit_ends_the_command() {
    let reader = command_shell::choose(|name| Some(PathBuf::from(format!("/bin/{name}")))).unwrap();
    for (command, stream) in
        [("yes; echo never", Stream::Stdout), ("yes >&2; echo never", Stream::Stderr)]
    {
        let (invocation, printed) = run_by(&reader, command, 10_000);
        let error = invocation.error.unwrap();
        assert_eq!(error.code(), Code::OutputLimit, "{error}");
        assert_eq!(error.code().as_str(), "E309");
        assert!(error.to_string().contains("more than 10000 bytes"), "{error}");
        assert_eq!(printed.len(), 10_000, "all that is allowed is kept");
        assert!(!printed.contains("never"), "{command}");
        let kept = match stream {
            Stream::Stdout => &invocation.result["stdout_bytes"],
            Stream::Stderr => &invocation.result["stderr_bytes"],
        };
        assert_eq!(kept, 10_000, "{command}");
    }
    // An output of exactly the limit is allowed.
    let (invocation, _) = run_by(&reader, "yes | head -c 10000", 10_000);
    assert!(invocation.error.is_none(), "{:?}", invocation.error);
}
