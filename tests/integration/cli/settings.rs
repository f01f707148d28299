//! `settings`: listing, exporting and importing, and what an import needs to be allowed.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::home::{Done, Home};

fn settings(home: &Home) -> PathBuf {
    home.path().join(".config/countersign/settings.toml")
}

fn with(text: &str) -> Home {
    let home = Home::new();
    let file = settings(&home);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    home
}

const OWN: &str = "# mine\ntheme = 'dark' # night\n[policy]\nwalls = 'required' # always\n[model]\nkey = 'sk-heron'\n";

#[test]
fn every_setting_is_listed_without_secrets() {
    let home = with(OWN);
    let done = home.json(["settings"]).exits(0);
    assert!(!done.stdout.contains("heron"), "{}", done.stdout);
    let document = done.document();
    let list = document["settings"].as_array().unwrap();
    let of = |key: &str| list.iter().find(|it| it["key"] == key).unwrap();
    assert_eq!(of("theme")["value"], "dark");
    assert_eq!(
        (&of("theme")["source"], &of("zoom")["source"]),
        (&json!("file"), &json!("default"))
    );
    assert_eq!(
        (&of("model.key")["value"], &of("model.key")["shown"]),
        (&Value::Null, &json!("set, not shown"))
    );
    assert_eq!(of("policy.walls")["weaker_than_default"], false);
    assert!(list.len() > 35 && list.iter().all(|it| !it["protects"].as_str().unwrap().is_empty()));
    let plain = home.run(["settings"]).exits(0);
    assert!(plain.stdout.contains("policy.walls") && !plain.stdout.contains("heron"));
    // Without a file, all of them are the defaults.
    let document = Home::new().json(["settings"]).exits(0).document();
    let all = document["settings"].as_array().unwrap();
    assert!(all.iter().all(|it| it["source"] == "default"));
}

#[test]
fn an_export_is_imported_elsewhere() {
    let home = with(OWN);
    let out = home.path().join("out.toml");
    let out = out.to_str().unwrap();
    let document = home.json(["settings", "export", "--out", out]).exits(0).document();
    assert_eq!(document["left_out"], json!(["model.key"]));
    let text = fs::read_to_string(out).unwrap();
    assert!(!text.contains("heron") && document["toml"] == text.as_str(), "{text}");
    assert_eq!(home.run(["settings", "export"]).exits(0).stdout, text);
    let same = home.json(["settings", "import", out, "--yes"]).exits(0).document();
    assert_eq!(same["differences"], json!([]));

    let other = with("# theirs\n");
    let dry = other.json(["settings", "import", out, "--dry-run"]).exits(0).document();
    assert_eq!(dry["differences"][0]["key"], "theme");
    assert_eq!(dry["differences"][0]["applied"], false);
    // Nothing is changed without a confirmation.
    assert_eq!(other.json(["settings", "import", out]).exits(3).error_code(), "E002");
    assert_eq!(fs::read_to_string(settings(&other)).unwrap(), "# theirs\n");
    let document = other.json(["settings", "import", out, "--yes"]).exits(0).document();
    let copy = document["copy"].as_str().unwrap();
    assert_eq!(fs::read_to_string(copy).unwrap(), "# theirs\n");
    let now = fs::read_to_string(settings(&other)).unwrap();
    assert!(now.starts_with("# theirs\n") || now.contains("# theirs"), "{now}");
    assert!(now.contains("theme = \"dark\"") && now.contains("walls = \"required\""), "{now}");
}

#[test]
fn weaker_protection_has_to_be_named() {
    let home = with(OWN);
    home.write("weak.toml", "theme = 'light'\n[policy]\nwalls = 'off'\n");
    let file = "space/weak.toml";
    let dry = home.run(["settings", "import", file, "--dry-run"]).exits(0);
    assert!(dry.stdout.contains("WEAKENS PROTECTION"), "{}", dry.stdout);
    // A plan that would do it is dangerous.
    let mut risk = home.command();
    risk.args(["risk", "--", "countersign settings import weak.toml --yes"]);
    let judged = Done::of(&mut risk).exits(0);
    assert!(judged.stdout.starts_with("dangerous"), "{}", judged.stdout);
    let refused = home.run(["settings", "import", file, "--yes"]).exits(3);
    assert!(refused.stderr.contains("policy.walls"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(settings(&home)).unwrap(), OWN);
    let _ = home.run(["settings", "import", file, "--yes", "--weaken", "theme2"]).exits(5);
    let _ = home.run(["settings", "import", file, "--yes", "--without", "policy.walls"]).exits(0);
    let now = fs::read_to_string(settings(&home)).unwrap();
    assert_eq!(now, OWN.replace("'dark'", "\"light\""));
    let _ = home.run(["settings", "import", file, "--yes", "--weaken", "policy.walls"]).exits(0);
    let now = fs::read_to_string(settings(&home)).unwrap();
    assert!(now.contains("walls = \"off\" # always"), "{now}");
}

#[test]
fn a_faulty_file_says_where_and_changes_nothing() {
    let home = with(OWN);
    for (text, part) in [
        ("theme = 'light'\nzoom = 9\n", "line 2"),
        ("theme = 'light'\n\n[policy\n", "line 3"),
        ("heron = 1\n", "no setting"),
        ("[shortcuts]\npalette = 'Ctrl+O'\n", "open_plan"),
    ] {
        home.write("bad.toml", text);
        let refused = home.run(["settings", "import", "space/bad.toml", "--yes"]).exits(5);
        assert!(refused.stderr.contains(part), "{text}: {}", refused.stderr);
        assert_eq!(fs::read_to_string(settings(&home)).unwrap(), OWN);
    }
    let _ = home.run(["settings", "import", "space/absent.toml", "--yes"]).exits(5);
    fs::write(settings(&home), "zoom = = 1").unwrap();
    let refused = home.run(["settings"]).exits(5);
    assert!(refused.stderr.contains("settings.toml"), "{}", refused.stderr);
}

/// Neither a rule that lowers commands nor a table that hides a stricter one comes in without its name.
#[test]
fn what_loosens_by_coming_has_to_be_named() {
    let home = with("[planners.'plan.py']\nread = false\n");
    let before = fs::read_to_string(settings(&home)).unwrap();
    let rule = "[[policy.command_rules]]\nid = 'x'\nprefix = ['rm']\nlevel = 'caution'\nreason = 'r'\n\
                must_match = ['rm -rf x']\nmust_not_match = ['ls']\n";
    let table = "[planners.'/abs/plan.py']\nnetwork = false\n";
    for (text, key) in [(rule, "policy.command_rules"), (table, "planners./abs/plan.py.network")] {
        home.write("loose.toml", text);
        let refused = home.run(["settings", "import", "space/loose.toml", "--yes"]).exits(3);
        assert!(refused.stderr.contains(key), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(settings(&home)).unwrap(), before);
    }
    home.write("strict.toml", rule.replace("caution", "blocked"));
    let _ = home.run(["settings", "import", "space/strict.toml", "--yes"]).exits(0);
}

#[test]
fn an_export_of_what_is_signed_comes_back() {
    let text = "[signatures]\nkey = '/k'\nprincipal = 'ada'\nsign = ['authorizations']\nrequired = 2\n\
                allowed_signers = '/a'\n";
    let home = with(text);
    let out = home.path().join("out.toml");
    let out = out.to_str().unwrap();
    let _ = home.run(["settings", "export", "--out", out]).exits(0);
    let same = home.json(["settings", "import", out, "--yes"]).exits(0).document();
    assert_eq!(same["differences"], json!([]));
    // Another computer needs a key first.
    let other = with("zoom = 1.0\n");
    let refused = other.run(["settings", "import", out, "--yes"]).exits(5);
    assert!(refused.stderr.contains("signatures.allowed_signers"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(settings(&other)).unwrap(), "zoom = 1.0\n");
    fs::write(
        settings(&other),
        "[signatures]\nkey = '/k2'\nallowed_signers = '/a2'\nprincipal = 'eve'\n",
    )
    .unwrap();
    let _ = other.run(["settings", "import", out, "--yes"]).exits(0);
    let now = fs::read_to_string(settings(&other)).unwrap();
    assert!(now.contains("required = 2") && now.contains("'/k2'"), "{now}");
}

#[test]
fn an_export_replaces_nothing_by_itself() {
    let home = with(OWN);
    let own = settings(&home);
    let own = own.to_str().unwrap();
    for force in [&[][..], &["--force"]] {
        let command = [&["settings", "export", "--out", own][..], force].concat();
        let refused = home.run(command).exits(5);
        assert!(refused.stderr.contains("settings file"), "{}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(own).unwrap(), OWN);
    home.write("other.toml", "other");
    let _ = home.run(["settings", "export", "--out", "space/other.toml"]).exits(5);
    let _ = home.run(["settings", "export", "--out", "space/other.toml", "--force"]).exits(0);
}

/// Neither a pipe nor a device is waited for, read or replaced.
#[test]
fn settings_are_regular_files() {
    let home = with("");
    let file = settings(&home);
    let pipe = home.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    let refused = home.run(["settings", "import", pipe.to_str().unwrap(), "--yes"]).exits(5);
    assert!(refused.stderr.contains("no regular file"), "{}", refused.stderr);
    let refused = home.run(["settings", "import", "/dev/zero", "--yes"]).exits(5);
    assert!(refused.stderr.contains("no regular file"), "{}", refused.stderr);
    home.write("zoom.toml", "zoom = 1.5\n");
    fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into()).unwrap();
    for command in [
        &["settings"][..],
        &["settings", "export"],
        &["settings", "import", "space/zoom.toml", "--yes"],
        &["risk", "--", "ls"],
    ] {
        let refused = home.run(command.iter().copied()).exits(5);
        assert!(refused.stderr.contains("no regular file"), "{command:?}: {}", refused.stderr);
    }
    assert!(!file.metadata().unwrap().is_file(), "it is still a pipe");
    let report = home.json(["doctor"]).exits(0).document();
    assert_eq!(report["settings"]["fault"], "it is no regular file");
}

#[test]
fn a_fault_of_the_present_settings_is_theirs() {
    let home = with("zoom = 9\n");
    home.write("good.toml", "zoom = 1.5\n");
    let refused = home.run(["settings", "import", "space/good.toml", "--yes"]).exits(5);
    let is_theirs =
        refused.stderr.contains("settings.toml") && !refused.stderr.contains("good.toml");
    assert!(is_theirs, "{}", refused.stderr);
}
