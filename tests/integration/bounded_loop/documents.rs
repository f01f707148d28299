//! What the guide and the schema say about loops.

use serde_json::Value;

use crate::harness::home::{Done, Home};

#[test]
fn the_user_guide_explains_each_stop_reason() {
    let page = include_str!("../../../docs/loop.md");
    for code in countersign::run::StopCode::ALL {
        let row = format!("| `{}` | {} | {} |", code.as_str(), code.meaning(), code.next());
        assert!(page.contains(&row), "docs/loop.md lacks:\n{row}");
    }
}

#[test]
fn the_schema_of_the_request_is_printed() {
    let home = Home::new();
    let mut command = home.command();
    let done = Done::of(command.args(["schema", "planner_request"])).exits(0);
    let printed: Value = serde_json::from_str(&done.stdout).unwrap();
    let shipped: Value = serde_json::from_str(countersign::autonomy::REQUEST_SCHEMA).unwrap();
    assert_eq!(printed, shipped);
}
