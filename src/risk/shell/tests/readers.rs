//! Two readers that are asked about each other, and the places that they give.

use super::super::agreement::disagreement;
use super::super::{grammar, parse, syntax};
use super::*;

fn read(command: &str) -> (syntax::Script, grammar::Second) {
    (parse::parse(command, 0).unwrap(), grammar::read(command).unwrap())
}

const COMMAND: &str = "ls -l && cat a | wc -l; echo \"$(date)\" `id`; export A=b; [ -f a ]";

#[test]
fn readers_that_see_the_same_agree() {
    for command in
        [COMMAND, "A=b ls", ">x ls", "time -p ls", "f() { ls; }; f", "case a in a) ls;; esac"]
    {
        let (script, second) = read(command);
        assert!(!second.faulty, "{command}");
        assert_eq!(disagreement(command, &script, &second), None, "{command}");
    }
}

#[test]
fn a_command_that_only_the_second_reader_sees_is_a_disagreement() {
    let (script, second) = read(COMMAND);
    for lost in 0..script.commands.len() {
        let mut less = script.clone();
        let gone = less.commands.remove(lost);
        if gone.words.is_empty() || gone.adopted {
            continue;
        }
        let at = disagreement(COMMAND, &less, &second);
        // What the grammar does not call a program is not asked for in this direction.
        let named = second.programs.contains(&gone.words[0].span.start);
        assert_eq!(at, named.then_some(gone.words[0].span.start), "{gone:?}");
    }
    assert!(second.programs.len() > 5);
}

#[test]
fn a_command_that_only_the_first_reader_sees_is_a_disagreement() {
    let (script, second) = read(COMMAND);
    let all: Vec<usize> = second.programs.iter().chain(&second.others).copied().collect();
    for lost in all {
        let mut less = grammar::read(COMMAND).unwrap();
        less.programs.retain(|at| *at != lost);
        less.others.retain(|at| *at != lost);
        assert!(disagreement(COMMAND, &script, &less).is_some(), "{}", &COMMAND[lost..]);
    }
}

#[test]
fn a_command_that_a_reader_takes_for_an_argument_is_a_disagreement() {
    let command = "echo a rm -rf b";
    let (script, mut second) = read(command);
    second.programs.push(7);
    assert_eq!(disagreement(command, &script, &second), Some(7));
}

#[test]
fn what_the_second_reader_cannot_read_is_dangerous() {
    for command in ["ls ${a[@]@Q} ;;& b", "cat <<< $((1+)) | (("] {
        assert!(level(command) >= RiskLevel::Dangerous, "{command}");
    }
}

#[test]
fn a_verdict_points_at_the_bytes_of_the_command_inside() {
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
        // Where the text is not there as it is, the whole argument is shown.
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

/// The grammar of editors would need longer for the first one than anybody waits: a nest of two ways to read
/// it, which doubles with each pipe.
#[test]
fn what_is_dangerous_already_and_what_takes_too_long_is_not_read_again() {
    let pipes = "+|@|x|".repeat(30);
    let verdict = verdict_on(&format!("[][];{pipes}+]"));
    assert_eq!((verdict.level, verdict.rule.as_str()), (RiskLevel::Dangerous, "hidden-program"));
    let long = format!("echo {}", "$x ".repeat(400_000));
    assert!(grammar::read(&long).unwrap().faulty);
}
