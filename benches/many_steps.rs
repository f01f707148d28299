//! The cost of a step in a run of 10,000 steps against that in a run of 1,000, as elapsed time and as processor
//! time, which excludes waiting for the disk. The cost per step must not grow with the number of steps.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::process::ExitCode;
use std::time::Duration;

use countersign::plan::Plan;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use support::{Bench, exit, holds, in_pairs, plan};

const MANY: u32 = 10_000;
const FEW: u32 = 1_000;
const AT_MOST: f64 = 1.5;

/// A plan whose steps each read one of ten files and depend on the step before.
fn reading(steps: u32) -> Plan {
    let step = |n: u32| {
        let precondition = match n {
            0 => "none".to_owned(),
            n => format!("s{} succeeded", n - 1),
        };
        json!({
            "step_id": format!("s{n}"),
            "tool": "file_read",
            "arguments": {"path": format!("{}.txt", n % 10)},
            "precondition": precondition,
        })
    };
    plan((0..steps).map(step).collect())
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().expect("no time before the start"),
        time.tv_nsec.try_into().expect("less than a second"),
    )
}

/// The elapsed time of a step of the plan, and its processor time including its share of the review.
fn step(plan: &Plan, steps: u32) -> (Duration, Duration) {
    // In new evidence each time, without rows of earlier runs.
    let mut bench = Bench::new();
    for n in 0..10 {
        std::fs::write(bench.workspace().join(format!("{n}.txt")), "a line of text\n".repeat(20))
            .expect("a file");
    }
    let before = processor_time();
    let (took, _) = bench.run(plan);
    (took / steps, (processor_time() - before) / steps)
}

fn main() -> ExitCode {
    let (many, few) = (reading(MANY), reading(FEW));
    let (many, few) = in_pairs(3, || step(&many, MANY), || step(&few, FEW));
    let clock = |of: &[(Duration, Duration)]| of.iter().map(|it| it.0).collect();
    let processor = |of: &[(Duration, Duration)]| of.iter().map(|it| it.1).collect();
    let by_clock = holds("a step of a run of 10,000", AT_MOST, clock(&many), clock(&few));
    let what = "processor time of a step of a run of 10,000";
    exit(holds(what, AT_MOST, processor(&many), processor(&few)) & by_clock)
}
