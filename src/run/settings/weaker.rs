//! Which changes of settings weaken protection.

use std::collections::BTreeSet;

use toml::Value;

use super::{default_of, row_of};
use crate::risk::RiskLevel;

/// What a change of a setting gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weaker {
    /// What is no longer protected, in one or two sentences.
    pub sentence: &'static str,
    /// Whether only somebody else's value is dangerous: whoever types it in knows what it is.
    pub of_others: bool,
}

const fn gives_up(sentence: &'static str) -> Weaker {
    Weaker { sentence, of_others: false }
}

const fn from_others(sentence: &'static str) -> Weaker {
    Weaker { sentence, of_others: true }
}

/// What the change of a key from `old` to `new` gives up; `None` if nothing. A missing value is the default.
pub fn weaker(key: &str, old: Option<&Value>, new: Option<&Value>) -> Option<Weaker> {
    let row = row_of(key)?;
    let default = default_of(row);
    let (old, new) = (old.or(default.as_ref()), new.or(default.as_ref()));
    if old == new {
        return None;
    }
    let number = |value: Option<&Value>| value.and_then(Value::as_integer).unwrap_or(0);
    let is_on = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    let is_set = |value: Option<&Value>| match value {
        Some(Value::String(text)) => !text.is_empty(),
        value => value.is_some(),
    };
    let is_word = |value: Option<&Value>, word| value.and_then(Value::as_str) == Some(word);
    let loses = || !list(old).is_subset(&list(new));
    let gains = || !list(new).is_subset(&list(old));
    // The place in an order that begins with the strictest.
    let falls = |order: [&str; 3]| {
        let place = |value: Option<&Value>| {
            let word = value.and_then(Value::as_str).unwrap_or_default();
            order.iter().position(|it| *it == word).unwrap_or(order.len())
        };
        place(new) > place(old)
    };
    match row.key {
        "must_see" => falls(["everything", "careful", "nothing"])
            .then_some(gives_up("A plan can then be authorized with steps that you have not looked at.")),
        "policy.walls" => falls(["required", "preferred", "off"]).then_some(match new.and_then(Value::as_str) {
            Some("off") => gives_up(
                "Programs of a run can then read and change every file of yours and use the network. Steps rated \
                 caution ask instead.",
            ),
            _ => gives_up("A plan then also runs on a computer that has no walls or weaker ones."),
        }),
        "policy.confirm_tools" => {
            loses().then_some(gives_up("Steps of the tools that you take away then run without a question where they are rated safe."))
        }
        "policy.authorization_minutes" => (number(new) > number(old))
            .then_some(gives_up("A plan can then be run longer after you looked at it.")),
        "policy.command_rules" => {
            let (old, new) = (rules(old), rules(new));
            if new.iter().any(|rule| rule.may_lower() && !old.iter().any(|it| it.lowers_all_of(rule))) {
                Some(gives_up(
                    "Commands that the built-in rules rate dangerous can then be rated caution: behind walls they run \
                     without a question.",
                ))
            } else {
                let is_lost = |rule: &Rule| !new.iter().any(|it| it.holds_all_of(rule));
                old.iter().any(is_lost).then_some(gives_up(
                    "Commands that your rules hold back are then judged by the built-in rules alone.",
                ))
            }
        }
        "policy.extra_roots" => {
            gains().then_some(gives_up("Tools of every plan can then read and change files in these folders."))
        }
        "agents.session_rules" => (is_on(new) && !is_on(old)).then_some(gives_up(
            "Calls of an agent that are identical with one that you authorized can then run without a question.",
        )),
        "signatures.required" => (number(new) < number(old))
            .then_some(gives_up("Fewer persons then have to agree before a plan runs.")),
        "signatures.sign" => {
            loses().then_some(gives_up("What is no longer signed can then not be proved to others."))
        }
        "signatures.allowed_signers" => {
            is_set(old).then_some(gives_up("Other persons' signatures then count."))
        }
        "signatures.revoked_keys" => {
            is_set(old).then_some(gives_up("Signatures with keys of the old list may then count again."))
        }
        "policy.engine" => (is_word(old, "embedded") && !is_word(new, "embedded")).then_some(gives_up(
            "The programs magellan and splice of your PATH can then run when a plan is reviewed.",
        )),
        "planners.*.network" => (is_on(new) && !is_on(old)).then(|| of_planner("network")),
        "planners.*.write" => gains().then(|| of_planner("write")),
        "planners.*.read" => (is_on(new) && !is_on(old)).then(|| of_planner("read")),
        "model.key" => Some(from_others(
            "What the model is sent then goes into the account of whoever has this key.",
        )),
        "inbox" => {
            is_set(new).then_some(from_others("Plans are then taken from this folder, and files in it can be moved."))
        }
        "editor_command" => {
            is_set(new).then_some(from_others("This program then runs with your rights when you open a file."))
        }
        "policy.splice_program" => {
            is_set(new).then_some(from_others("This program then runs when a plan is reviewed."))
        }
        "policy.ssh_config" => Some(from_others(
            "Another file then decides which hosts and keys ssh uses, and which programs it starts.",
        )),
        "model.url" => {
            is_set(new).then_some(from_others("What planners look at in the workspace then goes to this server."))
        }
        "team" => is_set(new).then_some(from_others("What you push then goes to this server.")),
        _ => None,
    }
}

/// What is given up where a planner may do more in this field of its table.
pub(super) fn of_planner(field: &str) -> Weaker {
    gives_up(match field {
        "network" => "What the planner reads can then leave this computer.",
        "write" => "The planner can then change files that are in no plan.",
        _ => "The planner then sees the workspace.",
    })
}

/// What decides about commands in a rule for commands.
#[derive(PartialEq)]
struct Rule {
    prefix: Vec<String>,
    /// `None` if it cannot be read.
    level: Option<RiskLevel>,
}

impl Rule {
    fn matches_all_of(&self, other: &Self) -> bool {
        other.prefix.starts_with(&self.prefix)
    }

    /// Whether every command of the other rule, which is kept or raised by it, is so by this one, too.
    fn holds_all_of(&self, other: &Self) -> bool {
        self == other
            || self.matches_all_of(other) && other.level.is_some() && self.level >= other.level
    }

    /// Whether the level of a command can be lower with the rule than without it. Of the levels of rules, only caution is
    /// below one of the built-in levels that a rule may replace.
    fn may_lower(&self) -> bool {
        !matches!(self.level, Some(RiskLevel::Dangerous | RiskLevel::Blocked))
    }

    /// Whether this rule can lower each command that the other one can.
    fn lowers_all_of(&self, other: &Self) -> bool {
        self == other || self.level == Some(RiskLevel::Caution) && self.matches_all_of(other)
    }
}

/// The rules for commands of a value.
fn rules(value: Option<&Value>) -> Vec<Rule> {
    let rule = |value: &Value| {
        let words = value.get("prefix").and_then(Value::as_array).into_iter().flatten();
        Rule {
            prefix: words.map(|word| word.as_str().unwrap_or_default().to_owned()).collect(),
            level: value.get("level").and_then(|level| level.clone().try_into().ok()),
        }
    };
    value.and_then(Value::as_array).into_iter().flatten().map(rule).collect()
}

/// The entries of a list.
fn list(value: Option<&Value>) -> BTreeSet<String> {
    let list = value.and_then(Value::as_array);
    list.into_iter().flatten().map(Value::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::super::SETTINGS;
    use super::*;

    fn of(key: &str, old: &str, new: &str) -> bool {
        let value = |text: &str| format!("it = {text}").parse::<toml::Table>().ok()?.remove("it");
        weaker(key, value(old).as_ref(), value(new).as_ref()).is_some()
    }

    #[test]
    fn only_one_direction_weakens() {
        for (key, strict, weak) in [
            ("must_see", "'everything'", "'careful'"),
            ("must_see", "", "'nothing'"),
            ("policy.walls", "'required'", "'preferred'"),
            ("policy.walls", "'required'", ""),
            ("policy.walls", "", "'off'"),
            ("policy.confirm_tools", "['shell', 'file_write']", "['shell']"),
            ("policy.confirm_tools", "['shell']", ""),
            ("policy.authorization_minutes", "", "31"),
            ("policy.extra_roots", "", "['/data']"),
            ("policy.command_rules", "[{ prefix = ['a'], level = 'blocked' }]", "[]"),
            ("policy.engine", "'embedded'", "'external'"),
            ("policy.engine", "'embedded'", ""),
            ("agents.session_rules", "", "true"),
            ("signatures.required", "2", ""),
            ("signatures.sign", "['heads']", "[]"),
            ("planners.a.py.network", "", "true"),
            ("planners.a.py.write", "", "['.']"),
            ("planners.a.py.read", "false", ""),
        ] {
            assert!(of(key, strict, weak), "{key} from {strict} to {weak}");
            assert!(!of(key, weak, strict), "{key} from {weak} to {strict}");
            assert!(!of(key, weak, weak) && !of(key, strict, strict), "{key}");
        }
        for key in ["theme", "zoom", "notifications", "motion", "shortcuts"] {
            assert!(!of(key, "1", "2"), "{key}");
        }
    }

    /// A rule with the level caution makes dangerous commands of caution, so that it is no gift.
    #[test]
    fn a_rule_that_can_lower_a_command_weakens() {
        let of = |old: &[(&str, &str)], new: &[(&str, &str)]| {
            let list = |rules: &[(&str, &str)]| {
                let rule = |(prefix, level): &(&str, &str)| {
                    let words: Vec<_> = prefix.split(' ').collect();
                    format!("{{ id = '{prefix}', prefix = {words:?}, level = '{level}' }}")
                };
                format!("[{}]", rules.iter().map(rule).collect::<Vec<_>>().join(", "))
            };
            of("policy.command_rules", &list(old), &list(new))
        };
        for (old, new) in [
            (&[][..], &[("rm", "caution")][..]),
            (&[("make", "blocked")], &[("make", "blocked"), ("rm", "caution")]),
            (&[("rm", "dangerous")], &[("rm", "caution")]),
            (&[("rm -r", "caution")], &[("rm", "caution")]),
            (&[("rm", "caution")], &[]),
            (&[("make", "blocked")], &[("make", "dangerous")]),
            (&[("make", "blocked")], &[("make deploy", "blocked")]),
            (&[], &[("rm", "safe")]),
            (&[], &[("rm", "unheard of")]),
        ] {
            assert!(of(old, new), "{old:?} {new:?}");
        }
        for (old, new) in [
            (&[][..], &[("rm", "dangerous"), ("make", "blocked")][..]),
            (&[("rm", "caution")], &[("rm", "dangerous")]),
            (&[("rm", "caution")], &[("rm", "caution"), ("rm -r", "caution")]),
            (&[("make deploy", "dangerous")], &[("make", "blocked")]),
            (&[("rm", "caution"), ("make", "blocked")], &[("make", "blocked"), ("rm", "caution")]),
        ] {
            assert!(!of(old, new), "{old:?} {new:?}");
        }
    }

    #[test]
    fn what_others_chose_is_looked_at() {
        for key in [
            "editor_command",
            "inbox",
            "model.key",
            "model.url",
            "policy.splice_program",
            "policy.ssh_config",
            "team",
        ] {
            let found = weaker(key, None, Some(&Value::from("/opt/x"))).unwrap();
            assert!(found.of_others, "{key}");
        }
    }

    /// Each row about protection is known here, or says that it protects nothing that a change could weaken.
    #[test]
    fn policy_and_signatures_are_looked_at() {
        const HARMLESS: [&str; 5] = [
            "signatures.folder",
            "signatures.key",
            "signatures.principal",
            "signatures.seconds",
            "model.",
        ];
        let source = include_str!("weaker.rs");
        for row in SETTINGS {
            let table = ["policy.", "signatures.", "planners.", "agents.", "model."];
            if table.iter().any(|it| row.key.starts_with(it)) {
                let is_harmless = HARMLESS.iter().any(|it| row.key.starts_with(it));
                let is_known = source.contains(&format!("\"{}\" =>", row.key));
                assert!(is_harmless || is_known, "{}", row.key);
            }
        }
    }
}
