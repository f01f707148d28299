//! Two hundred kinds of secrets in every input of the program: none is readable in anything that the program
//! writes.

mod planted;
mod reading;

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::harness::asking;
use crate::harness::home::Done;
use crate::harness::scripted_planner::{Answer, Scripted};
use planted::{Planted, VARIABLE, needles};

const KINDS: &str = include_str!("../../../fixtures/secrets/kinds.txt");
const MORE: &str = include_str!("../../../fixtures/secrets/more.txt");
const LATER: &str = include_str!("../../../fixtures/secrets/later.txt");
/// The kinds that are not redacted; docs/evidence.md names each.
const IN_CLEAR: &[&str] = &[];
fn run(planner: &Scripted, arguments: &[&str]) -> Done {
    let temporary = planner.home.path().join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = planner.home.command();
    command.env(VARIABLE.0, VARIABLE.1).env("TMPDIR", temporary).env("RUST_LOG", "trace");
    command.args(arguments).arg("--json");
    command.arg("--evidence").arg(planner.home.evidence());
    Done::of(&mut command)
}

/// Whether a text can be a file name.
fn as_name(text: &str) -> Option<&str> {
    let fits = text.len() < 200 && !text.contains(['/', '\n', '\0', '\u{1b}', '\\']);
    fits.then_some(text)
}

/// Steps with each kind in texts, arguments, contents, file names and error messages.
fn file_steps(kinds: &[Planted]) -> Vec<Value> {
    let mut steps = Vec::new();
    for (number, kind) in kinds.iter().enumerate() {
        let path = format!("k{number}.txt");
        let mut add = |id: &str, tool: &str, arguments: Value| {
            steps.push(
                json!({"step_id": format!("{id}{number}"), "tool": tool, "arguments": arguments,
                "reason": kind.text, "title": kind.text}),
            );
        };
        add("create", "file_create", json!({"path": path, "contents": kind.text}));
        add("read", "file_read", json!({"path": path}));
        // The replaced content is recorded too, and the difference shows both.
        let more = format!("{}\nand more\n", kind.text);
        add("write", "file_write", json!({"path": path, "contents": more}));
        add("search", "file_search", json!({"pattern": "and more|.*", "root": path}));
        if let Some(name) = as_name(&kind.text) {
            add("name", "file_create", json!({"path": name, "contents": "nothing"}));
        }
    }
    steps
}

/// A plan with a command for each kind, which prints it on stdout and stderr.
fn commands(kinds: &[Planted], goal: &str) -> Value {
    let steps: Vec<Value> = kinds
        .iter()
        .enumerate()
        .map(|(number, kind)| {
            // A command cannot contain escape characters, so it only prints the file.
            let text = if kind.text.contains('\u{1b}') { "nothing" } else { &kind.text };
            json!({"description": kind.text, "explanation": kind.text, "command": format!(
                "cat k{number}.txt; cat k{number}.txt >&2; cat > copy.txt <<'END OF TEXT'\n{text}\nEND OF TEXT"
            )})
        })
        .collect();
    json!({"goal": goal, "steps": steps})
}

/// The kinds whose secret is readable, each with the place.
fn readable<'k>(kinds: &'k [Planted], places: &[(String, Vec<u8>)]) -> BTreeSet<(&'k str, String)> {
    let texts: Vec<(&str, String)> = places
        .iter()
        .map(|(place, bytes)| (place.as_str(), String::from_utf8_lossy(bytes).into_owned()))
        .collect();
    let mut found = BTreeSet::new();
    for kind in kinds {
        let needles = needles(&kind.secret);
        assert!(!needles.is_empty(), "{}", kind.name);
        for (place, text) in &texts {
            if let Some(at) = needles.iter().find_map(|needle| text.find(needle)) {
                let before = &text[text.floor_char_boundary(at.saturating_sub(60))..at];
                found.insert((kind.name.as_str(), format!("{place}, behind {before:?}")));
            }
        }
    }
    found
}

/// Everything that the program wrote outside the workspace, and the requests to the planner.
fn left_behind(planner: &Scripted) -> Vec<(String, Vec<u8>)> {
    let mut places = Vec::new();
    for entry in fs::read_dir(planner.home.path()).unwrap() {
        let path = entry.unwrap().path();
        // The workspace and the answers of the planner contain the secrets themselves.
        if !path.ends_with("space") && !path.ends_with("planner") && path.is_dir() {
            places.extend(reading::everything(&path));
        }
    }
    for number in 1..=planner.request_count() {
        let request = planner.request(number).to_string();
        places.push((format!("request {number}"), request.into_bytes()));
    }
    places
}

#[test]
fn no_planted_secret_is_readable_anywhere() {
    let mut kinds = planted::planted(KINDS, 20_261_123);
    assert_eq!(kinds.len(), 100);
    kinds.extend(planted::planted(MORE, 20_261_124));
    kinds.extend(planted::planted(LATER, 20_261_125));
    assert_eq!(kinds.len(), 202);
    let planner = Scripted::new([
        Answer::Script("cat space/all.txt >&2; exit 1"),
        Answer::Script(
            "printf '%s' '{\"goal\": \"g\", \"steps\": [{\"command\": \"cat all.txt; cat all.txt >&2; exit 3\"}]}'; \
             cat space/all.txt >&2",
        ),
        Answer::Script("cat space/all.txt"),
    ]);
    let home = &planner.home;
    let all = kinds.iter().map(|kind| kind.text.as_str()).collect::<Vec<_>>().join("\n\n");
    home.write("all.txt", &all);

    let plan =
        json!({"plan_id": "p", "intent": "MUTATE", "title": all, "steps": file_steps(&kinds)});
    home.write("steps.json", plan.to_string());
    run(&planner, &["run", "space/steps.json", "--yes"]).exits(0);
    home.write("commands.json", commands(&kinds, &all).to_string());
    run(&planner, &["run", "space/commands.json", "--yes", "--confirm", "approve"]).exits(0);
    // A step that fails with each kind in its error message.
    for (number, kind) in kinds.iter().enumerate() {
        let Some(name) = as_name(&kind.text).filter(|_| number % 8 == 0) else { continue };
        home.plan(json!([{"step_id": "s", "tool": "file_read", "arguments": {"path": format!("no {name}")}}]));
        run(&planner, &["run", "space/p.json", "--yes"]).exits(1);
    }
    // A denied step, and a plan that names its host.
    let asked = asking(json!({"step_id": "s", "tool": "file_read", "title": all, "reason": all,
        "arguments": {"path": "k1.txt"}}));
    home.plan(json!([asked]));
    run(&planner, &["run", "space/p.json", "--yes", "--confirm", "cancel"]).exits(1);
    let elsewhere = json!({"goal": all, "target": format!("{}.invalid", kinds[74].secret), "steps": [{"command": "true"}]});
    home.write("elsewhere.json", elsewhere.to_string());
    run(&planner, &["run", "space/elsewhere.json", "--yes"]).exits(2);
    // A loop: its goal, and the requests, output and answers of its planner.
    let command = planner.planner();
    let words = ["loop", "--goal", &all, "--workspace", "space", "--planner", &command, "--yes"];
    run(&planner, &words).exits(1);
    assert!(
        planner.request_count() >= 2,
        "asked again after it had printed them: {}",
        planner.request_count()
    );
    // A search fills the index first.
    run(&planner, &["evidence", "search", "example"]).exits(0);
    let mut places = left_behind(&planner);
    for place in ["execution_artifacts.content_json", "unpacked", "search_index.db", "request 2"] {
        assert!(places.iter().any(|(name, _)| name.contains(place)), "{place}");
    }
    // The reason for accepting evidence that is shorter than the kept head. (The backup of a migration is a
    // copy of these rows.)
    fs::remove_file(home.evidence().join("execution_log.db")).unwrap();
    run(&planner, &["evidence", "accept-head", "--reason", &all]).exits(0);
    places.extend(left_behind(&planner));
    let found = readable(&kinds, &places);
    let clear: BTreeSet<&str> = found.iter().map(|(name, _)| *name).collect();
    let allowed: BTreeSet<&str> = IN_CLEAR.iter().copied().collect();
    assert!(clear.len() <= 5 && clear == allowed, "{} kinds: {found:#?}", clear.len());
}

/// A secret recognized in one field is redacted in every field of the run, also without its name.
#[test]
fn secret_of_one_field_is_hidden_everywhere() {
    let secret = "kestrel-9x-Moorland";
    let clear = |planner: &Scripted| -> BTreeSet<String> {
        reading::everything(&planner.home.evidence())
            .into_iter()
            .filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains(secret))
            .map(|(place, _)| place)
            .collect()
    };
    let read = |id: &str, path: &str, reason: &str| json!({"step_id": id, "tool": "file_read", "reason": reason, "arguments": {"path": path}});
    // The reason of a step reveals the secret; titles, names, contents and errors only contain it.
    let planner = Scripted::new([]);
    let (name, contents) = (format!("{secret}.txt"), format!("one {secret} two\n"));
    planner.home.write("a.txt", &contents);
    let plan = json!([
        {"step_id": "a", "tool": "file_create", "title": secret,
            "arguments": {"path": name, "contents": contents}},
        read("b", &name, "see"),
        read("c", "a.txt", &format!("DB_PASSWORD={secret}")),
        read("d", &format!("none/{secret}"), "fails"),
    ]);
    planner.home.plan(plan);
    run(&planner, &["run", "space/p.json", "--yes"]).exits(1);
    assert_eq!(clear(&planner), BTreeSet::new());
    // A file that the first step reads reveals the secret; the plan does not have it, and later outputs only
    // contain it.
    let planner = Scripted::new([]);
    planner.home.write("settings.env", format!("DB_PASSWORD={secret}\n"));
    planner.home.write("a.txt", &contents);
    planner.home.plan(json!([
        read("a", "settings.env", "see"),
        read("b", "a.txt", "see"),
        {"step_id": "c", "tool": "file_search", "arguments": {"pattern": "one", "root": "a.txt"}},
        {"step_id": "d", "tool": "file_write", "arguments": {"path": "a.txt", "contents": "gone\n"}},
    ]));
    run(&planner, &["run", "space/p.json", "--yes"]).exits(0);
    assert_eq!(clear(&planner), BTreeSet::new());
}
