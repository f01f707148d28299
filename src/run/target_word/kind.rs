//! What the word is that a person types.

/// What the word is that a person types to approve a dangerous step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedTarget {
    /// The only word of the part of a command that determines its risk.
    DangerousPart,
    /// A word of the parts of a command that determine its risk, with the number of the others.
    DangerousParts,
    /// The program that a command runs.
    Program,
    /// The number of files that the step changes.
    Files,
    /// The file that the step changes or takes as an argument.
    File,
    /// The folder that the step takes as an argument.
    Root,
    /// The tool.
    Tool,
}

impl NamedTarget {
    pub(super) const fn as_words(self) -> &'static str {
        match self {
            Self::DangerousPart => "the word that its dangerous part is about",
            Self::DangerousParts => {
                "the furthest reaching word of its dangerous part, and how many others it has"
            }
            Self::Program => "the name of the program that it runs",
            Self::Files => "the number of files that it changes",
            Self::File => "the name of the file it is about",
            Self::Root => "the name of the folder it is about",
            Self::Tool => "the name of the tool it calls",
        }
    }
}
