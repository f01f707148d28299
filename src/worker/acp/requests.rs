//! What a session does about the requests of its agent.

use super::approvals::Use;
use super::person::{News, Verdict};
use super::proposal::{self, Asked, Proposal, Subject};
use super::session::{Halt, Session};
use crate::acp::{Choice, Permission, WriteFile};
use crate::plan::Digest;

/// The beginning of the prompt that is recorded, in bytes.
const PROMPT_BYTES: usize = 500;

/// An id of the agent in a sentence.
fn one_word(text: &str) -> String {
    text.chars().filter(|it| !it.is_whitespace() && !it.is_control()).take(60).collect()
}

/// Why a file was not written.
struct NotWritten {
    why: String,
    /// Whether the person was asked about it.
    asked: bool,
    /// Whether the session goes on.
    halt: Result<(), Halt>,
}

impl NotWritten {
    fn refused(why: String) -> Self {
        Self { why, asked: false, halt: Ok(()) }
    }

    fn failed(why: String) -> Self {
        Self { asked: true, ..Self::refused(why) }
    }
}

fn ends(verdict: Verdict) -> Result<(), Halt> {
    if verdict == Verdict::RejectedAndStop { Err(Halt::Stopped) } else { Ok(()) }
}

impl Session<'_> {
    /// Asks the person about a request, and answers it.
    pub(super) fn permission(&mut self, permission: &Permission) -> Result<(), Halt> {
        // After a stop, every request is answered as cancelled.
        if self.signals.over.is_set() {
            self.send(permission.answer(Choice::Cancelled));
            return Ok(());
        }
        let title = &permission.call.title;
        let proposal = match proposal::of_permission(permission, &self.toolbox, &self.order.policy)
        {
            Ok(proposal) => proposal,
            Err(why) => {
                if let [diff] = permission.call.diffs()
                    && let Ok(path) = proposal::key_of(&diff.path, &self.toolbox)
                {
                    self.approvals.reject(path);
                }
                self.person.tell(News::NotApprovable { title: title.clone(), why });
                self.send(permission.answer(Choice::Reject));
                return Ok(());
            }
        };
        let call = format!("tool call {:?}", permission.call.id);
        let (number, subject, verdict) = self.ask(proposal, title, &call);
        match (verdict, subject) {
            (Verdict::Approved, subject) => {
                if let Subject::Write { path, content } = subject {
                    self.approvals.approve(path, number, content);
                }
                self.send(permission.answer(Choice::Allow));
                Ok(())
            }
            (Verdict::Left, _) => {
                self.send(permission.answer(Choice::Cancelled));
                Ok(())
            }
            (rejected, subject) => {
                if let Subject::Write { path, .. } = subject {
                    self.approvals.reject(path);
                }
                self.send(permission.answer(Choice::Reject));
                ends(rejected)
            }
        }
    }

    /// Writes a file that the agent sends, if it is approved, or asks about it.
    pub(super) fn write(&mut self, write: &WriteFile) -> Result<(), Halt> {
        let (answer, halt) = match self.try_write(write) {
            Ok(path) => {
                self.person.tell(News::Written { path });
                (write.answer(Ok(())), Ok(()))
            }
            Err(NotWritten { why, asked, halt }) => {
                let answer = write.answer(Err(&why));
                self.person.tell(News::Refused { path: write.path.clone(), why, asked });
                (answer, halt)
            }
        };
        self.send(answer);
        halt
    }

    fn try_write(&mut self, write: &WriteFile) -> Result<String, NotWritten> {
        let path = proposal::key_of(&write.path, &self.toolbox).map_err(NotWritten::refused)?;
        match self.approvals.take(&path, &write.content) {
            Use::Run(number) => self.person.run(number).map_err(NotWritten::failed)?,
            Use::Refuse(why) => return Err(NotWritten::refused(why.to_owned())),
            Use::Ask => {
                let proposal = proposal::of_write(write, &self.toolbox);
                let proposal = proposal.map_err(NotWritten::refused)?;
                let title = format!("Write {path}");
                let (number, _, verdict) = self.ask(proposal, &title, "a write without a request");
                match verdict {
                    Verdict::Approved => {
                        self.approvals.used(path.clone(), write.content.clone());
                        self.person.run(number).map_err(NotWritten::failed)?;
                    }
                    Verdict::Left => {
                        return Err(NotWritten::failed("the session is over".to_owned()));
                    }
                    rejected => {
                        self.approvals.reject(path);
                        let why = "the change of this file was rejected".to_owned();
                        return Err(NotWritten { halt: ends(rejected), ..NotWritten::failed(why) });
                    }
                }
            }
        }
        Ok(path)
    }

    /// Asks the person about a plan. Returns its number and what it is about.
    fn ask(&mut self, proposal: Proposal, title: &str, call: &str) -> (u64, Subject, Verdict) {
        self.asked += 1;
        let Proposal { plan, subject } = proposal;
        let asked = Asked {
            number: self.asked,
            plan,
            subject: subject.clone(),
            title: title.to_owned(),
            asked_by: self.asked_by(call),
            agent: self.agent.clone(),
            session: self.session.clone(),
        };
        let verdict = match self.signals.over.is_set() {
            true => Verdict::Left,
            false => self.person.ask(&asked, &self.signals.over),
        };
        (self.asked, subject, verdict)
    }

    /// Who asks, for the record.
    fn asked_by(&self, call: &str) -> String {
        let prompt = &self.order.prompt;
        let digest = Digest::of(prompt.as_bytes());
        let end = prompt.floor_char_boundary(PROMPT_BYTES);
        let more = if end < prompt.len() { "…" } else { "" };
        let prompt = prompt.get(..end).unwrap_or_default();
        format!(
            "asked by {:?} ({}) over the Agent Client Protocol in its conversation {}, {call}; its prompt is {prompt:?}{more}, {digest}",
            self.agent,
            self.order.command.join(" "),
            one_word(&self.session),
        )
    }
}
