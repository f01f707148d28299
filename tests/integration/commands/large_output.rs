//! Commands with very large outputs, in the real program.

use serde_json::{Value, json};

use crate::harness::home::{Done, Home};

/// Runs a command plan of these commands.
fn run(home: &Home, commands: &[&str]) -> Done {
    let step = |command: &&str| {
        // A step can read the memory usage of the program only without walls.
        json!({"command": command, "timeoutSeconds": 900, "needs": {"open": *command == PEAK}})
    };
    let steps: Vec<Value> = commands.iter().map(step).collect();
    let plan = json!({"goal": "print", "steps": steps}).to_string();
    let plan = home.write("p.json", plan);
    home.json(["run", plan.to_str().unwrap(), "--yes", "--confirm", "approve"])
}

/// A command that prints the peak memory of the program that runs it.
const PEAK: &str = "grep VmHWM /proc/$PPID/status";

fn peak_kib(step: &Value) -> u64 {
    let text = step["stdout"].as_str().unwrap();
    text.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The output is never held in memory as a whole.
#[test]
fn gibibyte_of_output_is_recorded_by_stream() {
    let home = Home::new();
    let bytes: u64 = 1 << 30;
    let flood = format!(
        "yes '   Compiling heron v0.1.0 (/home/ada/heron), which is one line of a build' \
         | head -c {bytes} | tee >(sha256sum >sum)"
    );
    let done = run(&home, &[PEAK, &flood, PEAK]).exits(0);
    let result = done.document();
    let [before, printed, after] = result["step_results"].as_array().unwrap().as_slice() else {
        panic!("{result}");
    };
    let grown = peak_kib(after) - peak_kib(before);
    println!("memory grew by {grown} KiB; the step took {} ms", printed["duration_ms"]);
    assert!(grown < 64 << 10, "it grew by {grown} KiB");
    assert_eq!(printed["stdout_bytes"], bytes);
    assert_eq!(printed["stdout_truncated"], true);
    assert!(printed["stdout"].as_str().unwrap().len() < 520 << 10);
    // The evidence has the whole output under the digest that `sha256sum` computed.
    let sum = std::fs::read_to_string(home.file("sum")).unwrap();
    let id = printed["execution_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    let artifacts = shown["artifacts"].as_array().unwrap();
    let stdout = artifacts.iter().find(|it| it["artifact_type"] == "stdout").unwrap();
    assert_eq!(stdout["content"]["blob"], format!("sha256:{}", &sum[..64]));
    assert_eq!(stdout["bytes"], bytes);
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true);
}
