//! Any bytes as a command (SPEC §7.1): the verdict is repeatable, its span is inside the command, and neither
//! another shell nor further commands nor a raising rule lowers it.

#![no_main]

use std::sync::LazyLock;

use countersign_fuzz::command::{check_place, text};
use countersign_fuzz::risk::{RiskLevel, Shell, UserRule, UserRules, of_command};
use libfuzzer_sys::fuzz_target;

/// One rule that raises the risk and one that lowers it.
static RULES: LazyLock<UserRules> = LazyLock::new(|| {
    let rule = |program: &str, level| UserRule {
        id: program.to_owned(),
        prefix: vec![program.to_owned()],
        level,
        reason: "it was said".to_owned(),
        must_match: vec![program.to_owned()],
        must_not_match: Vec::new(),
    };
    let rules = vec![rule("ls", RiskLevel::Blocked), rule("rm", RiskLevel::Caution)];
    UserRules::new(rules).expect("good rules")
});

fuzz_target!(|data: &[u8]| {
    let command = text(data);
    let none = UserRules::default();
    let verdict = of_command(&command, Shell::Bash, &none);
    check_place(&command, &verdict.span);
    for simple in &verdict.commands {
        check_place(&command, &simple.span());
        simple.words().iter().for_each(|word| check_place(&command, &word.span()));
    }
    assert!(!verdict.user_rule && verdict.level == verdict.builtin.level);
    let posix = of_command(&command, Shell::Posix, &none);
    assert!(posix.level >= verdict.level, "another shell made it milder: {command:?}");
    let mine = of_command(&command, Shell::Bash, &RULES);
    assert_eq!(mine.builtin.level, verdict.level, "the built-in verdict changed: {command:?}");
    if mine.level < verdict.level {
        assert_eq!(verdict.level, RiskLevel::Dangerous, "{command:?}");
        assert_eq!(mine.level, RiskLevel::Caution, "{command:?}");
    }
    // The second parser may fail on the combined command and not on its parts.
    if matches!(verdict.rule.as_str(), "nothing" | "readers-disagree") {
        return;
    }
    let bound = verdict.level.min(RiskLevel::Dangerous);
    // A line break after a backslash continues the command.
    let end = if command.ends_with('\\') { "" } else { "\n" };
    let beside = of_command(&format!("true;{command}{end}"), Shell::Bash, &none);
    assert!(beside.level >= bound, "company made it milder: {command:?}");
});
