//! Lets a planner look before it plans (SPEC §10): answers its looks, and asks it again, in a bounded number of rounds.

use super::answer::{Answer, not_in_form, provider_error};
use super::attempts::CurrentAttempt;
use super::{BoundedLoop, PlannerAnswer};
use crate::evidence::{Entry, EvidenceError, PlannerLooks};
use crate::run::{Look, LookScope, Looked, MAX_LOOK_ROUNDS};

/// The maximum size of all answers to looks in one attempt, in bytes.
const ATTEMPT_BYTES: usize = 4 << 20;

impl BoundedLoop<'_> {
    /// Runs the planner until it answers with a plan or says why it has none.
    pub(super) fn ask_planner(
        &mut self,
        open: &mut CurrentAttempt,
    ) -> Result<PlannerAnswer, EvidenceError> {
        let mut looked = Vec::new();
        for round in 1.. {
            let looks = match self.run_planner(open, &looked, round)? {
                Answer::Plan(answer) => return Ok(*answer),
                Answer::Looks(looks) => looks,
            };
            if self.setup.order.looks == LookScope::None {
                let why =
                    "the planner wants to look, and it may not: plan with what the request has";
                return Ok(not_in_form(why.to_owned()));
            }
            if round > MAX_LOOK_ROUNDS {
                let why = format!("the planner looked {MAX_LOOK_ROUNDS} times and gave no plan");
                return Ok(not_in_form(why));
            }
            let answers = self.answer_looks(&looks, &looked);
            if self.control.is_ending() {
                break;
            }
            let entry = Entry::PlannerLooks(PlannerLooks {
                attempt_id: open.attempt_id,
                round,
                looked: &answers,
                timestamp_ms: self.clock.now_ms(),
            });
            let events = self.journal().store.commit(&entry)?;
            open.record.looks.extend(answers.iter().map(Looked::record));
            looked.extend(answers);
            events.iter().for_each(|event| self.tell(event));
        }
        Ok(provider_error("the planner was stopped".to_owned()))
    }

    /// The answers to the looks of one round, without secrets. `earlier` are those of the rounds before.
    fn answer_looks(&self, looks: &[Look], earlier: &[Looked]) -> Vec<Looked> {
        let mut bytes: usize = earlier.iter().map(|looked| looked.record().bytes).sum();
        let mut answers = Vec::with_capacity(looks.len());
        for look in looks {
            let answer = if bytes >= ATTEMPT_BYTES {
                let why = format!("the looks of this attempt have reached {ATTEMPT_BYTES} bytes");
                Looked::refused(look.clone(), why)
            } else {
                self.answer_look(look)
            };
            bytes += answer.record().bytes;
            answers.push(answer);
        }
        answers
    }

    /// The answer to one look, without secrets.
    fn answer_look(&self, look: &Look) -> Looked {
        let host = self.host.as_ref().map(|host| (host.target.as_str(), &host.facts));
        let answer = self.look_toolbox.look(look, host, self.control.stop_signal());
        let Looked { text, rows, error, .. } = answer;
        Looked {
            text: text.map(|text| self.redactor.redact(&text).into_owned()),
            rows: rows.map(|rows| self.redactor.redact_value(rows)),
            error: error.map(|error| self.redactor.redact(&error).into_owned()),
            look: answer.look,
            ok: answer.ok,
            truncated: answer.truncated,
        }
    }
}
