//! The exit codes of the headless commands.

/// An exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitText {
    /// The code.
    pub code: u8,
    /// The meaning, in a few words.
    pub meaning: &'static str,
    /// When a command ends with it, as sentences.
    pub text: &'static str,
    /// What to do then; may be empty.
    pub next: &'static str,
}

const fn exit(code: u8, meaning: &'static str, text: &'static str, next: &'static str) -> ExitText {
    ExitText { code, meaning, text, next }
}

/// Every exit code. The commands that answer agents (`hook`, `exec`) have others.
pub const EXITS: [ExitText; 7] = [
    exit(0, "done", "The command did what it was asked for.", ""),
    exit(
        1,
        "the run failed or was cancelled, or its host cannot be reached; a loop that did not complete",
        "Something ran and did not succeed, or its result could not be printed or written.",
        "Read the error of the step that failed; countersign evidence show RUN has all of it.",
    ),
    exit(
        2,
        "the plan is invalid, or its file cannot be read",
        "Nothing ran. check also ends with it if the plan cannot be authorized as things are.",
        "Correct the plan at the places that the findings name.",
    ),
    exit(
        3,
        "not authorized, or something that was authorized has changed",
        "Nothing ran. Also for a signature that is missing, and for a loop whose plan nobody authorized.",
        "Look at the plan as it is now, and authorize the digest that check prints.",
    ),
    exit(
        4,
        "the evidence could not be written or read",
        "Without evidence nothing runs. Also for the server of a team that cannot be used.",
        "See the message: free space, permissions, or another program that holds the evidence.",
    ),
    exit(
        5,
        "the command line, the settings or the workspace cannot be used",
        "Nothing ran.",
        "Correct what the message names; --help has the options of each command.",
    ),
    exit(
        6,
        "verification found tampering",
        "Records, a checkpoint or a signature are not what they were.",
        "Keep a copy of the evidence folder as it is, and compare it with a backup or with the kept heads.",
    ),
];

/// The codes with their meanings, as `--help` prints them.
pub fn exits_text() -> String {
    let lines = EXITS.map(|exit| format!("\n  {}  {}", exit.code, exit.meaning));
    format!("Exit codes:{}", lines.concat())
}
