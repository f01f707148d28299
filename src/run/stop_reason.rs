//! Why a bounded loop ended (SPEC §10): stable codes, each with its meaning and what to do next.

use serde::{Deserialize, Serialize};

macro_rules! stop_codes {
    ($($variant:ident $text:literal $meaning:literal $next:literal;)+) => {
        /// Why a loop ended, as a stable code of SPEC §10.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum StopCode {
            $(#[doc = $meaning] $variant,)+
        }

        impl StopCode {
            /// Every code, in the order of SPEC §10.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it is recorded and shown.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The meaning, as a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }

            /// What to do next, as a sentence.
            pub const fn next(self) -> &'static str {
                match self { $(Self::$variant => $next,)+ }
            }
        }
    };
}

stop_codes! {
    Completed "completed"
        "Every step of an attempt succeeded, and so did its verification, if there was one."
        "Check what it changed before you build on it.";
    PlannerRejectedNonRetryable "planner_rejected_non_retryable"
        "The planner says that it has no plan, and that asking again does not help."
        "Read its message; change the goal, or give the planner what it asks for.";
    PlannerRejectedRetryBudgetExhausted "planner_rejected_retry_budget_exhausted"
        "The last attempt brought no plan that could run."
        "Read the findings and what the planner printed; correct the planner, or allow more attempts.";
    ActionFailedRetryable "action_failed_retryable"
        "A step failed in a way that another attempt might mend, and only one attempt was allowed."
        "Read the step's error; allow more attempts, or mend the cause yourself.";
    ActionFailedNonRetryable "action_failed_non_retryable"
        "A step failed in a way that another attempt does not mend."
        "Read the step's error; the plan asks for something that cannot be done here.";
    VerifyFailed "verify_failed"
        "The steps succeeded, the verification failed, and only one attempt was allowed."
        "Read the diagnostics; allow more attempts, or revert the run.";
    RetryBudgetExhausted "retry_budget_exhausted"
        "The last attempt failed at a step or at its verification, or did not reach the goal."
        "Read what each attempt failed at; allow more attempts, narrow the goal, or revert the runs.";
    OperatorStopped "operator_stopped"
        "A person stopped the loop or denied a step."
        "Look at what was done until then; start the loop again when you want it to go on.";
    RunnerInternalError "runner_internal_error"
        "The evidence could not be written, or the program itself failed."
        "See that the evidence folder can be written to; run `evidence verify`, then start again.";
    NotAuthorized "not_authorized"
        "No person and no authorization class authorized the plan of an attempt."
        "Look at the plan; authorize it yourself, or widen the class if it should cover such plans.";
    NoProgress "no_progress"
        "The planner proposed the same steps again that had already run and failed in this loop."
        "Give the planner something new: another goal, another planner, or a change of your own.";
    Planned "planned"
        "There is a plan, and it was not to be run."
        "Look at the plan; open it and authorize it if it should run.";
}

/// Where a loop ended, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StopDetail {
    /// The number of the attempt, from 1; `None` before the first one.
    pub attempt: Option<u32>,
    /// The index of the action, from 0.
    pub action_index: Option<usize>,
    /// The planner's own code, or one of this program's codes if the planner gave no plan.
    pub planner_failure_code: Option<String>,
    /// For `completed`: whether a verification has passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verified: Option<bool>,
}

/// Why a loop ended: a code, a message and the place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReason {
    /// The stable code.
    pub code: StopCode,
    /// The message; text of a planner or a tool is quoted verbatim.
    pub message: String,
    /// Where the loop ended.
    pub detail: StopDetail,
}

impl StopReason {
    /// Whether every step succeeded, and nothing has checked the result.
    pub fn is_unverified(&self) -> bool {
        self.code == StopCode::Completed && self.detail.verified == Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_codes_serialize_as_their_names() {
        for code in StopCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            let read: StopCode = serde_json::from_value(code.as_str().into()).unwrap();
            assert_eq!(read, *code);
        }
        assert_eq!(StopCode::ALL.len(), 12);
        assert!(serde_json::from_str::<StopCode>("\"finished\"").is_err());
    }
}
