//! Approvals and what they cover (SPEC §2): pure data, and the comparison that voids an approval.
//!
//! Made by the window and the headless commands, checked by the engine alone. Absent on purpose:
//! reading the clock or any file; callers hand in what is true now.

mod class;
mod walls;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::plan::{Digest, Mode, Plan, RiskLevel};

pub use class::{AuthorizationClass, CLASS_BYTES, ClassError, ClassQuestion};
pub use walls::{Grants, StepWalls, WallLevel};

/// How long an approval waits for its run by default, in milliseconds: 30 minutes.
pub const DEFAULT_TTL_MS: i64 = 30 * 60 * 1000;

/// The status of a plan's authorization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum AuthorizationStatus {
    /// Nobody has answered.
    Pending,
    /// Approved; valid only with its binding.
    Approved,
    /// Rejected.
    Rejected {
        /// Why, in the person's words.
        reason: String,
    },
}

/// Through which act the answer was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A click or key in the window.
    Window,
    /// `--authorize DIGEST`.
    CommandLineDigest,
    /// `--yes`: authorizes what was just read.
    CommandLineYes,
    /// A flag of the command line that names no plan: `--authorize-class`.
    CommandLine,
    /// A class of plans that was authorized in advance (SPEC §10).
    AuthorizationClass,
}

/// The attempt of a bounded loop whose plan an answer is for (SPEC §10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForAttempt {
    /// The loop.
    pub loop_id: Uuid,
    /// What the loop is to reach.
    pub goal: String,
    /// The attempt.
    pub attempt_id: Uuid,
    /// Which one, from 1.
    pub attempt: u32,
    /// The class of plans under which the answer was given, if under one.
    pub class_id: Option<Uuid>,
    /// The worst risk that this class allows a step, also when its turn has come.
    pub max_risk: Option<RiskLevel>,
    /// How the answer came about, in a sentence.
    pub note: String,
}

/// The state of a file that the plan takes as input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "digest")]
pub enum FileState {
    /// There is no such file.
    Absent,
    /// A file with this content.
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
    /// The user there, as the client's settings make it of the destination.
    pub user: String,
    /// The host's name or address, likewise.
    pub host: String,
    /// The port, likewise.
    pub port: u16,
    /// The kinds and fingerprints of the keys by which the client knows the host, sorted, for instance
    /// `ED25519 SHA256:…`; one that only signs keys of hosts begins with `authority`. The host must show one
    /// of them.
    pub host_keys: Vec<String>,
}

impl Target {
    /// Whether the host may show this key, which is signed by this authority if by any; both with their kind
    /// before the fingerprint.
    pub fn covers(&self, host_key: &str, authority: Option<&str>) -> bool {
        let fingerprint = |key: &str| key.rsplit(' ').next().map(str::to_owned);
        let is = |known: &str, shown: &str| fingerprint(known) == fingerprint(shown);
        self.host_keys.iter().any(|known| match known.strip_prefix("authority ") {
            Some(known) => authority.is_some_and(|shown| is(known, shown)),
            None => is(known, host_key),
        })
    }

    /// User, host and port in one word.
    pub fn address(&self) -> String {
        let Self { user, host, port, .. } = self;
        // An IPv6 address has colons of its own.
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("{user}@{host}:{port}")
    }
}

impl fmt::Display for Target {
    /// Who, where and by which key, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.destination, self.address())?;
        match self.host_keys.as_slice() {
            [] => f.write_str(", whose key is not known"),
            [key] => write!(f, " with key {key}"),
            keys => write!(f, " with one of the keys {}", keys.join(", ")),
        }
    }
}

/// Everything an approval covers besides the plan's bytes (SPEC §2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The workspace folder, absolute.
    pub workspace: String,
    /// How the run is led.
    pub mode: Mode,
    /// Digest of the policy under which the risks were shown.
    pub policy: Digest,
    /// Where remote steps run.
    pub target: Option<Target>,
    /// Every file that a mutating step takes as input, by its path inside the workspace.
    pub inputs: BTreeMap<String, FileState>,
    /// What the person grants besides what the plan asks for.
    #[serde(default, skip_serializing_if = "Grants::is_empty")]
    pub grants: Grants,
    /// The walls of each step, in the order of the plan, and none for a step that starts no process on this
    /// computer; no list where nobody determined them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<Vec<Option<StepWalls>>>,
}

/// One covered thing that is no longer what was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What it is, for instance `plan bytes` or `file src/lib.rs`.
    pub what: String,
    /// What was approved.
    pub approved: String,
    /// What is there now.
    pub now: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was {} when approved and is {} now", self.what, self.approved, self.now)
    }
}

impl Binding {
    /// Every covered ingredient that differs between what was approved (`self`) and `now`.
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut compare = |what: &str, approved: String, now: String| {
            if approved != now {
                changes.push(Change { what: what.to_owned(), approved, now });
            }
        };
        let target = |target: &Option<Target>| match target {
            None => "local".to_owned(),
            Some(target) => target.to_string(),
        };
        compare("workspace", self.workspace.clone(), now.workspace.clone());
        compare("mode", self.mode.as_str().to_owned(), now.mode.as_str().to_owned());
        compare("policy", self.policy.to_string(), now.policy.to_string());
        compare("target", target(&self.target), target(&now.target));
        fn covered(ingredient: Option<&impl ToString>) -> String {
            ingredient.map_or_else(|| "not covered".to_owned(), ToString::to_string)
        }
        let names: BTreeSet<_> = self.inputs.keys().chain(now.inputs.keys()).collect();
        for name in names {
            let state = |binding: &Self| covered(binding.inputs.get(name));
            compare(&format!("file {name}"), state(self), state(now));
        }
        let walls = |binding: &Self, index: usize| {
            let all = binding.walls.as_deref().unwrap_or_default();
            covered(all.get(index).and_then(Option::as_ref))
        };
        let count = |binding: &Self| binding.walls.as_ref().map_or(0, Vec::len);
        for index in 0..count(self).max(count(now)) {
            compare(&format!("walls of step {}", index + 1), walls(self, index), walls(now, index));
        }
        changes
    }
}

/// A person's answer to one plan (SPEC §2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanAuthorization {
    /// Its own id; consumed by one run.
    pub authorization_id: Uuid,
    /// The plan it is for.
    pub plan_id: String,
    /// The digest of the exact plan bytes it is for.
    pub plan_digest: Digest,
    /// The answer.
    #[serde(flatten)]
    pub status: AuthorizationStatus,
    /// What else it covers.
    pub binding: Binding,
    /// The run that the plan continues, when it was shown as a continuation; the run that uses this
    /// answer is linked to it.
    pub parent_run: Option<Uuid>,
    /// The attempt of a bounded loop that it is for; the run that uses it is linked to that.
    pub attempt: Option<Box<ForAttempt>>,
    /// Through which act it was given.
    pub method: Method,
    /// When it was given, in Unix milliseconds.
    pub decided_at_ms: i64,
    /// When it stops being valid unless its run has begun, in Unix milliseconds.
    pub expires_at_ms: i64,
    /// When it was given, by the monotonic clock: it expires by whichever clock is earlier.
    pub given_since_boot: Option<SinceBoot>,
}

/// A time on the clock that runs since boot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SinceBoot {
    /// Which start of the machine it was.
    pub boot_id: String,
    /// Milliseconds since then.
    pub ms: i64,
}

impl PlanAuthorization {
    /// An answer that nobody has given yet.
    pub fn pending(plan: &Plan, binding: Binding, method: Method, now_ms: i64) -> Self {
        Self {
            authorization_id: Uuid::new_v4(),
            plan_id: plan.plan_id.clone(),
            plan_digest: plan.digest,
            status: AuthorizationStatus::Pending,
            binding,
            parent_run: None,
            attempt: None,
            method,
            decided_at_ms: now_ms,
            expires_at_ms: now_ms,
            given_since_boot: None,
        }
    }

    /// The same answer to a plan that was shown as the continuation of this run, if of any.
    #[must_use]
    pub fn continuing(mut self, parent_run: Option<Uuid>) -> Self {
        self.parent_run = parent_run;
        self
    }

    /// The same answer to the plan of this attempt.
    #[must_use]
    pub fn for_attempt(mut self, attempt: ForAttempt) -> Self {
        self.attempt = Some(Box::new(attempt));
        self
    }

    /// The same answer, approved at `now_ms` for `ttl_ms` milliseconds.
    #[must_use]
    pub fn approve(mut self, now_ms: i64, ttl_ms: i64) -> Self {
        self.status = AuthorizationStatus::Approved;
        self.decided_at_ms = now_ms;
        self.expires_at_ms = now_ms.saturating_add(ttl_ms);
        self
    }

    /// The same answer, given at this time of the monotonic clock.
    #[must_use]
    pub fn given(mut self, since_boot: SinceBoot) -> Self {
        self.given_since_boot = Some(since_boot);
        self
    }

    /// The same answer, rejected at `now_ms`.
    #[must_use]
    pub fn reject(mut self, now_ms: i64, reason: impl Into<String>) -> Self {
        self.status = AuthorizationStatus::Rejected { reason: reason.into() };
        self.decided_at_ms = now_ms;
        self.expires_at_ms = now_ms;
        self
    }

    /// Whether it has expired, by the wall clock at `now_ms` or by the monotonic clock.
    pub fn is_expired(&self, now_ms: i64, since_boot: &SinceBoot) -> bool {
        self.left_ms(now_ms, since_boot) <= 0
    }

    /// How long it lasts yet in milliseconds, by the clock by which it ends first.
    pub fn left_ms(&self, now_ms: i64, since_boot: &SinceBoot) -> i64 {
        let ttl_ms = self.expires_at_ms.saturating_sub(self.decided_at_ms);
        let by_wall_clock = self.expires_at_ms.saturating_sub(now_ms);
        match &self.given_since_boot {
            Some(given) if given.boot_id == since_boot.boot_id => {
                by_wall_clock.min(ttl_ms - since_boot.ms.saturating_sub(given.ms))
            }
            // After a reboot the elapsed time is unknown.
            Some(_) => by_wall_clock.min(0),
            None => by_wall_clock,
        }
    }
}

/// The only thing the executor accepts (SPEC §2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedPlan {
    /// The plan.
    pub plan: Plan,
    /// The answer to it.
    pub authorization: PlanAuthorization,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(target: Option<Target>) -> Binding {
        Binding {
            workspace: "/home/ada/app".to_owned(),
            mode: Mode::Automatic,
            policy: Digest::of(b"policy"),
            target,
            inputs: BTreeMap::new(),
            grants: Grants::default(),
            walls: None,
        }
    }

    #[test]
    fn other_walls_void_an_approval_and_are_named() {
        let full = StepWalls { level: WallLevel::Full, ..StepWalls::default() };
        let with = |steps: &[Option<&StepWalls>]| Binding {
            walls: Some(steps.iter().map(|it| it.cloned()).collect()),
            ..binding(None)
        };
        let approved = with(&[None, Some(&full)]);
        assert_eq!(approved.changes(&approved.clone()), []);
        let online = StepWalls { network: true, ..full.clone() };
        let weaker = StepWalls { level: WallLevel::Files, ..full.clone() };
        let repository = StepWalls { writes_repository: true, ..full.clone() };
        let elsewhere = StepWalls { write: vec!["/srv".to_owned()], ..full.clone() };
        let open = StepWalls { open: true, level: WallLevel::None, ..full.clone() };
        for (now, told) in [
            (with(&[None, Some(&online)]), "full, network"),
            (with(&[None, Some(&weaker)]), "files"),
            (with(&[None, Some(&repository)]), "full, writes the repository"),
            (with(&[None, Some(&elsewhere)]), "full, writes /srv"),
            (with(&[None, Some(&open)]), "none, open"),
            (with(&[None, None]), "not covered"),
            (binding(None), "not covered"),
        ] {
            let changes = approved.changes(&now);
            let [change] = changes.as_slice() else { panic!("{changes:?}") };
            assert_eq!((change.what.as_str(), change.now.as_str()), ("walls of step 2", told));
            assert_eq!(change.approved, "full");
        }
    }

    #[test]
    fn another_target_voids_an_approval() {
        let target = Target {
            destination: "build".to_owned(),
            user: "ada".to_owned(),
            host: "10.0.0.7".to_owned(),
            port: 22,
            host_keys: vec!["ED25519 SHA256:one".to_owned()],
        };
        let approved = binding(Some(target.clone()));
        assert_eq!(approved.changes(&approved.clone()), []);
        for (other, now) in [
            (
                Some(Target { host: "fe80::1".to_owned(), ..target.clone() }),
                "build (ada@[fe80::1]:22) with key ED25519 SHA256:one",
            ),
            (
                Some(Target { user: "root".to_owned(), ..target.clone() }),
                "build (root@10.0.0.7:22) with key ED25519 SHA256:one",
            ),
            (
                Some(Target { port: 2222, ..target.clone() }),
                "build (ada@10.0.0.7:2222) with key ED25519 SHA256:one",
            ),
            (
                Some(Target { host_keys: vec!["ED25519 SHA256:two".to_owned()], ..target.clone() }),
                "build (ada@10.0.0.7:22) with key ED25519 SHA256:two",
            ),
            (None, "local"),
        ] {
            let changes = approved.changes(&binding(other));
            let [change] = changes.as_slice() else { panic!("{changes:?}") };
            assert_eq!((change.what.as_str(), change.now.as_str()), ("target", now));
            assert_eq!(change.approved, target.to_string());
        }
    }

    #[test]
    fn an_approval_ends_by_either_clock() {
        let plan = crate::plan::parse(
            br#"{"plan_id":"p","intent":"READ","steps":[{"step_id":"a","tool":"file_read","arguments":{"path":"a"}}]}"#,
        )
        .plan
        .unwrap();
        let at = |boot_id: &str, ms| SinceBoot { boot_id: boot_id.to_owned(), ms };
        let given = PlanAuthorization::pending(&plan, binding(None), Method::Window, 10_000)
            .approve(10_000, 1_000)
            .given(at("one", 500));
        assert!(!given.is_expired(10_999, &at("one", 1_499)));
        assert!(given.is_expired(11_000, &at("one", 501)), "the wall clock");
        for wall_ms in [10_001, 9_000, i64::MIN] {
            assert!(!given.is_expired(wall_ms, &at("one", 1_499)));
            assert!(given.is_expired(wall_ms, &at("one", 1_500)), "a wall clock that was set back");
            assert!(given.is_expired(wall_ms, &at("two", 501)), "another start of the machine");
        }
    }
}
