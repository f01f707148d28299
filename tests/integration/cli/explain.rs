//! `explain`: every name leads to its entry, and the pages of the documentation say the same.

use assert_cmd::Command;

use crate::harness::home::{Done, Home, PROGRAM};

#[test]
fn a_name_leads_to_its_entry() {
    let home = Home::new();
    for (arguments, expected) in [
        (&["explain", "e204"][..], "E204: outside the workspace\n  A path leads out"),
        (&["explain", "file_read"], "file_read: reads one file\n  It only reads."),
        (&["explain", "3"], "exit 3: not authorized"),
        (&["explain", "file", "hash", "is", "<sha256>"], "file hash is <sha256>\n  The file has"),
        (&["explain", "reconcile"], "reconcile\n  Compares the files"),
        (&["explain"], "Words: plan, step, workspace"),
    ] {
        let said = home.run(arguments.iter().copied()).exits(0).stdout;
        assert!(said.starts_with(expected), "{arguments:?}: {said}");
    }
    let said = home.run(["explain", "E302"]).exits(0).stdout;
    assert!(said.contains("\n  What to do: Remove the cause"), "{said}");
}

#[test]
fn a_rule_of_the_settings_is_explained() {
    let home = Home::new();
    home.settings(
        "[[policy.command_rules]]\nid = 'no-deploy'\nprefix = ['make', 'deploy']\nlevel = 'blocked'\n\
         reason = 'Reaches the customers.'\nmust_match = ['make deploy']\nmust_not_match = ['make']\n",
    );
    assert!(home.run(["risk", "--", "make", "deploy"]).stdout.contains("no-deploy"));
    let said = home.run(["explain", "no-deploy"]).exits(0).stdout;
    assert!(said.starts_with("no-deploy: blocked\n  Reaches the customers."), "{said}");
    home.json(["explain", "no-deploy"]).exits(0).document();
    for words in [&["explain"][..], &["explain", "--search", "customers"]] {
        let said = home.run(words.iter().copied()).exits(0).stdout;
        assert!(said.contains("no-deploy"), "{words:?}: {said}");
    }
    let refused = home.run(["explain", "deploy"]).exits(5);
    assert!(refused.stderr.contains("Did you mean: no-deploy"), "{refused:?}");
    // With faulty settings, what the program itself has is explained all the same.
    home.settings("theme = 7\n");
    home.run(["explain", "E204"]).exits(0);
}

/// Also where the name of a planner or a faulty value has one.
#[test]
fn the_settings_never_print_a_secret() {
    let home = Home::new();
    let said = home.run(["settings"]).exits(0).stdout;
    assert!(!said.contains("set, not shown"), "nothing is set: {said}");
    home.settings("[planners.'curl https://u:heronegg@h/x']\nnetwork = true\n");
    for done in [home.run(["settings"]), home.json(["settings"])] {
        let done = done.exits(0);
        assert!(!done.stdout.contains("heronegg") && done.stdout.contains("set, not shown"));
    }
    home.settings("");
    let import = home.write("other.toml", "editor_command = 'code https://u:heronegg@h/'\n");
    let import = import.display().to_string();
    let done = home.run(["settings", "import", &import, "--dry-run"]).exits(0);
    assert!(!format!("{done:?}").contains("heronegg"), "{done:?}");
    let plan = home.plan(serde_json::json!([]));
    for faulty in
        ["team = ['postgres://ada:heronegg@h/d']", "[model]\nurl = ['https://u:heronegg@h/']"]
    {
        home.settings(faulty);
        let plan = plan.display().to_string();
        for words in
            [&["settings"][..], &["settings", "export"], &["run", &plan, "--yes"], &["doctor"]]
        {
            let done = home.run(words.iter().copied());
            assert!(!format!("{done:?}").contains("heronegg"), "{words:?}: {done:?}");
        }
    }
}

#[test]
fn an_unknown_name_is_an_error_that_helps() {
    let home = Home::new();
    let refused = home.run(["explain", "file_"]).exits(5);
    assert!(refused.stderr.contains("Did you mean: file_read, file_write"), "{refused:?}");
    let refused = home.run(["explain", "xyzzy"]).exits(5);
    assert!(refused.stderr.contains("lists all names"), "{refused:?}");
    assert_eq!(home.json(["explain", "xyzzy"]).exits(5).error_code(), "E014");
    home.run(["explain", "--search", "xyzzy"]).exits(5);
}

/// `Home::json` compares the document with the schema that the program prints.
#[test]
fn entries_are_printed_as_json() {
    let home = Home::new();
    let document = home.json(["explain", "E106"]).exits(0).document();
    let entry = &document["entries"][0];
    assert_eq!((entry["section"].as_str(), entry["key"].as_str()), (Some("codes"), Some("E106")));
    assert!(entry["next"].as_str().unwrap().starts_with("Nothing has to be mended"));
    let all = home.json(["explain"]).exits(0).document();
    let entries = all["entries"].as_array().unwrap();
    let in_section = |name: &str| entries.iter().filter(|it| it["section"] == name).count();
    assert_eq!((in_section("tools"), in_section("exit_codes")), (19, 7));
    assert!(in_section("rules") > 40 && in_section("codes") > 30);
    let found = home.json(["explain", "--search", "container"]).exits(0).document();
    assert!(found["entries"].as_array().unwrap().iter().any(|it| it["section"] == "rules"));
}

/// The page of exit codes, the help of the command line and `explain` have the same codes.
#[test]
fn exit_codes_are_the_same_everywhere() {
    let page = include_str!("../../../docs/exit-codes.md");
    let help = Done::of(Command::new(PROGRAM).arg("--help")).exits(0).stdout;
    for exit in countersign::help::EXITS {
        assert!(page.contains(&format!("\n| {} | ", exit.code)), "{}", exit.code);
        let line = format!("  {}  {}", exit.code, exit.meaning);
        assert!(help.contains(&line), "{line}");
    }
    let rows = page.lines().filter(|line| {
        line.strip_prefix("| ").is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
    });
    assert_eq!(rows.count(), countersign::help::EXITS.len());
}
