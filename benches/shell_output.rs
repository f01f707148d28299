//! A step whose command prints 1 GiB of a build's log, all of it recorded in the evidence, against the same output
//! hashed and compressed to a file by other programs.
//!
//! bash, sha256sum, tee and zstd must be on PATH.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is a program")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use countersign::plan::{Plan, parse};
use serde_json::json;
use support::{Bench, claim, time};

/// The bytes that the command prints.
const BYTES: usize = 1 << 30;
/// The bytes that one `cat` of it prints.
const PIECE: usize = 8 << 20;

fn main() -> ExitCode {
    let mut bench = Bench::new();
    let workspace = bench.workspace();
    let log = build_log();
    assert!(log.len() > 10_000, "this program was built, so there is a log of it");
    let piece: Vec<u8> = log.iter().copied().cycle().take(PIECE).collect();
    fs::write(workspace.join("build.log"), piece).expect("a log");
    let command = format!("for i in $(seq {}); do cat build.log; done", BYTES / PIECE);
    let plan = command_plan(&command);
    let folder = bench.folder().to_owned();
    let theirs = format!(
        "set -o pipefail; bash -c '{command}' | tee >(sha256sum >'{0}/sum') | zstd -q -1 >'{0}/log.zst'",
        folder.display()
    );
    claim(
        "1 GiB of a build's log into evidence against tee, sha256sum and zstd -1",
        3.0,
        5,
        || {
            // Different content each time, because the evidence stores equal contents once.
            vary(&workspace);
            let (took, result) = bench.run(&plan);
            let bytes = result.step_results.first().map(|it| it.stdout_bytes);
            assert_eq!(bytes, Some(BYTES as u64));
            took
        },
        || {
            vary(&workspace);
            time(|| {
                let status = Command::new("bash")
                    .args(["-c", &theirs])
                    .current_dir(&workspace)
                    .stdin(Stdio::null())
                    .status()
                    .expect("bash");
                assert!(status.success());
            })
        },
    )
}

fn command_plan(command: &str) -> Plan {
    let steps = [json!({"command": command, "timeoutSeconds": 3600})];
    let parsed = parse(json!({"goal": "print a log", "steps": steps}).to_string().as_bytes());
    assert!(parsed.is_valid(), "{:?}", parsed.findings);
    parsed.plan.expect("a plan")
}

/// The output of compilers and build scripts of this program and its dependencies.
fn build_log() -> Vec<u8> {
    let program = std::env::current_exe().expect("a path");
    let profile = program.ancestors().nth(2).expect("target and profile");
    let mut logs: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(profile.join("build")).expect("build scripts").flatten() {
        logs.extend(["output", "stderr"].map(|name| entry.path().join(name)));
    }
    logs.sort();
    logs.iter().filter_map(|log| fs::read(log).ok()).flatten().collect()
}

/// Overwrites the beginning of the log with the present time.
fn vary(workspace: &Path) {
    let path = workspace.join("build.log");
    let mut log = fs::read(&path).expect("the log");
    let stamp = format!("{:?}", std::time::SystemTime::now());
    let length = stamp.len();
    log.get_mut(..length).expect("a first line").copy_from_slice(stamp.as_bytes());
    fs::write(path, log).expect("the log");
}
