//! Compares batches with a model: the same edits, one by one, on a map of texts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{batch, create, delete, rename, replace, write};
use crate::plan::Edit;
use crate::tools::tests::{predictable, test_workspace};

type Files = BTreeMap<String, String>;

/// Applies the edits to a map of texts. `None` if one of them fails.
fn apply_to_model(files: &Files, edits: &[Edit]) -> Option<Files> {
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
                let count = (0..text.len()).filter(|index| text[*index..].starts_with(old)).count();
                if count != 1 {
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
        let workspace = test_workspace();
        for (path, text) in &before {
            workspace.put(path, text);
        }
        let expected = apply_to_model(&before, &edits);
        let call = batch(edits);
        let (preview, predicted) = workspace.tools.preview_with_effects(&call, &workspace.stop).unwrap();
        let done = workspace.run(&call);
        let now: Files = workspace
            .names()
            .into_iter()
            .map(|name| (name.clone(), String::from_utf8(workspace.content(&name)).unwrap()))
            .collect();
        prop_assert_eq!(done.error.is_none(), expected.is_some(), "{:?}", done.error);
        prop_assert_eq!(preview.would_fail(), expected.is_none());
        prop_assert_eq!(&done.result["valid"], expected.is_some());
        prop_assert_eq!(&done.result["committed"], expected.is_some());
        prop_assert_eq!(&predictable(&done.files, &predicted), &predicted, "the preview differs from the effects");
        prop_assert_eq!(now, expected.unwrap_or(before));
    }
}
