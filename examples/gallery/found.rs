//! Example data: diagnostics of a run that checks, changes and checks again.

use countersign::plan::{Code, Digest, ShownPlan, ToolCall};
use countersign::run::*;
use uuid::Uuid;

use super::{fixture, looking};

/// The current content of the file with the diagnostics.
const LEXER: &str = "use crate::token::Token;\n\npub struct Lexer<'a> {\n    input: &'a str,\n    at: usize,\n}\n\nimpl<'a> Lexer<'a> {\n    pub fn next_token(&mut self) -> Option<Token> {\n        let start = self.at;\n        let rest = trim_strat(self.input.get(self.at..)?);\n        let length: u32 = rest.len();\n        self.at += length as usize;\n        Some(Token::word(start, length))\n    }\n}\n";

/// The lines of the file that the excerpt of a diagnostic shows.
pub fn lines(it: &DiagnosticArtifact) -> Vec<SourceLine> {
    let ranges = countersign::ui::diagnostics::excerpt_lines(it);
    let all = (1..).zip(LEXER.lines());
    all.filter(|(number, _)| ranges.iter().any(|range| range.contains(number)))
        .map(|(number, text)| SourceLine { number, text: text.to_owned() })
        .collect()
}

/// The plan of the fixture, with a check before the change and one after it.
pub fn plan() -> ShownPlan {
    let mut plan = fixture::plan();
    let mut check = plan.steps[3].clone();
    (check.step_index, check.step_id) = (1, "step_2".into());
    plan.steps[1] = check;
    plan
}

fn span(file: &str, line: i64, columns: [i64; 2], primary: bool, label: &str) -> DiagnosticSpan {
    let number = usize::try_from(line).unwrap_or(0);
    let text = LEXER.lines().nth(number - 1).filter(|_| file == "src/lexer.rs");
    DiagnosticSpan {
        file_name: file.into(),
        line_start: line,
        column_start: columns[0],
        line_end: line,
        column_end: columns[1],
        byte_start: 0,
        byte_end: 0,
        is_primary: primary,
        text: text.map(str::to_owned).into_iter().collect(),
        label: Some(label.to_owned()).filter(|label| !label.is_empty()),
        suggested_replacement: None,
        applicability: None,
    }
}

fn diagnostic(
    level: Level,
    code: &str,
    message: &str,
    spans: Vec<DiagnosticSpan>,
    children: Vec<DiagnosticArtifact>,
) -> DiagnosticArtifact {
    let word = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "help",
    };
    let first = spans.first();
    let rendered = first.map(|span| {
        let label = span.label.as_deref().unwrap_or_default();
        let width = usize::try_from(span.column_end - span.column_start).unwrap_or(1);
        let indent = usize::try_from(span.column_start - 1).unwrap_or(0);
        let text = span.text.first().map(String::as_str).unwrap_or("    …");
        format!(
            "{word}[{code}]: {message}\n  --> {}:{}:{}\n   |\n{:<3}| {text}\n   | {}{} {label}\n\n",
            span.file_name,
            span.line_start,
            span.column_start,
            span.line_start,
            " ".repeat(indent),
            "^".repeat(width),
        )
    });
    DiagnosticArtifact {
        level,
        tool_level: word.into(),
        message: message.into(),
        file_name: first.map(|span| span.file_name.clone()).unwrap_or_default(),
        line_start: first.map_or(0, |span| span.line_start),
        column_start: first.map(|span| span.column_start),
        line_end: first.map(|span| span.line_end),
        column_end: first.map(|span| span.column_end),
        code: Some(code.to_owned()).filter(|code| !code.is_empty()),
        spans,
        children,
        rendered,
    }
}

fn help(message: &str, span: DiagnosticSpan, replacement: &str) -> DiagnosticArtifact {
    let span = DiagnosticSpan {
        suggested_replacement: Some(replacement.to_owned()),
        applicability: Some("MaybeIncorrect".to_owned()),
        ..span
    };
    diagnostic(Level::Info, "", message, vec![span], vec![])
}

fn missing() -> DiagnosticArtifact {
    let span = |label: &str| span("src/lexer.rs", 11, [20, 30], true, label);
    diagnostic(
        Level::Error,
        "E0425",
        "cannot find function `trim_strat` in this scope",
        vec![span("not found in this scope")],
        vec![
            help("a function with a similar name exists", span(""), "trim_start"),
            help(
                "consider importing this function",
                DiagnosticSpan { line_end: 1, ..self::span("src/lexer.rs", 1, [1, 1], true, "") },
                "use crate::text::trim_strat;\n",
            ),
        ],
    )
}

fn mismatched() -> DiagnosticArtifact {
    diagnostic(
        Level::Error,
        "E0308",
        "mismatched types",
        vec![
            span("src/lexer.rs", 12, [27, 37], true, "expected `u32`, found `usize`"),
            span("src/lexer.rs", 12, [21, 24], false, "expected due to this"),
        ],
        vec![],
    )
}

fn unused(line: i64, name: &str) -> DiagnosticArtifact {
    let span = span("src/parser/expressions.rs", line, [9, 14], true, "");
    diagnostic(
        Level::Warning,
        "unused_variables",
        &format!("unused variable: `{name}`"),
        vec![span],
        vec![],
    )
}

fn before() -> Vec<DiagnosticArtifact> {
    vec![
        unused(41, "depth"),
        unused(118, "span"),
        mismatched(),
        diagnostic(
            Level::Error,
            "E0433",
            "failed to resolve: use of undeclared type `Cursor`",
            vec![span("src/parser/cursor.rs", 7, [18, 24], true, "use of undeclared type")],
            vec![],
        ),
    ]
}

fn after() -> Vec<DiagnosticArtifact> {
    vec![unused(44, "depth"), unused(121, "span"), unused(203, "kind"), missing(), mismatched()]
}

/// This many diagnostics of one check.
pub fn many(count: usize) -> Vec<DiagnosticArtifact> {
    let artifact = |index: usize| {
        let line = i64::try_from(index).unwrap_or(0);
        let it = if index.is_multiple_of(7) {
            missing()
        } else {
            unused(line, &format!("name_{index}"))
        };
        DiagnosticArtifact { line_start: line, ..it }
    };
    (0..count).map(artifact).collect()
}

/// A run of the plan in which both checks have finished. `second` has the diagnostics of the second check, if not the
/// usual ones.
pub fn run(plan: &ShownPlan, second: Option<Vec<DiagnosticArtifact>>) -> RunState {
    let mut run = RunState::default();
    run.apply(&RunEvent::RunStarted {
        run_id: fixture::run_id(),
        plan_id: plan.plan_id.clone(),
        step_count: plan.steps.len(),
        timestamp_ms: fixture::NOW_MS - 12_000,
    });
    let second = second.unwrap_or_else(after);
    for (index, diagnostics) in [(0, vec![]), (1, before()), (2, vec![]), (3, second)] {
        let failed = diagnostics.iter().any(|it| it.level == Level::Error);
        let outcome = if failed { Outcome::Failed } else { Outcome::Succeeded };
        let mut result = fixture::result(plan, index, outcome, 900);
        result.diagnostic_artifacts = diagnostics;
        if failed {
            result.error_code = Some(Code::CargoCheck);
            result.error_message = Some("cargo check reported errors".into());
        }
        run.apply(&RunEvent::StepCompleted { result });
    }
    run
}

/// A run of the plan without its checks.
pub fn unchecked(plan: &mut ShownPlan) -> RunState {
    plan.steps.retain(|step| !matches!(step.call, Some(ToolCall::LspCheck { .. })));
    for (index, step) in plan.steps.iter_mut().enumerate() {
        step.step_index = index;
    }
    let mut run = RunState::default();
    run.apply(&RunEvent::RunStarted {
        run_id: fixture::run_id(),
        plan_id: plan.plan_id.clone(),
        step_count: 1,
        timestamp_ms: fixture::NOW_MS,
    });
    let result = fixture::result(plan, 0, Outcome::Succeeded, 1);
    run.apply(&RunEvent::StepCompleted { result });
    run.apply(&RunEvent::RunCompleted { step_count: 1 });
    run
}

/// The answer to a query.
pub fn answer(question: &Question) -> EvidenceAnswer {
    let rows = || fixture::search_page().hits.into_iter().take(4).map(|hit| hit.listed);
    match question {
        Question::WithCode(_) | Question::Latest(_) => EvidenceAnswer::Executions(rows().collect()),
        Question::Touched { .. } => {
            let edge_types = vec![EdgeType::ExecutedOn, EdgeType::Affected];
            EvidenceAnswer::Touched(
                rows()
                    .map(|listed| FileExecution { listed, edge_types: edge_types.clone() })
                    .collect(),
            )
        }
        Question::Recurring => EvidenceAnswer::Recurring(
            [
                ("E0425", "src/lexer.rs", 14),
                ("E0308", "src/lib.rs", 9),
                ("unused_variables", "", 2),
            ]
            .map(|(code, file, count)| RecurringDiagnostic {
                code: code.into(),
                file_name: file.into(),
                workspace: "/home/ada/parser".into(),
                count,
                first_seen_ms: fixture::NOW_MS - 900_000_000,
                last_seen_ms: fixture::NOW_MS - 60_000,
                execution_ids: vec![Uuid::from_u128(1), Uuid::from_u128(2)],
                over_time: Some(OverTime::count(
                    &(0..count)
                        .map(|n| (fixture::NOW_MS - 60_000 - 61_000_000 * (n * n % 14) as i64, 1))
                        .collect::<Vec<_>>(),
                    fixture::NOW_MS - 900_000_000,
                    fixture::NOW_MS - 60_000,
                )),
            })
            .into(),
        ),
        Question::Durations(_) => looking::durations(),
        Question::Replay(_) => looking::played(),
        Question::JudgedAgain => looking::judged(),
        Question::Times(run) if run.as_u128() == 500 => looking::many_times(500),
        Question::Times(_) => looking::times(),
        Question::RunsToCompare(_) => EvidenceAnswer::Runs(fixture::runs().split_off(1)),
        Question::Compare { .. } => looking::compared(),
        Question::FileHistory { .. } => looking::file_history(),
        Question::InterruptedRuns => EvidenceAnswer::Runs(
            fixture::runs().into_iter().filter(|run| run.fate == RunFate::Interrupted).collect(),
        ),
        Question::Rejected { .. } => EvidenceAnswer::Rejections(vec![PlanRejection {
            authorization_id: Uuid::from_u128(3),
            plan_digest: Digest::of(b"rejected"),
            plan_id: "parser".into(),
            plan_name: "Rewrite the parser".into(),
            workspace: "/home/ada/src/parser".into(),
            reason: "It writes outside of src.".into(),
            by: DecidedBy { place: "window".into(), user: Some("ada".into()) },
            timestamp_ms: fixture::NOW_MS - 3_600_000,
            changed: false,
        }]),
        Question::ChangesAfter { .. } => EvidenceAnswer::Changes(
            rows()
                .enumerate()
                .map(|(index, listed)| LaterMutation {
                    listed: ListedExecution { changed: index == 2, ..listed },
                    diagnostic_execution_id: Uuid::from_u128(9),
                    file_name: "src/lexer.rs".into(),
                    after_ms: 72_000,
                })
                .collect(),
        ),
    }
}
