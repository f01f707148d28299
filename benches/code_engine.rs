//! The embedded code engine against the programs `magellan` and `splice`, and a symbol search in 10,000 files
//! against one in 1,000.
//!
//! Our side is a complete run of one step: authorized, recorded and durable. The other program is started for
//! each query, as the external engine does. Both programs must be on PATH.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is a program")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::json;
use support::{Bench, exit, holds, in_pairs, plan, time};

const PAIRS: usize = 20;
/// The claim: at most a fifth of the time of the other program.
const A_FIFTH: f64 = 0.2;
/// Definitions of the file whose symbols are listed: some 5,000 lines.
const FUNCTIONS: usize = 1_000;

fn main() -> ExitCode {
    let all = [symbols(), splice(), files()];
    exit(all.iter().all(|holds| *holds))
}

fn symbols() -> bool {
    let mut bench = Bench::new();
    let workspace = bench.workspace();
    let mut source = String::new();
    for n in 0..FUNCTIONS {
        let _ = write!(
            source,
            "/// The {n}th.\npub fn f{n}(x: u64) -> u64 {{\n    let y = x.wrapping_mul({n});\n    y ^ 1\n}}\n"
        );
    }
    fs::write(workspace.join("source.rs"), &source).expect("a source");
    let step = json!({"tool": "symbols_in_file", "arguments": {"file_path": "source.rs"}});
    let plan = plan(vec![step]);
    let graph = bench.folder().join("graph.db");
    let (ours, theirs) = in_pairs(
        PAIRS,
        || bench.run(&plan).0,
        || {
            let _ = fs::remove_file(&graph);
            let database = graph.to_string_lossy();
            time(|| {
                for command in ["index", "query"] {
                    run(
                        "magellan",
                        &workspace,
                        &[command, "--db", &database, "--file", "source.rs"],
                    );
                }
            })
        },
    );
    let what = "symbols_in_file against magellan's index and query of the same file";
    holds(what, A_FIFTH, ours, theirs)
}

fn splice() -> bool {
    let mut bench = Bench::new();
    let workspace = bench.workspace();
    let (target, with) = (workspace.join("shop.py"), workspace.join("with.py"));
    let source: String = (0..100)
        .map(|n| format!("def f{n}(x):\n    y = x * {n}\n    return y + 1\n\n\n"))
        .collect();
    fs::write(&with, "def f50(x):\n    return x\n").expect("a replacement");
    let arguments = json!({"file": "shop.py", "symbol": "f50", "with": "with.py"});
    let plan = plan(vec![json!({"tool": "splice_patch", "arguments": arguments})]);
    let write = || fs::write(&target, &source).expect("a source");
    let is_made = || {
        let now = fs::read_to_string(&target).expect("a source");
        assert!(now.contains("def f50(x):\n    return x\n\n"), "{now}");
    };
    let graph = bench.folder().join("graph.db");
    let options = [option("db", &graph), option("file", &target), option("with", &with)];
    let (ours, theirs) = in_pairs(
        PAIRS,
        || {
            write();
            let took = bench.run(&plan).0;
            is_made();
            took
        },
        || {
            write();
            let _ = fs::remove_file(&graph);
            let [database, file, with] = &options;
            let took = time(|| {
                run("splice", &workspace, &["patch", database, file, with, "--symbol=f50"]);
            });
            is_made();
            took
        },
    );
    holds("splice_patch of a Python file against splice", A_FIFTH, ours, theirs)
}

/// Every file has the searched name in comments only, so each is parsed and none matches.
fn files() -> bool {
    let mut benches = [10_000, 1_000].map(|count| {
        let bench = Bench::new();
        for n in 0..count {
            let folder = bench.workspace().join(format!("m{}", n / 100));
            fs::create_dir_all(&folder).expect("a folder");
            let body: String = (0..20)
                .map(|f| {
                    format!("/// As sought.\npub fn f{f}(x: u64) -> u64 {{\n    x + {f}\n}}\n")
                })
                .collect();
            fs::write(folder.join(format!("s{n}.rs")), body).expect("a source");
        }
        (bench, count)
    });
    let step = json!({"tool": "references_to_symbol_name", "arguments": {"symbol": "sought"}});
    let plan = plan(vec![step]);
    let [(many, many_files), (few, few_files)] = &mut benches;
    let (ours, theirs) =
        in_pairs(5, || many.run(&plan).0 / *many_files, || few.run(&plan).0 / *few_files);
    holds("a file in the look through 10,000 against one of 1,000", 1.2, ours, theirs)
}

fn option(name: &str, value: &Path) -> String {
    format!("--{name}={}", value.display())
}

fn run(program: &str, folder: &Path, arguments: &[&str]) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}
