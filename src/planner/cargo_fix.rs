//! `cargo-fix`: turns the machine-applicable suggestions of the compiler into a batch of edits. It needs no model.
//! Suggestions that do not fit into one batch are left for the next attempt.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;

use super::reply::Failure;
use super::{Request, reply};
use crate::cargo::{Suggestion, Suggestions};
use crate::risk::Policy;
use crate::run::StopSignal;
use crate::tools::{Suggested, ToolError, Toolbox, suggested_batch};

/// The planner's name in the plan's metadata.
const NAME: &str = "cargo-fix";

/// Runs the compiler and returns a plan that applies its suggestions.
pub(super) fn plan(
    request: &Request,
    workspace: &Path,
    progress: &dyn Fn(&str),
) -> Result<Vec<u8>, Failure> {
    let read = |path: &str| fs::read_to_string(workspace.join(path)).ok();
    propose(&request.goal, &suggestions(workspace, progress)?, &read)
}

/// Runs the compiler on the workspace and collects its suggestions.
fn suggestions(workspace: &Path, progress: &dyn Fn(&str)) -> Result<Suggestions, Failure> {
    let failed =
        |error: ToolError| Failure::unavailable(format!("{error}. {}", error.next()), false);
    let toolbox = Toolbox::open(workspace, &Policy::default()).map_err(failed)?;
    // cargo prints progress for people on stderr and diagnostics for programs on stdout.
    let output = |stream, text: &str| {
        if stream == crate::run::Stream::Stderr {
            progress(text);
        }
    };
    toolbox.suggestions(&StopSignal::default(), &output).map_err(failed)
}

/// A plan that applies the suggestions. If no edit results and the program has no errors, the plan only verifies it.
fn propose(
    goal: &str,
    found: &Suggestions,
    read: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<u8>, Failure> {
    // A suggestion that conflicts with an earlier one is left for the next attempt.
    let Suggested { batch, applied, .. } = suggested_batch(&found.list, read);
    let notes = format!(
        "{} and {}, {} of {} of the compiler applied.",
        counted(found.errors, "error"),
        counted(found.warnings, "warning"),
        applied.len(),
        counted(found.list.len(), "suggestion")
    );
    if batch.edits.is_empty() {
        if found.errors > 0 {
            let message = format!(
                "{} {} left, and no suggestion of the compiler can be applied",
                counted(found.errors, "error"),
                if found.errors == 1 { "is" } else { "are" }
            );
            return Err(Failure { code: "unsupported_goal", message, retryable: true });
        }
        let verify = json!({ "type": "verify", "request": {},
            "rationale": "No suggestion of the compiler can be applied." });
        return Ok(reply::plan(goal, NAME, &notes, &[verify]));
    }
    let batch = json!({
        "type": "mutate_batch",
        "request": batch,
        "rationale": format!("The compiler suggests: {}.", fixed_diagnostics(&applied)),
    });
    let plan = reply::plan(goal, NAME, &notes, &[batch]);
    // Those that are left may fit into the next plan.
    let is_all = applied.len() == found.list.len();
    Ok(if is_all { plan } else { reply::with_more_left(&plan) })
}

/// A number with its noun.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The diagnostics that the suggestions fix, each once with its count if that is above 1.
fn fixed_diagnostics(suggestions: &[&Suggestion]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for suggestion in suggestions {
        *counts.entry(&suggestion.fixes).or_default() += 1;
    }
    let words = counts.iter().map(|(code, count)| match count {
        1 => (*code).to_owned(),
        count => format!("{code} ({count})"),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::cargo::Replacement;
    use crate::plan::{Digest, parse};

    fn suggestion(fixes: &str, places: &[(usize, usize, &str)]) -> Suggestion {
        let replacement = |(start, end, text): &(usize, usize, &str)| Replacement {
            path: "src/a.rs".to_owned(),
            start: *start,
            end: *end,
            text: (*text).to_owned(),
        };
        Suggestion {
            fixes: fixes.to_owned(),
            replacements: places.iter().map(replacement).collect(),
        }
    }

    fn found(errors: usize, suggestions: Vec<Suggestion>) -> Suggestions {
        Suggestions { errors, warnings: suggestions.len(), list: suggestions }
    }

    const TEXT: &str = "one two\nthree\n";

    fn proposed(found: &Suggestions) -> Result<Value, Failure> {
        let bytes = propose("g", found, &|path| (path == "src/a.rs").then(|| TEXT.to_owned()))?;
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        let applied = answer["metadata"]["notes"].as_str().map(str::to_owned);
        // Only if suggestions are left, the answer says that more is left to do.
        assert_eq!(answer.get("answers_goal").is_none(), applied.is_some(), "{answer}");
        let plan = answer.get("plan").unwrap_or(&answer).clone();
        let parsed = parse(plan.to_string().as_bytes());
        assert!(parsed.is_valid(), "{:?}", parsed.findings);
        Ok(plan)
    }

    #[test]
    fn suggestions_become_patches_and_overlapping_ones_wait() {
        let suggestions = vec![
            suggestion("a", &[(0, 3, "1")]),
            suggestion("b", &[(2, 5, "x"), (8, 13, "y")]),
            suggestion("c", &[(8, 13, "3")]),
            suggestion("c", &[(8, 13, "3")]),
        ];
        let left = suggestions.clone();
        let plan = proposed(&found(1, suggestions)).unwrap();
        let batch = &plan["actions"][0];
        assert_eq!(
            batch["request"]["edits"][0]["diff"],
            "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n-one two\n-three\n+1 two\n+3\n"
        );
        assert_eq!(
            batch["request"]["expected_hashes"]["src/a.rs"],
            Digest::of(TEXT.as_bytes()).to_string()
        );
        assert_eq!(batch["rationale"], "The compiler suggests: a, c (2).");
        assert!(
            plan["metadata"]["notes"].as_str().unwrap().contains("3 of 4 suggestions"),
            "{plan}"
        );
        let answer = propose("g", &found(1, left), &|_| Some(TEXT.to_owned())).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap()["answers_goal"], false);
        let plan = proposed(&found(1, vec![suggestion("a", &[(0, 3, "1")])])).unwrap();
        let notes = "1 error and 1 warning, 1 of 1 suggestion of the compiler applied.";
        assert_eq!(plan["metadata"]["notes"], notes);
    }

    #[test]
    fn adjacent_replacements_are_applied_together() {
        let lines = vec![suggestion("unused", &[(0, 8, "")]), suggestion("unused", &[(8, 14, "")])];
        let plan = proposed(&found(0, lines)).unwrap();
        let diff = plan["actions"][0]["request"]["edits"][0]["diff"].as_str().unwrap();
        assert!(diff.ends_with("-one two\n-three\n"), "{diff}");
        assert_eq!(plan["actions"][0]["rationale"], "The compiler suggests: unused (2).");
        // An insertion between them would be before or after the other text.
        let border = vec![suggestion("a", &[(0, 8, "x")]), suggestion("b", &[(8, 8, "y")])];
        let plan = proposed(&found(0, border)).unwrap();
        assert_eq!(plan["actions"][0]["rationale"], "The compiler suggests: a.");
    }

    // Without suggestions, a program without errors is verified, and one with errors gives a failure.
    #[test]
    fn without_suggestions_there_is_no_batch() {
        let plan = proposed(&found(0, Vec::new())).unwrap();
        assert_eq!(plan["actions"][0]["type"], "verify");
        let failure = proposed(&found(2, Vec::new())).unwrap_err();
        assert_eq!((failure.code, failure.retryable), ("unsupported_goal", true));
        assert!(failure.message.starts_with("2 errors are left, "), "{}", failure.message);
        let failure = proposed(&found(1, Vec::new())).unwrap_err();
        assert!(failure.message.starts_with("1 error is left, "), "{}", failure.message);
        // A suggestion with a range outside the file is skipped.
        let outside = suggestion("a", &[(12, 99, "x")]);
        assert!(proposed(&found(1, vec![outside])).is_err());
    }
}
