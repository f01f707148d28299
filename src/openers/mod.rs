//! Opens what other programs and people write as plans (SPEC §13): diffs, patches of agents, edit blocks, tool calls,
//! suggestions of compilers and analysers, edits of language servers, runbooks, and plans of Terraform and OpenTofu.
//!
//! Pure: bytes become the bytes of a plan of ours, which is then parsed, reviewed and signed like any other plan file.
//! A format that names places in files, but not their text, reads these files through [`Files`]; the plan then has
//! their digests. Nothing is guessed. What a plan cannot say is an error, and then there is no plan.

mod begin_patch;
mod calls;
mod diff;
mod files;
mod json;
mod lines;
mod place;
mod ranges;
mod recognise;
mod runbook;
mod search_replace;
mod terraform;
#[cfg(test)]
mod tests;
mod written;

use crate::plan::words::words;
use crate::plan::{Code, Finding, Severity, is_valid, parse, visible};
use files::Texts;
pub use files::{Beside, Files, NoFiles};
use lines::Lines;

words! {
    /// A format of other programs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format {
        /// A unified diff, of git or of `diff -u`.
        Diff = "diff",
        /// The patch of Codex and others: `*** Begin Patch`.
        BeginPatch = "begin_patch",
        /// Edit blocks of Aider and others: `<<<<<<< SEARCH`.
        SearchReplace = "search_replace",
        /// Tool calls of a model, as the interfaces of Anthropic, OpenAI and Gemini write them.
        ToolCalls = "tool_calls",
        /// The messages of cargo with the suggestions of the compiler.
        Cargo = "cargo",
        /// The edit of a language server: `WorkspaceEdit`.
        WorkspaceEdit = "workspace_edit",
        /// The fixes of an analyser, in SARIF 2.1.0.
        Sarif = "sarif",
        /// A Markdown text with blocks of commands.
        Markdown = "markdown",
        /// A runbook of Atuin Desktop.
        Atuin = "atrb",
        /// The plan of Terraform or OpenTofu, as `show -json` prints it.
        Terraform = "terraform",
    }
}

impl Format {
    /// What it is called, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Diff => "a diff",
            Self::BeginPatch => "a patch (*** Begin Patch)",
            Self::SearchReplace => "edit blocks (SEARCH/REPLACE)",
            Self::ToolCalls => "tool calls",
            Self::Cargo => "suggestions of the compiler",
            Self::WorkspaceEdit => "an edit of a language server",
            Self::Sarif => "fixes of an analyser (SARIF)",
            Self::Markdown => "a Markdown runbook",
            Self::Atuin => "an Atuin runbook",
            Self::Terraform => "a Terraform plan",
        }
    }
}

/// A file of another program as a plan.
#[derive(Debug)]
pub struct Opened {
    /// Its format.
    pub format: Format,
    /// The bytes of the plan; `None` if an error was found.
    pub plan: Option<Vec<u8>>,
    /// What a plan cannot say, and what should be known. Lines are those of the file.
    pub findings: Vec<Finding>,
}

/// The maximum length of a message about a file, in bytes.
const MESSAGE_BYTES: usize = 1_000;

/// Opens a file of another program; `None` if it has none of the formats, as a plan file of ours.
pub fn open(bytes: &[u8], files: &dyn Files) -> Option<Opened> {
    let format = recognise::format_of(&String::from_utf8_lossy(bytes))?;
    Some(open_as(format, bytes, files))
}

/// Opens a file as one of a format, whatever its bytes are.
pub fn open_as(format: Format, bytes: &[u8], files: &dyn Files) -> Opened {
    let drafted = match std::str::from_utf8(bytes) {
        Ok(text) => draft(format, text, bytes, files),
        Err(_) => {
            let message = format!(
                "{} that is not UTF-8 cannot be a plan, whose text is Unicode; apply it by its own program",
                format.name()
            );
            Err(vec![Finding::error(Code::NotJson, "", message)])
        }
    };
    let (plan, mut findings) = match drafted.and_then(|draft| written::plan(format, bytes, draft)) {
        Ok((plan, findings)) => (Some(plan), findings),
        Err(findings) => (None, findings),
    };
    findings
        .sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.line, finding.column));
    // A name or a command may have characters that no plan can have.
    let refused = plan.as_deref().map(|plan| parse(plan).findings).unwrap_or_default();
    // That its inputs are not filled in yet is found by whoever opens the plan.
    let is_refused = |it: &Finding| it.severity == Severity::Error && it.code != Code::NotFilledIn;
    let refused = refused.into_iter().filter(is_refused);
    findings.extend(refused.map(|it| Finding::error(it.code, "", it.message)));
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    for finding in &mut findings {
        // A block may end where the file does.
        finding.line = finding.line.min(lines);
        // Messages have words of the file.
        let mut message = visible(&finding.message).into_owned();
        if message.len() > MESSAGE_BYTES {
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES));
            message.push('…');
        }
        finding.message = message;
    }
    let plan = plan.filter(|_| is_valid(&findings));
    Opened { format, plan, findings }
}

/// Whether a tool call only reads, or changes nothing outside of the agent that makes it. Of what is not known here, the
/// answer is no.
pub fn only_reads(call: &[u8]) -> bool {
    std::str::from_utf8(call).is_ok_and(calls::only_reads)
}

fn draft(
    format: Format,
    text: &str,
    bytes: &[u8],
    files: &dyn Files,
) -> Result<written::Draft, Vec<Finding>> {
    if let Some((line, other)) = recognise::another_in(format, text) {
        let message = format!(
            "here begins {}, and a plan is made of one format: split the file",
            other.name()
        );
        return Err(vec![Finding { line, ..Finding::error(Code::BadValue, "", message) }]);
    }
    let mut texts = Texts::new(files);
    match format {
        Format::Diff => diff::edits(Lines::of(text)).map(Into::into),
        Format::BeginPatch => begin_patch::edits(Lines::of(text), &mut texts).map(Into::into),
        Format::SearchReplace => search_replace::edits(Lines::of(text), texts).map(Into::into),
        Format::ToolCalls => calls::draft(text, texts),
        Format::Cargo => ranges::cargo(text, texts).map(Into::into),
        Format::WorkspaceEdit => ranges::lsp(text, texts).map(Into::into),
        Format::Sarif => ranges::sarif(text, texts).map(Into::into),
        Format::Markdown => runbook::markdown(text).map(Into::into),
        Format::Atuin => runbook::atuin(text).map(Into::into),
        Format::Terraform => terraform::commands(text, bytes, files).map(Into::into),
    }
}
