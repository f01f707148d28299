//! `revise`: a plan with other arguments, without some steps, or with a part of what they change (SPEC §13).

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::home::{Home, keys};
use crate::harness::{read_file, write_file};

fn actions(home: &Home, edits: Value) {
    let plan = json!({"version": "2026-02-19", "goal": "g", "actions": [
        {"type": "mutate_batch", "request": {"edits": edits}}
    ]});
    home.write("p.json", format!("{plan:#}\n"));
}

/// Forty lines, of which these are written in capitals.
fn lines(capital: &[usize]) -> String {
    let line = |number: usize| match capital.contains(&number) {
        true => format!("LINE {number}\n"),
        false => format!("line {number}\n"),
    };
    (1..=40).map(line).collect()
}

#[expect(clippy::disallowed_methods, reason = "the real git is compared with")]
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "core.autocrlf=false"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    // `git diff --no-index` exits 1 where files differ.
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What `git apply` makes of `before` with these hunks, counted from 1, of its difference from `after`.
fn applied_by_git(before: &str, after: &str, hunks: &[usize]) -> String {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("a.txt"), before).unwrap();
    fs::write(temp.path().join("b.txt"), after).unwrap();
    let diff = git(temp.path(), &["diff", "--no-index", "a.txt", "b.txt"]);
    fs::remove_file(temp.path().join("b.txt")).unwrap();
    let mut parts = diff.split("\n@@ ");
    let mut patch = parts.next().unwrap().replace("b/b.txt", "b/a.txt");
    for (index, hunk) in parts.enumerate() {
        if hunks.contains(&(index + 1)) {
            patch.push_str("\n@@ ");
            patch.push_str(hunk);
        }
    }
    fs::write(temp.path().join("patch"), format!("{}\n", patch.trim_end_matches('\n'))).unwrap();
    git(temp.path(), &["apply", "--recount", "patch"]);
    fs::read_to_string(temp.path().join("a.txt")).unwrap()
}

#[test]
fn chosen_hunks_are_what_git_applies() {
    let (before, after) = (lines(&[]), lines(&[3, 20, 37]));
    let patch = {
        let diff = applied_by_git(&before, &after, &[1, 2, 3]);
        assert_eq!(diff, after);
        let mut patch = String::from("--- a/a.txt\n+++ b/a.txt\n");
        for line in [3, 20, 37] {
            patch.push_str(&format!("@@ -{line} +{line} @@\n-line {line}\n+LINE {line}\n"));
        }
        patch
    };
    let replace = |number: usize| {
        json!({"op": "replace", "path": "a.txt",
               "old": format!("line {number}\n"), "new": format!("LINE {number}\n")})
    };
    // `line 3\n` occurs once, because the others have another end.
    for edits in [
        json!([{"op": "write", "path": "a.txt", "contents": after}]),
        json!([{"op": "patch", "path": "a.txt", "diff": patch}]),
        json!([replace(3), {"op": "create", "path": "n.txt", "contents": "n\n"}, replace(20), replace(37)]),
    ] {
        for chosen in [&[1][..], &[2, 3], &[1, 3], &[1, 2, 3]] {
            let home = Home::new();
            home.write("a.txt", &before);
            actions(&home, edits.clone());
            let hunks: Vec<String> = chosen.iter().chain(&[4]).map(usize::to_string).collect();
            let hunks = hunks.join(",");
            let has_other = edits.as_array().unwrap().len() > 1;
            let hunks = if has_other { hunks } else { hunks.trim_end_matches(",4").to_owned() };
            let hunks = format!("action_0={hunks}");
            home.run(["revise", "space/p.json", "--hunks", &hunks, "--out", "space/r.json"])
                .exits(0);
            home.json(["run", "space/r.json", "--yes", "--confirm", "approve"]).exits(0);
            let result = fs::read_to_string(home.file("a.txt")).unwrap();
            assert_eq!(result, applied_by_git(&before, &after, chosen), "{edits:#} {chosen:?}");
            assert_eq!(home.file("n.txt").exists(), has_other);
        }
    }
}

#[test]
fn endings_of_lines_and_of_the_file_stay() {
    let crlf = |capital: &[usize]| lines(capital).replace('\n', "\r\n");
    let (before, after) = (crlf(&[]), crlf(&[3, 40]));
    let unended = |text: String| text.trim_end().to_owned();
    for (chosen, expected) in [("1", crlf(&[3])), ("2", unended(crlf(&[40])))] {
        let home = Home::new();
        home.write("a.txt", &before);
        let after = after.trim_end();
        home.plan(json!([write_file("w", "a.txt", after), read_file("r", "a.txt")]));
        let hunks = format!("w={chosen}");
        let done = home.json(["revise", "space/p.json", "--hunks", &hunks]).exits(0);
        let plan = done.document()["plan"].clone();
        assert_eq!(plan["steps"][0]["arguments"]["contents"], expected);
    }
    let home = Home::new();
    home.write("a.txt", "a\n");
    home.plan(json!([write_file("w", "a.txt", "b\n"), read_file("r", "a.txt")]));
    let document = home.json(["revise", "space/p.json", "--hunks", "w="]).exits(0).document();
    assert_eq!(document["changes"][0]["change"], "left_out", "nothing of it is wanted");
}

#[test]
fn what_cannot_be_chosen_says_so() {
    let home = Home::new();
    home.write("a.txt", "one\ntwo\n");
    actions(
        &home,
        json!([{"op": "rename", "path": "a.txt", "to": "b.txt"},
               {"op": "write", "path": "b.txt", "contents": "1\ntwo\n"}]),
    );
    for (hunks, part) in
        [("action_0=1", "as a whole"), ("action_0=9", "no hunk 9"), ("x=1", "no step")]
    {
        let done = home.json(["revise", "space/p.json", "--hunks", hunks]).exits(5);
        let message = done.document()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(part), "{hunks}: {message}");
    }
    home.plan(json!([read_file("r", "a.txt")]));
    home.json(["revise", "space/p.json", "--hunks", "r="]).exits(5);
    home.json(["revise", "space/p.json", "--leave-out", "r"]).exits(5);
}

#[test]
fn arguments_and_steps_change_and_the_rest_stays() {
    let home = Home::new();
    let text = "{ \"plan_id\":\"p\",\"intent\" : \"MUTATE\", \"steps\":[\r\n\t{\"tool\":\"file_read\",\"arguments\":{\"path\":\"a\"}},\r\n\t{\"tool\":\"file_write\", \"arguments\": {\"path\":\"b\", \"contents\":\"\\u0078\"}, \"precondition\":\"step_1 succeeded\"},\r\n\t{\"tool\":\"file_write\",\"arguments\":{\"path\":\"c\",\"contents\":\"c\"}}]}";
    home.write("p.json", text);
    home.write("new", "tea\u{202e}\u{1}\n");
    let done = home.run([
        "revise",
        "space/p.json",
        "--set",
        "1.path=x=y.z",
        "--set-file",
        &format!("step_3.contents={}", home.file("new").display()),
    ]);
    let done = done.exits(0);
    let expected = text
        .replace("\"path\":\"a\"", "\"path\":\"x=y.z\"")
        .replace("\"contents\":\"c\"", "\"contents\":\"tea\u{202e}\\u0001\\n\"");
    assert_eq!(done.stdout, expected);
    assert!(done.stderr.contains("Step 1 (step_1): path was"), "{}", done.stderr);
    assert!(!done.stderr.contains('\u{202e}'), "what cannot be seen is named");

    let document = home.json(["revise", "space/p.json", "--leave-out", "1"]).exits(0).document();
    assert_eq!(
        keys(&document),
        ["also_left_out", "base_digest", "changes", "difference", "digest", "findings", "plan"]
    );
    assert_eq!(document["also_left_out"], json!(["step_2"]));
    assert_eq!(document["plan"]["steps"][0]["step_id"], "step_3");
    assert_eq!(document["plan"]["plan_id"], "p");
    assert_ne!(document["digest"], document["base_digest"]);
}

#[test]
fn no_flag_undoes_another() {
    let home = Home::new();
    home.plan(json!([write_file("w", "a.txt", "one\n"), write_file("v", "b.txt", "two\n")]));
    for flags in [
        &["--set", "w.contents=1", "--set", "w.contents=2"][..],
        &["--set", "w.contents=1", "--set", "1.contents=2"],
        &["--set", "w.contents=1", "--unset", "w.contents"],
        &["--set", "w.contents=1", "--leave-out", "w"],
        &["--hunks", "w=1", "--set", "w.path=c.txt"],
        &["--hunks", "w=1", "--hunks", "w=1"],
    ] {
        let done = home.run([&["revise", "space/p.json"], flags].concat()).exits(5);
        assert!(done.stderr.contains("another flag changes"), "{flags:?}: {}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    let endless =
        home.run(["revise", "space/p.json", "--set-file", "w.contents=/dev/zero"]).exits(5);
    assert!(endless.stderr.contains("larger than a plan may be"), "{}", endless.stderr);
}

#[test]
fn what_no_argument_can_be_is_refused() {
    let home = Home::new();
    home.plan(json!([write_file("w", "a.txt", "one\n"), write_file("v", "b.txt", "two\n")]));
    let nul = home.write("nul", b"a\0b");
    let given = format!("--set-file=w.contents={}", nul.display());
    let done = home.run(["revise", "space/p.json", &given]).exits(5);
    assert!(done.stderr.contains("contains a NUL character"), "{}", done.stderr);
    let done = home.run(["revise", "space/p.json", "--hunks", "w=1,1"]).exits(5);
    assert!(done.stderr.contains("names hunk 1 twice"), "{}", done.stderr);
    home.run(["revise", "space/p.json", "--hunks", "w=1,"]).exits(0);
}

/// Which of two steps with one id is meant is not guessed.
#[test]
fn an_id_of_two_steps_names_none() {
    let home = Home::new();
    let twice = json!([
        write_file("w", "a.txt", "1\n"),
        write_file("v", "b.txt", "2\n"),
        write_file("w", "c.txt", "3\n")
    ]);
    home.plan(twice);
    for flags in
        [["--leave-out", "w"], ["--set", "w.path=x"], ["--unset", "w.path"], ["--hunks", "w=1"]]
    {
        let done = home.run([&["revise", "space/p.json"][..], &flags].concat()).exits(5);
        let message = "\"w\" is the id of step 1 (/steps/0) and of step 3 (/steps/2)";
        assert!(done.stderr.contains(message), "{flags:?}: {}", done.stderr);
    }
    // By its number each can be left out, which repairs the plan.
    let document = home.json(["revise", "space/p.json", "--leave-out", "3"]).exits(0).document();
    assert_eq!(document["plan"]["steps"].as_array().unwrap().len(), 2);
    home.json(["revise", "space/p.json", "--leave-out", "v"]).exits(2);
}

#[test]
fn no_plan_is_written_into_own_folders() {
    let home = Home::new();
    home.settings("");
    home.plan(json!([write_file("w", "a.txt", "one\n")]));
    fs::create_dir_all(home.evidence()).unwrap();
    fs::create_dir_all(home.path().join(".local/share/countersign/inbox")).unwrap();
    std::os::unix::fs::symlink(home.evidence(), home.file("link")).unwrap();
    for folder in [
        ".config/countersign",
        ".local/share/countersign/inbox",
        "evidence",
        "space/link",
        "space/../evidence",
    ] {
        let out = format!("{folder}/r.json");
        let done =
            home.run(["revise", "space/p.json", "--set", "w.path=b", "--out", &out]).exits(5);
        assert!(done.stderr.contains("folder of Countersign's own"), "{folder}: {}", done.stderr);
        assert!(!home.path().join(&out).exists());
    }
    home.run(["revise", "space/p.json", "--set", "w.path=b", "--out", "space/r.json"]).exits(0);
    assert!(home.file("r.json").exists());
}

#[test]
fn a_revision_is_a_plan_like_any_other() {
    let home = Home::new();
    home.plan(json!([write_file("w", "a.txt", "one\n"), write_file("v", "b.txt", "two\n")]));
    let revise = ["revise", "space/p.json", "--leave-out", "v", "--set", "w.contents=uno\n"];
    let out = [&revise[..], &["--out", "space/r.json"]].concat();
    let document = home.json(out.clone()).exits(0).document();
    let digest = document["digest"].as_str().unwrap();
    let checked = home.json(["check", "space/r.json"]).exits(0).document();
    assert_eq!(checked["digest"], digest);
    home.json(["run", "space/r.json", "--authorize", digest]).exits(0);
    assert_eq!(fs::read_to_string(home.file("a.txt")).unwrap(), "uno\n");
    assert!(!home.file("b.txt").exists());
    home.json(out).exits(5);
}

#[test]
fn a_faulty_plan_can_be_repaired_and_a_file_that_is_none_cannot() {
    let home = Home::new();
    home.plan(json!([{"tool": "file_read", "arguments": {"path": 7, "pth": "a"}}]));
    home.json(["revise", "space/p.json", "--set", "1.path=a"]).exits(2);
    home.json(["revise", "space/p.json", "--set", "1.path=a", "--unset", "1.pth"]).exits(0);
    home.write("p.json", "no plan");
    home.json(["revise", "space/p.json", "--set", "1.path=a"]).exits(2);
    for wrong in ["1.path", "9.path=a", "path=a"] {
        home.plan(json!([read_file("r", "a")]));
        home.json(["revise", "space/p.json", "--set", wrong]).exits(5);
    }
}

#[test]
fn a_file_of_another_program_is_revised_as_the_plan_that_it_is() {
    let home = Home::new();
    home.write("a.txt", lines(&[]));
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-line 1\n+LINE 1\n@@ -40 +40 @@\n-line 40\n+LINE 40\n";
    home.write("p.diff", diff);
    home.run(["revise", "space/p.diff", "--hunks", "1=2", "--out", "space/r.json"]).exits(0);
    home.json(["run", "space/r.json", "--yes", "--confirm", "approve"]).exits(0);
    assert_eq!(fs::read_to_string(home.file("a.txt")).unwrap(), lines(&[40]));
}

#[test]
fn ten_thousand_steps_stay_quick() {
    let home = Home::new();
    let steps: Vec<Value> = (0..10_000).map(|index| read_file(&format!("s{index}"), "a")).collect();
    home.plan(json!(steps));
    let document =
        home.json(["revise", "space/p.json", "--leave-out", "s5000", "--set", "s9999.path=b"]);
    let document = document.exits(0).document();
    assert_eq!(document["plan"]["steps"].as_array().unwrap().len(), 9_999);
}
