//! An asciicast of a real run, read as its format defines it and played on the terminal of asciinema's own player.

use avt::Terminal;
use countersign::export::export;
use countersign::run::{ExportFormat, RunEvent, SearchQuery, TerminalPort, TerminalSize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::Harness;

/// What a player shows when each step has ended, by the definition of asciicast v3
/// (<https://docs.asciinema.org/manual/asciicast/v3/>), and the sizes that the player had.
fn played(text: &str) -> (Vec<Vec<String>>, Vec<(usize, usize)>) {
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!(header["version"], 3);
    let number = |name: &str| header["term"][name].as_u64().unwrap() as usize;
    let mut sizes = vec![(number("cols"), number("rows"))];
    let mut terminal = Terminal::new(number("cols"), number("rows")).unwrap();
    let mut screens = Vec::new();
    let mut is_over = false;
    for event in lines {
        let [interval, kind, data] = event.as_array().unwrap().as_slice() else {
            panic!("{event}")
        };
        assert!(interval.as_f64().unwrap() >= 0.0 && !is_over, "{event}");
        let data = data.as_str().unwrap();
        match kind.as_str().unwrap() {
            "o" => terminal.feed(data),
            "r" => {
                let (columns, rows) = data.split_once('x').unwrap();
                let size = (columns.parse().unwrap(), rows.parse().unwrap());
                terminal.resize(size.0, size.1);
                sizes.push(size);
            }
            "m" => screens.push(shown(&terminal)),
            "x" => {
                assert!(data.parse::<u8>().is_ok(), "{event}");
                is_over = true;
            }
            other => panic!("{other}"),
        }
    }
    assert!(is_over);
    // The first step begins with an empty screen.
    assert_eq!(screens.remove(0), [""; 0]);
    screens.push(shown(&terminal));
    (screens, sizes)
}

/// The lines of the screen, without spaces at their ends and empty lines below.
fn shown(terminal: &Terminal) -> Vec<String> {
    let lines = terminal.screen().visible_lines();
    let mut lines: Vec<_> = lines.map(|line| line.text().trim_end().to_owned()).collect();
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.truncate(used);
    lines
}

fn exported(harness: &Harness, run_id: Uuid) -> String {
    let mut reader = harness.reader();
    let query = SearchQuery { run_id: Some(run_id), limit: 0, ..SearchQuery::default() };
    let mut out = Vec::new();
    export(&mut reader, &query, ExportFormat::Asciicast, &mut out, &mut |_| true).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_player_shows_what_each_step_showed() {
    let port = TerminalPort::default();
    port.resize(TerminalSize::new(60, 12));
    let resized = port.clone();
    let mut harness = Harness::new().on_event(move |event| {
        if let RunEvent::StepCompleted { result } = event
            && result.step_index == 2
        {
            resized.resize(TerminalSize::new(40, 10));
        }
    });
    harness.terminal = Some(port);
    let in_a_terminal =
        |command: &str| json!({ "command": command, "needs": { "terminal": true } });
    let plain = |command: &str| json!({ "command": command });
    let plan = json!({ "goal": "Show", "steps": [
        // Ends within a line and in red.
        plain(r"printf 'one\n\033[31mtwo'"),
        plain(r"printf 'Progress 10%%\rProgress 100%%\nnaïve 東京 🦀\n'"),
        // Goes to places of a screen of its size, and writes past the end of a line of 60 cells.
        in_a_terminal(r"printf 'gone\033[2J\033[5;10H\033[1;32mmiddle\033[0m\033[1;1Htop\033[12;55Hright\033[3;1H'; printf 'x%.0s' $(seq 65)"),
        // Comes back from the alternate screen, and leaves red behind.
        in_a_terminal(r"printf 'first\r\n\033[?1049h\033[Hfull screen\033[?1049l\033[31mback'; for n in 1 2 3; do printf '\r%s of 3' $n; done"),
        // In many pieces, none of which may split a character; its last byte begins one.
        plain(r"seq -f '東京 %g' 1 30000; printf '\303'"),
        plain("echo after; echo and an error >&2"),
    ]});
    let ran = harness.run(&plan);
    assert_eq!(ran.words().1, "completed", "{:?}", ran.result());
    let text = exported(&harness, ran.result().run_id);
    let (screens, sizes) = played(&text);
    assert_eq!(sizes, [(60, 12), (40, 10)]);

    let first = ["one", "two"];
    let second = ["one", "two", "Progress 100%", "naïve 東京 🦀"];
    let (full, rest) = ("x".repeat(60), "x".repeat(5));
    let right = format!("{:54}right", "");
    let third = ["top", "", &full, &rest, "         middle", "", "", "", "", "", "", &right];
    let fourth = ["first", "3 of 3"];
    let numbered = |from: usize| (from..=30_000).map(|n| format!("東京 {n}"));
    let fifth: Vec<_> = numbered(29_992).chain(["\u{fffd}".to_owned()]).collect();
    let last = ["\u{fffd}", "after", "and an error"].map(str::to_owned);
    let sixth: Vec<_> = numbered(29_995).chain(last).collect();
    assert_eq!(screens[0], first);
    assert_eq!(screens[1], second);
    assert_eq!(screens[2], third);
    assert_eq!(screens[3], fourth);
    assert_eq!(screens[4], fifth);
    assert_eq!(screens[5], sixth);
}

/// Of a program that has no terminal, no size is recorded.
#[test]
fn a_run_without_terminal_has_a_usual_size() {
    let harness = Harness::new();
    let ran = harness.run(&json!({ "goal": "Show", "steps": [{ "command": "echo heron" }] }));
    let (screens, sizes) = played(&exported(&harness, ran.result().run_id));
    assert_eq!((screens, sizes), (vec![vec!["heron".to_owned()]], vec![(100, 30)]));
}
