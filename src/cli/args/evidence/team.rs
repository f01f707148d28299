//! The command line of the evidence of a team: `evidence push`, and `--team`.

use std::fmt;
use std::str::FromStr;

use clap::Args;

use super::super::Common;
use super::{Search, Show};

/// The address of a server as it was typed. It may have a password, so nothing shows it, and it is no error of clap, which
/// would print it.
#[derive(Clone)]
pub(in crate::cli) struct TeamAddress(String);

impl fmt::Debug for TeamAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TeamAddress")
    }
}

impl FromStr for TeamAddress {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl TeamAddress {
    /// The address, with a password if it has one.
    pub(in crate::cli) fn as_typed(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Push {
    /// The database: postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full. The password is taken from PGPASSWORD or
    /// ~/.pgpass. Without it, that of the setting `team`
    #[arg(value_name = "URL")]
    pub(in crate::cli) server: Option<TeamAddress>,
    /// Print the SQL script that makes a database ready instead
    #[arg(long, conflicts_with = "server")]
    pub(in crate::cli) setup: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct TeamSearch {
    #[command(flatten)]
    pub(in crate::cli) search: Search,
    /// Search the server of a team instead: postgres://USER@HOST:PORT/DATABASE, or at the end of the line that of the setting
    /// `team`
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    pub(in crate::cli) team: Option<Option<TeamAddress>>,
    /// Only what was pushed from this evidence: its name or the id in it, as `evidence key` prints it
    #[arg(long, value_name = "NAME", requires = "team")]
    pub(in crate::cli) origin: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct TeamShow {
    #[command(flatten)]
    pub(in crate::cli) show: Show,
    /// An execution on the server of a team instead, by its whole id: postgres://USER@HOST:PORT/DATABASE, or at the end of the
    /// line that of the setting `team`
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    pub(in crate::cli) team: Option<Option<TeamAddress>>,
}
