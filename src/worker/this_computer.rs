//! The query for what the settings show of this computer. Everything is found as a review finds it.

use std::path::PathBuf;

use super::{Query, QueryContext, QueryError};
use crate::authorization::WallLevel;
use crate::engine::local_wall_level;
use crate::run::EvidenceSizes;
use crate::tools::Toolbox;

/// Describes this computer, and the workspace if there is one.
pub struct DescribeComputer {
    /// The workspace of the shown plan.
    pub workspace: Option<PathBuf>,
}

/// What this computer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComputerFacts {
    /// The level of walls, and why there is no stronger one.
    pub walls: (WallLevel, Option<String>),
    /// The program `splice`, or where it was searched; `None` without a workspace.
    pub splice: Option<Result<PathBuf, String>>,
    /// The code graph of the workspace.
    pub codegraph: Option<PathBuf>,
    /// The model and its server; `None` if none is set.
    pub model: Option<String>,
    /// How large and how old the evidence is, or why that is not known.
    pub evidence: Result<EvidenceSizes, String>,
}

impl Query for DescribeComputer {
    type Answer = ComputerFacts;
    const FAILURE: &str = "The state of this computer could not be read.";
    /// The first trial of the walls can take seconds.
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<ComputerFacts, QueryError> {
        let (level, why_not_better) = local_wall_level();
        let toolbox = self.workspace.map(|it| Toolbox::open(&it, &context.setup.policy));
        let engine = toolbox.and_then(Result::ok).map(|toolbox| toolbox.now().external_engine());
        let (splice, codegraph) = engine.unzip();
        Ok(ComputerFacts {
            walls: (level, why_not_better.map(str::to_owned)),
            splice,
            codegraph: codegraph.flatten(),
            model: context.model(),
            evidence: context.evidence.sizes().map_err(|error| error.to_string()),
        })
    }
}
