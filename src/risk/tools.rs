//! The risk of steps and commands. The class of a step's tool decides, unless the step runs a command, writes a
//! sensitive file, deletes a file in a batch, or restores earlier contents.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    CommandVerdict, Policy, Repositories, Shell, Surroundings, is_builtin_rule, of_local_command,
    sensitive,
};
use crate::plan::{
    CommandInput, Edit, Fleet, MutateBatch, RiskLevel, Simulation, StatedRisk, Step, ToolCall,
    ToolClass,
};

/// A level with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The level.
    pub level: RiskLevel,
    /// The rule that decided.
    pub rule: Cow<'static, str>,
    /// The bytes of the decisive argument that matched; `None` if the rule is not about a part of one argument.
    pub span: Option<Range<usize>>,
    /// The bytes of every part of a command that has the level, in order; empty for anything else.
    #[serde(skip)]
    pub parts: Vec<Range<usize>>,
    /// The reason.
    pub reason: String,
    /// A safer alternative, if there is one.
    pub suggestion: Option<String>,
}

impl Verdict {
    fn new(level: RiskLevel, rule: &'static str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        debug_assert!(is_builtin_rule(rule), "{rule} is not in the table of rules that are code");
        Self { level, rule: rule.into(), span: None, parts: Vec::new(), reason, suggestion: None }
    }

    fn dangerous(rule: &'static str, reason: impl Into<String>) -> Self {
        Self::new(RiskLevel::Dangerous, rule, reason)
    }
}

/// The rule id for steps that restore earlier contents.
pub const CHANGE_HISTORY: &str = "change-history";

/// The risk of one step. `shell` is the shell that local commands run in. What the author states can only raise
/// the level.
pub fn of_step(step: &Step, policy: &Policy, shell: Shell) -> Verdict {
    raised(of_call(&step.call, policy, shell), &step.stated)
}

/// The risk of a faulty step, which cannot run: it counts as dangerous.
pub fn of_faulty_step() -> Verdict {
    Verdict::dangerous("faulty-step", "The step has errors, so its effect is not known.")
}

/// The verdict, or the plan's own statement if that is worse.
fn raised(verdict: Verdict, stated: &StatedRisk) -> Verdict {
    let Some(level) = stated.level.filter(|level| *level > verdict.level) else { return verdict };
    let why = stated.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
    let reason = format!("The plan itself rates the step {}{why}", level.as_str());
    Verdict { suggestion: verdict.suggestion, ..Verdict::new(level, "stated-by-plan", reason) }
}

fn of_call(call: &ToolCall, policy: &Policy, shell: Shell) -> Verdict {
    let (level, rule, reason) = match call.class() {
        ToolClass::Read => (RiskLevel::Safe, "read", "Only reads."),
        ToolClass::Check if !runs_code(call) => {
            (RiskLevel::Caution, "simulate", "Works on a copy of the workspace and runs nothing.")
        }
        ToolClass::Mutate => (RiskLevel::Caution, "mutate", "Changes files of the workspace."),
        ToolClass::Check => {
            (RiskLevel::Caution, "check", "Runs code of the workspace: build scripts and macros.")
        }
        ToolClass::Command => (RiskLevel::Dangerous, "command", "Runs a command."),
    };
    let (level, rule, reason) = match call {
        ToolCall::Run { .. } => (
            level,
            "run",
            "Runs code of the workspace: build scripts, macros and the program itself.",
        ),
        ToolCall::History { operation, .. } if operation.changes_files() => (
            RiskLevel::Dangerous,
            CHANGE_HISTORY,
            "Replaces the present content of files with earlier content.",
        ),
        _ => (level, rule, reason),
    };
    let usual = || Verdict::new(level, rule, reason);
    // Simulated changes of a copy count, too: the changes are meant for the workspace.
    let paths = call.paths();
    let changed: Vec<&str> =
        paths.iter().filter(|it| it.role.changes()).map(|named| named.path).collect();
    match call {
        ToolCall::MutateBatch(MutateBatch { edits, dry_run: false, .. }) => {
            let deleted = || edits.iter().find(|edit| edit.deletes()).map(of_deleting);
            let worst = changed.into_iter().find_map(of_written_path);
            worst.or_else(deleted).unwrap_or_else(usual)
        }
        ToolCall::Simulate(Simulation::Steps { steps, .. }) => {
            let all = steps.iter().map(|step| of_call(step, policy, shell)).chain([usual()]);
            all.max_by_key(|it| it.level).unwrap_or_else(usual)
        }
        ToolCall::Simulate(_) => {
            changed.into_iter().find_map(of_written_path).unwrap_or_else(usual)
        }
        ToolCall::Shell { command, target, inputs, cwd, .. } => {
            let place = (target.as_deref(), cwd.as_deref());
            of_shell_command(command, inputs, place, policy, shell)
        }
        _ => {
            let hit =
                |path: &&str| Some(Verdict { span: Some(0..path.len()), ..of_written_path(path)? });
            changed.iter().find_map(hit).unwrap_or_else(usual)
        }
    }
}

/// The risk of an edit that removes a file.
fn of_deleting(edit: &Edit) -> Verdict {
    let path = edit.paths().next().unwrap_or_default();
    Verdict::dangerous("delete-file", format!("Deletes a file: {path}."))
}

/// Whether a call of class *check* runs code. Only simulations without commands do not.
fn runs_code(call: &ToolCall) -> bool {
    !matches!(call, ToolCall::Simulate(simulation) if !simulation.runs_code())
}

/// The risk of a command with these inputs on this computer, or on the host `target`, where bash runs it. `cwd` is its working
/// folder as the plan has it. A remote command is never safe.
pub fn of_shell_command(
    command: &str,
    inputs: &[CommandInput],
    (target, cwd): (Option<&str>, Option<&str>),
    policy: &Policy,
    shell: Shell,
) -> Verdict {
    let shell = if target.is_some() { Shell::Bash } else { shell };
    // The folders of this program are on this computer, and a remote command is never safe.
    const NAME_NOTHING: Repositories = Repositories::NameNothing;
    let surroundings = match target {
        None => Surroundings {
            own_folders: &policy.own_folders,
            repositories: &policy.repositories,
            cwd,
        },
        Some(_) => Surroundings { own_folders: &[], repositories: &NAME_NOTHING, cwd },
    };
    let rules = &policy.command_rules;
    let mut found = of_local_command(command, shell, rules, surroundings, inputs);
    // What a value does as a word of the command is judged as such a word, too: rules about words are then the same.
    if let Some(written) = written_out(command, inputs) {
        let unknown: Vec<CommandInput> =
            inputs.iter().filter(|input| input.value.is_none()).cloned().collect();
        let verdict = of_local_command(&written, shell, rules, surroundings, &unknown);
        if verdict.level > found.level {
            found = CommandVerdict { span: 0..command.len(), parts: found.parts, ..verdict };
            found.suggestion = None;
        }
    }
    let about = command.get(found.span.clone()).unwrap_or(command);
    for input in inputs.iter().filter(|input| about.contains(&input.variable())) {
        found.reason.push_str(&with_input(input));
    }
    match target {
        Some(host) if found.level == RiskLevel::Safe => {
            // Several hosts are named as such.
            let host =
                if Fleet::is_label(host) { host.to_owned() } else { format!("the host {host}") };
            let reason = format!("Runs on {host}. {}", found.reason);
            let verdict = Verdict::new(RiskLevel::Caution, "remote-host", reason);
            Verdict { suggestion: found.suggestion, ..verdict }
        }
        _ => Verdict {
            level: found.level,
            rule: found.rule.into(),
            span: Some(found.span),
            parts: found.parts,
            reason: found.reason,
            suggestion: found.suggestion,
        },
    }
}

/// The command with the values in place of the references to them, all of which are in double quotes or in a text that
/// expands like them. `None` without a value.
fn written_out(command: &str, inputs: &[CommandInput]) -> Option<String> {
    let mut written = command.to_owned();
    for input in inputs {
        let Some(value) = &input.value else { continue };
        let mut escaped = String::with_capacity(value.len());
        for it in value.chars() {
            if matches!(it, '\\' | '"' | '$' | '`') {
                escaped.push('\\');
            }
            escaped.push(it);
        }
        let variable = input.variable();
        written = written.replace(&format!("${{{variable}}}"), &escaped);
        let plain = format!("${variable}");
        let mut parts = written.split(&plain);
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // The name of another variable may begin with this one.
            let is_other = part.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_');
            whole.push_str(if is_other { &plain } else { &escaped });
            whole.push_str(part);
        }
        written = whole;
    }
    (written != command).then_some(written)
}

/// What is known of an input, as a sentence after a reason.
fn with_input(input: &CommandInput) -> String {
    /// The maximum number of characters of a value in a reason.
    const SHOWN: usize = 60;
    let name = input.variable();
    match &input.value {
        Some(value) if value.chars().count() <= SHOWN => format!(" Here ${name} is {value:?}."),
        Some(value) => {
            let shown: String = value.chars().take(SHOWN).collect();
            format!(" Here ${name} begins with {shown:?}.")
        }
        None if input.secret => format!(" ${name} is a secret, whose value is not known here."),
        None => format!(" ${name} is not filled in yet."),
    }
}

/// The verdict on writing a file that configures other programs or contains keys; `None` for any other file.
///
/// The review repeats this for the canonical path, because a link can give such a file a harmless name.
pub fn of_written_path(path: &str) -> Option<Verdict> {
    let hit = sensitive::find_sensitive(path)?;
    Some(Verdict::dangerous(&hit.rule, format!("This {}.", hit.reason)))
}

/// The verdict on writing a file whose execute bit is set. The caller checks the bit in the workspace.
pub fn of_written_program() -> Verdict {
    Verdict::dangerous("write-program", "Writes a file that can be run as a program.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &str) -> Verdict {
        judged(&ToolCall::FileWrite { path: path.to_owned(), contents: String::new() })
    }

    fn judged(call: &ToolCall) -> Verdict {
        of_call(call, &Policy::default(), Shell::Bash)
    }

    #[test]
    fn naming_an_own_folder_is_dangerous_only_locally() {
        let policy =
            Policy { own_folders: vec!["/home/u/.config/countersign".into()], ..Policy::default() };
        let rule = |command: &str, target| {
            of_shell_command(command, &[], (target, None), &policy, Shell::Bash).rule.into_owned()
        };
        assert_eq!(rule("ls ~/.config/countersign", None), "own-folder");
        assert_eq!(rule("ls ~/.config/countersign", Some("web")), "remote-host");
        assert_eq!(rule("ls ~/.config", None), "reads");
    }

    /// A value is at least as dangerous as the same text written into the command.
    #[test]
    fn values_are_judged_as_words() {
        let level = |command: &str, value: &str| {
            let value = Some(value.to_owned());
            let inputs = [CommandInput { name: "x".to_owned(), value, secret: false }];
            of_shell_command(command, &inputs, (None, None), &Policy::default(), Shell::Bash).level
        };
        for (command, value) in [
            ("printf \"$input_x\" hi", "-va[$(touch a)]"),
            ("sleep 1 & wait -n \"$input_x\"", "-pa[$(touch a)]"),
            ("for i in \"$input_x\"; do echo $((i)); done", "a[$(touch a)]"),
            ("export \"$input_x\"; bash -c true", "BASH_ENV=./evil.sh"),
            ("export \"$input_x\"; ls", "LD_PRELOAD=./a.so"),
        ] {
            assert!(level(command, value) >= RiskLevel::Dangerous, "{command} {value}");
        }
        for (command, value) in [
            ("\"$input_x\" -rf /", "rm"),
            ("\"${input_x}m\" -rf ~/", "r"),
            ("echo \"$input_x\" | sh", "rm -rf /"),
            ("bash <<E\n$input_x\nE", "rm -rf /"),
            ("echo \"$input_x\" | xargs rm -rf", "/"),
        ] {
            assert_eq!(level(command, value), RiskLevel::Blocked, "{command} {value}");
        }
        assert_eq!(level("echo \"$input_x\" $input_xy", "a $(rm -rf /) \" ` \\"), RiskLevel::Safe);
    }

    #[test]
    fn the_class_decides_where_no_path_rule_does() {
        assert_eq!(
            judged(&ToolCall::FileRead { path: ".git/config".into() }).level,
            RiskLevel::Safe
        );
        assert_eq!(write("src/lib.rs").level, RiskLevel::Caution);
        assert_eq!(judged(&ToolCall::LspCheck { path: ".".into() }).level, RiskLevel::Caution);
    }

    #[test]
    fn batch_has_the_risk_of_its_worst_edit() {
        let text = |text: &str| text.to_owned();
        let batch = |edits, dry_run| {
            let expected_hashes = std::collections::BTreeMap::new();
            judged(&ToolCall::MutateBatch(MutateBatch { edits, expected_hashes, dry_run }))
        };
        let write = |path: &str| Edit::Write { path: text(path), contents: text("x") };
        let delete = || Edit::Delete { path: text("b") };
        let patch = |diff: &str| Edit::Patch { path: text("b"), diff: text(diff) };
        assert_eq!(batch(vec![write("a")], false).level, RiskLevel::Caution);
        let deleting = batch(vec![write("a"), delete()], false);
        assert_eq!((deleting.level, &*deleting.rule), (RiskLevel::Dangerous, "delete-file"));
        let gone = "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        assert_eq!(batch(vec![patch(gone)], false).level, RiskLevel::Dangerous);
        let kept = "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n";
        assert_eq!(batch(vec![patch(kept)], false).level, RiskLevel::Caution);
        let hook = batch(vec![delete(), write(".git/hooks/pre-commit")], false);
        assert_eq!(&*hook.rule, "write-git-internals");
        let renamed = Edit::Rename { path: text("a"), to: text("Makefile") };
        assert_eq!(batch(vec![renamed], false).level, RiskLevel::Dangerous);
        assert_eq!(batch(vec![delete(), write("Makefile")], true).level, RiskLevel::Safe);
    }

    #[test]
    fn configuration_of_other_programs_is_dangerous() {
        for (path, rule) in [
            (".git/hooks/pre-commit", "write-git-internals"),
            ("a/./.GIT/config", "write-git-internals"),
            ("vendor/.git", "write-git-link"),
            (".cargo/config.toml", "write-cargo-config"),
            (".github/workflows/ci.yml", "write-ci"),
            ("crates/x/build.rs", "write-build-script"),
            ("sub/Makefile", "write-makefile"),
            ("GNUmakefile", "write-makefile"),
            ("home/.bashrc", "write-startup-file"),
        ] {
            assert_eq!(
                (write(path).level, &*write(path).rule),
                (RiskLevel::Dangerous, rule),
                "{path}"
            );
        }
        for path in [".gitignore", "git/x", "docs/build.rs.md", ".github/README.md"] {
            assert_eq!(write(path).level, RiskLevel::Caution, "{path}");
        }
    }
}
