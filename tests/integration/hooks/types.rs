//! What Claude Code's hook reads and answers, checked by the compiler against the types that its own package publishes.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::person::{Does, Window, call, hook};
use crate::harness::agents::node_modules;
use crate::harness::home::Home;

/// The errors of the TypeScript compiler about a module with these constants: name of the type, value.
#[expect(clippy::disallowed_methods, reason = "runs the compiler of another language")]
fn type_errors(constants: &[(&str, Value)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let modules = node_modules();
    std::os::unix::fs::symlink(&modules, folder.path().join("node_modules")).unwrap();
    let mut text = "import type { PreToolUseHookInput, PreToolUseHookSpecificOutput, SyncHookJSONOutput } \
                    from \"@anthropic-ai/claude-agent-sdk\";\nimport type { BashInput, FileEditInput, FileWriteInput } \
                    from \"@anthropic-ai/claude-agent-sdk/sdk-tools\";\n"
        .to_owned();
    for (index, (name, value)) in constants.iter().enumerate() {
        text += &format!("export const c{index}: {name} = {value};\n");
    }
    fs::write(folder.path().join("shapes.ts"), text).unwrap();
    let compiler = modules.join("typescript/bin/tsc");
    let options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"];
    let resolution = ["--module", "preserve", "--moduleResolution", "bundler", "shapes.ts"];
    let done = Command::new("node")
        .arg(compiler)
        .args(options)
        .args(resolution)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.success(), printed.is_empty(), "{printed} {done:?}");
    printed
}

/// Each answer is also checked as the output of its own event: of a union, the compiler takes fields of any member.
#[test]
fn answers_and_calls_fit_the_types_of_claude() {
    let home = Home::new();
    let answer = |tool: &str, input: Value| {
        let call = call(&home, "claude", tool, input);
        let answer = hook(&home, &["--agent", "claude"], call.to_string()).exits(0).document();
        (call, answer)
    };
    let file = home.file("a").canonicalize().unwrap_or_else(|_| home.file("a"));
    let command = json!({"command": "true", "timeout": 1000, "description": "Do it"});
    let edit = json!({"file_path": file, "old_string": "x", "new_string": "y"});
    let write = json!({"file_path": file, "content": "x\n"});
    let denied = answer("Bash", command.clone());
    let read = answer("Read", json!({"file_path": file}));
    let window = Window::open(&home, Does::Authorizes);
    let written = answer("Write", write.clone());
    fs::write(Path::new(&file), "x\n").unwrap();
    let edited = answer("Edit", edit.clone());
    let rewritten = answer("Bash", command.clone());
    drop(window);
    let output = |answer: &Value| answer["hookSpecificOutput"].clone();
    let input = output(&rewritten.1)["updatedInput"].clone();
    assert_ne!(input["command"], command["command"], "a ticket");
    for (permitted, answer) in
        [(false, &denied), (true, &written), (true, &edited), (true, &rewritten)]
    {
        let word = if permitted { "allow" } else { "deny" };
        assert_eq!(output(&answer.1)["permissionDecision"], word, "{answer:?}");
    }
    assert_eq!(read.1, json!({}), "no objection");
    let mut constants = vec![
        ("BashInput", command),
        ("BashInput", input),
        ("FileEditInput", edit),
        ("FileWriteInput", write),
    ];
    for (call, answer) in [denied, read, written, edited, rewritten] {
        constants.push(("PreToolUseHookInput", call));
        if answer != json!({}) {
            constants.push(("PreToolUseHookSpecificOutput", output(&answer)));
        }
        constants.push(("SyncHookJSONOutput", answer));
    }
    assert_eq!(type_errors(&constants), "");
    // The input of the hook is a type that is left open by the package.
    constants.retain(|(name, _)| *name != "PreToolUseHookInput");
    for (_, value) in &mut constants {
        value["heron"] = json!(1);
    }
    let errors = type_errors(&constants);
    assert_eq!(
        errors.matches("'\"heron\"' does not exist in type").count(),
        constants.len(),
        "{errors}"
    );
}
