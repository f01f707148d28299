//! The command dialect (SPEC §1.2): each command becomes a step of the tool `shell`, and so does the
//! command that verifies it.

use std::collections::{BTreeMap, HashMap};

use super::context::ParseContext;
use super::fields::Fields;
use super::fleet;
use super::ignored::Ignored;
use super::inputs::Inputs;
use super::json::Json;
use super::needs;
use crate::plan::{
    Code, CommandInput, Destination, Finding, Fleet, Mode, PlanNotes, Precondition, RiskLevel,
    Severity, ShownPlan, ShownStep, StatedRisk, StepPlace, Tool, ToolCall, limits,
};

/// Suffix of the id of a verification step, after the id of the step that it verifies.
const VERIFY_SUFFIX: &str = ".verify";

/// Fields that other programs add to a plan when they run it. They are ignored, with a note.
const RUN_FIELDS: [&str; 5] =
    ["status", "currentStepIndex", "createdAt", "startedAt", "completedAt"];
/// Fields that other programs add to a step.
const STEP_RUN_FIELDS: [&str; 6] =
    ["status", "output", "error", "commandResult", "startedAt", "completedAt"];

/// Reads a command plan. `plan` has default values, which are replaced.
pub(super) fn read(mut fields: Fields<'_>, plan: ShownPlan, inputs: &Inputs<'_>) -> ShownPlan {
    let plan_id = fields.id("id");
    let goal = fields.non_blank("goal");
    let mode = mode(&mut fields);
    let fleet = fleet::read(&mut fields, inputs);
    let target = target(&mut fields);
    // Of a faulty plan with both, the hosts are shown.
    let target = fleet.as_ref().map(Fleet::label).or(target);
    let success_criteria = fields.texts("successCriteria").into_iter().map(|(_, text)| text);
    let notes = PlanNotes {
        success_criteria: success_criteria.collect(),
        rollback: commands(&mut fields, "rollbackPlan", inputs),
        estimated_time: fields.text_or_number("estimatedTime"),
    };
    let mut reader = Reader {
        target: target.as_deref(),
        on_fleet: fleet.is_some(),
        context: fields.context,
        inputs,
        ignored: Ignored::default(),
        wrong_index: None,
        id_pointers: Vec::new(),
    };
    let steps = reader.steps(&mut fields);
    reader.ignored.take(&mut fields, &RUN_FIELDS);
    reader.ignored.report(fields.context);
    fields.finish();
    ShownPlan {
        plan_id: plan_id.unwrap_or(plan.plan_id),
        title: goal,
        mode,
        target,
        fleet,
        notes,
        steps,
        ..plan
    }
}

fn mode(fields: &mut Fields<'_>) -> Mode {
    const WORDS: [(&str, Mode); 4] = [
        ("automatic", Mode::Automatic),
        ("fixer", Mode::Automatic),
        ("guided", Mode::Guided),
        ("teacher", Mode::Guided),
    ];
    fields.word("mode", &WORDS).unwrap_or_default()
}

/// The SSH destination; `None` for this machine, which plans call `local`.
fn target(fields: &mut Fields<'_>) -> Option<String> {
    let text = fields.text("target").filter(|text| text != "local")?;
    if let Err(error) = Destination::parse(&text) {
        let message = format!("{text:?} is no SSH destination: {error}");
        fields.error(Code::BadValue, "target", message);
    }
    Some(text)
}

/// Reads an array of commands. Blank commands and NUL characters are reported; all texts are returned.
fn commands(fields: &mut Fields<'_>, name: &'static str, inputs: &Inputs<'_>) -> Vec<String> {
    let texts = fields.texts(name);
    if texts.len() > limits::STEPS {
        let message = format!("there are {} commands; the limit is {}", texts.len(), limits::STEPS);
        fields.error(Code::Limit, name, message);
    }
    let pointer = fields.pointer_to(name);
    for (index, text) in &texts {
        check_command(text, &format!("{pointer}/{index}"), "the command", fields.context);
    }
    let referring = |(index, text)| inputs.of_command(text, &format!("{pointer}/{index}"), None).0;
    texts.into_iter().map(referring).collect()
}

fn check_command(text: &str, pointer: &str, what: &str, context: &ParseContext<'_>) {
    let (code, fault) = if text.trim().is_empty() {
        (Code::Missing, "is empty")
    } else if text.contains('\0') {
        (Code::BadValue, "contains a NUL character")
    } else {
        return;
    };
    context.error_with(|| Finding::error(code, pointer, format!("{what} {fault}")));
}

/// Reads the steps of one plan.
struct Reader<'a> {
    target: Option<&'a str>,
    /// Whether the plan runs on several hosts.
    on_fleet: bool,
    context: &'a ParseContext<'a>,
    inputs: &'a Inputs<'a>,
    ignored: Ignored,
    /// The pointer to the first `index` that is not the position of its step.
    wrong_index: Option<String>,
    /// For each step, the pointer to its id, or to the value from which the id is derived.
    id_pointers: Vec<String>,
}

impl Reader<'_> {
    fn steps(&mut self, fields: &mut Fields<'_>) -> Vec<ShownStep> {
        let pointer = fields.pointer_to("steps");
        let Some(items) = fields.array("steps") else { return Vec::new() };
        if items.is_empty() {
            let message = "the plan is empty; a plan has at least one step";
            fields.error(Code::Missing, "steps", message);
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
            let message = format!(
                "the plan has more than {} steps, which is the limit; verifications count as steps",
                limits::STEPS
            );
            fields.error(Code::Limit, "steps", message);
            steps.truncate(limits::STEPS);
        }
        if let Some(pointer) = self.wrong_index.take() {
            let message =
                "this is not the position of the step; steps run in the order of the file";
            self.context.push(Finding::new(Severity::Warning, Code::BadValue, pointer, message));
        }
        self.check_ids(&steps);
        steps
    }

    fn check_ids(&mut self, steps: &[ShownStep]) {
        let mut first_with: HashMap<&str, usize> = HashMap::new();
        for (step, pointer) in steps.iter().zip(std::mem::take(&mut self.id_pointers)) {
            if let Some(earlier) = first_with.get(step.step_id.as_str()) {
                let message =
                    || format!("step {} has the id {:?} already", earlier + 1, step.step_id);
                self.context.error_with(|| Finding::error(Code::DuplicateId, pointer, message()));
            } else {
                first_with.insert(&step.step_id, step.step_index);
            }
        }
    }

    /// Adds the step of a command and the step of its verification.
    fn step(&mut self, item: Json, index: usize, pointer: &str, steps: &mut Vec<ShownStep>) {
        let before = self.context.errors();
        let Some(mut fields) = Fields::of(item, pointer, "a step", self.context) else { return };
        let id_pointer = fields.nearest("id");
        let id = fields.id("id").unwrap_or_else(|| format!("step_{}", index + 1));
        self.check_index(&mut fields, index);
        let command = fields.non_blank("command").unwrap_or_default();
        if command.contains('\0') {
            check_command(&command, &fields.pointer_to("command"), "\"command\"", self.context);
        }
        let command_pointer = fields.pointer_to("command");
        let command = self.inputs.of_command(command, &command_pointer, Some(index));
        let title = fields.text_unless_blank("description");
        let reason = fields.text_unless_blank("explanation");
        let cwd = cwd(&mut fields);
        let timeout = fields.whole_number("timeoutSeconds", 1..=limits::TIMEOUT_SECONDS.into());
        let arguments: BTreeMap<String, String> = [
            ("cwd", cwd),
            ("timeout_seconds", timeout.map(|seconds| seconds.to_string())),
            ("target", self.target.map(str::to_owned)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
        let (stated, requires_confirmation) = stated(&mut fields);
        let needs = needs::read(&mut fields);
        if self.on_fleet && needs.as_ref().is_some_and(|needs| needs.terminal) {
            let message = "a command on several hosts cannot have a terminal";
            fields.error(Code::BadValue, "needs", message);
        }
        let expected_output = fields.text("expectedOutput");
        let verification = fields.text("verificationCommand").map(|text| {
            let pointer = fields.pointer_to("verificationCommand");
            check_command(&text, &pointer, "\"verificationCommand\"", self.context);
            self.inputs.of_command(text, &pointer, Some(index))
        });
        if verification.is_some() {
            let length = id.len() + VERIFY_SUFFIX.len();
            if length > limits::ID_BYTES {
                let limit = limits::ID_BYTES;
                let message = format!(
                    "with {VERIFY_SUFFIX:?}, the id is {length} bytes long; the limit for ids is {limit}"
                );
                fields.error(Code::Limit, "id", message);
            }
        }
        if self.on_fleet {
            let folder = arguments.get("cwd").map_or(0, |cwd| quoted_bytes(cwd));
            let verification = verification.as_ref().map_or(0, |(text, _)| quoted_bytes(text));
            let length = quoted_bytes(&command.0).max(verification) + folder;
            if length > limits::FLEET_COMMAND_BYTES {
                let limit = limits::FLEET_COMMAND_BYTES;
                let message = format!(
                    "quoted for ssh, command and folder are {length} bytes long; the limit for several hosts is {limit}"
                );
                fields.error(Code::Limit, "command", message);
            }
        }
        self.ignored.take(&mut fields, &STEP_RUN_FIELDS);
        fields.finish();
        let faulty = self.context.errors() > before;
        let mut add = |step: ShownStep, (command, inputs): (String, Vec<CommandInput>)| {
            let mut arguments = arguments.clone();
            arguments.insert("command".to_owned(), command);
            for input in &inputs {
                // What a person reads and what is recorded of a step has its inputs, too.
                arguments.extend(input.argument().map(|value| (input.variable(), value)));
            }
            let call = ToolCall::from_arguments(Tool::Shell, &arguments).filter(|_| !faulty);
            let call = call.map(|call| call.with_inputs(inputs));
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
            step_id: format!("{id}{VERIFY_SUFFIX}"),
            // The author's statements are about the command, not its verification.
            requires_confirmation: false,
            title: step.title.as_ref().map(|title| format!("Verify: {title}")),
            reason: Some(format!("Verifies step {id}.")),
            stated: StatedRisk::default(),
            expected_output: None,
            place: StepPlace::Verification(index),
            ..step.clone()
        });
        add(step, command);
        self.id_pointers.push(id_pointer);
        if let (Some(step), Some(command)) = (verifying, verification) {
            self.id_pointers.push(step.pointer(None));
            add(step, command);
        }
    }

    /// Checks `index` against the position of the step. Other programs count from 0 or from 1.
    fn check_index(&mut self, fields: &mut Fields<'_>, position: usize) {
        let Some(index) = fields.whole_number("index", 0..=u64::MAX) else { return };
        let position = position as u64;
        if index != position && index != position + 1 && self.wrong_index.is_none() {
            self.wrong_index = Some(fields.pointer_to("index"));
        }
    }
}

/// The length of a text between single quotes, in which each single quote takes five bytes.
fn quoted_bytes(text: &str) -> usize {
    text.len() + 4 * text.matches('\'').count() + 2
}

fn cwd(fields: &mut Fields<'_>) -> Option<String> {
    let cwd = fields.text("cwd")?;
    if cwd.is_empty() {
        let message = "\"cwd\" is empty; name a folder, or leave it out for the workspace";
        fields.error(Code::Missing, "cwd", message);
    } else if cwd.contains('\0') {
        fields.error(Code::BadValue, "cwd", "\"cwd\" contains a NUL character");
    }
    Some(cwd)
}

/// The author's statement about the risk, and whether the author requires a confirmation.
fn stated(fields: &mut Fields<'_>) -> (StatedRisk, bool) {
    let level = fields.word("riskLevel", RiskLevel::WORDS);
    let Some(mut fields) = fields.object("riskAssessment") else {
        return (StatedRisk { level, ..StatedRisk::default() }, false);
    };
    let stated = StatedRisk {
        level: level.max(fields.word("level", RiskLevel::WORDS)),
        category: fields.text("category"),
        reason: fields.text("reason"),
        warning: fields.text("warningMessage"),
    };
    let requires_confirmation = fields.flag("requiresApproval");
    fields.finish();
    (stated, requires_confirmation)
}
