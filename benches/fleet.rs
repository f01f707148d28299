//! The time of a command on 200 hosts, with authorization, run and evidence, against the same play run by hand with
//! `ansible-playbook`, the same settings and a callback plugin that prints nothing.
//!
//! `ssh` is a script that runs the command on this computer, for both sides, so that only what this program adds is
//! measured. `COUNTERSIGN` may name the program; the default is that of this build. `COUNTERSIGN_ANSIBLE` names the
//! folder of `ansible-playbook`; the default is where `packaging/bench.sh` installs it.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is a program")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::{Value, json};
use support::{claim, time};

const HOSTS: usize = 200;
const PAIRS: usize = 5;

/// `ssh -G` is that of the system; every other call runs its last argument here.
const SSH: &str = "#!/bin/sh\ncase \" $* \" in *\" -G \"*) exec /usr/bin/ssh \"$@\";; esac\n\
                   for last; do :; done\nexec sh -c \"$last\"\n";

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["bin", "space", "hand"] {
        fs::create_dir(at(name)).expect("a folder");
    }
    fs::write(at("bin/ssh"), SSH).expect("the script");
    fs::set_permissions(at("bin/ssh"), fs::Permissions::from_mode(0o755)).expect("its mode");
    let targets: Vec<String> = (1..=HOSTS).map(|number| format!("host{number}")).collect();
    let plan = json!({ "goal": "g", "targets": targets, "steps": [{ "command": "echo here" }] });
    fs::write(at("space/p.json"), plan.to_string()).expect("the plan");
    let program = std::env::var_os("COUNTERSIGN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_countersign")), PathBuf::from);
    let path = path(&at("bin"));
    let countersign = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).arg(at("space/p.json")).arg("--json");
        command.arg("--evidence").arg(at("evidence"));
        command.env("HOME", folder.path()).env("PATH", &path).stdin(Stdio::null());
        let output = command.output().expect("the program");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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
            assert_eq!(results, HOSTS, "{document:#}");
        })
    };
    let theirs = || {
        let mut command = Command::new("ansible-playbook");
        command.args(["-i", "inventory.yml", "playbook.yml"]).current_dir(&by_hand);
        command.env("HOME", folder.path()).env("PATH", &path).stdin(Stdio::null());
        time(|| assert!(command.output().expect("ansible-playbook").status.success()))
    };
    claim("a command on 200 hosts against the same play by hand", 1.2, PAIRS, ours, theirs)
}

/// `PATH` with the script and the real ansible.
fn path(scripts: &Path) -> String {
    let ansible = std::env::var("COUNTERSIGN_ANSIBLE").unwrap_or_else(|_| {
        let home = std::env::var("HOME").expect("a home folder");
        format!("{home}/.cache/countersign/ansible-core/bin")
    });
    let paths = std::env::var("PATH").unwrap_or_default();
    format!("{}:{ansible}:{paths}", scripts.display())
}
