//! The desk and plans that take long to look at: whoever opens another one, or closes the window, does not wait.

use super::*;

/// A plan whose precondition asks for a symbol of this file.
fn hard(desktop: &Desktop, name: &str, text: &str) -> Request {
    let workspace = desktop.workspace();
    std::fs::write(workspace.join("hard.rs"), text).unwrap();
    std::fs::write(workspace.join("with.txt"), "fn a() {}").unwrap();
    let step = json!({"step_id": "s", "tool": "splice_patch", "precondition": "symbol exists",
        "arguments": {"file": "hard.rs", "symbol": "a", "with": "with.txt"}});
    let path = workspace.join(name);
    let plan = json!({"plan_id": "p", "intent": "MUTATE", "steps": [step]});
    std::fs::write(&path, plan.to_string()).unwrap();
    Request::Open { path, workspace: None, grants: Default::default() }
}

#[test]
fn a_file_that_is_hard_to_read_is_a_limit_of_the_opened_plan() {
    let desktop = desktop();
    let request = hard(&desktop, "hard.json", &"(".repeat(300_000));
    let Reply::Opened(opened) = desktop.ask(request) else { panic!("not opened") };
    let found = &opened.findings[0];
    assert_eq!((found.code, &*found.pointer), (Code::Limit, "/steps/0/arguments"), "{found:?}");
    assert!(found.line > 0, "{found:?}");
    let review = opened.review.unwrap();
    let plan = opened.plan.unwrap();
    let workspace = review.workspace.clone();
    let request =
        Request::Preview { plan: Arc::clone(&plan), workspace: workspace.clone(), step_index: 0 };
    let Reply::Preview { preview, .. } = desktop.ask(request) else { panic!("no preview") };
    assert!(preview.would_fail() && preview.summary.contains("it takes more than"), "{preview:?}");
    let Reply::Simulated(simulation) = desktop.ask(Request::Simulate { plan, workspace }) else {
        panic!("not simulated")
    };
    assert_eq!(simulation.findings[0].code, Code::Limit);
}

#[test]
fn opening_another_plan_ends_what_is_looked_at_for_the_one_before() {
    let desktop = desktop();
    let first = hard(&desktop, "hard.json", &"a,".repeat(1 << 20));
    let first = desktop.desk.ask(first).unwrap();
    let path = desktop.workspace().join("easy.json");
    let step = json!({"step_id": "s", "tool": "file_read", "arguments": {"path": "with.txt"}});
    let plan = json!({"plan_id": "q", "intent": "READ", "steps": [step]});
    std::fs::write(&path, plan.to_string()).unwrap();
    let open = Request::Open { path, workspace: None, grants: Default::default() };
    let second = desktop.desk.ask(open).unwrap();
    let (ticket, reply) = desktop.desk.recv().unwrap();
    assert_eq!(ticket, first);
    assert!(matches!(&reply, Reply::Failed(Failure { code: Code::Cancelled, .. })), "{reply:?}");
    let (ticket, reply) = desktop.desk.recv().unwrap();
    assert_eq!(ticket, second);
    assert!(matches!(&reply, Reply::Opened(opened) if opened.findings.is_empty()), "{reply:?}");
}

#[test]
fn opening_the_same_plan_again_stops_nothing() {
    let desktop = desktop();
    let [first, second] = [(), ()]
        .map(|()| desktop.desk.ask(hard(&desktop, "hard.json", &"(".repeat(300_000))).unwrap());
    for asked in [first, second] {
        let (ticket, reply) = desktop.desk.recv().unwrap();
        assert_eq!(ticket, asked);
        assert!(matches!(&reply, Reply::Opened(_)), "{reply:?}");
    }
}
