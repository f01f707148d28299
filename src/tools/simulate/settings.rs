//! The location and limits of simulations.

use std::path::PathBuf;
use std::time::Duration;

/// The location and limits of the simulations of a toolbox.
#[derive(Debug)]
pub(in super::super) struct SimulationSettings {
    /// The folder in which the copies are made; `None` for the default.
    pub(super) parent: Option<PathBuf>,
    pub(super) limits: Limits,
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self { parent: None, limits: Limits::DEFAULT }
    }
}

/// The limits of a copy.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Limits {
    /// Maximum number of files, folders and links.
    pub(super) names: u64,
    /// Maximum total size of the files.
    pub(super) bytes: u64,
    /// Maximum time for copying.
    pub(super) time: Duration,
}

impl Limits {
    /// Far more than the sources of most workspaces; building one of this size takes hours.
    pub(super) const DEFAULT: Self =
        Self { names: 200_000, bytes: 4 << 30, time: Duration::from_secs(300) };
}
