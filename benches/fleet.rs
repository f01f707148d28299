//! The time of a command on several hosts, with review, authorization, run and evidence, against the same play run by hand
//! with `ansible-playbook`, the same settings and a callback plugin that prints nothing.
//!
//! `ssh` is a script that runs the command on this computer, for both sides, so that only what this program adds is
//! measured. `COUNTERSIGN` may name the program; the default is that of this build. `COUNTERSIGN_HOSTS` may name other
//! numbers of hosts, with commas.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is a program")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

#[path = "support/hosts.rs"]
mod hosts;
mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use hosts::LocalHosts;
use serde_json::Value;
use support::{exit, holds, in_pairs, time};

const PAIRS: usize = 5;

fn main() -> ExitCode {
    let counts = std::env::var("COUNTERSIGN_HOSTS").unwrap_or_else(|_| "1,20,100".to_owned());
    let counts = counts.split(',').map(|count| count.parse().expect("a number of hosts"));
    let all: Vec<bool> = counts.map(measure).collect();
    exit(all.into_iter().all(|holds| holds))
}

fn measure(count: usize) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["space", "hand"] {
        fs::create_dir(at(name)).expect("a folder");
    }
    let hosts = LocalHosts::new(folder.path(), count);
    fs::write(at("space/p.json"), LocalHosts::plan(count, "echo here")).expect("the plan");
    let program = std::env::var_os("COUNTERSIGN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_countersign")), PathBuf::from);
    let path = hosts.path();
    let countersign = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).arg(at("space/p.json")).arg("--json");
        command.arg("--evidence").arg(at("evidence"));
        command.env("HOME", folder.path()).env("PATH", &path).stdin(Stdio::null());
        let output = command.output().expect("the program");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("a document")
    };
    let fleet = countersign(&["check"])["fleet"].clone();
    let by_hand = at("hand");
    for (name, field) in
        [("playbook.yml", "playbook"), ("inventory.yml", "inventory"), ("ansible.cfg", "config")]
    {
        let text = fleet[field].as_str().expect("a generated file");
        let text = text.replace("stdout_callback = countersign_results\n", "");
        fs::write(by_hand.join(name), text).expect("the file");
    }
    let ours = || {
        time(|| {
            let document = countersign(&["run", "--yes"]);
            let results = document["host_results"].as_array().map_or(0, Vec::len);
            assert_eq!(results, count, "{document:#}");
        })
    };
    let theirs = || {
        let mut command = Command::new("ansible-playbook");
        command.args(["-i", "inventory.yml", "playbook.yml"]).current_dir(&by_hand);
        command.env("HOME", folder.path()).env("PATH", &path).stdin(Stdio::null());
        time(|| assert!(command.output().expect("ansible-playbook").status.success()))
    };
    let (ours, theirs) = in_pairs(PAIRS, ours, theirs);
    let what = format!("a command on {count} hosts against the same play by hand");
    holds(&what, 1.2, ours, theirs)
}
