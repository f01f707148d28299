//! The processor time to classify a command: at most 10 ms for a mebibyte, at most 100 ms at the limits of the
//! parser (64 KiB, 16 levels, 200 commands).

#![allow(missing_docs, reason = "a bench has no reader but its own")]
use std::process::ExitCode;

use countersign::risk::{Shell, UserRules, of_command};
use rustix::time::{ClockId, clock_gettime};

/// The number of rounds; the slowest counts.
const ROUNDS: usize = 15;

fn processor_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1_000.0 + time.tv_nsec as f64 / 1_000_000.0
}

fn main() -> ExitCode {
    let rules = UserRules::default();
    let filled = |mut text: String, tail: &str| {
        text.push_str(&"a".repeat((64 * 1024_usize).saturating_sub(text.len() + tail.len())));
        text + tail
    };
    let commands = [
        ("1 MiB of one word", 10.0, "a".repeat(1 << 20)),
        ("1 MiB of commands", 10.0, "rm -rf x; ".repeat((1 << 20) / 10)),
        ("1 MiB of brackets", 10.0, "$(".repeat(1 << 19)),
        ("64 KiB in 200 commands", 100.0, filled("git log --oneline | cat; ".repeat(99), "")),
        ("64 KiB in 16 levels", 100.0, filled(format!("{}echo ", "(".repeat(16)), &")".repeat(16))),
        ("64 KiB of quotes", 100.0, filled(format!("echo {}", "'a'\"b\"\\c".repeat(7_000)), "")),
        ("64 KiB of variables", 100.0, format!("echo {}", "$A".repeat(32 * 1024 - 3))),
        ("200 shells inside", 100.0, "sudo bash -c 'ls -l; cat a'; ".repeat(66)),
    ];
    let mut right = true;
    for (name, limit, command) in commands {
        assert!(command.len() <= 1 << 20, "{name}");
        // The table of rules is read once per process, so that is not measured.
        of_command("ls", Shell::Bash, &rules);
        let slowest = (0..ROUNDS)
            .map(|_| {
                let before = processor_ms();
                std::hint::black_box(of_command(&command, Shell::Bash, &rules));
                processor_ms() - before
            })
            .fold(0.0, f64::max);
        println!("{name}: {slowest:.2} ms of the processor, at most {limit}");
        right &= slowest <= limit;
    }
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
