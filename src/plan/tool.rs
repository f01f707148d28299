//! The whitelist (SPEC §4): one table of all tools with their arguments and classes.
//!
//! Every [`super::ToolCall`] calls a tool of this table. There is no other way to call a tool.

use serde::{Deserialize, Serialize};

use super::Dialect;

/// The possible effects of a tool, which decide whether an intent is recorded before it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Only reads; no intent is recorded before the call.
    Read,
    /// Changes files of the workspace.
    Mutate,
    /// Checks, builds, runs or simulates the program, which may run the project's code.
    Check,
    /// Runs a shell command, which may do anything that its walls allow.
    Command,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentSpec {
    /// The name in plan files.
    pub name: &'static str,
    /// Another accepted name. Evidence contains the name that the plan uses.
    pub alias: Option<&'static str>,
    /// Whether the tool cannot be called without it.
    pub required: bool,
    /// Whether the value may be empty, as contents may.
    pub may_be_empty: bool,
    /// Whether the value contains paths.
    pub holds: Holds,
}

/// Whether an argument holds paths. A test compares this with [`super::ToolCall::paths`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The path of a file or folder.
    Path,
    /// Structured values that contain paths: edits, steps, expected hashes.
    Paths,
    /// No path.
    Text,
}

/// One row of the whitelist.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// The tool.
    pub tool: Tool,
    /// The name in plan files.
    pub name: &'static str,
    /// The highest class of the tool's calls.
    pub class: ToolClass,
    /// The dialect whose plans may call it (SPEC §1.3).
    pub dialect: Dialect,
    /// A one-line description for lists and help.
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

macro_rules! tools {
    ($($tool:ident $name:literal $class:ident $dialect:ident $summary:literal $arguments:expr;)+) => {
        /// A tool of the whitelist.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Tool {
            $(#[doc = $summary] $tool,)+
        }

        /// The whitelist, in the order of SPEC §4.
        pub static SPECS: [ToolSpec; 19] = [$(ToolSpec {
            tool: Tool::$tool,
            name: $name,
            class: ToolClass::$class,
            dialect: Dialect::$dialect,
            summary: $summary,
            arguments: $arguments,
        },)+];
    };
}

tools! {
    FileRead "file_read" Read StepPlan
        "reads one file"
        &[path("path")];
    FileWrite "file_write" Mutate StepPlan
        "replaces one file, or creates it in a folder that exists"
        &[path("path"), CONTENTS];
    FileCreate "file_create" Mutate StepPlan
        "creates one file that does not exist yet, with its folders"
        &[path("path"), CONTENTS];
    FileSearch "file_search" Read StepPlan
        "finds lines that match a regular expression"
        &[argument("pattern"), path("root")];
    FileGlob "file_glob" Read StepPlan
        "lists files whose path matches a pattern"
        &[argument("pattern"), path("root")];
    SplicePatch "splice_patch" Mutate StepPlan
        "replaces the definition of one symbol"
        &[path("file"), aliased("symbol", "name"), path("with"), optional("kind")];
    SplicePlan "splice_plan" Mutate StepPlan
        "replaces the definitions that a splice plan names"
        &[path_aliased("plan_file", "file")];
    SymbolsInFile "symbols_in_file" Read StepPlan
        "lists the symbols that one file defines"
        &[path_aliased("file_path", "file")];
    ReferencesToSymbolName "references_to_symbol_name" Read StepPlan
        "lists the references to one symbol"
        &[aliased("symbol", "name")];
    ReferencesFromFileToSymbolName "references_from_file_to_symbol_name" Read StepPlan
        "lists the references to one symbol from one file"
        &[path_aliased("file_path", "file"), aliased("symbol", "name")];
    LspCheck "lsp_check" Check StepPlan
        "runs cargo check and collects its diagnostics"
        &[path("path")];
    Shell "shell" Command CommandPlan
        "runs one command in a shell"
        &[
            argument("command"),
            optional("target"),
            ArgumentSpec { holds: Holds::Path, ..optional("cwd") },
            optional("timeout_seconds")
        ];
    MutateBatch "mutate_batch" Mutate ActionPlan
        "applies several edits as a whole, or none of them"
        &[paths(argument("edits")), paths(optional("expected_hashes")), optional("dry_run")];
    Verify "verify" Check ActionPlan
        "runs the workspace's own check and collects its diagnostics"
        &[optional("scope")];
    Compile "compile" Check ActionPlan
        "builds the program"
        &BUILD;
    Run "run" Check ActionPlan
        "builds the program and runs it"
        &[BUILD[0], BUILD[1], BUILD[2], BUILD[3], optional("args")];
    Simulate "simulate" Check ActionPlan
        "tries edits, steps or a function on a copy of the workspace"
        &[
            paths(optional("edits")),
            paths(optional("steps")),
            optional("verify"),
            optional("function"),
            optional("inputs"),
            optional("trace_enabled")
        ];
    Inspect "inspect" Read ActionPlan
        "looks at the program: overview, text and symbols"
        &[optional("query"), optional("max_results")];
    History "history" Mutate ActionPlan
        "lists, compares, undoes and redoes recorded changes"
        &[
            argument("operation"),
            optional("checkpoint"),
            optional("from_checkpoint"),
            optional("to_checkpoint"),
            optional("limit")
        ];
}

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

    /// The name in plan files.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The highest class of the tool's calls; [`super::ToolCall::class`] is the class of one call.
    pub fn class(self) -> ToolClass {
        self.spec().class
    }

    /// Whether a plan of this dialect may call the tool (SPEC §1.3).
    pub fn stands_in(self, dialect: Dialect) -> bool {
        dialect == self.spec().dialect
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
