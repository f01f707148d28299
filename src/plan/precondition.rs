//! The preconditions of SPEC §5: their spelling, and the argument that each one checks.

use std::collections::BTreeMap;

use super::{Digest, Tool};

/// A condition that must hold just before a step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the precondition of SPEC §5 with that name")]
pub enum Precondition {
    None,
    FileExists,
    FileDoesNotExist,
    ParentExists,
    FileHashIs(Digest),
    PlanFileExists,
    RootExists,
    CargoWorkspace,
    CodegraphDbExists,
    MagellanHasIndexedFile,
    /// The symbol is the one that the precondition names, or else the step's symbol argument.
    SymbolExists {
        named: Option<String>,
    },
    /// An earlier step of the same plan, by id.
    StepSucceeded(String),
    GitRepositoryExists,
    CommandAvailable(String),
}

macro_rules! words {
    ($($word:literal $meaning:literal;)+) => {
        /// The texts that a finding lists as accepted.
        pub const WORDS: &[&str] = &[$($word,)+];
        /// The same texts, each with what it checks, as a sentence.
        pub const MEANINGS: &[(&str, &str)] = &[$(($word, $meaning),)+];
    };
}

words! {
    "none"
        "Nothing is checked.";
    "file exists"
        "The file that the step names exists.";
    "file does not exist"
        "Nothing is at the path that the step names.";
    "parent exists"
        "The folder of the file that the step names exists.";
    "file hash is <sha256>"
        "The file has exactly the content with this SHA-256, as 64 hexadecimal digits.";
    "plan file exists"
        "The splice plan that the step names exists.";
    "root exists"
        "The folder in which the step searches exists.";
    "cargo workspace"
        "There is a Cargo.toml in the folder of the step or above it, inside the workspace.";
    "codegraph.db exists"
        "There is a codegraph.db in the workspace or above it.";
    "magellan has indexed file"
        "The code graph knows the file that the step names.";
    "symbol exists"
        "The code engine finds the symbol in the step's file, else anywhere in the workspace.";
    "<step_id> succeeded"
        "The earlier step with this id has succeeded in this run.";
    "git repository exists"
        "The workspace is in a git repository.";
    "command available: <name>"
        "A program of this name is found where commands are looked for.";
}

const FILE: &[&str] = &["path", "file", "file_path"];

impl Precondition {
    /// Parses the text in a plan, ignoring the case of the fixed words and surrounding space. `None` for an unknown
    /// text.
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        let lower = trimmed.to_ascii_lowercase();
        let named = |prefix: &str| {
            trimmed
                .get(..prefix.len())
                .filter(|head| head.eq_ignore_ascii_case(prefix))
                .and_then(|_| trimmed.get(prefix.len()..))
                .map(str::trim)
                .filter(|rest| !rest.is_empty())
        };
        Some(match lower.as_str() {
            "none" => Self::None,
            "file exists" => Self::FileExists,
            "file does not exist" => Self::FileDoesNotExist,
            "parent exists" => Self::ParentExists,
            "plan file exists" => Self::PlanFileExists,
            "root exists" => Self::RootExists,
            "cargo workspace"
            | "cargo workspace exists"
            | "cargo project exists"
            | "file is in cargo workspace" => Self::CargoWorkspace,
            "codegraph.db exists" | "codegraph.db present" => Self::CodegraphDbExists,
            "magellan has indexed file" => Self::MagellanHasIndexedFile,
            "symbol exists" | "symbol exists in file" => Self::SymbolExists { named: None },
            "git repository exists" => Self::GitRepositoryExists,
            _ => {
                if let Some(hash) = named("file hash is ") {
                    // The case of `sha256:` is ignored like that of the other words.
                    return hash.to_ascii_lowercase().parse().ok().map(Self::FileHashIs);
                }
                if let Some(symbol) = named("file contains symbol ") {
                    let symbol = symbol.strip_prefix('\'')?.strip_suffix('\'')?;
                    return (!symbol.is_empty())
                        .then(|| Self::SymbolExists { named: Some(symbol.to_owned()) });
                }
                if let Some(command) = named("command available:") {
                    return Some(Self::CommandAvailable(command.to_owned()));
                }
                let id = trimmed.get(..trimmed.len().checked_sub(" succeeded".len())?)?;
                if !lower.ends_with(" succeeded") || id.trim().is_empty() {
                    return None;
                }
                Self::StepSucceeded(id.trim().to_owned())
            }
        })
    }

    /// The text of [`WORDS`] that has its meaning.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::FileExists => "file exists",
            Self::FileDoesNotExist => "file does not exist",
            Self::ParentExists => "parent exists",
            Self::FileHashIs(_) => "file hash is <sha256>",
            Self::PlanFileExists => "plan file exists",
            Self::RootExists => "root exists",
            Self::CargoWorkspace => "cargo workspace",
            Self::CodegraphDbExists => "codegraph.db exists",
            Self::MagellanHasIndexedFile => "magellan has indexed file",
            Self::SymbolExists { .. } => "symbol exists",
            Self::StepSucceeded(_) => "<step_id> succeeded",
            Self::GitRepositoryExists => "git repository exists",
            Self::CommandAvailable(_) => "command available: <name>",
        }
    }

    /// The arguments that can name the subject, in the order in which they are tried. Empty if the precondition is about
    /// the workspace or an earlier step.
    fn subjects(&self) -> &'static [&'static str] {
        match self {
            Self::FileExists
            | Self::FileDoesNotExist
            | Self::ParentExists
            | Self::FileHashIs(_)
            | Self::MagellanHasIndexedFile
            | Self::SymbolExists { named: Some(_) } => FILE,
            Self::SymbolExists { named: None } => &["symbol", "name"],
            Self::PlanFileExists => &["plan_file", "file"],
            Self::RootExists => &["root", "path"],
            Self::CargoWorkspace => &["path", "file", "file_path", "root", "plan_file"],
            Self::None
            | Self::CodegraphDbExists
            | Self::StepSucceeded(_)
            | Self::GitRepositoryExists
            | Self::CommandAvailable(_) => &[],
        }
    }

    /// Whether the check needs a code engine.
    pub fn reads_symbols(&self) -> bool {
        matches!(self, Self::SymbolExists { .. } | Self::MagellanHasIndexedFile)
    }

    /// Whether a step with this tool has the subject of the precondition.
    pub fn fits(&self, tool: Tool) -> bool {
        let has = |name: &str| tool.spec().arguments.iter().any(|argument| argument.name == name);
        match self {
            // `file` counts only as an alias of `plan_file`, not as an argument of another tool.
            Self::PlanFileExists => has("plan_file"),
            _ => self.subjects().is_empty() || self.subjects().iter().any(|name| has(name)),
        }
    }

    /// The value of the argument that this precondition checks, as written in the plan.
    pub fn subject_in<'a>(
        &self,
        tool: Tool,
        arguments: &'a BTreeMap<String, String>,
    ) -> Option<&'a str> {
        self.subjects()
            .iter()
            .filter_map(|name| {
                tool.spec().arguments.iter().find(|spec| {
                    spec.name == *name || (spec.name == "plan_file" && spec.alias == Some(name))
                })
            })
            .find_map(|spec| {
                arguments.get(spec.name).or_else(|| arguments.get(spec.alias?)).map(String::as_str)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_space_of_words_do_not_matter() {
        let hash = "0".repeat(64);
        for (text, expected) in [
            (" None ", Precondition::None),
            ("FILE EXISTS", Precondition::FileExists),
            ("Cargo project exists", Precondition::CargoWorkspace),
            ("codegraph.db present", Precondition::CodegraphDbExists),
            ("Step_A succeeded", Precondition::StepSucceeded("Step_A".into())),
            ("Command available: Git", Precondition::CommandAvailable("Git".into())),
            (
                "File contains symbol 'Foo::bar'",
                Precondition::SymbolExists { named: Some("Foo::bar".into()) },
            ),
        ] {
            assert_eq!(Precondition::parse(text), Some(expected), "{text}");
        }
        for text in ["file hash is ", "file hash is  sha256:", "File Hash Is SHA256:"] {
            assert!(
                matches!(
                    Precondition::parse(&format!("{text}{hash}")),
                    Some(Precondition::FileHashIs(_))
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn other_words_are_unknown() {
        for text in
            ["", "exists", "file hash is 12", "succeeded", " succeeded", "command available:", "é"]
        {
            assert_eq!(Precondition::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_precondition_needs_its_subject() {
        assert!(Precondition::FileExists.fits(Tool::FileRead));
        assert!(!Precondition::FileExists.fits(Tool::ReferencesToSymbolName));
        assert!(!Precondition::PlanFileExists.fits(Tool::SplicePatch));
        assert!(Precondition::PlanFileExists.fits(Tool::SplicePlan));
        assert!(!Precondition::RootExists.fits(Tool::SplicePatch));
        let arguments = BTreeMap::from([("file".to_owned(), "p.json".to_owned())]);
        assert_eq!(
            Precondition::PlanFileExists.subject_in(Tool::SplicePlan, &arguments),
            Some("p.json")
        );
    }

    #[test]
    fn precondition_of_a_patch_concerns_its_file() {
        let arguments = BTreeMap::from([
            ("file".to_owned(), "a.rs".to_owned()),
            ("with".to_owned(), "b.rs".to_owned()),
        ]);
        assert_eq!(
            Precondition::FileExists.subject_in(Tool::SplicePatch, &arguments),
            Some("a.rs")
        );
    }
}
