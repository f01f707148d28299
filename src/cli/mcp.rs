//! `mcp`: a server of the Model Context Protocol on stdin and stdout (SPEC §13). A client can propose plans, ask what became
//! of them, and search the evidence. Nothing is run or authorized.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::documents::finding_line;
use super::opening::{evidence_location, inbox, policy};
use super::output::{Output, say};
use super::refusal::Refusal;
use super::{Exit, args};
use crate::engine::{Clock as _, SystemClock};
use crate::evidence::{EvidenceLocation, EvidenceReader};
use crate::mcp::{Line, MAX_MESSAGE, Server, Tool, Toolset, read_line};
use crate::plan::{Severity, has_duplicate_keys};
use crate::risk::Policy;
use crate::run::{ExecutionDetail, RunSummary, SearchHit, SearchQuery, StopSignal};
use crate::worker::inbox::{InboxError, InboxFolder, Proposal, propose, proposed};
use crate::worker::is_project;

/// The name of a proposed plan if the client gives none.
const UNNAMED: &str = "plan";
/// The most findings of a faulty plan in an answer.
const MAX_FINDINGS: usize = 20;
/// The most steps of a run in an answer.
const MAX_STEPS: u32 = 200;
/// The maximum size of each text in an answer, in bytes.
const TEXT_BYTES: usize = 2 << 10;
/// The maximum size of all outputs of steps in an answer, in bytes. Clients give large answers up.
const OUTPUT_BYTES: usize = 32 << 10;
/// How many results a search has by default.
const DEFAULT_HITS: usize = 20;
/// How many results a search has at most.
const MAX_HITS: usize = 100;
/// How long a search may index what earlier runs have not: clients wait about a minute for an answer.
const INDEXING: Duration = Duration::from_secs(20);
/// How long results that are not given are counted.
const COUNTING: Duration = Duration::from_millis(200);

/// Serves one client until it closes the input.
///
/// # Errors
/// The evidence folder cannot be used, or the input cannot be read.
pub(super) fn mcp(command: &args::Mcp, out: &mut Output) -> Result<Exit, Refusal> {
    let location = evidence_location(&command.folder)?;
    let mut server = Server::new(Tools { location });
    let mut input = io::stdin().lock();
    if io::stdin().is_terminal() {
        say(
            "This speaks the Model Context Protocol on stdin and stdout. Agents start it; see docs/agents.md.",
        );
    }
    while !out.has_failed() {
        let line = read_line(&mut input, MAX_MESSAGE).map_err(|error| {
            Refusal::usage(format!("the input cannot be read: {error}"), "Start it again.")
        })?;
        let answer = match line {
            Line::Whole(line) if std::str::from_utf8(&line).is_ok_and(has_duplicate_keys) => {
                Some(Server::<Tools>::answer_to_twin_fields())
            }
            Line::Whole(line) => server.answer(&line),
            Line::TooLong => {
                log::warn!("message of the client is too long");
                Some(Server::<Tools>::answer_to_long_line())
            }
            Line::End => break,
        };
        if let Some(answer) = answer {
            out.exact(answer.as_bytes());
            out.exact(b"\n");
            out.flush();
        }
    }
    Ok(Exit::Done)
}

/// The tools, on the inbox of the settings and on this evidence.
struct Tools {
    location: EvidenceLocation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProposePlan {
    plan: String,
    workspace: PathBuf,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanStatus {
    handle: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceSearch {
    words: String,
    limit: Option<usize>,
}

impl Toolset for Tools {
    fn call(&mut self, tool: Tool, arguments: &Value, client: &str) -> Result<Value, String> {
        match tool {
            Tool::ProposePlan => propose_plan(read(arguments)?, client),
            Tool::PlanStatus => self.plan_status(&read(arguments)?),
            Tool::EvidenceSearch => self.evidence_search(&read(arguments)?),
        }
    }
}

fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| format!("the arguments are wrong: {error}"))
}

fn propose_plan(arguments: ProposePlan, client: &str) -> Result<Value, String> {
    if !arguments.workspace.is_absolute() {
        return Err("the workspace is no absolute path".to_owned());
    }
    // Without links, or it is refused below with its reason.
    if fs::canonicalize(&arguments.workspace).is_ok_and(|real| !is_project(&real)) {
        return Err("the workspace is the home folder or one above it, and no project".to_owned());
    }
    let (policy, folder) = settings()?;
    let name = arguments.name.filter(|name| !name.trim().is_empty());
    let proposal = Proposal {
        folder: None,
        bytes: arguments.plan.into_bytes(),
        name: name.unwrap_or_else(|| UNNAMED.to_owned()),
        workspace: arguments.workspace,
        from: format!("{client} (MCP)"),
        at_ms: SystemClock::default().now_ms(),
        asked_until_ms: None,
    };
    let handle = propose(&folder, &proposal, &policy).map_err(|error| why_not(&error))?;
    Ok(json!({
        "handle": handle.id,
        "state": "waiting",
        "digest": handle.digest,
        "title": handle.plan.title,
        "steps": handle.plan.steps,
        "worst_risk": handle.plan.worst,
        "warnings": handle.plan.warnings,
        "workspace": handle.workspace,
        "next": "The plan waits for a person. Tell them that, go on with other work, and ask plan_status later.",
    }))
}

/// Why a proposal is not accepted, with the findings.
fn why_not(error: &InboxError) -> String {
    let mut lines = vec![format!("{error}. {}", error.next())];
    if let InboxError::NoPlan { findings, .. } = error {
        let errors: Vec<_> = findings.iter().filter(|it| it.severity == Severity::Error).collect();
        lines.extend(errors.iter().take(MAX_FINDINGS).map(|it| finding_line(it)));
        if let Some(more) = errors.len().checked_sub(MAX_FINDINGS).filter(|more| *more > 0) {
            lines.push(format!("Errors that are not listed: {more}."));
        }
    }
    lines.join("\n")
}

impl Tools {
    fn reader(&self) -> Result<EvidenceReader, String> {
        self.location.open().map_err(|error| format!("the evidence cannot be read: {error}"))
    }

    fn plan_status(&mut self, PlanStatus { handle }: &PlanStatus) -> Result<Value, String> {
        let (policy, folder) = settings()?;
        let proposed = proposed(&folder, handle, &policy).ok_or_else(|| {
            format!("the inbox knows no proposal {handle:?}; perhaps the person has deleted it")
        })?;
        let mut reader = self.reader()?;
        let state = match &proposed.digest {
            Some(digest) => {
                let workspace = proposed.workspace.to_string_lossy();
                reader.plan_state(digest, &workspace, proposed.at_ms).map_err(text_of)?
            }
            None => Default::default(),
        };
        let decision = state.decision.as_ref().map(|decision| {
            json!({
                "authorized": decision.is_approved,
                "reason": shortened(&decision.reason),
                "by": decision.by,
                "at_ms": decision.timestamp_ms,
            })
        });
        let run = state.run.as_ref().map(|run| outcome(&mut reader, run)).transpose()?;
        Ok(json!({
            "handle": handle,
            "state": state.word(proposed.waits, SystemClock::default().now_ms()),
            "name": proposed.name,
            "digest": proposed.digest,
            "workspace": proposed.workspace,
            "proposed_at_ms": proposed.at_ms,
            // A person changed the plan before deciding: the decision and the run are about that one.
            "revised_digest": state.revised,
            "decision": decision,
            "run": run,
        }))
    }

    fn evidence_search(&mut self, arguments: &EvidenceSearch) -> Result<Value, String> {
        let limit = arguments.limit.unwrap_or(DEFAULT_HITS);
        if !(1..=MAX_HITS).contains(&limit) {
            return Err(format!("limit is {limit}; 1 to {MAX_HITS} are allowed"));
        }
        let words = arguments.words.clone();
        let query = SearchQuery { words, limit, ..SearchQuery::default() };
        let (mut reader, stop) = (self.reader()?, StopSignal::default());
        let page = reader.search_within(&query, INDEXING, COUNTING, &stop).map_err(text_of)?;
        let page = page.unwrap_or_default();
        Ok(json!({
            "hits": page.hits.iter().map(hit).collect::<Vec<_>>(),
            "total": page.counts.total,
            "total_is_partial": page.counts.is_partial,
            "not_indexed": page.not_indexed,
        }))
    }
}

/// A run with the result of each step.
fn outcome(reader: &mut EvidenceReader, run: &RunSummary) -> Result<Value, String> {
    let executions = reader.executions_of(run, MAX_STEPS).map_err(text_of)?;
    let mut room = OUTPUT_BYTES;
    let steps: Vec<Value> = executions.iter().map(|execution| step(execution, &mut room)).collect();
    Ok(json!({
        "run_id": run.run_id,
        "status": run.fate.as_str(),
        "started_at_ms": run.started_at_ms,
        "ended_at_ms": run.ended_at_ms,
        "step_count": run.step_count,
        "steps": steps,
    }))
}

/// The result of a step. `room` is how many bytes of output the answer may still have.
fn step(execution: &ExecutionDetail, room: &mut usize) -> Value {
    let row = &execution.row;
    let mut output = |name: &str| {
        let artifact = execution.artifacts.iter().find(|it| it.artifact_type == name)?;
        let content = &artifact.content;
        let text = content.as_str().or_else(|| content.get("head").and_then(Value::as_str))?;
        let text =
            if *room == 0 { "[left out: the answer is full]".into() } else { shortened(text) };
        *room = room.saturating_sub(text.len());
        Some(text)
    };
    json!({
        "step_id": row.step_id,
        "execution_id": row.execution_id,
        "tool": row.tool_name,
        "about": shortened(&row.about),
        "outcome": row.known,
        "exit_code": row.exit_code,
        "error": row.error_message.as_deref().map(shortened),
        "stdout": output("stdout"),
        "stderr": output("stderr"),
    })
}

fn hit(hit: &SearchHit) -> Value {
    let row = &hit.listed.row;
    json!({
        "execution_id": row.execution_id,
        "run_id": row.run_id,
        "tool": row.tool_name,
        "about": shortened(&row.about),
        "outcome": row.known,
        "at_ms": row.timestamp_ms,
        "error": row.error_message.as_deref().map(shortened),
        "found_in": hit.found_in,
        "excerpt": shortened(&hit.excerpt),
    })
}

/// The beginning of a text, and how much is missing.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_BYTES);
    match text.split_at_checked(end) {
        Some((beginning, rest)) if !rest.is_empty() => {
            format!("{beginning}[… {} more bytes]", rest.len())
        }
        _ => text.to_owned(),
    }
}

/// The policy of the settings and the inbox, as they are now.
fn settings() -> Result<(Policy, InboxFolder), String> {
    let read = || Ok((policy()?, inbox()?));
    read().map_err(|refusal: Refusal| refusal.sentences())
}

fn text_of(error: impl ToString) -> String {
    error.to_string()
}
