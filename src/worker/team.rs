//! Queries of the evidence of a team, on the server that the settings name (SPEC §14).
//!
//! A server may be slow, or never answer. So its searches and its records wait on threads of their own, a later query stops
//! an earlier one, and no other query waits for them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use uuid::Uuid;

use super::policy::{load, unparsed};
use super::{Content, Query, QueryContext, QueryError, SettingsError};
use crate::plan::Digest;
use crate::run::ExecutionDetail;
use crate::team::{Patience, TeamError};
pub use crate::team::{Server as TeamServer, TeamHit, TeamPage, TeamPlace, TeamQuery};

/// How long the server may say nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server in the entry `team` of the settings file of this folder; `None` if it has none.
///
/// # Errors
/// When the file cannot be read or is not TOML, or the entry is no address, or one with a password.
pub fn load_team(settings: &Path) -> Result<Option<TeamServer>, SettingsError> {
    #[derive(Deserialize)]
    struct OnlyTeam {
        team: Option<String>,
    }
    load(settings, |text| {
        let file: OnlyTeam = toml::from_str(text).map_err(|error| unparsed(text, &error))?;
        file.team.as_deref().map(team_of).transpose()
    })
}

/// The server with this address in the settings.
///
/// # Errors
/// Why it cannot be used. The message has no password.
pub fn team_of(address: &str) -> Result<TeamServer, String> {
    let server: TeamServer =
        address.parse().map_err(|error: TeamError| format!("team: {error}"))?;
    if server.has_password() {
        return Err(
            "team has a password, which nothing protects there: write it into ~/.pgpass, which only you may read, or set PGPASSWORD"
                .to_owned(),
        );
    }
    Ok(server)
}

impl QueryContext {
    fn patience(&self) -> Patience {
        Patience { limit: PATIENCE, stop: Arc::clone(&self.stop) }
    }
}

/// The answer, or `None` if the query was stopped.
fn unless_stopped<T>(answer: Result<T, TeamError>) -> Result<Option<T>, QueryError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(TeamError::Stopped) => Ok(None),
        Err(error) => Err(QueryError::Failed(error.failure())),
    }
}

/// Searches the server. A later search stops it; then the answer is `None`. Otherwise it has the time that it took, in
/// microseconds.
pub struct SearchTeam {
    /// The server.
    pub server: TeamServer,
    /// What is searched.
    pub query: TeamQuery,
}

impl Query for SearchTeam {
    type Answer = Option<(TeamPage, u64)>;
    const FAILURE: &str = "The team's evidence cannot be searched.";
    const LINE: Option<&str> = Some("team-search");
    const STOPS_EARLIER: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        // One that waited behind another may be outdated already.
        if context.stop.is_set() {
            return Ok(None);
        }
        let begun = Instant::now();
        let page = crate::team::search(&self.server, &self.query, context.patience());
        let took_us = || u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(unless_stopped(page)?.map(|page| (page, took_us())))
    }
}

/// Reads an execution of this origin. A later one stops it; then the answer is `None`.
pub struct ReadTeamExecution {
    /// The server.
    pub server: TeamServer,
    /// The execution.
    pub id: Uuid,
    /// The evidence that it was pushed from.
    pub origin: String,
}

impl Query for ReadTeamExecution {
    /// `Some(None)` if the server does not have it.
    type Answer = Option<Option<ExecutionDetail>>;
    const FAILURE: &str = "The record cannot be read.";
    const LINE: Option<&str> = Some("team-record");
    const STOPS_EARLIER: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        if context.stop.is_set() {
            return Ok(None);
        }
        let found = crate::team::executions(&self.server, self.id, context.patience());
        let found = unless_stopped(found)?;
        let of_origin = |all: Vec<crate::team::TeamExecution>| {
            all.into_iter().find(|it| it.origin == self.origin).map(|it| it.detail)
        };
        Ok(found.map(of_origin))
    }
}

/// Reads a content from the server. Closing the window stops it.
pub struct ReadTeamContent {
    /// The server.
    pub server: TeamServer,
    /// The digest of the content.
    pub digest: Digest,
}

impl Query for ReadTeamContent {
    type Answer = Content;
    const FAILURE: &str = "The artifact cannot be read.";
    const LINE: Option<&str> = Some("team-content");

    fn run(self, context: &mut QueryContext) -> Result<Content, QueryError> {
        let text = crate::team::content(&self.server, &self.digest, context.patience());
        let text = text.map_err(|error| QueryError::Failed(error.failure()))?;
        Ok(text.map_or(Content::NotOnServer, |text| Content::Bytes(text.into_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_in_the_settings_has_no_password() {
        let folder = tempfile::tempdir().unwrap();
        let load = |text: &str| {
            std::fs::write(folder.path().join("settings.toml"), text).unwrap();
            load_team(folder.path()).map_err(|error| error.to_string())
        };
        assert_eq!(load("zoom = 1.0").unwrap(), None);
        let server = load("team = 'postgres://ada@db/evidence?sslmode=verify-full'").unwrap();
        assert_eq!(server.unwrap().to_string(), "postgres://ada@db:5432/evidence");
        for (address, why) in [
            ("postgres://ada:wombat@db/evidence", "~/.pgpass"),
            ("postgres://ada@db/evidence?password=wombat", "~/.pgpass"),
            ("postgres://ada:wombat@db/evidence?options=x", "options"),
            ("mysql://ada:wombat@db", "postgres://"),
        ] {
            let fault = load(&format!("team = '{address}'")).unwrap_err();
            assert!(fault.contains("team") && fault.contains(why), "{fault}");
            assert!(!fault.contains("wombat"), "{fault}");
        }
    }
}
