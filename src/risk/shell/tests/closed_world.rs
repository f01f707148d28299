//! Commands with words that bash evaluates again, hidden programs, exponential expansions, ineffective dry runs,
//! unknown options and wrappers: none may be rated too low.

use super::*;

fn at_least(level: RiskLevel, commands: &[&str]) {
    let lower: Vec<_> = commands
        .iter()
        .filter(|command| super::level(command) < level)
        .map(|command| format!("{command}: {}", verdict_on(command).rule))
        .collect();
    assert_eq!(lower, Vec::<String>::new());
}

#[test]
fn a_substitution_in_an_evaluated_word_is_dangerous() {
    at_least(
        RiskLevel::Dangerous,
        &[
            "[[ 'a[$(id)]' -eq 0 ]]",
            "[ -v 'a[$(id)]' ]",
            "[[ -v 'a[$(id)]' ]]",
            "printf -v 'a[`id`]' x",
            "unset 'a[$(id)]'",
            "declare -i 'x=a[$(id)]'",
            "let 'a[$(id)]=1'",
            "read 'a[$(id)]'",
            "x='$(id)'; echo \"${x@P}\"",
            "a='b[$(id)]'; echo $((a))",
            "a='b[$(id)]'; (( a ))",
            "a='b[$(id)]'; echo ${c[a]}",
            "a='b[$(id)]'; echo ${c:a}",
            "a[$(rm -rf x)]=1",
            "read x; (( x ))",
            "x=$(curl -s https://example.com); echo $((x))",
            "bash -c 'x=$(curl -s https://example.com); echo $((x))'",
            "${ rm -rf x; }",
        ],
    );
}

#[test]
fn every_command_of_a_substitution_may_print() {
    at_least(
        RiskLevel::Dangerous,
        &[
            "x=$(curl -s https://example.com; wc -l a); echo $((x))",
            "echo $(( $(curl -s https://example.com && :) + 1 ))",
            "x=$({ cat a; wc -l b; }); echo $((x))",
            "x=$(curl -s https://example.com > /dev/stdout; wc -l a); echo $((x))",
            "x=$(expr \"$(curl -s https://example.com)\"); echo $((x))",
        ],
    );
    for command in [
        "x=$(cd src && cat a | wc -l); echo $((x))",
        "x=$(sort a > b; wc -l < b); echo $((x))",
        "x=$(git rev-list --count HEAD || echo 0); echo $((x))",
    ] {
        assert_eq!(level(command), RiskLevel::Caution, "{command}");
    }
}

#[test]
fn a_nameref_to_a_listed_variable_is_dangerous() {
    at_least(
        RiskLevel::Dangerous,
        &["declare -n r=LD_PRELOAD; r=a.so", "declare -n r=DYLD_INSERT_LIBRARIES; r=a.dylib"],
    );
    assert_eq!(level("declare -n r=name; r=a"), RiskLevel::Caution);
}

#[test]
fn no_number_of_variables_hides_another_one() {
    let names = |before: &str, after: &str| -> String {
        (0..300).map(|index| format!("{before}n{index}{after}")).collect()
    };
    at_least(
        RiskLevel::Dangerous,
        &[
            &format!("x='$(id)'; echo $(({}x))", names("", " + ")),
            &format!("{}x=/etc/passwd; cp a {}$x", names("", "= "), names("$", "")),
        ],
    );
}

#[test]
fn an_evaluated_word_is_never_safe() {
    at_least(
        RiskLevel::Caution,
        &[
            "[[ $x -eq 1 ]]",
            "[ -v x ]",
            "printf -v x y",
            "unset x",
            "declare -i x=1",
            "let x=1",
            "read x",
            "echo ${x@P}",
            "echo ${!x}",
            "echo ${a[x]}",
            "echo ${a:x}",
            "echo $((x + 1))",
            "echo $[x]",
            "a[i]=1",
        ],
    );
    for command in [
        "echo $((1 + 2))",
        "echo ${a[@]}",
        "echo ${a[0]}",
        "echo ${a:1:2}",
        "echo ${!a[@]}",
        "[[ -f a ]]",
    ] {
        assert_eq!(level(command), RiskLevel::Safe, "{command}");
    }
}

// A quoted list after a declaring builtin is expanded once more, as in real bash.
#[test]
fn a_quoted_list_is_evaluated_again() {
    at_least(
        RiskLevel::Dangerous,
        &[
            "declare -a 'rows=(`id`)'",
            "declare -A \"by=([x]=\\$(id))\"",
            "typeset -ga 'rows+=($(id))'",
            "f() { local -a 'rows=([$(id)]=1)'; }; f",
            "readonly -a rows='(<(id) $(id))'",
            "builtin declare -a 'rows=(${x:-$(id)})'",
            "declare -a rows; declare 'rows=($(id))'",
            "v='($(id))'; declare -a rows=$v",
            "v='($(id))'; declare -a \"rows=$v\"",
        ],
    );
    at_least(
        RiskLevel::Caution,
        &["declare -a 'rows=(a b)'", "declare -a \"rows=$v\"", "read -a rows; declare \"rows=$v\""],
    );
    for command in ["declare -a rows=(a b)", "f() { local all=(\"$@\"); }; f a", "local x=1"] {
        assert_eq!(level(command), RiskLevel::Safe, "{command}");
    }
}

// bash evaluates any value that is assigned to some of its variables.
#[test]
fn a_variable_that_calculates_evaluates_its_input() {
    at_least(
        RiskLevel::Dangerous,
        &[
            "declare SECONDS='a[$(id)]'",
            "export RANDOM='a[$(id)]'",
            "for OPTIND in 'a[$(id)]'; do ls; done",
            "read SECONDS <<< 'a[$(id)]'",
            "printf -v RANDOM %s 'a[$(id)]'",
            "declare -i n; read n < a.txt",
            "declare -i n; for n in 'a[$(id)]'; do ls; done",
            "declare -i n; k='$(id)'; n=\"a[$k]\"",
            "wait -np 'a[$(id)]'",
            "[ x = y -o -v z -o -v 'a[$(id)]' ]",
        ],
    );
    for command in ["SECONDS=0; ls", "RANDOM=7", "printf -v SECONDS %d 3"] {
        assert_eq!(level(command), RiskLevel::Caution, "{command}");
    }
}

#[test]
fn program_is_known_by_any_path() {
    for path in [
        "//bin//rm",
        "/bin/./rm",
        "/usr/bin/../bin/rm",
        "/proc/self/root/bin/rm",
        "/proc/1/root/usr/bin/rm",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm",
        "busybox rm",
        "/opt/x/rm",
        "./rm",
        "/proc/self/root/proc/self/root/bin/rm",
    ] {
        at_least(RiskLevel::Dangerous, &[&format!("{path} -rf x")]);
    }
    at_least(
        RiskLevel::Dangerous,
        &["python3.12 -c x", "perl5.36 -ex", "ruby3.1 -ex", "lua5.4 -e x", "node20 -e x"],
    );
}

#[test]
fn exponential_expansion_reaches_a_limit() {
    let doubled = |of: &dyn Fn(usize) -> String, times: usize| {
        (1..times).map(of).collect::<Vec<_>>().join("; ")
    };
    for command in [
        format!("a0=xxxxxxxxxxxx; {}", doubled(&|i| format!("a{i}=$a{0}$a{0}", i - 1), 60)),
        format!("a0=x; {}; echo $a40", doubled(&|i| format!("export a{i}=$a{0}$a{0}", i - 1), 41)),
        format!("{}; bash -c \"$a\"", doubled(&|i| format!("a={i}"), 40)),
        format!("{} echo", "xargs -I A ".repeat(8)) + &"A".repeat(50_000),
        format!("f() {{ echo {}; }}; f {}", "$1".repeat(10_000), "x".repeat(10_000)),
        format!("find {} -exec echo {} \\;", "a".repeat(20_000), "{}".repeat(10_000)),
        format!("rm {{{}}}", (0..70).map(|i| i.to_string()).collect::<Vec<_>>().join(",")),
    ] {
        assert!(level(&command) >= RiskLevel::Dangerous, "{:.80}", command);
    }
}

#[test]
fn every_value_of_a_variable_counts() {
    at_least(
        RiskLevel::Dangerous,
        &["c=ls; c='rm -rf x'; bash -c \"$c\"", "for c in ls 'rm -rf x'; do bash -c \"$c\"; done"],
    );
}

#[test]
fn ineffective_dry_runs_do_not_count() {
    at_least(
        RiskLevel::Dangerous,
        &[
            "npm publish --tag --dry-run",
            "npm publish --dry-run --no-dry-run",
            "kubectl delete pod x --dry-run=none",
            "kubectl delete -f --dry-run=client x",
            "rsync -a --delete -e --dry-run a b",
            "rsync -a --delete -en a b",
            "git push --force -- --dry-run",
            "git clean -fde n",
            "git clean -fd -- -n",
            "rm -rf x --help",
        ],
    );
    for command in [
        "npm publish --dry-run",
        "git clean -fdn",
        "rsync -avn --delete a b",
        "cargo publish --dry-run",
    ] {
        assert!(level(command) < RiskLevel::Dangerous, "{command}");
    }
}

#[test]
fn unknown_global_option_hides_no_subcommand() {
    at_least(
        RiskLevel::Dangerous,
        &[
            "cargo +nightly publish",
            "npm --loglevel silent publish",
            "docker compose --ansi never down -v",
            "kubectl --v 3 delete pod x",
            "git --some-option log push --force",
            "terraform -chdir=x destroy",
        ],
    );
}

#[test]
fn arguments_of_unknown_programs_are_rated() {
    at_least(
        RiskLevel::Dangerous,
        &[
            "foo rm -rf x",
            "foo --bar 3 git push --force",
            "./wrapper rm -rf x",
            "RM -rf x",
            "alias ls='rm -rf x'",
        ],
    );
    for command in [
        "./deploy.sh --delete-old",
        "alias ll='ls -l'",
        "docker stop web",
        "echo $(echo x)",
        "$(echo ls)",
    ] {
        assert!(level(command) < RiskLevel::Dangerous, "{command}");
    }
}

#[test]
fn only_harmless_variables_leave_a_command_safe() {
    for name in ["LANG", "LC_ALL", "TZ", "NO_COLOR", "COLUMNS"] {
        assert_eq!(level(&format!("{name}=C ls")), RiskLevel::Safe, "{name}");
    }
    at_least(RiskLevel::Caution, &["FOO=bar ls", "env FOO=bar ls", "export FOO=bar", "FOO=bar"]);
    for name in [
        "GIT_DIR",
        "HOME",
        "XDG_CONFIG_HOME",
        "TAR_OPTIONS",
        "DOCKER_HOST",
        "KUBECONFIG",
        "LD_PRELOAD",
    ] {
        at_least(
            RiskLevel::Dangerous,
            &[&format!("{name}=/tmp/x ls"), &format!("env {name}=/tmp/x ls")],
        );
    }
}

#[test]
fn wrappers_keep_the_inner_level() {
    let wrapped = [
        "nice -n 5",
        "timeout 5",
        "env A=b",
        "nohup",
        "setsid -w",
        "foo",
        "sudo",
        "ssh host",
        "xargs",
    ];
    for wrapper in wrapped {
        at_least(RiskLevel::Dangerous, &[&format!("{wrapper} rm -rf x")]);
    }
    assert_eq!(level(&format!("{}ls", "nice ".repeat(7))), RiskLevel::Safe);
    at_least(RiskLevel::Dangerous, &[&format!("{}ls", "nice ".repeat(10))]);
    at_least(
        RiskLevel::Caution,
        &["nice --such ls", "timeout -Z 5 ls", "strace -o f ls", "ssh host ls", "sudo ls"],
    );
}

#[test]
fn every_property_of_the_table_exists() {
    for rule in &TABLE.as_ref().unwrap().rule {
        let unknown =
            rule.patterns.iter().any(super::super::pattern::Pattern::has_unknown_property);
        assert!(!unknown, "{}", rule.id);
    }
}

#[test]
fn every_pattern_of_the_table_compiles() {
    let table = TABLE.as_ref().unwrap();
    let of_rules = table.rule.iter().flat_map(|rule| &rule.patterns).flat_map(|it| it.patterns());
    let patterns: Vec<_> = of_rules
        .chain(table.known.iter().flat_map(|it| it.patterns()))
        .chain(table.variables.values.values())
        .chain(table.embedded.patterns())
        .chain(table.elsewhere.patterns())
        .chain(table.inline.iter().map(|it| &it.options))
        .chain(table.admin.patterns())
        .chain([&table.packages.known])
        .chain(table.verbs.patterns())
        .collect();
    assert!(patterns.len() > 450, "{}", patterns.len());
    for pattern in patterns {
        assert!(pattern.compiled().is_some(), "{pattern:?}");
    }
}
