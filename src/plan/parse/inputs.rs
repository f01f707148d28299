//! The `inputs` of a plan (SPEC §13, *Revisions*), and their values in its arguments.
//!
//! Values are put into the tree before anything else reads it, so that every check and limit holds for what results.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::context::ParseContext;
use super::fields::Fields;
use super::json::Json;
use super::positions::escape;
use crate::plan::inputs::{CommandFault, Part, fill, is_name, of_names, parts, refer};
use crate::plan::{
    Code, CommandInput, Dialect, Finding, PlanInput, Severity, ShownPlan, StepPlace, ToolCall,
    limits,
};

/// Members of a request that say what is done, and never to what.
const NOT_FILLED: [&str; 2] = ["op", "tool"];

/// The inputs of one plan while it is read.
pub(super) struct Inputs<'c> {
    pub(super) all: Vec<PlanInput>,
    context: &'c ParseContext<'c>,
    pointer: String,
    /// For each input, the positions in the file of the steps that use it.
    used: RefCell<BTreeMap<String, BTreeSet<usize>>>,
    /// The positions of the steps of which an argument is not filled in.
    unfilled: RefCell<BTreeSet<usize>>,
    /// Names that are used without being declared, which have a warning.
    unknown: RefCell<BTreeSet<String>>,
    /// The number of bytes that values may still add.
    budget: Cell<usize>,
}

impl<'c> Inputs<'c> {
    /// Reads the inputs.
    pub(super) fn read(fields: &mut Fields<'c>) -> Self {
        let (context, pointer) = (fields.context, fields.pointer_to("inputs"));
        let items = fields.array("inputs").unwrap_or_default();
        if items.len() > limits::PLAN_INPUTS {
            let message = format!(
                "the plan has {} inputs; the limit is {}",
                items.len(),
                limits::PLAN_INPUTS
            );
            fields.error(Code::Limit, "inputs", message);
        }
        let mut all: Vec<PlanInput> = Vec::new();
        for (index, item) in items.into_iter().take(limits::PLAN_INPUTS).enumerate() {
            let pointer = format!("{pointer}/{index}");
            let input = input(item, &pointer, context).unwrap_or_default();
            if all.iter().any(|it| it.name == input.name && !input.name.is_empty()) {
                let message = format!("an earlier input has the name {:?} already", input.name);
                context.error(Code::DuplicateId, format!("{pointer}/name"), message);
            }
            all.push(input);
        }
        Self {
            all,
            context,
            pointer,
            used: RefCell::default(),
            unfilled: RefCell::default(),
            unknown: RefCell::default(),
            budget: Cell::new(limits::PLAN_BYTES),
        }
    }

    fn get(&self, name: &str) -> Option<&PlanInput> {
        self.all.iter().find(|input| input.name == name)
    }

    /// Puts the values into the arguments of steps, the requests of actions, and the folders of commands.
    pub(super) fn fill(&self, fields: &mut Fields<'_>, dialect: Dialect) {
        if self.all.is_empty() {
            return;
        }
        let (list, member) = match dialect {
            Dialect::StepPlan => ("steps", "arguments"),
            Dialect::CommandPlan => ("steps", "cwd"),
            Dialect::ActionPlan => ("actions", "request"),
        };
        let Some(Json::Array(items)) = fields.value_mut(list) else { return };
        for (index, item) in items.iter_mut().enumerate() {
            let Json::Object(members) = item else { continue };
            for (_, json) in members.iter_mut().filter(|(name, _)| name == member) {
                self.fill_json(json, &mut format!("/{list}/{index}/{member}"), index);
            }
        }
    }

    fn fill_json(&self, json: &mut Json, pointer: &mut String, item: usize) {
        let length = pointer.len();
        match json {
            Json::String(text) => self.fill_text(text, pointer, item),
            Json::Array(items) => {
                for (index, json) in items.iter_mut().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.fill_json(json, pointer, item);
                    pointer.truncate(length);
                }
            }
            Json::Object(members) => {
                for (name, json) in members {
                    if NOT_FILLED.contains(&name.as_str()) {
                        continue;
                    }
                    pointer.push('/');
                    pointer.push_str(&escape(name));
                    self.fill_json(json, pointer, item);
                    pointer.truncate(length);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn fill_text(&self, text: &mut String, pointer: &str, item: usize) {
        if !text.contains("{{") {
            return;
        }
        let mut has_secret = false;
        let filled = fill(text, limits::ARGUMENT_BYTES, |name| {
            let Some(input) = self.get(name) else {
                self.warn_of_unknown(name, pointer);
                return None;
            };
            self.note_use(name, item);
            if input.secret {
                has_secret = true;
            } else if input.value.is_none() {
                self.unfilled.borrow_mut().insert(item);
            }
            input.value.as_deref()
        });
        if has_secret {
            let message = "a secret can be given only to a command, as a variable; here its value would be recorded";
            self.context.error(Code::BadValue, pointer, message);
        }
        let added = filled.as_ref().map_or(0, |filled| filled.len().saturating_sub(text.len()));
        match (filled, self.budget.get().checked_sub(added)) {
            (Some(filled), Some(left)) => {
                self.budget.set(left);
                if filled != *text && self.is_filled_again(&filled, pointer) {
                    let message = "with its values, the folder has a template itself; values are not filled in again";
                    self.context.error(Code::BadValue, pointer, message);
                }
                *text = filled;
            }
            (None, _) => {
                let limit = limits::ARGUMENT_BYTES;
                let message = format!(
                    "with the values of its inputs, this is longer than {limit} bytes, which is the limit"
                );
                self.context.error(Code::Limit, pointer, message);
            }
            (_, None) => {
                let limit = limits::PLAN_BYTES;
                let message = format!(
                    "the values of the inputs add more than {limit} bytes to the plan, which is the limit"
                );
                self.context.error(Code::Limit, pointer, message);
            }
        }
    }

    /// Whether a folder of a command would be filled in once more in a plan that continues this one. Such a plan has the
    /// filled-in folder and the inputs of its commands.
    fn is_filled_again(&self, filled: &str, pointer: &str) -> bool {
        pointer.ends_with("/cwd")
            && parts(filled).any(|part| {
                matches!(part, Part::Name(name) if self.get(name).is_some_and(|it| it.value.is_some()))
            })
    }

    /// A command whose templates are references to variables, and the inputs that it gets. `item` is the position of its
    /// step.
    pub(super) fn of_command(
        &self,
        command: String,
        pointer: &str,
        item: Option<usize>,
    ) -> (String, Vec<CommandInput>) {
        if self.all.is_empty() {
            return (command, Vec::new());
        }
        let found = refer(&command, &|name| self.get(name).is_some());
        for fault in &found.faults {
            self.context.error_with(|| fault_finding(fault, pointer));
        }
        for name in found.unknown {
            self.warn_of_unknown(name, pointer);
        }
        for name in &found.used {
            match item {
                Some(item) => self.note_use(name, item),
                None => drop(self.used.borrow_mut().entry(name.clone()).or_default()),
            }
        }
        if found.text.len() > limits::ARGUMENT_BYTES {
            let limit = limits::ARGUMENT_BYTES;
            let message = format!(
                "with references to its inputs, the command is longer than {limit} bytes, which is the limit"
            );
            self.context.error(Code::Limit, pointer, message);
        }
        let inputs = of_names(&found.used, &self.all);
        (found.text, inputs)
    }

    fn note_use(&self, name: &str, item: usize) {
        self.used.borrow_mut().entry(name.to_owned()).or_default().insert(item);
    }

    fn warn_of_unknown(&self, name: &str, pointer: &str) {
        if self.unknown.borrow_mut().insert(name.to_owned()) {
            let message = format!(
                "the plan has no input {name:?}, so {{{{{name}}}}} stays as it is, here and elsewhere"
            );
            self.context.push(Finding::new(Severity::Warning, Code::BadValue, pointer, message));
        }
    }

    /// Gives the inputs to the plan, and reports those that are not filled in or not used.
    pub(super) fn finish(self, plan: &mut ShownPlan) {
        let (used, unfilled) = (self.used.into_inner(), self.unfilled.into_inner());
        for step in &mut plan.steps {
            let (StepPlace::Step(item)
            | StepPlace::Command(item)
            | StepPlace::Verification(item)
            | StepPlace::Action(item)) = step.place;
            if unfilled.contains(&item) {
                step.call = None;
            }
        }
        let mut inputs = self.all;
        for (index, input) in inputs.iter_mut().enumerate() {
            let pointer = format!("{}/{index}", self.pointer);
            let items = used.get(&input.name);
            if input.name.is_empty() {
                continue;
            }
            if input.is_missing() {
                let message = format!(
                    "the input {:?} is not filled in: give it a value in the window, or with --input {}=VALUE",
                    input.name, input.name
                );
                let finding = Finding::error(Code::NotFilledIn, &pointer, message);
                self.context.push(finding.allowing(input.choices.iter().cloned()));
            }
            let Some(items) = items else {
                let message = format!("no step uses the input {:?}", input.name);
                self.context.push(Finding::new(
                    Severity::Warning,
                    Code::BadValue,
                    pointer,
                    message,
                ));
                continue;
            };
            let uses = |step: &&crate::plan::ShownStep| match (&step.call, step.place) {
                (Some(ToolCall::Shell { inputs, .. }), _) => {
                    inputs.iter().any(|it| it.name == input.name)
                }
                (
                    _,
                    StepPlace::Step(item)
                    | StepPlace::Command(item)
                    | StepPlace::Verification(item)
                    | StepPlace::Action(item),
                ) => items.contains(&item),
            };
            input.used_by = plan.steps.iter().filter(uses).map(|step| step.step_index).collect();
        }
        plan.inputs = inputs;
    }
}

fn fault_finding(fault: &CommandFault<'_>, pointer: &str) -> Finding {
    let message = match fault {
        CommandFault::Template(name) => format!(
            "{{{{{name}}}}} cannot be replaced here, where it is not plain which quotes it is in: write \"$input_{name}\" \
             in double quotes where the value is needed"
        ),
        CommandFault::Unquoted(name) => format!(
            "the value of $input_{name} would be split into words here: write \"$input_{name}\", with double quotes around it"
        ),
        CommandFault::Undeclared(name) => format!(
            "the plan has no input {name:?}, and names that begin with input_ are those of its inputs: declare it, or give \
             the variable another name"
        ),
    };
    Finding::error(Code::BadValue, pointer, message)
}

fn input(item: Json, pointer: &str, context: &ParseContext<'_>) -> Option<PlanInput> {
    let mut fields = Fields::of(item, pointer, "an input", context)?;
    let name = fields.non_blank("name").unwrap_or_default();
    if !name.trim().is_empty() && !is_name(&name) {
        let message = format!(
            "the name {name:?} of an input must be lower-case letters, digits and \"_\", a letter first, and at most {} bytes",
            limits::INPUT_NAME_BYTES
        );
        fields.error(Code::BadValue, "name", message);
    }
    let title = fields.text_unless_blank("title");
    let written = fields.texts("choices");
    if written.len() > limits::CHOICES {
        let message =
            format!("there are {} choices; the limit is {}", written.len(), limits::CHOICES);
        fields.error(Code::Limit, "choices", message);
    }
    for (index, text) in &written {
        if text.is_empty() {
            let pointer = format!("{}/{index}", fields.pointer_to("choices"));
            let finding = || Finding::error(Code::Missing, pointer, "a choice is empty");
            fields.context.error_with(finding);
        }
    }
    let choices: Vec<String> =
        written.into_iter().take(limits::CHOICES).map(|(_, text)| text).collect();
    let default = fields.text("default");
    let value = fields.text("value");
    let secret = fields.flag("secret");
    fields.finish();
    let mut input = PlanInput { name, title, choices, secret, ..PlanInput::default() };
    for (field, text) in [("default", &default), ("value", &value)] {
        let Some(text) = text else { continue };
        let pointer = format!("{pointer}/{field}");
        if secret {
            let message = format!("a secret has no {field:?}: its value would be in the plan");
            context.error(Code::BadValue, pointer, message);
        } else if let Some(why) = input.refuses(text) {
            let code = match text.len() > limits::INPUT_BYTES {
                true => Code::Limit,
                false => Code::BadValue,
            };
            let finding = Finding::error(code, pointer, format!("the {field} is refused: {why}"));
            context.push(finding.allowing(input.choices.iter().cloned()));
        }
    }
    if secret && !input.choices.is_empty() {
        let message = "a secret has no \"choices\": its value would be in the plan";
        context.error(Code::BadValue, format!("{pointer}/choices"), message);
    }
    for choice in &input.choices {
        if choice.len() > limits::INPUT_BYTES || choice.contains('\0') {
            let why = PlanInput { choices: Vec::new(), ..input.clone() }.refuses(choice);
            let message = format!("a choice is refused: {}", why.unwrap_or_default());
            context.error(Code::Limit, format!("{pointer}/choices"), message);
        }
    }
    if !secret {
        (input.default, input.value) = (default, value);
    }
    Some(input)
}
