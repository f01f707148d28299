//! Judging past commands in the background: a moment at a time, until all are judged, a person stops it, or the answer
//! is closed.

use super::evidence_page::EvidencePage;
use super::shared::Shared;
use crate::run::{EvidenceAnswer, Judgement, Question};
use crate::worker::{CommandJudge, JudgeCommands};

impl EvidencePage {
    /// Begins to judge, unless it has begun.
    pub(super) fn begin_judging(&mut self, shared: &mut Shared) {
        if self.answer.is_none() {
            self.answer = Some(EvidenceAnswer::Judged(Judgement::default()));
            self.go_on_judging(None, shared);
        }
    }

    /// Stops judging. What was found stays.
    pub(super) fn stop_judging(&mut self) {
        if let Some(EvidenceAnswer::Judged(judgement)) = &mut self.answer {
            judgement.stopped = !judgement.is_complete();
        }
    }

    fn go_on_judging(&mut self, judge: Option<CommandJudge>, shared: &mut Shared) {
        shared.query_latest(JudgeCommands(judge), |app, answer| {
            let page = &mut app.evidence;
            if page.question != Some(Question::JudgedAgain) {
                return;
            }
            match (answer, &mut page.answer) {
                (Ok((judge, found)), Some(EvidenceAnswer::Judged(judgement))) => {
                    judgement.add(found);
                    page.failure = None;
                    (judgement.done, judgement.all) = (judge.done(), Some(judge.all()));
                    if !judgement.is_complete() && !judgement.stopped {
                        page.go_on_judging(Some(judge), &mut app.shared);
                    }
                }
                (Err(failed), _) => page.fail(failed, &mut app.shared),
                (Ok(_), _) => {}
            }
        });
    }
}
