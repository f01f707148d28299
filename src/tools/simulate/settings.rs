//! The location and limits of simulations.

use std::path::PathBuf;
use std::time::Duration;

/// The location and limits of the simulations of a toolbox.
#[derive(Debug)]
pub(in super::super) struct Settings {
    /// The parent folder; `None` for the default.
    pub(super) parent: Option<PathBuf>,
    pub(super) limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self { parent: None, limits: Limits::USUAL }
    }
}

/// The limits of a copy.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Limits {
    /// Maximum number of files, folders and links.
    pub(super) names: u64,
    pub(super) bytes: u64,
    pub(super) time: Duration,
}

impl Limits {
    /// Far more than the sources of a usual workspace; building one of this size takes hours.
    pub(super) const USUAL: Self =
        Self { names: 200_000, bytes: 4 << 30, time: Duration::from_secs(300) };
}
