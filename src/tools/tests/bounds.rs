//! Previews before a signature are limited by counts, and end at a stop.

use std::sync::Arc;

use crate::plan::Code;
use crate::risk::Policy;
use crate::run::StopSignal;
use crate::tools::{ToolError, Toolbox};
use crate::workspace::WorkspaceError;

/// A folder with this many names in folders, and one file with the symbol.
fn folder_with(names: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("many")).unwrap();
    for index in 0..names {
        std::fs::write(folder.path().join(format!("many/{index}.txt")), "").unwrap();
    }
    std::fs::write(folder.path().join("x.rs"), "fn wanted() {}\n").unwrap();
    folder
}

fn tools(folder: &tempfile::TempDir) -> Toolbox {
    Toolbox::open(folder.path(), &Policy::default()).unwrap()
}

fn looked_up(toolbox: &Toolbox) -> Result<Option<String>, ToolError> {
    toolbox.now().symbol_defined("wanted", None, toolbox.stop())
}

// Before signing, a lookup reads at most 10000 names in folders; in a run there is no such limit.
#[test]
fn large_folder_is_a_limit_only_before_signing() {
    let folder = folder_with(10_001);
    let before = tools(&folder).before_signing(Arc::default());
    for _ in 0..2 {
        let error = looked_up(&before).unwrap_err();
        assert_eq!(error.code(), Code::Limit);
        assert!(error.to_string().contains("more than 10000 names in folders"), "{error}");
    }
    assert!(looked_up(&tools(&folder)).unwrap().is_some());
}

#[test]
fn lookups_together_have_a_limit() {
    let folder = folder_with(9_000);
    let before = tools(&folder).before_signing(Arc::default());
    for _ in 0..4 {
        assert!(looked_up(&before).unwrap().is_some());
    }
    assert!(before.has_looked_enough());
    let error = looked_up(&before).unwrap_err();
    assert!(error.to_string().contains("more than 40000 names in folders"), "{error}");
}

#[test]
fn ignore_rules_count_as_names() {
    let folder = folder_with(10);
    let rules: String = (0..600).map(|index| format!("a{index}\n")).collect();
    std::fs::write(folder.path().join(".ignore"), rules).unwrap();
    let before = tools(&folder).before_signing(Arc::default());
    assert_eq!(looked_up(&before).unwrap_err().code(), Code::Limit);
}

#[test]
fn a_stop_ends_a_lookup() {
    let folder = folder_with(10);
    let stop = Arc::new(StopSignal::default());
    let before = tools(&folder).before_signing(Arc::clone(&stop));
    assert!(looked_up(&before).unwrap().is_some());
    stop.set();
    assert!(
        matches!(looked_up(&before), Err(error) if matches!(error.get(), Some(WorkspaceError::Cancelled)))
    );
    assert!(before.digest_of("x.rs").is_ok(), "a small file is read as a whole");
}
