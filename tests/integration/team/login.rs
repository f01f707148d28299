//! Logins, encryption, and servers that do not answer.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::process::Stdio;

use super::{origin, records};
use crate::harness::home::{Done, Home};
use crate::harness::postgres::{PASSWORD, Postgres};
use crate::harness::set_mode;

/// Pushes without a password in the environment.
fn push(home: &Home, url: &str) -> Done {
    let done = home.json(["evidence", "push", url]);
    assert!(!format!("{done:?}").contains(PASSWORD), "{done:#?}");
    done
}

fn message(done: &Done) -> String {
    done.document()["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn passwords_are_found_as_libpq_finds_them_and_never_shown() {
    let postgres = Postgres::start();
    let home = origin(5, 1);
    let url = postgres.url("writer", "");
    assert!(message(&push(&home, &url).exits(4)).contains("password"));
    let wrong = url.replace("writer@", "writer:wrong-one@");
    let done = push(&home, &wrong).exits(4);
    assert!(message(&done).contains("password authentication failed"), "{done:?}");
    assert!(!format!("{done:?}").contains("wrong-one"));
    let done = push(&home, &url.replace("writer@", &format!("writer:{PASSWORD}@"))).exits(0);
    assert_eq!(done.document()["server"], url.replace("%20", " "));

    let file = home.path().join(".pgpass");
    fs::write(&file, format!("127.0.0.1:{}:*:writer:{PASSWORD}\n", postgres.port())).unwrap();
    set_mode(&file, 0o644);
    assert!(message(&push(&home, &url).exits(4)).contains("chmod 600"));
    set_mode(&file, 0o600);
    assert_eq!(push(&home, &url).exits(0).document()["pushed"], 0);
    // Nothing of it is in any file of this user but that one.
    for path in crate::harness::files_below(home.path()) {
        let found =
            fs::read(&path).unwrap().windows(PASSWORD.len()).any(|it| it == PASSWORD.as_bytes());
        assert_eq!(found, path == file, "{path:?}");
    }
    // Usage errors do not repeat an address either.
    for bad in ["mysql://a:hidden@h", "postgres://a:hidden@h/d?sslmode=allow"] {
        let done = home.run(["evidence", "push", bad]).exits(5);
        assert!(!format!("{done:?}").contains("hidden"), "{done:?}");
    }
    let reader = postgres.url("reader", "").replace("reader@", &format!("reader:{PASSWORD}@"));
    let done = push(&home, &reader);
    assert_eq!(done.code, 0, "nothing is new, so nothing is inserted");
    super::add_executions(&home, 5, 2);
    assert!(message(&push(&home, &reader).exits(4)).contains("permission denied"));
    let admin =
        format!("postgres://admin@/postgres?host={}&port={}", postgres.socket(), postgres.port());
    assert!(message(&push(&home, &admin).exits(4)).contains("not made ready"));
}

#[test]
fn connections_are_encrypted_as_sslmode_says() {
    let postgres = Postgres::start();
    let home = origin(5, 3);
    let url = |parameters: &str| {
        postgres
            .url("writer", parameters)
            .replace("writer@127.0.0.1", &format!("writer:{PASSWORD}@localhost"))
    };
    push(&home, &url("?sslmode=disable")).exits(0);
    push(&home, &url("?sslmode=prefer")).exits(0);
    assert!(message(&push(&home, &url("?sslmode=require")).exits(4)).contains("does not encrypt"));

    let (key, certificate) =
        (postgres.data().join("server.key"), postgres.data().join("server.crt"));
    let mut openssl = home.command_of("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]);
    openssl
        .args([
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
        ])
        .arg(&key)
        .arg("-out")
        .arg(&certificate);
    Done::of(&mut openssl).exits(0);
    for path in [&key, &certificate] {
        set_mode(path, 0o600);
        if rustix::process::geteuid().is_root() {
            chown(path, Some(65_534), Some(65_534)).unwrap();
        }
    }
    let trusted = home.path().join("trusted.pem");
    fs::copy(&certificate, &trusted).unwrap();
    // From now on, without encryption nobody can log in.
    let rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
    fs::write(postgres.data().join("pg_hba.conf"), rules).unwrap();
    postgres.sql("ALTER SYSTEM SET ssl = on");
    postgres.restart();
    push(&home, &url("?sslmode=prefer")).exits(0);
    push(&home, &url("?sslmode=require")).exits(0);
    push(&home, &url("?sslmode=disable")).exits(4);
    let done = push(&home, &url("?sslmode=verify-full")).exits(4);
    assert!(message(&done).contains("cannot be encrypted"), "{done:?}");
    let verified = format!("?sslmode=verify-full&sslrootcert={}", trusted.display());
    assert_eq!(push(&home, &url(&verified)).exits(0).document()["total"], records(&home));
    // The certificate is one of another name.
    let done = push(&home, &url(&verified).replace("@localhost", "@127.0.0.1")).exits(4);
    assert!(message(&done).contains("cannot be encrypted"), "{done:?}");
}

#[test]
fn a_server_that_is_away_or_silent_is_reported() {
    let home = origin(5, 4);
    // The connection is accepted by the system, and nobody answers.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("postgres://a@127.0.0.1:{port}/d?connect_timeout=1");
    for command in [["push", &url], ["search", "x"], ["verify", "--team"]] {
        let mut line = vec!["evidence"];
        line.extend(command);
        match command[0] {
            "search" => line.extend(["--team", &url]),
            "verify" => line.push(&url),
            _ => {}
        }
        let done = home.json(line).exits(4);
        assert_eq!(done.error_code(), "E306", "{done:?}");
    }
    drop(listener);
    assert_eq!(push(&home, &url).exits(4).error_code(), "E308");
    // The reader is gone before the end: no panic.
    let mut child = home.child(["evidence", "push", "--setup"]);
    let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
