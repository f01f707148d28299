//! Words that the window uses in a sense of its own.

/// Each word with its meaning, as sentences, in the order in which a person meets them.
pub(super) const WORDS: &[(&str, &str)] = &[
    ("plan", "A file with steps that a program or a person has written. Opening it runs nothing."),
    ("step", "One call of one tool with exactly the arguments of the plan."),
    (
        "workspace",
        "The folder in which a plan works. Tools touch nothing outside it, except in folders that your settings name.",
    ),
    (
        "digest",
        "The SHA-256 of the exact bytes of a plan. Another byte is another plan, with another digest.",
    ),
    (
        "finding",
        "A fault of the plan, or a warning, with its place. With an error among them a plan cannot be authorized.",
    ),
    (
        "review",
        "What is computed of a plan before you sign: risk, changes of files, preconditions. Nothing of the plan runs for it.",
    ),
    (
        "authorization",
        "Your signature under exactly this plan, workspace and content of its files. It is for one run, expires, and is void if \
         one of them changes.",
    ),
    (
        "void",
        "An authorization of which something has changed since. The window says what; look again and authorize again.",
    ),
    (
        "confirmation",
        "The question of one step, just before it runs. Closing its dialog decides nothing.",
    ),
    ("denied", "A person said no to a step. The step does nothing, and the run ends as failed."),
    ("skipped", "A person left a step out. The run goes on with the next."),
    ("safe", "The risk of what is known to only read. It runs without a question."),
    (
        "caution",
        "The risk of ordinary changes, and of what is not known. It asks if it has no walls on this computer.",
    ),
    ("dangerous", "The risk of what is hard to undo or goes beyond the workspace. It always asks."),
    ("blocked", "What no authorization can permit. The plan can be looked at, and not authorized."),
    (
        "walls",
        "A sandbox for the processes that a run starts: what they may write, read and reach. See the section Walls.",
    ),
    (
        "evidence",
        "The log of everything that was decided and run. Rows are only added, each is chained to those before, and a step is \
         noted before it begins.",
    ),
    ("execution", "One call of a tool, as recorded: with its arguments, outcome and artifacts."),
    (
        "artifact",
        "Something that an execution left in the evidence: output, result, diff, diagnostics.",
    ),
    (
        "interrupted",
        "A run without an end in the evidence: the program was killed, or the computer lost power. A step under way has an \
         unknown outcome.",
    ),
    (
        "reconcile",
        "Compares the files of an interrupted step with what it was to write, and records what was found. It runs nothing.",
    ),
    (
        "revert",
        "A plan that restores what a run, a loop or a step has changed. It refuses where somebody has changed a file since.",
    ),
    (
        "continue",
        "A new plan of the steps of a run that have not succeeded. It needs an authorization of its own.",
    ),
    (
        "roll back",
        "Runs the commands that a plan names for the case of a failure, or restores the files of an interrupted step.",
    ),
    (
        "loop",
        "A planner proposes a plan, you authorize it, it runs and is verified; if that fails, the planner gets what happened \
         and proposes again, a limited number of times.",
    ),
    ("planner", "A program that makes a plan of a goal. It proposes and cannot authorize."),
    (
        "inbox",
        "Plans of other programs that wait for you. Nothing in it runs before you authorize it.",
    ),
    ("queue", "Authorized plans that run one after another. It stops where one does not complete."),
    (
        "revision",
        "A plan that you have changed before signing: with other arguments, without a step, or with a part of a change. It has a \
         digest of its own.",
    ),
    ("succeeded", "The outcome of a step whose tool was called and did what it was to do."),
    (
        "failed",
        "The outcome of a step whose tool failed, or of which an approved file has changed; no later step runs. A run has failed \
         if one of its steps failed or was denied, or if a precondition did not hold.",
    ),
    (
        "done_by_hand",
        "The outcome of a step that a person did in place of the program. The run goes on.",
    ),
    (
        "precondition_failed",
        "The outcome of a step whose condition did not hold. Nothing of it was done.",
    ),
    ("cancelled", "A person stopped the run, or the step that was under way."),
    ("active", "The program that carries a run or a loop out is still there."),
    ("running", "A step that has begun and has no outcome yet."),
    (
        "planner_provider_error",
        "The planner could not be started, ended with an error, took too long, printed too much or was stopped.",
    ),
    ("planner_invalid_json", "The answer of the planner is not JSON."),
    ("planner_validation_failed", "The planner's plan has errors, so it cannot be authorized."),
    (
        "planner_unavailable",
        "The planner says that it, or the model that it asks, cannot be reached now.",
    ),
    ("clarification_needed", "The planner says that it needs to know more about the goal."),
    ("unsupported_goal", "The planner says that it cannot work towards this goal."),
    ("unsafe_plan", "The planner says that it found no safe plan."),
    ("validation_failed", "The planner says that its own plan has errors."),
    ("guided", "A run in which each step waits for you to run it, do it by hand or skip it."),
    (
        "checkpoint",
        "A signed statement of how far the evidence went. A later loss of records shows against it.",
    ),
    (
        "valid",
        "The signature is of these bytes, by a person and with a key of the list of signers.",
    ),
    ("unsigned", "There is no signature."),
    (
        "bytes_differ",
        "The signature is not one of these bytes, or what was signed is not what the evidence has.",
    ),
    ("wrong_key", "The list of signers has this person with another key."),
    ("not_allowed", "The person is not in the list of signers, or not for this purpose."),
    ("expired", "The key was not valid any more when it signed."),
    ("not_yet_valid", "The key was not valid yet when it signed."),
    ("revoked", "The key was withdrawn, so that none of its signatures counts."),
];
