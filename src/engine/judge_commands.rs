//! Judges past commands by the present rules (SPEC §7.1), a few at a time, so that a person sees how far it is and can
//! stop it.

use std::time::{Duration, Instant};

use super::walls::WIDENED;
use crate::evidence::{EvidenceError, EvidenceReader, marker_in};
use crate::risk::{Policy, Repositories, RiskLevel, Shell, of_shell_command};
use crate::run::{JudgedCommand, PastCommand, StopSignal};
use crate::tools::Toolbox;

/// The rules that raise the level of a command although the rules for commands say less: a statement of its plan, and
/// what its walls grant.
const RAISED: [&str; 2] = ["stated-by-plan", WIDENED];

/// Past commands that are judged one after the other.
#[derive(Debug)]
pub struct CommandJudge {
    commands: Vec<PastCommand>,
    done: usize,
    policy: Policy,
    shell: Shell,
}

impl CommandJudge {
    /// Reads the past commands, which are to be judged by this policy.
    ///
    /// # Errors
    /// The evidence cannot be read.
    pub fn new(evidence: &mut EvidenceReader, policy: &Policy) -> Result<Self, EvidenceError> {
        // No file is read: the toolbox only finds the local shell and this program's folders.
        let toolbox = Toolbox::open(&std::env::temp_dir(), policy);
        let toolbox = toolbox.map(|toolbox| toolbox.without_folders(evidence.folders()));
        let shell = toolbox.as_ref().map_or(Shell::Posix, Toolbox::shell);
        // The rules are judged, and not the repositories of the present.
        let mut policy = Policy { repositories: Repositories::NameNothing, ..policy.clone() };
        if let Ok(toolbox) = &toolbox {
            policy.own_folders = toolbox.own_folders().to_vec();
        }
        Ok(Self { commands: evidence.past_commands()?, done: 0, policy, shell })
    }

    /// The number of commands that were judged.
    pub fn done(&self) -> usize {
        self.done
    }

    /// The number of all commands.
    pub fn all(&self) -> usize {
        self.commands.len()
    }

    /// Judges further commands for about this time, until the signal. Returns those whose level is another one now.
    ///
    /// # Errors
    /// The evidence cannot be read.
    pub fn go_on(
        &mut self,
        evidence: &mut EvidenceReader,
        time: Duration,
        stop: &StopSignal,
    ) -> Result<Vec<JudgedCommand>, EvidenceError> {
        let begun = Instant::now();
        let mut found = Vec::new();
        while let Some(past) = self.commands.get(self.done) {
            let judged = judged(past, &self.policy, self.shell);
            self.done += 1;
            if let Some((level, rule, reason)) = judged
                && let Some(latest) = evidence.listed_execution(past.execution_id)?
            {
                found.push(JudgedCommand {
                    command: past.command.clone(),
                    host: past.host.clone(),
                    times: past.times,
                    last_ms: past.last_ms,
                    level_then: past.level,
                    rule_then: past.rule.clone(),
                    level_now: level,
                    rule_now: rule,
                    reason,
                    redacted: marker_in(&past.command).is_some(),
                    latest,
                });
            }
            if stop.is_set() || begun.elapsed() >= time {
                break;
            }
        }
        Ok(found)
    }
}

/// The level, rule and reason by the present rules, if the level is another one than it was.
fn judged(
    past: &PastCommand,
    policy: &Policy,
    shell: Shell,
) -> Option<(RiskLevel, String, String)> {
    let verdict =
        of_shell_command(&past.command, &past.inputs, (past.host.as_deref(), None), policy, shell);
    let differs = if RAISED.contains(&past.rule.as_str()) {
        // What raised it is not judged again.
        verdict.level > past.level
    } else {
        verdict.level != past.level
    };
    differs.then(|| (verdict.level, verdict.rule.into_owned(), verdict.reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(command: &str, host: Option<&str>, level: RiskLevel, rule: &str) -> PastCommand {
        PastCommand {
            command: command.into(),
            inputs: Vec::new(),
            host: host.map(str::to_owned),
            times: 1,
            execution_id: uuid::Uuid::nil(),
            last_ms: 0,
            level,
            rule: rule.into(),
        }
    }

    #[test]
    fn only_another_level_counts() {
        let policy = Policy::default();
        let level = |past: &PastCommand| judged(past, &policy, Shell::Bash).map(|it| it.0);
        use RiskLevel::{Caution, Dangerous, Safe};
        assert_eq!(level(&past("ls -l", None, Safe, "an-old-name")), None);
        assert_eq!(level(&past("ls -l", None, Caution, "unknown")), Some(Safe));
        assert_eq!(
            level(&past("rm -rf /", None, Safe, "reads")).map(|it| it > Caution),
            Some(true)
        );
        assert_eq!(level(&past("ls -l", Some("web-1"), Caution, "remote-host")), None);
        for rule in RAISED {
            assert_eq!(level(&past("ls -l", None, Dangerous, rule)), None, "{rule}");
        }
    }
}
