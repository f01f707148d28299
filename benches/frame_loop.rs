//! The processor time of a frame of the loop page for a loop of a hundred attempts, with six of them expanded
//! against one, while the mouse moves over the attempts and while they are scrolled.
//!
//! Each loop really runs, with a planner whose plans all fail, and is then shown from the evidence.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(dead_code, reason = "each bench uses its part of the support")]

#[path = "support/frames.rs"]
mod frames;
mod support;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use countersign::app::Options;
use countersign::authorization::Method;
use countersign::autonomy::{
    AuthorizationRequest, BoundedLoop, LoopDeps, LoopOrder, LoopSetup, PlanAuthorizer,
    PlanDecision, resolve,
};
use countersign::engine::{AutoApprove, ControlHandle, NoopProgress, SystemClock, WorkspaceChoice};
use countersign::evidence::EvidenceLocation;
use countersign::risk::Policy;
use countersign::run::LookScope;
use egui::Key;
use frames::{Frames, fast_folder};
use support::{Bench, exit, holds, in_pairs};

const AT_MOST: f64 = 1.5;
const PAIRS: usize = 31;
const GOAL: &str = "The egg is laid";

/// Prints a different plan each time; each fails.
const PLANNER: &str = r#"cat > /dev/null; echo x >> ../asked; n=$(wc -l < ../asked | tr -d ' '); echo "try $n" >&2
printf '{"goal": "g", "steps": ['; for i in 1 2 3 4 5 6 7 8 9; do printf '{"command": "true %s %s"}, ' "$n" "$i"; done
printf '{"command": "exit 3"}]}'"#;

fn main() -> ExitCode {
    let (many_records, mut many) = open(100, 6);
    let (few_records, mut few) = open(100, 1);
    let what = "of a loop, 100 attempts, 6 unfolded against 1";
    let (ours, theirs) = in_pairs(PAIRS, || many.hovering(), || few.hovering());
    let mouse = holds(&format!("a frame under the mouse {what}"), AT_MOST, ours, theirs);
    let (ours, theirs) = in_pairs(PAIRS, || many.scrolling(), || few.scrolling());
    let wheel = holds(&format!("a frame under the wheel {what}"), AT_MOST, ours, theirs);
    drop((many_records, few_records));
    exit(mouse && wheel)
}

/// The page of a loop of `attempts` attempts, with the first `unfolded` of them expanded.
fn open(attempts: u32, unfolded: u32) -> (Bench, Frames) {
    let bench = Bench::in_folder(fast_folder());
    run(&bench, attempts);
    let mut frames = Frames::open(bench.folder(), Options::default());
    frames.press_with_ctrl(Key::Num4);
    frames.click_on(GOAL);
    // From the bottom, so that the attempts above stay visible.
    for number in (1..=unfolded).rev() {
        frames.click_on(&format!("Attempt {number} of {attempts}"));
        frames.draw(2);
    }
    frames.until("The planner proposed");
    (bench, frames)
}

fn run(bench: &Bench, max_attempts: u32) {
    let workspace = bench.workspace();
    let program = resolve(PLANNER, &workspace).expect("a planner");
    let order = LoopOrder {
        goal: GOAL.to_owned(),
        planner: "a planner".to_owned(),
        planner_timeout: Duration::from_secs(60),
        max_attempts,
        verify: None,
        workspace: WorkspaceChoice { folder: workspace, reason: String::new() },
        class: None,
        looks: LookScope::Workspace,
        target: None,
        plan_only: false,
    };
    let location =
        EvidenceLocation::new(bench.folder().join("evidence"), bench.folder().join("keys"));
    let policy = Policy::default();
    let setup = LoopSetup { order, program, method: Method::Window, location, policy };
    let deps = LoopDeps {
        clock: Arc::new(SystemClock::default()),
        confirmation: Box::new(AutoApprove),
        progress: Arc::new(NoopProgress),
        control: ControlHandle::default(),
        authorizer: Box::new(AuthorizeAll),
        terminal: None,
        secrets: None,
        passphrase: None,
    };
    let outcome = BoundedLoop::run(&setup, deps).expect("a loop");
    assert_eq!(outcome.stop_reason.detail.attempt, Some(max_attempts), "{:?}", outcome.stop_reason);
}

/// Authorizes every plan.
struct AuthorizeAll;

impl PlanAuthorizer for AuthorizeAll {
    fn show(&mut self, _: &AuthorizationRequest<'_>) {}

    fn authorize(&mut self, _: &AuthorizationRequest<'_>) -> PlanDecision {
        PlanDecision::Approve { method: Method::CommandLineYes, note: String::new() }
    }
}
