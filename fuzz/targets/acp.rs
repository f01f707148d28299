//! Any bytes as the output of an agent (SPEC §13): whatever it sends, our lines are messages, an approval selects the one
//! option that allows once, and a change that fits a file has the agent's new text in it.

#![no_main]

use countersign_fuzz::acp::{Choice, Client, Event, Lines};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const MAX_LINE: usize = 1 << 16;

fn message(line: &[u8]) -> Value {
    assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
    let value: Value = serde_json::from_slice(line).expect("our line is JSON");
    assert_eq!(value["jsonrpc"], "2.0");
    value
}

// The first byte says how far the session is, so that what comes later gets its share, and how the bytes are cut.
fuzz_target!(|data: &[u8]| {
    let Some((first, data)) = data.split_first() else { return };
    let mut client = Client::new("/w".to_owned(), "mend it".to_owned());
    message(&client.begin());
    if first & 1 == 1 {
        for answer in [
            &br#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#[..],
            br#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
        ] {
            assert!(client.receive(answer).is_ok());
        }
        assert!(client.has_begun());
    }
    let mut lines = Lines::default();
    let mut whole = Vec::new();
    for piece in data.chunks(usize::from(first >> 1) + 1) {
        if !lines.push(piece, MAX_LINE, |line| whole.push(line)) {
            break;
        }
    }
    for line in whole {
        let Ok(events) = client.receive(&line) else { return };
        for event in events {
            match event {
                Event::Send(line) => drop(message(&line)),
                Event::Permission(permission) => {
                    let asked: Value = serde_json::from_slice(&line).expect("it was a message");
                    let options = asked["params"]["options"].as_array().expect("it has options");
                    let allowed = message(&permission.answer(Choice::Allow));
                    let outcome = &allowed["result"]["outcome"];
                    if outcome["outcome"] == "selected" {
                        let id = &outcome["optionId"];
                        let is_it = |it: &&Value| it["optionId"] == *id;
                        let chosen: Vec<_> = options.iter().filter(is_it).collect();
                        assert!(chosen.len() == 1 && chosen[0]["kind"] == "allow_once");
                        assert!(permission.not_allowable().is_none());
                    }
                    let rejected = message(&permission.answer(Choice::Reject));
                    assert_eq!(rejected["id"], asked["id"]);
                    assert!(
                        permission.not_allowable().is_none() || outcome["outcome"] == "cancelled"
                    );
                    for diff in permission.call.diffs() {
                        for now in [None, Some(""), Some("one\ntwo\n"), Some("aaa")] {
                            if let Ok(after) = diff.applied_to(now) {
                                assert!(after.contains(&diff.new));
                            }
                        }
                    }
                }
                Event::Write(write) => {
                    let answer = message(&write.answer(Err("no")));
                    assert!(answer["error"]["code"].is_i64());
                }
                _ => {}
            }
        }
    }
});
