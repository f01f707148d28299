//! Past commands, judged by the present rules (SPEC §7.1, §8). Pure data.

use serde::Serialize;
use uuid::Uuid;

use super::ListedExecution;
use crate::plan::CommandInput;
use crate::risk::RiskLevel;

/// A command that was run, with the verdict that was recorded when it was run last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCommand {
    /// The command, with redacted secrets.
    pub command: String,
    /// The inputs of the plan that the latest one got.
    pub inputs: Vec<CommandInput>,
    /// The host that it ran on; `None` for this computer.
    pub host: Option<String>,
    /// How often it was recorded.
    pub times: u64,
    /// The latest execution.
    pub execution_id: Uuid,
    /// The start of the latest execution, in Unix milliseconds.
    pub last_ms: i64,
    /// The level that was recorded then.
    pub level: RiskLevel,
    /// The rule that decided then.
    pub rule: String,
}

/// A past command whose level is another one today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedCommand {
    /// The command, with redacted secrets.
    pub command: String,
    /// The host that it ran on; null for this computer.
    pub host: Option<String>,
    /// How often it was recorded.
    pub times: u64,
    /// The start of its latest execution, in Unix milliseconds.
    pub last_ms: i64,
    /// The level that was recorded then.
    pub level_then: RiskLevel,
    /// The rule that decided then.
    pub rule_then: String,
    /// The level by the present rules.
    pub level_now: RiskLevel,
    /// The rule that decides now.
    pub rule_now: String,
    /// The reason for the level now.
    pub reason: String,
    /// Whether a secret in it is redacted, so that the marker was judged in place of the secret.
    pub redacted: bool,
    /// Its latest execution.
    pub latest: ListedExecution,
}

/// How far past commands are judged, and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// The commands whose level is another one today: those that are worse now first, then by level and time.
    pub found: Vec<JudgedCommand>,
    /// The number of different commands that were judged.
    pub done: usize,
    /// The number of different commands; `None` until they are read.
    pub all: Option<usize>,
    /// Whether a person stopped it.
    pub stopped: bool,
}

impl Judgement {
    /// Whether every command was judged.
    pub fn is_complete(&self) -> bool {
        self.all == Some(self.done)
    }

    /// Adds commands, and keeps the order.
    pub fn add(&mut self, found: Vec<JudgedCommand>) {
        self.found.extend(found);
        self.found.sort_by_key(|it| {
            let is_worse = it.level_now > it.level_then;
            (!is_worse, std::cmp::Reverse((it.level_now, it.last_ms)), it.command.clone())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::waterfall::tests::step;
    use super::*;
    use crate::run::{Known, Outcome};

    #[test]
    fn what_is_worse_now_comes_first() {
        let command = |then, now, last_ms| JudgedCommand {
            command: format!("{then:?} to {now:?}"),
            host: None,
            times: 1,
            last_ms,
            level_then: then,
            rule_then: "a".into(),
            level_now: now,
            rule_now: "b".into(),
            reason: String::new(),
            redacted: false,
            latest: step(0, 0, Known::Outcome(Outcome::Succeeded), 1),
        };
        use RiskLevel::{Blocked, Caution, Dangerous, Safe};
        let mut judgement = Judgement::default();
        judgement.add(vec![command(Dangerous, Safe, 9), command(Safe, Caution, 1)]);
        judgement.add(vec![command(Safe, Blocked, 1), command(Safe, Caution, 5)]);
        let order: Vec<_> = judgement.found.iter().map(|it| (it.level_now, it.last_ms)).collect();
        assert_eq!(order, [(Blocked, 1), (Caution, 5), (Caution, 1), (Safe, 9)]);
        assert!(!judgement.is_complete());
        judgement.all = Some(0);
        assert!(judgement.is_complete());
    }
}
