//! The query that changes a plan before it is signed (SPEC §13), and opens what becomes of it.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::{OpenPlan, OpenedPlan, PlanRead, Query, QueryContext, QueryError, revisions};
use crate::authorization::PlanChoices;
use crate::engine::{ChosenLines, ChosenStep, choose_lines};
use crate::plan::{Digest, Revision, RevisionError, ShownPlan, argument_source};
use crate::tools::ToolError;

/// Changes the plan on the page, stores it as a revision, and opens that. If nothing differs any more, the file itself is
/// opened.
pub struct RevisePlan {
    /// The file that is revised, with its bytes and what was changed in them already.
    pub base: RevisionBase,
    /// The plan as it is shown.
    pub shown: Arc<ShownPlan>,
    /// What is changed now.
    pub edit: RevisionEdit,
    /// The workspace that the person chose, or `None` for the default one.
    pub workspace: Option<PathBuf>,
    /// What else the person chose for the plan.
    pub choices: PlanChoices,
}

/// A plan file with the changes that a person made to it.
#[derive(Debug, Clone)]
pub struct RevisionBase {
    /// The file.
    pub path: PathBuf,
    /// The plan that was in it.
    pub plan: Arc<ShownPlan>,
    /// The changes to that plan.
    pub revision: Revision,
}

/// One change of a plan. Steps are those of the plan as it is shown, counted from 0, unless it says otherwise.
#[derive(Debug, Clone)]
pub enum RevisionEdit {
    /// Give an argument this value, or take it away.
    Argument {
        /// The step.
        step: usize,
        /// The name of the argument.
        name: String,
        /// The value as the person writes it: a text, or JSON.
        text: Option<String>,
    },
    /// Leave these steps out, with those that need them.
    LeaveOut(BTreeSet<usize>),
    /// Choose lines of what a step would do to files of the reviewed workspace.
    Lines {
        /// The step.
        step: usize,
        /// The workspace of the review.
        workspace: PathBuf,
        /// The choice for each file.
        chosen: Vec<ChosenLines>,
    },
    /// Fill inputs in.
    FillIn(BTreeMap<String, String>),
    /// Undo one change.
    Undo {
        /// The step of the base.
        step: usize,
        /// The argument; `None` takes the step in again.
        argument: Option<String>,
    },
    /// Undo all changes.
    Discard,
}

/// What became of a revised plan.
#[derive(Debug, Clone)]
pub struct RevisedPlan {
    /// The plan as it is now.
    pub opened: OpenedPlan,
    /// The steps that were left out beside those that the person named, with the step without which each cannot run.
    pub also_left_out: Vec<(String, String)>,
}

impl Query for RevisePlan {
    type Answer = RevisedPlan;
    const FAILURE: &str = "The plan was not changed.";

    fn run(self, context: &mut QueryContext) -> Result<RevisedPlan, QueryError> {
        let Self { base, shown, edit, workspace, choices } = self;
        let RevisionBase { path, plan, mut revision } = base;
        let also_left_out = context.edit(&plan, &shown, &mut revision, edit)?;
        let evidence = &context.setup.location.evidence;
        let path = match revision.is_empty() {
            true => {
                revisions::discard_of(evidence, &path, plan.digest);
                path
            }
            false => revisions::store(evidence, &path, &plan, &revision)?,
        };
        let chosen_for: Option<Digest> = Some(shown.digest);
        let opened = context.open(OpenPlan { path, workspace, choices, chosen_for })?;
        Ok(RevisedPlan { opened, also_left_out })
    }

    fn plan(&self) -> PlanRead<'_> {
        PlanRead::New
    }

    /// The topic of [`OpenPlan`], because the page shows only the plan that was requested last.
    fn topic() -> TypeId {
        OpenPlan::topic()
    }
}

impl QueryContext {
    /// Makes one change. Returns the ids of the steps that were left out with others, each with the id that it needs.
    fn edit(
        &mut self,
        base: &ShownPlan,
        shown: &ShownPlan,
        revision: &mut Revision,
        edit: RevisionEdit,
    ) -> Result<Vec<(String, String)>, ToolError> {
        let of_base = |revision: &Revision, step: usize| step_of_base(base, shown, revision, step);
        match edit {
            RevisionEdit::Argument { step, name, text } => {
                let step = of_base(revision, step)?;
                revision.set_argument(base, step, &name, text.as_deref())?;
            }
            RevisionEdit::LeaveOut(steps) => return leave_out(base, shown, revision, steps),
            RevisionEdit::Lines { step, workspace, chosen } => {
                let (policy, location) = (&self.setup.policy, Some(&self.setup.location));
                let result =
                    choose_lines(shown, &workspace, policy, location, step, &chosen, &self.stop)?;
                match result {
                    ChosenStep::LeftOut => {
                        return leave_out(base, shown, revision, BTreeSet::from([step]));
                    }
                    ChosenStep::Argument(name, text) => {
                        let step = of_base(revision, step)?;
                        revision.set_argument(base, step, name, Some(&text))?;
                    }
                }
            }
            RevisionEdit::FillIn(values) => revision.fill_in(base, &values)?,
            RevisionEdit::Undo { step, argument } => revision.undo(base, step, argument.as_deref()),
            RevisionEdit::Discard => *revision = Revision::default(),
        }
        Ok(Vec::new())
    }
}

/// The index in the base of the step at this place of the shown plan. A faulty plan has entries that are no steps.
fn step_of_base(
    base: &ShownPlan,
    shown: &ShownPlan,
    revision: &Revision,
    place: usize,
) -> Result<usize, RevisionError> {
    let index = shown.steps.get(place).map(|step| step.step_index);
    let found = index.and_then(|index| revision.step_of_base(base, index));
    found.ok_or(RevisionError::NoStep { number: place + 1 })
}

/// Leaves steps of the shown plan out.
fn leave_out(
    base: &ShownPlan,
    shown: &ShownPlan,
    revision: &mut Revision,
    steps: BTreeSet<usize>,
) -> Result<Vec<(String, String)>, ToolError> {
    let of_base = |place: usize| step_of_base(base, shown, revision, place);
    let steps = steps.into_iter().map(of_base).collect::<Result<BTreeSet<_>, _>>()?;
    let more = revision.leave_out(base, &steps)?;
    let id = |index: usize| {
        let step = base.steps.iter().find(|step| step.step_index == index);
        step.map(|step| step.step_id.clone()).unwrap_or_default()
    };
    Ok(more.into_iter().filter_map(|it| Some((id(it.step), it.needs?))).collect())
}

/// Reads an argument of a plan for a person to edit.
pub struct ReadArgument {
    /// The plan as it is shown.
    pub plan: Arc<ShownPlan>,
    /// The index of the step, from 0.
    pub step: usize,
    /// The name of the argument.
    pub name: String,
}

impl Query for ReadArgument {
    /// The text; `None` if the step has no such argument yet.
    type Answer = Option<String>;
    const FAILURE: &str = "This argument cannot be changed.";

    fn run(self, _: &mut QueryContext) -> Result<Option<String>, QueryError> {
        let Self { plan, step, name } = self;
        Ok(argument_source(&plan, step, &name).map_err(ToolError::from)?)
    }
}
