//! Plans that take long to review: opening another plan does not wait for them.

use super::*;

/// A query for a plan whose precondition searches a file with this text for a symbol.
fn slow_query(desktop: &Desktop, name: &str, text: &str) -> OpenPlan {
    let workspace = desktop.workspace();
    std::fs::write(workspace.join("slow.rs"), text).unwrap();
    std::fs::write(workspace.join("with.txt"), "fn a() {}").unwrap();
    let step = json!({"step_id": "s", "tool": "splice_patch", "precondition": "symbol exists",
        "arguments": {"file": "slow.rs", "symbol": "a", "with": "with.txt"}});
    let path = workspace.join(name);
    let plan = json!({"plan_id": "p", "intent": "MUTATE", "steps": [step]});
    std::fs::write(&path, plan.to_string()).unwrap();
    super::open(path)
}

/// A source file that takes too long to parse is a finding of the opened plan.
#[test]
fn a_file_beyond_limits_is_a_finding() {
    let desktop = desktop();
    let query = slow_query(&desktop, "slow.json", &"(".repeat(300_000));
    let opened = desktop.query(query).unwrap();
    let found = &opened.findings[0];
    assert_eq!((found.code, &*found.pointer), (Code::Limit, "/steps/0/arguments"), "{found:?}");
    assert!(found.line > 0, "{found:?}");
    let review = opened.review.unwrap();
    let plan = opened.plan.unwrap();
    let workspace = review.workspace.clone();
    let query =
        PreviewStep { plan: Arc::clone(&plan), workspace: workspace.clone(), step_index: 0 };
    let preview = desktop.query(query).unwrap();
    assert!(preview.would_fail() && preview.summary.contains("it takes more than"), "{preview:?}");
    let simulation = desktop.query(Simulate { plan, workspace }).unwrap();
    assert_eq!(simulation.findings[0].code, Code::Limit);
}

#[test]
fn opening_another_plan_stops_the_earlier_one() {
    let desktop = desktop();
    let first = slow_query(&desktop, "slow.json", &"a,".repeat(1 << 20));
    let first = desktop.send(first);
    let path = desktop.workspace().join("fast.json");
    let step = json!({"step_id": "s", "tool": "file_read", "arguments": {"path": "with.txt"}});
    let plan = json!({"plan_id": "q", "intent": "READ", "steps": [step]});
    std::fs::write(&path, plan.to_string()).unwrap();
    let second = desktop.send(open(path));
    desktop.take_next();
    assert_eq!(failure(first.try_recv().unwrap()).code, Code::Cancelled);
    desktop.take_next();
    assert!(second.try_recv().unwrap().unwrap().findings.is_empty());
}

#[test]
fn opening_the_same_plan_stops_nothing() {
    let desktop = desktop();
    let both =
        [(), ()].map(|()| desktop.send(slow_query(&desktop, "slow.json", &"(".repeat(300_000))));
    for answer in both {
        desktop.take_next();
        answer.try_recv().unwrap().unwrap();
    }
}
