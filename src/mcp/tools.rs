//! The tools as they are described to a client.

use serde_json::{Value, json};

/// A tool of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Puts a plan into the inbox.
    ProposePlan,
    /// What became of a proposed plan.
    PlanStatus,
    /// Searches the evidence.
    EvidenceSearch,
}

impl Tool {
    /// Every tool.
    pub const ALL: [Self; 3] = [Self::ProposePlan, Self::PlanStatus, Self::EvidenceSearch];

    /// The name of the tool.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProposePlan => "propose_plan",
            Self::PlanStatus => "plan_status",
            Self::EvidenceSearch => "evidence_search",
        }
    }

    /// The tool as `tools/list` describes it.
    pub(super) fn description(self) -> Value {
        let (title, text, read_only, input) = match self {
            Self::ProposePlan => (
                "Propose a plan",
                "Puts a plan into the inbox of the person, who reads it and decides. Returns a handle at once, for \
                 plan_status. Nothing runs before the person has authorized it. A plan is JSON: a command plan \
                 {\"goal\", \"steps\": [{\"command\", \"description\"}]}, an action plan {\"version\": \"2026-02-19\", \
                 \"goal\", \"actions\"}, or a step plan; a diff or patch is accepted, too. `countersign schema \
                 command_plan` and so on print the schemas.",
                false,
                json!({
                    "plan": { "type": "string", "description": "The exact text of the plan. The person authorizes these bytes." },
                    "workspace": { "type": "string", "description": "The absolute path of the folder in which the plan is to run." },
                    "name": { "type": "string", "description": "A name of the plan for the person, like that of a file." },
                }),
            ),
            Self::PlanStatus => (
                "Status of a proposed plan",
                "Tells what became of a proposed plan: waiting, authorized, running, its outcome with the result of \
                 each step, or refused with the person's reason. A person may take long: ask again later, and not in \
                 a loop.",
                true,
                json!({ "handle": { "type": "string", "description": "The handle that propose_plan returned." } }),
            ),
            Self::EvidenceSearch => (
                "Search the evidence",
                "Searches the record of what ran: tools, arguments, errors and output, newest first. Secrets are \
                 replaced by markers. A word matches whole; `word*` matches its beginning, \"two words\" a phrase, and \
                 -word excludes.",
                true,
                json!({
                    "words": { "type": "string", "description": "The words to find; all of them." },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "The most results." },
                }),
            ),
        };
        let required = match self {
            Self::ProposePlan => vec!["plan", "workspace"],
            Self::PlanStatus => vec!["handle"],
            Self::EvidenceSearch => vec!["words"],
        };
        json!({
            "name": self.name(),
            "title": title,
            "description": text,
            "inputSchema": {
                "type": "object",
                "properties": input,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": {
                "title": title,
                "readOnlyHint": read_only,
                "destructiveHint": false,
                "idempotentHint": read_only,
                "openWorldHint": false,
            },
        })
    }
}
