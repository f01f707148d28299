//! The command dialect (SPEC §1.2): each command becomes a step of the tool `shell`, and so does the
//! command that verifies it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::fields::Fields;
use super::findings::Findings;
use super::ignored::Ignored;
use super::json::Json;
use super::needs;
use super::places::Places;
use crate::plan::{
    Code, Destination, Dialect, Digest, Finding, Metadata, Mode, Outlook, Precondition, RiskLevel,
    Severity, ShownPlan, ShownStep, StatedRisk, StepPlace, Tool, ToolCall, limits,
};

/// What the id of a verification has behind the id of the step that it verifies.
const VERIFY: &str = ".verify";

/// What another program has written of its own run of the plan.
const OF_A_RUN: [&str; 5] = ["status", "currentStepIndex", "createdAt", "startedAt", "completedAt"];
/// The same of one step.
const OF_A_STEP_RUN: [&str; 6] =
    ["status", "output", "error", "commandResult", "startedAt", "completedAt"];

/// Reads a command plan; the caller fills in its source.
pub(super) fn read(
    mut fields: Fields,
    places: &Places<'_>,
    digest: Digest,
    findings: &mut Findings,
) -> ShownPlan {
    let mut ignored = Ignored::default();
    let plan_id = fields.id("id", findings);
    let goal = fields.filled("goal", findings);
    let mode = mode(&mut fields, findings);
    let target = target(&mut fields, findings);
    let outlook = Outlook {
        success_criteria: texts(&mut fields, "successCriteria", findings),
        rollback: commands(&mut fields, "rollbackPlan", findings),
        estimated_time: fields.text_or_number("estimatedTime", places, findings),
    };
    let steps = Reader {
        target: target.as_deref(),
        findings,
        ignored: &mut ignored,
        odd_index: None,
        ids_at: Vec::new(),
    }
    .steps(&mut fields);
    ignored.take(&mut fields, &OF_A_RUN);
    ignored.tell(findings);
    fields.finish(findings);
    ShownPlan {
        plan_id: plan_id.unwrap_or_else(|| format!("plan-{}", digest.short(16))),
        dialect: Dialect::CommandPlan,
        intent: None,
        title: goal,
        created_by: None,
        evidence_referenced: Vec::new(),
        mode,
        target,
        outlook,
        metadata: Metadata::default(),
        failure: None,
        steps,
        source: Arc::from([]),
        digest,
    }
}

fn mode(fields: &mut Fields, findings: &mut Findings) -> Mode {
    const WORDS: [(&str, Mode); 4] = [
        ("automatic", Mode::Automatic),
        ("fixer", Mode::Automatic),
        ("guided", Mode::Guided),
        ("teacher", Mode::Guided),
    ];
    fields.word("mode", &WORDS, findings).unwrap_or_default()
}

/// The SSH destination; none for this machine, which has the name `local`.
fn target(fields: &mut Fields, findings: &mut Findings) -> Option<String> {
    let text = fields.text("target", findings).filter(|text| text != "local")?;
    if let Err(error) = Destination::parse(&text) {
        let message = format!("{text:?} is no SSH destination: {error}");
        findings.push(Finding::error(Code::BadValue, fields.pointer_to("target"), message));
    }
    Some(text)
}

fn texts(fields: &mut Fields, name: &'static str, findings: &mut Findings) -> Vec<String> {
    fields.texts(name, findings).into_iter().map(|(_, text)| text).collect()
}

/// Texts that are commands: none of them blank, none with a character that no command can have.
fn commands(fields: &mut Fields, name: &'static str, findings: &mut Findings) -> Vec<String> {
    let pointer = fields.pointer_to(name);
    let texts = fields.texts(name, findings);
    if texts.len() > limits::STEPS {
        let message = format!("there are {} commands; the limit is {}", texts.len(), limits::STEPS);
        findings.push(Finding::error(Code::Limit, &pointer, message));
    }
    for (index, text) in &texts {
        check_command(text, &format!("{pointer}/{index}"), "the command", findings);
    }
    texts.into_iter().map(|(_, text)| text).collect()
}

fn check_command(text: &str, pointer: &str, what: &str, findings: &mut Findings) {
    if text.trim().is_empty() {
        findings.error(|| Finding::error(Code::Missing, pointer, format!("{what} is empty")));
    } else if text.contains('\0') {
        let message = format!("{what} contains a NUL character");
        findings.error(|| Finding::error(Code::BadValue, pointer, message));
    }
}

/// Reads the steps of one plan.
struct Reader<'a> {
    target: Option<&'a str>,
    findings: &'a mut Findings,
    ignored: &'a mut Ignored,
    /// The first step whose `index` is not its place.
    odd_index: Option<String>,
    /// For each step, where its id stands, or what it is derived from.
    ids_at: Vec<String>,
}

impl Reader<'_> {
    fn steps(&mut self, fields: &mut Fields) -> Vec<ShownStep> {
        let pointer = fields.pointer_to("steps");
        let Some(items) = fields.array("steps", self.findings) else { return Vec::new() };
        if items.is_empty() {
            let message = "the plan is empty; a plan has at least one step";
            self.findings.push(Finding::error(Code::Missing, &pointer, message));
        }
        let mut steps: Vec<ShownStep> = Vec::with_capacity(items.len().min(limits::STEPS));
        let mut too_many = false;
        for (index, item) in items.into_iter().enumerate() {
            if steps.len() >= limits::STEPS {
                too_many = true;
                break;
            }
            self.step(item, index, &format!("{pointer}/{index}"), &mut steps);
        }
        if too_many || steps.len() > limits::STEPS {
            self.findings.push(Finding::error(
                Code::Limit,
                &pointer,
                format!(
                    "the plan has more than {} steps, which is the limit; each verification is one",
                    limits::STEPS
                ),
            ));
            steps.truncate(limits::STEPS);
        }
        if let Some(pointer) = self.odd_index.take() {
            self.findings.push(Finding::new(
                Severity::Warning,
                Code::BadValue,
                pointer,
                "this is not the place of the step; steps run in the order of the file",
            ));
        }
        self.check_ids(&steps);
        steps
    }

    fn check_ids(&mut self, steps: &[ShownStep]) {
        let mut first_with: HashMap<&str, usize> = HashMap::new();
        for (step, pointer) in steps.iter().zip(std::mem::take(&mut self.ids_at)) {
            if let Some(earlier) = first_with.get(step.step_id.as_str()) {
                self.findings.error(|| {
                    Finding::error(
                        Code::DuplicateId,
                        pointer,
                        format!("step {} has the id {:?} already", earlier + 1, step.step_id),
                    )
                });
            } else {
                first_with.insert(&step.step_id, step.step_index);
            }
        }
    }

    /// Adds the step, and the one that verifies it.
    fn step(&mut self, item: Json, index: usize, pointer: &str, steps: &mut Vec<ShownStep>) {
        let before = self.findings.errors();
        let Some(mut fields) = Fields::of(item, pointer, "a step", self.findings) else { return };
        let id_at = if fields.has("id") { fields.pointer_to("id") } else { pointer.to_owned() };
        let id = fields.id("id", self.findings).unwrap_or_else(|| format!("step_{}", index + 1));
        self.index(&mut fields, index);
        let command = fields.filled("command", self.findings).unwrap_or_default();
        if command.contains('\0') {
            check_command(&command, &fields.pointer_to("command"), "\"command\"", self.findings);
        }
        let title = fields.text("description", self.findings).filter(|it| !it.trim().is_empty());
        let reason = fields.text("explanation", self.findings).filter(|it| !it.trim().is_empty());
        let mut arguments = BTreeMap::new();
        let mut argument = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                arguments.insert(name.to_owned(), value);
            }
        };
        argument("cwd", self.cwd(&mut fields));
        let timeout = fields.whole_number(
            "timeoutSeconds",
            1..=limits::TIMEOUT_SECONDS.into(),
            self.findings,
        );
        argument("timeout_seconds", timeout.map(|seconds| seconds.to_string()));
        argument("target", self.target.map(str::to_owned));
        let (stated, requires_confirmation) = self.stated(&mut fields);
        let needs = needs::read(&mut fields, self.findings);
        let expected_output = fields.text("expectedOutput", self.findings);
        let verification = fields.text("verificationCommand", self.findings);
        if let Some(verification) = &verification {
            let pointer = fields.pointer_to("verificationCommand");
            check_command(verification, &pointer, "\"verificationCommand\"", self.findings);
            if id.len() + VERIFY.len() > limits::ID_BYTES {
                self.findings.push(Finding::error(
                    Code::Limit,
                    fields.pointer_to("id"),
                    format!(
                        "with {VERIFY:?}, the id is {} bytes long; the limit for ids is {}",
                        id.len() + VERIFY.len(),
                        limits::ID_BYTES
                    ),
                ));
            }
        }
        self.ignored.take(&mut fields, &OF_A_STEP_RUN);
        fields.finish(self.findings);
        let faulty = self.findings.errors() > before;
        let mut add = |step: ShownStep, command: String| {
            let mut arguments = arguments.clone();
            arguments.insert("command".to_owned(), command);
            let call = ToolCall::from_arguments(Tool::Shell, &arguments).filter(|_| !faulty);
            steps.push(ShownStep { arguments, call, step_index: steps.len(), ..step });
        };
        let step = ShownStep {
            step_id: id.clone(),
            step_index: 0,
            tool_name: Tool::Shell.name().to_owned(),
            arguments: BTreeMap::new(),
            call: None,
            precondition: Precondition::None,
            precondition_text: "none".to_owned(),
            requires_confirmation,
            title,
            reason,
            stated,
            expected_output,
            needs,
            place: StepPlace::Command(index),
        };
        let verifying = verification.as_ref().map(|_| ShownStep {
            step_id: format!("{id}{VERIFY}"),
            // What the author says about the command is not about this one.
            requires_confirmation: false,
            title: step.title.as_ref().map(|title| format!("Verify: {title}")),
            reason: Some(format!("Verifies step {id}.")),
            stated: StatedRisk::default(),
            expected_output: None,
            place: StepPlace::Verification(index),
            ..step.clone()
        });
        add(step, command);
        self.ids_at.push(id_at);
        if let (Some(step), Some(command)) = (verifying, verification) {
            self.ids_at.push(step.pointer(None));
            add(step, command);
        }
    }

    /// The place that the file gives the step. Another program may have counted from 0 or from 1.
    fn index(&mut self, fields: &mut Fields, place: usize) {
        let Some(index) = fields.whole_number("index", 0..=u64::MAX, self.findings) else { return };
        let place = place as u64;
        if index != place && index != place + 1 && self.odd_index.is_none() {
            self.odd_index = Some(fields.pointer_to("index"));
        }
    }

    fn cwd(&mut self, fields: &mut Fields) -> Option<String> {
        let cwd = fields.text("cwd", self.findings)?;
        let pointer = fields.pointer_to("cwd");
        if cwd.is_empty() {
            let message = "\"cwd\" is empty; name a folder, or leave it out for the workspace";
            self.findings.push(Finding::error(Code::Missing, pointer, message));
        } else if cwd.contains('\0') {
            let message = "\"cwd\" contains a NUL character";
            self.findings.push(Finding::error(Code::BadValue, pointer, message));
        }
        Some(cwd)
    }

    /// What the author says about the risk, and whether they want a person to be asked.
    fn stated(&mut self, fields: &mut Fields) -> (StatedRisk, bool) {
        let words = RiskLevel::ALL.map(|level| (level.as_str(), level));
        let level = fields.word("riskLevel", &words, self.findings);
        let pointer = fields.pointer_to("riskAssessment");
        let Some(json) = fields.take("riskAssessment") else {
            return (StatedRisk { level, ..StatedRisk::default() }, false);
        };
        let what = "\"riskAssessment\"";
        let Some(mut fields) = Fields::of(json, &pointer, what, self.findings) else {
            return (StatedRisk { level, ..StatedRisk::default() }, false);
        };
        let stated = StatedRisk {
            level: level.max(fields.word("level", &words, self.findings)),
            category: fields.text("category", self.findings),
            reason: fields.text("reason", self.findings),
            warning: fields.text("warningMessage", self.findings),
        };
        let asks = fields.flag("requiresApproval", self.findings).unwrap_or(false);
        fields.finish(self.findings);
        (stated, asks)
    }
}
