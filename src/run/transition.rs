//! The transition table of a bounded loop (SPEC §10) as one function.

use super::StopCode;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Happened {
    /// The planner gave no plan that can run.
    PlannerRejected {
        /// Whether asking again may help.
        retryable: bool,
    },
    /// The plan was not authorized.
    NotAuthorized,
    /// A person rejected the plan with words for the planner.
    PlanRejected,
    /// A person denied a step with words for the planner.
    StepDenied,
    /// The plan had already run and failed in this loop.
    NoProgress,
    /// A step failed.
    ActionFailed {
        /// Whether another attempt can succeed.
        retryable: bool,
    },
    /// The steps succeeded, the verification failed.
    VerifyFailed,
    /// Everything succeeded; there may have been no verification to run.
    Succeeded,
    /// Everything succeeded, and the goal is not reached: the plan only read, or the planner says that more is left.
    Unfinished,
    /// There is a plan, and none was to be run.
    Planned,
    /// A person stopped the loop or denied a step.
    Stopped,
    /// The evidence could not be written, or the program failed.
    InternalError,
}

/// The next action of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transition {
    /// The planner is started again, with the result of this attempt.
    Replan,
    /// The loop ends.
    Stop(StopCode),
}

/// The transition after an attempt, counted from 1.
pub const fn transition(happened: Happened, attempt: u32, max_attempts: u32) -> Transition {
    use Transition::{Replan, Stop};
    let is_last = attempt >= max_attempts;
    let is_only = is_last && max_attempts <= 1;
    match happened {
        Happened::PlannerRejected { retryable: false } => {
            Stop(StopCode::PlannerRejectedNonRetryable)
        }
        Happened::PlannerRejected { retryable: true } if is_last => {
            Stop(StopCode::PlannerRejectedRetryBudgetExhausted)
        }
        Happened::ActionFailed { retryable: false } => Stop(StopCode::ActionFailedNonRetryable),
        Happened::ActionFailed { retryable: true } if is_only => {
            Stop(StopCode::ActionFailedRetryable)
        }
        Happened::VerifyFailed if is_only => Stop(StopCode::VerifyFailed),
        Happened::ActionFailed { retryable: true }
        | Happened::VerifyFailed
        | Happened::Unfinished
            if is_last =>
        {
            Stop(StopCode::RetryBudgetExhausted)
        }
        Happened::PlanRejected if is_last => Stop(StopCode::NotAuthorized),
        Happened::StepDenied if is_last => Stop(StopCode::OperatorStopped),
        Happened::PlannerRejected { retryable: true }
        | Happened::ActionFailed { retryable: true }
        | Happened::VerifyFailed
        | Happened::Unfinished
        | Happened::PlanRejected
        | Happened::StepDenied => Replan,
        Happened::Planned => Stop(StopCode::Planned),
        Happened::NotAuthorized => Stop(StopCode::NotAuthorized),
        Happened::NoProgress => Stop(StopCode::NoProgress),
        Happened::Succeeded => Stop(StopCode::Completed),
        Happened::Stopped => Stop(StopCode::OperatorStopped),
        Happened::InternalError => Stop(StopCode::RunnerInternalError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attempt and the maximum number of attempts of each column.
    const LEFT: (u32, u32) = (1, 3);
    const LAST: (u32, u32) = (3, 3);
    const ONLY: (u32, u32) = (1, 1);

    macro_rules! table {
        ($($row:ident $happened:expr => $($column:ident: $next:expr),+;)+) => {
            $(mod $row {
                use super::*;
                $(#[expect(non_snake_case, reason = "the name of the column")]
                #[test]
                fn $column() {
                    let (attempt, max_attempts) = super::$column;
                    assert_eq!(transition($happened, attempt, max_attempts), $next);
                })+
            })+
            /// The endings of attempts, one for each row.
            const ROWS: &[Happened] = &[$($happened),+];
        };
    }

    use Happened::*;
    use StopCode as Code;
    use Transition::{Replan, Stop};

    table! {
        planner_rejected_for_good PlannerRejected { retryable: false } =>
            LEFT: Stop(Code::PlannerRejectedNonRetryable),
            LAST: Stop(Code::PlannerRejectedNonRetryable),
            ONLY: Stop(Code::PlannerRejectedNonRetryable);
        planner_rejected_for_now PlannerRejected { retryable: true } =>
            LEFT: Replan,
            LAST: Stop(Code::PlannerRejectedRetryBudgetExhausted),
            ONLY: Stop(Code::PlannerRejectedRetryBudgetExhausted);
        not_authorized NotAuthorized =>
            LEFT: Stop(Code::NotAuthorized),
            LAST: Stop(Code::NotAuthorized),
            ONLY: Stop(Code::NotAuthorized);
        plan_rejected_with_words PlanRejected =>
            LEFT: Replan,
            LAST: Stop(Code::NotAuthorized),
            ONLY: Stop(Code::NotAuthorized);
        step_denied_with_words StepDenied =>
            LEFT: Replan,
            LAST: Stop(Code::OperatorStopped),
            ONLY: Stop(Code::OperatorStopped);
        unfinished Unfinished =>
            LEFT: Replan,
            LAST: Stop(Code::RetryBudgetExhausted),
            ONLY: Stop(Code::RetryBudgetExhausted);
        planned Planned =>
            LEFT: Stop(Code::Planned),
            LAST: Stop(Code::Planned),
            ONLY: Stop(Code::Planned);
        no_progress NoProgress =>
            LEFT: Stop(Code::NoProgress),
            LAST: Stop(Code::NoProgress),
            ONLY: Stop(Code::NoProgress);
        action_failed_for_good ActionFailed { retryable: false } =>
            LEFT: Stop(Code::ActionFailedNonRetryable),
            LAST: Stop(Code::ActionFailedNonRetryable),
            ONLY: Stop(Code::ActionFailedNonRetryable);
        action_failed_for_now ActionFailed { retryable: true } =>
            LEFT: Replan,
            LAST: Stop(Code::RetryBudgetExhausted),
            ONLY: Stop(Code::ActionFailedRetryable);
        verify_failed VerifyFailed =>
            LEFT: Replan,
            LAST: Stop(Code::RetryBudgetExhausted),
            ONLY: Stop(Code::VerifyFailed);
        succeeded Succeeded =>
            LEFT: Stop(Code::Completed),
            LAST: Stop(Code::Completed),
            ONLY: Stop(Code::Completed);
        stopped Stopped =>
            LEFT: Stop(Code::OperatorStopped),
            LAST: Stop(Code::OperatorStopped),
            ONLY: Stop(Code::OperatorStopped);
        internal_error InternalError =>
            LEFT: Stop(Code::RunnerInternalError),
            LAST: Stop(Code::RunnerInternalError),
            ONLY: Stop(Code::RunnerInternalError);
    }

    #[test]
    fn every_row_and_code_is_covered() {
        let rows: std::collections::HashSet<_> = ROWS.iter().collect();
        assert_eq!(rows.len(), 14, "each once; a new variant needs a row");
        let reached: std::collections::HashSet<_> = ROWS
            .iter()
            .flat_map(|row| [LEFT, LAST, ONLY].map(|(at, of)| transition(*row, at, of)))
            .collect();
        for code in StopCode::ALL {
            assert!(reached.contains(&Stop(*code)), "{} is never reached", code.as_str());
        }
        assert!(reached.contains(&Replan));
    }

    /// An attempt beyond the maximum cannot happen; if it did, the loop would end.
    #[test]
    fn no_replan_after_the_last_attempt() {
        for happened in ROWS {
            for max_attempts in 0..4 {
                for attempt in max_attempts..6 {
                    assert_ne!(transition(*happened, attempt, max_attempts), Replan);
                }
            }
        }
    }
}
