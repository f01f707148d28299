//! Reading for a review is limited by counts, and ends at a stop.

use std::sync::Arc;

use crate::plan::Code;
use crate::risk::Policy;
use crate::run::StopSignal;
use crate::tools::{ToolError, Toolbox};
use crate::workspace::WorkspaceError;

/// A folder with a folder of this many files, and a file that defines the symbol.
fn folder_with(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("many")).unwrap();
    for index in 0..count {
        std::fs::write(folder.path().join(format!("many/{index}.txt")), "").unwrap();
    }
    std::fs::write(folder.path().join("x.rs"), "fn wanted() {}\n").unwrap();
    folder
}

fn tools(folder: &tempfile::TempDir) -> Toolbox {
    Toolbox::open(folder.path(), &Policy::default()).unwrap()
}

fn find_symbol(toolbox: &Toolbox) -> Result<Option<String>, ToolError> {
    toolbox.now().describe_definition("wanted", None)
}

// A search for a review lists at most 10000 directory entries; in a run there is no such limit.
#[test]
fn large_folder_is_a_limit_only_before_signing() {
    let folder = folder_with(10_001);
    let before = tools(&folder).for_review(Arc::default());
    for _ in 0..2 {
        let error = find_symbol(&before).unwrap_err();
        assert_eq!(error.code(), Code::Limit);
        assert!(error.to_string().contains("more than 10000 directory entries"), "{error}");
    }
    assert!(find_symbol(&tools(&folder)).unwrap().is_some());
}

#[test]
fn lookups_together_have_a_limit() {
    let folder = folder_with(9_000);
    let before = tools(&folder).for_review(Arc::default());
    for _ in 0..4 {
        assert!(find_symbol(&before).unwrap().is_some());
    }
    assert!(before.exceeds_one_search());
    let error = find_symbol(&before).unwrap_err();
    assert!(error.to_string().contains("more than 40000 directory entries"), "{error}");
}

#[test]
fn ignore_rules_count_as_names() {
    let folder = folder_with(10);
    let rules: String = (0..600).map(|index| format!("a{index}\n")).collect();
    std::fs::write(folder.path().join(".ignore"), rules).unwrap();
    let before = tools(&folder).for_review(Arc::default());
    assert_eq!(find_symbol(&before).unwrap_err().code(), Code::Limit);
}

#[test]
fn a_stop_ends_a_lookup() {
    let folder = folder_with(10);
    let stop = Arc::new(StopSignal::default());
    let before = tools(&folder).for_review(Arc::clone(&stop));
    assert!(find_symbol(&before).unwrap().is_some());
    stop.set();
    assert!(
        matches!(find_symbol(&before), Err(error) if matches!(error.get(), Some(WorkspaceError::Cancelled)))
    );
    assert!(before.digest_of("x.rs").is_ok(), "a small file is read as a whole");
}
