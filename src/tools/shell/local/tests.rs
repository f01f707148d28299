//! Cases that a plan cannot cause on a machine with `bash`, or could cause only by printing gigabytes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use uuid::Uuid;

use super::*;
use crate::process::NoCapture;
use crate::risk::Shell;
use crate::run::{StopSignal, Stream};

/// Runs a command with this shell and limit; also returns its output.
fn run_by(shell: &CommandShell, command: &str, limit: u64) -> (CallResult, String) {
    let folder = tempfile::tempdir().unwrap();
    let command =
        Command { command, target: None, cwd: None, timeout_seconds: Some(60), inputs: &[] };
    let printed = RefCell::new(String::new());
    let context = Context {
        expected: &BTreeMap::new(),
        stop: &StopSignal::default(),
        execution_id: Uuid::new_v4(),
        output: &|_, text| printed.borrow_mut().push_str(text),
        capture: &NoCapture,
        walls: crate::authorization::StepWalls::NONE,
        terminal: None,
    };
    let call_result = run_in(
        shell,
        &command,
        &[],
        (".", folder.path()),
        limit,
        Profile::Client,
        (&context, context.io()),
    )
    .unwrap();
    (call_result, printed.into_inner())
}

#[test]
fn posix_shell_is_used_without_bash() {
    let only_sh = |name: &str| (name == "sh").then(|| PathBuf::from("/bin/sh"));
    let shell = command_shell::choose(only_sh).unwrap();
    assert_eq!((shell.shell, &*shell.path), (Shell::Posix, Path::new("/bin/sh")));
    assert!(command_shell::choose(|_| None).is_none());
    let both = command_shell::choose(|name| Some(PathBuf::from(format!("/bin/{name}")))).unwrap();
    assert_eq!((both.shell, &*both.path), (Shell::Bash, Path::new("/bin/bash")));

    // The arguments use no option that only bash has.
    let (call_result, printed) = run_by(&shell, "echo \"$0\"; exit 3", OUTPUT_BYTES);
    assert_eq!((call_result.exit_code, printed.as_str()), (Some(3), "/bin/sh\n"));
    assert_eq!(call_result.result["shell"], "/bin/sh");
    let (call_result, printed) = run_by(&shell, "-x; echo still read", OUTPUT_BYTES);
    assert_eq!(call_result.exit_code, Some(0), "{:?}", call_result.error);
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
    let shell = command_shell::choose(|name| Some(PathBuf::from(format!("/bin/{name}")))).unwrap();
    for (command, stream) in
        [("yes; echo never", Stream::Stdout), ("yes >&2; echo never", Stream::Stderr)]
    {
        let (call_result, printed) = run_by(&shell, command, 10_000);
        let error = call_result.error.unwrap();
        assert_eq!(error.code(), Code::OutputLimit, "{error}");
        assert_eq!(error.code().as_str(), "E309");
        assert!(error.to_string().contains("more than 10000 bytes"), "{error}");
        assert_eq!(printed.len(), 10_000, "all that is allowed is kept");
        assert!(!printed.contains("never"), "{command}");
        let kept = match stream {
            Stream::Stdout => &call_result.result["stdout_bytes"],
            Stream::Stderr => &call_result.result["stderr_bytes"],
        };
        assert_eq!(kept, 10_000, "{command}");
    }
    // An output of exactly the limit is allowed.
    let (call_result, _) = run_by(&shell, "yes | head -c 10000", 10_000);
    assert!(call_result.error.is_none(), "{:?}", call_result.error);
}
