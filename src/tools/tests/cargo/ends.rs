//! Checks that a stop or a time limit ends.

use super::*;

/// A project whose build script waits forever.
fn waiting() -> Fixture {
    let fixture = one("");
    let fifo = fixture.path("fifo");
    let script = format!("fn main() {{ std::fs::read({fifo:?}).unwrap(); }}");
    fs::write(fixture.path("build.rs"), script).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    fixture
}

/// The running programs whose executable is below a folder.
fn programs_below(folder: &std::path::Path) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let programs = processes.filter_map(|process| fs::read_link(process.path().join("exe")).ok());
    programs.filter(|program| program.starts_with(folder)).collect()
}

#[test]
fn stop_ends_the_check_and_its_processes() {
    let fixture = waiting();
    let (call_result, running) = thread::scope(|scope| {
        let other = scope.spawn(|| {
            // Returns when the build script has opened the pipe.
            let pipe = OpenOptions::new().write(true).open(fixture.path("fifo")).unwrap();
            let running = programs_below(fixture.folder.path());
            fixture.stop.set();
            // The script waits as long as this is open.
            (pipe, running)
        });
        let (call_result, _) = fixture.check(".");
        let left = programs_below(fixture.folder.path());
        assert!(left.is_empty(), "{left:?}");
        (call_result, other.join().unwrap().1)
    });
    assert_eq!(running.len(), 1, "the build script ran: {running:?}");
    assert_eq!(call_result.error.unwrap().code(), Code::Cancelled);
    // Other checks of the same user may hold the lock first, and cargo prints that too.
    let stderr = String::from_utf8(call_result.stderr.unwrap()).unwrap();
    assert!(stderr.contains("   Compiling one"), "what came is kept: {stderr}");
    assert_eq!(call_result.result["timed_out"], false);
}

#[test]
fn timeout_ends_the_check() {
    let mut fixture = waiting();
    fixture.tools.check_timeout = Duration::from_millis(1500);
    let (call_result, _) = fixture.check(".");
    let error = call_result.error.unwrap();
    assert_eq!(error.code(), Code::TimedOut);
    assert_eq!(error.to_string(), "cargo check was still running after 1500 ms and was ended");
    assert_eq!(call_result.result["timed_out"], true);
    assert!(programs_below(fixture.folder.path()).is_empty());
}

/// The messages of a check that was ended are incomplete, so its suggestions are not used.
#[test]
fn ended_check_gives_no_suggestions() {
    let fixture = waiting();
    let manifest = format!("{}[workspace]\nmembers = [\"broken\"]\n", package("one"));
    fs::write(fixture.path("Cargo.toml"), manifest).unwrap();
    fs::create_dir_all(fixture.path("broken/src")).unwrap();
    fs::write(fixture.path("broken/Cargo.toml"), package("broken")).unwrap();
    fs::write(fixture.path("broken/src/lib.rs"), "pub fn f() -> u32 {\n    \"no\"\n}\n").unwrap();
    // The error of one package arrives while the build script of the other one waits.
    let output = |_, text: &str| {
        if text.contains("E0308") {
            fixture.stop.set();
        }
    };
    let error = fixture.tools.suggestions(&fixture.stop, &output).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled, "{error}");
}
