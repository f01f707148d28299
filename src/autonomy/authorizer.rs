//! The interface through which a person authorizes the plan of an attempt (SPEC §10), and the check whether a class of
//! plans that they authorized in advance covers it.

use uuid::Uuid;

use crate::authorization::{AuthorizationClass, Method, PlanProperties};
use crate::plan::{NamedPath, PathRole, Plan, Simulation, ToolCall};
use crate::run::Review;
use crate::tools::Toolbox;

/// A request to authorize the plan of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct AuthorizationRequest<'a> {
    /// The loop.
    pub loop_id: Uuid,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The maximum number of attempts.
    pub max_attempts: u32,
    /// The plan.
    pub plan: &'a Plan,
    /// Its review.
    pub review: &'a Review,
    /// Why the authorization class does not cover the plan; empty if it does, or if there is no class.
    pub outside: &'a [String],
}

/// The decision about the plan of one attempt. An approval is recorded as a `PlanAuthorization`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanDecision {
    /// The plan may run.
    Approve {
        /// How the plan was authorized.
        method: Method,
        /// The authorization as a sentence, for the evidence.
        note: String,
    },
    /// The plan may not run.
    Reject {
        /// How the plan was rejected.
        method: Method,
        /// Why the plan was rejected.
        reason: String,
        /// Whether the reason is for the planner, which then makes another plan, instead of the end of the loop.
        replan: bool,
    },
    /// The loop ends at once.
    Stop,
}

/// Authorizes the plans of attempts, one at a time.
pub trait PlanAuthorizer: Send {
    /// Called for each plan before it is authorized, also when a class covers it.
    fn show(&mut self, _request: &AuthorizationRequest<'_>) {}

    /// Blocks until there is a decision. It must also return, with any decision, once a stop is requested.
    fn authorize(&mut self, request: &AuthorizationRequest<'_>) -> PlanDecision;

    /// Blocks until a person has answered a question of the planner; `None` if nobody answers. It must also return once
    /// a stop is requested.
    fn answer(&mut self, _question: &str) -> Option<String> {
        None
    }
}

/// Why a class does not cover a plan; empty if it does. Both a path as the plan names it and the path to which it
/// resolves must be inside.
pub(super) fn outside_class(
    class: &AuthorizationClass,
    plan: &Plan,
    review: &Review,
    toolbox: &Toolbox,
    attempt: u32,
    now_ms: i64,
) -> Vec<String> {
    let calls = plan.steps.iter().map(|step| &step.call);
    let mut tools: Vec<&str> = plan.steps.iter().map(|step| step.tool_name.as_str()).collect();
    let mut paths = review.impact.files.clone();
    for call in calls {
        for path in class_paths(call) {
            paths.extend(toolbox.key_of(&path));
            paths.push(path);
        }
        // Tools of a simulation are checked like those of the steps it simulates.
        if let ToolCall::Simulate(Simulation::Steps { steps, .. }) = call {
            tools.extend(steps.iter().map(|step| step.tool().name()));
        }
    }
    let walls = review.binding.walls.as_deref().unwrap_or_default();
    let walls: Vec<_> = walls.iter().flatten().collect();
    let home = home_folder();
    class.violations(&PlanProperties {
        tools: &tools,
        paths: &paths,
        host: plan.target.as_deref(),
        worst: review.impact.worst,
        walls: &walls,
        home: home.as_deref(),
        attempt,
        now_ms,
    })
}

/// The home folder of the user, with symlinks resolved.
pub(super) fn home_folder() -> Option<String> {
    let home = std::env::home_dir().filter(|home| home.is_absolute())?;
    let home = std::fs::canonicalize(&home).unwrap_or(home);
    Some(home.to_string_lossy().into_owned())
}

/// The paths of a call that a class must cover: those in the arguments, and for a restore the workspace folder, because
/// its files are known only when it runs. Other paths that a call uses implicitly are left out.
fn class_paths(call: &ToolCall) -> Vec<String> {
    let counts =
        |named: &NamedPath<'_>| named.argument.is_some() || named.role == PathRole::Restores;
    call.paths().into_iter().filter(counts).map(|named| named.path.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::engine::{WorkspaceChoice, review};
    use crate::plan::{RiskLevel, parse};
    use crate::risk::Policy;

    /// What in a plan is outside of a class for `src` and every tool except `file_write`.
    fn outside_of(folder: &std::path::Path, plan: &Value) -> Vec<String> {
        let plan = parse(plan.to_string().as_bytes()).plan.unwrap();
        let policy = Policy::default();
        let choice = WorkspaceChoice { folder: folder.to_owned(), reason: String::new() };
        let review = review(&plan, &choice, &policy, None).unwrap();
        let toolbox = Toolbox::open(folder, &policy).unwrap();
        let class = AuthorizationClass {
            tools: crate::plan::TOOLS
                .iter()
                .map(|spec| spec.name.to_owned())
                .filter(|name| name != "file_write")
                .collect(),
            paths: vec!["src".to_owned()],
            hosts: Vec::new(),
            max_risk: RiskLevel::Dangerous,
            max_attempts: 1,
            expires_at: "9999-01-01T00:00:00Z".to_owned(),
            needs: crate::plan::Needs::default(),
        };
        outside_class(&class, &plan, &review, &toolbox, 1, 0)
    }

    fn actions(actions: Value) -> Value {
        json!({"version": "2026-02-19", "goal": "g", "actions": actions})
    }

    #[cfg(unix)]
    #[test]
    fn paths_count_as_named_and_as_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for name in ["src", "docs"] {
            std::fs::create_dir(folder.join(name)).unwrap();
        }
        std::fs::write(folder.join("docs/a.md"), "").unwrap();
        std::os::unix::fs::symlink("../docs", folder.join("src/link")).unwrap();
        let step = |tool: &str, arguments: Value| {
            json!({"plan_id": "p", "intent": "MUTATE", "steps": [
                {"tool": tool, "arguments": arguments}]})
        };
        let edit = |edits: Value| json!({"type": "mutate_batch", "request": {"edits": edits}});
        let cases: [(Value, &[&str]); 10] = [
            (step("file_create", json!({"path": "src/a.rs", "contents": ""})), &[]),
            (step("file_search", json!({"pattern": "x", "root": "src"})), &[]),
            (step("file_search", json!({"pattern": "x", "root": "."})), &["the path ."]),
            (step("file_read", json!({"path": "src/link/a.md"})), &["the path docs/a.md"]),
            (json!({"goal": "g", "steps": [{"command": "true", "cwd": "src"}]}), &[]),
            (json!({"goal": "g", "steps": [{"command": "true"}]}), &["the path ."]),
            (actions(json!([{"type": "verify", "request": {}}])), &[]),
            (
                actions(json!([edit(json!([{"op": "rename", "path": "src/a", "to": "docs/b"}]))])),
                &["the path docs/b"],
            ),
            (
                actions(json!([{"type": "history", "request": {"operation": "undo"}}])),
                &["the path ."],
            ),
            (
                actions(json!([{"type": "simulate", "request": {"steps": [
                    {"tool": "file_write", "arguments": {"path": "docs/a.md", "contents": ""}}]}}])),
                &["the tool file_write", "the path docs/a.md"],
            ),
        ];
        for (plan, expected) in cases {
            assert_eq!(outside_of(folder, &plan), expected, "{plan}");
        }
    }
}
