//! The content of the bar below the steps, for every state of a plan and its run.

use super::bar_queue::{beside_run, other_plan, queued};
use super::looked_at::to_look_at;
use super::reviews::{missing_bar, request_bar};
use super::{Approval, PlanView, fate_look};
use crate::plan::{ShownPlan, drawable};
use crate::run::text::capitalized;
use crate::run::{Phase, PlanRejection, RunFate, RunStatus};
use crate::ui::loop_page::Sequel;
use crate::ui::{Command, Icon, Situation, Tone, format, icon};

/// The content of the bar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Bar {
    /// The icon of the state.
    #[cfg_attr(test, serde(skip))]
    pub icon: Icon,
    /// The tone of the state.
    pub tone: Tone,
    /// The state, in a few words.
    pub title: String,
    /// A sentence of detail.
    pub detail: String,
    /// The tooltip. If it is empty, a truncated text shows the detail instead.
    pub more: String,
    /// The primary command.
    pub primary: Option<Command>,
    /// The other commands.
    pub others: Vec<Command>,
}

/// Computes the content of the bar.
pub fn bar(view: &PlanView<'_>, situation: &Situation) -> Bar {
    if view.runs_elsewhere() {
        return elsewhere(view, situation);
    }
    if let Some(request) = request_bar(view, situation).filter(|_| !situation.running) {
        return request;
    }
    if situation.running {
        return running(view, situation);
    }
    if let Some(ended) = ended(view, situation) {
        return match &view.sequel {
            Some(sequel) => ended.with_sequel(sequel),
            None => ended,
        };
    }
    if let (Some(attempt), Approval::None) = (view.attempt, view.approval)
        && attempt.waits
    {
        let title = format!("Attempt {} of {}", attempt.attempt.number, attempt.max_attempts);
        let detail = "The plan runs as soon as you authorize it.";
        let bar = Bar::new(icon::HAND, Tone::Caution, title, detail).with_authorize();
        return bar.looking_first(view, situation);
    }
    let bar = match view.approval {
        Approval::Recorded => {
            return Bar::new(icon::CLOCK, Tone::Dim, "From the records", "This run had no steps.");
        }
        Approval::Recording => {
            return Bar::new(icon::CLOCK, Tone::Dim, "Recording your answer", "");
        }
        Approval::Signing => {
            let detail = "With your SSH key; a hardware key may wait for your touch.";
            return Bar::new(icon::CLOCK, Tone::Dim, "Signing your authorization", detail);
        }
        Approval::Approved { at_ms, until_ms } => {
            let valid = format!("valid {}", format::remaining(until_ms - view.now.ms));
            if let Some(before) = situation.queue_place {
                return queued(before, &valid, situation);
            }
            let title = format!("Authorized {}", view.now.minute(*at_ms));
            let bar = Bar::new(icon::SIGNATURE, Tone::Safe, title, valid).with_authorize();
            // A loop has the worker, and no run that the bar would show.
            let run = if situation.looping { Command::Enqueue } else { Command::Run };
            return Bar { primary: Some(run), ..bar }.with_other_runs(view);
        }
        Approval::Rejected(reason) => {
            let detail = if reason.is_empty() { "No reason given." } else { reason };
            let bar = Bar::new(icon::PROHIBIT, Tone::Danger, "Rejected", detail);
            return bar.authorizing_again(view, situation);
        }
        Approval::None if let Some(rejection) = view.rejected => {
            return rejected_before(view, rejection).authorizing_again(view, situation);
        }
        _ if situation.lacks_inputs && situation.not_fillable.is_none() => {
            let detail = situation.not_authorizable.unwrap_or_default();
            let bar = Bar::new(icon::WRITE, Tone::Caution, "Not filled in", detail);
            let others = vec![Command::Reject];
            return Bar { primary: Some(Command::FillIn), others, ..bar };
        }
        _ if situation.lacks_signatures => return missing_bar(view),
        _ if situation.not_authorizable.is_some() && !situation.look_first => {
            let why = situation.not_authorizable.unwrap_or_default();
            Bar::new(icon::PROHIBIT, Tone::Danger, "Cannot be authorized", why)
        }
        Approval::Void(changes) => {
            let first = changes.first().map(|change| format!("Changed since: {}", change.what));
            let others = match changes.len() {
                0 | 1 => String::new(),
                number => format!(" and {} more", number - 1),
            };
            let all: Vec<_> = changes.iter().map(ToString::to_string).collect();
            let first = first.unwrap_or_else(|| "You have chosen otherwise since.".to_owned());
            let detail = format!("{first}{others}");
            let bar = Bar::new(icon::WARNING, Tone::Caution, "The authorization is void", detail);
            Bar { more: all.join("\n"), ..bar }
        }
        Approval::Expired => {
            let detail = "Review the steps, then authorize the plan again.";
            Bar::new(icon::CLOCK, Tone::Caution, "The authorization has expired", detail)
        }
        Approval::None | Approval::Used { .. }
            if view.looked_at.missing == 0 && view.would_fail().is_some() =>
        {
            let detail = view.would_fail().unwrap_or_default();
            Bar::new(icon::WARNING, Tone::Caution, "Not authorized", detail)
        }
        Approval::None | Approval::Used { .. } => {
            let detail = match (view.looked_at.missing, view.looked_at.others) {
                (missing @ 1.., _) => to_look_at(view, missing),
                (0, 0) if view.looked_at.ends > 0 => {
                    let steps = format::counted(view.looked_at.ends, "long step");
                    format!("Only the beginning and end of {steps} were shown.")
                }
                (0, 0) => "Nothing runs before you authorize the plan.".to_owned(),
                (0, others) => format!("{} not looked at.", format::counted(others, "step")),
            };
            let bar = Bar::new(icon::SIGNATURE, Tone::Dim, "Not authorized", detail);
            if view.looked_at.missing == 0 { bar.with_other_runs(view) } else { bar }
        }
    };
    bar.with_authorize().looking_first(view, situation)
}

impl Bar {
    /// A bar without commands.
    pub(crate) fn new(
        icon: Icon,
        tone: Tone,
        title: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            icon,
            tone,
            title: title.into(),
            detail: detail.into(),
            more: String::new(),
            primary: None,
            others: Vec::new(),
        }
    }

    /// Leads to the steps that must be looked at before the plan can be authorized, if there are any.
    pub(super) fn looking_first(self, view: &PlanView<'_>, situation: &Situation) -> Self {
        if !situation.look_first {
            return self;
        }
        let more = if view.looked_at.misses(view.selected) {
            "Scroll through all that the selected step would do; what is jumped over does not count."
        } else {
            "Each step that asks, is dangerous or has no walls must be looked at to its end."
        };
        Self { primary: Some(Command::NextUnseen), more: more.to_owned(), ..self }
    }

    /// Adds what authorizes a rejected plan after all, or leads to the steps that must be looked at before.
    fn authorizing_again(self, view: &PlanView<'_>, situation: &Situation) -> Self {
        if !situation.look_first {
            return Self { others: vec![Command::Authorize], ..self };
        }
        let rejection = if self.more.is_empty() { self.detail.clone() } else { self.more.clone() };
        let detail = to_look_at(view, view.looked_at.missing);
        let bar = Self { detail, ..self }.looking_first(view, situation);
        Self { more: format!("{rejection}\n{}", bar.more), ..bar }
    }

    /// Warns about other runs in the workspace, if there are any.
    fn with_other_runs(self, view: &PlanView<'_>) -> Self {
        match view.other_runs {
            Some(warning) => {
                let detail = drawable(warning).into_owned();
                Self { icon: icon::WARNING, tone: Tone::Caution, detail, ..self }
            }
            None => self,
        }
    }

    /// Says how the loop of an ended run went on, which counts for more than the run itself.
    fn with_sequel(self, sequel: &Sequel) -> Self {
        let Sequel { icon, tone, title, detail, leads_to, is_over } = sequel.clone();
        let more = format!("{detail}\nThe run of this plan: {}. {}", self.title, self.more);
        // The loop decides what is authorized next, and nothing else can run meanwhile.
        let keeps = |command: &Command| is_over && *command != Command::Authorize;
        let others = self.others.into_iter().filter(keeps).collect();
        Self { icon, tone, title, detail, more, primary: leads_to, others }
    }

    /// Adds the commands of a plan that waits for an authorization.
    fn with_authorize(self) -> Self {
        Self { primary: Some(Command::Authorize), others: vec![Command::Reject], ..self }
    }
}

/// The bar of a plan that was rejected before it was opened. It can still be authorized.
fn rejected_before(view: &PlanView<'_>, rejection: &PlanRejection) -> Bar {
    let reason = match rejection.reason.trim() {
        "" => "No reason given.",
        reason => reason,
    };
    let by = rejection.by.user.as_ref().map(|user| format!(" by {}", drawable(user)));
    let when = view.now.moment(rejection.timestamp_ms);
    let title = format!("Rejected {when}{}", by.unwrap_or_default());
    let more =
        format!("{}, {}: {reason}", rejection.sentence(), view.now.full(rejection.timestamp_ms));
    let detail = if rejection.changed {
        "This record was changed after it was written.".to_owned()
    } else {
        drawable(reason).into_owned()
    };
    let bar = Bar::new(icon::PROHIBIT, Tone::Danger, title, detail);
    Bar { more: drawable(&more).into_owned(), ..bar }
}

/// The bar of a run that another window or command controls.
fn elsewhere(view: &PlanView<'_>, situation: &Situation) -> Bar {
    let total = view.run.steps.len();
    let detail = format!(
        "Step {} of {total}. It is paused, cancelled or stopped where it was started.",
        (view.run.current_step + 1).min(total)
    );
    let bar = Bar::new(icon::RUNNING, Tone::Dim, "Runs in another window", detail);
    // The controls of this window's own run are beside the steps of that run.
    let others = if situation.running { vec![Command::FollowRun] } else { Vec::new() };
    Bar { others, ..bar }
}

fn running(view: &PlanView<'_>, situation: &Situation) -> Bar {
    let total = view.run.steps.len();
    let number = view.run.current_step + 1;
    let authorized = match view.approval {
        Approval::Used { at_ms } | Approval::Approved { at_ms, .. } => {
            format!("Authorized {}", view.now.minute(*at_ms))
        }
        _ => String::new(),
    };
    let detail = match view.run.requested {
        Some(crate::run::Control::Pause) => "Pauses before the next step".to_owned(),
        Some(crate::run::Control::CancelAfterStep) => "Ends after this step".to_owned(),
        Some(crate::run::Control::StopNow) => "Stopping".to_owned(),
        _ if view.run.became_guided && !view.run.guided_begun && situation.asking.is_none() => {
            "Guided from the next step on".to_owned()
        }
        _ => authorized,
    };
    // The page may show another plan, whose steps say nothing about the run.
    let is_shown = view.run.is_active();
    let (title, detail) = match is_shown {
        true => (format!("Running step {number} of {total}"), detail),
        false => ("Another plan runs".to_owned(), other_plan(view)),
    };
    let mut bar = Bar::new(icon::RUNNING, Tone::Accent, title, detail);
    // What can be taken back is where the button was that began the run. Beside another plan, the buttons for that plan
    // have the room, and the rest of those for the run is where it is shown.
    bar.others = match is_shown {
        true => vec![Command::StopNow, Command::CancelAfterStep, Command::Pause],
        false => vec![Command::StopNow],
    };
    if situation.automatic && is_shown {
        bar.others.insert(2, Command::GoOnGuided);
    }
    if let Some(step) = situation.asking {
        (bar.icon, bar.tone) = (icon::HAND, Tone::Caution);
        bar.title = match is_shown {
            true => "Waiting for you".to_owned(),
            false => format!("Step {} of another plan waits", step + 1),
        };
        if view.card.is_some() {
            // The card has the primary buttons; this command only shows the card.
            bar.others.insert(0, Command::AnswerStep);
        } else {
            bar.primary = Some(Command::AnswerStep);
        }
    } else if situation.paused {
        (bar.icon, bar.tone) = (icon::PAUSE, Tone::Caution);
        bar.title = match is_shown {
            true => format!("Paused before step {}", number.min(total)),
            false => "Another plan is paused".to_owned(),
        };
        bar.primary = Some(Command::Resume);
        bar.others = vec![Command::StopNow];
    }
    if !is_shown {
        let of_run = bar.primary.take();
        beside_run(&mut bar, view, situation);
        match bar.primary {
            None => bar.primary = of_run,
            Some(_) => bar.others.splice(0..0, of_run).for_each(drop),
        }
    }
    bar
}

/// The bar of a run that has ended or was interrupted; `None` for any other state.
fn ended(view: &PlanView<'_>, situation: &Situation) -> Option<Bar> {
    let fate = match view.run.phase {
        Phase::Ended(status) => RunFate::Ended(status),
        Phase::Interrupted => RunFate::Interrupted,
        _ => return None,
    };
    let counts = view.run.tally();
    let (icon, word, tone) = fate_look(fate, counts);
    let word = capitalized(word);
    // A completed run did all of its steps; the detail counts them by outcome.
    let mut title = match fate {
        RunFate::Ended(RunStatus::Completed) => word.clone(),
        _ => format!("{word}, {} of {} steps", view.run.steps.done(), view.run.steps.len()),
    };
    if let Some(step) = view.run.steps.stopped_at() {
        title = format!("{word} at step {}", step + 1);
    }
    let mut detail = match (&view.run.failure, &view.run.phase) {
        (Some((code, message)), _) => {
            let counts = counts.words();
            let before = if counts.is_empty() { counts } else { format!("{counts}. ") };
            // The rest is in the pane of the step.
            let first_line = message.lines().next().unwrap_or_default();
            format!("{before}{}", format::error(Some(*code), first_line))
        }
        (None, Phase::Interrupted) if counts.unknown == 0 => {
            "The run ended between two steps. Nothing is uncertain: each step that had an effect has its outcome. After a \
             power cut, steps at the end that only read may be missing."
                .to_owned()
        }
        (None, Phase::Interrupted) => "The outcome of the step under way is unknown.".to_owned(),
        (None, _) => tally(view),
    };
    if !view.run.left_running.is_empty() {
        let names = view.run.left_running.join(", ");
        detail.push_str(&format!(
            ". Processes that were still running were ended: {}.",
            drawable(&names)
        ));
    }
    let mut others = match (&view.run.phase, view.approval) {
        (Phase::Ended(RunStatus::Completed), Approval::Recorded) => vec![Command::RunAgain],
        // What it undid is undone; it can only be undone itself.
        (Phase::Ended(RunStatus::Completed), _) if view.plan.is_some_and(ShownPlan::is_revert) => {
            Vec::new()
        }
        // Leads to what has to be looked at before the plan is authorized again.
        (Phase::Ended(RunStatus::Completed), _) if situation.look_first => vec![Command::RunAgain],
        (Phase::Ended(RunStatus::Completed), _) => vec![Command::Authorize],
        _ if situation.on_hosts => vec![Command::RunAgain],
        _ => vec![Command::RunAgain, Command::ContinueFromHere],
    };
    if situation.way_back && view.run.phase != Phase::Ended(RunStatus::Completed) {
        others.push(Command::RollBack);
    }
    if situation.changed_files {
        others.push(Command::Revert);
    }
    let more = detail.clone();
    if view.run.phase == Phase::Interrupted {
        if counts.unknown > 0 {
            others.insert(0, Command::Reconcile);
        }
        // Three buttons leave little room; the tooltip has the complete detail.
        title = word;
        let certain = if counts.unknown == 0 { ", nothing is uncertain" } else { "" };
        detail = format!("{} of {} done{certain}", view.run.steps.done(), view.run.steps.len());
    }
    Some(Bar { icon, tone, title, more, detail, primary: None, others })
}

/// The number of steps by outcome, and the duration of all steps.
fn tally(view: &PlanView<'_>) -> String {
    let (counts, took) = (view.run.tally().words(), format::duration(view.run.steps.took_ms()));
    if counts.is_empty() { took } else { format!("{counts}, {took}") }
}
