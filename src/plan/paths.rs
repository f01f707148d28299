//! The files and folders that a call names, with their roles (SPEC §2, §4). Reviews, approvals, risk, classes and
//! tools all use this list.

use super::{Edit, HistoryOperation, MutateBatch, Simulation, ToolCall};

/// The file in which a workspace defines its commands to verify, compile and run the program.
pub const COMMANDS_FILE: &str = "countersign.toml";

/// What a call does with a path that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathRole {
    /// Reads a file or lists a folder.
    Reads,
    /// Copies the content of the file into another file.
    ReadsWith,
    /// Executes the content of the file: a splice plan, or the commands of the workspace.
    Follows,
    /// Compares the content of the file with an expected hash.
    Compares,
    /// Replaces the content of the file, or creates the file.
    Writes,
    /// Creates the file.
    Creates,
    /// Deletes the file.
    Deletes,
    /// Renames the file.
    Renames,
    /// Is the new name of a renamed file.
    RenamesTo,
    /// Searches everything at or below the path.
    Searches,
    /// Runs a program in the folder, or in the project that contains the path.
    WorksIn,
    /// Restores recorded contents of files below the folder.
    Restores,
}

impl PathRole {
    /// Whether the content or the name of this file may change.
    pub const fn changes(self) -> bool {
        matches!(
            self,
            Self::Writes | Self::Creates | Self::Deletes | Self::Renames | Self::RenamesTo
        )
    }

    /// Whether the effect of the call depends on the content, so that an approval covers the file.
    pub const fn is_input(self) -> bool {
        self.changes() || matches!(self, Self::ReadsWith | Self::Follows | Self::Compares)
    }
}

/// A path that a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedPath<'a> {
    /// The argument that contains the path; `None` for a path that the call uses implicitly.
    pub argument: Option<&'static str>,
    /// What the call does with the file or folder.
    pub role: PathRole,
    /// The path as it is written.
    pub path: &'a str,
    /// Whether the call uses the path in a copy of the workspace.
    pub on_copy: bool,
}

fn named<'a>(argument: &'static str, role: PathRole, path: &'a str) -> NamedPath<'a> {
    NamedPath { argument: Some(argument), role, path, on_copy: false }
}

/// A path that a call uses implicitly.
const fn implicit(role: PathRole, path: &'static str) -> NamedPath<'static> {
    NamedPath { argument: None, role, path, on_copy: false }
}

/// The file of workspace commands, which decides which commands verify, compile and run the program.
const COMMANDS: NamedPath<'static> = implicit(PathRole::Follows, COMMANDS_FILE);

impl ToolCall {
    /// Every path that this call names or uses implicitly. Paths inside a file that it executes, and recorded
    /// paths, are not known from the call alone: the tools add them.
    ///
    /// Folders of other hosts are not included.
    pub fn paths(&self) -> Vec<NamedPath<'_>> {
        use PathRole::{Compares, Follows, Reads, ReadsWith, Restores, Searches, WorksIn};
        // The patterns have no `..`, so that a new argument does not compile until this match decides whether it is a
        // path.
        match self {
            Self::FileRead { path } => vec![named("path", Reads, path)],
            Self::FileWrite { path, contents: _ } => vec![named("path", PathRole::Writes, path)],
            Self::FileCreate { path, contents: _ } => vec![named("path", PathRole::Creates, path)],
            Self::FileSearch { pattern: _, root } | Self::FileGlob { pattern: _, root } => {
                vec![named("root", Searches, root)]
            }
            Self::SplicePatch { file, symbol: _, with, kind: _ } => {
                vec![named("file", PathRole::Writes, file), named("with", ReadsWith, with)]
            }
            Self::SplicePlan { plan_file } => vec![named("plan_file", Follows, plan_file)],
            Self::SymbolsInFile { file_path }
            | Self::ReferencesFromFileToSymbolName { file_path, symbol: _ } => {
                vec![named("file_path", Reads, file_path)]
            }
            Self::ReferencesToSymbolName { symbol: _ }
            | Self::Inspect { query: _, max_results: _ } => vec![implicit(Searches, ".")],
            Self::LspCheck { path } => vec![named("path", WorksIn, path)],
            Self::Shell { command: _, target: Some(_), cwd: _, timeout_seconds: _, inputs: _ } => {
                Vec::new()
            }
            Self::Shell { command: _, target: None, cwd, timeout_seconds: _, inputs: _ } => {
                vec![named("cwd", WorksIn, cwd.as_deref().unwrap_or("."))]
            }
            Self::MutateBatch(MutateBatch { edits, expected_hashes, dry_run }) => {
                // A dry run only reads.
                let role = |role| if *dry_run { Reads } else { role };
                let edited = edits.iter().flat_map(|edit| edit.named());
                edited
                    .map(|(edited, path)| named("edits", role(edited), path))
                    .chain(
                        expected_hashes
                            .keys()
                            .map(|path| named("expected_hashes", role(Compares), path)),
                    )
                    .collect()
            }
            Self::Verify { scope: _ }
            | Self::Compile { build: _ }
            | Self::Run { build: _, args: _ } => vec![implicit(WorksIn, "."), COMMANDS],
            Self::Simulate(simulation) => simulation.paths(),
            Self::History { operation, limit: _ } => match operation {
                HistoryOperation::Undo { checkpoint: _ }
                | HistoryOperation::Redo
                | HistoryOperation::RestoreCheckpoint { checkpoint: _ } => {
                    vec![implicit(Restores, ".")]
                }
                HistoryOperation::ListEntries
                | HistoryOperation::ListCheckpoints
                | HistoryOperation::Diff { from: _, to: _ } => Vec::new(),
            },
        }
    }
}

impl Edit {
    /// The files this edit can change, with their roles: one, or the two names of a rename. Names inside a diff
    /// do not count: a diff that names another file is refused.
    fn named(&self) -> impl Iterator<Item = (PathRole, &str)> {
        use PathRole::{Creates, Deletes, Renames, RenamesTo, Writes};
        let (role, path, to) = match self {
            Self::Rename { path, to } => (Renames, path, Some((RenamesTo, to.as_str()))),
            Self::Create { path, contents: _ } => (Creates, path, None),
            Self::Delete { path } => (Deletes, path, None),
            Self::Patch { path, diff: _ } if self.deletes() => (Deletes, path, None),
            Self::Write { path, contents: _ }
            | Self::Replace { path, old: _, new: _ }
            | Self::Patch { path, diff: _ }
            | Self::Splice { path, symbol: _, contents: _, kind: _ } => (Writes, path, None),
        };
        std::iter::once((role, path.as_str())).chain(to)
    }

    /// The same files without their roles.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.named().map(|(_, path)| path)
    }
}

impl Simulation {
    /// The paths that a simulation names; see [`ToolCall::paths`].
    pub fn paths(&self) -> Vec<NamedPath<'_>> {
        let (mut paths, runs_commands) = match self {
            Self::Edits { edits, verify } => {
                let edits = edits.iter().flat_map(|edit| edit.named());
                let paths = edits
                    .map(|(role, path)| NamedPath { on_copy: true, ..named("edits", role, path) });
                (paths.collect::<Vec<_>>(), verify.is_some())
            }
            Self::Steps { steps, verify } => {
                let mut paths = Vec::new();
                for step in steps {
                    for path in step.paths() {
                        let argument = path.argument.map(|_| "steps");
                        paths.push(NamedPath { argument, on_copy: true, ..path });
                    }
                }
                (paths, verify.is_some())
            }
            Self::Function { function: _, inputs: _, trace_enabled: _ } => (Vec::new(), true),
        };
        // The file of commands is read in the workspace, not in the copy.
        paths.extend(runs_commands.then_some(COMMANDS));
        paths
    }
}

/// A file name that git has quoted, from the text between the quotes.
pub fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.extend(u8::try_from(value));
            }
            other => bytes.extend(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{ArgumentContent, Dialect, TOOLS, Tool, parse};
    use serde_json::{Value, json};

    const PATH: &str = "named/here";

    /// A call of `tool` with this value of `argument`, which contains [`PATH`], parsed from a plan.
    fn call(tool: Tool, argument: &str, value: &Value) -> ToolCall {
        let other = |name: &str| match name {
            "edits" => json!([{"op": "write", "path": "other", "contents": ""}]),
            "timeout_seconds" => json!(7),
            _ => json!("x"),
        };
        let is_action = tool.is_allowed_in(Dialect::ActionPlan);
        let wanted = |spec: &&crate::plan::ArgumentSpec| spec.required || spec.name == argument;
        let arguments: serde_json::Map<String, Value> = tool
            .spec()
            .arguments
            .iter()
            .filter(wanted)
            .map(|it| {
                let value = if it.name == argument { value.clone() } else { other(it.name) };
                (it.name.to_owned(), value)
            })
            .collect();
        let plan = match tool {
            Tool::Shell => json!({"goal": "g", "steps": [arguments]}),
            _ if is_action => json!({"version": "2026-02-19", "goal": "g",
                "actions": [{"type": tool.name(), "request": arguments}]}),
            _ => json!({"plan_id": "p", "intent": "READ",
                "steps": [{"step_id": "s", "tool": tool.name(), "arguments": arguments}]}),
        };
        let parsed = parse(plan.to_string().as_bytes());
        let Ok(read) = parsed.plan else { panic!("{plan:#}: {:?}", parsed.findings) };
        read.steps.into_iter().next().unwrap().call
    }

    /// Values of an argument that each contain [`PATH`] once, in every possible form.
    fn values(tool: Tool, name: &str) -> Vec<Value> {
        let edits = || {
            let fields = json!({"contents": "c", "old": "a", "new": "b", "symbol": "s",
                "diff": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"});
            let needed = |op: &str| -> &[&str] {
                match op {
                    "write" | "create" => &["contents"],
                    "replace" => &["old", "new"],
                    "patch" => &["diff"],
                    "splice" => &["symbol", "contents"],
                    _ => &[],
                }
            };
            let edit = |op: &str, path: &str, to: Option<&str>| {
                let mut edit = json!({"op": op, "path": path});
                for field in needed(op) {
                    edit[*field] = fields[*field].clone();
                }
                if let Some(to) = to {
                    edit["to"] = json!(to);
                }
                json!([edit])
            };
            let mut all: Vec<Value> = Edit::OPS
                .iter()
                .map(|op| edit(op, PATH, (*op == "rename").then_some("other")))
                .collect();
            all.push(edit("rename", "other", Some(PATH)));
            all
        };
        match name {
            "edits" => edits(),
            "expected_hashes" => vec![json!({PATH: "0".repeat(64)})],
            "steps" => {
                let inner = TOOLS.iter().filter(|spec| spec.tool.is_allowed_in(Dialect::StepPlan));
                let mut all = Vec::new();
                for spec in inner {
                    for argument in
                        spec.arguments.iter().filter(|it| it.content == ArgumentContent::Path)
                    {
                        let arguments: serde_json::Map<_, _> = spec
                            .arguments
                            .iter()
                            .filter(|it| it.required || it.name == argument.name)
                            .map(|it| {
                                let value = if it.name == argument.name { PATH } else { "x" };
                                (it.name.to_owned(), json!(value))
                            })
                            .collect();
                        all.push(json!([{"tool": spec.name, "arguments": arguments}]));
                    }
                }
                all
            }
            _ => {
                assert_eq!(tool.spec().arguments.iter().filter(|it| it.name == name).count(), 1);
                vec![json!(PATH)]
            }
        }
    }

    #[test]
    fn every_argument_that_holds_paths_has_roles() {
        let mut tried = 0;
        for spec in &TOOLS {
            for argument in spec.arguments.iter().filter(|it| it.content != ArgumentContent::Text) {
                for value in values(spec.tool, argument.name) {
                    let call = call(spec.tool, argument.name, &value);
                    let hits = call.paths().into_iter().filter(|it| it.path == PATH);
                    let hits: Vec<_> = hits.map(|it| it.argument).collect();
                    assert_eq!(hits, [Some(argument.name)], "{}: {value}", spec.name);
                    tried += 1;
                }
            }
        }
        assert!(tried > 30, "{tried}");
    }

    #[test]
    fn list_of_arguments_without_paths_is_complete() {
        // Before an argument is added here, check that it names no file.
        let known = [
            "args",
            "checkpoint",
            "command",
            "contents",
            "debug_symbols",
            "dry_run",
            "entry_function",
            "from_checkpoint",
            "function",
            "inputs",
            "kind",
            "limit",
            "max_results",
            "operation",
            "opt_level",
            "pattern",
            "query",
            "scope",
            "symbol",
            "target",
            "target_triple",
            "timeout_seconds",
            "to_checkpoint",
            "trace_enabled",
            "verify",
        ];
        let texts = TOOLS.iter().flat_map(|spec| spec.arguments);
        let texts = texts.filter(|it| it.content == ArgumentContent::Text).map(|it| it.name);
        let texts: std::collections::BTreeSet<_> = texts.collect();
        assert_eq!(texts.into_iter().collect::<Vec<_>>(), known);
    }

    #[test]
    fn dry_runs_and_copies_change_nothing() {
        let edits = vec![Edit::Delete { path: "a".to_owned() }];
        let dry = MutateBatch {
            edits: edits.clone(),
            expected_hashes: Default::default(),
            dry_run: true,
        };
        assert!(ToolCall::MutateBatch(dry).paths().iter().all(|it| it.role == PathRole::Reads));
        let simulation = ToolCall::Simulate(Simulation::Edits { edits, verify: None });
        let paths = simulation.paths();
        assert!(paths.iter().all(|it| it.on_copy));
        assert!(paths[0].role == PathRole::Deletes, "{paths:?}");
    }
}
