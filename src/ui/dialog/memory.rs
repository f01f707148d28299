//! What is kept of the open dialog from one frame to the next.

use egui::{Context, Id};

use super::PromptId;
use super::arming::Arming;

/// State of the open dialog between frames. A frame without a dialog removes it.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// The display that the state belongs to.
    pub(super) prompt: PromptId,
    pub(super) arming: Arming,
    pub(super) body_height: f32,
    /// The height of the field for a word with its texts, in points; 0 without one.
    pub(super) word_height: f32,
    /// The scroll offset of the body.
    pub(super) offset: f32,
    /// Whether anything was typed too early for the word.
    pub(super) dropped: bool,
    /// The text field that had the keyboard when the window lost it, and gets it back.
    pub(super) field: Option<Id>,
    /// What the answers stand for, if that may change while the dialog is shown.
    asked: Id,
}

fn id() -> Id {
    Id::unique("the open dialog")
}

impl Memory {
    /// The state of a dialog that has not been drawn yet. `word_height` is its usual one.
    pub(super) fn new(prompt: PromptId, delay_ms: u64, word_height: f32) -> Self {
        Self {
            prompt,
            arming: Arming::new(delay_ms),
            body_height: 200.0,
            word_height,
            offset: 0.0,
            dropped: false,
            field: None,
            asked: Id::NULL,
        }
    }

    /// The state of the dialog that was shown in the last frame.
    pub(super) fn of_last_frame(ctx: &Context) -> Option<Self> {
        ctx.data(|data| data.get_temp(id()))
    }

    pub(super) fn keep(self, ctx: &Context) {
        ctx.data_mut(|data| data.insert_temp(id(), self));
    }

    pub(super) fn forget(ctx: &Context) {
        ctx.data_mut(|data| data.remove::<Self>(id()));
    }
}

/// Starts the delay of the answers anew if what they stand for has changed while the dialog is shown. Call this before the
/// dialog is drawn.
pub(super) fn ask_anew(ctx: &Context, prompt: PromptId, asked: &str) {
    let (asked, memory) = (Id::unique(asked), Memory::of_last_frame(ctx));
    if let Some(mut memory) = memory.filter(|it| it.prompt == prompt && it.asked != asked) {
        memory.arming.restart();
        Memory { asked, ..memory }.keep(ctx);
    }
}
