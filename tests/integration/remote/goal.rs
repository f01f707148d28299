//! A goal on another host (SPEC §10): the planner is told its system and programs, and its commands run there.

use serde_json::json;

use super::plans::home;
use crate::harness::sshd::Sshd;

/// A planner that answers with this script, which has the request in `$request`.
fn planner(home: &crate::harness::home::Home, script: &str) -> String {
    let file = home.path().join("planner.sh");
    std::fs::write(&file, format!("request=$(cat)\n{script}\n")).unwrap();
    format!("sh '{}'", file.display())
}

#[test]
fn commands_for_a_goal_run_on_its_host() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    let planner = planner(
        &home,
        r#"case $request in
        *'"looked":[]'*) echo '{"looks": [{"host": "loopback"}, {"host": "elsewhere"}]}' ;;
        *'"programs":['*) echo '{"goal": "g", "steps": [{"command": "pwd -P > here.txt", "verificationCommand": "test -s here.txt"}]}' ;;
        *) exit 1 ;;
        esac"#,
    );
    let words = ["loop", "--goal", "g", "--target", "loopback", "--yes", "--workspace", "space"];
    let done = home.json(words.into_iter().chain(["--planner", &planner])).exits(0);
    let document = done.document();
    assert_eq!(document["stop_reason"]["code"], "completed");
    // No check of the workspace can tell what commands change on a host.
    assert_eq!(document["stop_reason"]["detail"]["verified"], false);
    let looks = &document["attempts"][0]["looks"];
    assert_eq!((&looks[0]["ok"], &looks[1]["ok"]), (&json!(true), &json!(false)), "{looks}");
    let there = std::fs::read_to_string(sshd.home().join("here.txt")).unwrap();
    assert_eq!(there.trim(), std::fs::canonicalize(sshd.home()).unwrap().to_str().unwrap());
    assert!(!home.file("here.txt").exists());
    let shown = home.json(["evidence", "show", document["loop_id"].as_str().unwrap()]).exits(0);
    assert_eq!(shown.document()["loop"]["target"], "loopback");
}

#[test]
fn a_host_that_cannot_be_reached_ends_the_loop_before_its_start() {
    let sshd = Sshd::start();
    let home = home(&sshd);
    let planner = planner(&home, "echo asked >&2; exit 1");
    for target in ["elsewhere.invalid", "-oProxyCommand=x"] {
        let target = format!("--target={target}");
        let words = ["loop", "--goal", "g", &target, "--yes", "--workspace", "space"];
        let done = home.run(words.into_iter().chain(["--planner", &planner]));
        assert_ne!(done.code, 0, "{done:?}");
        assert!(!done.stderr.contains("asked"), "{done:?}");
    }
    assert_eq!(home.json(["evidence", "search"]).exits(0).lines().len(), 0);
}
