//! Tests of the records.

use super::*;

#[test]
fn decision_is_written_as_a_sentence() {
    for (decision, (place, user), expected) in [
        ("authorize", ("window", "ada"), "Authorized in the window by ada"),
        ("cancel", ("terminal", ""), "Denied at the terminal"),
        ("authorize", ("command_line_yes", "ci"), "Authorized by --yes on the command line by ci"),
        ("later_word", ("elsewhere", "ada"), "later_word elsewhere by ada"),
    ] {
        let record = DecisionRecord {
            decision: decision.to_owned(),
            by: DecidedBy {
                place: place.to_owned(),
                user: (!user.is_empty()).then(|| user.to_owned()),
            },
            note: String::new(),
            timestamp_ms: 0,
        };
        assert_eq!(record.sentence(), expected);
    }
}
