//! A command that prints faster than the window draws.

use super::*;
use crate::run::{Part, StepState};
use crate::ui::plan::output_lines;
use crate::worker::Event;

const LINES: u64 = 10_000_000;

/// The output pane counts the output that it leaves out. The evidence has all output.
#[test]
fn a_frame_takes_bounded_output() {
    let mut bench = Bench::new();
    let plan = format!(
        r#"{{"goal": "print", "steps": [{{"command": "yes kingfisher | head -n {LINES}"}}]}}"#
    );
    let plan = bench.file("plan.json", &plan);
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    let printed = |bench: &Bench| {
        let session = bench.session();
        let rows = output_lines(&session.output.transcript, 0, 80);
        (session.output.transcript.printed(), rows.iter().map(|row| row.text.len()).sum::<usize>())
    };
    let (mut before, mut frames) = (0, 0);
    while !(bench.session().run.is_over() && bench.session().elapsed_ms.is_some()) {
        bench.app.shared.now = now();
        let has_more = bench.app.drain();
        let (lines, kept) = printed(&bench);
        // The limit allows for the lines in the bytes of one frame, and for one more line per output event, because an
        // event may split a line.
        assert!(lines - before < 8_000, "{} lines in one frame", lines - before);
        assert!(kept <= 40 << 10, "the inspector lays out {kept} bytes");
        (before, frames) = (lines, frames + 1);
        if !has_more {
            let _ = bench.woken.recv_timeout(Duration::from_millis(20));
        }
    }
    assert!(frames > 30, "{frames}");
    let session = bench.session();
    let StepState::Done(result) = &session.run.steps.first().unwrap() else { panic!() };
    assert_eq!(result.stdout_bytes, 11 * LINES);
    let lines = session.output.transcript.lines();
    let shown = lines.iter().filter(|line| line.text == "kingfisher").count() as u64;
    assert!(shown + 100 < LINES, "{shown} of {LINES} lines are shown");
    assert!(
        lines.iter().any(|line| {
            line.part == Part::Remark
                && line.text.ends_with("are left out here; the evidence gets all.")
        }) || session.output.transcript.left_out() > 0
    );
    assert_eq!(lines.back().unwrap().text, "kingfisher", "the end of the output is shown");
}

#[test]
fn a_stalled_window_delays_no_command() {
    let mut bench = Bench::new();
    // The second step begins after all output of the first one was delivered.
    let plan = r#"{"goal": "print", "steps": [
        {"command": "yes kingfisher | head -n 3000000"}, {"command": "touch done"}]}"#;
    let plan = bench.file("plan.json", plan);
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    // The command prints far more than the queue can hold. No event is taken until the command has ended.
    let done = bench.workspace.path().join("done");
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    while !done.exists() {
        assert!(std::time::Instant::now() < deadline, "the command was blocked by the window");
        let _ = bench.woken.recv_timeout(Duration::from_millis(20));
    }
    let mut queued = 0;
    while let Some(event) = bench.app.shared.worker.try_recv() {
        if let Event::Run(crate::run::RunEvent::StepOutput { chunk, .. }) = &event {
            queued += chunk.len();
        }
        if matches!(event, Event::Finished(_)) {
            break;
        }
    }
    assert!((1..=2 << 20).contains(&queued), "{queued}");
}
