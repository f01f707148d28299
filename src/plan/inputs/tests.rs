use std::process::{Command, Output};

use proptest::prelude::*;

use super::command::Referring;
use super::*;

fn declared(name: &str) -> bool {
    matches!(name, "x" | "dir" | "n")
}

fn of(command: &str) -> Referring<'_> {
    refer(command, &declared)
}

#[test]
fn templates_are_replaced_by_references_in_their_quotes() {
    for (command, expected) in [
        ("ls {{dir}}", "ls \"$input_dir\""),
        ("ls \"{{dir}}\"", "ls \"${input_dir}\""),
        ("ls \"a{{dir}}b\" c{{x}}d", "ls \"a${input_dir}b\" c\"$input_x\"d"),
        ("{{x}}{{x}}", "\"$input_x\"\"$input_x\""),
        ("echo '{{' {{x}} }}", "echo '{{' \"$input_x\" }}"),
        ("a=\"$(date)\" echo {{x}}", "a=\"$(date)\" echo \"$input_x\""),
        (
            "echo $(dirname \"$input_dir\") \"{{x}}\"",
            "echo $(dirname \"$input_dir\") \"${input_x}\"",
        ),
        ("echo ${HOME} {{x}}", "echo ${HOME} \"$input_x\""),
        ("echo ${HOME:-'a b'} {{x}}", "echo ${HOME:-'a b'} \"$input_x\""),
        ("[ -f {{x}} ] && rm {{x}}", "[ -f \"$input_x\" ] && rm \"$input_x\""),
        ("a\\\n b {{x}} # comment", "a\\\n b \"$input_x\" # comment"),
        ("cat <<<{{x}}", "cat <<<\"$input_x\""),
        ("y={{x}}; (ls {{dir}}) > {{n}}", "y=\"$input_x\"; (ls \"$input_dir\") > \"$input_n\""),
        ("docker ps --format '{{.Names}}'", "docker ps --format '{{.Names}}'"),
        ("echo {{{x}},b}", "echo {\"$input_x\",b}"),
    ] {
        let found = of(command);
        assert_eq!(
            (found.text.as_str(), found.faults.as_slice()),
            (expected, [].as_slice()),
            "{command}"
        );
        // A plan that continues this one has the replaced command.
        assert_eq!(of(expected).text, expected);
        assert_eq!(of(expected).faults, []);
        let sorted = |mut used: Vec<String>| {
            used.sort();
            used
        };
        assert_eq!(sorted(of(expected).used), sorted(found.used));
    }
}

#[test]
fn templates_are_refused_where_the_quotes_are_not_plain() {
    for command in [
        "echo '{{x}}'",
        "echo \\{{x}}",
        "echo \"\\{{x}}\"",
        "echo $'{{x}}'",
        "echo $\"{{x}}\"",
        "echo `ls {{x}}`",
        "echo $(ls {{x}})",
        "echo \"$(ls {{x}})\"",
        "echo $((1+{{n}}))",
        "echo $[{{n}}]",
        "((n = {{n}}))",
        "[[ {{n}} -eq 1 ]]",
        "echo ${y:-{{x}}}",
        "echo ${{x}}",
        "a[{{n}}]=1",
        "echo # {{x}}",
        "cat <<E\n{{x}}\nE",
        "cat <<'E' {{x}}\nE",
        "echo `date` {{x}}",
        "echo \"$(case a in a) echo \"b\" ;; esac) {{x}}\"",
        "echo $(echo \"`date`\") {{x}}",
        "echo ' {{x}}",
        "ls [{{x}}]",
    ] {
        let faults = of(command).faults;
        let fault = faults.iter().any(|it| matches!(it, CommandFault::Template("x" | "n")));
        assert!(fault, "{command}: {faults:?}");
        assert!(of(command).text.contains("{{"), "{command}");
    }
}

#[test]
fn references_are_quoted_and_declared() {
    for (command, expected) in [
        ("rm $input_x", vec![CommandFault::Unquoted("x")]),
        ("rm ${input_x%/}", vec![CommandFault::Unquoted("x")]),
        ("rm \"$input_x\" \"${input_x%/}\" ${#input_x}", vec![]),
        ("rm \"$input_other\"", vec![CommandFault::Undeclared("other")]),
        ("rm \"${input_other:-a}\" '$input_other'", vec![CommandFault::Undeclared("other")]),
        ("rm \"$input_xy\" $my_input_x input_y", vec![CommandFault::Undeclared("xy")]),
        ("bash -c 'rm \"$input_x\"'", vec![]),
    ] {
        assert_eq!(of(command).faults, expected, "{command}");
    }
    assert_eq!(of("python3 -c 'import os; os.environ[\"input_n\"]' \"$input_x\"").used, ["n", "x"]);
    let x = CommandInput { name: "x".to_owned(), value: None, secret: false };
    assert!(!x.may_change_in("rm \"$input_x\" \"${input_x#a}\""));
    for command in ["input_x=b; rm \"$input_x\"", "read -r input_x", "unset input_x"] {
        assert!(x.may_change_in(command), "{command}");
    }
}

#[test]
fn values_are_filled_in_once() {
    let value = |name: &str| match name {
        "x" => Some("{{dir}}"),
        "dir" => Some("{{x}}"),
        _ => None,
    };
    let filled = |text: &str| fill(text, 100, value).unwrap();
    assert_eq!(
        filled("a{{x}}{{dir}}é{{other}}{{X}}{{ x }}{{x"),
        "a{{dir}}{{x}}é{{other}}{{X}}{{ x }}{{x"
    );
    assert_eq!(filled("{{{x}}}"), "{{{dir}}}");
    assert_eq!(fill(&"{{x}}".repeat(15), 100, value), None, "the limit holds for what results");
    let braces = "{".repeat(1 << 20);
    assert_eq!(fill(&braces, braces.len(), value), Some(braces));
}

/// What a shell makes of a command, with a value in the environment.
#[expect(clippy::disallowed_methods, reason = "the shells are what the scanner is compared with")]
fn in_shell(shell: &str, command: &str, value: &str) -> Output {
    Command::new(shell)
        .args(["-c", command])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("input_x", value)
        .output()
        .unwrap()
}

/// What a shell prints for a command that must succeed.
fn printed(shell: &str, command: &str, value: &str) -> Vec<u8> {
    let output = in_shell(shell, command, value);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is in a value, it stays one word and runs nothing.
    #[test]
    fn no_value_changes_the_words_of_a_command(
        value in "([ -~]|[\"'$`\\\\\n\t*?\\[\\]{}()<>|&;!#~]|é|/\\*|\\$\\(echo a\\)|`echo a`|\\{\\{x\\}\\}){0,24}",
    ) {
        let marked = |text: &str| format!("<{text}>").into_bytes();
        for (template, expected) in [
            ("printf '<%s>' {{x}}", marked(&value)),
            ("printf '<%s>' \"{{x}}\"", marked(&value)),
            ("printf '<%s>' a{{x}}b", marked(&format!("a{value}b"))),
            ("printf '<%s>' \"a {{x}} b\"", marked(&format!("a {value} b"))),
            ("y={{x}}; printf '<%s>' \"$y\"", marked(&value)),
            ("(printf '<%s>' {{x}})", marked(&value)),
            ("for i in {{x}}; do printf '<%s>' \"$i\"; done", marked(&value)),
            ("case {{x}} in {{x}}) printf '<%s>' \"$input_x\";; esac", marked(&value)),
        ] {
            let found = of(template);
            prop_assert_eq!(&found.faults, &[]);
            for shell in ["bash", "sh"] {
                prop_assert_eq!(&printed(shell, &found.text, &value), &expected, "{}", template);
            }
        }
    }

    /// What the scanner replaces is inside of the quotes that bash sees: the value stays within one printed word, whatever
    /// stands before the template.
    #[test]
    fn no_text_before_a_template_breaks_its_quotes(
        before in "([a-z =./-]|'[a-z ]{0,3}'|\"[a-z $]{0,3}\"|\\\\[ -~]|\\$\\{y\\}|\\$\\(echo '\\)'\\)|\\$y){0,8}",
    ) {
        let command = format!("printf '<%s>' {before}{{{{x}}}}");
        let found = of(&command);
        prop_assume!(found.faults.is_empty());
        let value = "a b*\"'$(echo c)";
        let output = in_shell("bash", &found.text, value);
        prop_assume!(output.status.success());
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        prop_assert!(printed.contains(value), "{}: {}", found.text, printed);
    }
}

/// The arguments of a step say in this way that an input is a secret, so no value can say it.
#[test]
fn no_value_looks_like_a_secret() {
    for secret in [true, false] {
        let input = PlanInput { name: "x".to_owned(), secret, ..PlanInput::default() };
        assert!(input.refuses(SECRET).is_some_and(|why| why.contains(SECRET)));
        assert_eq!(input.refuses("(secret) "), None);
    }
    let given = CommandInput { name: "x".to_owned(), value: None, secret: true };
    let arguments = BTreeMap::from([(given.variable(), given.argument().unwrap())]);
    assert_eq!(CommandInput::of_arguments(&arguments), [given]);
}
