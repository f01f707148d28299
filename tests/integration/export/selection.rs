//! The filters of an export are those of a search.

use std::collections::BTreeSet;

use super::{exported, first_run, further_runs, home, run_id};
use crate::harness::home::{Home, execution_ids};

fn ids(home: &Home, arguments: &[&str]) -> (Vec<String>, BTreeSet<String>) {
    let line = ["evidence", "search"].into_iter().chain(arguments.iter().copied());
    let hits = home.json(line).exits(0).lines();
    let text = exported(home, "jsonl", arguments);
    let lines: Vec<_> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let owned = |id: &str| id.to_owned();
    let exported = execution_ids(&lines).into_iter().map(owned).collect();
    (exported, execution_ids(&hits).into_iter().map(owned).collect())
}

#[test]
fn an_export_has_what_a_search_finds() {
    let home = home();
    let first = first_run(&home);
    let [_, commands] = further_runs(&home);
    let since = first["step_results"][3]["timestamp_ms"].to_string();
    let mut nothing = Vec::new();
    for arguments in [
        &[][..],
        &["--run", run_id(&first)],
        &["--run", run_id(&commands), "--outcome", "failed"],
        &["--plan", "commands"],
        &["--plan", "absent"],
        &["--tool", "file_read"],
        &["--outcome", "skipped"],
        &["--outcome", "interrupted"],
        &["--risk", "safe"],
        &["--path", "cmd"],
        &["--path", "absent.txt"],
        &["--wrote", "*"],
        &["--wrote", "b.txt"],
        &["--code", "e301"],
        &["--code", "E305"],
        &["--host", "elsewhere"],
        &["--since", &since],
        &["--until", &since],
        &["wombat"],
        &["oops", "--tool", "shell"],
        &["--tool", "file_create", "--wrote", "cmd", "--risk", "caution"],
        &["--loop", "00000000-0000-4000-8000-000000000000"],
    ] {
        let (exported, hits) = ids(&home, arguments);
        assert_eq!(exported.iter().cloned().collect::<BTreeSet<_>>(), hits, "{arguments:?}");
        assert_eq!(exported.len(), hits.len(), "{arguments:?}");
        if hits.is_empty() {
            nothing.push(arguments.join(" "));
        }
    }
    let absent = "--loop 00000000-0000-4000-8000-000000000000";
    let expected = ["--plan absent", "--outcome interrupted", "--host elsewhere", absent];
    assert_eq!(nothing, expected);
}

#[test]
fn an_export_is_in_the_order_of_recording_and_can_be_limited() {
    let home = home();
    let first = first_run(&home);
    further_runs(&home);
    let (all, _) = ids(&home, &[]);
    let steps = first["step_results"].as_array().unwrap();
    assert_eq!(all[..6], execution_ids(&steps[..6]));
    assert_eq!(all.len(), 9);
    for limit in 1..9 {
        let limit_text = limit.to_string();
        let text = exported(&home, "jsonl", &["--limit", &limit_text]);
        assert_eq!(text.lines().count(), limit);
        let text = exported(&home, "junit", &["--limit", &limit_text]);
        let cases: usize = text.matches("<testcase ").count();
        assert_eq!(cases, limit);
    }
}
