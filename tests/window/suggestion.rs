//! From a diagnostic's suggestion to a plan that is signed and run.

use std::path::Path;

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, sign};

fn applies(folder: &Path) -> Outcome {
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("the manifest");
    std::fs::create_dir(folder.join("src")).expect("the folder");
    let source = folder.join("src/lib.rs");
    let text = "pub fn f() -> u8 {\n    let mut x = 1;\n    x\n}\n";
    std::fs::write(&source, text).expect("the source");
    let plan = folder.join("check.json");
    let steps = json!([{ "step_id": "check", "tool": "lsp_check", "arguments": { "path": "." } }]);
    let check = json!({ "plan_id": "check", "intent": "MUTATE", "steps": steps });
    std::fs::write(&plan, check.to_string()).expect("the plan");
    let mut desktop = Desktop::start_here(&[&plan.display().to_string()])?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Completed")?;
    desktop.key("ctrl+3")?;
    desktop.wait_for_text("variable does not need to be mutable")?;
    desktop.wait_for_text("Remove the text at src/lib.rs:2:9 (can be applied as it is)")?;
    desktop.screenshot("suggestion_1_diagnostic")?;
    desktop.click("Make a plan…")?;
    desktop.wait_for_text("Apply a suggestion: variable does not need to be mutable")?;
    desktop.wait_for_text("Not authorized")?;
    desktop.screenshot("suggestion_2_plan")?;
    assert_eq!(std::fs::read_to_string(&source).expect("the source"), text, "nothing ran");
    sign(&mut desktop)?;
    desktop.wait_for_text("Completed")?;
    let after = std::fs::read_to_string(&source).expect("the source");
    assert_eq!(after, text.replace("mut x", "x"));
    Ok(())
}

#[test]
fn suggestion_is_signed_like_any_other_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(applies(folder.path()));
}
