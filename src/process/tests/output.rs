//! The output of a program: separated, limited, captured.

use super::*;

/// Counts the bytes and lines it gets, and fails beyond its limit of bytes.
struct CountingCapture {
    bytes: Cell<u64>,
    lines: Cell<u64>,
    limit: u64,
    quiet_times: RefCell<Vec<Duration>>,
    on_quiet: Box<dyn Fn(usize)>,
}

impl CountingCapture {
    fn with_limit(limit: u64) -> Self {
        let (bytes, lines) = (Cell::new(0), Cell::new(0));
        Self { bytes, lines, limit, quiet_times: RefCell::default(), on_quiet: Box::new(|_| {}) }
    }
}

impl Capture for CountingCapture {
    fn keep(&self, _: Stream, bytes: &[u8]) -> bool {
        self.bytes.set(self.bytes.get() + bytes.len() as u64);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.lines.set(self.lines.get() + lines as u64);
        self.bytes.get() <= self.limit
    }

    fn quiet(&self, so_far: Duration) {
        self.quiet_times.borrow_mut().push(so_far);
        (self.on_quiet)(self.quiet_times.borrow().len());
    }
}

impl Fixture {
    fn streamed(
        &self,
        script: &str,
        limit: u64,
        capture: &CountingCapture,
    ) -> Finished<StreamEnds> {
        let program = Program {
            profile: self.profile(),
            program: OsStr::new("bash"),
            arguments: &["-c", script],
            input: None,
            folder: self.folder.path(),
            environment: &[],
            unset: &[],
            leftovers: Leftovers::Stay,
            timeout: LONG,
            output_limit: limit,
        };
        let hidden = &super::super::NOTHING_HIDDEN;
        let io = ProcessIo { stop: &self.stop, output: &|_, _| {}, capture, hidden };
        supervise(&program, io, Duration::from_millis(30)).unwrap()
    }
}

#[test]
fn outputs_stay_separate_and_exit_code_is_kept() {
    let fixture = Fixture::new();
    let seen = RefCell::new((String::new(), String::new()));
    let script = r"printf 'a\377\303'; printf 'gr\303\274n %s' $HERON >&2; exit 7";
    let finished = fixture.script(script, LONG, u64::MAX, &|stream, text| {
        let mut seen = seen.borrow_mut();
        match stream {
            Stream::Stdout => seen.0.push_str(text),
            Stream::Stderr => seen.1.push_str(text),
        }
    });
    assert_eq!((finished.exit_code, finished.signal), (Some(7), None));
    assert_eq!((finished.cause, finished.left_open), (None, false));
    assert_eq!(finished.stdout, b"a\xff\xc3");
    assert_eq!(finished.stderr, "grün grey".as_bytes());
    assert_eq!(seen.into_inner(), ("a\u{fffd}\u{fffd}".to_owned(), "grün grey".to_owned()));
}

#[test]
fn output_over_the_limit_ends_the_program() {
    let fixture = Fixture::new();
    let finished = fixture.script("exec yes", LONG, 100_001, &|_, _| {});
    assert_eq!(finished.cause, Some(Cause::TooMuch(Stream::Stdout)));
    assert_eq!(finished.stdout.len(), 100_001);
    let finished = fixture.script("printf 12345; printf 1234 >&2", LONG, 5, &|_, _| {});
    assert_eq!((finished.cause, finished.exit_code), (None, Some(0)));
    let finished = fixture.script("printf 123456 >&2", LONG, 5, &|_, _| {});
    assert_eq!(finished.cause, Some(Cause::TooMuch(Stream::Stderr)));
    assert_eq!(finished.stderr, b"12345");
}

#[test]
fn output_faster_than_its_reader_is_kept_whole() {
    let bytes = RefCell::new(0);
    let finished = Fixture::new().script(
        "head -c 33554432 /dev/zero & head -c 33554432 /dev/zero >&2; wait",
        LONG,
        u64::MAX,
        &|_, text| *bytes.borrow_mut() += text.len(),
    );
    let kept = [finished.stdout.len(), finished.stderr.len()];
    assert_eq!(kept, [32 << 20, 32 << 20]);
    assert_eq!(bytes.into_inner(), 64 << 20);
}

// Many lines, one long line, control sequences, invalid UTF-8, and both streams at once.
#[test]
fn any_output_is_captured_whole() {
    const LIMIT: u64 = 2 << 30;
    for (script, bytes, lines) in [
        ("yes | head -n 10000000", 20_000_000, 10_000_000),
        ("head -c 104857600 /dev/zero | tr '\\0' x", 100 << 20, 0),
        (
            "for i in {1..2000}; do printf '\\e[2J\\e[H\\e[10A\\rheron %d\\e[K' $((i%10)); done",
            46_000,
            0,
        ),
        ("for i in {1..2000}; do printf '\\xff\\xc3\\x28\\n'; done", 8_000, 2_000),
        ("yes a | head -c 30000000 & yes b | head -c 30000000 >&2; wait", 60_000_000, 30_000_000),
    ] {
        let capture = CountingCapture::with_limit(LIMIT);
        let finished = Fixture::new().streamed(script, LIMIT, &capture);
        assert_eq!((finished.cause, finished.exit_code), (None, Some(0)), "{script}");
        assert_eq!((capture.bytes.get(), capture.lines.get()), (bytes, lines), "{script}");
        assert_eq!(finished.stdout.bytes() + finished.stderr.bytes(), bytes, "{script}");
    }
}

#[test]
fn failing_capture_ends_the_program() {
    let capture = CountingCapture::with_limit(1_000_000);
    let fixture = Fixture::new();
    let finished = fixture.streamed("trap '' TERM; yes", 2 << 30, &capture);
    assert_eq!((finished.cause, finished.signal), (Some(Cause::NotKept), Some(9)));
    let seen = capture.bytes.get();
    assert!((1_000_001..3_000_000).contains(&seen), "nothing is handed over afterwards: {seen}");
    assert!(fixture.processes().is_empty());
}

#[test]
fn each_silence_is_reported_once() {
    let fixture = Fixture::new();
    let fifo = fixture.fifo();
    let mut capture = CountingCapture::with_limit(u64::MAX);
    capture.on_quiet = Box::new(move |_| {
        let fifo = fifo.clone();
        let later = move || {
            // Long enough for a second notification, if there were one.
            let (_sender, nothing) = sync_channel::<()>(0);
            assert!(nothing.recv_timeout(Duration::from_millis(150)).is_err());
            drop(OpenOptions::new().write(true).open(fifo).unwrap());
        };
        thread::Builder::new().spawn(later).unwrap();
    });
    let finished = fixture.streamed("cat fifo; echo b; cat fifo", 100, &capture);
    assert_eq!((finished.cause, finished.exit_code), (None, Some(0)));
    let times = capture.quiet_times.into_inner();
    assert!(times.len() == 2 && times.iter().all(|it| it.as_millis() >= 30), "{times:?}");
}
