//! Debuggers that are told, in the command line, only to look at a program, a core file or a board.

use super::interpreter::looks;
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::readers::is_known;
use super::syntax::Word;

/// Names of the debuggers that read GDB's commands.
pub(super) fn is_debugger(program: &str) -> bool {
    listed(
        "gdb lldb gdb-multiarch arm-none-eabi-gdb riscv32-unknown-elf-gdb riscv64-unknown-elf-gdb \
        xtensa-esp32-elf-gdb avr-gdb",
        program,
    )
}

/// Whether every command of a call is known to look only, and every other word is an option that changes nothing, or
/// the program with its core file. A process may be named by what another command prints.
pub(super) fn inspects(words: &[Word]) -> bool {
    let (mut commands, mut files) = (0, 0);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-ex" | "--eval-command" => {
                let Some(command) = rest.next().filter(|it| !it.unknown() && !it.escaped) else {
                    return false;
                };
                if !looks(&command.text) && !steers(&command.text) {
                    return false;
                }
                commands += 1;
            }
            "-p" | "--pid" => {
                let Some(process) = rest.next().filter(|it| !it.text.starts_with('-')) else {
                    return false;
                };
                let number = process.text.bytes().all(|it| it.is_ascii_digit());
                if !number && process.inner.is_none() {
                    return false;
                }
            }
            "-batch" | "--batch" | "-q" | "-quiet" | "--quiet" | "-nx" | "-n" | "-nh" | "--nx"
            | "--nh" => {}
            text if text.starts_with('-') || word.glob || !is_known(text) => return false,
            _ => files += 1,
        }
    }
    commands > 0 && files < 3
}

/// Commands for a board that hangs on this computer.
fn steers(text: &str) -> bool {
    static BOARD: LazyRegex = LazyRegex::new(
        r"^(target (extended-)?remote (localhost|127\.0\.0\.1)?:\d+|mon(itor)? (reset|halt|reset (halt|init|run))|thread apply all (bt|backtrace|where)( full| \d+)?|detach|disconnect)$",
    );
    BOARD.is_match(text)
}
