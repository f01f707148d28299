//! One session of an agent above the plan of one of its calls: each call is a row, and the rules for identical calls are
//! listed. Nothing is decided here: the bar below decides about the one call that is shown.

use egui::style::ScrollAnimation;
use egui::{Align, Layout, Margin, Panel, Rect, ScrollArea, Ui, pos2, vec2};

use super::outcome_look;
use super::rows_in_sight::rows_in_sight;
use crate::authorization::SessionRule;
use crate::plan::{drawable, one_line};
use crate::run::{AgentSession, CallState, NO_DEADLINE_MS, SessionCall};
use crate::ui::access::Reason as _;
use crate::ui::action::AgentsAction;
use crate::ui::loop_page::model::StateLook;
use crate::ui::one_stop::OneStop;
use crate::ui::widgets::panel_frame;
use crate::ui::{
    Action, Look, Now, PlanAction, Text, Theme, Tone, access, controls, format, icon, rows, widgets,
};

/// The height of the row of a call, in points.
const ROW: f32 = 26.0;
/// The height of the title, in points.
const HEAD: f32 = 36.0;
/// The height of the line of a rule, in points.
const RULE: f32 = 30.0;
/// The height of the line about forgotten calls, in points.
const FORGOTTEN: f32 = 20.0;
/// A page with less height than this, in points, shows few rows.
const LOW: f32 = 560.0;
/// A page with less height than this, in points, shows one row.
const LOWEST: f32 = 380.0;
/// A list with less width than this, in points, has no column for the tool.
const NARROW: f32 = 640.0;
/// A title with less width than this, in points, does not name the folder.
const NARROW_HEAD: f32 = 480.0;

/// One session, and the call that the page is about.
#[derive(Debug, Clone)]
pub struct SessionView<'a> {
    /// The session.
    pub session: &'a AgentSession,
    /// The number of the call.
    pub selected: usize,
    /// Whether a rule for calls that are identical with it can be made; `None` if none is offered.
    pub offer: Option<RuleOffer>,
}

/// Whether a rule for identical calls can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleOffer {
    /// It can.
    Possible,
    /// It cannot, for this reason.
    None(&'static str),
}

impl SessionView<'_> {
    /// The call that the page is about.
    pub(super) fn call(&self) -> Option<&SessionCall> {
        self.session.call(self.selected)
    }
}

/// The agent and the beginning of the id of its session.
pub(super) fn session_name(session: &AgentSession) -> String {
    let mut id = session.session.chars();
    let begin: String = id.by_ref().take(8).collect();
    let rest = if id.next().is_some() { "…" } else { "" };
    match begin.is_empty() {
        true => one_line(&session.agent).into_owned(),
        false => format!("{}, session {}{rest}", one_line(&session.agent), one_line(&begin)),
    }
}

/// How many calls a session has, and how many of them wait.
pub(super) fn session_counts(session: &AgentSession) -> String {
    counts_since(session, "")
}

fn counts_since(session: &AgentSession, since: &str) -> String {
    let calls = format::counted(session.total, "call");
    match session.waiting().count() {
        0 => format!("{calls}{since}"),
        1 => format!("{calls}{since}, 1 waits"),
        waiting => format!("{calls}{since}, {waiting} wait"),
    }
}

/// The look of what became of a call, and its words.
pub(crate) fn call_look(call: &SessionCall) -> (StateLook, String) {
    let of = |look: StateLook| (look, look.1.to_owned());
    let with = |look: StateLook, more: &str| {
        let more = one_line(more);
        let text = if more.is_empty() { look.1.to_owned() } else { format!("{}: {more}", look.1) };
        (look, text)
    };
    let (look, mut text) = match &call.state {
        CallState::Waits => of((icon::HAND, "waits for you", Tone::Caution)),
        CallState::Allowed => of((icon::SIGNATURE, "allowed, not run yet", Tone::Safe)),
        CallState::Runs => of((icon::RUNNING, "under way", Tone::Accent)),
        CallState::Ran { outcome, exit_code } => {
            let look = match outcome {
                Some(outcome) => outcome_look(*outcome),
                None => (icon::WARNING, "interrupted", Tone::Danger),
            };
            match exit_code {
                None | Some(0) => of(look),
                Some(code) => with(look, &format!("exit code {code}")),
            }
        }
        CallState::Permitted => of((icon::CHECK, "permitted, run by the agent", Tone::Dim)),
        CallState::Denied(words) => with((icon::PROHIBIT, "denied", Tone::Danger), words),
        CallState::Refused(why) => with((icon::PROHIBIT, "denied by Countersign", Tone::Dim), why),
        CallState::Withdrawn(why) => with((icon::CANCELLED, "not answered", Tone::Dim), why),
        CallState::NotRun(why) => with((icon::CANCELLED, "not run", Tone::Caution), why),
    };
    if call.by_rule.is_some() {
        text.push_str(", by a rule");
    }
    (look, text)
}

/// Draws the session at the top of the page.
pub(super) fn session_panel_ui(
    ui: &mut Ui,
    view: &SessionView<'_>,
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let height = ui.available_height();
    let (max_rows, max_rules) = match height {
        ..LOWEST => (1, 1),
        ..LOW => (3, 1),
        _ => (6, 3),
    };
    let session = view.session;
    let rows = session.calls.len().min(max_rows);
    let rules = session.rules.len().min(max_rules);
    let forgotten = if session.forgotten() > 0 { FORGOTTEN } else { 0.0 };
    let (rows, rules) = (rows as f32 * ROW, rules as f32 * RULE);
    let theme = Theme::of(ui);
    Panel::top("agent session")
        .exact_size(HEAD + forgotten + rules + rows + 8.0)
        .resizable(false)
        .frame(panel_frame(theme.panel, Margin::symmetric(14, 0)))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            head_ui(ui, view, actions);
            if session.forgotten() > 0 {
                let text = format!(
                    "{} are not kept here. The evidence has what was decided about them.",
                    format::counted(session.forgotten(), "earlier call")
                );
                let size = vec2(ui.available_width(), FORGOTTEN);
                ui.allocate_ui(size, |ui| widgets::line(ui, text, Text::Small, Tone::Dim));
            }
            if !session.rules.is_empty() {
                let area = ScrollArea::vertical().id_salt("rules").max_height(rules);
                let area = area.min_scrolled_height(rules);
                area.auto_shrink([false, false]).show(ui, |ui| {
                    for (index, rule) in session.rules.iter().enumerate() {
                        rule_ui(ui, (rule, index), now, actions);
                    }
                });
            }
            let area = ScrollArea::vertical().id_salt("calls").max_height(rows);
            let area = area.min_scrolled_height(rows);
            area.auto_shrink([false, false]).show(ui, |ui| calls_ui(ui, view, now, actions));
        });
}

fn head_ui(ui: &mut Ui, view: &SessionView<'_>, actions: &mut Vec<Action>) {
    let session = view.session;
    let size = vec2(ui.available_width(), HEAD);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(HEAD);
        if let Some(offer) = view.offer {
            let text = "Allow identical calls…";
            let is_possible = offer == RuleOffer::Possible;
            let button = widgets::button(ui, Look::Plain, Some(icon::SEAL), text, is_possible);
            let hint = "Let the next calls that are the same as this one run without asking you, in this session.";
            let why = match offer {
                RuleOffer::Possible => String::new(),
                RuleOffer::None(why) => format!("There can be no rule for this call: {why}."),
            };
            if button.on_hover_text(hint).or_why(&why).clicked() {
                let action = AgentsAction::OfferRule(session.key, view.selected);
                actions.push(Action::Plan(PlanAction::Agents(action)));
            }
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let theme = Theme::of(ui);
            let counts = format!("   {}", counts_since(session, " since this window was opened"));
            // Where there is no room for it, the top bar has it.
            let place = match ui.available_width() {
                ..NARROW_HEAD => String::new(),
                _ => format!("   in {}", drawable(&session.workspace.display().to_string())),
            };
            let name = session_name(session);
            let parts = [
                (&*name, Text::Strong, theme.text),
                (&*counts, Text::Meta, theme.dim),
                (&*place, Text::Meta, theme.dim),
            ];
            let hint = format!(
                "{}\n{}\nWhat was decided before this window was opened is in the evidence.",
                drawable(&session.agent),
                drawable(&session.session),
            );
            ui.add(egui::Label::new(widgets::styled_text(&parts)).truncate()).on_hover_text(hint);
        });
    });
}

fn rule_ui(
    ui: &mut Ui,
    (rule, index): (&SessionRule, usize),
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let size = vec2(ui.available_width(), RULE);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(RULE);
        let hint = "From now on you are asked again about each of these calls.";
        let command = one_line(&rule.command);
        let button = widgets::button(ui, Look::Plain, None, "Take back", true);
        access::describe(&button, &format!("Rule {}, {command}. {hint}", index + 1));
        if button.on_hover_text(hint).clicked() {
            let action = AgentsAction::TakeBack(rule.rule_id);
            actions.push(Action::Plan(PlanAction::Agents(action)));
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let until = now.second(rule.expires_at_ms);
            let matches = match rule.matches {
                1 => "1 match".to_owned(),
                matches => format!("{matches} matches"),
            };
            let theme = Theme::of(ui);
            let text = format!("Identical calls run until {until}, {matches} so far:  ");
            let parts = [(&*text, Text::Meta, theme.dim), (&*command, Text::Mono, theme.text)];
            ui.add(egui::Label::new(widgets::styled_text(&parts)).truncate())
                .on_hover_text(drawable(&rule.command));
        });
    });
}

fn calls_ui(ui: &mut Ui, view: &SessionView<'_>, now: &Now, actions: &mut Vec<Action>) {
    let calls = &view.session.calls;
    let selected = calls.iter().position(|call| call.number == view.selected);
    let list = OneStop::new(ui, "calls", calls.iter().map(|call| call.number), selected);
    // A new call and another selection come into sight; otherwise the person scrolls as they like.
    let state_id = ui.scope_id().with("last shown");
    let state = (view.session.key.0, view.session.total, view.selected);
    // Twice, because in the first frame the list may still have the height of before.
    let before = ui.data(|data| data.get_temp::<((u64, usize, usize), bool)>(state_id));
    let is_new = before.is_none_or(|(before, _)| before != state);
    if let Some(selected) = selected.filter(|_| is_new || before == Some((state, true))) {
        let top = ui.cursor().top() + selected as f32 * ROW;
        let at = pos2(ui.cursor().left(), top);
        let rect = Rect::from_min_size(at, vec2(ui.available_width(), ROW));
        ui.scroll_to_rect_animation(rect, None, ScrollAnimation::none());
        ui.data_mut(|data| data.insert_temp(state_id, (state, is_new)));
        if is_new {
            ui.request_repaint();
        }
    }
    rows_in_sight(ui, &list, calls.len(), ROW, |ui, index| {
        if let Some(call) = calls.get(index) {
            let is_selected = selected == Some(index);
            if row_ui(ui, call, (&list, index, is_selected), now) {
                let action = AgentsAction::Show(view.session.key, call.number);
                actions.push(Action::Plan(PlanAction::Agents(action)));
            }
        }
    });
}

/// Draws the row of a call. Returns whether it was clicked.
fn row_ui(
    ui: &mut Ui,
    call: &SessionCall,
    (list, index, selected): super::Place<'_>,
    now: &Now,
) -> bool {
    let theme = Theme::of(ui);
    let ((icon, _, tone), state) = call_look(call);
    let response = list.row(ui, index, vec2(ui.available_width(), ROW));
    let rect = response.rect;
    rows::item_background(ui, &response, selected);
    let (middle, right) = (rect.center().y, rect.right() - 8.0);
    widgets::paint_icon(ui, pos2(rect.left() + 14.0, middle), icon, 14.0, theme.tone(tone));
    let mut left = rect.left() + 30.0;
    let mut part = |width: f32, text: &str, kind, color| {
        widgets::paint_parts(ui, pos2(left, middle), width, &[(text, kind, color)]);
        left += width + 10.0;
    };
    let time = now.second(call.call.at_ms);
    part(60.0, &time, Text::SmallMono, theme.dim);
    let tool = one_line(&call.call.tool);
    if rect.width() >= NARROW {
        part(112.0, &tool, Text::Meta, theme.dim);
    }
    let state_width = (rect.width() * 0.34).clamp(120.0, 300.0);
    let subject = one_line(&call.call.subject);
    let subject = if subject.is_empty() { &tool } else { &subject };
    let room = right - state_width - 30.0 - 72.0 - rect.left();
    let room = if rect.width() >= NARROW { room - 122.0 } else { room };
    part(room.max(40.0), subject, Text::Mono, theme.text);
    // The deadline comes before anything that can be cut.
    let state = match call.state {
        CallState::Waits if call.call.until_ms != NO_DEADLINE_MS => {
            format!("{state} until {}", now.second(call.call.until_ms))
        }
        _ => state,
    };
    let color = if tone == Tone::Dim { theme.dim } else { theme.tone(tone) };
    part(state_width, &state, Text::Meta, color);
    let name = format!("Call {}, {time}, {tool} {subject}: {state}", call.number);
    controls::list_row(ui, &response, (selected, index), || name.clone());
    rows::row_tooltip(&response, false, format!("{}\n{state}", drawable(&call.call.subject)));
    response.clicked()
}

#[cfg(test)]
mod tests {
    use egui::Key;
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use crate::ui::action::AgentsAction;
    use crate::ui::tests::{Window, window};
    use crate::ui::{Action, PlanAction};

    fn rows(harness: &Harness<'_, Window>) -> Vec<String> {
        let nodes = harness.root().children_recursive();
        let labels = nodes.filter_map(|node| node.accesskit_node().label());
        labels.filter(|label| label.starts_with("Call ")).collect()
    }

    fn shown(harness: &Harness<'_, Window>) -> Vec<usize> {
        let of = |action: &Action| match action {
            Action::Plan(PlanAction::Agents(AgentsAction::Show(_, number))) => Some(*number),
            _ => None,
        };
        harness.state().actions.iter().filter_map(of).collect()
    }

    #[test]
    fn each_call_says_what_became_of_it() {
        let mut harness = window("session", [1280.0, 800.0]);
        let rows = rows(&harness);
        for row in [
            "Call 5, 14:02:16, WebFetch WebFetch: denied by Countersign: the call cannot be shown",
            "Call 6, 14:02:57, Bash cargo test -p parser: failed: exit code 101",
            "Call 7, 14:03:38, Bash rm -r target/old: not answered: its time is over",
            ": succeeded, by a rule",
            "Call 9, 14:05:00, Bash cargo build --release -p parser: waits for you until 14:14:00",
        ] {
            assert!(rows.iter().any(|it| it.contains(row)), "{row}: {rows:#?}");
        }
        harness.get_by_label_contains("Call 6,").click_accesskit();
        harness.run_ok();
        assert_eq!(shown(&harness), [6]);
        harness.get_by_label("Take back").click();
        harness.run_ok();
        let takes_back = |action: &Action| {
            matches!(action, Action::Plan(PlanAction::Agents(AgentsAction::TakeBack(_))))
        };
        assert!(harness.state().actions.iter().any(takes_back));
    }

    #[test]
    fn the_arrow_keys_reach_earlier_calls() {
        let mut harness = window("session", [900.0, 600.0]);
        harness.get_by_label_contains("Call 9,").focus();
        harness.run_ok();
        for key in [Key::ArrowUp, Key::ArrowUp, Key::Enter, Key::Home, Key::Enter] {
            harness.key_press(key);
            harness.run_ok();
        }
        assert_eq!(shown(&harness), [7, 1]);
    }

    /// The page draws the rows in sight, whatever the session has, and says what it does not keep.
    #[test]
    fn thousands_of_calls_are_drawn_as_few_as_are_in_sight() {
        let harness = window("session-many", [1280.0, 800.0]);
        let rows = rows(&harness);
        assert!((6..=9).contains(&rows.len()), "{rows:#?}");
        assert!(
            rows.iter().any(|row| row.contains("waits for you")),
            "the selected one is in sight"
        );
        let text =
            "2,509 earlier calls are not kept here. The evidence has what was decided about them.";
        assert!(harness.query_by_label(text).is_some());
        let counts = harness.query_all_by_label_contains("3,009 calls, 1 waits");
        assert!(counts.count() > 0);
    }

    #[test]
    fn a_past_call_has_no_answers() {
        let harness = window("session-past", [1280.0, 800.0]);
        let text = "Denied: use the linter of the workspace instead";
        assert!(harness.query_by_label(text).is_some());
        assert!(harness.query_by_label("Authorize…").is_none());
        assert!(harness.query_by_label_contains("by you, in this window").is_some());
    }

    /// A session is one entry of the inbox, with its deadline first.
    #[test]
    fn the_inbox_lists_sessions() {
        let mut harness = window("session", [1280.0, 800.0]);
        let name =
            "Calls of Claude Code, session 3f2a9c51…: until 14:14:00, 9 calls, 1 waits, in parser";
        harness.get_by_label(name).click_accesskit();
        harness.run_ok();
        let opens = |action: &Action| {
            matches!(action, Action::Plan(PlanAction::Agents(AgentsAction::Open(_))))
        };
        assert!(harness.state().actions.iter().any(opens));
    }
}
