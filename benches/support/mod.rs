//! Shared by the benches: alternating measurements, medians, one line of result, and [`Bench`], which runs plans.
//!
//! A claim is a ratio to another measurement of the same run, so that noise of the machine affects both sides
//! alike.

use std::fmt::{Debug, Formatter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign::authorization::{ApprovedPlan, Method, PlanAuthorization};
use countersign::engine::{
    AutoApprove, Clock as _, ControlHandle, Executor, ExecutorDeps, NoopProgress, SystemClock,
    WorkspaceChoice, review,
};
use countersign::evidence::EvidenceStore;
use countersign::plan::{Plan, parse};
use countersign::risk::Policy;
use countersign::run::{ExecutionResult, RunStatus};

/// The elapsed time of `work`.
pub fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

/// Measures `ours` and `theirs` in turn and prints the result. The exit status is a success if the claim holds.
pub fn claim(
    what: &str,
    at_most: f64,
    pairs: usize,
    ours: impl FnMut() -> Duration,
    theirs: impl FnMut() -> Duration,
) -> ExitCode {
    let (ours, theirs) = in_pairs(pairs, ours, theirs);
    exit(holds(what, at_most, ours, theirs))
}

/// The measurements of `ours` and `theirs`, taken in turn.
pub fn in_pairs<T>(
    pairs: usize,
    mut ours: impl FnMut() -> T,
    mut theirs: impl FnMut() -> T,
) -> (Vec<T>, Vec<T>) {
    // The first call of each warms caches, and its result is dropped.
    ours();
    theirs();
    (0..pairs).map(|_| (ours(), theirs())).unzip()
}

/// Prints the medians, their ratio and the claim. Returns whether the claim holds.
pub fn holds<M: Measure>(what: &str, at_most: f64, ours: Vec<M>, theirs: Vec<M>) -> bool {
    let (our, their) = (median(ours), median(theirs));
    let ratio = our.amount() / their.amount();
    let holds = ratio <= at_most;
    let verdict = if holds { "holds" } else { "MISSES" };
    println!(
        "{what}: {our:.1?} against {their:.1?}, ratio {ratio:.2}, at most {at_most}: {verdict}"
    );
    holds
}

/// The exit status of a bench: a success if all its claims hold.
pub fn exit(holds: bool) -> ExitCode {
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A measured quantity.
pub trait Measure: Copy + Ord + Debug {
    /// The quantity as a number. Only the ratio of two of them is used.
    fn amount(self) -> f64;
}

impl Measure for Duration {
    fn amount(self) -> f64 {
        self.as_secs_f64()
    }
}

/// An amount of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl Measure for Bytes {
    fn amount(self) -> f64 {
        self.0 as f64
    }
}

impl Debug for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} MiB", self.amount() / f64::from(1 << 20))
    }
}

fn median<M: Measure>(mut measures: Vec<M>) -> M {
    measures.sort_unstable();
    *measures.get(measures.len() / 2).expect("at least one pair")
}

/// A workspace and an evidence folder on the same file system.
pub struct Bench {
    folder: PathBuf,
    /// Deletes the folder at the end.
    _temporary: Option<tempfile::TempDir>,
    store: Option<EvidenceStore>,
}

impl Bench {
    pub fn new() -> Self {
        // Not in the system's temporary folder, which may be in memory, where fsync costs nothing.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
        std::fs::create_dir_all(&root).expect("target");
        Self::in_folder(tempfile::tempdir_in(root).expect("a folder"))
    }

    pub fn in_folder(folder: tempfile::TempDir) -> Self {
        let path = folder.path().to_owned();
        Self { _temporary: Some(folder), ..Self::at(path) }
    }

    /// In a folder that stays, and may have evidence already.
    pub fn at(folder: PathBuf) -> Self {
        std::fs::create_dir_all(folder.join("work")).expect("a workspace");
        let store =
            EvidenceStore::open(&folder.join("evidence"), folder.join("keys")).expect("evidence");
        Self { folder, _temporary: None, store: Some(store) }
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.join("work")
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Authorizes the plan, then measures its run. The review is not measured.
    pub fn run(&mut self, plan: &Plan) -> (Duration, ExecutionResult) {
        let clock = SystemClock::default();
        let choice = WorkspaceChoice { folder: self.workspace(), reason: String::new() };
        let policy = Policy::default();
        let review = review(plan, &choice, &policy, None).expect("a review");
        let now_ms = clock.now_ms();
        let authorization =
            PlanAuthorization::pending(plan, review.binding, Method::CommandLineYes, now_ms)
                .approve(now_ms, policy.authorization_ttl_ms);
        let deps = ExecutorDeps {
            policy,
            clock: Arc::new(clock),
            confirmation: Box::new(AutoApprove),
            progress: Arc::new(NoopProgress),
            control: ControlHandle::default(),
            terminal: None,
            secrets: None,
            passphrase: None,
        };
        let mut executor = Executor::new(self.store.take().expect("the store"), deps);
        let approved = ApprovedPlan { plan: plan.clone(), authorization };
        let start = Instant::now();
        let result = executor.execute(approved).expect("a run");
        let took = start.elapsed();
        assert_eq!(result.status, RunStatus::Completed, "{:?}", result.step_results.last());
        self.store = Some(executor.into_store());
        (took, result)
    }
}

/// A step plan of these steps.
pub fn plan(steps: Vec<serde_json::Value>) -> Plan {
    let text = serde_json::json!({ "plan_id": "bench", "intent": "MUTATE", "steps": steps });
    let parsed = parse(text.to_string().as_bytes());
    assert!(parsed.is_valid(), "{:?}", parsed.findings);
    parsed.plan.expect("a plan")
}
