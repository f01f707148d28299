//! Two windows on the same evidence.

use super::*;
use crate::run::RunFate;

#[test]
fn a_run_of_another_window_is_listed_and_its_end_noticed() {
    let (mut bench, plan) = bench();
    // The evidence folder exists from the first run on.
    bench.open(&plan);
    bench.authorize();
    let folders = bench.folders.clone();
    let mut loaded = settings::load(None);
    loaded.settings.must_see = MustSee::Nothing;
    let (sender, woken) = sync_channel(1_024);
    let wake: Wake = Arc::new(move || {
        let _ = sender.try_send(());
    });
    let other = App::new(folders, loaded, wake).unwrap();
    let fates = |app: &App| app.plan.runs.iter().map(|run| run.fate).collect::<Vec<_>>();
    // The other window does nothing but wait.
    let mut other = Watching { app: other, woken };
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    other.wait_until(|app| fates(app) == [RunFate::Active]);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    other.wait_until(|app| matches!(fates(app)[..], [RunFate::Ended(_)]));
}

struct Watching {
    app: App,
    woken: Receiver<()>,
}

impl Watching {
    fn wait_until(&mut self, condition: impl Fn(&App) -> bool) {
        for _ in 0..2_000 {
            self.app.shared.now = now();
            self.app.drain();
            self.app.read_lists_when_due();
            if condition(&self.app) {
                return;
            }
            let _ = self.woken.recv_timeout(Duration::from_millis(20));
        }
        panic!("timed out; {:?}", self.app.plan.runs);
    }
}
