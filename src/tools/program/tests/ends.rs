//! Programs that a stop or a time limit ends.

use super::*;

#[test]
fn timeout_ends_the_program() {
    let mut fixture =
        app(&[("src/main.rs", "fn main() { println!(\"here\"); loop { std::thread::park() } }")]);
    fixture.tools.run_timeout = Duration::from_millis(700);
    let (call_result, [stdout, _]) = fixture.run(None, &[]);
    let (code, message) = error(&call_result);
    assert_eq!(code, Code::TimedOut);
    assert_eq!(message, "the program was still running after 700 ms and was ended");
    assert_eq!(stdout, "here\n", "what came is kept");
    assert_eq!(call_result.result["timed_out"], true);
}

#[test]
fn timeout_ends_the_check() {
    let mut fixture =
        app(&[("src/lib.rs", ""), ("build.rs", "fn main() { loop { std::thread::park() } }")]);
    fixture.tools.check_timeout = Duration::from_millis(1500);
    let (call_result, _) = fixture.verify(VerifyScope::Local);
    let (code, message) = error(&call_result);
    assert_eq!(code, Code::TimedOut);
    assert_eq!(message, "cargo check was still running after 1500 ms and was ended");
}

#[test]
fn a_stop_ends_the_program_at_once() {
    let fixture =
        app(&[("src/main.rs", "fn main() { println!(\"here\"); loop { std::thread::park() } }")]);
    let call = ToolCall::Run { build: Build::default(), args: Vec::new() };
    static NOTHING: BTreeMap<String, FileState> = BTreeMap::new();
    let call_result = fixture.tools.invoke(
        &call,
        &Context {
            expected: &NOTHING,
            stop: &fixture.stop,
            execution_id: Uuid::nil(),
            output: &|_, text| {
                if text.contains("here") {
                    fixture.stop.set();
                }
            },
            capture: &Kept::default(),
            walls: crate::authorization::StepWalls::NONE,
            terminal: None,
        },
    );
    assert_eq!(error(&call_result).0, Code::Cancelled);
    assert_eq!(call_result.captured.unwrap()[0].excerpt().text, "here\n");
    // Nothing starts after a stop.
    let (call_result, _) = fixture.verify(VerifyScope::Local);
    assert_eq!(error(&call_result).0, Code::Cancelled);
    assert_eq!(call_result.result, Value::Null);
}
