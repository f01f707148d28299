//! Queries that read the evidence, and the comparison of interrupted steps with the disk.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::contents::not_in_evidence;
use super::planner_stderr::planner_stderr;
use super::{OpenPlan, Query, QueryContext, QueryError};
use crate::engine::{
    Clock as _, CommandJudge, SystemClock, compare_runs, reconcile, recorded_plan,
};
use crate::evidence::verify_with_kept_head;
use crate::plan::{Code, ShownPlan};
use crate::risk::{Policy, RiskLevel, Shell, of_step};
use crate::run::{
    AnsweredBy, Attempt, DecisionRecord, EvidenceAnswer, ExecutionDetail, Failure, JudgedCommand,
    LoopDetail, LoopSummary, PurgeNote, Question, Reconciled, RunEvent, RunSummary, SearchCounts,
    SearchPage, SearchQuery, TimeBucket, VerifyReport,
};
use crate::tools::Toolbox;

/// Lists the latest runs, at most this many.
pub struct ListRuns(pub usize);

impl Query for ListRuns {
    type Answer = Vec<RunSummary>;
    const FAILURE: &str = "The runs cannot be listed.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        Ok(context.evidence.runs(self.0)?)
    }
}

/// Replays a recorded run.
pub struct ReplayRun(pub Uuid);

/// A replayed run.
#[derive(Debug, Clone)]
pub struct ReplayedRun {
    /// The run.
    pub summary: RunSummary,
    /// The plan of the run, from its recorded bytes; `None` if they are not available.
    pub plan: Option<Arc<ShownPlan>>,
    /// The recorded risk of the steps, by the index of the step.
    pub risks: BTreeMap<usize, RiskLevel>,
    /// The risk of the other steps by the present rules, by the index of the step.
    pub judged: BTreeMap<usize, RiskLevel>,
    /// The decisions about the authorization of the run.
    pub decisions: Vec<DecisionRecord>,
    /// The events of the run, in order.
    pub events: Vec<RunEvent>,
    /// The attempt of a bounded loop to which the run belongs.
    pub attempt: Option<Attempt>,
}

impl Query for ReplayRun {
    type Answer = ReplayedRun;
    const FAILURE: &str = "The run cannot be shown.";

    fn run(self, context: &mut QueryContext) -> Result<ReplayedRun, QueryError> {
        let (Self(run_id), evidence) = (self, &mut context.evidence);
        let summary =
            evidence.run(run_id)?.ok_or_else(|| not_in_evidence(format!("run {run_id}")))?;
        let bytes = evidence.plan_of_run(run_id)?;
        let plan = bytes.and_then(|bytes| recorded_plan(&bytes, &summary)).map(Arc::new);
        let events = evidence.replay(run_id)?;
        let (risks, decisions) = evidence.verdicts_of_run(run_id)?;
        let attempt = evidence.attempt_of(run_id)?;
        let shown = plan.as_deref();
        let judged = shown.map(|plan| judged(plan, &summary, &context.setup.policy, &risks));
        let judged = judged.unwrap_or_default();
        Ok(ReplayedRun { summary, plan, events, risks, judged, decisions, attempt })
    }

    /// The topic of [`OpenPlan`], because the page shows only the plan or run that was requested last.
    fn topic() -> TypeId {
        OpenPlan::topic()
    }
}

/// Replays the run that is shown, because it is under way in another process. It has a topic of its own: it must not
/// supersede the plan that the person opens.
pub struct ReadRunAgain(pub Uuid);

impl Query for ReadRunAgain {
    type Answer = ReplayedRun;
    const FAILURE: &str = "The run cannot be read again.";

    fn run(self, context: &mut QueryContext) -> Result<ReplayedRun, QueryError> {
        ReplayRun(self.0).run(context)
    }
}

/// Judges the steps without a recorded risk by the present rules; the run did not reach them.
fn judged(
    plan: &ShownPlan,
    run: &RunSummary,
    policy: &Policy,
    recorded: &BTreeMap<usize, RiskLevel>,
) -> BTreeMap<usize, RiskLevel> {
    // The workspace may be gone.
    let toolbox = Toolbox::open(Path::new(&run.workspace), policy);
    let shell = toolbox.as_ref().map_or(Shell::Posix, Toolbox::shell);
    let repositories = toolbox.map(|toolbox| toolbox.repositories()).unwrap_or_default();
    let policy = &Policy { repositories, ..policy.clone() };
    let steps = plan.valid_steps().steps;
    let missing = steps.iter().filter(|step| !recorded.contains_key(&step.step_index));
    missing.map(|step| (step.step_index, of_step(step, policy, shell).level)).collect()
}

/// Lists the latest bounded loops, at most this many.
pub struct ListLoops(pub usize);

impl Query for ListLoops {
    type Answer = Vec<LoopSummary>;
    const FAILURE: &str = "The loops cannot be listed.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        Ok(context.evidence.loops(self.0)?)
    }
}

/// Replays a recorded loop.
pub struct ReplayLoop(pub Uuid);

/// A replayed loop.
#[derive(Debug, Clone)]
pub struct ReplayedLoop {
    /// The loop.
    pub detail: LoopDetail,
    /// The events of the loop and of its runs, in order, for [`crate::run::LoopState::apply`].
    pub events: Vec<RunEvent>,
    /// The end of the planner's standard error, by number of the attempt.
    pub planner_stderr: BTreeMap<u32, String>,
}

impl Query for ReplayLoop {
    type Answer = ReplayedLoop;
    const FAILURE: &str = "The loop cannot be shown.";

    fn run(self, context: &mut QueryContext) -> Result<ReplayedLoop, QueryError> {
        let (Self(id), evidence) = (self, &mut context.evidence);
        let detail =
            evidence.bounded_loop(id)?.ok_or_else(|| not_in_evidence(format!("loop {id}")))?;
        let events = evidence.replay_loop(id)?;
        let planner_stderr = planner_stderr(evidence, &detail)?;
        Ok(ReplayedLoop { detail, events, planner_stderr })
    }
}

/// Replays the loop that is shown, because it is under way in another process. It has a topic of its own: it must not
/// supersede the loop that the person opens.
pub struct ReadLoopAgain(pub Uuid);

impl Query for ReadLoopAgain {
    type Answer = ReplayedLoop;
    const FAILURE: &str = "The loop cannot be read again.";

    fn run(self, context: &mut QueryContext) -> Result<ReplayedLoop, QueryError> {
        ReplayLoop(self.0).run(context)
    }
}

/// How long past commands are judged before the window gets what was found.
const JUDGED_AT_ONCE: Duration = Duration::from_millis(200);

/// How long a search of the window indexes new records before it answers, and how long it counts hits.
const SEARCH_INDEXES: Duration = Duration::from_millis(100);
const SEARCH_COUNTS: Duration = Duration::from_millis(10);

/// Searches the evidence. A later search stops it; then the answer is `None`. The counts of the page may be partial, see
/// [`CountHits`], and some records may not be searched, see [`IndexRecords`].
pub struct Search(pub SearchQuery);

impl Query for Search {
    type Answer = Option<SearchPage>;
    const FAILURE: &str = "The evidence cannot be searched.";
    const STOPS_EARLIER: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let QueryContext { evidence, stop, .. } = context;
        let page = evidence.search_within(&self.0, SEARCH_INDEXES, SEARCH_COUNTS, stop)?;
        context.setup.faults.hit("query");
        Ok(page)
    }
}

/// Counts the hits of a search to the end. A later search stops it; then the answer is `None`.
pub struct CountHits(pub SearchQuery);

impl Query for CountHits {
    type Answer = Option<SearchCounts>;
    const FAILURE: &str = "The results cannot be counted.";
    const OWN_THREAD: bool = true;
    const STOPS_EARLIER: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        Ok(context.evidence.count_hits(&self.0, &context.stop)?)
    }

    fn topic() -> TypeId {
        Search::topic()
    }
}

/// Counts the hits of a search over time, in about sixty intervals. A later one stops it; then the answer is `None`.
pub struct CountTimes(pub SearchQuery);

impl Query for CountTimes {
    type Answer = Option<Vec<TimeBucket>>;
    const FAILURE: &str = "The results cannot be counted over time.";
    const OWN_THREAD: bool = true;
    const STOPS_EARLIER: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        Ok(context.evidence.timeline(&self.0, 60, &context.stop)?)
    }
}

/// Indexes records for some seconds. The answer is how many are not indexed yet.
pub struct IndexRecords;

impl Query for IndexRecords {
    type Answer = u64;
    const FAILURE: &str = "The records cannot be indexed.";
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<u64, QueryError> {
        let QueryContext { evidence, stop, .. } = context;
        Ok(evidence.catch_up_index_within(Duration::from_secs(2), stop, &mut |_, _| {})?)
    }
}

/// Reads the complete record of one execution, and the attempt of a bounded loop to which its run belongs, if any.
pub struct ReadExecution(pub Uuid);

impl Query for ReadExecution {
    type Answer = (ExecutionDetail, Option<Attempt>);
    const FAILURE: &str = "The record cannot be read.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let (Self(id), evidence) = (self, &mut context.evidence);
        let Some(detail) = evidence.execution(id)? else {
            let purged = evidence.purge_of_step(id)?;
            return Err(match purged {
                Some((run_id, note)) => purged_step(id, run_id, &note).into(),
                None => not_in_evidence(format!("execution {id}")).into(),
            });
        };
        let attempt = evidence.attempt_of(detail.row.run_id)?;
        Ok((detail, attempt))
    }
}

/// The failure for a step whose records were purged.
fn purged_step(execution_id: Uuid, run_id: Uuid, note: &PurgeNote) -> Failure {
    Failure {
        code: Code::EvidenceStore,
        message: format!("execution {execution_id} of run {run_id}: {}", note.sentence()),
        next: "That its run happened, when, by whom and how it ended is still recorded.".to_owned(),
    }
}

/// Answers a question about the recorded files, symbols or diagnostics.
impl Query for Question {
    type Answer = EvidenceAnswer;

    fn run(self, context: &mut QueryContext) -> Result<EvidenceAnswer, QueryError> {
        if let Self::Compare { before, after } = self {
            let start = |run: Option<RunSummary>| run.map(|run| run.started_at_ms);
            let starts = [before, after].map(|run| context.evidence.run(run).map(start));
            // The earlier run is the first one, in whichever order a person chose them.
            let (before, after) = match starts {
                [Ok(Some(one)), Ok(Some(other))] if other < one => (after, before),
                _ => (before, after),
            };
            let compared = compare_runs(&mut context.evidence, before, after)?;
            return Ok(EvidenceAnswer::Compared(compared.map(Box::new)));
        }
        Ok(context.evidence.answer(&self)?)
    }
}

/// Judges past commands by the present rules for a moment. The answer is sent again until all are judged.
pub struct JudgeCommands(pub Option<CommandJudge>);

impl Query for JudgeCommands {
    type Answer = (CommandJudge, Vec<JudgedCommand>);
    const FAILURE: &str = "The past commands cannot be judged.";
    const OWN_THREAD: bool = true;
    const STOPS_EARLIER: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let QueryContext { setup, evidence, stop } = context;
        let mut judge = match self.0 {
            Some(judge) => judge,
            None => CommandJudge::new(evidence, &setup.policy)?,
        };
        let found = judge.go_on(evidence, JUDGED_AT_ONCE, stop)?;
        Ok((judge, found))
    }
}

/// Verifies the evidence; see [`VerifyReport`].
pub struct Verify;

impl Query for Verify {
    type Answer = VerifyReport;
    const FAILURE: &str = "The evidence could not be verified.";

    fn run(self, context: &mut QueryContext) -> Result<VerifyReport, QueryError> {
        let location = &context.setup.location;
        Ok(verify_with_kept_head(&location.evidence, &location.user_folders, None)?)
    }
}

/// Compares the files of this run's interrupted steps with the disk, and records the findings. The answer has one
/// entry for each of these files. It is empty if no step was interrupted.
pub struct Reconcile(pub Uuid);

impl Query for Reconcile {
    type Answer = Vec<Reconciled>;
    const FAILURE: &str = "The run cannot be compared with the disk.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let found = reconcile(&mut context.evidence, self.0, &context.setup.policy)?;
        if !found.is_empty() {
            let now_ms = SystemClock::default().now_ms();
            let mut store = context.store()?;
            store.record_reconciliation(self.0, &found, AnsweredBy::Window, now_ms)?;
        }
        Ok(found)
    }
}
