use std::collections::BTreeMap;
use std::io::Cursor;

use uuid::Uuid;

use super::*;
use crate::risk::Verdict;

fn request(level: RiskLevel) -> ConfirmationRequest {
    ConfirmationRequest {
        run_id: Uuid::nil(),
        step_id: "s".to_owned(),
        step_index: 1,
        step_count: 3,
        tool: "file_write".to_owned(),
        purpose: Some("Say hello".to_owned()),
        explanation: None,
        arguments: BTreeMap::from([
            ("path".to_owned(), "notes/a.txt".to_owned()),
            ("contents".to_owned(), "one\ntw\u{202e}o\n".to_owned()),
        ]),
        target: None,
        host: None,
        cwd: "/space".to_owned(),
        user: "ada".into(),
        risk: Verdict {
            level,
            rule: "rule".into(),
            span: None,
            parts: Vec::new(),
            reason: "It changes a file.".to_owned(),
            suggestion: None,
        },
        warning: None,
        why: "The plan asks for it.".to_owned(),
        required: true,
        unwalled: false,
        needs: None,
        walls: None,
        needed_by: Vec::new(),
        guided: false,
        run_by_agent: false,
        preview: Preview::exact("Replaces notes/a.txt.".to_owned(), Vec::new(), Vec::new()),
    }
}

fn answer(level: RiskLevel, typed: &str) -> ((Decision, String), String) {
    answer_to(&request(level), typed)
}

fn answer_to(request: &ConfirmationRequest, typed: &str) -> ((Decision, String), String) {
    let mut shown = Vec::new();
    let answer = ask(request, &mut Cursor::new(typed), &mut shown);
    let (decision, provenance) = answer;
    ((decision, provenance.note), String::from_utf8(shown).unwrap())
}

#[test]
fn letters_that_look_like_others_are_marked_in_names() {
    let mut asked = request(RiskLevel::Caution);
    for (name, shown) in [
        ("p\u{430}ypal.txt", "path: p\u{430}⟨U+0430⟩ypal.txt"),
        ("a⟨U+202E⟩.txt", "path: a⟨U+27E8⟩U+202E⟩.txt"),
        ("a\u{202e}.txt", "path: a⟨U+202E⟩.txt"),
    ] {
        asked.arguments.insert("path".to_owned(), name.to_owned());
        let (_, text) = answer_to(&asked, "deny\n");
        assert!(text.contains(shown), "{text}");
    }
}

#[test]
fn guided_steps_are_run_or_done_by_hand() {
    let guided = |level| ConfirmationRequest { guided: true, ..request(level) };
    for (typed, expected) in [
        ("run\n", Decision::Approve),
        (" done \n", Decision::DoneByHand),
        ("skip\n", Decision::Skip),
        ("deny\n", Decision::Cancel),
        ("d\nr\napprove\ndone\n", Decision::DoneByHand),
    ] {
        let ((decision, note), shown) = answer_to(&guided(RiskLevel::Safe), typed);
        assert_eq!((decision, &*note), (expected, ""), "{typed:?}");
        assert!(shown.contains("Step 2 of 3, file_write: run it, or do it by hand?"), "{shown}");
        assert!(shown.contains("In /space, as ada"), "{shown}");
    }
    // Running a dangerous guided step needs the name of its target; marking it as done by hand does not.
    let dangerous = |typed| answer_to(&guided(RiskLevel::Dangerous), typed).0.0;
    assert_eq!(dangerous("run\nyes\nskip\n"), Decision::Skip);
    assert_eq!(dangerous("run\na.txt\n"), Decision::Approve);
    assert_eq!(dangerous("done\n"), Decision::DoneByHand);
    // Other runs do not offer `done` and `run`.
    assert_eq!(answer(RiskLevel::Safe, "done\nrun\nskip\n").0.0, Decision::Skip);
}

#[test]
fn only_a_whole_word_answers() {
    for (typed, expected) in [
        ("approve\n", Decision::Approve),
        ("  skip \n", Decision::Skip),
        ("deny\n", Decision::Cancel),
        ("a\ny\nyes\nAPPROVE\n\nskip\n", Decision::Skip),
    ] {
        assert_eq!(answer(RiskLevel::Caution, typed).0, (expected, String::new()), "{typed:?}");
    }
    let (_, shown) = answer(RiskLevel::Caution, "a\ndeny\n");
    assert!(shown.contains("Please type one of the three words in full."), "{shown}");
}

#[test]
fn words_after_the_answer_are_its_reason() {
    for (typed, decision, reason) in [
        ("deny it writes  too much \n", Decision::Cancel, "it writes  too much"),
        ("skip\tnot today\n", Decision::Skip, "not today"),
        // A sentence approves nothing.
        ("approve of the idea\ndeny\n", Decision::Cancel, ""),
        ("denying\nskip\n", Decision::Skip, ""),
    ] {
        assert_eq!(answer(RiskLevel::Caution, typed).0, (decision, reason.to_owned()), "{typed:?}");
    }
}

#[test]
fn a_dangerous_step_asks_for_its_file_name() {
    let approve = |typed| answer(RiskLevel::Dangerous, typed).0.0;
    assert_eq!(approve("approve\na.txt\n"), Decision::Approve);
    assert_eq!(approve("approve\nyes\nskip\n"), Decision::Skip);
    assert_eq!(approve("approve\napprove\napprove\na.txt\n"), Decision::Approve);
    assert_eq!(approve("a.txt\ndeny\n"), Decision::Cancel);
}

#[test]
fn no_answer_denies_the_step_with_its_reason() {
    for level in [RiskLevel::Caution, RiskLevel::Dangerous] {
        for typed in ["", "yes\n", "approv"] {
            let ((decision, note), _) = answer(level, typed);
            assert_eq!(decision, Decision::Cancel, "{typed:?}");
            assert_eq!(note, "the input ended without an answer");
        }
    }
    let ((decision, _), _) = answer(RiskLevel::Dangerous, "approve\n");
    assert_eq!(decision, Decision::Cancel);
}

#[test]
fn question_shows_details_and_hidden_characters() {
    let (_, shown) = answer(RiskLevel::Dangerous, "deny\n");
    for part in [
        "Execute step 2 of 3: file_write?",
        "Say hello",
        "Risk: dangerous. It changes a file.",
        "path: notes/a.txt",
        "    one\n    tw⟨U+202E⟩o\n",
        "Replaces notes/a.txt.",
    ] {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
}

#[test]
fn the_question_says_what_a_skip_ends() {
    for (needed_by, sentence) in [
        (vec![3], "Step 4 needs this one: if you skip it, the run ends at step 4."),
        (vec![3, 4, 6], "Steps 4, 5 and 7 need this one: if you skip it, the run ends at step 4."),
    ] {
        let request = ConfirmationRequest { needed_by, ..request(RiskLevel::Caution) };
        let (_, shown) = answer_to(&request, "skip\n");
        assert!(shown.contains(sentence), "{shown}");
    }
    let (_, shown) = answer(RiskLevel::Caution, "skip\n");
    assert!(!shown.contains("if you skip it"), "{shown}");
}

#[test]
fn confirm_flag_answers_with_its_note() {
    for (flag, decision, note) in [
        (Some(Confirm::Approve), Decision::Approve, "--confirm approve"),
        (Some(Confirm::Skip), Decision::Skip, "--confirm skip"),
        (Some(Confirm::Cancel), Decision::Cancel, "--confirm cancel"),
        (None, Decision::Cancel, "no terminal to ask on"),
    ] {
        let callback = CommandLine::new(flag, false).unwrap();
        assert_eq!(callback.request_confirmation(&request(RiskLevel::Dangerous)), decision);
        let by = AnsweredBy::CommandLine;
        assert_eq!(callback.provenance(), Provenance { by, note: note.to_owned() });
    }
    assert!(CommandLine::new(Some(Confirm::Ask), false).is_err());
    assert_eq!(CommandLine::new(None, true).unwrap().confirm, Confirm::Ask);
}
