//! Tries a host beside the reader thread: it may take a minute, and nobody else is to wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use super::executing::panic_message;
use super::messages::Reply;
use crate::plan::Code;
use crate::risk::Policy;
use crate::run::{Failure, TargetState};
use crate::tools::{SshClient, StopSignal, check_target};

/// Connects to a host on a thread of its own, which ends with the answer. Nothing of a plan is sent.
pub(super) fn check(
    (destination, workspace): (String, PathBuf),
    policy: &Policy,
    stop: &Arc<StopSignal>,
    answer: &Arc<dyn Fn(Reply) + Send + Sync>,
) {
    let (theirs, policy, stop) = (Arc::clone(answer), policy.clone(), Arc::clone(stop));
    let work = move || {
        let tried =
            catch_unwind(AssertUnwindSafe(|| match SshClient::of_system(&policy, &workspace) {
                Ok(client) => check_target(&client, &destination, &stop),
                Err(error) => TargetState::Unreachable { said: error.to_string() },
            }));
        let reply = match tried {
            Ok(state) => Reply::Target { destination, state: Box::new(state) },
            Err(panic) => Reply::Panicked { message: panic_message(&*panic) },
        };
        theirs(reply);
    };
    let started = thread::Builder::new().name("countersign-target".to_owned()).spawn(work);
    if let Err(error) = started {
        let failure = Failure {
            code: Code::HostUnreachable,
            message: format!("the system gives no thread to try the host: {error}"),
            next: "Close other programs, then try again.".to_owned(),
        };
        answer(Reply::Failed(failure));
    }
}
