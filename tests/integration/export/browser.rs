//! The report in a browser without a network: it loads nothing, and everything in it is there.

use std::fs;

use assert_cmd::Command;
use serde_json::Value;

use super::{first_run, further_runs, home, run_id};
use crate::harness::home::{Done, Home};

/// What Chromium has made of a page, without a network, and what it had to say.
fn opened(home: &Home, page: &std::path::Path) -> Done {
    let mut command = Command::new("unshare");
    command.args([
        "--net",
        "--map-root-user",
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
    ]);
    command.arg(format!("--user-data-dir={}", home.path().join("chromium").display()));
    command.args(["--enable-logging=stderr", "--v=0", "--dump-dom"]);
    command.arg(format!("file://{}", page.display())).env("HOME", home.path());
    Done::of(&mut command).exits(0)
}

/// A page whose style is another one than its policy names shows that the browser says what it refuses.
#[test]
#[ignore = "needs Chromium"]
fn a_browser_without_network_shows_the_whole_report() {
    let home = home();
    let first = first_run(&home);
    further_runs(&home);
    let page = home.path().join("report.html");
    let shown = page.display().to_string();
    let line = ["evidence", "export", "--format", "html", "--out", &shown, "--json"];
    let written: Value = home.run(line).exits(0).document();
    assert_eq!(written["executions"], 9);
    let done = opened(&home, &page);
    let refused = |done: &Done| done.stderr.lines().any(|line| line.contains("CONSOLE"));
    assert!(!refused(&done), "{}", done.stderr);
    let dom = &done.stdout;
    for text in
        ["<h2>Executions over time</h2>", "<h2>Times</h2>", run_id(&first), "Made by Countersign"]
    {
        assert!(dom.contains(text), "{text} is missing in {dom}");
    }
    let source = fs::read_to_string(&page).unwrap();
    for element in ["<section", "<details", "<svg", "<rect", "<table", "<tr", "<td", "<pre"] {
        assert_eq!(dom.matches(element).count(), source.matches(element).count(), "{element}");
    }

    let changed = home.path().join("changed.html");
    fs::write(&changed, source.replace("color-scheme: light dark;", "color-scheme: dark;"))
        .unwrap();
    assert!(refused(&opened(&home, &changed)), "a change of the style would be refused");
}
