//! A notice, usually about a problem: what happened, what to do next, and details to expand and copy.
//!
//! Notices take their room from the main part of a page, above its bar. Everything else keeps its place, so that a click
//! never meets something else than a moment before. Nothing is drawn over a page: a step that is covered would count as
//! looked at.

use std::borrow::Cow;

use egui::{Align, Frame, Id, Layout, Margin, Panel, Role, ScrollArea, Stroke, Ui, vec2};

use uuid::Uuid;

use super::action::{LoopAction, Page, PlanAction, WindowAction};
use super::overlay::explain_ui;
use super::widgets::panel_frame;
use super::{Action, Command, Look, Text, Theme, Tone, access, icon, widgets};
use crate::plan::Code;

/// A notice, as shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The identity of the notice, used to close it.
    pub id: u64,
    /// The severity of the notice.
    pub tone: Tone,
    /// The subject of the notice, in one line.
    pub summary: String,
    /// All details; may be empty.
    pub details: String,
    /// What to do next; may be empty.
    pub next: String,
    /// How often the same was reported.
    pub times: usize,
    /// Where the notice is shown, and when it ends. The person can close any notice.
    pub scope: Scope,
}

/// Where a notice is shown, and when it ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// In the whole window. It does not end by itself.
    #[default]
    Window,
    /// On this page, until the person leaves it.
    Page(Page),
    /// On the pages about the shown plan, until another one is shown.
    Plan,
    /// As [`Plan`](Self::Plan), for a notice about a change of the plan or of what an approval covers: until the next change, decision or run.
    Change,
    /// In the whole window, until the person looks at this run.
    Run(Uuid),
    /// In the whole window, until the person looks at this loop.
    Loop(Uuid),
}

impl Scope {
    /// Whether a notice with this scope is shown on this page.
    pub fn is_on(self, page: Page) -> bool {
        match self {
            Self::Window | Self::Run(_) | Self::Loop(_) => true,
            Self::Page(its) => its == page,
            Self::Plan | Self::Change => matches!(page, Page::Plan | Page::Diagnostics),
        }
    }

    /// The actions of *Show*; none if there is nothing to show.
    fn show(self) -> Vec<Action> {
        match self {
            Self::Run(run_id) => vec![Action::Plan(PlanAction::OpenRun(run_id))],
            Self::Loop(loop_id) => {
                vec![Action::Do(Command::GoLoop), Action::Loop(LoopAction::Show(loop_id))]
            }
            Self::Window | Self::Page(_) | Self::Plan | Self::Change => Vec::new(),
        }
    }
}

impl Notice {
    /// Whether both say the same.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.tone, &self.summary, &self.details, &self.next, self.scope)
            == (other.tone, &other.summary, &other.details, &other.next, other.scope)
    }

    fn summary_with_times(&self) -> Cow<'_, str> {
        match self.times {
            0 | 1 => Cow::Borrowed(&self.summary),
            times => Cow::Owned(format!("{} ({times} times)", self.summary)),
        }
    }
}

/// With less height than this, in points, one notice is shown until the person unfolds the others; otherwise two.
const LITTLE_HEIGHT: f32 = 560.0;
/// The part of the height that notices take at most. The rest scrolls.
const MAX_PART: f32 = 0.4;

/// Draws the notices at the bottom of what a page has left for its main part, the latest first.
pub(super) fn notices_ui(ui: &mut Ui, notices: &[&Notice], actions: &mut Vec<Action>) {
    if notices.is_empty() {
        return;
    }
    let theme = Theme::of(ui);
    let room = ui.available_height();
    let (all_id, height_id) = (Id::unique("all notices"), Id::unique("height of notices"));
    let folded = if room < LITTLE_HEIGHT { 1 } else { 2 };
    let (mut all, height) = ui.data(|data| {
        (data.get_temp(all_id).unwrap_or(false), data.get_temp(height_id).unwrap_or(0.0_f32))
    });
    let shown = if all { notices.len() } else { folded.min(notices.len()) };
    let panel = Panel::bottom("notices").exact_size(height.min(room * MAX_PART)).resizable(false);
    let content = panel.frame(panel_frame(theme.panel, Margin::ZERO)).show(ui, |ui| {
        // One notice has less height than an area that scrolls usually takes.
        let area = ScrollArea::vertical()
            .id_salt("notices")
            .auto_shrink([false, false])
            .min_scrolled_height(0.0);
        area.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (index, notice) in notices.iter().rev().take(shown).enumerate() {
                let more = (index == 0 && notices.len() > folded).then(|| match all {
                    true => "Show fewer".to_owned(),
                    false => format!("{} more", notices.len() - shown),
                });
                if notice_ui(ui, notice, more.as_deref(), actions) {
                    all = !all;
                }
            }
        })
        .content_size
        .y
    });
    let (content, all) = (content.inner, all && notices.len() > folded);
    ui.data_mut(|data| {
        data.insert_temp(all_id, all);
        data.insert_temp(height_id, content);
    });
    if (content - height).abs() > 0.5 {
        ui.ctx().request_discard("the height of the notices has changed");
    }
}

/// Draws a notice, with a button `more` that unfolds or folds the others. Returns whether it was clicked.
fn notice_ui(ui: &mut Ui, notice: &Notice, more: Option<&str>, actions: &mut Vec<Action>) -> bool {
    let theme = Theme::of(ui);
    let icon = match notice.tone {
        Tone::Danger => icon::FAILED,
        Tone::Caution => icon::WARNING,
        Tone::Safe => icon::DONE,
        Tone::Plain | Tone::Dim | Tone::Accent => icon::INFO,
    };
    let open_id = Id::unique(("details of notice", notice.id));
    let mut is_open = ui.data(|data| data.get_temp(open_id).unwrap_or(false));
    let mut more_clicked = false;
    let frame = Frame::NONE.fill(theme.chip(notice.tone, theme.panel));
    let response = frame.inner_margin(Margin::symmetric(14, 6)).show(ui, |ui| {
        access::landmark(ui, Role::Group, "Notice");
        ui.set_min_width(ui.available_width());
        ui.horizontal_top(|ui| {
            widgets::icon_ui(ui, vec2(18.0, 24.0), icon, 16.0, theme.chip_text(notice.tone));
            ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                ui.spacing_mut().item_spacing.x = 2.0;
                if widgets::icon_button(ui, icon::CLOSE, "Close this notice").clicked() {
                    actions.push(Action::Window(WindowAction::DismissNotice(notice.id)));
                }
                let text = format!("{}\n{}\n{}", notice.summary, notice.details, notice.next);
                widgets::copy_button(ui, text.trim_end(), "this notice");
                if !notice.details.is_empty() {
                    let (icon, name) = match is_open {
                        true => (icon::UP, "Hide the details"),
                        false => (icon::DOWN, "Show the details"),
                    };
                    if widgets::icon_button(ui, icon, name).clicked() {
                        is_open = !is_open;
                        ui.data_mut(|data| data.insert_temp(open_id, is_open));
                    }
                }
                let show = notice.scope.show();
                if !show.is_empty()
                    && widgets::button(ui, Look::Plain, None, "Show", true).clicked()
                {
                    actions.extend(show);
                }
                let codes = Code::named_in(&format!("{} {}", notice.summary, notice.details));
                explain_ui(ui, codes.get(..1).unwrap_or_default());
                more_clicked = more.is_some_and(|more| widgets::view_choice(ui, more, false));
                ui.add_space(8.0);
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    // Centres one line beside the buttons.
                    ui.add_space(3.0);
                    let summary = notice.summary_with_times();
                    let said = widgets::paragraph(ui, summary, Text::Body, Tone::Plain);
                    access::announce(&said, notice.tone == Tone::Danger);
                    if !notice.next.is_empty() {
                        widgets::paragraph(ui, &notice.next, Text::Meta, Tone::Plain);
                    }
                    if is_open && !notice.details.is_empty() {
                        widgets::paragraph(ui, &notice.details, Text::Mono, Tone::Plain);
                    }
                });
            });
        });
    });
    let rect = response.response.rect;
    ui.painter().hline(rect.x_range(), rect.top() + 0.5, Stroke::new(1.0, theme.line));
    more_clicked
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::tests::window;

    /// A click that was meant for a button of the bar would meet something else.
    #[test]
    fn notices_move_no_button_and_leave_steps() {
        for size in [[900.0, 600.0], [1280.0, 800.0], [1920.0, 1080.0]] {
            let (plain, noticed) = (window("plan", size), window("notices", size));
            for label in ["Authorize…", "Reject…", "Simulate", "Arguments"] {
                let rect = |it: &egui_kittest::Harness<'_, _>| it.get_by_label(label).rect();
                assert_eq!(rect(&plain), rect(&noticed), "{label} at {size:?}");
            }
            let above = noticed.get_by_label_contains("The authorization is void");
            let top = above.rect().top();
            let steps = noticed.query_all_by_label_contains("Step ");
            let visible = steps.filter(|it| it.rect().bottom() <= top && it.rect().left() < 400.0);
            assert!(visible.count() >= 2, "at {size:?}");
        }
    }

    /// What a notice has above its room would be covered by the list.
    #[test]
    fn one_notice_lies_in_its_room() {
        let notice = Notice {
            id: 1,
            tone: Tone::Caution,
            summary: "The plan file has changed.".into(),
            details: String::new(),
            next: "Review the steps again.".into(),
            times: 1,
            scope: Scope::Window,
        };
        let list_bottom = std::cell::Cell::new(0.0);
        let mut harness = egui_kittest::Harness::builder()
            .with_size([600.0, 400.0])
            .with_context_setup(crate::ui::theme::install)
            .build_ui(|ui| {
                notices_ui(ui, &[&notice], &mut Vec::new());
                list_bottom.set(ui.available_rect_before_wrap().bottom());
            });
        harness.run_ok();
        let summary = harness.get_by_label("The plan file has changed.").rect();
        assert!(summary.top() >= list_bottom.get(), "{summary} and {}", list_bottom.get());
    }

    #[test]
    fn other_notices_are_unfolded() {
        let mut harness = window("notices", [1280.0, 900.0]);
        assert!(harness.query_by_label_contains("The plan file has changed").is_none());
        harness.get_by_label("2 more").click();
        harness.run_ok();
        assert!(harness.query_by_label_contains("The plan file has changed").is_some());
        let repeated = "The runs cannot be listed. E303 The evidence is damaged. (44 times)";
        assert!(harness.query_by_label(repeated).is_some());
        assert!(harness.query_by_label_contains("image is malformed").is_none());
        harness.get_all_by_label("Show the details").next_back().unwrap().click();
        harness.run_ok();
        assert!(harness.query_by_label_contains("image is malformed").is_some());
        harness.get_by_label("Show fewer").click();
        harness.run_ok();
        assert!(harness.query_by_label_contains("The plan file has changed").is_none());
    }

    /// The end of a run that is not shown leads to it.
    #[test]
    fn a_notice_leads_to_what_it_is_about() {
        let notice = Notice {
            id: 1,
            tone: Tone::Danger,
            summary: "“A plan” has ended: failed at step 3.".into(),
            details: String::new(),
            next: String::new(),
            times: 1,
            scope: Scope::Run(Uuid::nil()),
        };
        let actions = std::cell::RefCell::new(Vec::new());
        let mut harness = egui_kittest::Harness::builder()
            .with_size([600.0, 400.0])
            .with_context_setup(crate::ui::theme::install)
            .build_ui(|ui| notices_ui(ui, &[&notice], &mut actions.borrow_mut()));
        harness.run_ok();
        harness.get_by_label("Show").click();
        harness.run_ok();
        assert_eq!(*actions.borrow(), [Action::Plan(PlanAction::OpenRun(Uuid::nil()))]);
    }
}
