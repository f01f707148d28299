//! Rules for identical calls of one session of an agent: offered, made, applied and taken back (SPEC §13).
//!
//! A call that a rule covers is opened, reviewed and authorized like any other, for exactly its bytes; only nobody is asked.
//! Whatever differs from what the person has allowed leaves the call to them, and ends the rule.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::App;
use super::agent_sessions::{CallPlace, note_decision, waits};
use super::pending::FailedQuery;
use super::plan_page::{Chosen, PlanSession};
use super::shared::Prompt;
use crate::authorization::{Method, PlanAuthorization, RuleTime, SessionRule, why_no_rule};
use crate::plan::{Plan, drawable};
use crate::risk::{RiskLevel, Verdict};
use crate::run::text::capitalized;
use crate::run::{CallState, Review};
use crate::ui::Tone;
use crate::ui::dialog::SessionRuleView;
use crate::ui::plan::RuleOffer;
use crate::worker::calls::{Settled, agent_lives, asked_by_hook};
use crate::worker::{Clock as _, OpenQueued, OpenedPlan, RecordAuthorization, SystemClock};

/// The time between two looks whether the agents of rules still live, in milliseconds.
const LOOK_MS: i64 = 2_000;
/// The maximum number of rules of one session.
const MAX_RULES: usize = 8;

/// The highest risk of a plan, and of one that would ask a person a risk of which no rule can be made. Neither can one be
/// made of a program that is asked for its version or help: which code answers may depend on files of the workspace, such as
/// the toolchain that `cargo` starts.
pub(super) fn risk_for_rule(review: &Review) -> RiskLevel {
    let level = |it: &Verdict| match &*it.rule {
        "asks-help" => it.level.max(RiskLevel::Caution),
        _ => it.level,
    };
    let worst = review.risks.iter().map(level).max().unwrap_or(RiskLevel::Blocked);
    let asks = review.asks.iter().any(Option::is_some);
    if asks { worst.max(RiskLevel::Caution) } else { worst }
}

/// Why a call is not authorized by a rule.
enum NotByRule {
    /// The rule or the call is no longer there, or the person looks at the call.
    Left,
    /// The call is not what the person has allowed.
    Differs(String),
}

impl App {
    /// Whether a rule for calls that are identical with this one can be made; `None` if none is offered.
    pub(super) fn rule_offer(&self, place: CallPlace) -> Option<RuleOffer> {
        if !self.settings.agents.session_rules {
            return None;
        }
        let session = self.agents.sessions.session(place.0)?;
        let call = session.call(place.1)?;
        let identity = match (call.for_rule.as_ref()?, &call.call.identity, &call.call.command) {
            (Err(why), ..) => return Some(RuleOffer::None(why)),
            (Ok(_), Some(identity), Some(_)) => identity,
            (Ok(_), None, _) => return Some(RuleOffer::None("the agent's process is not known")),
            (Ok(_), _, None) => return Some(RuleOffer::None("the command is too long")),
        };
        match () {
            () if !agent_lives(&identity.process) => {
                Some(RuleOffer::None("the agent that made it has ended"))
            }
            () if session.rules.iter().any(|it| it.identity == *identity) => {
                Some(RuleOffer::None("there is one already"))
            }
            () if session.rules.len() >= MAX_RULES => {
                Some(RuleOffer::None("the session has as many as it can have"))
            }
            () => Some(RuleOffer::Possible),
        }
    }

    /// Opens the dialog about a rule for calls that are identical with this one.
    pub(super) fn offer_rule(&mut self, place: CallPlace) {
        if self.rule_offer(place) == Some(RuleOffer::Possible) {
            self.agents.draft = Some((place, RuleTime::default()));
            self.shared.show_prompt(Some(Prompt::SessionRule));
        }
    }

    /// Opens the dialog about a rule for calls that are identical with the shown one.
    pub(super) fn offer_shown_rule(&mut self) {
        let place = self.session_view().map(|view| (view.session.key, view.selected));
        if let Some(place) = place {
            self.offer_rule(place);
        }
    }

    /// What the dialog about a rule shows.
    pub(super) fn rule_view(&self) -> Option<SessionRuleView<'_>> {
        let (place, time) = self.agents.draft?;
        let session = self.agents.sessions.session(place.0)?;
        let call = session.call(place.1)?;
        let walls = match &call.for_rule {
            Some(Ok(binding)) => binding.walls.as_deref().and_then(|it| it.first()?.as_ref()),
            _ => None,
        };
        let walls = walls.map(ToString::to_string).unwrap_or_default();
        Some(SessionRuleView { session, call, walls, time, now: &self.shared.now })
    }

    /// Makes the rule that the open dialog shows, which it shows for this call and this time.
    pub(super) fn make_rule(&mut self, place: CallPlace, time: RuleTime) {
        let is_open = self.shared.close_prompt(&[Prompt::SessionRule]);
        let draft = self.agents.draft.take();
        if !is_open || draft != Some((place, time)) {
            return;
        }
        if let Some(RuleOffer::None(why)) = self.rule_offer(place) {
            let details = format!("{}.", capitalized(why));
            self.shared.notify(Tone::Caution, "No rule was made.", details, "");
            return;
        }
        let clock = SystemClock::default();
        let Some(session) = self.agents.sessions.session_mut(place.0) else { return };
        let Some(call) = session.call(place.1) else { return };
        let (Some(identity), Some(command), Some(authorization_id), Some(Ok(binding))) =
            (&call.call.identity, &call.call.command, call.authorization_id, &call.for_rule)
        else {
            return;
        };
        let now_ms = clock.now_ms();
        let rule = SessionRule {
            rule_id: Uuid::new_v4(),
            identity: identity.clone(),
            command: command.clone(),
            binding: (**binding).clone(),
            authorization_id,
            made_at_ms: now_ms,
            expires_at_ms: now_ms.saturating_add(time.ms()),
            made_since_boot: clock.since_boot(),
            matches: 0,
        };
        session.rules.push(rule);
    }

    /// Ends a rule, and what it has authorized and what has not begun.
    pub(super) fn take_back_rule(&mut self, rule_id: Uuid) {
        if self.agents.sessions.end_rule(rule_id).is_none() {
            return;
        }
        let calls = self.agents.sessions.all.iter().flat_map(|it| &it.calls);
        let open = calls.filter(|it| it.by_rule == Some(rule_id) && it.state == CallState::Allowed);
        let files: Vec<PathBuf> = open.filter_map(|it| it.file.clone()).collect();
        for file in files {
            self.plan.void(&file);
        }
        self.shared.notify_here(Tone::Dim, "The rule for identical calls is taken back.", "", "");
    }

    /// Ends the rules whose time is over or whose agent has ended. Returns the milliseconds until one may have to be ended.
    pub(super) fn end_old_rules(&mut self) -> Option<i64> {
        let clock = SystemClock::default();
        let (now_ms, since_boot) = (clock.now_ms(), clock.since_boot());
        let mut next = None;
        for session in &mut self.agents.sessions.all {
            session.rules.retain(|rule| {
                let left_ms = rule.remaining_ms(now_ms, &since_boot);
                let counts = left_ms > 0 && agent_lives(&rule.identity.process);
                if counts {
                    // Nothing tells of the end of an agent, so it is looked for.
                    next = Some(left_ms.min(next.unwrap_or(LOOK_MS)));
                }
                counts
            });
        }
        next
    }

    /// Lets the rule answer the call at this place that covers it, if there is one. Returns whether there is.
    pub(super) fn ask_rule(&mut self, place: CallPlace, file: &Path) -> bool {
        self.end_old_rules();
        let session = self.agents.sessions.session(place.0).filter(|it| !it.rules.is_empty());
        let identity = session.and_then(|it| it.call(place.1)?.call.identity.as_ref());
        let rule = session.zip(identity).and_then(|(session, identity)| {
            session.rules.iter().find(|it| it.identity == *identity)
        });
        let Some(rule_id) = rule.map(|it| it.rule_id) else { return false };
        let query = OpenQueued(Chosen::default().query(file.to_owned()));
        let asked = file.to_owned();
        self.shared.query_each(query, move |app, opened, _| {
            app.apply_rule(place, rule_id, asked, opened);
        })
    }

    fn apply_rule(
        &mut self,
        place: CallPlace,
        rule_id: Uuid,
        file: PathBuf,
        opened: Result<OpenedPlan, FailedQuery>,
    ) {
        match self.authorized_by_rule(place, rule_id, &file, opened) {
            Ok((authorization, plan)) => {
                let query = RecordAuthorization {
                    authorization: Box::new(authorization.clone()),
                    plan: Box::new(plan),
                    revised: None,
                    reviews: Vec::new(),
                };
                self.shared.record(query, move |app, recorded| match recorded {
                    Ok(()) => app.finish_by_rule(place, rule_id, file, authorization),
                    Err(failed) => {
                        app.shared.report(failed);
                        app.leave_to_person(place, file);
                    }
                });
            }
            Err(why) => {
                if let NotByRule::Differs(why) = why
                    && let Some(rule) = self.agents.sessions.end_rule(rule_id)
                {
                    let summary = "A rule for identical calls has ended. You are asked again.";
                    let details = format!("{}\n{}", drawable(&why), drawable(&rule.command));
                    self.shared.notify(Tone::Caution, summary, details, "");
                }
                self.leave_to_person(place, file);
            }
        }
    }

    /// The authorization of a call by a rule, with its plan.
    fn authorized_by_rule(
        &mut self,
        place: CallPlace,
        rule_id: Uuid,
        file: &Path,
        opened: Result<OpenedPlan, FailedQuery>,
    ) -> Result<(PlanAuthorization, Plan), NotByRule> {
        let clock = SystemClock::default();
        let (now_ms, since_boot) = (clock.now_ms(), clock.since_boot());
        self.end_old_rules();
        let call = self.agents.sessions.call(place);
        let is_free = self.plan.leaves_to_rule(file, self.shared.calls.as_ref()) && waits(call);
        let digest = call.and_then(|it| it.call.digest);
        let session = self.agents.sessions.session(place.0).ok_or(NotByRule::Left)?;
        let rule = session.rules.iter().find(|it| it.rule_id == rule_id);
        let (Some(rule), true, Ok(opened)) = (rule, is_free, opened) else {
            return Err(NotByRule::Left);
        };
        let differs = |why: &str| NotByRule::Differs(why.to_owned());
        if Some(opened.digest) != digest {
            return Err(differs("the plan of the call was changed"));
        }
        let opened = PlanSession::from_opened(opened, None);
        if let Some(why) = opened.not_authorizable() {
            return Err(differs(why));
        }
        let (Some(plan), Some(review)) = (&opened.opened.plan, &opened.opened.review) else {
            return Err(differs("the call could not be reviewed"));
        };
        if let Some(why) = rule.refusal(risk_for_rule(review), &review.binding) {
            return Err(NotByRule::Differs(why));
        }
        let plan = plan.valid_steps();
        let ttl_ms = rule.remaining_ms(now_ms, &since_boot);
        let ttl_ms = ttl_ms.min(self.shared.setup.policy.authorization_ttl_ms);
        let asked_by = asked_by_hook(&session.agent, &session.session);
        let note = format!("{}; {asked_by}", rule.note());
        let authorization =
            PlanAuthorization::pending(&plan, review.binding.clone(), Method::SessionRule, now_ms)
                .approve(now_ms, ttl_ms)
                .with_boot_time(since_boot)
                .asked_by(note);
        Ok((authorization, plan))
    }

    /// Gives the agent its ticket, unless the rule was taken back while the authorization was recorded.
    fn finish_by_rule(
        &mut self,
        place: CallPlace,
        rule_id: Uuid,
        file: PathBuf,
        authorization: PlanAuthorization,
    ) {
        let is_free = self.plan.leaves_to_rule(&file, self.shared.calls.as_ref());
        let rule = self.agents.sessions.rule_mut(rule_id).filter(|_| is_free);
        let settled = rule.and_then(|rule| {
            let calls = self.shared.calls.as_ref()?;
            let settled = calls.permit_to(&file, &rule.identity.process)?;
            rule.matches += 1;
            Some(settled)
        });
        if settled != Some(Settled::Ticket) {
            return self.leave_to_person(place, file);
        }
        note_decision(&mut self.agents, &file, authorization.decided_at_ms, |call| {
            call.state = CallState::Allowed;
            call.by_rule = Some(rule_id);
            call.authorization_id = Some(authorization.authorization_id);
        });
        self.plan.take_decision(Some(&file), authorization);
        self.note_decided();
    }

    /// Asks the person about a call that no rule answers.
    fn leave_to_person(&mut self, place: CallPlace, file: PathBuf) {
        if waits(self.agents.sessions.call(place)) {
            self.show_call(file);
        }
    }
}

/// What a rule for calls like this one would cover, or why there can be none.
pub(super) fn for_rule(
    review: Option<&Review>,
    authorization: &PlanAuthorization,
) -> Result<Box<crate::authorization::Binding>, &'static str> {
    let risk = review.map_or(RiskLevel::Blocked, risk_for_rule);
    match why_no_rule(risk, &authorization.binding) {
        Some(why) => Err(why),
        None => Ok(Box::new(authorization.binding.clone())),
    }
}
