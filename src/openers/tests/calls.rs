//! Tool calls.

use super::*;

/// What these calls are opened as, in the shape of Anthropic's interface.
#[track_caller]
fn called(calls: &[(&str, Value)], files: &[(&str, &str)]) -> String {
    let call = |(name, input): &(&str, Value)| json!({"type": "tool_use", "id": "1", "name": name, "input": input});
    let content: Vec<Value> = calls.iter().map(call).collect();
    shown(&json!({"role": "assistant", "content": content}).to_string(), files)
}

/// The arguments of an edit of the file `a`.
fn edit(old: &str, new: &str) -> Value {
    json!({"file_path": "a", "old_string": old, "new_string": new})
}

/// These arguments with one more.
fn with(mut input: Value, name: &str, value: Value) -> Value {
    input[name] = value;
    input
}

#[test]
fn every_interface_says_the_same() {
    let input = json!({"command": "make all", "description": "Build it", "timeout": 1500});
    let text = input.to_string();
    let function = json!({"name": "Bash", "arguments": text});
    for call in [
        json!({"type": "tool_use", "name": "Bash", "input": input}),
        json!([{"type": "tool_use", "name": "Bash", "input": input}]),
        json!({"content": [{"type": "text", "text": "Now"}, {"type": "tool_use", "name": "Bash", "input": input}]}),
        json!({"tool_calls": [{"type": "function", "function": function}]}),
        json!({"choices": [{"message": {"tool_calls": [{"function": function}]}}]}),
        json!({"output": [{"type": "reasoning"}, {"type": "function_call", "name": "Bash", "arguments": text}]}),
        json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "Bash", "args": input}}]}}]}),
        json!({"session_id": "x", "tool_name": "Bash", "tool_input": input}),
    ] {
        let opened = open(call.to_string().as_bytes(), &NoFiles).unwrap();
        assert_eq!(opened.format, Format::ToolCalls);
        let plan: Value = serde_json::from_slice(&opened.plan.unwrap()).unwrap();
        let steps =
            json!([{"command": "make all", "description": "Build it", "timeoutSeconds": 2}]);
        assert_eq!((&plan["steps"], &plan["goal"]), (&steps, &json!("Build it")), "{call}");
    }
}

#[test]
fn words_of_a_command_stay_words() {
    for (words, expected) in [
        (json!(["bash", "-c", "a | b"]), "$ a | b\n"),
        (json!(["bash", "-lc", "a | b"]), "$ bash -lc 'a | b'\n"),
        (json!(["rg", "it's", "$HOME", ""]), "$ rg 'it'\\''s' '$HOME' ''\n"),
        (json!(["time", "A=b", "~"]), "$ 'time' 'A=b' '~'\n"),
        (json!("a | b"), "$ a | b\n"),
    ] {
        assert_eq!(called(&[("shell", json!({"command": words}))], &[]), expected);
    }
    let exec =
        json!({"type": "exec", "command": ["ls"], "working_directory": "/work space/a", "env": {}});
    let call = json!([{"type": "local_shell_call", "action": exec}]);
    assert_eq!(shown(&call.to_string(), &[]), "[a] $ ls\n");
    let call = json!({"cmd": "ls", "workdir": "/elsewhere", "yield_time_ms": 9});
    assert_eq!(called(&[("exec_command", call)], &[]), "[/elsewhere] $ ls\n");
}

#[test]
fn edits_of_every_agent_are_edits() {
    let file = [("a", "one\ntwo\ntwo\n")];
    let both = "patch a: @@ -1,3 +1,3 @@\n one\n-two\n-two\n+2\n+2\n";
    let delete = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    for (name, input, expected) in [
        ("Write", json!({"file_path": "/work space/b", "content": "x"}), "write b: x\n"),
        ("Edit", edit("one", "1"), "replace a: one1\n"),
        ("Edit", with(edit("", "1"), "file_path", json!("b")), "create b: 1\n"),
        ("Edit", with(edit("two", "2"), "replace_all", json!(true)), both),
        ("replace", with(edit("two", "2"), "expected_replacements", json!(2)), both),
        (
            "MultiEdit",
            json!({"file_path": "a", "edits": [{"old_string": "one", "new_string": "1"}]}),
            "replace a: one1\n",
        ),
        (
            "str_replace_based_edit_tool",
            json!({"command": "create", "path": "b", "file_text": "x"}),
            "write b: x\n",
        ),
        (
            "str_replace_editor",
            json!({"command": "str_replace", "path": "a", "old_str": "one"}),
            "replace a: one\n",
        ),
        (
            "str_replace_based_edit_tool",
            json!({"command": "insert", "path": "a", "insert_line": 1, "insert_text": "x"}),
            "patch a: @@ -1,3 +1,4 @@\n one\n+x\n two\n two\n",
        ),
        ("apply_patch", json!({"input": delete}), "delete a: \n"),
    ] {
        assert_eq!(called(&[(name, input.clone())], &file), expected, "{name} {input}");
    }
    let free = json!([{"type": "custom_tool_call", "name": "apply_patch", "input": delete}]);
    assert_eq!(shown(&free.to_string(), &file), "delete a: \n");
}

/// A later call changes what an earlier one left.
#[test]
fn calls_about_one_file_follow_each_other() {
    let all = json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true});
    assert_eq!(
        called(&[("Edit", edit("one", "x")), ("Edit", all)], &[("a", "one\nx\n")]),
        "replace a: onex\npatch a: @@ -1,2 +1,2 @@\n-x\n-x\n+y\n+y\n"
    );
}

#[test]
fn what_a_plan_cannot_do_is_an_error() {
    let command = json!({"command": "ls"});
    for (name, input, expected) in [
        (
            "Bash",
            with(command.clone(), "run_in_background", json!(true)),
            "nothing in the background",
        ),
        ("Bash", with(command.clone(), "color", json!(1)), "the field \"color\" is not known here"),
        ("Bash", json!({"command": 1}), "must be a text"),
        ("Bash", json!({}), "\"command\" is missing"),
        ("Bash", with(command.clone(), "timeout", json!(0)), "no time limit"),
        ("WebFetch", json!({"url": "x"}), "what the tool \"WebFetch\" does is not known"),
        ("shell", json!({"command": ["ls", 1]}), "words must be texts"),
        ("shell", json!({"command": ["ls"], "env": {"A": "b"}}), "has no \"env\""),
        ("Edit", edit("x", "x"), "nothing is replaced"),
        ("Edit", with(edit("z", "x"), "replace_all", json!(true)), "does not have the text"),
        (
            "replace",
            with(edit("x", "y"), "expected_replacements", json!(3)),
            "2 times, and 3 times",
        ),
        ("apply_patch", json!({"input": "*** Begin Patch\n"}), "the patch, line"),
        ("Read", json!({"file_path": "a"}), "it changes no file"),
    ] {
        let found = called(&[(name, input.clone())], &[("a", "x\nx\n")]);
        assert!(found.starts_with("error ") && found.contains(expected), "{name} {input}\n{found}");
    }
    let in_folder = json!({"command": "cd d"});
    let found = called(&[("Bash", in_folder), ("Bash", command.clone())], &[]);
    assert!(found.contains("it changes the shell for the calls below it"), "{found}");
    let back = json!({"command": "rm -rf $_/x"});
    let found = called(&[("Bash", command.clone()), ("Bash", back)], &[]);
    assert!(found.contains("$_ is about the calls above it"), "{found}");
    let patch = json!({"command": ["bash", "-lc", "apply_patch <<E\n*** Begin Patch\nE"]});
    assert!(called(&[("shell", patch)], &[]).contains("part of the agent"));
    let write = json!({"file_path": "a", "content": ""});
    let found = called(&[("Bash", command.clone()), ("Write", write)], &[]);
    assert!(found.contains("some calls run commands and some change files"), "{found}");
    let found = called(&[("Bash", command.clone()), ("Read", json!({}))], &[]);
    assert_eq!(found, "$ ls\nnote 1: Read only reads, and is left out\n");
    let found = called(&[("Bash", with(command, "dangerouslyDisableSandbox", json!(true)))], &[]);
    assert!(found.contains("warning 1: \"dangerouslyDisableSandbox\" asks for more"), "{found}");
}

/// What tools and people say is not taken for a call, and no call is made again.
#[test]
fn only_open_calls_of_the_model_are_taken() {
    let call = json!({"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls"}});
    let of = |value: Value| open(value.to_string().as_bytes(), &NoFiles).is_none();
    assert!(of(json!({"role": "user", "content": [call]})));
    let result = json!({"type": "tool_result", "tool_use_id": "1", "content": [call]});
    assert!(of(json!([{"role": "user", "content": [result]}])));
    let answered =
        json!([{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]);
    assert!(shown(&answered.to_string(), &[]).contains("have results already"));
    let message =
        json!({"message": {"tool_calls": [{"function": {"name": "Bash", "arguments": "{}"}}]}});
    let two = json!({"choices": [message, message]});
    assert!(shown(&two.to_string(), &[]).contains("several answers"));
}

#[test]
fn fields_are_read_once() {
    let twice =
        r#"{"type": "tool_use", "name": "Bash", "input": {"command": "a", "command": "b"}}"#;
    assert!(shown(twice, &[]).contains("two fields of the same name"));
    let arguments = r#"{"command": "a", "command": "b"}"#;
    let twice = json!({"tool_calls": [{"function": {"name": "Bash", "arguments": arguments}}]});
    assert!(shown(&twice.to_string(), &[]).contains("two fields of the same name"));
    for text in
        ["{}", "[]", r#"{"content": "words"}"#, r#"{"output": [{"type": "message"}]}"#, "[1, 2]"]
    {
        assert!(open(text.as_bytes(), &NoFiles).is_none(), "{text}");
    }
}
