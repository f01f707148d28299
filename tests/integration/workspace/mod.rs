//! The workspace as an adversary: confinement under races, and content made to cost time or memory (SPEC §4).

mod bounds;
mod races;
