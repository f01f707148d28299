//! The whitelist (SPEC §4): every tool there is, its arguments and its class, as one table.
//!
//! A [`ToolCall`] can only be made by [`ToolCall::from_arguments`], from a tool of this list and
//! arguments that were checked; nothing turns a string into a call around it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Dialect;

/// What a tool can do to the world; decides what is recorded before it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Only reads; has no effect to get ahead of.
    Read,
    /// Changes files of the workspace.
    Mutate,
    /// Runs the project's own build tool, which may run the project's code.
    Check,
    /// Runs a command, which may do anything that its user can.
    Command,
}

/// A tool of the whitelist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each variant is described by its row in SPECS")]
pub enum Tool {
    FileRead,
    FileWrite,
    FileCreate,
    FileSearch,
    FileGlob,
    SplicePatch,
    SplicePlan,
    SymbolsInFile,
    ReferencesToSymbolName,
    ReferencesFromFileToSymbolName,
    LspCheck,
    Shell,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentSpec {
    /// Its name in a plan.
    pub name: &'static str,
    /// Another accepted name; what was written is what is recorded.
    pub alias: Option<&'static str>,
    /// Whether the tool cannot be called without it.
    pub required: bool,
    /// Whether an empty text is a value; it is one only for contents.
    pub may_be_empty: bool,
}

/// One row of the whitelist.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// The tool.
    pub tool: Tool,
    /// Its name in a plan.
    pub name: &'static str,
    /// What it can do to the world.
    pub class: ToolClass,
    /// What it does, as one line for lists and help.
    pub summary: &'static str,
    /// Its arguments, in the order in which they are shown.
    pub arguments: &'static [ArgumentSpec],
}

const fn argument(name: &'static str) -> ArgumentSpec {
    ArgumentSpec { name, alias: None, required: true, may_be_empty: false }
}

const fn aliased(name: &'static str, alias: &'static str) -> ArgumentSpec {
    ArgumentSpec { alias: Some(alias), ..argument(name) }
}

const fn optional(name: &'static str) -> ArgumentSpec {
    ArgumentSpec { required: false, ..argument(name) }
}

const CONTENTS: ArgumentSpec = ArgumentSpec { may_be_empty: true, ..argument("contents") };

/// The whitelist, in the order of SPEC §4.
pub static SPECS: [ToolSpec; 12] = [
    ToolSpec {
        tool: Tool::FileRead,
        name: "file_read",
        class: ToolClass::Read,
        summary: "reads one file",
        arguments: &[argument("path")],
    },
    ToolSpec {
        tool: Tool::FileWrite,
        name: "file_write",
        class: ToolClass::Mutate,
        summary: "replaces one file, or creates it in a folder that exists",
        arguments: &[argument("path"), CONTENTS],
    },
    ToolSpec {
        tool: Tool::FileCreate,
        name: "file_create",
        class: ToolClass::Mutate,
        summary: "creates one file that does not exist yet, with its folders",
        arguments: &[argument("path"), CONTENTS],
    },
    ToolSpec {
        tool: Tool::FileSearch,
        name: "file_search",
        class: ToolClass::Read,
        summary: "finds lines that match a regular expression",
        arguments: &[argument("pattern"), argument("root")],
    },
    ToolSpec {
        tool: Tool::FileGlob,
        name: "file_glob",
        class: ToolClass::Read,
        summary: "lists files whose path matches a pattern",
        arguments: &[argument("pattern"), argument("root")],
    },
    ToolSpec {
        tool: Tool::SplicePatch,
        name: "splice_patch",
        class: ToolClass::Mutate,
        summary: "replaces the definition of one symbol",
        arguments: &[
            argument("file"),
            aliased("symbol", "name"),
            argument("with"),
            optional("kind"),
        ],
    },
    ToolSpec {
        tool: Tool::SplicePlan,
        name: "splice_plan",
        class: ToolClass::Mutate,
        summary: "replaces the definitions that a splice plan names",
        arguments: &[aliased("plan_file", "file")],
    },
    ToolSpec {
        tool: Tool::SymbolsInFile,
        name: "symbols_in_file",
        class: ToolClass::Read,
        summary: "lists the symbols that one file defines",
        arguments: &[aliased("file_path", "file")],
    },
    ToolSpec {
        tool: Tool::ReferencesToSymbolName,
        name: "references_to_symbol_name",
        class: ToolClass::Read,
        summary: "lists the references to one symbol",
        arguments: &[aliased("symbol", "name")],
    },
    ToolSpec {
        tool: Tool::ReferencesFromFileToSymbolName,
        name: "references_from_file_to_symbol_name",
        class: ToolClass::Read,
        summary: "lists the references to one symbol from one file",
        arguments: &[aliased("file_path", "file"), aliased("symbol", "name")],
    },
    ToolSpec {
        tool: Tool::LspCheck,
        name: "lsp_check",
        class: ToolClass::Check,
        summary: "runs cargo check and collects its diagnostics",
        arguments: &[argument("path")],
    },
    ToolSpec {
        tool: Tool::Shell,
        name: "shell",
        class: ToolClass::Command,
        summary: "runs one command in a shell",
        arguments: &[
            argument("command"),
            optional("target"),
            optional("cwd"),
            optional("timeout_seconds"),
        ],
    },
];

impl Tool {
    /// The tool's row of the whitelist.
    pub fn spec(self) -> &'static ToolSpec {
        // The table names each variant once, which `the_table_names_each_tool_once` checks.
        SPECS.iter().find(|spec| spec.tool == self).unwrap_or(&SPECS[0])
    }

    /// The tool with this exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        SPECS.iter().find(|spec| spec.name == name).map(|spec| spec.tool)
    }

    /// Its name in a plan.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// What it can do to the world.
    pub fn class(self) -> ToolClass {
        self.spec().class
    }

    /// Whether a plan of this dialect may call it (SPEC §1.3).
    pub fn stands_in(self, dialect: Dialect) -> bool {
        (dialect == Dialect::CommandPlan) == (self == Self::Shell)
    }
}

/// A call of exactly one tool with exactly the plan's arguments, typed.
///
/// Paths are the plan's text; a tool resolves them against the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "variants and fields are the tools and arguments of SPEC §4")]
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
    },
}

impl ToolCall {
    /// The typed call, or `None` when a required argument is missing; the validator has said so then.
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
            },
        })
    }

    /// The tool that this calls.
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
        }
    }

    /// What the step is about, for its row on screen: the verb and its object.
    pub fn headline(&self) -> (&'static str, String) {
        match self {
            Self::FileRead { path } => ("Read", path.clone()),
            Self::FileWrite { path, .. } => ("Write", path.clone()),
            Self::FileCreate { path, .. } => ("Create", path.clone()),
            Self::FileSearch { pattern, root } => ("Search", format!("{pattern} in {root}")),
            Self::FileGlob { pattern, root } => ("List", format!("{pattern} in {root}")),
            Self::SplicePatch { file, symbol, with, .. } => {
                ("Replace", format!("{symbol} in {file} by {with}"))
            }
            Self::SplicePlan { plan_file } => ("Splice", plan_file.clone()),
            Self::SymbolsInFile { file_path } => ("List symbols", file_path.clone()),
            Self::ReferencesToSymbolName { symbol } => ("Find references", symbol.clone()),
            Self::ReferencesFromFileToSymbolName { file_path, symbol } => {
                ("Find references", format!("{symbol} from {file_path}"))
            }
            Self::LspCheck { path } => ("Check", format!("{path}, cargo check")),
            Self::Shell { command, target: None, .. } => ("Run", command.clone()),
            Self::Shell { command, target: Some(host), .. } => {
                ("Run", format!("{command} on {host}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_each_tool_once() {
        for spec in &SPECS {
            assert_eq!(spec.tool.spec().name, spec.name);
            assert_eq!(Tool::from_name(spec.name), Some(spec.tool));
            let json = serde_json::to_value(spec.tool).unwrap();
            assert_eq!(json, spec.name, "the serde name is the plan's name");
        }
        assert_eq!(SPECS.len(), 12);
        let in_step_plans = SPECS.iter().filter(|spec| spec.tool.stands_in(Dialect::StepPlan));
        assert_eq!(in_step_plans.count(), 11);
    }

    #[test]
    fn a_call_is_of_the_tool_it_was_made_for_and_takes_aliases() {
        for spec in &SPECS {
            for alias in [false, true] {
                let arguments = spec
                    .arguments
                    .iter()
                    .map(|a| {
                        let value = if a.name == "timeout_seconds" { "7" } else { "x" };
                        (a.alias.filter(|_| alias).unwrap_or(a.name).to_owned(), value.to_owned())
                    })
                    .collect();
                let call = ToolCall::from_arguments(spec.tool, &arguments).unwrap();
                assert_eq!(call.tool(), spec.tool);
            }
            assert_eq!(ToolCall::from_arguments(spec.tool, &BTreeMap::new()), None);
        }
    }
}
