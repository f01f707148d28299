//! Calls of debuggers that only inspect a program, a core file or a board.

use super::Word;
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::readers::is_known;

/// Whether a program is GDB, one of its cross versions, or LLDB.
pub(super) fn is_debugger(program: &str) -> bool {
    listed(
        "gdb lldb gdb-multiarch arm-none-eabi-gdb riscv32-unknown-elf-gdb riscv64-unknown-elf-gdb \
        xtensa-esp32-elf-gdb avr-gdb",
        program,
    )
}

/// Options that only reduce output, skip init files, or exit after the commands.
const QUIET: &str = "-batch --batch -q -quiet --quiet -nx -n -nh --nx --nh";

/// Whether a call only inspects or steps through a program, or controls a board: every debugger command is listed, and
/// every other word is a harmless option, a process id, the program or its core file. The process id may be the output
/// of another command.
pub(super) fn inspects(words: &[Word]) -> bool {
    let (mut commands, mut files) = (0, 0);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-ex" | "--eval-command" => {
                let command = rest.next().filter(|it| !it.has_unknown() && !it.escaped);
                if !command.is_some_and(|it| is_inspection(&it.text) || controls_board(&it.text)) {
                    return false;
                }
                commands += 1;
            }
            "-p" | "--pid" => {
                let is_process = |it: &Word| {
                    let number = it.text.bytes().all(|it| it.is_ascii_digit());
                    !it.text.starts_with('-') && (number || it.inner.is_some())
                };
                if !rest.next().is_some_and(is_process) {
                    return false;
                }
            }
            text if listed(QUIET, text) => {}
            text if text.starts_with('-') || word.glob || !is_known(text) => return false,
            _ => files += 1,
        }
    }
    commands > 0 && files < 3
}

/// Whether a GDB command only connects to a debug server on this computer, resets or halts its board, shows the
/// backtraces of all threads, or disconnects.
fn controls_board(text: &str) -> bool {
    static BOARD: LazyRegex = LazyRegex::new(
        r"^(target (extended-)?remote (localhost|127\.0\.0\.1)?:\d+|mon(itor)? (reset|halt|reset (halt|init|run))|thread apply all (bt|backtrace|where)( full| \d+)?|detach|disconnect)$",
    );
    BOARD.is_match(text)
}

/// The index of the debugged program; `None` unless all of the debugger's commands only run and inspect the program.
pub(super) fn debugged(words: &[Word]) -> Option<usize> {
    let mut index = 0;
    let mut commands = 0;
    while let Some(word) = words.get(index) {
        index += 1;
        match word.text.as_str() {
            "-ex" | "-iex" | "-o" | "--eval-command" | "--one-line" => {
                commands += 1;
                if !is_inspection(&words.get(index)?.text) {
                    return None;
                }
                index += 1;
            }
            text if listed(QUIET, text) || matches!(text, "-b" | "-return-child-result") => {}
            "--args" | "-args" | "--" => break,
            text if text.starts_with('-') => return None,
            _ => {
                index -= 1;
                break;
            }
        }
    }
    let first = words.get(index).filter(|word| !word.has_unknown() && !word.text.starts_with('-'));
    // Without `--args` or `--`, the debugger parses words after the program as its own, so there must be none.
    let separated = words.iter().take(index).any(|it| listed("--args -args --", &it.text));
    let alone = separated || words.len() <= index + 1;
    (commands > 0 && first.is_some() && alone).then_some(index)
}

/// Whether a debugger command only controls execution, prints, or sets listed options, without calling a function.
fn is_inspection(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (first, rest) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
    let plain = |it: &&str| {
        it.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:*&->[]".contains(&b))
            && !it.starts_with("->")
    };
    let all = rest.iter().all(plain);
    match first {
        "run" | "r" | "start" | "quit" | "q" | "continue" | "c" => rest.is_empty(),
        "bt" | "backtrace" | "where" | "info" | "i" | "list" | "l" | "frame" | "f" | "up"
        | "down" | "break" | "b" | "tbreak" | "next" | "step" | "n" | "s" | "finish" | "print"
        | "p" | "ptype" | "whatis" => all,
        "thread" => matches!(
            rest.as_slice(),
            ["apply", "all", "bt"]
                | ["apply", "all", "bt", "full"]
                | ["backtrace"]
                | ["backtrace", "all"]
        ),
        "set" => {
            matches!(rest.as_slice(), ["pagination" | "confirm" | "width" | "height" | "verbose" | "breakpoint", ..] if all)
        }
        "process" => rest.as_slice() == ["launch"],
        _ => false,
    }
}
