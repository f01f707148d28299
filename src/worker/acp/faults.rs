//! What went wrong with an agent, and what to do about it.

use crate::acp::Fault;
use crate::plan::Code;
use crate::run::Failure;
use crate::tools::AgentEnd;

/// What to do about an agent that does not begin.
pub(super) const START_HELP: &str = "Read what it has printed. The command must start the agent in its mode for the Agent Client \
                          Protocol, such as gemini --acp, and somebody must be logged in to it.";

/// What to do about an agent that sends nothing any more.
pub(super) const SILENCE_HELP: &str = "It was ended. If it was at work, allow it more time with --silence, or give it a smaller task.";

/// What to do about an agent that does not read.
pub(super) const DEAF_HELP: &str =
    "Use another version of the agent: it does not keep to the protocol.";

pub(super) fn fault_of(message: String, next: &str) -> Failure {
    Failure { code: Code::CommandFailed, message, next: next.to_owned() }
}

pub(super) fn failure_of(fault: &Fault) -> Failure {
    let next = match fault {
        Fault::Version(_) => "Use a version of the agent that speaks version 1.".to_owned(),
        Fault::Login { logins, .. } => {
            let ways = match logins.is_empty() {
                true => String::new(),
                false => format!(" It offers: {}.", logins.join(", ")),
            };
            format!("Start the agent by itself and log in, or set its variable with the key.{ways}")
        }
        Fault::Noise => START_HELP.to_owned(),
        Fault::Refused { .. } | Fault::Answer { .. } => {
            "Read what the agent has printed, and try it by itself.".to_owned()
        }
    };
    fault_of(fault.to_string(), &next)
}

/// Why an agent has ended too early. `has_begun` is whether its session had begun.
pub(super) fn ended_early(ended: Result<AgentEnd, Failure>, has_begun: bool) -> Failure {
    let end = match ended {
        Ok(end) => end,
        Err(failure) => return failure,
    };
    let how = end.failure.unwrap_or_else(|| "the agent ended".to_owned());
    let when = match has_begun {
        true => "before the end of its turn",
        false => "before its session began",
    };
    let last = end.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    // On a line of its own, because it is from outside.
    let last = last.map(|line| format!(":\n{line}")).unwrap_or_default();
    fault_of(format!("{how} {when}{last}"), START_HELP)
}
