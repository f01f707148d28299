//! Inputs of a plan: a value that may become code or several words is dangerous, whatever it is.

use super::*;
use crate::plan::CommandInput;

fn verdict_with(command: &str, value: Option<&str>) -> CommandVerdict {
    let input = |name: &str| CommandInput {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        secret: value.is_none(),
    };
    let inputs = [input("x"), input("y")];
    of_local_command(command, Shell::Bash, &UserRules::default(), Surroundings::NONE, &inputs)
}

fn assert_never_followed(commands: &[&str]) {
    let mut faults = Vec::new();
    for command in commands {
        for value in [Some("plain"), None] {
            let found = verdict_with(command, value);
            if found.level < RiskLevel::Dangerous {
                faults.push(format!(
                    "{command} {value:?}: {} {}",
                    found.rule,
                    found.level.as_str()
                ));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn values_that_the_shell_keeps_are_dangerous() {
    assert_never_followed(&[
        "z=\"$input_x\"; find . $z",
        "z=\"$input_x\"; echo \"$z\"",
        "z=a\"${input_x}\"",
        "export Z=\"$input_x\"",
        "declare z=\"$input_x\"; echo $((z))",
        "local z=\"$input_x\"",
        "readonly z=\"$input_x\"",
        "z+=\"$input_x\"",
        "z=(\"$input_x\")",
        "z[0]=\"$input_x\"",
        "for z in \"$input_x\"; do find . $z; done",
        "f() { echo $(($1)); }; f \"$input_x\"",
        "f() { find . $1; }; f a \"$input_x\"",
        "function f { find . $1; }; f \"$input_x\"",
        "set -- \"$input_x\"; find . $1",
        "set -- \"$input_x\"; find . $@",
        "echo \"$input_x\"; find . $_",
        "echo \"$input_x\"; find . ${_}",
        "v=input_x; echo ${!v}",
        "v=input_x; find . ${!v}",
        "echo ${!input_@}; echo \"$input_x\"",
        "printf -v z \"$input_x\"; find . $z",
        "printf -v z '%s' \"$input_x\"; find . $z",
        "read z <<< \"$input_x\"; find . $z",
        "mapfile z <<< \"$input_x\"; find . $z",
        "echo \"$input_x\" | { read z; find . $z; }",
        "echo \"$input_x\" | while read z; do find . $z; done",
        "find . $(echo \"$input_x\")",
        "z=$(echo \"$input_x\"); find . $z",
        "echo \"$input_x\" > f; find . $(cat f)",
        "echo \"$input_x\" | tee f; . ./f",
        "echo \"$input_x\" > f.sh; source f.sh",
        "cat <<E > f; find . $(cat f)\n$input_x\nE",
        "getopts a \"$input_x\"",
        "unset \"$input_x\"",
        "let \"$input_x\"",
        "trap \"$input_x\" EXIT",
        "alias z=\"$input_x\"",
        "eval \"$input_x\"",
        "eval echo \"$input_x\"",
        "wait \"$input_x\"",
        "test -v \"$input_x\"",
        "[ \"$input_x\" \"$input_y\" ]",
        "[[ \"$input_x\" -eq 1 ]]",
        "(( input_x > 1 ))",
        "echo $((input_x))",
        "echo \"${input_x@P}\"",
        "echo \"${a[$input_x]}\"",
        "echo ${a:$input_x}",
        "echo \"${a:-$(echo $input_x)}\"",
        "input_x=a; echo \"$input_x\"",
        "export input_x=a; echo \"$input_x\"",
        "read input_x; echo \"$input_x\"",
        "printf \"$input_x\"",
        "echo `echo \"$input_x\"`",
        "diff <(echo \"$input_x\") b",
        "Z=\"$input_x\" eval 'find . $Z'",
        "Z=\"$input_x\" bash -c 'find . $Z'",
    ]);
}

#[test]
fn values_that_programs_take_as_code_are_dangerous() {
    assert_never_followed(&[
        "su -c \"$input_x\"",
        "su -c\"$input_x\"",
        "su - user -c \"$input_x\"",
        "bash -c \"$input_x\"",
        "bash -c \"echo $input_x\"",
        "bash -lc \"$input_x\"",
        "bash -c 'find . $1' _ \"$input_x\"",
        "bash -c 'find . $input_x'",
        "bash \"$input_x\"",
        "sudo -u user bash -c \"$input_x\"",
        "timeout 5 sh -c \"$input_x\"",
        "env -S \"$input_x\"",
        "env \"$input_x\" ls",
        "env Z=\"$input_x\" ls",
        "ssh host \"$input_x\"",
        "ssh host ls \"$input_x\"",
        "watch \"$input_x\"",
        "parallel \"$input_x\" ::: a",
        "python3 -c \"$input_x\"",
        "python3 -c \"print('$input_x')\"",
        "perl -e \"$input_x\"",
        "node -e \"$input_x\"",
        "python3 \"$input_x\"",
        "find . -exec sh -c \"$input_x\" \\;",
        "xargs sh -c \"$input_x\"",
        "echo \"$input_x\" | sh",
        "echo \"$input_x\" | bash -s",
        "echo \"$input_x\" | sudo sh",
        "echo \"$input_x\" | python3",
        "echo \"$input_x\" | xargs ls",
        "bash <<< \"$input_x\"",
        "bash <<E\n$input_x\nE",
        "{ echo \"$input_x\"; } | sh",
        "git -c core.pager=\"$input_x\" log",
        "tar --to-command=\"$input_x\" -xf a.tar",
        "\"$input_x\" a",
        "command \"$input_x\"",
        "exec \"$input_x\"",
    ]);
}

/// A value that is known is judged as text. One that is not known may be any text.
#[test]
fn unknown_values_in_scripts_are_dangerous() {
    for command in [
        "sed \"s/a/$input_x/\" f",
        "sed -e \"s/a/$input_x/\" f",
        "sed -n \"${input_x}p\" f",
        "awk \"/$input_x/\" f",
        "psql -c \"select '$input_x'\"",
        "mysql -e \"$input_x\"",
        "mysql --execute=\"$input_x\"",
    ] {
        let found = verdict_with(command, None);
        assert!(found.level >= RiskLevel::Dangerous, "{command}: {}", found.rule);
    }
    let found = verdict_with("sed \"s/a/$input_x/\" f", Some("b"));
    assert_eq!(found.level, RiskLevel::Safe, "{}", found.rule);
    let found = verdict_with("sed \"s/a/$input_x\" f", Some("b/e"));
    assert!(found.level >= RiskLevel::Dangerous, "{}", found.rule);
}

#[test]
fn values_as_words_of_programs_are_not_dangerous() {
    for command in [
        "echo \"$input_x\"",
        "echo \"a ${input_x} b\"'c'",
        "printf '%s\\n' \"$input_x\" \"$input_y\"",
        "grep -rn -- \"$input_x\" src",
        "curl -fsS -o out.json \"https://example.com/$input_x\"",
        "cp \"$input_x\" target/",
        "PGPASSWORD=\"$input_x\" psql -l",
        "TOKEN=\"$input_x\" ./deploy.sh --env \"$input_y\"",
        "bash deploy.sh \"$input_x\"",
        "python3 tools/deploy.py --env \"$input_x\"",
        "make report ENV=\"$input_x\"",
        "timeout 5 grep \"$input_x\" f",
        "sudo --preserve-env=input_x ./install.sh",
        "printenv input_x",
        "cd \"$input_x\" && ls",
        "if [ \"$input_x\" = a ]; then ls; fi",
        "[ -n \"$input_x\" ] && ls",
        "echo \"$input_x\" | grep a",
        "printf %s \"$input_x\" | docker login --password-stdin -u me",
        "cat <<E\n$input_x and ${input_y}\nE",
        "for f in a b; do cp \"$f\" \"$input_x\"; done",
        "git commit -m \"$input_x\"",
        "sed -n 1,5p \"$input_x\"",
        "awk -v n=\"$input_x\" '{print n}' f",
        "echo \"$input_x\" > note.txt",
        "tar -xf \"$input_x\"",
    ] {
        for value in [Some("plain"), None] {
            let found = verdict_with(command, value);
            assert_ne!(found.rule, "input-as-code", "{command} {value:?}: {}", found.reason);
        }
        let found = verdict_with(command, Some("plain"));
        assert!(found.level < RiskLevel::Dangerous, "{command}: {}", found.rule);
    }
}
