//! The signatures of other persons under a plan (SPEC §14), and a request for the person's own.

use super::PlanView;
use super::bar_model::Bar;
use super::looked_at::to_look_at;
use crate::plan::visible_name;
use crate::ui::{Command, Situation, Tone, format, icon, widgets};

/// What is known about the signatures of other persons.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReviewsView<'a> {
    /// Who asks for the person's signature, then what has come back, a line for each answer.
    pub lines: &'a [(Tone, String)],
    /// The number of other persons who must have signed.
    pub others: usize,
    /// The number of them who have not.
    pub missing: usize,
    /// Who asks for the person's signature; `None` if the plan is no request.
    pub asked_by: Option<&'a str>,
    /// The answer of the person to the request.
    pub answer: AnswerState,
}

/// The answer of the person to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerState {
    /// There is none.
    #[default]
    None,
    /// It is being signed.
    Signing,
    /// The person has signed.
    Signed,
    /// The person has refused.
    Refused,
}

impl ReviewsView<'_> {
    /// What has come back, a line for each answer.
    pub fn answers(&self) -> &[(Tone, String)] {
        self.lines.get(usize::from(self.asked_by.is_some())..).unwrap_or_default()
    }
}

/// Shows what has come back, or who asks.
pub fn answers_ui(ui: &mut egui::Ui, lines: &[(Tone, String)]) {
    for (tone, line) in lines {
        let icon = match tone {
            Tone::Safe => icon::SIGNATURE,
            Tone::Danger => icon::PROHIBIT,
            Tone::Accent => icon::ENVELOPE,
            Tone::Dim => icon::INFO,
            _ => icon::WARNING,
        };
        widgets::remark(ui, icon, *tone, line);
    }
}

/// The bar of a request for the person's signature; `None` for any other plan.
pub(super) fn request_bar(view: &PlanView<'_>, situation: &Situation) -> Option<Bar> {
    let by = match view.reviews.asked_by?.trim() {
        "" => "whoever asks".into(),
        by => visible_name(by),
    };
    let others = vec![Command::RefuseRequest];
    let give = format!("Give the file back to {by}.");
    Some(match view.reviews.answer {
        AnswerState::Signing => {
            let detail = "With your SSH key; a hardware key may wait for your touch.";
            Bar::new(icon::CLOCK, Tone::Dim, "Signing your answer", detail)
        }
        AnswerState::Signed => Bar {
            others: vec![Command::RefuseRequest, Command::SaveAnswer],
            ..Bar::new(icon::SIGNATURE, Tone::Safe, "Signed", give)
        },
        AnswerState::Refused => Bar {
            others: vec![Command::SignRequest, Command::SaveAnswer],
            ..Bar::new(icon::PROHIBIT, Tone::Danger, "Refused", give)
        },
        AnswerState::None => {
            let detail = match situation.not_refusable {
                Some(why) => why.to_owned(),
                None if view.looked_at.missing > 0 => to_look_at(view, view.looked_at.missing),
                None => "Nothing of it runs here.".to_owned(),
            };
            let bar = Bar::new(icon::ENVELOPE, Tone::Accent, "Asked to sign", detail);
            let bar = Bar { primary: Some(Command::SignRequest), others, ..bar };
            bar.looking_first(view, situation)
        }
    })
}

/// The bar of a plan that lacks signatures of other persons.
pub(super) fn missing_bar(view: &PlanView<'_>) -> Bar {
    let ReviewsView { others, missing, .. } = view.reviews;
    let title = match missing {
        1 => "Needs another signature".to_owned(),
        missing => format!("Needs {missing} more signatures"),
    };
    let detail = match others - missing {
        0 => "Ask for it, and open the file that comes back.".to_owned(),
        given => format!("{given} of {} came back.", format::counted(others, "signature")),
    };
    let bar = Bar::new(icon::SIGNATURE, Tone::Caution, title, detail);
    Bar { primary: Some(Command::AskForSignature), others: vec![Command::Reject], ..bar }
}
