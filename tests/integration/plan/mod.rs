//! Plan files: the validator, its findings, the JSON Schemas and the shipped plans (SPEC §1).

mod examples;
mod fixtures;
mod schema;
mod schema_mutations;
mod unusable;
