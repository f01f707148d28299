//! The whitelist (SPEC §4): every tool there is, its arguments and its class, as one table.
//!
//! A [`super::ToolCall`] is of a tool of this list; nothing turns a string into a call around it.

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
    MutateBatch,
    Verify,
    Compile,
    Run,
    Simulate,
    Inspect,
    History,
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
    /// Whether it names files or folders.
    pub holds: Holds,
}

/// What an argument holds, as far as files are concerned. Each argument says it, and a test compares it with
/// [`super::ToolCall::paths`], so that no path is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The path of a file or folder.
    Path,
    /// Values that have paths in them: edits, steps, expected hashes.
    Paths,
    /// No path.
    Text,
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
    ArgumentSpec { name, alias: None, required: true, may_be_empty: false, holds: Holds::Text }
}

const fn path(name: &'static str) -> ArgumentSpec {
    ArgumentSpec { holds: Holds::Path, ..argument(name) }
}

const fn path_aliased(name: &'static str, alias: &'static str) -> ArgumentSpec {
    ArgumentSpec { holds: Holds::Path, ..aliased(name, alias) }
}

const fn paths(spec: ArgumentSpec) -> ArgumentSpec {
    ArgumentSpec { holds: Holds::Paths, ..spec }
}

const fn aliased(name: &'static str, alias: &'static str) -> ArgumentSpec {
    ArgumentSpec { alias: Some(alias), ..argument(name) }
}

const fn optional(name: &'static str) -> ArgumentSpec {
    ArgumentSpec { required: false, ..argument(name) }
}

const CONTENTS: ArgumentSpec = ArgumentSpec { may_be_empty: true, ..argument("contents") };

/// The whitelist, in the order of SPEC §4.
pub static SPECS: [ToolSpec; 19] = [
    ToolSpec {
        tool: Tool::FileRead,
        name: "file_read",
        class: ToolClass::Read,
        summary: "reads one file",
        arguments: &[path("path")],
    },
    ToolSpec {
        tool: Tool::FileWrite,
        name: "file_write",
        class: ToolClass::Mutate,
        summary: "replaces one file, or creates it in a folder that exists",
        arguments: &[path("path"), CONTENTS],
    },
    ToolSpec {
        tool: Tool::FileCreate,
        name: "file_create",
        class: ToolClass::Mutate,
        summary: "creates one file that does not exist yet, with its folders",
        arguments: &[path("path"), CONTENTS],
    },
    ToolSpec {
        tool: Tool::FileSearch,
        name: "file_search",
        class: ToolClass::Read,
        summary: "finds lines that match a regular expression",
        arguments: &[argument("pattern"), path("root")],
    },
    ToolSpec {
        tool: Tool::FileGlob,
        name: "file_glob",
        class: ToolClass::Read,
        summary: "lists files whose path matches a pattern",
        arguments: &[argument("pattern"), path("root")],
    },
    ToolSpec {
        tool: Tool::SplicePatch,
        name: "splice_patch",
        class: ToolClass::Mutate,
        summary: "replaces the definition of one symbol",
        arguments: &[path("file"), aliased("symbol", "name"), path("with"), optional("kind")],
    },
    ToolSpec {
        tool: Tool::SplicePlan,
        name: "splice_plan",
        class: ToolClass::Mutate,
        summary: "replaces the definitions that a splice plan names",
        arguments: &[path_aliased("plan_file", "file")],
    },
    ToolSpec {
        tool: Tool::SymbolsInFile,
        name: "symbols_in_file",
        class: ToolClass::Read,
        summary: "lists the symbols that one file defines",
        arguments: &[path_aliased("file_path", "file")],
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
        arguments: &[path_aliased("file_path", "file"), aliased("symbol", "name")],
    },
    ToolSpec {
        tool: Tool::LspCheck,
        name: "lsp_check",
        class: ToolClass::Check,
        summary: "runs cargo check and collects its diagnostics",
        arguments: &[path("path")],
    },
    ToolSpec {
        tool: Tool::Shell,
        name: "shell",
        class: ToolClass::Command,
        summary: "runs one command in a shell",
        arguments: &[
            argument("command"),
            optional("target"),
            ArgumentSpec { holds: Holds::Path, ..optional("cwd") },
            optional("timeout_seconds"),
        ],
    },
    ToolSpec {
        tool: Tool::MutateBatch,
        name: "mutate_batch",
        class: ToolClass::Mutate,
        summary: "applies several edits as a whole, or none of them",
        arguments: &[
            paths(argument("edits")),
            paths(optional("expected_hashes")),
            optional("dry_run"),
        ],
    },
    ToolSpec {
        tool: Tool::Verify,
        name: "verify",
        class: ToolClass::Check,
        summary: "runs the workspace's own check and collects its diagnostics",
        arguments: &[optional("scope")],
    },
    ToolSpec {
        tool: Tool::Compile,
        name: "compile",
        class: ToolClass::Check,
        summary: "builds the program",
        arguments: &BUILD,
    },
    ToolSpec {
        tool: Tool::Run,
        name: "run",
        class: ToolClass::Check,
        summary: "builds the program and runs it",
        arguments: &[BUILD[0], BUILD[1], BUILD[2], BUILD[3], optional("args")],
    },
    ToolSpec {
        tool: Tool::Simulate,
        name: "simulate",
        class: ToolClass::Check,
        summary: "tries edits, steps or a function on a copy of the workspace",
        arguments: &[
            paths(optional("edits")),
            paths(optional("steps")),
            optional("verify"),
            optional("function"),
            optional("inputs"),
            optional("trace_enabled"),
        ],
    },
    ToolSpec {
        tool: Tool::Inspect,
        name: "inspect",
        class: ToolClass::Read,
        summary: "looks at the program: overview, text and symbols",
        arguments: &[optional("query"), optional("max_results")],
    },
    ToolSpec {
        tool: Tool::History,
        name: "history",
        class: ToolClass::Mutate,
        summary: "lists, compares and takes back what was changed",
        arguments: &[
            argument("operation"),
            optional("checkpoint"),
            optional("from_checkpoint"),
            optional("to_checkpoint"),
            optional("limit"),
        ],
    },
];

const BUILD: [ArgumentSpec; 4] = [
    optional("opt_level"),
    optional("entry_function"),
    optional("target_triple"),
    optional("debug_symbols"),
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

    /// What it can do to the world at most; [`super::ToolCall::class`] says it of one call.
    pub fn class(self) -> ToolClass {
        self.spec().class
    }

    /// Whether a plan of this dialect may call it (SPEC §1.3).
    pub fn stands_in(self, dialect: Dialect) -> bool {
        let home = match self {
            Self::Shell => Dialect::CommandPlan,
            Self::MutateBatch
            | Self::Verify
            | Self::Compile
            | Self::Run
            | Self::Simulate
            | Self::Inspect
            | Self::History => Dialect::ActionPlan,
            _ => Dialect::StepPlan,
        };
        dialect == home
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
        assert_eq!(SPECS.len(), 19);
        let in_step_plans = SPECS.iter().filter(|spec| spec.tool.stands_in(Dialect::StepPlan));
        assert_eq!(in_step_plans.count(), 11);
        let in_action_plans = SPECS.iter().filter(|spec| spec.tool.stands_in(Dialect::ActionPlan));
        assert_eq!(in_action_plans.count(), 7);
    }
}
