use super::*;

/// Every code, its code in the action dialect, and whether another attempt can succeed.
const TABLE: [(Code, ActionErrorCode, bool); 23] = [
    (Code::Stale, ActionErrorCode::Conflict, true),
    (Code::FileNotFound, ActionErrorCode::NotFound, true),
    (Code::NoCargoProject, ActionErrorCode::NotFound, true),
    (Code::NoCodegraph, ActionErrorCode::NotFound, true),
    (Code::SymbolNotFound, ActionErrorCode::NotFound, true),
    (Code::PreconditionFailed, ActionErrorCode::Conflict, true),
    (Code::ConfirmationDenied, ActionErrorCode::BadRequest, false),
    (Code::UnknownTool, ActionErrorCode::UnsupportedAction, false),
    (Code::MissingArgument, ActionErrorCode::InvalidActionPayload, false),
    (Code::BadArgument, ActionErrorCode::BadRequest, false),
    (Code::OutsideWorkspace, ActionErrorCode::BadRequest, false),
    (Code::ReadFailed, ActionErrorCode::InternalError, true),
    (Code::WriteFailed, ActionErrorCode::InternalError, true),
    (Code::Splice, ActionErrorCode::ValidationFailed, true),
    (Code::CargoCheck, ActionErrorCode::ValidationFailed, true),
    (Code::CommandFailed, ActionErrorCode::ValidationFailed, true),
    (Code::TimedOut, ActionErrorCode::InternalError, true),
    (Code::Cancelled, ActionErrorCode::BadRequest, false),
    (Code::HostUnreachable, ActionErrorCode::InternalError, true),
    (Code::OutputLimit, ActionErrorCode::InternalError, true),
    (Code::CodeEngine, ActionErrorCode::InternalError, true),
    (Code::Conflict, ActionErrorCode::Conflict, true),
    (Code::StoppedByWall, ActionErrorCode::InternalError, false),
];

#[test]
fn every_code_has_its_word_and_retryability() {
    for (code, word, retryable) in TABLE {
        assert_eq!((ActionErrorCode::of(code), is_retryable(code)), (word, retryable), "{code}");
    }
    for code in Code::ALL {
        let of_a_step = matches!(code.as_str().get(..2), Some("E1" | "E2" | "E3"));
        let is_listed = TABLE.iter().any(|(listed, ..)| listed == code);
        assert!(is_listed || !of_a_step, "{code} is not in the table");
        if !is_listed {
            assert!(!is_retryable(*code), "{code}");
            assert_eq!(ActionErrorCode::of(*code), ActionErrorCode::InternalError, "{code}");
        }
    }
    for (_, word) in ActionErrorCode::WORDS {
        assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
        assert!(TABLE.iter().any(|(_, listed, _)| listed == word), "{}", word.as_str());
    }
}

fn result(outcome: Outcome, code: Option<Code>) -> StepResult {
    StepResult {
        step_id: "action_1".to_owned(),
        step_index: 1,
        tool_name: "verify".to_owned(),
        success: outcome == Outcome::Succeeded,
        outcome,
        execution_id: Uuid::nil(),
        exit_code: Some(101),
        terminal: false,
        stdout: None,
        stdout_bytes: 0,
        stdout_truncated: false,
        stderr: None,
        stderr_bytes: 0,
        stderr_truncated: false,
        error_message: code.map(|_| "it is broken".to_owned()),
        error_code: code,
        next: None,
        timestamp_ms: 0,
        duration_ms: 7,
        diagnostic_artifacts: Vec::new(),
        needs: None,
        walls: None,
        wall_notes: Vec::new(),
        refused: false,
        refused_write: None,
        note: String::new(),
    }
}

#[test]
fn refused_call_is_a_failed_validation() {
    for (refused, word) in
        [(true, ActionErrorCode::ValidationFailed), (false, ActionErrorCode::InternalError)]
    {
        let result = StepResult { refused, ..result(Outcome::Failed, Some(Code::WriteFailed)) };
        let error = ActionRecord::of(&result, "changes 2 files").error.unwrap();
        assert_eq!((error.code, error.retryable), (word, true));
    }
}

#[test]
fn each_outcome_leaves_a_row() {
    for (outcome, status) in [
        (Outcome::Succeeded, ActionStatus::Succeeded),
        (Outcome::DoneByHand, ActionStatus::Succeeded),
        (Outcome::Skipped, ActionStatus::Skipped),
        (Outcome::Failed, ActionStatus::Failed),
        (Outcome::Denied, ActionStatus::Failed),
        (Outcome::PreconditionFailed, ActionStatus::Failed),
        (Outcome::Cancelled, ActionStatus::Failed),
    ] {
        let failed = status == ActionStatus::Failed;
        let record = ActionRecord::of(
            &result(outcome, failed.then_some(Code::CargoCheck)),
            "verifies the workspace",
        );
        assert_eq!((record.status, record.error.is_some()), (status, failed), "{outcome:?}");
        assert_eq!(record.code(), failed.then_some(Code::CargoCheck));
        assert_eq!((record.action_index, record.duration_ms), (1, 7));
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<ActionRecord>(&text).unwrap(), record);
        let record = serde_json::to_value(&record).unwrap();
        let mut names: Vec<_> = record.as_object().unwrap().keys().collect();
        names.sort();
        let expected = ["action_index", "duration_ms", "error", "kind", "status", "summary"];
        assert_eq!(names, expected);
    }
}
