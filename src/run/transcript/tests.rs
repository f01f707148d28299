//! Tests of the transcript.

use proptest::prelude::*;

#[test]
fn a_dropped_remark_frees_its_own_size() {
    let mut transcript = Transcript::default();
    transcript.push(0, Part::Remark, "left out".to_owned());
    for _ in 0..MAX_LINES + 7 {
        transcript.push(0, Part::Output(Stream::Stdout), String::new());
    }
    assert_eq!((transcript.lines.len(), transcript.bytes), (MAX_LINES, 0));
}

use super::super::ansi_style::{Hue, coloured};
use super::super::result::Outcome;
use super::super::steps::tests::result;
use super::parts::split;
use super::*;
use crate::plan::quoted_lines;
use crate::run::HostResult;

fn started(step_index: usize) -> RunEvent {
    RunEvent::StepStarted {
        step_id: String::new(),
        step_index,
        tool_name: String::new(),
        about: String::new(),
        timestamp_ms: 0,
    }
}

fn printed(stream: Stream, chunk: &str) -> RunEvent {
    RunEvent::StepOutput { step_id: String::new(), stream, chunk: chunk.to_owned() }
}

fn of(chunks: &[(Stream, &str)]) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.apply(&started(0));
    for (stream, chunk) in chunks {
        transcript.apply(&printed(*stream, chunk));
    }
    transcript
}

fn texts(transcript: &Transcript) -> Vec<&str> {
    transcript.lines().iter().skip(1).map(|line| line.text.as_str()).collect()
}

use Stream::{Stderr, Stdout};

/// The end of a step on one of several hosts.
fn host(host: &str, step_index: usize, output: &str, message: Option<&str>) -> RunEvent {
    let outcome = if message.is_some() { Outcome::Failed } else { Outcome::Succeeded };
    RunEvent::HostEnded {
        result: Box::new(HostResult {
            host: host.to_owned(),
            step_id: String::new(),
            step_index,
            execution_id: uuid::Uuid::nil(),
            outcome,
            may_have_run: true,
            exit_code: None,
            error_code: None,
            error_message: message.map(str::to_owned),
            output: output.to_owned(),
            output_bytes: output.len() as u64,
            group: String::new(),
            timestamp_ms: 0,
            duration_ms: 0,
        }),
    }
}

#[test]
fn output_of_hosts_is_apart() {
    let mut transcript = Transcript::default();
    transcript.apply(&started(0));
    transcript.apply(&host("a", 0, "one\n\x1b[31mred", None));
    transcript.apply(&host("b", 0, "two", Some("exit code 3\nmore")));
    transcript.apply(&started(1));
    // The next batch.
    transcript.apply(&host("c", 0, "", None));
    transcript
        .apply(&RunEvent::StepCompleted { result: Box::new(result(0, Outcome::Succeeded, 1)) });
    let lines: Vec<(usize, Part, &str)> =
        transcript.lines().iter().map(|it| (it.step_index, it.part, it.text.as_str())).collect();
    let (succeeded, failed) = (Part::Host(Outcome::Succeeded), Part::Host(Outcome::Failed));
    assert_eq!(
        lines,
        [
            (0, Part::Heading, ""),
            (0, succeeded, "a"),
            (0, Part::Output(Stdout), "one"),
            (0, Part::Output(Stdout), "red"),
            (0, failed, "b"),
            (0, Part::Output(Stdout), "two"),
            (0, Part::Remark, "exit code 3"),
            (1, Part::Heading, ""),
            (0, Part::Heading, ""),
            (0, succeeded, "c"),
        ]
    );
    assert!(transcript.lines()[5].styles.is_empty(), "colours of one host end with it");
}

#[test]
fn lines_continue_within_one_stream() {
    let transcript =
        of(&[(Stdout, "a\nb"), (Stdout, "c"), (Stderr, "E\n"), (Stdout, "d\n\ne\r\nf\rg")]);
    assert_eq!(texts(&transcript), ["a", "bc", "E", "d", "", "e", "g"]);
    assert_eq!(transcript.lines()[3].part, Part::Output(Stderr));
    assert_eq!(texts(&of(&[(Stdout, "a\r"), (Stdout, "\nb")])), ["a", "b"]);
}

#[test]
fn a_progress_bar_stays_one_line() {
    let mut pieces: Vec<(Stream, String)> =
        (0..=100).map(|percent| (Stdout, format!("\r\x1b[32m{percent:>3} %\x1b[0m"))).collect();
    pieces.push((Stdout, "\ndone\r\n".to_owned()));
    let pieces: Vec<_> = pieces.iter().map(|(stream, text)| (*stream, &**text)).collect();
    let transcript = of(&pieces);
    assert_eq!(texts(&transcript), ["100 %", "done"]);
    assert_eq!((transcript.printed(), transcript.lines()[1].styles.len()), (2, 1));
    // What another output printed in between stays.
    let mixed = of(&[(Stdout, "10 %"), (Stderr, "E"), (Stdout, "\r20 %"), (Stdout, "\r30 %")]);
    assert_eq!(texts(&mixed), ["10 %", "E", "30 %"]);
    let (first, second) = (of(&[(Stdout, "10 %")]), of(&[(Stdout, "10 %\r20 %")]));
    assert_ne!(first.extent(), second.extent());
}

#[test]
fn gaps_and_silence_are_marked_in_place() {
    let mut transcript = of(&[(Stdout, "a\nb")]);
    let step_id = String::new();
    transcript.apply(&RunEvent::OutputLeftOut { step_id: step_id.clone(), bytes: 7 });
    transcript.apply(&printed(Stdout, "c"));
    transcript.apply(&RunEvent::StepQuiet { step_id, quiet_ms: 15_004 });
    let remarks = [
        "7 bytes are left out here; the evidence gets all.",
        "No output for 15 s; the step may be waiting for input.",
    ];
    assert_eq!(texts(&transcript), ["a", "b", remarks[0], "c", remarks[1]]);
    assert_eq!(transcript.printed(), 3, "remarks are not printed by the steps");
}

#[test]
fn colours_apply_and_other_sequences_show() {
    let transcript =
        of(&[(Stdout, "\x1b[1;3"), (Stdout, "1mred\x1b[0m plain \x1b[2J\x1b]0;t\x07\x1b[31")]);
    assert_eq!(texts(&transcript), ["red plain ⟨ESC⟩[2J⟨ESC⟩]0;t⟨U+0007⟩"]);
    let line = &transcript.lines()[1];
    assert_eq!(line.styles, [(0..3, AnsiStyle { hue: Some(Hue::Red), ..AnsiStyle::default() })]);
    let mut transcript = transcript;
    let ended = Box::new(result(0, Outcome::Succeeded, 0));
    transcript.apply(&RunEvent::StepCompleted { result: ended });
    assert!(texts(&transcript)[0].ends_with("⟨ESC⟩[31"), "nothing that was printed is lost");
}

#[test]
fn a_printed_mark_is_told_from_a_mark() {
    let text = "rm\u{200B} rm⟨U+200B⟩\n";
    assert_eq!(texts(&of(&[(Stdout, text)])), ["rm⟨U+200B⟩ rm⟨U+27E8⟩U+200B⟩"]);
    // So it is in what a terminal leaves, whose own marks are boxes.
    let mut screen = TerminalScreen::new(TerminalSize::new(40, 4));
    screen.feed("a⟨\x1b[32mb\x1b[0m");
    assert_eq!(screen.visible_text(), "a⟨b");
    let line = screen.into_lines().lines.remove(0);
    assert_eq!(line.text, "a⟨U+27E8⟩b");
    assert_eq!(&line.text[line.styles[0].0.clone()], "b");
}

#[test]
fn the_latest_output_is_kept_and_counted() {
    let many = "x\n".repeat(MAX_LINES + 7);
    let transcript = of(&[(Stdout, &many)]);
    assert_eq!((transcript.lines().len(), transcript.left_out()), (MAX_LINES, 8));
    let long = "y".repeat(MAX_BYTES * 2);
    let transcript = of(&[(Stdout, &long)]);
    assert!(transcript.lines().iter().all(|line| line.text.len() <= MAX_LINE_BYTES));
    let kept: usize = transcript.lines().iter().map(|line| line.text.len()).sum();
    assert!((MAX_BYTES - MAX_LINE_BYTES..=MAX_BYTES).contains(&kept), "{kept}");
}

// The output of a replayed result is added; that of a live run is not added twice.
#[test]
fn output_of_a_result_is_added_once() {
    let ended = |ran: StepResult| RunEvent::StepCompleted { result: Box::new(ran) };
    let quiet = result(0, Outcome::Succeeded, 0);
    let ran = StepResult {
        exit_code: Some(0),
        stdout: Some("out".to_owned()),
        stderr: Some("err\n".to_owned()),
        ..quiet.clone()
    };
    let mut transcript = of(&[]);
    transcript.apply(&ended(ran.clone()));
    assert_eq!(texts(&transcript)[0], "out");
    assert_eq!(transcript.lines()[2].part, Part::Remark);
    assert_eq!(texts(&transcript)[2], "err");
    let mut transcript = of(&[(Stdout, "out")]);
    transcript.apply(&ended(ran));
    assert_eq!(texts(&transcript), ["out"]);
    // The text of a file tool is its result, not output of a program.
    let mut transcript = of(&[]);
    transcript.apply(&ended(StepResult { stdout: Some("contents".to_owned()), ..quiet }));
    assert!(texts(&transcript).is_empty());
}

proptest! {
    #[test]
    fn chunk_borders_make_no_difference(
        text in "([a-c \\n\\r\\x1b\\[;m0-9é\u{202e}]|\\x1b\\[3[0-9]m){0,60}",
        cuts in prop::collection::vec(0usize..60, 0..6),
    ) {
        let whole = of(&[(Stdout, &text)]);
        let chars: Vec<char> = text.chars().collect();
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(chars.len())).collect();
        ends.extend([0, chars.len()]);
        ends.sort_unstable();
        let pieces: Vec<String> = ends.windows(2).map(|it| chars[it[0]..it[1]].iter().collect()).collect();
        let pieces: Vec<_> = pieces.iter().map(|it| (Stdout, it.as_str())).collect();
        let cut = of(&pieces);
        prop_assert_eq!(texts(&whole), texts(&cut));
    }

    #[test]
    fn replayed_text_has_the_live_colours(
        text in "([a-c \\n\\x1b\\[;m0-9é\u{202e}]|\\x1b\\[3[0-9]m|\\x1b\\[0m){0,60}",
    ) {
        let mut live = of(&[(Stdout, &text)]);
        let ended = Box::new(result(0, Outcome::Succeeded, 0));
        live.apply(&RunEvent::StepCompleted { result: ended });
        let (plain, styles) = coloured(&text);
        let shown = quoted_lines(&plain);
        prop_assert_eq!(texts(&live), shown.lines().collect::<Vec<_>>());
        let seen: String = live
            .lines()
            .iter()
            .flat_map(|line| line.styles.iter().map(|(it, _)| &line.text[it.clone()]))
            .collect();
        let kept: String = styles.iter().map(|(it, _)| &plain[it.clone()]).collect();
        prop_assert_eq!(seen, quoted(&kept.replace('\n', "")).into_owned());
    }
}

/// While the program runs, its terminal has the output; then the lines that the terminal showed are the output, also of
/// a recorded run.
#[test]
fn terminal_output_becomes_lines_at_the_end() {
    let text = "10 %\r50 %\r100 %\r\n\x1b[?1049hfull screen\x1b[?1049l\x1b[32mdone\x1b[0m\r\n";
    let size = TerminalSize::new(20, 4);
    let mut live = Transcript::default();
    live.apply(&started(0));
    live.apply(&RunEvent::TerminalOpened { step_id: String::new(), size });
    live.apply(&printed(Stdout, text));
    live.apply(&RunEvent::StepQuiet { step_id: String::new(), quiet_ms: 15_000 });
    assert_eq!(live.terminal().unwrap().screen.visible_text(), "100 %\ndone");
    assert_eq!(texts(&live), [""; 0]);
    // A signal ended the program, so it has no exit code.
    let result = StepResult {
        terminal: true,
        stdout: Some(text.to_owned()),
        ..result(0, Outcome::Succeeded, 0)
    };
    let ended = RunEvent::StepCompleted { result: Box::new(result) };
    live.apply(&ended);
    let mut replayed = Transcript::default();
    replayed.apply(&started(0));
    replayed.apply(&ended);
    for transcript in [live, replayed] {
        assert_eq!(texts(&transcript), ["100 %", "done"]);
        assert!(transcript.terminal().is_none());
        assert_eq!(transcript.lines()[2].styles[0].1.hue, Some(Hue::Green));
    }
}

#[test]
fn a_long_line_of_a_terminal_is_split_with_its_styles() {
    let style = AnsiStyle { underlined: true, ..AnsiStyle::default() };
    let text = "é".repeat(MAX_LINE_BYTES);
    let pieces = split(text.clone(), vec![(0..2, style), (MAX_LINE_BYTES - 2..text.len(), style)]);
    assert_eq!(pieces.iter().map(|(text, _)| text.as_str()).collect::<String>(), text);
    assert!(pieces.iter().all(|(text, _)| text.len() <= MAX_LINE_BYTES));
    assert_eq!(pieces[0].1, [(0..2, style), (MAX_LINE_BYTES - 2..MAX_LINE_BYTES, style)]);
    assert_eq!(pieces[1].1, [(0..MAX_LINE_BYTES, style)]);
}
