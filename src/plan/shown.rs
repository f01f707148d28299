//! A plan as it is shown, valid or faulty: a faulty step can be looked at and has no call to run.

use super::{Dialect, Digest, Finding, Plan, Step, ToolCall};

/// A plan of which some steps may be faulty. Only a [`Plan`] can be approved and run.
pub type ShownPlan = Plan<Option<ToolCall>>;

/// A step of a [`ShownPlan`]; without a call it is faulty.
pub type ShownStep = Step<Option<ToolCall>>;

impl<C> Plan<C> {
    /// The same plan with other calls; a step for which there is none is left out.
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
            outlook: self.outlook,
            metadata: self.metadata,
            failure: self.failure,
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
        ShownPlan::from(self).on_target(target).into_sound()
    }
}

impl ShownPlan {
    /// The plan, where no step is faulty. Whether its findings allow it to be authorized is not asked here.
    pub fn complete(self) -> Result<Plan, Self> {
        if self.steps.iter().all(|step| step.call.is_some()) {
            Ok(self.into_sound())
        } else {
            Err(self)
        }
    }

    /// The steps that can be called, each with its `step_index`, for a look at what of a faulty plan is sound.
    fn into_sound(self) -> Plan {
        self.map_calls(|call| call)
    }

    /// The same of a plan that stays.
    #[must_use]
    pub fn sound(&self) -> Plan {
        self.clone().into_sound()
    }

    /// The same plan with its commands on this destination, or on this machine; any other plan is as it was.
    /// Its bytes and their digest stay: an approval covers the target beside them (SPEC §2, §11).
    #[must_use]
    pub fn on_target(mut self, target: Option<&str>) -> Self {
        if self.dialect != Dialect::CommandPlan {
            return self;
        }
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

/// What a plan file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The plan; where the findings have an error, as much of it as can be shown.
    pub plan: Result<Plan, Option<ShownPlan>>,
    /// Everything there is to say about it, by place in the file.
    pub findings: Vec<Finding>,
    /// The digest of the bytes.
    pub digest: Digest,
}

impl Parsed {
    /// True when the plan may be authorized, as far as its bytes say.
    pub fn is_valid(&self) -> bool {
        self.plan.is_ok()
    }

    /// The same with the plan's commands on this destination; see [`ShownPlan::on_target`].
    #[must_use]
    pub fn on_target(self, target: Option<&str>) -> Self {
        let plan = match self.plan {
            Ok(plan) => Ok(plan.on_target(target)),
            Err(faulty) => Err(faulty.map(|plan| plan.on_target(target))),
        };
        Self { plan, ..self }
    }

    /// The plan as it is shown, also a faulty one.
    pub fn into_shown(self) -> Option<ShownPlan> {
        self.plan.map_or_else(|faulty| faulty, |plan| Some(plan.into()))
    }
}
