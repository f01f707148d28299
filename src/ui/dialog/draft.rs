//! Keeps what a person has entered in a dialog until its question is answered or ends, because other dialogs may come in
//! front of it, and a change of the plan may close it.

use std::path::PathBuf;

use egui::{Context, Id};
use uuid::Uuid;

use super::fill_in::EnteredInput;
use crate::plan::Digest;

/// The maximum number of kept drafts. The oldest one beyond it is dropped.
const MAX_DRAFTS: usize = 32;

/// The question that a draft is for. It stays the same when the question is shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Whether to run a step.
    Step {
        /// The run.
        run_id: Uuid,
        /// The step, counted from 0.
        step_index: usize,
    },
    /// Why a plan is rejected. The plan file may have changed since.
    RejectedFile(PathBuf),
    /// Why a plan without a file is rejected.
    RejectedPlan(Digest),
    /// A secret.
    Secret(Uuid),
    /// Why old records are purged.
    Purge,
    /// The inputs of a plan.
    Inputs(PathBuf),
}

impl Subject {
    /// Whether Ctrl+Enter applies what was entered, because Enter may begin another line.
    pub(super) const fn has_key_to_apply(&self) -> bool {
        matches!(self, Self::Inputs(_) | Self::RejectedFile(_) | Self::RejectedPlan(_))
    }
}

/// What a person has entered in a dialog.
#[derive(Debug, Clone, Default)]
pub(in crate::ui) struct Entered {
    /// The word that names the target of a dangerous step, the reason of a rejection, or a secret.
    pub(super) typed: String,
    /// The reason of an answer about a step.
    pub(in crate::ui) reason: String,
    /// The inputs of a plan.
    pub(super) inputs: Vec<EnteredInput>,
    /// Whether the key that applies it was pressed in this frame.
    pub(super) applied: bool,
}

/// The drafts, the latest last.
#[derive(Debug, Clone, Default)]
struct Drafts(Vec<(Subject, Entered)>);

fn id() -> Id {
    Id::unique("what was entered in dialogs")
}

/// Drops the drafts of questions that cannot be answered any more. Call this in every frame, so that a secret stays in
/// memory no longer than its question.
pub fn keep_drafts(ctx: &Context, is_open: impl Fn(&Subject) -> bool) {
    change(ctx, |drafts| drafts.retain(|(subject, _)| is_open(subject)));
}

/// Takes the draft for a question; an empty one if there is none.
pub(in crate::ui) fn take(ctx: &Context, subject: Option<&Subject>) -> Entered {
    change(ctx, |drafts| {
        let index = drafts.iter().position(|(kept, _)| Some(kept) == subject)?;
        Some(drafts.remove(index).1)
    })
    .unwrap_or_default()
}

/// Keeps a draft, unless it is empty.
pub(in crate::ui) fn keep(ctx: &Context, subject: Option<Subject>, entered: Entered) {
    let Some(subject) = subject else { return };
    if entered.typed.is_empty() && entered.reason.is_empty() && entered.inputs.is_empty() {
        return;
    }
    change(ctx, |drafts| {
        drafts.push((subject, entered));
        let excess = drafts.len().saturating_sub(MAX_DRAFTS);
        drafts.drain(..excess);
    });
}

fn change<T>(ctx: &Context, change: impl FnOnce(&mut Vec<(Subject, Entered)>) -> T) -> T {
    ctx.data_mut(|data| change(&mut data.get_temp_mut_or_default::<Drafts>(id()).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_plan(name: &str) -> Option<Subject> {
        Some(Subject::RejectedFile(name.into()))
    }

    fn typed(text: &str) -> Entered {
        Entered { typed: text.to_owned(), ..Entered::default() }
    }

    #[test]
    fn the_oldest_draft_beyond_the_limit_is_dropped() {
        let ctx = Context::default();
        for number in 0..=MAX_DRAFTS {
            keep(&ctx, of_plan(&number.to_string()), typed("too much"));
        }
        assert_eq!(take(&ctx, of_plan("0").as_ref()).typed, "");
        assert_eq!(take(&ctx, of_plan("1").as_ref()).typed, "too much");
        assert_eq!(take(&ctx, of_plan("1").as_ref()).typed, "", "it was taken");
    }

    #[test]
    fn a_secret_is_dropped_with_its_question() {
        let ctx = Context::default();
        let secret = Subject::Secret(Uuid::from_u128(1));
        keep(&ctx, Some(secret.clone()), typed("kingfisher"));
        keep(&ctx, of_plan("a.json"), typed("too much"));
        keep_drafts(&ctx, |subject| *subject != secret);
        assert_eq!(take(&ctx, Some(&secret)).typed, "");
        assert_eq!(take(&ctx, of_plan("a.json").as_ref()).typed, "too much");
    }
}
