//! Why a session ends, and who ends it.

use std::sync::Arc;

use crate::run::{Listener, StopSignal};

/// The signals of a session. They are two, so that what a person has stopped is never told as the end of the agent.
pub struct Signals {
    /// The person stops the session.
    pub stop: Arc<StopSignal>,
    /// The session is over: it was stopped, or the program of the agent has ended.
    pub over: Arc<StopSignal>,
    /// Kept, because signals keep their listeners only weakly.
    _stop_ends: Arc<Listener>,
}

impl Signals {
    /// The signals of a session that ends when `stop` is set.
    pub fn new(stop: Arc<StopSignal>) -> Self {
        let over = Arc::new(StopSignal::default());
        let stop_ends: Arc<Listener> = {
            let over = Arc::clone(&over);
            Arc::new(move || over.set())
        };
        stop.listen(&stop_ends);
        if stop.is_set() {
            over.set();
        }
        Self { stop, over, _stop_ends: stop_ends }
    }
}
