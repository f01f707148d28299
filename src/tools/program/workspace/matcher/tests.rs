//! Matchers on the output of real tools, and on arbitrary input.

use proptest::prelude::*;

use super::*;
use crate::run::Level;

fn fields(problem: &Problem) -> (Level, &str, u32, u32, &str, &str) {
    (
        problem.level(),
        problem.file.as_deref().unwrap_or_default(),
        problem.line.unwrap_or_default(),
        problem.column.unwrap_or_default(),
        problem.code.as_deref().unwrap_or_default(),
        &problem.message,
    )
}

fn all(matcher: &Matcher, text: &str) -> Vec<Problem> {
    text.lines().filter_map(|line| matcher.match_line(line)).collect()
}

/// Output of gcc 14, make, clang 19, clang-tidy, mypy and eslint's unix format, and lines that only resemble
/// it.
const GNU: &str = "make: Entering directory '/src'
gcc -Wall -c a.c
In file included from /usr/include/stdio.h:27,
                 from src/a.c:1:
src/a.c: In function 'main':
src/a.c:5:12: error: 'absent' undeclared (first use in this function)
    5 |     return absent;
      |            ^~~~~~
src/a.c:5:12: note: each undeclared identifier is reported only once for each function it appears in
src/a.c:4:9: warning: unused variable 'x' [-Wunused-variable]
src/b.c:1:10: fatal error: nothing.h: No such file or directory
make: *** [Makefile:3: a.o] Error 1
12:30:45: still at it
http://localhost:80: refused
\u{1b}[1msrc/c.cpp:2:3: \u{1b}[0m\u{1b}[0;1;31merror: \u{1b}[0m\u{1b}[1mexpected ';'\u{1b}[0m
app/main.py:7: error: Incompatible return value type  [return-value]
/src/x.js:3:9: 'y' is not defined. [Error/no-undef]
lib/x.rb:9: syntax error, unexpected end-of-input
a b.txt:1:1: with a space
thread 'main' panicked at src/main.rs:2:5:
";

#[test]
fn gnu_messages_of_compilers_are_read() {
    let problems = all(&Matcher::Gnu, GNU);
    let found: Vec<_> = problems.iter().map(fields).collect();
    use Level::{Error, Info, Warning};
    assert_eq!(
        found,
        [
            (Error, "src/a.c", 5, 12, "", "'absent' undeclared (first use in this function)"),
            (
                Info,
                "src/a.c",
                5,
                12,
                "",
                "each undeclared identifier is reported only once for each function it appears in"
            ),
            (Warning, "src/a.c", 4, 9, "-Wunused-variable", "unused variable 'x'"),
            (Error, "src/b.c", 1, 10, "", "nothing.h: No such file or directory"),
            (Error, "src/c.cpp", 2, 3, "", "expected ';'"),
            (Error, "app/main.py", 7, 0, "return-value", "Incompatible return value type"),
            (Error, "/src/x.js", 3, 9, "no-undef", "'y' is not defined."),
            (Error, "lib/x.rb", 9, 0, "", "syntax error, unexpected end-of-input"),
            (Error, "a b.txt", 1, 1, "", "with a space"),
        ]
    );
}

#[test]
fn patterns_read_output_of_other_tools() {
    let tsc = Pattern::compile(
        r"^(?<file>[^(]+)\((?<line>\d+),(?<column>\d+)\): (?<severity>\w+) (?<code>TS\d+): (?<message>.+)$",
    );
    let output = "src/app.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.\nFound 1 error.\n";
    let problems = all(&Matcher::Pattern(tsc.unwrap()), output);
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    let expected = (
        Level::Error,
        "src/app.ts",
        12,
        5,
        "TS2322",
        "Type 'string' is not assignable to type 'number'.",
    );
    assert_eq!(fields(problem), expected);

    let pytest = Pattern::compile(r"^FAILED (?<file>[^:]+)::\S+ - (?<message>.+)$").unwrap();
    let output = "FAILED tests/test_x.py::test_sum - assert 3 == 4\n1 failed, 2 passed in 0.02s\n";
    let problems = all(&Matcher::Pattern(pytest), output);
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(fields(problem), (Level::Error, "tests/test_x.py", 0, 0, "", "assert 3 == 4"));

    for (pattern, expected) in [
        ("(?<message>a", "cannot be used"),
        ("(?<file>a)", "needs a group (?<message>…)"),
        ("(?<message>a)(?<name>b)", "has a group \"name\"; the groups are: file, line, "),
        ("(?<message>(a{1000}){1000})", "cannot be used"),
    ] {
        let error = Pattern::compile(pattern).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

// A blank line is no problem, whatever matches it.
#[test]
fn blank_message_becomes_the_whole_line() {
    let pattern = Pattern::compile(r"^(?<severity>error)?:?(?<message>.*)$").unwrap();
    let said = "error:   \nerror: known\n \n\n";
    let problems = all(&Matcher::Pattern(pattern), said);
    let messages: Vec<_> = problems.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages, ["error:", "known"]);
    let pattern = Pattern::compile(r"^error(: (?<message>.+))?$").unwrap();
    assert_eq!(Matcher::Pattern(pattern).match_line("error").unwrap().message, "error");
    assert_eq!(Matcher::Gnu.match_line("a.c:3: error: ").unwrap().message, "a.c:3: error:");
    assert_eq!(Matcher::Gnu.match_line("a.c:3: "), None);
}

/// The form that ruff and eslint write, with other features that the format allows.
const SARIF: &str = r#"{
  "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
  "runs": [{
    "tool": {"driver": {"name": "ruff", "rules": [
      {"id": "F401", "shortDescription": {"text": "unused-import"}},
      {"id": "X1", "defaultConfiguration": {"level": "note"}, "messageStrings": {"d": {"text": "use {0}"}}}]}},
    "originalUriBaseIds": {"SRC": {"uri": "file:///work%20space/"}},
    "results": [
      {"ruleId": "F401", "level": "error", "message": {"text": "`os` imported but unused"},
       "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///home/a/x%20y.py"},
         "region": {"startLine": 1, "startColumn": 8, "endLine": 1, "endColumn": 10}}}]},
      {"ruleIndex": 1, "message": {"id": "d", "arguments": ["it"]},
       "locations": [{"physicalLocation": {"artifactLocation": {"uri": "b.py", "uriBaseId": "SRC"}}}]},
      {"ruleId": "F401", "message": {"text": "accepted"}, "suppressions": [{"kind": "inSource"}]},
      {"ruleId": "F401", "kind": "pass", "message": {"text": "fine"}},
      {"message": {"text": "no place"}}]}]}"#;

#[test]
fn sarif_logs_are_read() {
    let problems = parse_sarif(SARIF.as_bytes()).unwrap();
    let found: Vec<_> = problems.iter().map(fields).collect();
    assert_eq!(
        found,
        [
            (Level::Error, "/home/a/x y.py", 1, 8, "F401", "`os` imported but unused"),
            (Level::Info, "/work space/b.py", 0, 0, "X1", "use it"),
            (Level::Warning, "", 0, 0, "", "no place"),
        ]
    );
    assert_eq!(problems[0].end, Some((1, Some(10))));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for wrong in ["", "{}", "[1]", "{\"runs\":[{\"results\":[{\"level\":3}]}]}", &deep] {
        assert!(parse_sarif(wrong.as_bytes()).is_err(), "{wrong:.50}");
    }
}

#[test]
fn matching_a_long_line_takes_linear_time() {
    let pattern = Pattern::compile("(?<file>(a|b|:)*):(?<line>\\d+):(?<message>.*)x$").unwrap();
    let started = std::time::Instant::now();
    for piece in [":1", ":", "a: 1:", "1:1-", "[", "\u{1b}[", "\u{1b}", "error: "] {
        let line = piece.repeat(LINE_BYTES / piece.len());
        for matcher in [Matcher::Gnu, Matcher::Pattern(pattern.clone())] {
            for _ in 0..8 {
                let _ = matcher.match_line(&line);
            }
        }
    }
    // Half a megabyte for each piece and matcher; quadratic time would take hours.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn any_text_is_matched_without_panic(
        text in "([a-z/.]{0,8}|:|[0-9]{0,12}|-|\\[|\\]| |error|warning|\u{1b}|\u{1b}\\[3|é|\\PC){0,30}",
        any in any::<String>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let pattern = Pattern::compile("(?<file>\\S*):(?<line>\\d*):?(?<message>.*)").unwrap();
        for matcher in [Matcher::Gnu, Matcher::Pattern(pattern), Matcher::None] {
            for line in [text.as_str(), any.as_str()] {
                if let Some(problem) = matcher.match_line(line) {
                    prop_assert!(!problem.message.is_empty());
                    problem.level();
                }
            }
        }
        let _ = parse_sarif(&bytes);
        let _ = parse_sarif(any.as_bytes());
        let cut = bytes.first().map_or(0, |byte| SARIF.len() * usize::from(*byte) / 256);
        let _ = parse_sarif(&SARIF.as_bytes()[..cut]);
    }

    #[test]
    fn written_gnu_messages_are_read_back(
        file in "[a-z]{1,8}(/[a-z_]{1,8}){0,3}\\.[a-z]{1,3}",
        line in 1..100_000_u32,
        column in proptest::option::of(1..500_u32),
        message in "[a-z'][a-z' ]{0,40}[a-z']",
        code in proptest::option::of("-W[a-z]{1,9}"),
    ) {
        let column_text = column.map_or_else(String::new, |column| format!("{column}:"));
        let code_text = code.as_ref().map_or_else(String::new, |code| format!(" [{code}]"));
        let text = format!("{file}:{line}:{column_text} warning: {message}{code_text}");
        let problem = Matcher::Gnu.match_line(&text).unwrap();
        prop_assert_eq!(problem.level(), Level::Warning);
        prop_assert_eq!(problem.file, Some(file));
        prop_assert_eq!((problem.line, problem.column), (Some(line), column));
        prop_assert_eq!((problem.message, problem.code), (message, code));
    }
}
