//! The walls of a plan's steps, as shown in the header of the plan page, in the authorization dialog, and with a step.

use egui::{ScrollArea, Ui};

use super::PlanView;
use crate::authorization::{Grants, StepWalls, WallLevel};
use crate::plan::{Code, Needs, drawable};
use crate::risk::WallSetting;
use crate::run::{StepState, WallsReview};
use crate::ui::access::Reason as _;
use crate::ui::{Action, Chip, Icon, Look, PlanAction, Tone, icon, widgets};

/// What a step with a terminal opens.
const TERMINAL: &str = "a terminal, into which you type";

/// The lines about the walls of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WallLines {
    /// The level of the walls.
    pub level: String,
    /// Whether the level is lower than full.
    pub is_weak: bool,
    /// The grants beyond the walls, with the numbers of the steps, the widest first.
    pub granted: Vec<String>,
    /// The proposed grants that the person has not made, with the numbers of the steps.
    pub proposed: Vec<String>,
}

/// The lines about the walls of a plan; `None` when no step has walls.
pub fn wall_lines(walls: &WallsReview) -> Option<WallLines> {
    if !walls.concerns_any() {
        return None;
    }
    let reason = walls.why_not_better.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    let level = match (walls.level, walls.setting) {
        (WallLevel::None, WallSetting::Off) => {
            "Walls are off: steps rated caution ask before they run.".to_owned()
        }
        (WallLevel::None, _) => {
            format!("This computer has no walls{reason}: steps rated caution ask before they run.")
        }
        (WallLevel::Files, _) => {
            format!("Level files: access to files and to the network is restricted{reason}.")
        }
        (WallLevel::Full, _) => {
            let is_wider = walls.steps.iter().flatten().any(|step| step.walls.is_widened());
            let scope = if is_wider { "Level full for all else" } else { "Level full" };
            format!("{scope}: writes stay in the workspace, no network.")
        }
    };
    let mut granted = GroupedSteps::default();
    let mut proposed = GroupedSteps::default();
    for (index, step) in walls.steps.iter().enumerate() {
        let Some(step) = step else { continue };
        granted.add(index, ranked_grants(&step.walls));
        proposed.add(index, proposal(&step.proposed, &step.reasons.join("; ")));
    }
    Some(WallLines {
        level,
        is_weak: walls.level < WallLevel::Full,
        granted: granted.lines(),
        proposed: proposed.lines(),
    })
}

/// The walls that the review found for a step; `None` for a step that starts no process on this computer.
pub(super) fn step_walls<'v>(view: &PlanView<'v>, index: usize) -> Option<&'v StepWalls> {
    let steps = &view.review?.walls.as_ref()?.steps;
    steps.get(index)?.as_ref().map(|step| &step.walls)
}

/// The grants beyond the walls of a step, in a few words each; empty for most steps.
pub(super) fn wider(walls: &StepWalls) -> impl Iterator<Item = String> {
    let grants = if walls.is_widened() { ranked_grants(walls) } else { Vec::new() };
    grants.into_iter().map(|(_, grant)| drawable(&grant).into_owned())
}

/// The grants of walls in words, each with its rank; the widest grant has the lowest rank.
fn ranked_grants(walls: &StepWalls) -> Vec<(u8, String)> {
    let mut grants = Vec::new();
    if walls.open {
        grants.push((0, "no walls".to_owned()));
    }
    if walls.network {
        grants.push((1, "network".to_owned()));
    }
    grants.extend(walls.write.iter().map(|path| (2, format!("writes {path}"))));
    if walls.writes_repository {
        grants.push((3, "writes the repository".to_owned()));
    }
    if walls.terminal {
        grants.push((4, TERMINAL.to_owned()));
    }
    grants
}

/// Proposed needs in words with their reasons, as a group of [`GroupedSteps`]; `None` if there are none.
fn proposal(needs: &Needs, reasons: &str) -> Option<(u8, String)> {
    (!needs.is_empty()).then(|| (0, format!("{needs} ({reasons})")))
}

/// Step numbers, grouped by the rank and the text that apply to them.
#[derive(Default)]
pub(crate) struct GroupedSteps(Vec<((u8, String), Vec<usize>)>);

impl GroupedSteps {
    /// Adds the step at `index` to these groups, each a rank and a text.
    pub(crate) fn add(&mut self, index: usize, groups: impl IntoIterator<Item = (u8, String)>) {
        for group in groups {
            match self.0.iter_mut().find(|(known, _)| *known == group) {
                Some((_, steps)) => steps.push(index + 1),
                None => self.0.push((group, vec![index + 1])),
            }
        }
    }

    /// One line per group, the lowest rank first: `Steps 2, 4–7: network`.
    pub(crate) fn lines(mut self) -> Vec<String> {
        self.0.sort_by_key(|((rank, _), steps)| (*rank, steps.first().copied()));
        let line = |((_, text), steps): ((u8, String), Vec<usize>)| {
            format!("{}: {text}", step_ranges(&steps))
        };
        self.0.into_iter().map(line).collect()
    }
}

/// Ascending step numbers, with ranges joined: `Steps 2, 4–7`.
pub(crate) fn step_ranges(numbers: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let parts: Vec<_> = ranges
        .iter()
        .map(|&(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first}–{last}"),
        })
        .collect();
    let noun = if numbers.len() == 1 { "Step" } else { "Steps" };
    format!("{noun} {}", parts.join(", "))
}

/// The chip about the walls of a plan; `None` when no step has walls.
pub(super) fn chip(walls: &WallsReview) -> Option<Chip> {
    let lines = wall_lines(walls)?;
    let widened = walls.steps.iter().flatten().filter(|step| step.walls.is_widened()).count();
    let (icon, text, tone) = match (walls.level, widened) {
        (WallLevel::None, _) => (icon::WARNING, "no walls".to_owned(), Tone::Caution),
        (level, 0) => {
            let tone = if level == WallLevel::Full { Tone::Safe } else { Tone::Dim };
            (WALLS, format!("walls: {level}"), tone)
        }
        (level, count) => {
            let text = format!("walls: {level}, {count} wider");
            (WALLS, text, Tone::Caution)
        }
    };
    let tooltip = [vec![lines.level], lines.granted].concat().join("\n");
    Some(Chip::new(icon, text, tone).with_tooltip(drawable(&tooltip).into_owned()))
}

/// The icon of the walls.
pub(crate) const WALLS: Icon = icon::WALL;

/// Buttons after a wall has stopped a step, or may have: each opens the authorization dialog for the same plan with a
/// further grant.
fn further_grant_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    // A plan without a file is run again as a follow-up plan, which would not get the grant.
    if view.path.is_none() || !view.run.is_over() {
        return;
    }
    let mut button = |text: &str, hint: &str, action: PlanAction| {
        if widgets::tooltip_button(ui, Look::Plain, WALLS, &drawable(text), &drawable(hint)) {
            actions.push(Action::Plan(action));
        }
    };
    if view.run.failure.as_ref().is_some_and(|(code, _)| *code == Code::StoppedByWall) {
        let hint = "Every step of the run gets the network of this computer. You authorize the plan again.";
        button("Run again with the network…", hint, PlanAction::AuthorizeWithGrant(None));
    }
    let stopped = view.run.steps.stopped_at().and_then(|index| view.run.steps.get(index));
    if let Some(StepState::Done(result)) = stopped
        && let Some(path) = &result.refused_write
    {
        let text = format!("Run again with writing to {path}…");
        let hint = format!(
            "Every step of the run may write {path} and what is below it. You authorize the plan again."
        );
        button(&text, &hint, PlanAction::AuthorizeWithGrant(Some(path.clone())));
    }
}

/// A button in the header of the plan page: its text, its tooltip and its action.
type HeaderButton = (&'static str, &'static str, PlanAction);

/// The grants in the header of the plan page: those that are proposed, those for every plan of the workspace, and the
/// buttons that make or withdraw them.
pub(super) fn grants_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    further_grant_ui(ui, view, actions);
    let Some(walls) = view.review.and_then(|review| review.walls.as_ref()) else { return };
    let grants = view.review.map(|review| &review.binding.grants);
    let (mut lines, buttons): (Vec<_>, Vec<_>) =
        [remembered(walls, grants), proposed(walls, grants)].into_iter().flatten().unzip();
    if buttons.is_empty() {
        return;
    }
    let lines = lines.iter_mut().flat_map(std::mem::take);
    // Long lists scroll, so that there is room for the steps.
    let height = (ui.available_height() * 0.25).max(60.0);
    ScrollArea::vertical()
        .id_salt("proposed")
        .max_height(height)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            lines.for_each(|line| widgets::remark(ui, WALLS, Tone::Caution, drawable(&line)))
        });
    ui.horizontal_wrapped(|ui| {
        for (text, hint, action) in buttons.into_iter().rev() {
            let button = widgets::button(ui, Look::Plain, Some(WALLS), text, !view.run.is_active());
            if button.on_hover_text(hint).or_why("Its run is under way.").clicked() {
                actions.push(Action::Plan(action));
            }
        }
    });
}

/// The lines of the proposed grants, and the button that makes or withdraws them; `None` if there are none, or they are
/// granted to every plan of the workspace.
fn proposed(walls: &WallsReview, grants: Option<&Grants>) -> Option<(Vec<String>, HeaderButton)> {
    let is_remembered = walls.remembered.as_ref().is_some_and(|grants| grants.proposed);
    let is_granted = grants.is_some_and(|grants| grants.proposed);
    if is_remembered || (!walls.proposes() && !is_granted) {
        return None;
    }
    let lines = wall_lines(walls).unwrap_or_default().proposed;
    let lines = lines.iter().map(|line| format!("Proposed beyond the walls. {line}")).collect();
    let (text, hint) = if is_granted {
        ("Withdraw the proposed grants", "The steps get only what the plan asks for.")
    } else {
        ("Grant what is proposed", "The steps get this beyond their walls once you authorize.")
    };
    Some((lines, (text, hint, PlanAction::GrantNeeds(!is_granted))))
}

/// The line of the grants for every plan of the workspace, and the button that withdraws them. Without such grants only
/// the button that extends the grants of this plan to every plan; `None` if this plan has none either.
fn remembered(walls: &WallsReview, grants: Option<&Grants>) -> Option<(Vec<String>, HeaderButton)> {
    if let Some(remembered) = &walls.remembered {
        let line = format!("Granted to every plan in this workspace: {remembered}.");
        let hint = "From now on, plans in this workspace get only what they ask for.";
        return Some((vec![line], ("Forget this grant", hint, PlanAction::ForgetWalls)));
    }
    grants?.for_every_plan()?;
    let hint = "Asks you first, and says what would be granted to which plans.";
    let action = PlanAction::AskToRememberWalls;
    Some((Vec::new(), ("Grant the same to every plan here…", hint, action)))
}

/// Shows the walls in the authorization dialog: all grants that the authorization covers.
pub(crate) fn lines_ui(ui: &mut Ui, lines: &WallLines) {
    widgets::heading(ui, "Walls");
    for line in &lines.granted {
        widgets::remark(ui, icon::WARNING, Tone::Caution, drawable(line));
    }
    let tone = if lines.is_weak { Tone::Caution } else { Tone::Safe };
    widgets::remark(ui, WALLS, tone, drawable(&lines.level));
    for line in &lines.proposed {
        let text = format!("Proposed beyond the walls, not granted. {line}");
        widgets::remark(ui, icon::INFO, Tone::Dim, drawable(&text));
    }
}

/// What a step gets beyond its walls, as in [`sentence`]; `None` if nothing.
pub(crate) fn beyond_walls(walls: &StepWalls) -> Option<String> {
    (!ranked_grants(walls).is_empty()).then(|| sentence(walls))
}

/// What happens to the files that a command behind these walls makes in a temporary folder of the system; `None` if the
/// command names none, or was granted to write there.
pub(crate) fn of_temporary_files(walls: &StepWalls, command: &str) -> Option<&'static str> {
    const FOLDER: &str = "/tmp/";
    let is_private = !walls.open && walls.level == WallLevel::Full;
    let is_granted = walls.write.iter().any(|path| path.starts_with(FOLDER));
    let names_one = command.match_indices(FOLDER).any(|(at, _)| {
        // Another folder may have such a name, too.
        let before = command.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(|it| it.is_alphanumeric() || "._-/".contains(it))
    });
    (is_private && !is_granted && names_one).then_some(
        "Behind walls, a run has a temporary folder of its own in the place of /tmp: what it leaves there is removed when it ends.",
    )
}

/// The walls of one step, in a sentence.
pub(crate) fn sentence(walls: &StepWalls) -> String {
    let granted: Vec<_> = ranked_grants(walls).into_iter().map(|(_, grant)| grant).collect();
    let terminal = if walls.terminal { format!(" It opens {TERMINAL}.") } else { String::new() };
    match (walls.open, walls.level) {
        (true, _) => format!("No walls: the step may do everything that you may.{terminal}"),
        (false, WallLevel::None) => format!("No walls here.{terminal}"),
        (false, level) if granted.is_empty() => format!("Walls: {level}."),
        (false, level) => format!("Walls: {level}, with {}.", granted.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::StepWallsReview;

    #[test]
    fn files_in_the_temporary_folder_of_the_system_are_told() {
        let full = StepWalls { level: WallLevel::Full, ..StepWalls::default() };
        let told = |walls: &StepWalls, command| of_temporary_files(walls, command).is_some();
        for command in ["echo x > /tmp/x", "cp a \"/tmp/b\"", "cat </tmp/a/b"] {
            assert!(told(&full, command), "{command}");
        }
        for command in ["ls", "ls build/tmp/x", "ls /var/tmp/x", "ls ../tmp/x", "echo /tmpfiles"] {
            assert!(!told(&full, command), "{command}");
        }
        let granted = StepWalls { write: vec!["/tmp/out".to_owned()], ..full.clone() };
        let open = StepWalls { open: true, ..full.clone() };
        let files = StepWalls { level: WallLevel::Files, ..full };
        for walls in [granted, open, files] {
            assert!(!told(&walls, "echo x > /tmp/out"), "{walls:?}");
        }
    }

    fn step(walls: StepWalls, proposed: Needs) -> Option<StepWallsReview> {
        let reasons = vec!["it talks to other hosts".to_owned()];
        Some(StepWallsReview { walls, needs: Needs::default(), granted: false, proposed, reasons })
    }

    fn review(steps: Vec<Option<StepWallsReview>>) -> WallsReview {
        let level = WallLevel::Full;
        WallsReview {
            setting: WallSetting::Preferred,
            level,
            why_not_better: None,
            remembered: None,
            steps,
        }
    }

    #[test]
    fn network_and_wider_writing_lead() {
        let full = StepWalls { level: WallLevel::Full, ..StepWalls::default() };
        let git = StepWalls { writes_repository: true, ..full.clone() };
        let wide = StepWalls { network: true, write: vec!["/srv".to_owned()], ..git.clone() };
        let open = StepWalls { open: true, ..StepWalls::default() };
        let none = Needs::default();
        let curl = Needs { network: true, ..Needs::default() };
        let steps = vec![
            step(git, none.clone()),
            None,
            step(wide.clone(), none.clone()),
            step(wide, none.clone()),
            step(open, none),
            step(full, curl),
        ];
        let lines = wall_lines(&review(steps)).unwrap();
        assert_eq!(
            lines.granted,
            [
                "Step 5: no walls",
                "Steps 3, 4: network",
                "Steps 3, 4: writes /srv",
                "Steps 1, 3, 4: writes the repository",
            ]
        );
        assert_eq!(lines.proposed, ["Step 6: network (it talks to other hosts)"]);
        assert!(!lines.is_weak);
    }

    #[test]
    fn a_plan_without_processes_says_nothing() {
        assert_eq!(wall_lines(&review(vec![None, None])), None);
        assert!(chip(&review(vec![None])).is_none());
    }
}
