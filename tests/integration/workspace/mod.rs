//! Hostile workspaces: races against confinement, and content that costs time or memory (SPEC §1.4, §4).

mod bounds;
mod races;
