//! Compares batches with a model: the same edits, one by one, on a map of texts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{batch, create, delete, rename, replace, write};
use crate::plan::Edit;
use crate::tools::tests::{house, knowable};

type Files = BTreeMap<String, String>;

/// Applies the edits in the simplest way. `None` when one of them fails.
fn by_hand(files: &Files, edits: &[Edit]) -> Option<Files> {
    let mut files = files.clone();
    for edit in edits {
        match edit {
            Edit::Write { path, contents } => {
                files.insert(path.clone(), contents.clone());
            }
            Edit::Create { path, contents } if !files.contains_key(path) => {
                files.insert(path.clone(), contents.clone());
            }
            Edit::Delete { path } => {
                files.remove(path)?;
            }
            Edit::Rename { path, to } if path != to && !files.contains_key(to) => {
                let content = files.remove(path)?;
                files.insert(to.clone(), content);
            }
            Edit::Replace { path, old, new } => {
                let text = files.get_mut(path)?;
                let places = (0..text.len()).filter(|at| text[*at..].starts_with(old)).count();
                if places != 1 {
                    return None;
                }
                *text = text.replacen(old, new, 1);
            }
            _ => return None,
        }
    }
    Some(files)
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(NAMES.as_slice())
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (name(), "[xy]{0,3}").prop_map(|(path, text)| write(path, &text)),
        (name(), "[xy]{0,3}").prop_map(|(path, text)| create(path, &text)),
        name().prop_map(delete),
        (name(), name()).prop_map(|(path, to)| rename(path, to)),
        (name(), "[xy]{1,2}", "[xyz]{0,2}").prop_map(|(path, old, new)| replace(path, &old, &new)),
    ]
}

fn files() -> impl Strategy<Value = Files> {
    let file = (name().prop_map(str::to_owned), "[xy]{0,4}");
    prop::collection::vec(file, 0..4).prop_map(|files| files.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn batch_equals_sequential_edits_or_changes_nothing(
        before in files(),
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        let house = house();
        for (path, text) in &before {
            house.put(path, text);
        }
        let expected = by_hand(&before, &edits);
        let call = batch(edits);
        let (preview, foreseen) = house.tools.preview_with_effects(&call, &house.stop).unwrap();
        let done = house.run(&call);
        let now: Files = house
            .names()
            .into_iter()
            .map(|name| (name.clone(), String::from_utf8(house.content(&name)).unwrap()))
            .collect();
        prop_assert_eq!(done.error.is_none(), expected.is_some(), "{:?}", done.error);
        prop_assert_eq!(preview.would_fail(), expected.is_none());
        prop_assert_eq!(&done.result["valid"], expected.is_some());
        prop_assert_eq!(&done.result["committed"], expected.is_some());
        prop_assert_eq!(&knowable(&done.files, &foreseen), &foreseen, "what was foreseen is what was done");
        prop_assert_eq!(now, expected.unwrap_or(before));
    }
}
