//! Rules for identical calls of one session of an agent (SPEC §13). A person makes one from a call that they have
//! authorized. Each later call that a rule answers gets an authorization of its own, for exactly its bytes.
//!
//! Rules are only in the memory of the window, so that they end with it.

use uuid::Uuid;

use super::{Binding, SinceBoot, WallLevel, remaining_ms};
use crate::plan::{Digest, RiskLevel};

/// What makes two calls identical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallIdentity {
    /// What the agent is called.
    pub agent: String,
    /// The agent's id of its session; not empty.
    pub session: String,
    /// The process of the agent: its id, and when it was started.
    pub process: String,
    /// The folder in which the agent works, in its own words.
    pub folder: String,
    /// The same folder without links, with its device and inode.
    pub workspace: String,
    /// The name of the tool.
    pub tool: String,
    /// The digest of the arguments, without the description, which never changes what runs.
    pub arguments: Digest,
}

/// How long a rule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RuleTime {
    /// A quarter of an hour.
    #[default]
    Quarter,
    /// An hour.
    Hour,
    /// Until the process of the agent ends, and at most eight hours.
    Session,
}

impl RuleTime {
    /// All of them, in the order of the dialog.
    pub const ALL: [Self; 3] = [Self::Quarter, Self::Hour, Self::Session];

    /// The time, in milliseconds.
    pub const fn ms(self) -> i64 {
        match self {
            Self::Quarter => 15 * 60_000,
            Self::Hour => 60 * 60_000,
            Self::Session => 8 * 60 * 60_000,
        }
    }

    /// The time in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Quarter => "15 minutes",
            Self::Hour => "1 hour",
            Self::Session => "Until the agent ends (at most 8 hours)",
        }
    }
}

/// A rule that authorizes identical calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRule {
    /// The id, which the records of the calls name.
    pub rule_id: Uuid,
    /// The calls that it is about.
    pub identity: CallIdentity,
    /// Their command.
    pub command: String,
    /// What the authorization covers from which the rule was made.
    pub binding: Binding,
    /// That authorization.
    pub authorization_id: Uuid,
    /// When the rule was made, in Unix milliseconds.
    pub made_at_ms: i64,
    /// When it ends on the wall clock, in Unix milliseconds.
    pub expires_at_ms: i64,
    /// When it was made on the monotonic clock. It ends on the clock on which its time is over first.
    pub made_since_boot: SinceBoot,
    /// The number of calls that it has authorized.
    pub matches: usize,
}

impl SessionRule {
    /// The milliseconds that are left; zero or less once the rule has ended.
    pub fn remaining_ms(&self, now_ms: i64, since_boot: &SinceBoot) -> i64 {
        let given = Some(&self.made_since_boot);
        remaining_ms((self.made_at_ms, self.expires_at_ms), given, now_ms, since_boot)
    }

    /// Why the rule does not cover a call with this risk and binding, although it is identical; `None` if it does. Then
    /// what the person has allowed is not what would run now, and the rule ends.
    pub fn refusal(&self, risk: RiskLevel, now: &Binding) -> Option<String> {
        let changes = self.binding.changes(now);
        match (why_no_rule(risk, now), changes.first()) {
            (Some(why), _) => Some(why.to_owned()),
            (None, Some(change)) => Some(change.brief()),
            (None, None) => None,
        }
    }

    /// What is recorded with each call that the rule authorizes.
    pub fn note(&self) -> String {
        let Self { rule_id, authorization_id, .. } = self;
        format!(
            "by session rule {rule_id}, which was made in the window for identical calls, from authorization \
             {authorization_id}"
        )
    }
}

/// Why no rule can be about calls with this risk and binding; `None` if one can.
pub fn why_no_rule(risk: RiskLevel, binding: &Binding) -> Option<&'static str> {
    let walls = match binding.walls.as_deref() {
        Some([Some(walls)]) => walls,
        _ => return Some("only a call of one command behind walls can have a rule"),
    };
    let is_widened = walls.is_widened() || walls.writes_repository || walls.terminal;
    let is_bare = binding.grants.is_empty() && binding.choices.is_default();
    match () {
        () if risk > RiskLevel::Safe => Some("only a safe command can have a rule"),
        () if walls.level == WallLevel::None => Some("the command runs without walls"),
        () if is_widened || !is_bare => Some("the command may do more than its walls allow"),
        () if binding.target.is_some() => Some("the command runs on another host"),
        () if !binding.inputs.is_empty() => Some("the command depends on the content of files"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::authorization::{FileState, Grants, RunChoices, StepWalls};
    use crate::plan::Mode;

    fn binding() -> Binding {
        let walls = StepWalls { level: WallLevel::Full, ..StepWalls::default() };
        Binding {
            fleet: None,
            workspace: "/w".to_owned(),
            workspace_id: None,
            mode: Mode::Automatic,
            policy: Digest::of(b"policy"),
            target: None,
            inputs: BTreeMap::new(),
            grants: Grants::default(),
            choices: RunChoices::default(),
            walls: Some(vec![Some(walls)]),
            secret_inputs: BTreeMap::new(),
        }
    }

    fn boot(ms: i64) -> SinceBoot {
        SinceBoot { boot_id: "b".to_owned(), ms }
    }

    fn rule() -> SessionRule {
        SessionRule {
            rule_id: Uuid::nil(),
            identity: CallIdentity {
                agent: "Gemini CLI".to_owned(),
                session: "s".to_owned(),
                process: "7@1".to_owned(),
                folder: "/w".to_owned(),
                workspace: "/w 1:2".to_owned(),
                tool: "run_shell_command".to_owned(),
                arguments: Digest::of(b"ls"),
            },
            command: "ls".to_owned(),
            binding: binding(),
            authorization_id: Uuid::nil(),
            made_at_ms: 1_000,
            expires_at_ms: 1_000 + RuleTime::Quarter.ms(),
            made_since_boot: boot(50),
            matches: 0,
        }
    }

    /// Neither a clock that is set back nor one that is set forward lengthens a rule.
    #[test]
    fn a_rule_ends_on_the_clock_on_which_its_time_is_over_first() {
        let (rule, quarter) = (rule(), RuleTime::Quarter.ms());
        assert_eq!(rule.remaining_ms(1_000, &boot(50)), quarter);
        assert_eq!(rule.remaining_ms(-9_000_000, &boot(50 + quarter)), 0, "set back");
        assert!(rule.remaining_ms(1_000 + quarter, &boot(51)) <= 0, "set forward");
        let other = SinceBoot { boot_id: "c".to_owned(), ms: 0 };
        assert!(rule.remaining_ms(1_000, &other) <= 0, "after another start of the system");
        assert!(RuleTime::ALL.iter().all(|time| time.ms() <= 8 * 3_600_000));
    }

    #[test]
    fn only_a_safe_command_inside_its_walls_can_have_a_rule() {
        assert_eq!(why_no_rule(RiskLevel::Safe, &binding()), None);
        for risk in [RiskLevel::Caution, RiskLevel::Dangerous, RiskLevel::Blocked] {
            assert!(why_no_rule(risk, &binding()).unwrap().contains("safe"));
        }
        let full = StepWalls { level: WallLevel::Full, ..StepWalls::default() };
        for walls in [
            StepWalls { level: WallLevel::None, ..full.clone() },
            StepWalls { network: true, ..full.clone() },
            StepWalls { open: true, ..full.clone() },
            StepWalls { write: vec!["/srv".to_owned()], ..full.clone() },
            StepWalls { writes_repository: true, ..full.clone() },
            StepWalls { terminal: true, ..full.clone() },
        ] {
            let binding = Binding { walls: Some(vec![Some(walls.clone())]), ..binding() };
            assert!(why_no_rule(RiskLevel::Safe, &binding).is_some(), "{walls}");
        }
        let grants = Grants { network: true, ..Grants::default() };
        let inputs = BTreeMap::from([("a".to_owned(), FileState::Absent)]);
        for binding in [
            Binding { walls: None, ..binding() },
            Binding { walls: Some(vec![None]), ..binding() },
            Binding { walls: Some(vec![Some(full.clone()), Some(full)]), ..binding() },
            Binding { grants, ..binding() },
            Binding { inputs, ..binding() },
        ] {
            assert!(why_no_rule(RiskLevel::Safe, &binding).is_some(), "{binding:?}");
        }
    }

    #[test]
    fn a_rule_covers_only_what_the_person_has_allowed() {
        let rule = rule();
        assert_eq!(rule.refusal(RiskLevel::Safe, &binding()), None);
        assert!(rule.refusal(RiskLevel::Caution, &binding()).is_some());
        let weaker = StepWalls { level: WallLevel::Files, ..StepWalls::default() };
        for now in [
            Binding { policy: Digest::of(b"other"), ..binding() },
            Binding { workspace: "/elsewhere".to_owned(), ..binding() },
            Binding { mode: Mode::Guided, ..binding() },
            Binding { walls: Some(vec![Some(weaker)]), ..binding() },
        ] {
            assert!(rule.refusal(RiskLevel::Safe, &now).is_some(), "{now:?}");
        }
    }
}
