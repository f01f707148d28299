//! Any bytes for our own parser of commands (SPEC §7.1).

#![no_main]

use countersign_fuzz::command::{check_place, text};
use countersign_fuzz::risk::first_parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let command = text(data);
    let spans = first_parse(&command);
    assert_eq!(first_parse(&command), spans, "the same command gave another answer");
    let Some(spans) = spans else { return };
    for place in spans.commands.iter().chain(&spans.words) {
        check_place(&command, place);
    }
    // A complete command stays complete with another one after it.
    let more = first_parse(&format!("{command}\ntrue"));
    let more = more.unwrap_or_else(|| panic!("not read with one more command: {command:?}"));
    assert!(more.commands.len() > spans.commands.len() || command.ends_with('\\'), "{command:?}");
});
