//! `convert`: prints the plan that a file of another program is opened as. Nothing is run.

use serde::Serialize;
use serde_json::Value;

use super::documents::finding_line;
use super::inputs::with_values;
use super::opening::policy;
use super::output::{Output, say};
use super::refusal::Refusal;
use super::{Exit, args};
use crate::openers::Format;
use crate::plan::{Finding, parse};
use crate::worker::{PlanFile, Unusable, read_plan_file, workspace_of};

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    /// The format of the file; `None` for a plan file, and for what has no known format.
    format: Option<&'static str>,
    plan: Option<Value>,
    findings: &'a [Finding],
}

/// Prints the plan, which can be stored and opened like any other. A plan file is printed unchanged, but for values of inputs
/// that are given.
pub(super) fn convert(command: &args::Convert, out: &mut Output) -> Result<Exit, Refusal> {
    let folder = workspace_of(&command.file, command.workspace.workspace.as_deref()).folder;
    let file = read_plan_file(&command.file, &folder, &|| policy().unwrap_or_default());
    let (plan, format, findings) = match file {
        // Neither a format of another program nor a plan.
        Ok(PlanFile { bytes, format: None, .. }) if parse(&bytes).plan == Err(None) => {
            (None, None, parse(&bytes).findings)
        }
        Ok(PlanFile { bytes, format, findings }) => (Some(bytes), format, findings),
        Err(Unusable { format, findings }) => (None, format, findings),
    };
    let plan = match plan {
        Some(bytes) if !command.input.is_empty() => {
            let values = command.input.iter().map(|it| (it.name.clone(), it.value.clone()));
            let values = values.collect();
            let plan = parse(&bytes).into_shown();
            plan.map(|plan| Ok::<_, Refusal>(with_values(&plan, &values)?.0)).transpose()?
        }
        plan => plan,
    };
    if out.json() {
        let plan = plan.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok());
        let format = format.map(Format::as_str);
        out.document(&Document { format, plan, findings: &findings });
    } else {
        findings.iter().for_each(|finding| say(&finding_line(finding)));
        plan.iter().for_each(|bytes| out.plan(bytes));
    }
    Ok(if plan.is_some() { Exit::Done } else { Exit::InvalidPlan })
}
