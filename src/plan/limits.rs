//! The limits of a plan file (SPEC §1.4). Reaching one is always a finding that names it.

/// Largest plan file, in bytes: 16 MiB.
pub const PLAN_BYTES: usize = 16 << 20;
/// Most steps of a plan.
pub const STEPS: usize = 10_000;
/// Largest argument, in bytes: 1 MiB.
pub const ARGUMENT_BYTES: usize = 1 << 20;
/// Deepest nesting of objects and arrays.
pub const NESTING: usize = 32;
/// Longest id, in bytes; rows, file names and messages contain ids.
pub const ID_BYTES: usize = 256;
/// Most findings reported for one plan; one more says that there were others.
pub const FINDINGS: usize = 1_000;
/// Longest time that a command may be given, in seconds: a week.
pub const TIMEOUT_SECONDS: u32 = 7 * 24 * 60 * 60;
/// Most actions of an action plan.
pub const ACTIONS: usize = 32;
/// Most edits of one batch.
pub const EDITS: usize = 128;
/// Most inputs of a simulated function.
pub const INPUTS: usize = 32;
/// Most results of one look at the program.
pub const RESULTS: usize = 200;
/// Most paths of `needs.write` of one command.
pub const WRITES: usize = 32;
/// Longest path of `needs.write`, in bytes.
pub const PATH_BYTES: usize = 4_096;
