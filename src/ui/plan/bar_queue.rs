//! The bar below the steps of a plan that waits for the worker, or that can be queued.

use super::open_plans::queue_place;
use super::{Approval, Bar, PlanView};
use crate::plan::prose;
use crate::ui::{Command, Situation, Tone, icon};

/// The name of the plan that runs while the page shows another one.
pub(super) fn other_plan(view: &PlanView<'_>) -> String {
    view.other_plan.map_or_else(String::new, |name| format!("“{}”", prose(name)))
}

/// Adds what can be done with the shown plan while another one runs: it is authorized and queued meanwhile.
pub(super) fn beside_run(bar: &mut Bar, view: &PlanView<'_>, situation: &Situation) {
    bar.primary = match (view.approval, situation.queue_place) {
        (Approval::Approved { .. }, Some(before)) => {
            bar.detail = format!("This plan is queued: {}. {}", queue_place(before), bar.detail);
            bar.others.push(Command::Unqueue);
            None
        }
        (Approval::Approved { .. }, None) => Some(Command::Enqueue),
        (Approval::Recorded | Approval::Used { .. }, _) => None,
        (approval, _) if approval.is_pending() => None,
        _ if situation.look_first => Some(Command::NextUnseen),
        _ if situation.not_authorizable.is_some() => None,
        _ => {
            bar.others.insert(0, Command::Reject);
            Some(Command::Authorize)
        }
    };
}

/// The bar of an authorized plan that waits for the worker.
pub(super) fn queued(before: usize, valid: &str, situation: &Situation) -> Bar {
    let title = format!("Queued: {}", queue_place(before));
    let others = vec![Command::Unqueue];
    if situation.queue_held {
        let detail = "What ran before did not complete, so the queue waits for you.";
        let bar = Bar::new(icon::QUEUE, Tone::Caution, title, detail);
        return Bar { primary: Some(Command::GoOnQueue), others, ..bar };
    }
    Bar { others, ..Bar::new(icon::QUEUE, Tone::Safe, title, valid) }
}
