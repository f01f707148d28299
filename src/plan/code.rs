//! The stable error codes (SPEC §6): one table for findings, refusals and failed steps, so that a code has the same
//! meaning on screen, in `--json` and in the evidence.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($variant:ident $text:literal $title:literal;)+) => {
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
        }
    };
}

codes! {
    InvalidPlan "E001" "invalid plan";
    NotAuthorized "E002" "not authorized";
    PlanIdMismatch "E003" "plan id mismatch";
    Stale "E004" "something that was authorized has changed";
    NotJson "E010" "not JSON or not UTF-8";
    DuplicateKey "E011" "duplicate key";
    UnknownField "E012" "unknown field";
    Missing "E013" "missing or empty";
    BadValue "E014" "bad value";
    DuplicateId "E015" "duplicate id";
    UnknownPrecondition "E016" "unknown precondition";
    BlockedCommand "E017" "blocked command";
    Limit "E018" "limit exceeded";
    DialectUnclear "E019" "dialect unclear";
    NotFilledIn "E020" "an input is not filled in";
    FileNotFound "E101" "file not found";
    NoCargoProject "E102" "no Cargo project";
    NoCodegraph "E103" "no codegraph.db";
    SymbolNotFound "E104" "symbol not found";
    PreconditionFailed "E105" "precondition failed";
    ConfirmationDenied "E106" "confirmation denied";
    UnknownTool "E201" "tool not in the whitelist";
    MissingArgument "E202" "missing argument";
    BadArgument "E203" "bad argument";
    OutsideWorkspace "E204" "outside the workspace";
    ReadFailed "E301" "read failed";
    WriteFailed "E302" "write failed";
    Splice "E303" "splice not available or refused";
    CargoCheck "E304" "cargo check reported errors";
    CommandFailed "E305" "command failed";
    TimedOut "E306" "timed out";
    Cancelled "E307" "cancelled";
    HostUnreachable "E308" "host unreachable or host key unknown";
    OutputLimit "E309" "output limit";
    CodeEngine "E310" "code engine";
    Conflict "E311" "conflict";
    StoppedByWall "E312" "stopped by a wall";
    EvidenceStore "E401" "evidence store";
}

impl Code {
    /// The code with this text, for example from the evidence; `None` for an unknown one.
    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
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
