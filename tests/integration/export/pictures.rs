//! The pictures of the report: what is drawn, what the tables say, and what they are limited to.

use serde_json::{Value, json};

use super::{exported, home, run_id};
use crate::harness::home::Home;
use crate::harness::{asking, read_file, write_file};

/// The text between two texts.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from} in {text}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} in {text}")).0
}

/// The cells of the first table, row by row, without elements.
fn rows(section: &str) -> Vec<Vec<String>> {
    let table = between(section, "<tbody>", "</tbody>");
    let plain = |cell: &str| {
        let mut text = String::new();
        let mut is_text = true;
        for character in cell.chars() {
            match character {
                '<' => is_text = false,
                '>' => is_text = true,
                other if is_text => text.push(other),
                _ => {}
            }
        }
        text
    };
    let cells = |row: &str| {
        let cells = row.split("<td>").skip(1).map(|cell| between_end(cell, "</td>"));
        cells.map(plain).collect::<Vec<_>>()
    };
    table.split("<tr>").skip(1).map(cells).collect()
}

fn between_end<'t>(text: &'t str, to: &str) -> &'t str {
    text.split_once(to).unwrap().0
}

fn run(home: &Home, steps: Value, exit: i32) -> Value {
    home.plan(steps);
    home.json(["run", "space/p.json", "--yes", "--confirm", "approve"]).exits(exit).document()
}

#[test]
fn the_times_of_a_run_are_drawn_and_a_table() {
    let home = home();
    let steps = json!([
        read_file("look", "a.txt"),
        asking(write_file("ask", "a.txt", "<b>\n")),
        read_file("miss", "absent & more.txt"),
    ]);
    let result = run(&home, steps, 1);
    let report = exported(&home, "html", &["--run", run_id(&result)]);
    let section = between(&report, "<h2>Times</h2>", "<h2>Steps</h2>");
    let picture = between(section, "<svg viewBox=", "</div>");
    assert!(picture.contains("role=\"img\" aria-label=\"The times of 3 steps."), "{picture}");
    assert_eq!(picture.matches("<rect class=\"work\"").count(), 3, "{picture}");
    assert!(picture.contains("3 file_read absent &amp; more.txt"), "{picture}");
    let times = home.json(["evidence", "times", run_id(&result)]).exits(0).document();
    let rows = rows(section);
    assert_eq!(rows.len(), 3);
    for (row, step) in rows.iter().zip(times["steps"].as_array().unwrap()) {
        let worked = step["worked_ms"].as_i64().unwrap();
        assert!(worked < 1_000, "{step}");
        assert_eq!(row[5], format!("{worked} ms"));
        assert_eq!(row[2], step["outcome"]);
        assert_eq!(row[3], format!("{} ms", step["begun_ms"]));
    }
    // Of one run, the executions over time are the same picture again.
    assert!(!report.contains("Executions over time"), "{report}");
}

#[test]
fn executions_and_durations_over_all_runs_are_drawn() {
    let home = home();
    for number in 1..=3 {
        let contents = "x".repeat(number);
        let steps = json!([read_file("look", "a.txt"), write_file("write", "a.txt", &contents)]);
        run(&home, steps, 0);
    }
    run(&home, json!([read_file("look", "absent.txt")]), 1);
    let report = exported(&home, "html", &[]);
    let section = between(&report, "Executions over time", "<h2>");
    assert!(section.contains("7 executions, of which 1 failed"), "{section}");
    let sum = |column: usize| -> u64 {
        rows(section).iter().map(|row| row[column].parse::<u64>().unwrap()).sum()
    };
    assert_eq!((sum(1), sum(2)), (6, 1));

    let section = between(&report, "<h2>Durations of steps</h2>", "<section");
    let found = rows(section);
    let steps: Vec<_> = found.iter().map(|row| (row[0].as_str(), row[3].as_str())).collect();
    assert_eq!(steps, [("look", "4"), ("write", "3")]);
    assert_eq!(found[0][7].matches("failed").count(), 1, "{found:?}");
    assert_eq!(section.matches("<rect class=\"work\"").count(), 6);
    assert_eq!(section.matches("<rect class=\"bad\"").count(), 1);
    assert!(!report.contains("Recurring diagnostics"), "{report}");

    // Only what is selected is drawn.
    let some = exported(&home, "html", &["--tool", "file_write"]);
    assert!(some.contains("3 executions, of which 0 failed"), "{some}");
    let section = between(&some, "<h2>Times</h2>", "<h2>Steps</h2>");
    assert_eq!(rows(section).len(), 1);
    assert_eq!(section.matches("<rect class=\"work\"").count(), 1);
    // The same evidence gives the same bytes.
    assert_eq!(exported(&home, "html", &[]), report);
}

#[test]
fn diagnostics_that_recur_are_drawn() {
    let home = crate::harness::cargo_project::cargo_project();
    home.write("src/lib.rs", "pub fn caller() -> u32 {\n    missing(1)\n}\n");
    let check =
        crate::harness::cargo_project::step("check", "lsp_check", json!({"path": "."}), "none");
    home.plan(json!([check]));
    let once = || home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    once();
    assert!(!exported(&home, "html", &[]).contains("Recurring diagnostics"));
    let second = once();
    let report = exported(&home, "html", &[]);
    let section = between(&report, "<h2>Recurring diagnostics</h2>", "<h2>");
    let found = rows(section);
    assert_eq!(
        (found.len(), &found[0][..2]),
        (1, &["E0425".to_owned(), "src/lib.rs".to_owned()][..])
    );
    assert_eq!(found[0][3..5], ["2", "2"]);
    assert!(section.contains("E0425 src/lib.rs</text>"), "{section}");
    let of_one = exported(&home, "html", &["--run", run_id(&second)]);
    assert!(!of_one.contains("Recurring diagnostics"), "nothing of other runs");
}

/// A run with more steps than a picture has rows, and more runs than have a picture.
#[test]
fn what_is_left_out_is_said() {
    let home = home();
    let many: Vec<_> = (0..70).map(|n| read_file(&format!("s{n}"), "a.txt")).collect();
    let result = run(&home, json!(many), 0);
    let report = exported(&home, "html", &["--run", run_id(&result)]);
    let section = between(&report, "<h2>Times</h2>", "<h2>Steps</h2>");
    assert!(section.contains("The first 60 of 70 steps are shown here."), "{section}");
    assert_eq!(rows(section).len(), 60);
    assert!(report.contains("70 executions, of which 0 failed"), "{report}");
}
