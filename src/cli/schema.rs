//! `schema`: the JSON Schema of a dialect, as it ships.

use super::Exit;
use super::args;
use super::output::Output;
use crate::autonomy::REQUEST_SCHEMA;
use crate::plan::Dialect;

/// Prints the schema; it is JSON with or without `--json`.
pub(super) fn schema(command: &args::Schema, out: &mut Output) -> Exit {
    let text = Option::<Dialect>::from(command.dialect).map_or(REQUEST_SCHEMA, Dialect::schema);
    out.line(text.trim_end());
    Exit::Done
}
