use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::evidence::ledger::canonical;
use crate::evidence::redact::{KnownSecrets, Redactor};
use crate::evidence::vault::Vault;

/// What texts with and without secrets are made of; every rule needs some of it.
const PIECES: &[&str] = &[
    "PassWord",
    "passwd",
    "passphrase",
    "pwd",
    "client_secret",
    "TOKEN",
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
    "curl",
    " -u ",
    "ada:q9w8e7r6",
    "\u{1b}[31m",
    "%61",
    "\\\n",
    "SG.",
    "name",
    "value",
    "Cookie: ",
    "?sig=",
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

static VAULT: LazyLock<(TempDir, Vault)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open_or_create(folder.path()).unwrap();
    (folder, vault)
});

proptest! {
    #[test]
    fn a_text_that_is_ruled_out_has_no_secret(text in text()) {
        prop_assert!(!rule_out(&text) || find(&text).is_empty());
        for found in find(&text) {
            let secret = found.secret.unwrap();
            prop_assert!(found.span.start <= secret.start && secret.end <= found.span.end);
            prop_assert!(text.get(secret).is_some_and(|secret| !secret.is_empty()));
        }
    }

    #[test]
    fn a_value_that_is_ruled_out_as_a_whole_has_nothing_to_hide(value in value()) {
        let (redactor, vault) = (&Redactor, &VAULT.1);
        let text = canonical(&value);
        // A known secret that occurs nowhere makes the redactor look at each string.
        let mut known = KnownSecrets::default();
        redactor.learn(&mut known, "PASSWORD=nowhere-in-these-values-0");
        let string_by_string = redactor.hide_in_json(vault, &known, value.clone());
        if rule_out(&text) {
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
