//! Any bytes for the scan that runs before every parser (SPEC §7.1).

#![no_main]

use countersign_fuzz::command::{check_place, text};
use countersign_fuzz::risk::refused_span;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let command = text(data);
    let answer = refused_span(&command);
    assert_eq!(refused_span(&command), answer, "the same command gave another answer");
    match &answer {
        Some(place) => check_place(&command, place),
        None => assert!(command.len() <= 64 * 1024, "longer than what is read"),
    }
    // A refused text remains refused with any text after it.
    if answer.is_some() {
        assert!(refused_span(&format!("{command} x")).is_some(), "{command:?}");
    }
});
