//! The dialog that purges records: which, what would go, and why.

use egui::{Margin, TextEdit, Ui};

use super::memory::ask_anew;
use super::{Answer, Answers, DialogShape, Entered, PromptId, READ_FIRST, Subject, question_ui};
use crate::plan::drawable;
use crate::risk::RiskLevel;
use crate::run::text::size;
use crate::run::{PurgePreview, PurgeRule};
use crate::ui::action::WindowAction;
use crate::ui::plan::indented;
use crate::ui::widgets::rich;
use crate::ui::{Action, DialogAction, Look, Text, Theme, Tone, format, icon, widgets};

/// The ages to choose from, in days, with their names.
pub const PURGE_AGES: [(u32, &str); 5] =
    [(30, "30 days"), (90, "90 days"), (180, "6 months"), (365, "1 year"), (730, "2 years")];

/// The sizes of contents to choose from, in bytes.
pub const PURGE_SIZES: [u64; 3] = [1 << 20, 10 << 20, 100 << 20];

/// What the dialog shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PurgeView {
    /// What can be chosen.
    pub choices: Vec<PurgeChoice>,
    /// The chosen rule.
    pub rule: PurgeRule,
    /// What it would take; `None` while it is counted, or why that is not known.
    pub preview: Option<Result<PurgePreview, String>>,
    /// The start of the first and the last of these runs and loops, for people.
    pub dates: Option<(String, String)>,
}

/// One rule to choose.
#[derive(Debug, Clone, PartialEq)]
pub struct PurgeChoice {
    /// The heading that it stands below.
    pub of: PurgeKind,
    /// Its name.
    pub name: String,
    /// The rule.
    pub rule: PurgeRule,
}

/// What a rule goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurgeKind {
    /// A run, the runs of a plan, or a loop.
    Named,
    /// The age of runs and loops.
    Age,
    /// The size of contents.
    Size,
}

impl PurgeKind {
    /// All of them with their headings, in the order of the dialog.
    const HEADINGS: [(Self, &str); 3] = [
        (Self::Named, "Only"),
        (Self::Age, "Runs and loops that ended more than this ago"),
        (Self::Size, "Only contents of at least this size"),
    ];

    /// What goes and what stays.
    const fn words(self) -> &'static str {
        match self {
            Self::Size => {
                "These outputs and contents of files are deleted for ever, and nothing else. What the steps did \
                 stays, and the chain of all records can still be verified. Such a step cannot be reverted any more."
            }
            Self::Named | Self::Age => {
                "What they did is deleted for ever: steps, outputs, contents of files, the plans that only they \
                 used, and of loops the goal and what planners sent, got and looked at. That they happened, when, by \
                 whom and how they ended stays, and the chain of all records can still be verified."
            }
        }
    }
}

impl PurgeView {
    /// The chosen rule without the choice about old copies.
    fn chosen(&self) -> PurgeRule {
        PurgeRule { with_old_backups: false, ..self.rule.clone() }
    }

    /// What the chosen rule goes by.
    fn kind(&self) -> PurgeKind {
        let chosen = self.chosen();
        let choice = self.choices.iter().find(|choice| choice.rule == chosen);
        choice.map_or(PurgeKind::Age, |choice| choice.of)
    }

    /// What would go, in a few words; `None` if nothing would, or that is not known.
    fn going(&self) -> Option<String> {
        let preview = self.preview.as_ref()?.as_ref().ok()?;
        let counted =
            |number: u64, word: &str| (number > 0).then(|| format::counted(count(number), word));
        let parts = match self.rule.takes_contents_only() {
            true => vec![counted(preview.contents, "content")],
            false => vec![counted(preview.runs, "run"), counted(preview.loops, "loop")],
        };
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        let copies = preview.old_backups.len().try_into().unwrap_or(u64::MAX);
        let copies = counted(copies, "old backup").filter(|_| self.rule.with_old_backups);
        match (parts.is_empty(), copies) {
            (false, _) => Some(format!("Purge {}", parts.join(" and "))),
            (true, Some(copies)) => Some(format!("Delete {copies}")),
            (true, None) => None,
        }
    }
}

pub(super) fn purge_ui(ui: &mut Ui, prompt: PromptId, view: &PurgeView, actions: &mut Vec<Action>) {
    let going = view.going();
    // They are counted while the dialog is shown, and another rule takes others.
    ask_anew(ui.ctx(), prompt, &format!("{going:?} {:?}", view.rule));
    let shape = DialogShape {
        title: "Purge records?",
        risk: Some(RiskLevel::Dangerous),
        chip_prefix: "",
        width: 600.0,
        subject: Some(Subject::Purge),
        word: None,
    };
    let text = going.as_deref().unwrap_or("Purge");
    let answers = |entered: &Entered| {
        let action = DialogAction::Purge {
            rule: view.rule.clone(),
            reason: entered.typed.trim().to_owned(),
        };
        let hint = if going.is_some() { READ_FIRST } else { "There is nothing to purge." };
        let purge = Answer::approve(icon::PROHIBIT, text, hint, action);
        let purge = Answer { look: Look::Danger, ready: going.is_some(), ..purge };
        Answers { safe: vec![Answer::leave("Not now")], approve: Some(purge) }
    };
    let mut chosen = None;
    question_ui(ui, prompt, &shape, actions, answers, |ui, entered, id, _| {
        indented(ui, |ui| {
            chosen = choices_ui(ui, view);
            ui.add_space(4.0);
            preview_ui(ui, view);
            chosen = backups_ui(ui, view).or(chosen.take());
            ui.add_space(4.0);
            widgets::paragraph(ui, view.kind().words(), Text::Body, Tone::Plain);
            ui.add_space(4.0);
            let label = widgets::line(ui, "Reason, recorded with the purge", Text::Meta, Tone::Dim);
            let edit = TextEdit::singleline(&mut entered.typed)
                .id(id.with("reason"))
                .desired_width(f32::INFINITY)
                .margin(Margin::symmetric(10, 8));
            ui.add(edit).labelled_by(label.id);
        });
    });
    actions.extend(chosen.map(|rule| Action::Window(WindowAction::ChoosePurge(rule))));
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The rules to choose from. Returns the one that was chosen now.
fn choices_ui(ui: &mut Ui, view: &PurgeView) -> Option<PurgeRule> {
    let (now, mut chosen) = (view.chosen(), None);
    for (kind, heading) in PurgeKind::HEADINGS {
        let choices: Vec<_> = view.choices.iter().filter(|choice| choice.of == kind).collect();
        if choices.is_empty() {
            continue;
        }
        widgets::heading(ui, heading);
        ui.horizontal_wrapped(|ui| {
            for choice in choices {
                if widgets::choice(ui, &drawable(&choice.name), choice.rule == now).clicked() {
                    let with_old_backups = view.rule.with_old_backups;
                    chosen = Some(PurgeRule { with_old_backups, ..choice.rule.clone() });
                }
            }
        });
    }
    chosen
}

/// The facts of the preview. Each has its line from the start, so that nothing moves.
fn preview_ui(ui: &mut Ui, view: &PurgeView) {
    let preview = match &view.preview {
        Some(Err(why)) => return widgets::remark(ui, icon::FAILED, Tone::Danger, why),
        Some(Ok(preview)) => Some(preview),
        None => None,
    };
    let known = |text: &dyn Fn(&PurgePreview) -> String| {
        preview.map_or_else(|| "being counted…".to_owned(), text)
    };
    let counted = |number: u64, word: &str| format::counted(count(number), word);
    let runs =
        known(&|it| format!("{} with {}", counted(it.runs, "run"), counted(it.steps, "step")));
    let loops = known(&|it| {
        format!(
            "{}, planners' records of {}",
            counted(it.loops, "loop"),
            counted(it.attempts, "attempt")
        )
    });
    let records = known(&|it| {
        let (rows, contents) = (counted(it.rows, "record"), counted(it.contents, "content"));
        format!("{rows}, {contents}, {}", size(it.bytes))
    });
    let dates = known(&|_| match &view.dates {
        Some((first, last)) => format!("{first} to {last}"),
        None => "none".to_owned(),
    });
    for (name, value) in [("runs", runs), ("loops", loops), ("records", records), ("begun", dates)]
    {
        widgets::fact(ui, name, value, Text::Body);
    }
    let Some(preview) = preview else { return };
    for (kept, word) in [(preview.under_way, "run"), (preview.loops_under_way, "loop")] {
        if kept > 0 {
            let text = format!("{} under way will be kept.", counted(kept, word));
            widgets::remark(ui, icon::INFO, Tone::Dim, text);
        }
    }
}

/// Offers to delete the copies that migrations made of the database, if there are any. Returns the rule with the other
/// choice, if it was changed now.
fn backups_ui(ui: &mut Ui, view: &PurgeView) -> Option<PurgeRule> {
    let preview = view.preview.as_ref()?.as_ref().ok()?;
    if preview.old_backups.is_empty() {
        return None;
    }
    let copies = preview.old_backups.iter();
    let copies: Vec<_> =
        copies.map(|(name, bytes)| format!("{} ({})", drawable(name), size(*bytes))).collect();
    let text =
        format!("Copies from before a migration still have what is purged: {}.", copies.join(", "));
    widgets::remark(ui, icon::INFO, Tone::Caution, text);
    let mut with_old_backups = view.rule.with_old_backups;
    let label = rich("Delete these copies, too", Text::Body, Theme::of(ui).text);
    let changed = ui.checkbox(&mut with_old_backups, label).changed();
    changed.then(|| PurgeRule { with_old_backups, ..view.rule.clone() })
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::*;
    use crate::ui::tests::window;

    /// The rule that the dialog asks for.
    fn chosen(actions: &[Action]) -> Option<&PurgeRule> {
        actions.iter().find_map(|action| match action {
            Action::Window(WindowAction::ChoosePurge(rule)) => Some(rule),
            _ => None,
        })
    }

    #[test]
    fn it_says_what_goes_and_asks_for_a_rule() {
        let mut harness = window("purge", [900.0, 760.0]);
        for text in
            ["412 runs with 5,120 steps", "3 loops", "212.4 MiB", "2025-01-03", "v4.bak (48 MiB)"]
        {
            assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
        }
        harness.get_by_label("1 year").click();
        harness.run_ok();
        let year = chosen(&harness.state().actions).unwrap().before_ms.unwrap();
        assert!(year < crate::ui::tests::fixture::now().ms - 364 * 24 * 60 * 60 * 1_000);
        harness.run_steps(40);
        harness.get_by_label("Purge 412 runs and 3 loops").click();
        harness.run_ok();
        let purges = |action: &Action| matches!(action, Action::Dialog(DialogAction::Purge { rule, .. }) if rule.before_ms.is_some());
        assert!(harness.state().actions.iter().any(purges));
    }

    #[test]
    fn a_run_its_plan_sizes_and_old_copies_can_be_chosen() {
        for (label, check) in [
            (
                "the run Rename Config to Settings",
                (|rule| rule.run.is_some()) as fn(&PurgeRule) -> bool,
            ),
            ("every run of its plan", |rule| rule.plan.is_some()),
            ("10 MiB", |rule| rule.larger_than == Some(10 << 20)),
            ("Delete these copies, too", |rule| rule.with_old_backups && rule.before_ms.is_some()),
        ] {
            let mut harness = window("purge", [900.0, 760.0]);
            harness.get_by_label_contains(label).click();
            harness.run_ok();
            assert!(check(chosen(&harness.state().actions).unwrap()), "{label}");
        }
    }

    #[test]
    fn the_button_names_what_goes() {
        let preview = PurgePreview { contents: 2, ..PurgePreview::default() };
        let rule = PurgeRule { larger_than: Some(1), ..PurgeRule::default() };
        let view = PurgeView { choices: Vec::new(), rule, preview: Some(Ok(preview)), dates: None };
        assert_eq!(view.going().as_deref(), Some("Purge 2 contents"));
        let nothing = PurgePreview {
            old_backups: [("execution_log.v4.bak".to_owned(), 7)].into(),
            ..PurgePreview::default()
        };
        let view = PurgeView { preview: Some(Ok(nothing)), ..view };
        assert_eq!(view.going(), None);
        let rule = PurgeRule { with_old_backups: true, ..PurgeRule::default() };
        assert_eq!(PurgeView { rule, ..view }.going().as_deref(), Some("Delete 1 old backup"));
    }

    /// What an answer stands for is read before it counts, also if it was counted or chosen late.
    #[test]
    fn what_goes_is_read_before_it_goes() {
        let view = PurgeView {
            choices: Vec::new(),
            rule: PurgeRule::default(),
            preview: None,
            dates: None,
        };
        let prompt = PromptId { about: None, step_index: 0, showing: 1 };
        let mut harness = Harness::builder()
            .with_size([900.0, 700.0])
            .with_step_dt(0.1)
            .with_max_steps(1)
            .with_context_setup(crate::ui::theme::install)
            .build_ui_state(
                |ui, view: &mut PurgeView| purge_ui(ui, prompt, view, &mut Vec::new()),
                view,
            );
        harness.run_steps(40);
        let counts = |harness: &Harness<'_, PurgeView>, text: &str| {
            !harness.get_by_label(text).accesskit_node().is_disabled()
        };
        assert!(!counts(&harness, "Purge"));
        for (runs, before_ms) in [(412, None), (7, None), (7, Some(5))] {
            let text = format!("Purge {}", format::counted(runs, "run"));
            let view = harness.state_mut();
            let runs = runs.try_into().unwrap();
            view.preview = Some(Ok(PurgePreview { runs, ..PurgePreview::default() }));
            view.rule.before_ms = before_ms;
            for _ in 0..15 {
                harness.step();
                assert!(!counts(&harness, &text), "{text}");
            }
            harness.run_steps(3);
            assert!(counts(&harness, &text), "{text}");
        }
    }
}
