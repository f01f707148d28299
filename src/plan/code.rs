//! The stable error codes (SPEC §6): one table for findings, refusals and failed steps, so that a code has the same
//! meaning on screen, in `--json` and in the evidence.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($variant:ident $text:literal $title:literal $meaning:literal $next:literal;)+) => {
        /// A stable code of SPEC §6.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $title] $variant,)+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The text of the code: `E` and three digits.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// What the code means, in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// What has happened, as one or two sentences.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }

            /// What a person does about it, as one or two sentences. A failure itself may know more.
            pub const fn next(self) -> &'static str {
                match self { $(Self::$variant => $next,)+ }
            }
        }
    };
}

codes! {
    InvalidPlan "E001" "invalid plan"
        "The plan file does not describe a plan that could run: its findings say where and why."
        "Correct the plan file at the places that the findings name, and open it again. countersign check PLAN \
         lists all of them.";
    NotAuthorized "E002" "not authorized"
        "Nobody has authorized the plan, the authorization was used or has expired, or a signature that the \
         settings ask for is missing."
        "Look at the plan and authorize it; headless with --authorize DIGEST, the digest that check prints.";
    PlanIdMismatch "E003" "plan id mismatch"
        "The authorization was given for a plan with another id."
        "Open the plan that is to run, and authorize that one.";
    Stale "E004" "something that was authorized has changed"
        "Something that the authorization covers is no longer as it was shown: the bytes of the plan, a file that a \
         step changes, the workspace, a setting or the walls."
        "Look at what has changed, which is named, and authorize the plan again as it is now.";
    NotJson "E010" "not JSON or not UTF-8"
        "The file is no JSON text in UTF-8."
        "Correct it at the line that the finding names, or save it as UTF-8. Files of other programs need one of \
         the formats that countersign convert reads.";
    DuplicateKey "E011" "duplicate key"
        "An object of the plan has the same key twice, so that two programs could read two different plans."
        "Remove one of the two.";
    UnknownField "E012" "unknown field"
        "The plan has a field that no plan of its kind has. It is not ignored, because a misspelt \
         requires_confirmation would disable a question."
        "Correct the name as the finding suggests, or remove the field.";
    Missing "E013" "missing or empty"
        "A field that the plan needs is missing or empty."
        "Add it; countersign schema step_plan (or command_plan, action_plan) prints what a plan needs.";
    BadValue "E014" "bad value"
        "A field of the plan, or an option of the command line, has a value that is not allowed there."
        "Use one of the values that the finding or the message lists.";
    DuplicateId "E015" "duplicate id"
        "Two steps, or two inputs, have the same id, so that a reference to it could mean either."
        "Give one of them another id.";
    UnknownPrecondition "E016" "unknown precondition"
        "The step has a precondition that does not exist, or one that needs an argument which its tool does not \
         have."
        "Use one of the preconditions that the finding lists, or none.";
    BlockedCommand "E017" "blocked command"
        "The plan has a command that no authorization can permit, such as one that deletes the whole disk, or that \
         one of your rules blocks."
        "Replace the command. If one of your own rules blocks it, change that rule in the settings.";
    Limit "E018" "limit exceeded"
        "The plan, one of its values, or what has to be computed for it is larger than allowed."
        "Split the plan, or shorten what the finding names; the finding has the limit.";
    DialectUnclear "E019" "dialect unclear"
        "The top level of the file does not say which kind of plan it is."
        "Give it plan_id and steps (step plan), goal and steps (command plan), or version and actions (action \
         plan).";
    NotFilledIn "E020" "an input is not filled in"
        "The plan asks for values that nobody has given."
        "Fill them in: Fill in… in the window, --input NAME=VALUE on the command line.";
    FileNotFound "E101" "file not found"
        "A file or folder that a step needs does not exist when the step begins."
        "Create it or correct the path; if an earlier step was to create it, see what became of that step.";
    NoCargoProject "E102" "no Cargo project"
        "No Cargo.toml was found in the folder or in one above it, inside the workspace."
        "Name a path inside a Cargo project, or choose the workspace that has one.";
    NoCodegraph "E103" "no codegraph.db"
        "There is no codegraph.db in the workspace or above it, and the external code engine was asked for."
        "Let magellan index the workspace, or use the embedded engine (--engine embedded, or the settings).";
    SymbolNotFound "E104" "symbol not found"
        "The code engine finds no definition with this name in the file or in the workspace."
        "Correct the name; symbols_in_file lists those of a file. The file must be of a language that the engine \
         knows.";
    PreconditionFailed "E105" "precondition failed"
        "The condition under which the step was to run does not hold."
        "Make it true or change the plan, and run the plan again.";
    ConfirmationDenied "E106" "confirmation denied"
        "A person denied the step. Nothing of it was done, and no later step ran; what earlier steps did stays."
        "Nothing has to be mended. Change the plan, continue with the steps that are left, or revert what was done.";
    UnknownTool "E201" "tool not in the whitelist"
        "The plan names a tool that does not exist, or that plans of its kind may not call."
        "Use one of the tools that the finding lists. Commands belong into command plans, program actions into \
         action plans.";
    MissingArgument "E202" "missing argument"
        "The step lacks an argument without which its tool cannot be called."
        "Add the argument; the help has a list of each tool's arguments.";
    BadArgument "E203" "bad argument"
        "An argument has a value that the tool cannot use, or a name that the tool does not have."
        "Correct the argument as the message says.";
    OutsideWorkspace "E204" "outside the workspace"
        "A path leads out of the workspace, also through a link or ..; or into a folder of Countersign itself. \
         Nothing was touched."
        "Correct the path, choose the workspace that contains it, or add its folder to extra_roots in the settings.";
    ReadFailed "E301" "read failed"
        "A file could not be read although it exists."
        "See the reason in the message: permissions, a folder in place of a file, or a damaged disk. Then run the \
         plan again.";
    WriteFailed "E302" "write failed"
        "A file could not be written: no permission, no space, or it exists already where it was to be created. It \
         is as it was before."
        "Remove the cause that the message names, then run the plan again or continue from this step.";
    Splice "E303" "splice not available or refused"
        "The program splice is missing, or refused the replacement."
        "Install splice, use the embedded engine (--engine embedded), or correct the replacement as its message \
         says.";
    CargoCheck "E304" "cargo check reported errors"
        "The check found errors. A replacement that causes new ones was taken back."
        "Look at the diagnostics of the step and correct the code or the plan.";
    CommandFailed "E305" "command failed"
        "The command ended with another exit code than 0. What it did before it failed is not undone."
        "Read its output. Then correct the command, continue from this step, or roll back with the commands of the \
         plan.";
    TimedOut "E306" "timed out"
        "The step took longer than it was allowed and was ended."
        "See in its output whether it waited for input. Give it more time with timeoutSeconds or timeout_seconds if \
         it needs it.";
    Cancelled "E307" "cancelled"
        "A person stopped the run while the step was under way, or while it asked."
        "Look at what the step has done until then; continue from here, or revert.";
    HostUnreachable "E308" "host unreachable or host key unknown"
        "The host could not be reached, or its key is unknown or has changed. On a lost connection it is unknown \
         what the step did there."
        "Try ssh to the host yourself, compare its key with one from a source that you trust, and see on the host \
         what was done.";
    OutputLimit "E309" "output limit"
        "The step printed more than the limit and was ended."
        "Let the command print less, for example into a file of the workspace.";
    CodeEngine "E310" "code engine"
        "The code engine cannot do this here: it has no grammar for the language, or it failed."
        "Use a tool that does not need symbols, another engine (--engine), or correct the file so that it parses.";
    Conflict "E311" "conflict"
        "A file does not have the content that was expected, so somebody else has changed it. It was not \
         overwritten."
        "Look at the file as it is now; then make the change again on top of it.";
    StoppedByWall "E312" "stopped by a wall"
        "The step failed after a wall refused it something: the network, a file outside the workspace, or a \
         protected file."
        "If it needs that, sign again with wider walls (Walls, --allow network, --allow write=PATH, or needs in the \
         plan). If not, find out why it tried.";
    EvidenceStore "E401" "evidence store"
        "The evidence cannot be written or read, or is not as it was left. Without evidence nothing runs."
        "See the message: free space, permissions, another program that holds it. Where records differ, countersign \
         evidence verify names the first.";
}

impl Code {
    /// The code with this text, for example from the evidence; `None` for an unknown one.
    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }

    /// The codes that a text names as words of their own, such as a message that begins with its code, in the order of the
    /// text and each once.
    pub fn named_in(text: &str) -> Vec<Self> {
        let words = text.split(|it: char| !it.is_ascii_alphanumeric());
        let mut found = Vec::new();
        for code in words.filter_map(Self::from_text) {
            if !found.contains(&code) {
                found.push(code);
            }
        }
        found
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_text(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is no code")))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_says_what_it_means_and_what_to_do() {
        for code in Code::ALL {
            for text in [code.meaning(), code.next()] {
                assert!(text.len() > 20 && text.ends_with('.'), "{code}: {text:?}");
                assert!(!text.contains("  "), "{code}: {text:?}");
            }
            assert_ne!(code.meaning(), code.next());
        }
    }

    #[test]
    fn codes_are_found_in_messages() {
        let found =
            Code::named_in("The run ended. E302 cannot write a.txt (E302, then E004): E9999");
        assert_eq!(found, [Code::WriteFailed, Code::Stale]);
        assert_eq!(Code::named_in("error E0425 of rustc, XE302"), []);
    }
}
