//! Compares the changes that a simulation of edits finds on its copy with the preview of a batch in memory.

use proptest::prelude::*;

use super::*;
use crate::plan::MutateBatch;

const NAMES: [&str; 6] = ["a", "b", "dir/c", "dir/d", "new/e", "ignored"];

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(NAMES.as_slice()).prop_map(str::to_owned)
}

fn edit() -> impl Strategy<Value = Edit> {
    let text = || "[xy\n]{0,4}";
    prop_oneof![
        (name(), text()).prop_map(|(path, contents)| Edit::Write { path, contents }),
        (name(), text()).prop_map(|(path, contents)| Edit::Create { path, contents }),
        name().prop_map(|path| Edit::Delete { path }),
        (name(), name()).prop_map(|(path, to)| Edit::Rename { path, to }),
        (name(), "[xy]{1,2}", "[xyz]{0,2}").prop_map(|(path, old, new)| Edit::Replace {
            path,
            old,
            new
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn simulation_equals_the_preview_of_a_batch(
        before in prop::collection::btree_map(name(), "[xy\n]{0,5}", 0..5),
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        let fixture = Fixture::with(&[(".gitignore", "ignored\n")]);
        for (path, text) in &before {
            fixture.put(path, text);
        }
        let batch = MutateBatch { edits: edits.clone(), expected_hashes: BTreeMap::new(), dry_run: true };
        let preview = fixture.tools.preview(&ToolCall::MutateBatch(batch), Overlay::empty()).unwrap();
        let simulated = fixture.preview(Simulation::Edits { edits: edits.clone(), verify: None });
        prop_assert_eq!(preview.would_fail(), simulated.would_fail());
        prop_assert_eq!(&preview.changes, &simulated.changes);
        let done = fixture.edits(edits, None);
        prop_assert_eq!(preview.would_fail(), done.call_result.error.is_some());
        let mut predicted = preview.changes;
        predicted.sort_by(|one, other| one.path.cmp(&other.path));
        prop_assert_eq!(predicted, done.call_result.simulated);
    }
}
