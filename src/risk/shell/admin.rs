//! Administration programs, global settings, and streaming to other hosts (SPEC §7.1).
//!
//! No list of all subcommands of these programs can be complete. Therefore the table lists the calls that only read,
//! and any other call counts as changing something outside the project.

use serde::Deserialize;

use super::lazy_regex::LazyRegex;
use super::listed::{listed, matches_wildcard};
use super::rating::Rating;
use super::syntax::before;

/// Programs whose calls are dangerous unless they are known to read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Admin {
    /// Matches one of the first two operands of a read-only call.
    reads: LazyRegex,
    /// Matches the names of programs that only read.
    readers: LazyRegex,
    /// Matches every option of a read-only call without operands.
    shows: LazyRegex,
    /// Matches words that name a change, alone or followed by an object.
    changes: LazyRegex,
    /// Program names; may end in `*`.
    programs: Vec<String>,
}

impl Admin {
    #[cfg(test)]
    pub(super) fn patterns(&self) -> [&LazyRegex; 4] {
        [&self.reads, &self.readers, &self.shows, &self.changes]
    }

    /// Whether this is an administration program.
    pub(super) fn names(&self, program: &str) -> bool {
        self.programs.iter().any(|name| matches_wildcard(name, program))
    }

    /// Whether a call of an administration program is known to only read.
    fn only_reads(&self, program: &str, arguments: &[(String, bool)]) -> bool {
        // The value of an option that names a location is not an operand.
        const LOCATION_OPTIONS: &str = "-n --namespace --host --endpoints --runtime-endpoint";
        let named = |index| {
            before(arguments, index).is_some_and(|(before, _)| listed(LOCATION_OPTIONS, before))
        };
        let mut operands = arguments
            .iter()
            .enumerate()
            .filter(|(index, (text, _))| !text.starts_with('-') && !named(*index))
            .map(|(_, (text, _))| text);
        if self.readers.is_match(program) {
            return true;
        }
        // `rabbitmqctl add_user list`: `list` is the name of the new user here.
        if operands.clone().take(4).any(|text| self.changes.is_match(text)) {
            return false;
        }
        let (first, second) = (operands.next(), operands.next());
        [first, second].into_iter().flatten().any(|text| self.reads.is_match(text))
            || (first.is_none()
                && !arguments.is_empty()
                && arguments.iter().all(|(text, _)| self.shows.is_match(text)))
    }

    /// The rating of a call that no rule rates as dangerous: dangerous if it administers something, changes global
    /// settings or streams to another host, else `None`.
    pub(super) fn rating(&self, program: &str, arguments: &[(String, bool)]) -> Option<Rating> {
        if self.names(program) && !self.only_reads(program, arguments) {
            let reason = "Administers accounts, storage, services, networks or other hosts, and is not known to \
                          only read.";
            return Some(Rating::dangerous("administers", reason));
        }
        if sets_for_all(program, arguments) {
            let reason = "Changes settings that affect all projects.";
            return Some(Rating::dangerous("hijacks", reason));
        }
        streams(arguments)
            .then(|| Rating::dangerous("sends-out", "Streams its output to another host."))
    }
}

/// Whether a call changes settings beyond the project.
fn sets_for_all(program: &str, arguments: &[(String, bool)]) -> bool {
    const SETS: &str = "config set unset override alias register unregister add remove enable disable edit default use link \
        mask write reset trust create delete import settings source";
    const READS: &str = "get list ls show view --list -l --get --show-origin";
    let texts = || arguments.iter().map(|(text, _)| text.as_str());
    let shared = texts().any(|text| matches!(text, "--global" | "--system" | "--user"));
    if !shared || texts().any(|text| listed(READS, text) || text.starts_with("--get")) {
        return false;
    }
    let operands: Vec<&str> = texts().filter(|text| !text.starts_with('-')).collect();
    // A key without a value is a query.
    let asks = program == "git" && operands.len() <= 2;
    !asks && operands.iter().take(3).any(|text| listed(SETS, text))
}

/// Whether the last word is a URL to which output is streamed. The URL of an input follows an option.
fn streams(arguments: &[(String, bool)]) -> bool {
    static SCHEMES: LazyRegex =
        LazyRegex::new(r"(?i)^(rtmp[a-z]*|srt|udp|tcp|rtp|rist|icecast|ftps?|sftp|smb|scp|zmq)://");
    let Some(((last, _), before)) = arguments.split_last() else { return false };
    let reads =
        before.last().is_some_and(|(text, _)| listed("-i -u --url --input --host -H", text));
    !reads && SCHEMES.is_match(last)
}
