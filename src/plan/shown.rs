//! A plan for display, valid or faulty. A faulty step has no call and cannot run.

use std::sync::Arc;

use super::{Dialect, Digest, Finding, Fleet, Metadata, Mode, Plan, PlanNotes, Step, ToolCall};

/// A plan of which some steps may be faulty. Only a [`Plan`] can be approved and run.
pub type ShownPlan = Plan<Option<ToolCall>>;

/// A step of a [`ShownPlan`]; without a call it is faulty.
pub type ShownStep = Step<Option<ToolCall>>;

impl<C> Plan<C> {
    /// Maps the calls; steps without a result are left out.
    fn map_calls<D>(self, mut map: impl FnMut(C) -> Option<D>) -> Plan<D> {
        let step = |step: Step<C>| {
            Some(Step {
                call: map(step.call)?,
                step_id: step.step_id,
                step_index: step.step_index,
                tool_name: step.tool_name,
                arguments: step.arguments,
                precondition: step.precondition,
                precondition_text: step.precondition_text,
                requires_confirmation: step.requires_confirmation,
                title: step.title,
                reason: step.reason,
                stated: step.stated,
                expected_output: step.expected_output,
                needs: step.needs,
                place: step.place,
            })
        };
        Plan {
            steps: self.steps.into_iter().filter_map(step).collect(),
            plan_id: self.plan_id,
            dialect: self.dialect,
            intent: self.intent,
            title: self.title,
            created_by: self.created_by,
            evidence_referenced: self.evidence_referenced,
            mode: self.mode,
            target: self.target,
            fleet: self.fleet,
            notes: self.notes,
            metadata: self.metadata,
            failure: self.failure,
            inputs: self.inputs,
            signatures_required: self.signatures_required,
            source: self.source,
            digest: self.digest,
        }
    }
}

impl From<Plan> for ShownPlan {
    fn from(plan: Plan) -> Self {
        plan.map_calls(|call| Some(Some(call)))
    }
}

impl Plan {
    /// As [`ShownPlan::on_target`].
    #[must_use]
    pub fn on_target(self, target: Option<&str>) -> Self {
        ShownPlan::from(self).on_target(target).into_valid_steps()
    }
}

impl<C> Plan<C> {
    /// A command plan in this mode; other plans stay unchanged. Bytes and digest stay: an approval covers the mode
    /// separately (SPEC §2, §7.4).
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Self {
        if self.dialect == Dialect::CommandPlan { Self { mode, ..self } } else { self }
    }
}

impl ShownPlan {
    /// A plan with the bytes, an id derived from their digest, and default values.
    pub(super) fn new(dialect: Dialect, source: &str, digest: Digest) -> Self {
        Self {
            plan_id: format!("plan-{}", digest.short(16)),
            dialect,
            intent: None,
            title: None,
            created_by: None,
            evidence_referenced: Vec::new(),
            mode: Mode::Automatic,
            target: None,
            fleet: None,
            notes: PlanNotes::default(),
            metadata: Metadata::default(),
            failure: None,
            inputs: Vec::new(),
            signatures_required: 0,
            steps: Vec::new(),
            source: Arc::from(source.as_bytes()),
            digest,
        }
    }

    /// Whether no step is faulty.
    pub fn is_complete(&self) -> bool {
        self.steps.iter().all(|step| step.call.is_some())
    }

    /// The plan, if no step is faulty. The findings are not checked here.
    pub fn complete(self) -> Option<Plan> {
        self.is_complete().then(|| self.into_valid_steps())
    }

    /// As [`Self::valid_steps`].
    pub(super) fn into_valid_steps(self) -> Plan {
        self.map_calls(|call| call)
    }

    /// The plan with only the steps that have a call, for reviewing a faulty plan. Each keeps its `step_index`.
    #[must_use]
    pub fn valid_steps(&self) -> Plan {
        self.clone().into_valid_steps()
    }

    /// A command plan with its commands on this destination, or on this machine; other plans stay unchanged.
    /// Bytes and digest stay: an approval covers the target separately (SPEC §2, §11).
    #[must_use]
    pub fn on_target(mut self, target: Option<&str>) -> Self {
        // The recorded target of a run on several hosts is no destination. Which hosts they are is in the bytes.
        let is_label = target.is_some_and(Fleet::is_label);
        if is_label || self.dialect != Dialect::CommandPlan || self.target.as_deref() == target {
            return self;
        }
        // A chosen destination replaces the hosts of the plan.
        self.fleet = None;
        let target = target.map(str::to_owned);
        for step in &mut self.steps {
            match &target {
                Some(target) => step.arguments.insert("target".to_owned(), target.clone()),
                None => step.arguments.remove("target"),
            };
            if let Some(ToolCall::Shell { target: of_call, .. }) = &mut step.call {
                of_call.clone_from(&target);
            }
        }
        self.target = target;
        self
    }
}

/// The result of parsing a plan file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The plan, or, if a finding is an error, as much of it as can be shown.
    pub plan: Result<Plan, Option<ShownPlan>>,
    /// All findings, by position in the file.
    pub findings: Vec<Finding>,
    /// The digest of the bytes.
    pub digest: Digest,
}

impl Parsed {
    /// Whether parsing found no error. The review may find others.
    pub fn is_valid(&self) -> bool {
        self.plan.is_ok()
    }

    /// Sets the destination of the plan's commands; see [`ShownPlan::on_target`].
    #[must_use]
    pub fn on_target(self, target: Option<&str>) -> Self {
        let plan = match self.plan {
            Ok(plan) => Ok(plan.on_target(target)),
            Err(faulty) => Err(faulty.map(|plan| plan.on_target(target))),
        };
        Self { plan, ..self }
    }

    /// Sets the mode of a command plan; see [`Plan::in_mode`].
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Self {
        let plan = match self.plan {
            Ok(plan) => Ok(plan.in_mode(mode)),
            Err(faulty) => Err(faulty.map(|plan| plan.in_mode(mode))),
        };
        Self { plan, ..self }
    }

    /// The plan for display, valid or faulty; `None` if nothing can be shown.
    pub fn into_shown(self) -> Option<ShownPlan> {
        self.plan.map_or_else(|faulty| faulty, |plan| Some(plan.into()))
    }
}
