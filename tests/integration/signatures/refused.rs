//! Where nothing is signed, nothing runs and nothing is recorded.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// Runs the plan with this script in place of `ssh-keygen`. The real one is `$REAL`.
fn run_with(home: &Home, script: &str) -> Done {
    let folder = home.path().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ssh-keygen");
    let real = succeeds("sh", &["-c", "command -v ssh-keygen"]);
    std::fs::write(&path, format!("#!/bin/sh\nREAL={}\n{script}\n", real.trim())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let paths = std::env::var("PATH").unwrap();
    let mut command = home.command();
    command.args(["run", "space/p.json", "--yes", "--json", "--evidence"]).arg(home.evidence());
    command.env("PATH", format!("{}:{paths}", folder.display()));
    Done::of(&mut command)
}

#[test]
fn nothing_runs_when_ssh_keygen_does_not_sign() {
    for (script, said) in [
        ("kill -KILL $$", "ended by signal 9"),
        ("kill -TERM $$", "ended by signal 15"),
        ("echo 'agent refused operation' >&2; exit 1", "agent refused operation"),
        ("exit 0", "no signature of this document"),
        ("echo wombat", "no signature of this document"),
        // Another document, another purpose, more than a signature.
        (
            "if [ \"$2\" = sign ]; then echo other | $REAL \"$@\"; else exec $REAL \"$@\"; fi",
            "incorrect signature",
        ),
        (
            "if [ \"$2\" = sign ]; then exec $REAL -Y sign -n git -f \"$6\"; else exec $REAL \"$@\"; fi",
            "another purpose",
        ),
        (
            "if [ \"$2\" = sign ]; then $REAL \"$@\"; echo more; else exec $REAL \"$@\"; fi",
            "no signature of this document",
        ),
        // The check of the signature fails.
        (
            "if [ \"$2\" = sign ]; then exec $REAL \"$@\"; else exit 1; fi",
            "no signature of this document",
        ),
    ] {
        let (home, _) = signing_home();
        let done = run_with(&home, script);
        nothing_ran(&home, &done);
        assert!(done.stdout.contains(said), "{script}: {done:?}");
    }
}

/// The time limit ends the program and what it has started.
#[test]
fn nothing_runs_when_ssh_keygen_is_too_slow() {
    let (home, key) = signing_home();
    home.settings(format!(
        "[signatures]\nkey = {:?}\nprincipal = 'ada'\nsign = ['authorizations']\nseconds = 1\n",
        key.to_str().unwrap()
    ));
    let done = run_with(&home, "sleep 1000 & echo $! > \"$HOME/slow\"; wait");
    nothing_ran(&home, &done);
    assert!(done.stdout.contains("did not finish within 1 s"), "{done:?}");
    let process = std::fs::read_to_string(home.path().join("slow")).unwrap();
    assert!(!Path::new("/proc").join(process.trim()).join("root").exists());
}

#[test]
fn nothing_runs_without_the_key_or_its_passphrase() {
    let (home, _) = signing_home();
    let absent = home.path().join("absent");
    settings(&home, &absent, &["authorizations"]);
    let done = run(&home);
    nothing_ran(&home, &done);
    assert!(done.stdout.contains("absent"), "{done:?}");
    // Nobody can be asked here, and the plan is no passphrase.
    let locked = key(&home, "locked", PASSPHRASE);
    settings(&home, &locked, &["authorizations"]);
    let done = run(&home);
    nothing_ran(&home, &done);
    assert!(done.stdout.contains("incorrect passphrase"), "{done:?}");
    // A public key without an agent.
    settings(&home, &locked.with_extension("pub"), &["authorizations"]);
    let mut command = home.command();
    command.args(["run", "space/p.json", "--yes", "--json", "--evidence"]).arg(home.evidence());
    let done = Done::of(command.env_remove("SSH_AUTH_SOCK"));
    nothing_ran(&home, &done);
}

#[test]
fn nothing_runs_with_faulty_settings() {
    for text in ["key = 'relative'\nprincipal = 'a'", "sign = ['authorizations']", "sing = []"] {
        let (home, _) = signing_home();
        home.settings(format!("[signatures]\n{text}\n"));
        let done = run(&home).exits(5);
        assert!(done.stdout.contains("signatures") || done.stdout.contains("sing"), "{done:?}");
        assert!(!home.evidence().exists() && !home.file("new.txt").exists());
    }
}

/// A loop whose plan is authorized in advance signs each authorization, or ends.
#[test]
fn a_run_whose_end_is_not_signed_says_so() {
    let (home, _) = signing_home();
    // Only the first signature succeeds.
    let script = "if [ \"$2\" = sign ] && [ -e \"$HOME/signed\" ]; then exit 1; fi\n\
                  [ \"$2\" = sign ] && touch \"$HOME/signed\"\nexec $REAL \"$@\"";
    let done = run_with(&home, script).exits(0);
    let result = done.document();
    let why = result["not_signed"].as_str().unwrap();
    assert!(why.starts_with("ssh-keygen refused"), "the authorization is signed: {why}");
    assert!(home.file("new.txt").exists());
    assert_eq!(home.texts("SELECT kind FROM signatures", ()), ["authorization"]);
    let shown = result["run_id"].as_str().unwrap().to_owned();
    home.json(["evidence", "sign", &shown]).exits(0);
    assert_eq!(
        home.texts("SELECT kind FROM signatures ORDER BY id", ()),
        ["authorization", "run_end"]
    );
}
