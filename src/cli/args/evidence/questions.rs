//! The command line of `evidence query`.

use std::path::{Component, Path, PathBuf};

use clap::{Args, Subcommand};

use super::{Common, Show, Span};

/// A path as the records have it: inside the workspace, or whole for a file of another folder that plans may use.
pub(super) fn recorded_path(path: &str) -> Result<String, String> {
    let mut recorded = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => return Err("a path in the records has no `..`".to_owned()),
            part => recorded.push(part),
        }
    }
    if recorded.as_os_str().is_empty() {
        return Err("name a file".to_owned());
    }
    Ok(recorded.display().to_string())
}

/// The questions (SPEC §8), the rejections of plans, and interrupted runs.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Question {
    /// Executions of a tool, oldest first
    Q1(AboutTool),
    /// Failures of a tool, newest first
    Q2(AboutTool),
    /// Executions with a diagnostic of this code
    Q3(AboutCode),
    /// Executions that touched a file, and how
    Q4(AboutFile),
    /// One execution in full
    Q5(Show),
    /// The latest execution that worked on a file
    Q6(LatestOfFile),
    /// Recurring diagnostics, most frequent first
    Q7(Recurring),
    /// Changes of a file that occurred after a diagnostic in it
    Q8(AfterDiagnostic),
    /// Plans that a person rejected, and why, newest first
    Rejected(RejectedPlans),
    /// Runs whose process ended without recording an end, newest first
    Interrupted(InterruptedRuns),
}

impl Question {
    pub(super) fn common(&self) -> &Common {
        match self {
            Self::Q1(about) | Self::Q2(about) => &about.common,
            Self::Q3(about) => &about.common,
            Self::Q4(about) => &about.common,
            Self::Q5(show) => &show.common,
            Self::Q6(about) => &about.common,
            Self::Q7(about) => &about.common,
            Self::Q8(about) => &about.common,
            Self::Rejected(about) => &about.common,
            Self::Interrupted(about) => &about.common,
        }
    }
}

macro_rules! question {
    ($name:ident { $($(#[$doc:meta])+ $field:ident: $type:ty,)* }) => {
        #[derive(Debug, Args)]
        pub(in crate::cli) struct $name {
            $($(#[$doc])+ pub(in crate::cli) $field: $type,)*
            #[command(flatten)]
            pub(in crate::cli) span: Span,
            #[command(flatten)]
            pub(in crate::cli) common: Common,
        }
    };
}

question!(AboutTool {
    /// The tool
    tool: String,
});
question!(RejectedPlans {
    /// Words that the reason, the plan's title or its digest must contain
    words: Vec<String>,
});
question!(InterruptedRuns {});
question!(AboutCode {
    /// The code of the diagnostic, for instance E0425
    code: String,
});
question!(AboutFile {
    /// The file, by its path inside its workspace
    #[arg(value_parser = recorded_path)]
    file: String,
});
question!(Recurring {
    /// The minimum number of occurrences
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    threshold: u64,
});
question!(AfterDiagnostic {
    /// The code of the diagnostic
    code: String,
    /// Only diagnostics in this file
    file: Option<String>,
});

#[derive(Debug, Args)]
pub(in crate::cli) struct LatestOfFile {
    /// The file, by its path inside its workspace
    #[arg(value_parser = recorded_path)]
    pub(in crate::cli) file: String,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
