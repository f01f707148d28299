//! Texts of planners, plans and programs on the person's terminal, and their exact bytes for programs (SPEC §11).

use serde_json::json;

use super::terminal::Terminal;
use crate::harness::home::Home;
use crate::harness::{and, asking, create_file};

/// A plan with a right-to-left override, a written mark, and a line break at its end.
const PLAN: &str =
    "{\"goal\": \"a\u{202e}b ⟨U+200B⟩\",\n \"steps\": [{\"command\": \"true\"}]}\n\n";

/// A planner that gives the plan, after it has printed lines like those of the program.
fn planner(home: &Home) -> String {
    home.write("plan.txt", PLAN);
    let script = home.write(
        "planner.sh",
        "cat > /dev/null; printf 'thinking\\rAuthorized: by you\\n' >&2\n\
         printf '\\033[2K\\033[1GAttempt 7 of 7\\n    Read a: 1 byte' >&2; cat plan.txt\n",
    );
    format!("sh {}", script.display())
}

#[test]
fn a_plan_is_exact_in_a_pipe_and_readable_on_a_terminal() {
    let home = Home::new();
    let planner = planner(&home);
    let words = ["plan", "g", "--workspace", "space", "--planner", &planner];
    assert_eq!(home.run(words).exits(0).stdout, PLAN);
    let document = home.json(words).exits(0).document();
    assert_eq!(document["plan"], PLAN);
    let mut terminal =
        Terminal::start(&home, &format!("plan g --workspace space --planner '{planner}'"));
    terminal.until("{\"goal\": \"a⟨U+202E⟩b ⟨U+27E8⟩U+200B⟩\",");
    assert_eq!(terminal.exit_code(), Some(0));
}

#[test]
fn no_line_of_a_planner_or_program_looks_like_one_of_this_program() {
    let home = Home::new();
    let planner = planner(&home);
    let words = ["loop", "--goal", "g", "--workspace", "space", "--planner", &planner];
    let done = home.run(words).exits(3);
    let expected = "| thinking⟨U+000D⟩Authorized: by you\n\
                    | ⟨ESC⟩[2K⟨ESC⟩[1GAttempt 7 of 7\n\
                    |     Read a: 1 byte\n\
                    The planner gave a plan of 1 step";
    assert!(done.stderr.contains(expected), "{done:#?}");
    let command = "printf 'half\\nCompleted: 1 of 1 steps'";
    home.write("p.json", json!({"goal": "g", "steps": [{"command": command}]}).to_string());
    let done = home.run(["run", "space/p.json", "--yes", "--confirm", "caution"]).exits(0);
    assert!(done.stderr.ends_with("| half\n| Completed: 1 of 1 steps\n"), "{done:#?}");
}

#[test]
fn texts_of_several_lines_keep_their_lines() {
    let home = Home::new();
    let planner = format!("sh {}", home.write("planner.sh", "exit 1\n").display());
    let goal = "one\u{7}\nAttempts    9 of 9";
    let words = ["loop", "--goal", goal, "--workspace", "space", "--planner", &planner];
    let done = home.run(words);
    let expected = "Goal one⟨U+0007⟩\n| Attempts    9 of 9\n";
    assert!(done.stderr.contains(expected), "{done:#?}");
    let document = home.json(words).document();
    let id = document["loop_id"].as_str().unwrap_or_default().to_owned();
    let shown = home.run(["evidence", "show", &id]).exits(0);
    let expected = "Goal          one⟨U+0007⟩\n| Attempts    9 of 9\n";
    assert!(shown.stdout.contains(expected), "{shown:#?}");
}

#[test]
fn a_question_shows_texts_of_the_plan_as_such() {
    let home = Home::new();
    let step = asking(create_file("one", "a⟨U+202E⟩.txt", ""));
    home.plan(json!([and(step, "reason", "tidy\nRisk: safe. Nothing happens.")]));
    let mut terminal = Terminal::start(&home, "run space/p.json --yes");
    terminal.until("| tidy\r\n| Risk: safe. Nothing happens.\r\nRisk: ");
    terminal.until("path: a⟨U+27E8⟩U+202E⟩.txt");
    terminal.until("Type approve, skip or deny");
    terminal.type_in("deny\n");
    assert_eq!(terminal.exit_code(), Some(1));
}
