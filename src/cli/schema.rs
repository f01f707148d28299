//! `schema`: prints the JSON Schema of a plan dialect or of another document.

use super::args::DialectWord;
use super::output::Output;
use super::{Exit, args};
use crate::autonomy::REQUEST_SCHEMA;
use crate::evidence::VERIFY_SCHEMA;
use crate::export::MANIFEST_SCHEMA;
use crate::plan::Dialect;

/// Prints the schema. It is JSON with or without `--json`.
pub(super) fn schema(command: &args::Schema, out: &mut Output) -> Exit {
    let text = match command.dialect {
        DialectWord::StepPlan => Dialect::StepPlan.schema(),
        DialectWord::CommandPlan => Dialect::CommandPlan.schema(),
        DialectWord::ActionPlan => Dialect::ActionPlan.schema(),
        DialectWord::PlannerRequest => REQUEST_SCHEMA,
        DialectWord::EvidenceVerify => VERIFY_SCHEMA,
        DialectWord::CaseManifest => MANIFEST_SCHEMA,
    };
    out.exact(format!("{}\n", text.trim_end()).as_bytes());
    Exit::Done
}
