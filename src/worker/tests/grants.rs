//! What a person grants to one plan does not hold for the next one.

use super::*;
use crate::authorization::{Grants, PlanChoices};

#[test]
fn grants_end_with_their_plan() {
    let desktop = desktop();
    let path = desktop.workspace().join("a.plan.json");
    let step = json!({"step_id": "s", "tool": "file_read", "arguments": {"path": "a.txt"}});
    let plan = json!({"plan_id": "p", "intent": "READ", "steps": [step]});
    std::fs::write(&path, plan.to_string()).unwrap();
    let grants = Grants { network: true, ..Grants::default() };
    for grants in [grants, Grants::default()] {
        let choices = PlanChoices { grants: grants.clone(), ..PlanChoices::default() };
        let opened = desktop.query(OpenPlan { choices, ..open(path.clone()) });
        assert_eq!(opened.unwrap().review.unwrap().binding.grants, grants);
    }
}
