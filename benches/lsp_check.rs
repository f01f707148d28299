//! `lsp_check` against `cargo check --message-format=json` on a small crate, whose source file is changed before
//! each check.
//!
//! cargo must be on PATH.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is a program")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::fs;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use serde_json::json;
use support::{Bench, claim, plan, time};

/// Functions of the crate; one of them has a warning.
const FUNCTIONS: usize = 200;

fn main() -> ExitCode {
    let mut bench = Bench::new();
    let workspace = bench.workspace();
    // With `[workspace]`, because the crate lies inside the folder of this one.
    let manifest =
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(workspace.join("Cargo.toml"), manifest).expect("a manifest");
    fs::create_dir(workspace.join("src")).expect("a folder");
    let source: String = (0..FUNCTIONS)
        .map(|n| format!("pub fn f{n}(x: u64) -> u64 {{\n    x.wrapping_mul({n}) ^ {n}\n}}\n"))
        .chain(["pub fn unused() {\n    let heron = 1;\n}\n".to_owned()])
        .collect();
    let mut touched = 0;
    let path = workspace.join("src/lib.rs");
    let mut touch = move || {
        touched += 1;
        fs::write(&path, format!("{source}// {touched}\n")).expect("a source");
    };
    touch();
    let step = json!({"tool": "lsp_check", "arguments": {"path": "."}});
    let plan = plan(vec![step]);
    let touch = std::cell::RefCell::new(&mut touch);
    claim(
        "lsp_check against cargo check --message-format=json",
        1.1,
        20,
        || -> Duration {
            (touch.borrow_mut())();
            let (took, result) = bench.run(&plan);
            assert_eq!(
                result.step_results.first().map(|it| it.diagnostic_artifacts.len()),
                Some(1)
            );
            took
        },
        || {
            (touch.borrow_mut())();
            time(|| {
                let output = Command::new("cargo")
                    .args(["check", "--workspace", "--message-format=json"])
                    .current_dir(&workspace)
                    .stdin(Stdio::null())
                    .output()
                    .expect("cargo");
                assert!(output.status.success());
            })
        },
    )
}
