//! Judges a change of code by the errors of `cargo check` that it adds (SPEC §4, `splice_patch`).
//!
//! The whole Cargo workspace is checked before and after, with `--keep-going`, so that an old error hides no new
//! one. Targets that cargo did not reach because of an error are recorded by name. A check that fails for a reason
//! other than compiler errors (a build script, a killed compiler), or with too many or unreadable errors, has no
//! verdict, and the file is then restored. An error that only moved is not new: errors are compared by code, message,
//! file and quoted text, and an equal error is new only if it occurs more often than before.

use std::collections::HashMap;

use super::check::Checked;
use super::{Cargo, CargoError, Scope, project, unreached};
use crate::process::{Finished, Leftovers};
use crate::run::DiagnosticArtifact;
use crate::run::text::beginning;

/// The result of checking a whole workspace.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// The errors of the compiler.
    pub(crate) errors: Vec<DiagnosticArtifact>,
    /// Targets that did not compile, such as `user (lib)`. The compiler stops after the first phase with
    /// errors, so later errors in these targets are not reported.
    pub(crate) not_compiled: Vec<String>,
    /// Targets that cargo did not check, because others did not compile.
    pub(crate) not_reached: Vec<String>,
}

impl Verdict {
    /// If this is the verdict before a change: the warning that it may have missed errors. `None` if everything
    /// compiled.
    pub(crate) fn hidden_errors_warning(&self) -> Option<String> {
        if self.not_compiled.is_empty() {
            return None;
        }
        let names = beginning(&self.not_compiled.join(", "));
        Some(format!(
            "{names} did not compile before the change, so earlier errors may hide new ones"
        ))
    }
}

/// A check that ended: its process, and its verdict or why it has none.
pub(crate) struct WorkspaceCheck {
    pub(crate) finished: Finished,
    pub(crate) verdict: Result<Verdict, CargoError>,
}

impl Cargo<'_> {
    /// Checks the Cargo project that `path` belongs to, with its whole workspace, because a change may
    /// break dependents. `None` if it belongs to no project. There is no verdict after a timeout, a stop, a
    /// failure that compiler errors do not explain, or with too many or unreadable errors.
    ///
    /// # Errors
    /// The path or the manifest cannot be read, or cargo cannot be started.
    pub(crate) fn check_workspace(&self, path: &str) -> Result<Option<WorkspaceCheck>, CargoError> {
        let project = match project::find(self.workspace.unchanged(), path) {
            Ok(project) => project,
            Err(CargoError::NoProject { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        // No process may continue building while the patch is judged, kept or rolled back.
        let checked = self.check(&project, Scope::KeepGoing, Leftovers::End)?;
        let verdict = match missing_verdict(&checked) {
            Some(error) => Err(error),
            None => {
                let errors = checked.errors().cloned().collect();
                let (not_compiled, not_reached) =
                    unreached::uncovered(self, &project, &checked.finished);
                Ok(Verdict { errors, not_compiled, not_reached })
            }
        };
        Ok(Some(WorkspaceCheck { finished: checked.finished, verdict }))
    }
}

/// Why a check cannot be compared; `None` if it can. Compiler errors do not prevent a verdict; any other failure does,
/// because it may hide errors.
fn missing_verdict(checked: &Checked) -> Option<CargoError> {
    let finished = &checked.finished;
    checked.missing_verdict().or_else(|| {
        let stderr = String::from_utf8_lossy(&finished.stderr);
        let unexplained = stderr.lines().find(|line| is_unexplained(line));
        let is_complete = finished.cause.is_none() && has_final_message(&finished.stdout);
        let has_lost_errors = checked.left_out > 0
            && checked.diagnostics.iter().all(|it| it.level == crate::run::Level::Error);
        match unexplained {
            _ if has_lost_errors => {
                Some(checked.failure("reported more errors than can be compared"))
            }
            // If cargo succeeded, the unreadable messages are no errors.
            _ if checked.unreadable > 0 && finished.exit_code != Some(0) => {
                Some(checked.failure("reported errors that cannot be read"))
            }
            Some(line) if finished.exit_code != Some(0) => Some(checked.failure(&format!(
                "failed for another reason than the errors that it reported: {line}"
            ))),
            _ if !is_complete => Some(checked.failure("did not report that it had finished")),
            _ => None,
        }
    })
}

/// Whether this line of stderr reports a failure other than compiler errors.
fn is_unexplained(line: &str) -> bool {
    // `error: could not compile `a` (lib) due to 2 previous errors`
    let is_of_compiler = |rest: &str| {
        rest.starts_with("could not compile ")
            && rest.contains(" due to ")
            && rest.contains(" previous error")
    };
    line.strip_prefix("error")
        .is_some_and(|rest| rest.strip_prefix(": ").is_none_or(|rest| !is_of_compiler(rest)))
}

/// Whether cargo printed its final message; it is missing when cargo was killed.
fn has_final_message(stdout: &[u8]) -> bool {
    let end = br#"{"reason":"build-finished","#;
    stdout.split(|byte| *byte == b'\n').any(|line| line.starts_with(end))
}

/// The errors of `after` that are not in `before`. Two errors are equal regardless of their line numbers;
/// when equal errors occur several times, the surplus counts as new.
pub(crate) fn new_errors(
    before: &[DiagnosticArtifact],
    mut after: Vec<DiagnosticArtifact>,
) -> Vec<DiagnosticArtifact> {
    let mut known: HashMap<_, usize> = HashMap::new();
    for error in before {
        *known.entry(identity(error)).or_default() += 1;
    }
    after.retain(|error| match known.get_mut(&identity(error)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    after
}

/// The parts of an error that do not change if lines above it are added or removed.
fn identity(error: &DiagnosticArtifact) -> [String; 4] {
    let rendered = error.rendered.as_deref().unwrap_or_default();
    let rendered: Vec<String> = rendered.lines().map(without_line_number).collect();
    let message = without_positions(&error.message);
    let code = error.code.clone().unwrap_or_default();
    [code, message, error.file_name.clone(), rendered.join("\n")]
}

/// A rendered line without the line number in its margin, whose width can change too.
fn without_line_number(line: &str) -> String {
    let rest = line.trim_start();
    let text = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let is_margin = text.starts_with(['|', '=', '~', '+', '-', ':']);
    without_positions(if is_margin { text } else { rest })
}

/// The text without positions like `:12:5`, as they occur in paths and in the names of closures.
pub(crate) fn without_positions(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(colon) = rest.find(':') {
        let (before, after) = rest.split_at(colon);
        kept.push_str(before);
        rest = match position_length(after) {
            Some(end) => after.get(end..).unwrap_or_default(),
            None => {
                kept.push(':');
                after.get(1..).unwrap_or_default()
            }
        };
    }
    kept.push_str(rest);
    kept
}

/// The length of a position like `:12:5` or `: 12:5` at the beginning of a text.
fn position_length(text: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = text.strip_prefix(": ").or_else(|| text.strip_prefix(':'))?;
    let line = digits(first);
    let second = first.get(line..)?.strip_prefix(':')?;
    let column = digits(second);
    (line > 0 && column > 0).then(|| text.len() - second.len() + column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Level;

    fn error(message: &str, rendered: &str) -> DiagnosticArtifact {
        DiagnosticArtifact {
            level: Level::Error,
            tool_level: "error".to_owned(),
            message: message.to_owned(),
            file_name: "src/lib.rs".to_owned(),
            line_start: 1,
            column_start: None,
            line_end: None,
            column_end: None,
            code: Some("E0308".to_owned()),
            spans: Vec::new(),
            children: Vec::new(),
            rendered: Some(rendered.to_owned()),
        }
    }

    fn error_at(line: usize) -> DiagnosticArtifact {
        let margin = " ".repeat(line.to_string().len());
        error(
            &format!("expected `u8`, found `{{closure@src/lib.rs:{line}:14: {line}:16}}`"),
            &format!(
                "error[E0308]: mismatched types\n{margin}--> src/lib.rs:{line}:14\n{margin} |\n\
                 {line} | let x: u8 = || 1;\n{margin} |             ^^^^ expected `u8`\n"
            ),
        )
    }

    /// The unreadable message may be a new error, even if other errors are reported.
    #[test]
    fn unreadable_message_of_failed_check_is_no_verdict() {
        for (unreadable, exit_code, expected) in
            [(0, 101, None), (1, 101, Some("cannot be read")), (1, 0, None)]
        {
            let checked = Checked {
                scope: Scope::KeepGoing,
                timeout: std::time::Duration::from_secs(1),
                finished: Finished {
                    cause: None,
                    exit_code: Some(exit_code),
                    signal: None,
                    duration: std::time::Duration::ZERO,
                    stdout: br#"{"reason":"build-finished","success":false}"#.to_vec(),
                    stderr: Vec::new(),
                    left_open: false,
                    walls: crate::process::walls::WallReport::default(),
                },
                diagnostics: vec![error_at(1)],
                left_out: 0,
                unreadable,
            };
            let found = missing_verdict(&checked).map(|error| error.to_string());
            let is_expected = match expected {
                Some(expected) => found.as_ref().is_some_and(|found| found.contains(expected)),
                None => found.is_none(),
            };
            assert!(is_expected, "{unreadable} {exit_code}: {found:?}");
        }
    }

    #[test]
    fn only_compiler_errors_explain_a_failure() {
        for (line, expected) in [
            ("error: could not compile `a` (lib) due to 1 previous error", false),
            (
                "error: could not compile `a` (bin \"a\") due to 2 previous errors; 1 warning emitted",
                false,
            ),
            ("error: could not compile `a` (lib)", true),
            ("error: failed to run custom build command for `a v0.1.0 (/a)`", true),
            ("error[E0463]: can't find crate", true),
            ("warning: build failed, waiting for other jobs to finish...", false),
            ("  error: of a build script", false),
        ] {
            assert_eq!(is_unexplained(line), expected, "{line}");
        }
    }

    #[test]
    fn moved_errors_are_old_additional_ones_new() {
        assert!(new_errors(&[error_at(9)], vec![error_at(10)]).is_empty());
        assert_eq!(new_errors(&[error_at(9)], vec![error_at(10), error_at(11)]), [error_at(11)]);
        assert!(new_errors(&[error_at(9), error_at(9)], vec![error_at(10)]).is_empty());
        assert_eq!(new_errors(&[], vec![error_at(10)]), [error_at(10)]);
    }

    #[test]
    fn errors_differ_by_code_message_file_or_text() {
        let one = || error("m", "1 | let x: u8 = 300;");
        let others = [
            DiagnosticArtifact { code: None, ..one() },
            DiagnosticArtifact { file_name: "src/main.rs".to_owned(), ..one() },
            error("n", "1 | let x: u8 = 300;"),
            error("m", "1 | let x: u8 = 400;"),
        ];
        for other in others {
            assert_eq!(new_errors(&[one()], vec![other.clone()]), [other]);
        }
    }

    #[test]
    fn only_places_are_removed_for_comparison() {
        assert_eq!(
            without_positions("a::b at x.rs:3:14 or std::c: 5"),
            "a::b at x.rs or std::c: 5"
        );
        assert_eq!(without_line_number("12 | 34"), "| 34");
        assert_eq!(without_line_number("12 is too much"), "12 is too much");
        assert_eq!(without_line_number("   --> a.rs:1:2"), "--> a.rs");
    }
}
