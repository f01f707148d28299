//! Who says yes to the plan of an attempt (SPEC §10): the window, the command line, or a class of plans that
//! a person authorized in advance.

use uuid::Uuid;

use crate::authorization::{AuthorizationClass, ClassQuestion, Method};
use crate::plan::{Edit, MutateBatch, Plan, Simulation, ToolCall};
use crate::run::{PlanDifference, Review};

/// What a person is asked about the plan of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The loop.
    pub loop_id: Uuid,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Of so many.
    pub max_attempts: u32,
    /// The plan.
    pub plan: &'a Plan,
    /// What there is to know about it.
    pub review: &'a Review,
    /// How it differs from the plan of the attempt before.
    pub difference: Option<&'a PlanDifference>,
    /// What of it is outside the authorization class; empty where there is none.
    pub outside: &'a [String],
}

/// What they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanAnswer {
    /// It may run.
    Approve {
        /// Through which act.
        method: Method,
        /// In a sentence, for the evidence.
        note: String,
    },
    /// It may not; the loop ends.
    Reject {
        /// Through which act.
        method: Method,
        /// Why.
        reason: String,
    },
    /// The loop ends at once.
    Stop,
}

/// Answers for the plans of attempts. Each plan is asked about by itself.
pub trait PlanAuthorizer: Send {
    /// Hears of each plan before it is authorized, also of one that nobody is asked about.
    fn show(&mut self, _asked: &Asked<'_>) {}

    /// Blocks until there is an answer. It must also return, with any answer, once a stop was asked for.
    fn authorize(&mut self, asked: &Asked<'_>) -> PlanAnswer;
}

/// What of a plan is outside of a class; empty when it is inside.
pub(super) fn outside(
    class: &AuthorizationClass,
    plan: &Plan,
    review: &Review,
    attempt: u32,
    now_ms: i64,
) -> Vec<String> {
    let calls = plan.steps.iter().filter_map(|step| step.call.as_ref());
    let mut tools: Vec<&str> = plan.steps.iter().map(|step| step.tool_name.as_str()).collect();
    let mut paths = review.impact.files.clone();
    for call in calls {
        paths.extend(named(call));
        // What a simulation calls on its copy, it calls.
        if let ToolCall::Simulate(Simulation::Steps { steps, .. }) = call {
            tools.extend(steps.iter().map(|step| step.tool().name()));
        }
    }
    class.outside(&ClassQuestion {
        tools: &tools,
        paths: &paths,
        host: plan.target.as_deref(),
        worst: review.impact.worst,
        attempt,
        now_ms,
    })
}

/// The files and folders that a call names, or works in.
fn named(call: &ToolCall) -> Vec<String> {
    let one = |path: &String| vec![path.clone()];
    match call {
        ToolCall::FileRead { path }
        | ToolCall::FileWrite { path, .. }
        | ToolCall::FileCreate { path, .. }
        | ToolCall::LspCheck { path } => one(path),
        ToolCall::FileSearch { root, .. } | ToolCall::FileGlob { root, .. } => one(root),
        ToolCall::SplicePatch { file, with, .. } => vec![file.clone(), with.clone()],
        ToolCall::SplicePlan { plan_file } => one(plan_file),
        ToolCall::SymbolsInFile { file_path }
        | ToolCall::ReferencesFromFileToSymbolName { file_path, .. } => one(file_path),
        // A folder of a host is none of the workspace; the class names the host.
        ToolCall::Shell { target: Some(_), .. } => Vec::new(),
        ToolCall::Shell { cwd, .. } => vec![cwd.clone().unwrap_or_else(|| ".".to_owned())],
        ToolCall::MutateBatch(MutateBatch { edits, .. })
        | ToolCall::Simulate(Simulation::Edits { edits, .. }) => {
            edits.iter().flat_map(Edit::paths).map(str::to_owned).collect()
        }
        ToolCall::Simulate(Simulation::Steps { steps, .. }) => {
            steps.iter().flat_map(named).collect()
        }
        // Which files they bring back is known when they run; they may be any.
        ToolCall::History { operation, .. } if operation.changes_files() => vec![".".to_owned()],
        // These look at, build or run the program as a whole.
        ToolCall::ReferencesToSymbolName { .. }
        | ToolCall::Verify { .. }
        | ToolCall::Compile { .. }
        | ToolCall::Run { .. }
        | ToolCall::Simulate(Simulation::Function { .. })
        | ToolCall::Inspect { .. }
        | ToolCall::History { .. } => Vec::new(),
    }
}
