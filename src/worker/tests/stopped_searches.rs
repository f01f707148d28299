//! A later search stops an earlier one, whose answer nobody needs any more.

use std::any::TypeId;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::*;
use crate::run::Listener;

/// A query in place of a search that takes long: it ends when it is stopped.
struct EndlessSearch {
    started: SyncSender<()>,
}

impl Query for EndlessSearch {
    type Answer = bool;
    const STOPS_EARLIER: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<bool, QueryError> {
        let (sender, stopped) = sync_channel(1);
        let listener: Arc<Listener> = Arc::new(move || {
            let _ = sender.try_send(());
        });
        context.stop.listen(&listener);
        self.started.send(()).unwrap();
        Ok(context.stop.is_set() || stopped.recv_timeout(Duration::from_secs(60)).is_ok())
    }

    fn topic() -> TypeId {
        Search::topic()
    }
}

#[test]
fn a_search_stops_the_search_before_it() {
    let desktop = desktop();
    let opened = desktop.open(&json!([create("a.txt", false)]));
    let (result, _) = desktop.run(desktop.approve(&opened), |_, _| {});
    assert_eq!(result.unwrap().status, RunStatus::Completed);
    let (started, is_running) = sync_channel(1);
    let first = desktop.send(EndlessSearch { started });
    is_running.recv().unwrap();
    let second = desktop.send(Search(Default::default()));
    desktop.take_next();
    assert!(first.recv().unwrap().unwrap(), "stopped");
    desktop.take_next();
    let page = second.recv().unwrap().unwrap().unwrap();
    assert_eq!((page.counts.total, page.not_indexed), (1, 0));
    let counts = desktop.query(CountHits(Default::default())).unwrap().unwrap();
    assert_eq!(counts, page.counts);
    assert_eq!(desktop.query(IndexRecords).unwrap(), 0);
}
