//! Any bytes for our own parser of commands (SPEC §7.1).

#![no_main]

use countersign_fuzz::command::{check_place, text};
use countersign_fuzz::risk::first_reading;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let command = text(data);
    let reading = first_reading(&command);
    assert_eq!(first_reading(&command), reading, "the same command gave another answer");
    let Some(reading) = reading else { return };
    for place in reading.commands.iter().chain(&reading.words) {
        check_place(&command, place);
    }
    // A complete command stays complete with another one after it.
    let more = first_reading(&format!("{command}\ntrue"));
    let more = more.unwrap_or_else(|| panic!("not read with one more command: {command:?}"));
    assert!(more.commands.len() > reading.commands.len() || command.ends_with('\\'), "{command:?}");
});
