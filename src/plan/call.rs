//! A typed call of one tool (SPEC §4, §9). Only values of this type are executed, never the text of a plan.
//!
//! Calls are made by [`ToolCall::from_arguments`] and `parse/requests.rs` from a tool of the whitelist and checked
//! arguments, and by tools that express their work as other calls.

use std::collections::BTreeMap;

use super::{
    Build, CommandInput, HistoryOperation, InspectQuery, MutateBatch, Simulation, Tool, ToolClass,
    VerifyScope,
};

/// A typed call of one tool with its arguments.
///
/// Paths have the spelling of the plan; a tool resolves them against the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "variants and fields are the tools and arguments of SPEC §4 and §9"
)]
pub enum ToolCall {
    FileRead {
        path: String,
    },
    FileWrite {
        path: String,
        contents: String,
    },
    FileCreate {
        path: String,
        contents: String,
    },
    FileSearch {
        pattern: String,
        root: String,
    },
    FileGlob {
        pattern: String,
        root: String,
    },
    SplicePatch {
        file: String,
        symbol: String,
        with: String,
        kind: Option<String>,
    },
    SplicePlan {
        plan_file: String,
    },
    SymbolsInFile {
        file_path: String,
    },
    ReferencesToSymbolName {
        symbol: String,
    },
    ReferencesFromFileToSymbolName {
        file_path: String,
        symbol: String,
    },
    LspCheck {
        path: String,
    },
    Shell {
        command: String,
        target: Option<String>,
        cwd: Option<String>,
        timeout_seconds: Option<u32>,
        inputs: Vec<CommandInput>,
    },
    MutateBatch(MutateBatch),
    Verify {
        scope: VerifyScope,
    },
    Compile {
        build: Build,
    },
    Run {
        build: Build,
        args: Vec<String>,
    },
    Simulate(Simulation),
    Inspect {
        query: InspectQuery,
        max_results: usize,
    },
    History {
        operation: HistoryOperation,
        limit: usize,
    },
}

impl ToolCall {
    /// The typed call. `None` if a required argument is missing or `timeout_seconds` is not a number, which the parser
    /// reports, and for tools of action plans, whose requests `parse/requests.rs` reads.
    pub(super) fn from_arguments(tool: Tool, arguments: &BTreeMap<String, String>) -> Option<Self> {
        let get = |name: &str| {
            let spec = tool.spec().arguments.iter().find(|spec| spec.name == name)?;
            arguments.get(spec.name).or_else(|| arguments.get(spec.alias?)).cloned()
        };
        Some(match tool {
            Tool::FileRead => Self::FileRead { path: get("path")? },
            Tool::FileWrite => Self::FileWrite { path: get("path")?, contents: get("contents")? },
            Tool::FileCreate => Self::FileCreate { path: get("path")?, contents: get("contents")? },
            Tool::FileSearch => Self::FileSearch { pattern: get("pattern")?, root: get("root")? },
            Tool::FileGlob => Self::FileGlob { pattern: get("pattern")?, root: get("root")? },
            Tool::SplicePatch => Self::SplicePatch {
                file: get("file")?,
                symbol: get("symbol")?,
                with: get("with")?,
                kind: get("kind"),
            },
            Tool::SplicePlan => Self::SplicePlan { plan_file: get("plan_file")? },
            Tool::SymbolsInFile => Self::SymbolsInFile { file_path: get("file_path")? },
            Tool::ReferencesToSymbolName => Self::ReferencesToSymbolName { symbol: get("symbol")? },
            Tool::ReferencesFromFileToSymbolName => Self::ReferencesFromFileToSymbolName {
                file_path: get("file_path")?,
                symbol: get("symbol")?,
            },
            Tool::LspCheck => Self::LspCheck { path: get("path")? },
            Tool::Shell => Self::Shell {
                command: get("command")?,
                target: get("target"),
                cwd: get("cwd"),
                timeout_seconds: match get("timeout_seconds") {
                    Some(text) => Some(text.parse().ok()?),
                    None => None,
                },
                // The parser adds the inputs that the command names.
                inputs: Vec::new(),
            },
            Tool::MutateBatch
            | Tool::Verify
            | Tool::Compile
            | Tool::Run
            | Tool::Simulate
            | Tool::Inspect
            | Tool::History => return None,
        })
    }

    /// A command with these inputs; any other call stays as it is.
    pub(super) fn with_inputs(mut self, given: Vec<CommandInput>) -> Self {
        if let Self::Shell { inputs, .. } = &mut self {
            *inputs = given;
        }
        self
    }

    /// The class of this call. It may be lower than that of the tool: a dry run and a listing of the history only
    /// read.
    pub fn class(&self) -> ToolClass {
        match self {
            Self::MutateBatch(batch) if batch.dry_run => ToolClass::Read,
            Self::History { operation, .. } if !operation.changes_files() => ToolClass::Read,
            _ => self.tool().class(),
        }
    }

    /// Whether the changed files cannot be predicted (SPEC §2): the call runs a command, or code of the workspace, such
    /// as build scripts, which even on a copy of the workspace has the rights of the user.
    ///
    /// A splice is left out although cargo checks its result: it predicts its own change, and a file that a build script
    /// changes meanwhile is stale for the later steps.
    pub fn may_change_anything(&self) -> bool {
        match self {
            Self::Shell { .. }
            | Self::Verify { .. }
            | Self::Compile { .. }
            | Self::Run { .. }
            | Self::LspCheck { .. } => true,
            Self::Simulate(simulation) => simulation.runs_code(),
            // Every variant is named, so that a new one does not compile until this match decides about it.
            Self::FileRead { .. }
            | Self::FileWrite { .. }
            | Self::FileCreate { .. }
            | Self::FileSearch { .. }
            | Self::FileGlob { .. }
            | Self::SplicePatch { .. }
            | Self::SplicePlan { .. }
            | Self::SymbolsInFile { .. }
            | Self::ReferencesToSymbolName { .. }
            | Self::ReferencesFromFileToSymbolName { .. }
            | Self::MutateBatch(_)
            | Self::Inspect { .. }
            | Self::History { .. } => false,
        }
    }

    /// The arguments passed to a program, after the name of the plan's argument that contains them; `None` if there
    /// are none.
    pub(super) fn program_arguments(&self) -> Option<(&'static str, &[String])> {
        match self {
            Self::Run { args, .. } if !args.is_empty() => Some(("args", args)),
            Self::Simulate(Simulation::Function { inputs, .. }) => Some(("inputs", inputs)),
            _ => None,
        }
    }

    /// The called tool.
    pub fn tool(&self) -> Tool {
        match self {
            Self::FileRead { .. } => Tool::FileRead,
            Self::FileWrite { .. } => Tool::FileWrite,
            Self::FileCreate { .. } => Tool::FileCreate,
            Self::FileSearch { .. } => Tool::FileSearch,
            Self::FileGlob { .. } => Tool::FileGlob,
            Self::SplicePatch { .. } => Tool::SplicePatch,
            Self::SplicePlan { .. } => Tool::SplicePlan,
            Self::SymbolsInFile { .. } => Tool::SymbolsInFile,
            Self::ReferencesToSymbolName { .. } => Tool::ReferencesToSymbolName,
            Self::ReferencesFromFileToSymbolName { .. } => Tool::ReferencesFromFileToSymbolName,
            Self::LspCheck { .. } => Tool::LspCheck,
            Self::Shell { .. } => Tool::Shell,
            Self::MutateBatch(_) => Tool::MutateBatch,
            Self::Verify { .. } => Tool::Verify,
            Self::Compile { .. } => Tool::Compile,
            Self::Run { .. } => Tool::Run,
            Self::Simulate(_) => Tool::Simulate,
            Self::Inspect { .. } => Tool::Inspect,
            Self::History { .. } => Tool::History,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Dialect, TOOLS};

    #[test]
    fn calls_running_workspace_code_may_change_anything() {
        let build = Build::default();
        for call in [
            ToolCall::Verify { scope: VerifyScope::Local },
            ToolCall::Compile { build: build.clone() },
            ToolCall::Run { build, args: Vec::new() },
            ToolCall::LspCheck { path: ".".to_owned() },
        ] {
            assert!(call.may_change_anything());
            assert_ne!(call.class(), ToolClass::Read, "its intent is recorded first");
        }
        assert!(!ToolCall::FileRead { path: String::new() }.may_change_anything());
    }

    #[test]
    fn calls_take_argument_names_or_aliases() {
        for spec in TOOLS.iter().filter(|spec| !spec.tool.is_allowed_in(Dialect::ActionPlan)) {
            for alias in [false, true] {
                let arguments = spec
                    .arguments
                    .iter()
                    .map(|argument| {
                        let value = if argument.name == "timeout_seconds" { "7" } else { "x" };
                        let name = argument.alias.filter(|_| alias).unwrap_or(argument.name);
                        (name.to_owned(), value.to_owned())
                    })
                    .collect();
                let call = ToolCall::from_arguments(spec.tool, &arguments).unwrap();
                assert_eq!(call.tool(), spec.tool);
            }
            assert_eq!(ToolCall::from_arguments(spec.tool, &BTreeMap::new()), None);
        }
    }
}
