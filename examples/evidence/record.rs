//! Commits generated runs.

use countersign::authorization::SecretInputs;
use countersign::evidence::{
    Entry, EvidenceStore, ExecutionRecord, IntentRecord, RunEnd, RunStart,
};
use countersign::plan::Digest;
use countersign::run::Outcome;
use serde_json::Value;

use super::{MadeRun, Prepared};

/// Commits runs in one transaction.
pub fn record(store: &mut EvidenceStore, plans: &[Prepared], runs: &[MadeRun]) {
    let (policy, none) = (Digest::of(b"policy"), Value::Null);
    let mut entries = Vec::new();
    for run in runs {
        let Prepared { plan, risks } = &plans[run.plan];
        entries.push(Entry::RunStart(RunStart {
            fleet: None,
            secret_inputs: SecretInputs::none(),
            run_id: run.run_id,
            plan,
            authorization: &run.authorization,
            reached: None,
            started_at_ms: run.started_at_ms,
        }));
        for made in &run.steps {
            let (step, risk) = (&plan.steps[made.index], &risks[made.index]);
            let decision = made.decision.as_ref();
            if made.has_intent {
                entries.push(Entry::Intent(IntentRecord {
                    execution_id: made.result.execution_id,
                    run_id: run.run_id,
                    step,
                    risk,
                    timestamp_ms: made.result.timestamp_ms,
                    host: made.host,
                    walls: None,
                    files: &made.files,
                    decision,
                }));
            }
            let invoked = matches!(made.result.outcome, Outcome::Succeeded | Outcome::Failed);
            entries.push(Entry::Execution(ExecutionRecord {
                result: &made.result,
                run_id: run.run_id,
                plan,
                step,
                risk,
                policy,
                host: made.host,
                walls: None,
                invoked,
                stdout: invoked.then_some(made.stdout.as_bytes()),
                stderr: None,
                captured: None,
                result_json: &none,
                artifacts: &[],
                files: &made.files,
                predicted: &[],
                edges: &made.edges,
                decision: decision.filter(|_| !made.has_intent),
            }));
        }
        entries.push(Entry::RunEnd(RunEnd {
            run_id: run.run_id,
            ending: &run.ending,
            completed_steps: run.steps.len(),
            total_duration_ms: 1,
            elapsed_ms: 1,
            left_running: &[],
            clock_set_back: 0,
            timestamp_ms: run.ended_at_ms,
        }));
    }
    store.commit_recorded(&entries).expect("recorded runs");
}
