//! The limits of a plan file (SPEC §1.4). A plan that exceeds one gets a finding whose message contains the limit.

/// Maximum size of a plan file, in bytes: 16 MiB.
pub const PLAN_BYTES: usize = 16 << 20;
/// Maximum number of steps of a plan.
pub const STEPS: usize = 10_000;
/// Maximum size of an argument, in bytes: 1 MiB.
pub const ARGUMENT_BYTES: usize = 1 << 20;
/// Maximum nesting of objects and arrays.
pub const NESTING: usize = 32;
/// Maximum length of an id, in bytes. Rows, file names and messages contain ids.
pub const ID_BYTES: usize = 256;
/// Maximum number of findings reported for a plan. One additional finding gives the number of those left out.
pub const FINDINGS: usize = 1_000;
/// Maximum time limit of a command, in seconds: a week.
pub const TIMEOUT_SECONDS: u32 = 7 * 24 * 60 * 60;
/// Maximum number of actions of an action plan.
pub const ACTIONS: usize = 32;
/// Maximum number of edits of a batch, and of steps of a simulation.
pub const EDITS: usize = 128;
/// Maximum number of inputs of a simulated function.
pub const INPUTS: usize = 32;
/// Maximum number of results of one `inspect` or `history` action.
pub const RESULTS: usize = 200;
/// Maximum number of paths in `needs.write` of a command.
pub const WRITES: usize = 32;
/// Maximum length of a path in `needs.write`, in bytes.
pub const PATH_BYTES: usize = 4_096;
/// Maximum number of hosts of a plan.
pub const TARGETS: usize = 5_000;
/// Maximum number of sizes of batches of a plan.
pub const BATCHES: usize = 64;
/// Maximum size of a command for several hosts, in bytes as quoted for a shell. Systems limit an argument to 128 KiB.
pub const FLEET_COMMAND_BYTES: usize = 100_000;
/// Maximum number of persons whose signatures a plan or the settings can ask for.
pub const SIGNATURES: usize = 20;
/// Maximum number of inputs of a plan.
pub const PLAN_INPUTS: usize = 64;
/// Maximum number of choices of an input.
pub const CHOICES: usize = 256;
/// Maximum size of a value of an input, in bytes. Systems limit a variable of an environment to 128 KiB.
pub const INPUT_BYTES: usize = 64 << 10;
/// Maximum length of the name of an input, in bytes.
pub const INPUT_NAME_BYTES: usize = 64;
