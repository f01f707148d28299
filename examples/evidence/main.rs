//! Makes evidence of any size with example data, for measurements and pictures:
//!
//! `cargo run --release --example evidence -- FOLDER EXECUTIONS [SEED]`
//!
//! FOLDER gets the folders `evidence` and `keys`; pass them to Countersign by `--evidence FOLDER/evidence`. A second call
//! adds the same executions again only with another seed.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "example data has the indexed items, and a failure should stop"
)]

mod generate;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use countersign::evidence::EvidenceStore;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (Some(folder), Some(Ok(executions))) =
        (arguments.first(), arguments.get(1).map(|it| it.parse::<usize>()))
    else {
        eprintln!("usage: evidence FOLDER EXECUTIONS [SEED]");
        return ExitCode::from(2);
    };
    let seed = arguments.get(2).and_then(|it| it.parse().ok()).unwrap_or(1);
    let folder = Path::new(folder);
    let started = Instant::now();
    let mut store = EvidenceStore::open(&folder.join("evidence"), folder.join("keys"))
        .expect("an evidence folder");
    let mut next = 0;
    generate::generate(&mut store, executions, seed, |done| {
        if done >= next {
            println!("{done} executions after {:.1?}", started.elapsed());
            next = done + executions / 10;
        }
    });
    println!("{executions} executions in {:.1?}", started.elapsed());
    ExitCode::SUCCESS
}
