//! The bug report on the command line.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use serde_json::Value;

use super::{CONTENT, home};
use crate::harness::home::{Done, Home};

fn report(home: &Home) -> Value {
    home.json(["doctor"]).exits(0).document()
}

#[test]
fn report_has_what_is_needed_and_nothing_of_the_plan() {
    let home = home();
    let _ = home.json(["run", "space/p.json", "--yes", "--log-level", "debug"]).exits(1);
    let report = report(&home);
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert!(report["system"]["processor"].is_string() && report["session"]["display"].is_string());
    let evidence = &report["evidence"];
    assert_eq!((&evidence["sound"], &evidence["runs"]), (&true.into(), &1.into()));
    assert!(evidence["format"].as_u64() > Some(6) && evidence["records"].as_u64() > Some(1));
    let lines = report["log"]["lines"].as_array().unwrap();
    let has = |text: &str| lines.iter().any(|line| line.as_str().unwrap().contains(text));
    assert!(has("run begun run=") && has("started command=doctor"), "{report:#}");
    assert_eq!(evidence["folder"], "~/evidence");
    assert_eq!(report["log"]["folder"], "~/.local/state/countersign/log");
    let text = home.run(["doctor"]).exits(0).stdout;
    for text in [&report.to_string(), &text] {
        assert!(!text.contains(CONTENT), "{text}");
        assert!(!text.contains(&home.path().display().to_string()), "{text}");
    }
    for part in ["countersign 0.", "\nsession\n  ", "\nwalls\n", "  verified: ", "run begun run="] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let alias = Done::of(
        home.command().args(["diagnostics", "--json"]).arg("--evidence").arg(home.evidence()),
    );
    assert_eq!(alias.exits(0).document()["settings"], report["settings"]);
}

#[test]
fn settings_are_redacted_and_say_nothing_of_the_work() {
    let home = Home::new();
    let rule = "[[policy.command_rules]]\nid = 'mine'\nprefix = ['wombat']\nlevel = 'blocked'\nreason = 'no'\nmust_match = ['wombat all']\nmust_not_match = ['ls']\n";
    home.settings(format!(
        "theme = 'dark'\neditor_command = 'code --token ghp_16C7e42F292c6912E7710c838347Ae178B4a {{file}}'\nsearches = ['wombat']\n\
         inbox = '{}/inbox'\n[[recent]]\npath = '/wombat.json'\n{rule}",
        home.path().display()
    ));
    let text = report(&home)["settings"]["text"].as_str().unwrap().to_owned();
    for part in
        ["theme = \"dark\"", "[secret:", "command_rules = \"1 rules\"", "inbox = \"~/inbox\""]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("ghp_16C7") && !text.contains(CONTENT), "{text}");
}

#[test]
fn report_is_made_also_of_what_is_broken() {
    let home = home();
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(1);
    home.settings("api_key = 'hunter2secret'\ntheme =");
    let settings = report(&home)["settings"].clone();
    assert!(settings["fault"].as_str().unwrap().starts_with("TOML parse error at line 2"));
    assert!(!settings.to_string().contains("hunter2secret"));
    // Somebody else has changed a record.
    home.settings("");
    let triggers = home.texts("SELECT name FROM sqlite_schema WHERE type = 'trigger'", []);
    for trigger in triggers {
        home.sql().execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    let changed = report(&home)["evidence"].clone();
    assert_ne!(changed["sound"], true, "{changed}");
    assert!(changed["note"].is_string(), "{changed}");
    // The database is no database any more.
    let mut file = fs::OpenOptions::new().write(true).open(home.database()).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&[b'x'; 4_096]).unwrap();
    drop(file);
    let broken = report(&home)["evidence"].clone();
    assert!(broken["sound"].is_null() && broken["note"].is_string(), "{broken}");
    // The log is a link.
    fs::remove_dir_all(super::folder(&home)).unwrap();
    std::os::unix::fs::symlink(home.path(), super::folder(&home)).unwrap();
    let log = report(&home)["log"].clone();
    assert!(log["fault"].is_string() && log["lines"].as_array().unwrap().is_empty(), "{log}");
}

/// A secret needs no shape: the key of a model is one by its place.
#[test]
fn secrets_of_the_settings_are_never_in_the_report() {
    let home = Home::new();
    for text in [
        "[model]\nkey = 'wombat'",
        "model = { key = 'wombat' }",
        "\"model\".\"key\" = 'wombat'",
        "zoom = 9\nmodel.key = 'wombat'",
        "[modle]\nkey = 'wombat'",
        "[model]\nkey = wombat",
        "model.key = 'wombat'\nzoom = = 1",
        "team = 'postgres://me:wombat@db/x'",
        "team = 'host=db password=wombat'",
        "team = 'postgres://db/x?pass%77ord=wombat'",
        "[model]\nurl = 'https://wombat@h'",
    ] {
        home.settings(text);
        let settings = report(&home)["settings"].clone();
        assert!(!settings.to_string().contains("wombat"), "{text}: {settings}");
        let plain = home.run(["doctor"]).exits(0).stdout;
        assert!(!plain.contains("wombat"), "{text}: {plain}");
    }
}
