//! How often an idle window draws: never in five seconds, whatever it shows.
//!
//! The X server reports every drawing. The pages are those of `tests/window/idle.rs`.

#![allow(missing_docs, reason = "a bench is no library")]
#![allow(dead_code, reason = "the window tests use the rest")]

#[path = "../tests/window/compositor.rs"]
mod compositor;
#[path = "../tests/window/harness.rs"]
mod harness;
#[path = "../tests/window/idle.rs"]
mod idle;
#[path = "../tests/window/painting.rs"]
mod painting;
#[path = "../tests/window/pointing.rs"]
mod pointing;
#[path = "../tests/window/screen.rs"]
mod screen;
#[path = "../tests/window/tree.rs"]
mod tree;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window/idle");
    let found = match idle::drawings_while_idle(program, &pictures) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("cannot measure: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut all = true;
    for (when, drawings) in found {
        let verdict = if drawings == 0 { "holds" } else { "MISSES" };
        println!("drawings in 5 idle seconds {when}: {drawings}, at most 0: {verdict}");
        all &= drawings == 0;
    }
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
