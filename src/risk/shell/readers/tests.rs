//! Every entry of `readers.toml`: its examples are safe, and modified examples are not.

use super::super::tests::{level, verdict_on};
use super::*;
use crate::plan::RiskLevel;

fn readers() -> &'static Entries {
    ENTRIES.as_ref().unwrap()
}

#[test]
fn every_example_of_a_reader_has_its_level() {
    let mut faults = Vec::new();
    for reader in &readers().reader {
        assert!(!reader.examples.is_empty(), "{:?}", reader.names);
        assert!(!reader.names.is_empty(), "{:?}", reader.examples);
        for example in &reader.examples {
            let verdict = verdict_on(example);
            let expected =
                if reader.loads.is_empty() { RiskLevel::Safe } else { RiskLevel::Caution };
            if verdict.level != expected {
                faults.push(format!("{example}: {} by {}", verdict.level.as_str(), verdict.rule));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}

/// Checks that no example is safe after `modify`. `modify` returns `None` for an
/// example that it does not modify.
fn assert_not_safe(modify: impl Fn(&Entry, &str) -> Option<String>) {
    let (mut faults, mut tried) = (Vec::new(), 0);
    for reader in &readers().reader {
        for example in &reader.examples {
            let Some(text) = modify(reader, example) else { continue };
            tried += 1;
            if level(&text) == RiskLevel::Safe {
                faults.push(text);
            }
        }
    }
    assert!(tried > 100, "{tried}");
    assert_eq!(faults, Vec::<String>::new());
}

fn is_open(reader: &Entry) -> bool {
    reader.operands == Operands::Any
}

#[test]
fn an_unknown_option_is_not_safe() {
    for option in ["--such-an-option", "--such=x", "-\u{40}", "--output=/x", "-o/x"] {
        assert_not_safe(|reader, example| {
            let listed = match option {
                "-o/x" => {
                    reader.short.contains('o')
                        || reader.value.contains('o')
                        || reader.long.contains("-o=")
                }
                "--output=/x" => reader.options.iter().any(|it| it.name == "output"),
                _ => false,
            };
            (!is_open(reader) && !listed && !example.contains(" -- "))
                .then(|| format!("{example} {option}"))
        });
    }
}

#[test]
fn abbreviated_options_are_not_safe() {
    assert_not_safe(|reader, example| {
        let long = reader.options.iter().find(|it| it.name.len() > 6 && !reader.single)?;
        let short = long.name.get(..4)?;
        let named = reader.options.iter().any(|it| it.name == short);
        (!named && !is_open(reader) && !example.contains(" -- "))
            .then(|| format!("{example} --{short}"))
    });
}

#[test]
fn flags_with_attached_values_are_not_safe() {
    assert_not_safe(|reader, example| {
        let flag = reader.options.iter().find(|it| it.takes == Takes::Nothing && !reader.single)?;
        let name = &flag.name;
        (!is_open(reader) && !example.contains(" -- ")).then(|| format!("{example} --{name}=x"))
    });
}

#[test]
fn unknown_words_are_not_safe() {
    for word in ["$(date)", "\"$UNSET\"", "$1"] {
        assert_not_safe(|reader, example| {
            let open = is_open(reader) || reader.language == Some(Language::Test);
            (!open).then(|| format!("{example} {word}"))
        });
    }
}

#[test]
fn options_that_do_harm_are_dangerous() {
    let mut faults = Vec::new();
    for reader in &readers().reader {
        let example = reader.examples[0].split(" -- ").next().unwrap();
        for harm in &reader.harm {
            let value =
                if harm.starts_with("--") { format!("{harm}=x") } else { format!("{harm} x") };
            let text = format!("{example} {value}");
            if level(&text) < RiskLevel::Dangerous {
                faults.push(text);
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn sed_scripts_are_parsed_like_sed() {
    for script in [
        "s/a/b/",
        "s#/#\\##g",
        "1,5p",
        "$!d",
        "/a/,/b/{s/x/y/;p}",
        "/^$/d;s/a/b/2p",
        "y/ab/ba/",
        "s/[/]/_/",
        "1~2d",
        "/x/a\\\ntext e w",
        "$=",
        "5q",
        ":a;N;$!ba;s/\\n/ /g",
        "\\,x,p",
    ] {
        assert_ne!(sed::script(script), CallEffect::Harmful, "{script}");
    }
    for script in [
        "e",
        "1e id",
        "s/a/id/e",
        "s/a/b/ge",
        "s/a/b/w f",
        "w f",
        "/x/W f",
        "$!{w f\n}",
        "s,a,b,gew f",
        "1,/x/e id",
        "s/a/b/;e id",
        "s|/|e|e",
        "\\xaxe id",
        "/a/I e",
        "}",
        "{p",
        "s/a/b/e;p",
        "y/a/b/;e",
        "1!e",
    ] {
        assert_eq!(sed::script(script), CallEffect::Harmful, "{script}");
    }
}

#[test]
fn awk_programs_that_run_or_write() {
    for program in [
        "{print $1}",
        "NR==1",
        "$3 > 5 {print}",
        "/a|b/ {n++} END {print n}",
        "{print \"a|b\" $1}",
        "a || b",
    ] {
        assert_eq!(awk::program(program), CallEffect::ReadsOnly, "{program}");
    }
    for program in [
        "BEGIN{system(\"id\")}",
        "{print | \"sh\"}",
        "{\"id\" | getline x}",
        "@load \"x\"",
        "{f=\"sys\" \"tem\"; @f(\"id\")}",
        "{print > \"/etc/x\"}",
        "{printf \"a\" >> f}",
        "{print |& \"sh\"}",
        "BEGIN { while ((getline l < f) > 0) print l }",
    ] {
        assert_ne!(awk::program(program), CallEffect::ReadsOnly, "{program}");
    }
}

#[test]
fn every_pattern_of_the_readers_compiles() {
    for pattern in readers().reader.iter().flat_map(|it| &it.only) {
        assert!(pattern.compiled().is_some(), "{pattern:?}");
    }
}
