//! The two parsers compared with each other, and the spans that they report.

use super::super::parser_agreement::disagreement;
use super::super::{parse, second_parser, syntax};
use super::*;

fn read(command: &str) -> (syntax::Script, second_parser::SecondParse) {
    (parse::parse(command, 0).unwrap(), second_parser::read(command).unwrap())
}

const COMMAND: &str = "ls -l && cat a | wc -l; echo \"$(date)\" `id`; export A=b; [ -f a ]";

#[test]
fn equal_parses_agree() {
    for command in
        [COMMAND, "A=b ls", ">x ls", "time -p ls", "f() { ls; }; f", "case a in a) ls;; esac"]
    {
        let (script, second) = read(command);
        assert!(!second.faulty, "{command}");
        assert_eq!(disagreement(command, &script, &second), None, "{command}");
    }
}

#[test]
fn a_command_only_the_second_parser_sees() {
    let (script, second) = read(COMMAND);
    for lost in 0..script.commands.len() {
        let mut less = script.clone();
        let gone = less.commands.remove(lost);
        if gone.words.is_empty() || gone.nested {
            continue;
        }
        let at = disagreement(COMMAND, &less, &second);
        // Where the second parser reports no program, it cannot contradict the first parser.
        let named = second.programs.contains(&gone.words[0].span.start);
        assert_eq!(at, named.then_some(gone.words[0].span.start), "{gone:?}");
    }
    assert!(second.programs.len() > 5);
}

#[test]
fn a_command_only_the_first_parser_sees() {
    let (script, second) = read(COMMAND);
    let all: Vec<usize> = second.programs.iter().chain(&second.others).copied().collect();
    for lost in all {
        let mut less = second_parser::read(COMMAND).unwrap();
        less.programs.retain(|at| *at != lost);
        less.others.retain(|at| *at != lost);
        assert!(disagreement(COMMAND, &script, &less).is_some(), "{}", &COMMAND[lost..]);
    }
}

#[test]
fn command_parsed_as_argument_is_a_disagreement() {
    let command = "echo a rm -rf b";
    let (script, mut second) = read(command);
    second.programs.push(7);
    assert_eq!(disagreement(command, &script, &second), Some(7));
}

#[test]
fn failure_of_the_second_parser_is_dangerous() {
    for command in ["ls ${a[@]@Q} ;;& b", "cat <<< $((1+)) | (("] {
        assert!(level(command) >= RiskLevel::Dangerous, "{command}");
    }
}

#[test]
fn verdicts_span_the_inner_command() {
    for (command, bytes) in [
        ("ls && rm -rf build", "rm -rf build"),
        ("bash -c 'ls; rm -rf build'", "rm -rf build"),
        ("sudo -u x bash -lc \"ls && rm -rf build\"", "rm -rf build"),
        ("sh -c 'bash -c \"rm -rf build\"'", "rm -rf build"),
        ("echo \"$(ls; rm -rf build)\"", "rm -rf build"),
        ("ssh host 'cd /x && rm -rf build'", "rm -rf build"),
        ("su -c 'rm -rf build' user", "rm -rf build"),
        ("eval 'rm -rf build'", "rm -rf build"),
        ("find . -exec sh -c 'rm -rf build' \\;", "rm -rf build"),
        // If the text is not in the source literally, the span is the whole argument.
        ("bash -c 'rm -rf '\"build\"", "'rm -rf '\"build\""),
        ("bash -c rm\\ -rf\\ build", "rm\\ -rf\\ build"),
        ("echo é; bash -c 'ls é; rm -rf é'", "rm -rf é"),
    ] {
        let verdict = verdict_on(command);
        assert_eq!(command.get(verdict.span.clone()), Some(bytes), "{command} {verdict:?}");
    }
}

#[test]
fn a_place_never_cuts_a_character() {
    for command in ["\"\u{90000}`$(v``", "é `é $(`", "é `>é x` ; `A=é rm -rf é`", "echo é\u{e9}$("]
    {
        let verdict = verdict_on(command);
        assert!(command.get(verdict.span.clone()).is_some(), "{command:?} {verdict:?}");
    }
}

// The second parser needs exponential time for the first command: two interpretations, doubled by each pipe.
#[test]
fn dangerous_commands_skip_the_second_parser() {
    let pipes = "+|@|x|".repeat(30);
    let verdict = verdict_on(&format!("[][];{pipes}+]"));
    assert_eq!((verdict.level, verdict.rule.as_str()), (RiskLevel::Dangerous, "hidden-program"));
    let long = format!("echo {}", "$x ".repeat(400_000));
    assert!(second_parser::read(&long).unwrap().faulty);
}
