//! Reads a planner's answer (SPEC §10): what it wants to look at, a plan to review, or why there is none.
//!
//! An answer is `{"looks": [...]}`, `{"plan": PLAN, "answers_goal": true|false}`, or a plan alone. The bytes of a plan in
//! an answer are kept as they are, because a person authorizes exactly these.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::evidence::{PlannerTrace, marker_in};
use crate::plan::{
    ACTION_PLAN_VERSION, Code, Dialect, Finding, Severity, ShownPlan, has_duplicate_keys, is_valid,
    parse,
};
use crate::process::{Cause, Finished};
use crate::run::{Look, MAX_LOOKS, PlannerFinding, PlannerReport, PlannerStatus};

/// An answer after parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// What the planner wants to see before it plans.
    Looks(Vec<Look>),
    /// A plan, or why there is none.
    Plan(Box<PlannerAnswer>),
}

impl Answer {
    pub(super) fn plan(answer: PlannerAnswer) -> Self {
        Self::Plan(Box::new(answer))
    }

    /// Adds an explanation to the reason why there is no plan.
    pub(super) fn explain(&mut self, explanation: Option<String>) {
        if let (Self::Plan(answer), Some(explanation)) = (self, explanation)
            && let Some(message) = &mut answer.report.message
        {
            message.push_str(&explanation);
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LooksForm<'a> {
    #[serde(borrow)]
    looks: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanForm<'a> {
    #[serde(borrow)]
    plan: &'a RawValue,
    #[serde(default, deserialize_with = "given")]
    answers_goal: Option<bool>,
}

/// A boolean that is there: unlike no field, `null` is an error, because it says neither.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    bool::deserialize(deserializer).map(Some)
}

/// A planner's answer after parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannerAnswer {
    /// The report about the answer, as it is recorded.
    pub report: PlannerReport,
    /// The plan, if enough of it could be read; rejected plans included.
    pub plan: Option<ShownPlan>,
}

impl PlannerAnswer {
    /// Whether there is a plan to review and authorize.
    pub fn is_accepted(&self) -> bool {
        self.report.status == PlannerStatus::Accepted
    }

    /// Adds the findings of a review, and rejects the answer if one of them is an error.
    pub(super) fn add_findings(&mut self, findings: &[Finding]) {
        self.report.findings.extend(findings.iter().map(PlannerFinding::from));
        if !is_valid(findings) {
            reject_for_findings(&mut self.report, VALIDATION_FAILED);
        }
    }
}

/// The planner could not be started, ended with an error, took too long, printed too much or was stopped.
pub(super) const PROVIDER_ERROR: &str = "planner_provider_error";
/// The answer is not JSON.
const INVALID_JSON: &str = "planner_invalid_json";
/// The answer is not a plan that could be authorized.
const VALIDATION_FAILED: &str = "planner_validation_failed";

/// The most characters of an answer in a message.
const MAX_QUOTED: usize = 200;

/// Fields of a plan that only describe it.
const DESCRIPTIVE_FIELDS: [&str; 9] =
    ["goal", "title", "reason", "rationale", "explanation", "warning", "notes", "metadata", "why"];

fn reject(report: &mut PlannerReport, code: &str, message: String, retryable: bool) {
    report.status = PlannerStatus::Failed;
    report.failure_code = Some(code.to_owned());
    report.message = Some(message);
    report.retryable = Some(retryable);
}

fn reject_for_findings(report: &mut PlannerReport, code: &str) {
    let message = findings_text(&report.findings);
    reject(report, code, message, true);
}

/// The rejected answer of a planner that gave none, with the reason. Another attempt can succeed.
pub(super) fn provider_error(message: String) -> PlannerAnswer {
    let mut report = PlannerReport::new(PlannerStatus::Accepted);
    reject(&mut report, PROVIDER_ERROR, message, true);
    PlannerAnswer { report, plan: None }
}

/// The rejected answer of a planner that did not keep to the form, with the reason. Another attempt can succeed.
pub(super) fn not_in_form(message: String) -> PlannerAnswer {
    let mut report = PlannerReport::new(PlannerStatus::Accepted);
    reject(&mut report, VALIDATION_FAILED, message, true);
    PlannerAnswer { report, plan: None }
}

/// Reads the output of a planner that has ended.
pub(super) fn from_process(finished: &Finished, trace: &PlannerTrace) -> Answer {
    // Only a comparison can detect it where no wall prevents it. Another attempt would do the same.
    if let Some(first) = finished.walls.changed.first() {
        let others = match finished.walls.changed.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        let message = format!(
            "files changed that the planner may not write: {}{others}; new ones were renamed to *.refused-…. See \
             whether the planner did it, and restore them",
            first.display()
        );
        let mut answer = provider_error(message);
        answer.report.retryable = Some(false);
        return Answer::plan(answer);
    }
    let seconds = finished.duration.as_secs();
    let ending = match finished.cause {
        Some(Cause::TimedOut) => format!("was ended after {seconds} s"),
        Some(Cause::TooMuch(_)) => "printed too much and was ended".to_owned(),
        Some(Cause::Stopped) => "was stopped".to_owned(),
        Some(Cause::NotKept) | None => match finished.failure() {
            None => return read_answer(&trace.answer),
            Some(failure) => failure,
        },
    };
    Answer::plan(provider_error(format!("the planner {ending}")))
}

/// Parses a planner's answer: one JSON document and nothing else.
pub fn read_answer(answer: &[u8]) -> Answer {
    let value = serde_json::from_slice::<Value>(answer).unwrap_or_default();
    let read = if value.get("looks").is_some() {
        read_looks(answer).map(Answer::Looks)
    } else if value.get("plan").is_some() {
        form::<PlanForm<'_>>(answer).map(|PlanForm { plan, answers_goal }| {
            let mut answer = read_plan(plan.get().as_bytes());
            answer.report.answers_goal = answers_goal;
            Answer::plan(answer)
        })
    } else {
        Ok(Answer::plan(read_plan(answer)))
    };
    read.unwrap_or_else(|why| Answer::plan(not_in_form(format!("the answer {why}"))))
}

/// The answer in one of the forms.
fn form<'a, T: Deserialize<'a>>(answer: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(answer).map_err(|error| format!("is malformed: {error}"))
}

fn read_looks(answer: &[u8]) -> Result<Vec<Look>, String> {
    let LooksForm { looks } = form(answer)?;
    if !(1..=MAX_LOOKS).contains(&looks.len()) {
        return Err(format!("has {} looks; 1 to {MAX_LOOKS} are allowed", looks.len()));
    }
    let read = |look: &RawValue| match form(look.get().as_bytes()) {
        // The value keeps only the last of two fields with one name.
        Ok(_) if has_duplicate_keys(look.get()) => Err("has a field twice".to_owned()),
        Ok(value) => Look::from_json(&value),
        Err(why) => Err(why),
    };
    let looks = looks.into_iter().map(read).enumerate();
    looks
        .map(|(index, look)| {
            look.map_err(|why| format!("is no list of looks: looks[{index}] {why}"))
        })
        .collect()
}

/// Parses one plan in any dialect.
fn read_plan(answer: &[u8]) -> PlannerAnswer {
    let parsed = parse(answer);
    let valid = parsed.is_valid();
    let mut report = PlannerReport::new(PlannerStatus::Accepted);
    report.findings = parsed.findings.iter().map(PlannerFinding::from).collect();
    let plan = parsed.into_shown();
    if let Some(plan) = &plan {
        report.action_count = plan.steps.len();
        let is_action_plan = plan.dialect == Dialect::ActionPlan;
        report.version = is_action_plan.then(|| ACTION_PLAN_VERSION.to_owned());
    }
    let failure = plan.as_ref().and_then(|plan| plan.failure.clone());
    let value = serde_json::from_slice::<Value>(answer).unwrap_or_default();
    if let Some(marker) = written_marker(&value).filter(|_| valid && failure.is_none()) {
        let message = format!(
            "the plan contains {marker}, which stands for a secret that the planner does not get: leave such \
             text unchanged in the file, or locate it by other text"
        );
        let finding = Finding::error(Code::BadValue, "", message);
        report.findings.push(PlannerFinding::from(&finding));
        reject_for_findings(&mut report, VALIDATION_FAILED);
    }
    match failure {
        _ if !valid => {
            let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(answer).is_ok();
            let code = if is_json { VALIDATION_FAILED } else { INVALID_JSON };
            reject_for_findings(&mut report, code);
            if let Some(message) = report.message.as_mut().filter(|_| !is_json) {
                message.push_str(&beginning_of(answer));
            }
        }
        Some(failure) => {
            let detail = failure.detail.map_or_else(String::new, |detail| format!(" ({detail})"));
            let message = format!("{}{detail}", failure.message);
            reject(&mut report, &failure.code, message, failure.retryable);
        }
        None => {}
    }
    PlannerAnswer { report, plan }
}

/// A redaction marker in the parts of a plan that take effect; descriptive fields are ignored.
fn written_marker(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => marker_in(text),
        Value::Array(items) => items.iter().find_map(written_marker),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !DESCRIPTIVE_FIELDS.contains(&name.as_str()))
            .find_map(|(_, value)| written_marker(value)),
        _ => None,
    }
}

/// How an answer that is not JSON begins, as a sentence: often it says in words why there is no plan.
fn beginning_of(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    let mut words = text.split_whitespace();
    let Some(first) = words.next() else { return "; the answer is empty".to_owned() };
    let line = words.take(MAX_QUOTED).fold(first.to_owned(), |line, word| format!("{line} {word}"));
    match line.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("; the answer begins: {}…", &line[..end]),
        None => format!("; the answer is: {line}"),
    }
}

/// The first error, and the number of the others.
fn findings_text(findings: &[PlannerFinding]) -> String {
    let mut errors = findings.iter().filter(|it| it.severity == Severity::Error.as_str());
    let Some(PlannerFinding { code, line, column, message, .. }) = errors.next() else {
        return "the answer is no plan".to_owned();
    };
    let rest = match errors.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("{code} at {line}:{column}: {message}{rest}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::process::walls::WallReport;
    use crate::run::Stream;

    fn planned(answer: Answer) -> PlannerAnswer {
        match answer {
            Answer::Plan(answer) => *answer,
            Answer::Looks(looks) => panic!("{looks:?}"),
        }
    }

    fn failure_of(answer: &[u8]) -> (Option<String>, Option<bool>) {
        let answered = planned(read_answer(answer));
        assert_eq!(answered.is_accepted(), answered.report.failure_code.is_none());
        (answered.report.failure_code, answered.report.retryable)
    }

    fn action_plan(rest: &serde_json::Value) -> Vec<u8> {
        let mut plan = json!({"version": ACTION_PLAN_VERSION, "goal": "g"});
        let fields = plan.as_object_mut().unwrap();
        fields.extend(rest.as_object().unwrap().clone());
        plan.to_string().into_bytes()
    }

    // A marker counts in text that the plan would write, and not in its descriptive fields.
    #[test]
    fn a_marker_in_written_text_rejects_the_plan() {
        let plan = |goal: &str, contents: &str| {
            format!(
                r#"{{"version": "2026-02-19", "goal": "{goal}", "actions": [{{"type": "mutate_batch",
                "rationale": "{goal}", "request": {{"edits": [
                {{"op": "create", "path": "a", "contents": "{contents}"}}]}}}}]}}"#
            )
        };
        let marker = "[secret:password:0636560f]";
        assert!(read_plan(plan(marker, "grey").as_bytes()).is_accepted());
        for contents in [marker, "a \\u005bsecret:password:0636560f]"] {
            let answered = read_plan(plan("g", contents).as_bytes());
            assert_eq!(answered.report.failure_code.as_deref(), Some(VALIDATION_FAILED));
        }
        let command = format!(r#"{{"goal": "g", "steps": [{{"command": "echo {marker}"}}]}}"#);
        assert!(!read_plan(command.as_bytes()).is_accepted());
    }

    #[test]
    fn every_answer_is_accepted_or_rejected_by_name() {
        let accepted: [Vec<u8>; 3] = [
            action_plan(&json!({"actions": [{"type": "verify", "request": {}}]})),
            json!({"goal": "g", "steps": [{"command": "true"}]}).to_string().into_bytes(),
            json!({"plan_id": "p", "intent": "READ", "steps": [
                {"tool": "file_read", "arguments": {"path": "a"}}]})
            .to_string()
            .into_bytes(),
        ];
        for plan in &accepted {
            assert_eq!(failure_of(plan), (None, None));
        }
        let named = |code: &str, retryable| (Some(code.to_owned()), Some(retryable));
        for text in ["", "I would suggest", "{\"goal\": ", "{} {}"] {
            assert_eq!(failure_of(text.as_bytes()), named(INVALID_JSON, true), "{text}");
        }
        let message = |text: &str| planned(read_answer(text.as_bytes())).report.message.unwrap();
        assert!(message(" \n").ends_with("; the answer is empty"));
        assert!(message("I need\n a key.").ends_with("; the answer is: I need a key."));
        let long = message(&format!("Sorry. {}", "ü".repeat(300)));
        assert!(
            long.ends_with(&format!("; the answer begins: Sorry. {}…", "ü".repeat(193))),
            "{long}"
        );
        for text in ["{}", "[]", "null", "{\"goal\":\"g\",\"steps\":[]}", "{\"goal\":1,\"goal\":2}"]
        {
            assert_eq!(failure_of(text.as_bytes()), named(VALIDATION_FAILED, true), "{text}");
        }
        let codes = "clarification_needed unsupported_goal unsafe_plan planner_unavailable validation_failed";
        for code in codes.split(' ') {
            for retryable in [false, true] {
                let failure = json!({"code": code, "message": "m", "retryable": retryable});
                let plan = action_plan(&json!({"failure": failure}));
                assert_eq!(failure_of(&plan), named(code, retryable));
            }
        }
        let own = action_plan(&json!({"failure": {"code": "of_my_own", "message": "m"}}));
        assert_eq!(failure_of(&own), named("of_my_own", false));
    }

    #[test]
    fn answer_of_a_failed_planner_is_ignored() {
        let answer = action_plan(&json!({"actions": [{"type": "verify", "request": {}}]}));
        for (cause, exit_code, signal, expected) in [
            (None, Some(1), None, "exit code 1"),
            (None, None, Some(9), "signal 9"),
            (Some(Cause::TimedOut), None, Some(15), "after 7 s"),
            (Some(Cause::TooMuch(Stream::Stdout)), None, Some(15), "too much"),
        ] {
            let finished = Finished {
                cause,
                exit_code,
                signal,
                duration: Duration::from_secs(7),
                walls: WallReport::default(),
                stdout: Vec::new(),
                stderr: Vec::new(),
                left_open: false,
            };
            let trace = PlannerTrace { answer: answer.clone(), ..PlannerTrace::default() };
            let answered = planned(from_process(&finished, &trace));
            assert_eq!(answered.report.failure_code.as_deref(), Some(PROVIDER_ERROR));
            assert_eq!((answered.report.retryable, &answered.plan), (Some(true), &None));
            assert!(answered.report.message.unwrap().contains(expected));
        }
    }

    #[test]
    fn answer_does_not_count_if_protected_files_changed() {
        let changed = vec!["/home/ada/.codex/hooks.json".into(), "/home/ada/.codex/rules/x".into()];
        let finished = Finished {
            cause: None,
            exit_code: Some(0),
            signal: None,
            duration: Duration::from_secs(7),
            walls: WallReport { changed, ..WallReport::default() },
            stdout: Vec::new(),
            stderr: Vec::new(),
            left_open: false,
        };
        let answer = action_plan(&json!({"actions": [{"type": "verify", "request": {}}]}));
        let trace = PlannerTrace { answer, ..PlannerTrace::default() };
        let answered = planned(from_process(&finished, &trace));
        assert_eq!((answered.report.retryable, &answered.plan), (Some(false), &None));
        assert!(answered.report.message.unwrap().contains("hooks.json and 1 more"));
    }

    #[test]
    fn looks_are_read_or_rejected_with_the_reason() {
        let answer = json!({"looks": [{"read": "a", "lines": [1, 2]}, {"glob": "*"}]});
        let Answer::Looks(looks) = read_answer(answer.to_string().as_bytes()) else { panic!() };
        assert_eq!(looks.len(), 2);
        let many: Vec<_> = (0..=MAX_LOOKS).map(|_| json!({"glob": "*"})).collect();
        for (answer, why) in [
            (json!({"looks": []}), "1 to 20"),
            (json!({"looks": many}), "1 to 20"),
            (json!({"looks": [{"glob": "*"}, {"write": "a"}]}), "looks[1]"),
            (json!({"looks": [{"glob": "*"}], "plan": {}}), "unknown field `plan`"),
            (json!({"looks": "all"}), "invalid type"),
            (json!({"plan": {}, "goal": "g"}), "unknown field `goal`"),
            (json!({"plan": {}, "answers_goal": 1}), "invalid type"),
            (json!({"plan": {}, "answers_goal": null}), "malformed: invalid type: null"),
        ] {
            let answered = planned(read_answer(answer.to_string().as_bytes()));
            let message = answered.report.message.unwrap_or_default();
            assert!(message.contains(why), "{answer}: {message}");
            assert_eq!(answered.report.failure_code.as_deref(), Some(VALIDATION_FAILED));
        }
        for (twice, why) in [
            (r#"{"plan": {}, "plan": {}}"#, "duplicate field `plan`"),
            (r#"{"looks": [{"glob": "*"}], "looks": []}"#, "duplicate field `looks`"),
            (
                r#"{"looks": [{"glob": "a"}, {"read": "a", "read": "b"}]}"#,
                "looks[1] has a field twice",
            ),
        ] {
            let answered = planned(read_answer(twice.as_bytes()));
            let message = answered.report.message.unwrap_or_default();
            assert!(message.contains(why), "{twice}: {message}");
        }
    }

    // A person authorizes exactly the bytes of the plan, with their spaces and order.
    #[test]
    fn a_plan_in_an_answer_keeps_its_bytes() {
        let plan = r#"{ "goal":"g",  "steps": [{"command": "true"}] }"#;
        for (rest, answers_goal) in [
            ("", None),
            (r#","answers_goal":true"#, Some(true)),
            (r#","answers_goal":false"#, Some(false)),
        ] {
            let answered = planned(read_answer(format!("{{\"plan\": {plan}{rest}}}").as_bytes()));
            assert!(answered.is_accepted());
            assert_eq!(answered.report.answers_goal, answers_goal);
            assert_eq!(&*answered.plan.unwrap().source, plan.as_bytes());
        }
        let faulty = br#"{"plan": {"goal": "g", "steps": [{"command": "a", "command": "b"}]}}"#;
        let answered = planned(read_answer(faulty));
        assert_eq!(answered.report.findings[0].code, "E011");
    }
}
