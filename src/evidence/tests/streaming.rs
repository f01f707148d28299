//! Output that is captured while a program runs is recorded like the same output that is passed at once.

use proptest::prelude::*;

use super::fixture::*;
use crate::evidence::spill_file::PLAIN_PART_BYTES;
use crate::evidence::*;
use crate::run::*;

/// Joined at run time, so that secret scanners do not report this file.
fn secret() -> String {
    ["ghp_", &"a1B2".repeat(9)].concat()
}

fn key_line() -> String {
    "MIIEowIBAAKCAQEA7bq98jXy".repeat(2)
}

fn private_key() -> String {
    let lines = format!("{}\n", key_line()).repeat(30);
    format!("-----BEGIN PRIVATE {k}-----\n{lines}-----END PRIVATE {k}-----\n", k = "KEY")
}

/// Lines of a build's output, of this total size.
fn lines(bytes: usize) -> Vec<u8> {
    let line = |n: usize| format!("   Compiling grus v0.{n}.1 (/home/ada/grüs/crate-{n})\n");
    (0..).flat_map(|n: usize| line(n % 9973).into_bytes()).take(bytes).collect()
}

/// Lines of a build's output, with these texts inserted at these positions.
fn output(bytes: usize, inserted: &[(usize, &str)]) -> Vec<u8> {
    let mut output = lines(bytes);
    for (index, text) in inserted {
        output.splice(index..index, text.bytes());
    }
    output
}

/// The rows that are recorded for one step with this output, each with the content of its blob.
fn recorded(
    home: &Home,
    argument: &str,
    output: Output<'_>,
) -> Vec<(Vec<String>, Option<Vec<u8>>)> {
    let mut store = home.store();
    let plan = plan(vec![write_step(0, "a.txt", argument)]);
    let result = result_of(&plan.steps[0], Outcome::Succeeded, 2_001);
    let captured = match output {
        Output::AtOnce(..) => None,
        Output::Captured(stdout, stderr, size) => {
            let mut capture = store.capture();
            let mut rest = stderr.chunks(size);
            for piece in stdout.chunks(size) {
                capture.put(Stream::Stdout, piece).unwrap();
                rest.next()
                    .into_iter()
                    .for_each(|piece| capture.put(Stream::Stderr, piece).unwrap());
            }
            rest.for_each(|piece| capture.put(Stream::Stderr, piece).unwrap());
            Some(capture.finish().unwrap())
        }
    };
    let mut run = Running::begin(&mut store, plan, 2_000);
    run.intend(&result, &[]);
    let extra = match output {
        Output::AtOnce(stdout, stderr) => {
            Extra { stdout: Some(stdout), stderr: Some(stderr), ..Extra::default() }
        }
        Output::Captured(..) => Extra { captured: captured.as_ref(), ..Extra::default() },
    };
    run.record(result, extra);
    drop(run);
    assert!(home.verify().ok);
    let raw = home.raw();
    let mut statement = raw
        .prepare(
            "SELECT artifact_type, content_json, bytes, coalesce(blob, '') FROM execution_artifacts
             WHERE artifact_type LIKE 'std%' ORDER BY artifact_type",
        )
        .unwrap();
    let rows = statement.query_map([], |row| {
        let (kind, content, bytes): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((vec![kind, content, bytes.to_string()], row.get::<_, String>(3)?))
    });
    let content = |blob: String| home.reader().blob(&blob.parse().ok()?).unwrap();
    rows.unwrap().map(Result::unwrap).map(|(row, blob)| (row, content(blob))).collect()
}

#[derive(Clone, Copy)]
enum Output<'a> {
    AtOnce(&'a [u8], &'a [u8]),
    Captured(&'a [u8], &'a [u8], usize),
}

/// Checks that captured output leaves the same rows and contents as output that is passed at once.
fn assert_same_records(what: &str, argument: &str, stdout: &[u8], stderr: &[u8], size: usize) {
    let home = Home::new();
    let at_once = recorded(&home, argument, Output::AtOnce(stdout, stderr));
    // The same key, so that equal secrets have equal marks.
    let second = Home::with_key_of(&home);
    let captured = recorded(&second, argument, Output::Captured(stdout, stderr, size));
    assert_eq!(at_once.len(), 2, "{what}");
    for (expected, actual) in at_once.iter().zip(&captured) {
        assert_eq!(expected.0, actual.0, "{what}");
        assert!(expected.1 == actual.1, "{what}: the content of {}", expected.0[0]);
    }
}

const PART: usize = PLAIN_PART_BYTES;

#[test]
fn output_in_pieces_is_recorded_like_the_whole() {
    let (secret, key) = (secret(), private_key());
    let long = |inserted: &[(usize, &str)]| output(2 * PART + 70_000, inserted);
    let line = |text: &str| format!("\n{text}\n");
    let one_line: Vec<u8> = {
        let mut line = vec![b'x'; 2 * PART];
        line.splice(PART - 9..PART - 9, format!(" {secret} ").bytes());
        line
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("a line", b"heron\n".to_vec()),
        ("a part", lines(PART)),
        ("a part and a byte", lines(PART + 1)),
        ("several parts", long(&[])),
        ("a token across the end of a part", long(&[(PART - 12, &line(&secret))])),
        ("a token where the text is held back", long(&[(PART - (64 << 10) - 12, &line(&secret))])),
        ("a token at the end", long(&[(2 * PART + 70_000, &secret)])),
        ("a name and its value apart", long(&[(PART - 10, "\npassword =\n\n  hunter2hunter2\n")])),
        ("a key across the end of a part", long(&[(PART - 700, &key)])),
        ("a line of a key before the key", long(&[(50, &line(&key_line())), (PART + 900, &key)])),
        ("one line", one_line),
        ("no text", [lines(2 * PART), vec![0xff, 0xc3]].concat()),
        ("no text, with a token", [long(&[(PART - 12, &line(&secret))]), vec![0xff]].concat()),
    ];
    for (what, stdout) in cases {
        let stderr = output(5_000, &[(700, &line("heron"))]);
        assert_same_records(what, "heron", &stdout, &stderr, 65_521);
    }
}

#[test]
fn known_secrets_are_redacted_alike_in_chunks() {
    // Only this line of the key is in the output, and no rule recognises it there.
    let (line, argument) = (key_line(), private_key());
    let stdout = output(2 * PART, &[(PART - 20, &line)]);
    let stderr = output(PART + 9, &[(100, &line)]);
    assert_same_records("a secret of the plan", &argument, &stdout, &stderr, 100_003);
    // A secret of one output is also redacted in the other one.
    let errors = output(PART + 9, &[(PART - 20, &argument)]);
    assert_same_records("a secret of the other output", "heron", &stdout, &errors, 100_003);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]
    // The records do not depend on the positions of secrets and on the sizes of chunks.
    #[test]
    fn chunked_output_is_recorded_like_whole_output(
        positions in prop::collection::vec((0usize..PART + 300_000, 0usize..6), 0..6),
        size in 1_000usize..3_000_000,
        is_text in prop::bool::weighted(0.8),
    ) {
        let texts = [
            secret(),
            format!("API_KEY={}", "q7W8".repeat(6)),
            private_key(),
            key_line(),
            "https://ada:hunter2hunter2@example.org/".to_owned(),
            "password: ".to_owned(),
        ];
        let mut stdout = lines(PART + 300_000);
        for (index, text) in positions {
            // At the beginning of a line, as programs print it.
            let start = stdout[..index].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            stdout.splice(start..start, format!("{}\n", texts[text]).into_bytes());
        }
        if !is_text {
            stdout.push(0xff);
        }
        assert_same_records("random", "heron", &stdout, b"", size);
    }
}

#[test]
fn captured_output_leaves_no_readable_file() {
    let home = Home::new();
    let store = home.store();
    let files = || -> Vec<_> {
        let entries = std::fs::read_dir(&home.evidence).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = files();
    let mut capture = store.capture();
    capture.put(Stream::Stdout, &lines(3 * PART)).unwrap();
    assert_eq!(files(), before, "the spill file has no name");
    drop(capture);
    // If the spill file cannot be created, nothing is captured, and the caller gets the error.
    let mut capture = store.capture();
    std::fs::rename(&home.evidence, home.evidence.with_file_name("elsewhere")).unwrap();
    let error = capture.put(Stream::Stdout, &lines(2 * PART)).unwrap_err();
    assert!(matches!(error, EvidenceError::Folder { .. }), "{error}");
}
