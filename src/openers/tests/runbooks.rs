//! Markdown and Atuin runbooks.

use super::*;

const MARKDOWN: &str = r#"# Deploy it

First the *build*.

```bash
cd app
make
```

## Check

- See `it`:

  ```console
  $ curl -s \
  >   localhost
  ok
  $ true
  ```

```yaml
a: b
```

    indented

~~~sh
echo "$HOME"
~~~
"#;

#[test]
fn what_a_block_takes_from_the_one_above_is_an_error() {
    for (first, second) in
        [("mkdir -p zz", "ls -d $_"), ("false", "echo $?"), ("sleep 9 &", "kill $!")]
    {
        let text = format!("```bash\n{first}\n```\n\n```bash\n{second}\n```\n");
        let found = shown(&text, &[]);
        assert!(found.starts_with("error "), "{text}\n{found}");
        let joined = format!("```bash\n{first}\n{second}\n```\n");
        assert!(!shown(&joined, &[]).starts_with("error "), "{joined}");
    }
}

#[test]
fn blocks_of_a_markdown_text_are_guided_steps() {
    assert_eq!(
        shown(MARKDOWN, &[]),
        "$ cd app\nmake\n$ cd app || exit\ncurl -s \\\n  localhost\n$ cd app || exit\ntrue\n\
         $ cd app || exit\necho \"$HOME\"\n\
         warning 22: left out: a block of yaml\n\
         note 1: what blocks change in the shell is repeated at the beginning of those below\n\
         note 25: left out: a block that does not say what it is\n"
    );
    let opened = open(MARKDOWN.as_bytes(), &NoFiles).unwrap();
    assert_eq!(opened.format, Format::Markdown);
    let plan: Value = serde_json::from_slice(&opened.plan.unwrap()).unwrap();
    assert_eq!((&plan["goal"], &plan["mode"]), (&json!("Deploy it"), &json!("guided")));
    assert_eq!(plan["steps"][0]["explanation"], "First the build.");
    let second = &plan["steps"][1];
    assert_eq!(
        (&second["description"], &second["explanation"], &second["expectedOutput"]),
        (&json!("Check"), &json!("See it:"), &json!("ok"))
    );
}

#[test]
fn what_blocks_share_is_said_or_refused() {
    let block = |code: &&str| format!("```sh\n{code}\n```\n");
    for (codes, expected) in [
        (vec!["$ git switch main\nSwitched"], "$ git switch main\nwarning 3: taken for the output"),
        (vec!["$ rm x \\\n$ ls"], "error 3: a command begins before the one above ends"),
        (vec!["make\nsource env", "ls"], "error 3: \"source env\" may change the shell"),
        (vec!["ls", "A=$(date)", "echo $A"], "error 5: \"A=$(date)\" may change the shell"),
        (vec!["$ ls", "$ ssh host", "$ rm x"], "error 5: \"ssh host\" may begin another shell"),
        // A continued line and output look alike only where the command goes on.
        (vec!["$ diff a b\n> rm x"], "$ diff a b\n"),
        (vec!["$ rm x \\\n    --help"], "error 3: the command above goes on"),
        (vec!["$ ls\n# rm x"], "error 3: a line that looks like a command behind another prompt"),
        (
            vec!["$ docker run x\n/ # rm x"],
            "error 3: a line that looks like a command behind another prompt",
        ),
        (
            vec!["$ mysql\nmysql> drop x"],
            "error 3: a line that looks like a command behind another prompt",
        ),
        (vec!["ls", "source env"], "$ ls\n$ source env\n"),
        (vec!["$ ls", "$ A=1"], "$ ls\n$ A=1\n"),
    ] {
        let found = shown(&codes.iter().map(block).collect::<String>(), &[]);
        assert!(found.starts_with(expected), "{codes:?}\n{found}");
    }
    let zsh = "```sh\ncd a\n```\n```zsh\nls\n```\n";
    assert!(shown(zsh, &[]).contains("error 5: blocks above change the shell"));
    assert_eq!(shown("```zsh\necho 'a'\n```\n", &[]), "$ zsh -c 'echo '\\''a'\\'''\n");
    assert!(shown("```sh\n```\n", &[]).contains("it has no command"));
    let found = shown("```sh\necho \0\n```\n", &[]);
    assert!(found.starts_with("error "), "no plan has such a character: {found}");
    for text in ["# Title\n\n```python\nx\n```\n", "```\nls\n```\n", "```basher\nls\n```\n"] {
        assert!(open(text.as_bytes(), &NoFiles).is_none(), "{text}");
    }
}

#[track_caller]
fn atuin(blocks: &str) -> String {
    shown(&format!("id: 1\nname: Release\nversion: 1\ncontent:\n{blocks}"), &[])
}

#[test]
fn blocks_of_an_atuin_runbook_are_guided_steps() {
    let blocks = "- type: paragraph
  content:
  - type: text
    text: Look
    styles: {}
- type: env
  props: {name: FOO, value: it's}
- type: var
  props: {name: v, value: '1.2'}
- type: directory
  props: {path: /srv/app}
- type: run
  props: {type: bash, name: Tag, code: 'git tag {{ var.v }}'}
- type: script
  props: {interpreter: zsh, name: All, code: ls, outputVariable: ''}
  children:
  - type: script
    props: {interpreter: bash, code: inner}
- type: local-directory
- type: run
  props: {type: bash, code: ''}
";
    assert_eq!(
        atuin(blocks),
        "[/srv/app] $ export FOO='it'\\''s'\ngit tag 1.2\n[/srv/app] $ export FOO='it'\\''s'\nzsh -c 'ls'\n\
         [/srv/app] $ export FOO='it'\\''s'\ninner\n\
         note 23: the folder that a person chooses here is the workspace of the plan\n"
    );
}

#[test]
fn blocks_that_no_step_can_be_are_errors() {
    for (blocks, expected) in [
        ("- type: http\n  props: {}\n", "error 5: a block of type \"http\" cannot be a step"),
        (
            "- type: script\n  props: {interpreter: python3, code: x}\n",
            "error 5: \"python3\" is no shell",
        ),
        (
            "- type: script\n  props: {code: 'x {{ var.a }}'}\n",
            "error 5: {{ var.a }} has no value before",
        ),
        ("- type: script\n  props: {code: 'x {{ now() }}'}\n", "error 5: {{ now() }} has no value"),
        (
            "- type: script\n  props: {code: 'x {% if a %}'}\n",
            "error 5: a template with statements",
        ),
        (
            "- type: script\n  props: {code: a, outputVariable: o}\n- type: run\n  props: {code: '{{ var.o }}'}\n",
            "error 7: {{ var.o }}",
        ),
        ("- type: env\n  props: {name: 'a b', value: x}\n", "error 5: \"a b\" is no name"),
        ("- type: script\n  props: {code: a, code: b}\n", "no runbook"),
        ("- type: [\n", "no runbook"),
    ] {
        let found = atuin(blocks);
        assert!(found.starts_with("error ") && found.contains(expected), "{blocks}\n{found}");
    }
    let newer = "version: 2\ncontent:\n- type: paragraph\n";
    assert!(shown(newer, &[]).contains("version 2 of runbooks is not known"));
}

/// What a person fills in becomes an input, if something uses it.
#[test]
fn blocks_that_a_person_fills_in_are_inputs() {
    let blocks = "- type: local-var
  props: {name: Host-Name}
- type: dropdown
  props: {name: env, optionsType: fixed, fixedOptions: 'Stage:staging, production', value: production}
- type: editor
  props: {variableName: unused, code: x}
- type: env
  props: {name: FOO, value: '{{ var.env }}'}
- type: directory
  props: {path: '/srv/{{ var.env }}'}
- type: run
  props: {type: bash, code: 'deploy {{ var.Host-Name }}'}
";
    let source = format!("id: 1\nname: Release\nversion: 1\ncontent:\n{blocks}");
    let opened = crate::openers::open(source.as_bytes(), &crate::openers::NoFiles).unwrap();
    let plan = parse(&opened.plan.unwrap()).into_shown().unwrap();
    let inputs: Vec<_> =
        plan.inputs.iter().map(|it| (it.name.as_str(), it.default.as_deref())).collect();
    assert_eq!(inputs, [("env", Some("production")), ("host_name", None)]);
    assert_eq!(plan.inputs[0].choices, ["staging", "production"]);
    assert_eq!(
        plan.steps[0].arguments["command"],
        "export FOO=\"${input_env}\"\ndeploy \"$input_host_name\""
    );
    assert_eq!(plan.steps[0].arguments["cwd"], "/srv/{{env}}");
    for (block, expected) in [
        (
            "- type: script\n  props: {interpreter: fish, code: 'a {{ var.x }}'}\n",
            "cannot be a reference",
        ),
        ("- type: env\n  props: {name: A, value: 'a {{ var.x }}'}\n", "only in part"),
        ("- type: var\n  props: {name: y, value: '{{ var.x }}'}\n", "is no part of a plan"),
        ("- type: script\n  props: {code: 'a {{ var.x | trim }}'}\n", "has no value before"),
    ] {
        let found = atuin(&format!("- type: local-var\n  props: {{name: x}}\n{block}"));
        assert!(found.contains(expected), "{block}\n{found}");
    }
}
