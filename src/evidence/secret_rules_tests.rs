use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::evidence::ledger::canonical;
use crate::evidence::redact::{KnownSecrets, bytes_contain_secret};
use crate::evidence::vault::Vault;

/// Building blocks of texts with and without secrets. Every rule needs some of them.
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
    "GITHUB_PAT",
    "DB_PW",
    "DSN",
    "COOKIE=sid=",
    "WEBHOOK_URL",
    "https://h/in/9f8e7d6c5b4a39",
    "ada:q9w8e7r6@tcp(db)/x",
];

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![9 => select(PIECES).prop_map(str::to_owned), 1 => ".{0,3}"],
        0..12,
    )
    .prop_map(|pieces| pieces.concat())
}

/// A JSON value whose keys and strings are made of these building blocks.
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

/// `value` as JSON text in which every character is escaped.
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
    fn prefilter_of_texts_misses_no_secret(text in text()) {
        prop_assert!(!can_skip(&text) || find(&text).is_empty());
        for found in find(&text) {
            let secret = found.secret;
            prop_assert!(found.span.start <= secret.start && secret.end <= found.span.end);
            prop_assert!(text.get(secret).is_some_and(|secret| !secret.is_empty()));
        }
    }

    #[test]
    fn prefilter_of_values_misses_no_secret(value in value()) {
        let vault = &VAULT.1;
        let text = canonical(&value);
        // With a known secret that occurs nowhere, the redactor has to check each string.
        let mut known = KnownSecrets::default();
        known.learn("PASSWORD=nowhere-in-these-values-0");
        let string_by_string = known.redact_json(vault, value.clone());
        if can_skip(&text) {
            prop_assert_eq!(&text, &string_by_string);
        }
        let redacted = KnownSecrets::default().redact_json(vault, value.clone());
        prop_assert_eq!(&redacted, &string_by_string);
        // The secrets of a value are also found in its JSON text, with any escapes.
        if redacted != text {
            prop_assert!(bytes_contain_secret(text.as_bytes()), "{}", text);
            prop_assert!(bytes_contain_secret(escaped(&value).as_bytes()), "{}", escaped(&value));
        }
    }
}

/// A line without the marks « and » around its secret, and the secret.
fn marked(line: &str) -> (String, String) {
    let (before, rest) = line.split_once('«').unwrap();
    let (secret, after) = rest.split_once('»').unwrap();
    (format!("{before}{secret}{after}"), secret.to_owned())
}

/// Variable names that tools document, in the form in which they appear there.
const ASSIGNED: &[&str] = &[
    "PGPASS=«correcthorse»",
    "PGPASSWORD=«correcthorse» psql -h db",
    "MYSQLPASS=«correcthorse»",
    "FTP_PASSWD=«correcthorse»",
    "ADMIN_PWD=«correcthorse»",
    "DB_PW=«correcthorse»",
    "\"DB_PW\": \"«correcthorse»\"",
    "DSN=app:«tr0ub4dor»@tcp(db:3306)/shop",
    "export DSN=\"app:«tr0ub4dor»@tcp(db:3306)/shop?parseTime=true\"",
    "ORACLE_DSN=app/«tr0ub4dor»@db.example.org:1521/shop",
    "SENTRY_DSN=https://«4bf92f3577b34da6a3ce929d0e0e4736»@o44.ingest.sentry.io/54",
    "DATABASE_URL=postgres://app:«tr0ub4dor»@db.example.org:5432/shop",
    "CELERY_BROKER_URL=amqp://app:«tr0ub4dor»@mq//",
    "SQL_CONNECTION_STRING=\"Server=db;Uid=app;Pwd=«correcthorse»;\"",
    "STORAGE_CONNECTION_STRING=AccountName=a;AccountKey=«q7RtY8uIoP9aSdF0gHjKlZxC1234==»;X=y",
    "COOKIE=«9f8e7d6c5b4a39281706f5e4»",
    "COOKIE=\"«sid=s%3A9f8e7d6c5b4a; theme=dark»\"",
    "COOKIE=«theme=dark; sid=9f8e7d6c5b4a3928»",
    "SESSION_COOKIE: «9f8e7d6c5b4a39281706f5e4»",
    "ALERT_WEBHOOK_URL=https://alerts.example.org/in/«9f8e7d6c5b4a39281706f5e4»",
    "ALERT_WEBHOOK_URL=\"https://alerts.example.org/in?code=«9f8e7d6c5b4a39281706f5e4»\"",
    "webhookUrl: https://alerts.example.org/in/«9f8e7d6c5b4a39281706f5e4»",
    "VERCEL_DEPLOY_HOOK=https://api.example.org/deploy/«prj_q7RtY8uIoP9aSdF0/gHjKlZxCvB»",
    "BASIC_AUTH=«ada:tr0ub4dor»",
    "HTTP_AUTH=\"ada:«correcthorse»\"",
    "NPM_AUTH=«YWRhOnRyMHViNGRvcg==»",
    "GITHUB_PAT=«q7RtY8uIoP9aSdF0gHjKlZxC»",
    "AZURE_DEVOPS_EXT_PAT: «q7RtY8uIoP9aSdF0gHjKlZxC»",
    "name: DEVOPS_PAT\n  value: «q7RtY8uIoP9aSdF0gHjKlZxC»",
    "QUEUE_SAS=sig=«q7RtY8uIoP9aSdF0gHjKlZxCvBnM1234%3D»&sv=2022-11-02",
];

#[test]
fn values_of_secret_variables_are_hidden() {
    for line in ASSIGNED {
        let (text, secret) = marked(line);
        let found: Vec<&str> =
            find(&text).into_iter().filter_map(|it| text.get(it.secret)).collect();
        assert!(found.contains(&secret.as_str()), "{text}: {found:?}");
        assert!(!can_skip(&text), "{text}");
    }
}

/// The same values also appear in printed environments.
#[test]
fn environment_secrets_are_redacted_without_names() {
    for (name, value, secret) in [
        ("PGPASS", "correcthorse", "correcthorse"),
        ("DATABASE_URL", "postgres://app:tr0ub4dor@db/shop", "tr0ub4dor"),
        ("DSN", "app:tr0ub4dor@tcp(db:3306)/shop", "tr0ub4dor"),
        ("SESSION_COOKIE", "9f8e7d6c5b4a39281706f5e4", "9f8e7d6c5b4a39281706f5e4"),
        ("ALERT_WEBHOOK_URL", "https://a.example.org/in/9f8e7d6c5b4a3928", "9f8e7d6c5b4a3928"),
        ("DEVOPS_PAT", "q7RtY8uIoP9aSdF0gHjKlZxC", "q7RtY8uIoP9aSdF0gHjKlZxC"),
    ] {
        assert_eq!(secrets_of_variable(name, value), [secret], "{name}");
        assert!(is_secret_field(name, value) || name == "DATABASE_URL", "{name}");
    }
    for (name, value) in [
        ("PWD", "/tmp/tmp.Xa8Zq91bKd"),
        ("OLDPWD", "/tmp/tmp.Xa8Zq91bKd"),
        ("PGPASSFILE", "/home/ada/.pgpass"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-Xa8Zq91bKd/agent.4242"),
        ("DATABASE_URL", "postgres://localhost/shop"),
        ("PATH", "/usr/local/bin:/usr/bin"),
    ] {
        assert_eq!(secrets_of_variable(name, value), [""; 0], "{name}");
        assert!(!is_secret_field(name, value), "{name}");
    }
}

#[test]
fn similar_names_redact_nothing() {
    for text in [
        "PWD=/tmp/tmp.Xa8Zq91bKd",
        "PWD=/home/runner/work/3f9a1c2e7b/x",
        "XPASS=3",
        "bypass=12345678",
        "format=q7RtY8uIoP9aSdF0",
        "compat: q7RtY8uIoP9aSdF0gHjKlZxC",
        "pat: /^[a-z0-9]{8}$/",
        "if pat == Some(x1y2z3w4v5) {",
        "webhook: Option<Webhook>,",
        "webhook_url: https://example.org/hooks/github",
        "\"hooks_url\": \"https://api.github.com/repos/octocat/Hello-World/hooks/12345678\"",
        "PRE_COMMIT_HOOK=https://github.com/pre-commit/pre-commit-hooks",
        "WEBHOOK_URL=${WEBHOOK_URL}",
        "cookie = request.cookies.get(\"sid\")",
        "HTTP_COOKIE_NAME=session",
        "cookie: Some(PayloadU16::new(vec![1]))",
        "FASTOPEN_NO_COOKIE: _bindgen_ty_64 = 12;",
        "SQLITE_AUTH => ErrorCode::AuthorizationForStatementDenied,",
        "DSN=file:test.db",
        "dsn: sqlite:///var/lib/app/data.db",
        "dsn = \"host=localhost dbname=test\"",
        "SSH_DSN=ada@host.example.org:22",
        "AUTH=off:disabled",
        "auth = user:password",
    ] {
        assert!(find(text).is_empty(), "{text}: {:?}", find(text));
    }
}
