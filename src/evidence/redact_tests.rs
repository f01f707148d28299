use crate::plan::Digest;

use super::*;

fn redact(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open_or_create(dir.path()).unwrap();
    KnownSecrets::default().redact(&vault, text).into_owned()
}

/// Texts with a secret. Joined at run time, so that secret scanners do not report this file.
fn secrets() -> Vec<(String, String)> {
    let pem = format!(
        "-----BEGIN RSA PRIVATE {k}-----\nMIIEow{b}\n{b}\n-----END RSA PRIVATE {k}-----",
        k = "KEY",
        b = "IBAAKCAQEA7bq98jXy".repeat(3)
    );
    let split = |parts: &[&str]| parts.concat();
    let shapes = [
        split(&["AKIA", "IOSFODNN7EXAMPLE"]),
        split(&["ghp_", &"a1B2".repeat(9)]),
        split(&["github_pat_", &"a1B2".repeat(9)]),
        split(&["glpat-", &"a1B2-".repeat(5)]),
        split(&["xoxb-", "1234567890-abcdefghij"]),
        split(&["sk-", "proj-a1b2c3d4e5f6g7h8i9"]),
        split(&["AIza", &"a1B2_".repeat(7)]),
        split(&["sk_live_", &"a1B2".repeat(5)]),
        split(&["npm_", &"a1B2".repeat(9)]),
        split(&["eyJhbGciOi", "JIUzI1NiJ9.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4"]),
        pem,
    ];
    let mut all: Vec<_> =
        shapes.iter().map(|shape| (format!("before {shape} after"), shape.clone())).collect();
    for (text, secret) in [
        ("PASSWORD=correcthorse", "correcthorse"),
        ("export DB_PASSWORD=hunter2!", "hunter2!"),
        ("password: swordfish\n", "swordfish"),
        ("let password = \"correct horse\";", "correct horse"),
        ("api_key: 'zk39fkq0dk3kd'", "zk39fkq0dk3kd"),
        ("\"token\": \"q9w8e7r6t5\"", "q9w8e7r6t5"),
        ("{\\\"password\\\": \\\"pa55w0rd\\\"}", "pa55w0rd"),
        ("MY_TOKEN=q9w8e7r6t5y4", "q9w8e7r6t5y4"),
        ("curl -H 'Authorization: Bearer abcdefgh'", "abcdefgh"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("git clone https://me:s3cr3t@host/x.git", "s3cr3t"),
        ("postgres://app:letmein@db/app", "letmein"),
        ("login --token q9w8e7r6t5", "q9w8e7r6t5"),
    ] {
        all.push((text.to_owned(), secret.to_owned()));
    }
    all
}

#[test]
fn every_kind_of_secret_is_redacted_alone() {
    for (text, secret) in secrets() {
        let redacted = redact(&text);
        assert!(!redacted.contains(&secret), "{text} became {redacted}");
        let start = text.find(&secret).unwrap();
        let end = &text[start + secret.len()..];
        assert!(redacted.starts_with(&text[..start]), "{text} became {redacted}");
        assert!(redacted.ends_with(end), "{text} became {redacted}");
        assert!(redacted.contains("[secret:"), "{text} became {redacted}");
        assert_eq!(redact(&redacted), redacted, "a marker is not redacted again");
    }
}

#[test]
fn ordinary_code_and_text_stay_as_they_are() {
    let sha = Digest::of(b"x");
    for text in [
        "let token = next_token();",
        "let token = tokens[0];",
        "token: Token,",
        "token: String,",
        "pub password: Option<String>,",
        "pub api_key: String,",
        "fn check(password: &str, secret: &[u8]) -> bool {",
        "password: string;",
        "const token = await getToken();",
        "let token = self.lexer.next_token_or_eof();",
        "if token == Token::Identifier {",
        "self.token = other.token;",
        "f(token=token, password=password)",
        "secret = config.secret",
        "password = \"${DB_PASSWORD}\"",
        "PASSWORD=$DB_PASSWORD",
        "token = <your token>",
        "the password: it is checked later",
        "\"token\": \"identifier\"",
        "max_token = 4096",
        "class=\"sk-folding-cube sk-estimator-doc-link-wrapper\"",
        "http://localhost:8080/path@2x.png",
        "see https://docs.rs/regex/1.0/regex/",
        "git@github.com:owner/repo.git",
        "550e8400-e29b-41d4-a716-446655440000",
        "use --password with care",
        "authorization: approved",
        "-----BEGIN PRIVATE KEY----- is how such a file begins",
        &format!("{sha}"),
        &sha.hex(),
    ] {
        assert_eq!(redact(text), *text);
    }
}

#[test]
fn json_stays_json_and_a_field_name_counts() {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open_or_create(dir.path()).unwrap();
    let value = serde_json::json!({
        "password": "hunter2",
        "db": {"url": "postgres://a:letmein@db/x", "n": 1},
        "token_count": 12,
        "kind": "token",
        "list": ["PASSWORD=correcthorse", true, null],
    });
    let text = KnownSecrets::default().redact_json(&vault, value);
    let value: Value = serde_json::from_str(&text).unwrap();
    for secret in ["hunter2", "letmein", "correcthorse"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert_eq!(value["kind"], "token");
    assert_eq!(value["db"]["n"], 1);
    assert_eq!(value["list"][1], true);
}

#[test]
fn secrets_are_found_behind_json_escapes() {
    let secret = ["\\u0041KIA", "IOSFODNN7EXAMPLE"].concat();
    assert!(bytes_contain_secret(format!("{{\"a\": \"{secret}\"}}").as_bytes()));
    assert!(bytes_contain_secret(br#"{"steps": [{"password": "hunter2"}]}"#));
    assert!(!bytes_contain_secret(br#"{"steps": [{"path": "src/main.rs"}]}"#));
}

#[test]
fn known_secrets_are_redacted_line_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open_or_create(dir.path()).unwrap();
    let mut known = KnownSecrets::default();
    let line = "MIIEowIBAAKCAQEA7bq98jXy0123456789ab";
    known.learn(&format!(
        "-----BEGIN PRIVATE {k}-----\n{line}\n-----END PRIVATE {k}-----",
        k = "KEY"
    ));
    let redacted = known.redact(&vault, line);
    assert!(!redacted.contains(line) && redacted.starts_with("[secret:private_key:"), "{redacted}");
    assert_eq!(KnownSecrets::default().redact(&vault, line), line);
}

/// No rule matches this value. In JSON text the secret has escapes that the value has not.
#[test]
fn known_secrets_are_redacted_without_other_matches() {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open_or_create(dir.path()).unwrap();
    let mut known = KnownSecrets::default();
    known.learn("password = 'correct \"horse\"'");
    let value = serde_json::json!({ "lines": ["see: correct \"horse\"."] });
    let redacted = known.redact_json(&vault, value.clone());
    assert!(
        !redacted.contains("horse") && redacted.contains("see: [secret:password:"),
        "{redacted}"
    );
    let nothing_known = KnownSecrets::default().redact_json(&vault, value.clone());
    assert_eq!(nothing_known, value.to_string());
}

/// A log can contain thousands of tokens. Searching for each one separately would take most of an hour here.
#[test]
fn any_number_of_known_secrets_is_redacted() {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open_or_create(dir.path()).unwrap();
    let mut known = KnownSecrets::default();
    let token = |n: u32| Digest::of(&n.to_be_bytes()).hex();
    let log: String = (0..100_000).map(|n| format!("token={}\n", token(n))).collect();
    known.learn(&log);
    let redacted = known.redact(&vault, &log);
    assert_eq!(redacted.matches("[secret:password:").count(), 100_000);
    assert_ne!(known.redact(&vault, &token(99_999)), token(99_999), "without its name too");
}

/// Checks each line alone and all lines as one output.
#[test]
fn ordinary_output_stays_readable() {
    let sample = include_str!("../../tests/fixtures/secrets/ordinary.txt");
    assert!(sample.lines().count() > 40);
    for line in sample.lines() {
        assert_eq!(redact(line), line);
    }
    assert_eq!(redact(sample), sample);
}

// The lines keep their numbers, and a value is hidden where it stands without its name, too.
#[test]
fn lines_of_a_redacted_text_keep_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open_or_create(folder.path()).unwrap();
    let key = format!(
        "-----BEGIN RSA PRIVATE {k}-----\n{lines}-----END RSA PRIVATE {k}-----",
        k = "KEY",
        lines = "MIIEpAIBAAKCAQEAx5RtnvBXkOkQ4\n".repeat(3)
    );
    let text = format!("one\npassword = h3ron-of-the-marsh\n{key}\nthe h3ron-of-the-marsh\nlast\n");
    let shown = KnownSecrets::default().redact_lines(&vault, &text, &|| false).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), text.lines().count(), "{shown}");
    assert_eq!((lines[0], *lines.last().unwrap()), ("one", "last"));
    assert!(lines[2].starts_with("[secret:private_key:"), "{shown}");
    assert!(lines[7].starts_with("the [secret:"), "{shown}");
}

// As billions of ranges these would not fit into the memory.
#[test]
fn secrets_inside_one_another_are_one_range() {
    let mut known = KnownSecrets::default();
    let most = 3_000;
    for length in 3..most {
        known.add("password", &"aB3".repeat(length));
    }
    let text = format!("x{} aB3aB3aB3x ", "aB3".repeat(2 * most));
    let end = 1 + 6 * most;
    assert_eq!(known.ranges(&text), [(1..end, "password"), (end + 1..end + 10, "password")]);
}

#[test]
fn overlapping_secrets_are_one_range() {
    let mut known = KnownSecrets::default();
    for secret in ["abcdef1", "ef1ghij", "ij2", "zzabcdef1ghi"] {
        known.add("token", secret);
    }
    let ranges = |text| known.ranges(text).into_iter().map(|(range, _)| range).collect::<Vec<_>>();
    assert_eq!(ranges("-abcdef1ghij2-ij2-"), [1..13, 14..17]);
    assert_eq!(ranges("-zzabcdef1ghij-").len(), 1);
    assert_eq!(ranges("abcdef"), Vec::<Range<usize>>::new());
}
