//! Where simulations are made, and how large they may be.

use std::path::PathBuf;
use std::time::Duration;

/// Where the simulations of a toolbox are made, and how large.
#[derive(Debug)]
pub(in super::super) struct Settings {
    /// None for the usual place.
    pub(super) parent: Option<PathBuf>,
    pub(super) limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self { parent: None, limits: Limits::USUAL }
    }
}

/// How large a copy may be, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Limits {
    /// Files, folders and links.
    pub(super) names: u64,
    pub(super) bytes: u64,
    pub(super) time: Duration,
}

impl Limits {
    /// Far more than a workspace with sources has; to build one of this size takes hours.
    pub(super) const USUAL: Self =
        Self { names: 200_000, bytes: 4 << 30, time: Duration::from_secs(300) };
}
