//! Programs in a pseudo-terminal: input, echo, size, signals, full-screen programs, and their end.

use uuid::Uuid;

use super::*;
use crate::run::{TerminalPort, TerminalScreen, TerminalSize, TypedBy};

/// A text for which the person waits, and what they do then.
type Act<'a> = (&'a str, &'a dyn Fn(&Terminal));

/// A person at a terminal.
struct Terminal {
    port: TerminalPort,
    run_id: Uuid,
    screen: RefCell<TerminalScreen>,
}

impl Terminal {
    fn new(columns: u16, rows: u16) -> Self {
        let (port, size) = (TerminalPort::default(), TerminalSize::new(columns, rows));
        port.resize(size);
        Self { port, run_id: Uuid::new_v4(), screen: RefCell::new(TerminalScreen::new(size)) }
    }

    fn type_in(&self, text: &str) {
        assert!(self.port.write((self.run_id, 0), text.as_bytes(), TypedBy::Person));
    }

    fn resize(&self, columns: u16, rows: u16) {
        let size = TerminalSize::new(columns, rows);
        self.screen.borrow_mut().resize(size);
        self.port.resize(size);
    }

    fn text(&self) -> String {
        self.screen.borrow().visible_text()
    }

    /// Runs a script in the terminal. After each output, the first of the remaining acts whose text is on the screen
    /// is carried out. Returns the result, and whether a person has typed.
    fn run(&self, fixture: &Fixture, script: &str, acts: &[Act<'_>]) -> (Finished, bool) {
        let terminal = self.port.open(self.run_id, 0);
        let program = Program {
            profile: fixture.profile(),
            program: OsStr::new("bash"),
            arguments: &["--noprofile", "--norc", "-c", script],
            input: Some(Input::Terminal(&terminal)),
            folder: fixture.folder.path(),
            environment: &[],
            unset: &[],
            leftovers: Leftovers::Stay,
            timeout: Duration::from_secs(60),
            output_limit: u64::MAX,
        };
        let next = Cell::new(0);
        let finished = run(&program, &fixture.stop, &|stream, text| {
            assert_eq!(stream, Stream::Stdout);
            self.screen.borrow_mut().feed(text);
            let replies = self.screen.borrow_mut().take_replies();
            self.port.write((self.run_id, 0), &replies, TypedBy::Screen);
            while let Some((wanted, act)) = acts.get(next.get())
                && self.text().contains(wanted)
            {
                next.set(next.get() + 1);
                act(self);
            }
        });
        let finished = finished.unwrap();
        assert_eq!(next.get(), acts.len(), "the screen at the end:\n{}", self.text());
        (finished, terminal.has_typed())
    }
}

#[test]
fn terminal_controls_the_session() {
    let script = "for fd in 0 1 2; do test -t $fd && echo fd $fd; done; stty size
        (: </dev/tty) && echo controls; set -- $(ps -o pid=,pgid=,sid=,tpgid= -p $$)
        [ $1 = $2 ] && [ $1 = $3 ] && [ $1 = $4 ] && echo leads; echo $TERM; echo err >&2";
    let terminal = Terminal::new(100, 30);
    let (finished, has_typed) = terminal.run(&Fixture::new(), script, &[]);
    let lines = ["fd 0", "fd 1", "fd 2", "30 100", "controls", "leads", "xterm-256color", "err"];
    assert_eq!(terminal.text(), lines.join("\n"));
    assert!(finished.is_success() && finished.stderr.is_empty() && !has_typed);
}

/// What is typed while the terminal does not echo is nowhere in the output.
#[test]
fn only_echoed_input_is_output() {
    let script = "read -r -p 'name: ' a; read -rs -p 'word: ' b; echo; echo ${#a} ${#b}";
    let terminal = Terminal::new(80, 24);
    let acts: [Act<'_>; 2] =
        [("name:", &|it| it.type_in("heron\r")), ("word:", &|it| it.type_in("kingfisher\r"))];
    let (finished, has_typed) = terminal.run(&Fixture::new(), script, &acts);
    let output = String::from_utf8(finished.stdout).unwrap();
    assert_eq!(terminal.text(), "name: heron\nword:\n5 10");
    assert!(has_typed && !output.contains("kingfisher"));
}

#[test]
fn interrupt_and_size_reach_the_program() {
    // The interrupt may end `sleep` itself, if that has not begun to ignore it.
    let script = "trap 'kill $! 2>/dev/null; echo interrupted; exit 3' INT; trap 'stty size' WINCH
        sleep 1000 & echo ready; while :; do wait $!; done";
    let terminal = Terminal::new(80, 24);
    let acts: [Act<'_>; 2] =
        [("ready", &|it| it.resize(91, 17)), ("17 91", &|it| it.type_in("\x03"))];
    let (finished, _) = terminal.run(&Fixture::new(), script, &acts);
    assert_eq!((finished.cause, finished.exit_code), (None, Some(3)));
    assert!(terminal.text().ends_with("interrupted"), "{}", terminal.text());
}

/// Processes that stay in the session do not outlive a stop.
#[test]
fn a_full_screen_program_is_stopped_with_its_tree() {
    let fixture = Fixture::new();
    fs::write(fixture.folder.path().join("text"), "heron\n".repeat(500)).unwrap();
    let terminal = Terminal::new(80, 24);
    let stop: Act<'_> = ("heron", &|_| fixture.stop.set());
    let script =
        "trap '' TERM HUP; (trap '' TERM HUP; read < fifo) & vim -u NONE -i NONE -n -N text";
    let (finished, _) = terminal.run(&fixture, script, &[stop]);
    assert_eq!(finished.cause, Some(Cause::Stopped));
    assert_eq!(fixture.processes(), Vec::<String>::new());
}

#[test]
fn an_editor_writes_what_is_typed() {
    let fixture = Fixture::new();
    let terminal = Terminal::new(60, 12);
    let acts: [Act<'_>; 3] = [
        ("[New]", &|it| it.resize(70, 16)),
        // The empty lines of the editor reach the new end of the screen.
        ("~\n~\n~\n~\n~\n~\n~\n~\n~\n~\n~\n~\n~", &|it| it.type_in("ikingfisher\x1b[Dx\x1b")),
        ("kingfishexr", &|it| it.type_in(":wq\r")),
    ];
    let (finished, has_typed) = terminal.run(&fixture, "vim -u NONE -i NONE -n -N note.txt", &acts);
    assert!(finished.is_success() && has_typed);
    let written = fs::read_to_string(fixture.folder.path().join("note.txt")).unwrap();
    assert_eq!(written, "kingfishexr\n");
    assert!(!terminal.screen.borrow().modes().alternate_screen);
}

#[test]
fn a_pager_scrolls_and_quits() {
    let fixture = Fixture::new();
    let lines: String = (0..200).map(|line| format!("line {line}\n")).collect();
    fs::write(fixture.folder.path().join("text"), lines).unwrap();
    let terminal = Terminal::new(60, 10);
    // The pager shows its prompt when it waits for a key; the first one is the name of the file.
    let acts: [Act<'_>; 3] = [
        ("line 8\ntext", &|it| it.type_in(" ")),
        // A signal between its prompt and its wait for a key is noticed by the pager only at the next key, so one follows
        // that changes nothing: `r` draws the screen again.
        ("line 17\n:", &|it| {
            it.resize(60, 20);
            it.type_in("r");
        }),
        ("line 27\n:", &|it| it.type_in("q")),
    ];
    let (finished, _) = terminal.run(&fixture, "LESS= less text", &acts);
    assert!(finished.is_success());
}

#[test]
fn a_monitor_redraws_after_a_resize() {
    let terminal = Terminal::new(80, 24);
    // Its help takes the place of the list, which is therefore drawn again in the new size.
    let acts: [Act<'_>; 3] = [
        ("PID", &|it| {
            it.resize(100, 40);
            it.type_in("h");
        }),
        ("Help for Interactive Commands", &|it| it.type_in("q")),
        ("PID USER", &|it| it.type_in("q")),
    ];
    let (finished, _) = terminal.run(&Fixture::new(), "top -d 1", &acts);
    assert!(finished.is_success(), "{finished:?}");
    assert!(terminal.text().contains("PID"));
}

#[test]
fn output_and_time_of_a_terminal_are_limited() {
    let fixture = Fixture::new();
    let port = TerminalPort::default();
    let terminal = port.open(Uuid::nil(), 0);
    let start = |script, timeout, output_limit| {
        let program = Program {
            profile: fixture.profile(),
            program: OsStr::new("bash"),
            arguments: &["-c", script],
            input: Some(Input::Terminal(&terminal)),
            folder: fixture.folder.path(),
            environment: &[],
            unset: &[],
            leftovers: Leftovers::Stay,
            timeout,
            output_limit,
        };
        run(&program, &fixture.stop, &|_, _| {}).unwrap()
    };
    let flood = start("yes", LONG, 1000);
    assert_eq!(flood.cause, Some(Cause::TooMuch(Stream::Stdout)));
    assert_eq!(flood.stdout.len(), 1000);
    assert!(start("read line", Duration::from_millis(200), 1000).timed_out());
}
