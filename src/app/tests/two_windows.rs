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
    let mut other = App::new(folders, loaded, wake).unwrap();
    let fates = |app: &App| app.plan.runs.iter().map(|run| run.fate).collect::<Vec<_>>();
    // The other window does nothing but wait.
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    wait_until(&mut other, &woken, "a run", |app| fates(app) == [RunFate::Active]);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    wait_until(&mut other, &woken, "its end", |app| matches!(fates(app)[..], [RunFate::Ended(_)]));
}
