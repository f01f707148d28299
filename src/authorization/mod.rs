//! Approvals and the state that they cover (SPEC §2): pure data, and the comparison that makes an approval stale.
//!
//! The window, the headless commands and the bounded loop create approvals; the engine checks them before a run.
//! Nothing here reads the clock or a file: callers pass the current state.

mod allowed_signers;
mod binding;
mod choices;
mod class;
mod fleet;
mod review_signature;
mod secret_inputs;
mod session_rule;
mod signing;
mod time;
mod walls;

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::plan::{Digest, Plan, RiskLevel};

pub use allowed_signers::Persons;
pub use binding::{Binding, Change};
pub use choices::{HostChoice, PlanChoices, RunChoices, WallSetting};
pub use class::{AuthorizationClass, CLASS_BYTES, ClassError, PlanProperties};
pub use fleet::FleetBinding;
pub use review_signature::{Decided, ReviewDocument, ReviewSignature, Reviewing};
pub use secret_inputs::{Secret, SecretInputs};
pub use session_rule::{CallIdentity, RuleTime, SessionRule, why_no_rule};
pub use signing::{
    NAMESPACE, SIGNATURE_BYTES, Signed, Signing, SshSignature, persons_needed, why_no_principal,
    why_not_signable,
};
pub use time::SinceBoot;
use time::remaining_ms;
pub use walls::{Grants, StepWalls, WallLevel};

/// Default validity of an approval whose run has not begun, in milliseconds: 30 minutes.
pub const DEFAULT_TTL_MS: i64 = 30 * 60 * 1000;

/// The status of a plan's authorization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum AuthorizationStatus {
    /// No decision yet.
    Pending,
    /// Approved, for exactly the binding of the authorization.
    Approved,
    /// Rejected.
    Rejected {
        /// The person's reason, or the rule that refused the plan; may be empty.
        reason: String,
    },
}

/// How the decision was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A click or key in the window.
    Window,
    /// `--authorize DIGEST`.
    CommandLineDigest,
    /// `--yes`: approves the plan that was read in the same call, or every attempt of a loop.
    CommandLineYes,
    /// A loop on the command line: its class was authorized by `--authorize-class`, or no flag covered the plan, which
    /// was therefore rejected.
    CommandLine,
    /// The plan is inside a class that was authorized in advance (SPEC §10).
    AuthorizationClass,
    /// A click or key in the window lets an agent make the call itself, from which the plan was made (SPEC §13). It
    /// authorizes no run.
    AgentCall,
    /// A rule that a person has made for identical calls of one session of an agent (SPEC §13).
    SessionRule,
}

/// The attempt of a bounded loop that an authorized plan belongs to (SPEC §10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForAttempt {
    /// The id of the loop.
    pub loop_id: Uuid,
    /// The goal of the loop.
    pub goal: String,
    /// The id of the attempt.
    pub attempt_id: Uuid,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The class that covers the plan, if one does.
    pub class_id: Option<Uuid>,
    /// The highest risk that the class allows. Just before each step runs, its risk is checked again against this
    /// limit. `None` without a class.
    pub max_risk: Option<RiskLevel>,
    /// A sentence for a person that explains the decision.
    pub note: String,
}

/// The state of a file that the plan takes as input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "digest")]
pub enum FileState {
    /// The file does not exist.
    Absent,
    /// The file exists, and its content has this digest.
    Content(Digest),
}

impl fmt::Display for FileState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("absent"),
            Self::Content(digest) => digest.fmt(f),
        }
    }
}

/// The remote host that a plan was approved for (SPEC §7.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The destination as given to the SSH client.
    pub destination: String,
    /// The remote user, from the destination and the client's settings.
    pub user: String,
    /// The host's name or address, from the same sources.
    pub host: String,
    /// The port, from the same sources.
    pub port: u16,
    /// The host's keys in the client's list of known hosts, sorted, each as its kind and fingerprint, for instance
    /// `ED25519 SHA256:…`. The key of a certificate authority begins with `authority`. The host must present one of
    /// these keys, or a certificate of one of these authorities.
    pub host_keys: Vec<String>,
}

impl Target {
    /// Whether `host_key` is one of the known keys, or `authority`, which signed the host's certificate, is one of the
    /// known authorities. Only the fingerprints at the end of the texts are compared, not the kinds of the keys.
    pub fn covers(&self, host_key: &str, authority: Option<&str>) -> bool {
        let fingerprint = |key: &str| key.rsplit(' ').next().map(str::to_owned);
        let is = |known: &str, presented: &str| fingerprint(known) == fingerprint(presented);
        self.host_keys.iter().any(|known| match known.strip_prefix("authority ") {
            Some(known) => authority.is_some_and(|presented| is(known, presented)),
            None => is(known, host_key),
        })
    }

    /// User, host and port as `user@host:port`.
    pub fn address(&self) -> String {
        let Self { user, host, port, .. } = self;
        // An IPv6 address contains colons.
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("{user}@{host}:{port}")
    }
}

impl fmt::Display for Target {
    /// Destination, address and known keys in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.destination, self.address())?;
        match self.host_keys.as_slice() {
            [] => f.write_str(", whose key is not known"),
            [key] => write!(f, " with key {key}"),
            keys => write!(f, " with one of the keys {}", keys.join(", ")),
        }
    }
}

/// The decision about one plan (SPEC §2), made by a person or by rules that a person gave in advance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanAuthorization {
    /// The id. An authorization is used for at most one run.
    pub authorization_id: Uuid,
    /// The id of the plan.
    pub plan_id: String,
    /// The digest of the exact bytes of the plan.
    pub plan_digest: Digest,
    /// The decision.
    #[serde(flatten)]
    pub status: AuthorizationStatus,
    /// Everything else that the decision covers.
    pub binding: Binding,
    /// The earlier run that the plan continues or reverts, if the plan was shown as its follow-up. The new run is
    /// linked to the earlier one.
    pub parent_run: Option<Uuid>,
    /// The attempt of a bounded loop to which the plan belongs, if any. The run is linked to the attempt.
    pub attempt: Option<Box<ForAttempt>>,
    /// What is recorded about an agent that has asked for the decision; with [`Method::AgentCall`], the call that it makes
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// How the decision was made.
    pub method: Method,
    /// The time of the decision, in Unix milliseconds.
    pub decided_at_ms: i64,
    /// The time after which no run may begin, in Unix milliseconds. A run that has begun is not affected.
    pub expires_at_ms: i64,
    /// The time of the decision on the monotonic clock. The authorization expires when it has expired on either clock.
    /// `None` if the time was not recorded; then only the wall clock counts.
    pub given_since_boot: Option<SinceBoot>,
}

impl PlanAuthorization {
    /// A pending authorization, to be completed by [`Self::approve`] or [`Self::reject`].
    pub fn pending(plan: &Plan, binding: Binding, method: Method, now_ms: i64) -> Self {
        Self {
            authorization_id: Uuid::new_v4(),
            plan_id: plan.plan_id.clone(),
            plan_digest: plan.digest,
            status: AuthorizationStatus::Pending,
            binding,
            parent_run: None,
            attempt: None,
            asked_by: None,
            method,
            decided_at_ms: now_ms,
            expires_at_ms: now_ms,
            given_since_boot: None,
        }
    }

    /// Sets the earlier run that the plan continues or reverts.
    #[must_use]
    pub fn with_parent_run(mut self, parent_run: Option<Uuid>) -> Self {
        self.parent_run = parent_run;
        self
    }

    /// Sets the attempt to which the plan belongs.
    #[must_use]
    pub fn for_attempt(mut self, attempt: ForAttempt) -> Self {
        self.attempt = Some(Box::new(attempt));
        self
    }

    /// Approves the plan at `now_ms`, for `ttl_ms` milliseconds.
    #[must_use]
    pub fn approve(mut self, now_ms: i64, ttl_ms: i64) -> Self {
        self.status = AuthorizationStatus::Approved;
        self.decided_at_ms = now_ms;
        self.expires_at_ms = now_ms.saturating_add(ttl_ms);
        self
    }

    /// Sets the time of the decision on the monotonic clock.
    #[must_use]
    pub fn with_boot_time(mut self, since_boot: SinceBoot) -> Self {
        self.given_since_boot = Some(since_boot);
        self
    }

    /// Permits an agent to make this call itself. No run can use the authorization, which has expired at once.
    #[must_use]
    pub fn for_agent_call(mut self, call: &str) -> Self {
        self.method = Method::AgentCall;
        self.expires_at_ms = self.decided_at_ms;
        self.asked_by(format!("permitted, run by the agent: {call}"))
    }

    /// Notes which agent has asked for the decision.
    #[must_use]
    pub fn asked_by(mut self, note: String) -> Self {
        self.asked_by = Some(note);
        self
    }

    /// Rejects the plan at `now_ms`.
    #[must_use]
    pub fn reject(mut self, now_ms: i64, reason: impl Into<String>) -> Self {
        self.status = AuthorizationStatus::Rejected { reason: reason.into() };
        self.decided_at_ms = now_ms;
        self.expires_at_ms = now_ms;
        self
    }

    /// Whether the authorization has expired on the wall clock (`now_ms`) or on the monotonic clock.
    pub fn is_expired(&self, now_ms: i64, since_boot: &SinceBoot) -> bool {
        self.remaining_ms(now_ms, since_boot) <= 0
    }

    /// The remaining validity in milliseconds, on the clock on which it ends first. Zero or less after expiry, and in
    /// any later boot.
    pub fn remaining_ms(&self, now_ms: i64, since_boot: &SinceBoot) -> i64 {
        let given = self.given_since_boot.as_ref();
        remaining_ms((self.decided_at_ms, self.expires_at_ms), given, now_ms, since_boot)
    }

    /// The highest risk that a step of the run may have. It is compared again just before each step.
    pub fn max_risk(&self) -> RiskLevel {
        let of_class = self.attempt.as_deref().and_then(|attempt| attempt.max_risk);
        match self.method {
            Method::SessionRule => RiskLevel::Safe,
            _ => of_class.unwrap_or(RiskLevel::Dangerous),
        }
    }
}

/// A plan with its authorization: the only input of the executor (SPEC §2). The executor checks both again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedPlan {
    /// The plan.
    pub plan: Plan,
    /// The decision about the plan.
    pub authorization: PlanAuthorization,
}

#[cfg(test)]
mod tests;
