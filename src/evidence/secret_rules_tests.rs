use std::cell::Cell;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::evidence::ledger::canonical;
use crate::evidence::redact::{KnownSecrets, Redactor};
use crate::evidence::secret_words::FOLDED;
use crate::evidence::vault::Vault;

/// What texts with and without secrets are made of; every rule needs some of it.
const PIECES: &[&str] = &[
    "PassWord",
    "passwd",
    "passphrase",
    "pwd",
    "client_secret",
    "pa\u{17f}\u{17f}word",
    "TOKEN",
    "to\u{212a}en",
    "api",
    "key",
    "API_KEY",
    "access-key",
    "private_key",
    "auth_key",
    "secret-key",
    "_",
    "-",
    "--",
    " ",
    "  ",
    "=",
    ": ",
    ":=",
    "=>",
    "\"",
    "'",
    "\\",
    "\\\"",
    "\n",
    "\t",
    "b\"",
    "hunter2!",
    "q9w8e7r6t5y4u3i2",
    "correct horse",
    "a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
    "AKIA",
    "asia",
    "IOSFODNN7EXAMPLE",
    "ghp_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "sk-",
    "AIza",
    "rk_live_",
    "sk_test_",
    "npm_",
    "pypi-",
    "cio",
    "eyJhbGciOi.",
    "eyJzdWIiOi.",
    "Sflh-",
    "Authorization",
    "bearer ",
    "Basic ",
    "https",
    "://",
    "me:",
    "@host",
    "x",
    "é",
    "(",
    ";",
    "-----BEGIN RSA PRIVATE ",
    "KEY-----",
    "-----END PRIVATE ",
    "[secret:password:0123abcd]",
];

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![9 => select(PIECES).prop_map(str::to_owned), 1 => ".{0,3}"],
        0..12,
    )
    .prop_map(|pieces| pieces.concat())
}

/// A JSON value whose keys and strings are such texts.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![text().prop_map(Value::from), any::<i64>().prop_map(Value::from)];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// `value` as JSON text of a writer that escapes every character.
fn escaped(value: &Value) -> String {
    let string = |text: &str| {
        let escapes: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        format!("\"{escapes}\"")
    };
    match value {
        Value::String(text) => string(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(escaped).collect::<Vec<_>>().join(","))
        }
        Value::Object(map) => {
            let field =
                |(key, value): (&String, &Value)| format!("{}:{}", string(key), escaped(value));
            format!("{{{}}}", map.iter().map(field).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::new().unwrap());
static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new().unwrap());

/// Strings that a pattern itself makes, so that a rule whose words are not in all of them is found,
/// whatever words another rule has.
#[test]
fn a_word_of_its_rule_is_in_everything_that_a_pattern_matches() {
    let rules = &*RULES;
    let lower = |word: &&str| word.to_ascii_lowercase() == *word;
    assert!(rules.all.iter().all(|rule| rule.words.iter().all(lower)));
    let fast = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    assert_eq!(rules.words.are_made(), (fast, true));
    assert!(rules.all.len() < 32, "a bit for each");
    let folded = Cell::new(0);
    for (place, rule) in rules.all.iter().enumerate() {
        // A boundary makes no characters; without it the pattern only matches more.
        let pattern = rule.pattern.as_str().replace(r"\b", "");
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        runner
            .run(&string_regex(&pattern).unwrap(), |matched| {
                let candidates = rules.candidates(&matched);
                prop_assert!(candidates & (1 << place) != 0, "{} in {matched:?}", rule.kind);
                let has_folded = FOLDED.iter().any(|folded| matched.contains(folded));
                folded.set(folded.get() + usize::from(has_folded));
                Ok(())
            })
            .unwrap();
    }
    assert!(folded.get() > 0, "characters outside ASCII that fold into ASCII were among them");
    let name = format!("(?i)({NAMES})");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let check = |name: String| {
        prop_assert!(!rules.rule_out(&name), "{name}");
        Ok(())
    };
    runner.run(&string_regex(&name).unwrap(), check).unwrap();
}

static VAULT: LazyLock<(TempDir, Vault)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open_or_create(folder.path()).unwrap();
    (folder, vault)
});

proptest! {
    #[test]
    fn the_rules_that_are_left_out_would_have_found_nothing(text in text()) {
        let rules = &*RULES;
        let asked: Vec<_> = rules.find(&text).collect();
        let everywhere = rules.matches_at(Places::EVERYWHERE, &text);
        let all: Vec<_> = everywhere.filter_map(|found| Some((found.secret?, found.kind))).collect();
        prop_assert_eq!(&asked, &all);
        prop_assert!(all.is_empty() || !rules.rule_out(&text));
    }

    #[test]
    fn a_value_that_is_ruled_out_as_a_whole_has_nothing_to_hide(value in value()) {
        let (rules, redactor, vault) = (&*RULES, &*REDACTOR, &VAULT.1);
        let text = canonical(&value);
        // A known secret that occurs nowhere makes the redactor look at each string.
        let mut known = KnownSecrets::default();
        redactor.learn(&mut known, "PASSWORD=nowhere-in-these-values-0");
        let string_by_string = redactor.hide_in_json(vault, &known, value.clone());
        if rules.rule_out(&text) {
            prop_assert_eq!(&text, &string_by_string);
        }
        let hidden = redactor.hide_in_json(vault, &KnownSecrets::default(), value.clone());
        prop_assert_eq!(&hidden, &string_by_string);
        // Bytes that hold the value hold its secrets, whoever wrote them and however.
        if hidden != text {
            prop_assert!(redactor.finds_in_bytes(text.as_bytes()), "{}", text);
            prop_assert!(redactor.finds_in_bytes(escaped(&value).as_bytes()), "{}", escaped(&value));
        }
    }
}
