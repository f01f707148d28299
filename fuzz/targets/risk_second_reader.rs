//! Any bytes for the parser with the grammar of editors (SPEC §7.1).

#![no_main]

use countersign_fuzz::command::{check_place, text};
use countersign_fuzz::risk::{RiskLevel, Shell, UserRules, of_command, second_parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let command = text(data);
    // As in the classifier, it gets only texts that are not dangerous already, because its error recovery can
    // be very slow.
    let verdict = of_command(&command, Shell::Bash, &UserRules::default());
    if verdict.level > RiskLevel::Caution && verdict.rule != "readers-disagree" {
        return;
    }
    let spans = second_parse(&command);
    assert_eq!(second_parse(&command), spans, "the same command gave another answer");
    for place in spans.iter().flat_map(|it| it.commands.iter().chain(&it.words)) {
        check_place(&command, place);
    }
});
