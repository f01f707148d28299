//! Texts in several scripts, read back from a picture of the window by a program for printed texts.

use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::harness::Desktop;
use super::screen::{Outcome, need};
use super::support::passes;

/// A language as the reader names it, and a line that it must read.
const LINES: [(&str, &str); 3] = [
    ("eng", "The quick brown fox jumps over the lazy dog"),
    ("rus", "Съешь же ещё этих мягких булок"),
    ("chi_sim", "用户数据库迁移说明文件"),
];
/// A line that reads the other way round when it is drawn from right to left.
const MIRRORED: &str = "אeurt = nimda ;eslaf = dekcehc";

/// The letters of a picture, without spaces, in lower case.
fn letters(desktop: &Desktop, picture: &Path, language: &str) -> String {
    let mut reader = desktop.screen.command("tesseract");
    reader.arg(picture).args(["-", "-l", language, "--psm", "11"]);
    let output = reader.stdout(Stdio::piped()).output().expect("tesseract runs");
    assert!(output.status.success(), "{output:?}");
    without_spaces(&String::from_utf8_lossy(&output.stdout))
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

fn read_back(folder: &Path) -> Outcome {
    need(&["tesseract", "convert"], "sh packaging/test.sh")?;
    let lines: String =
        LINES.iter().map(|it| it.1).chain([MIRRORED]).map(|it| format!("{it}\n")).collect();
    let step = json!({
        "step_id": "create",
        "tool": "file_create",
        "arguments": { "path": "lines.txt", "contents": lines },
    });
    let plan = json!({ "plan_id": "scripts", "intent": "MUTATE", "steps": [step] });
    let file = folder.join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("the plan");
    let mut desktop = Desktop::start_here(&[&file.display().to_string()])?;
    desktop.wait_for_text("Creates lines.txt with 4 lines.")?;
    let picture = desktop.screenshot("scripts")?;
    let larger = picture.with_file_name("scripts_larger.png");
    // The reader expects dark letters of a printed size.
    let mut convert = desktop.screen.command("convert");
    convert.arg(&picture).args(["-negate", "-colorspace", "gray", "-scale", "300%"]);
    assert!(convert.arg(&larger).status().expect("convert runs").success());
    for (language, line) in LINES {
        let read = letters(&desktop, &larger, language);
        assert!(read.contains(&without_spaces(line)), "{line}: {read}");
    }
    let read = letters(&desktop, &larger, "eng");
    assert!(read.contains("eurt=nimda"), "the Latin letters after a Hebrew one: {read}");
    Ok(())
}

#[test]
fn texts_in_several_scripts_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(read_back(folder.path()));
}
