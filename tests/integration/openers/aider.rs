//! SEARCH/REPLACE blocks, applied by Aider's own functions and as plans.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::numbers::Numbers;
use super::planned;
use crate::harness::agents::installed;
use crate::harness::{Harness, tree};

/// Reads the blocks of the file `blocks` and makes them in the present folder, as Aider does. Modules that its functions do
/// not use are not installed, and take no part.
const AIDER: &str = r#"
import sys, types
from pathlib import Path
for name in ["aider.dump", "aider.utils", "aider.coders.base_coder", "aider.coders.editblock_prompts"]:
    sys.modules[name] = types.ModuleType(name)
for name, inside in [("aider", "aider"), ("aider.coders", "aider/coders")]:
    package = types.ModuleType(name)
    package.__path__ = [str(Path(sys.argv[1]) / inside)]
    sys.modules[name] = package
sys.modules["aider"].utils = sys.modules["aider.utils"]
sys.modules["aider.dump"].dump = print
sys.modules["aider.coders.base_coder"].Coder = object
sys.modules["aider.coders.editblock_prompts"].EditBlockPrompts = object
from aider.coders.editblock_coder import find_original_update_blocks, do_replace
names = [str(path) for path in Path(".").rglob("*") if path.is_file()]
for edit in list(find_original_update_blocks(sys.stdin.read(), valid_fnames=names)):
    if edit[0] is None:
        continue
    path = Path(edit[0])
    text = path.read_text() if path.exists() else None
    new = do_replace(edit[0], text, edit[1], edit[2], ("```", "```"))
    assert new is not None, edit
    path.write_text(new)
"#;

const LINES: [&str; 8] = ["fn a() {", "    x", "x", "}", "", "ax", "a.rs", "---"];

/// Lines, of which the last one is not empty.
fn lines(numbers: &mut Numbers, most: usize) -> String {
    let lines: String =
        (0..numbers.below(most)).map(|_| format!("{}\n", numbers.of(&LINES))).collect();
    format!("{}\n", lines.trim_end()).trim_start_matches('\n').to_owned()
}

/// Blocks for two files, most of which look for lines that are there.
fn blocks(numbers: &mut Numbers, files: &[(&str, String)]) -> String {
    let mut text = String::new();
    for _ in 0..1 + numbers.below(3) {
        let (name, of_file) = numbers.of(files);
        let of_file: Vec<_> = of_file.split_inclusive('\n').collect();
        let begin = numbers.below(of_file.len().max(1));
        let end = (begin + numbers.below(4)).min(of_file.len());
        let old = of_file.get(begin..end).unwrap_or_default().concat();
        let (old, name) = match numbers.below(8) {
            0 => (lines(numbers, 3), name.to_string()),
            1 => (String::new(), format!("new-{name}")),
            _ => (old, name.to_string()),
        };
        let new = lines(numbers, 4);
        let name = match numbers.below(6) {
            0 => "Then:\n\n".to_owned(),
            1 => format!("`{name}`\n"),
            _ => format!("{name}\n"),
        };
        let (begin, end) = if numbers.below(2) == 0 { ("```rust\n", "```\n") } else { ("", "") };
        text.push_str(&format!(
            "{name}{begin}<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n{end}\n"
        ));
    }
    text
}

/// Where a plan is made of blocks, Aider makes the same files of them.
#[test]
fn accepted_blocks_change_files_as_aider_does() {
    let python = installed("COUNTERSIGN_READERS", "readers/bin/python");
    let library = python.parent().and_then(Path::parent).unwrap().join("lib");
    let library = fs::read_dir(&library).unwrap().next().unwrap().unwrap().path();
    let temporary = tempfile::tempdir().unwrap();
    let (mut numbers, mut accepted, mut created) = (Numbers(3), 0, 0);
    for number in 0..700 {
        let files = [("a.rs", lines(&mut numbers, 10)), ("b.rs", lines(&mut numbers, 10))];
        let text = blocks(&mut numbers, &files);
        let by_aider = temporary.path().join(number.to_string());
        fs::create_dir(&by_aider).unwrap();
        let ours = Harness::new();
        for (name, contents) in &files {
            fs::write(by_aider.join(name), contents).unwrap();
            fs::write(ours.workspace().join(name), contents).unwrap();
        }
        let Ok(plan) = planned(text.as_bytes(), &ours.workspace()) else { continue };
        let finished = ours.execute(ours.approve_now(&plan));
        assert_eq!(finished.words().1, "completed", "{:?}\n{text}", finished.codes());
        // Aider takes a file of which nothing is left for one in which nothing was found.
        if tree(&ours.workspace()).iter().any(|(_, text)| text.is_empty()) {
            continue;
        }
        fs::write(temporary.path().join("blocks"), &text).unwrap();
        #[expect(clippy::disallowed_methods, reason = "it is what the plans are compared with")]
        let applied = Command::new(&python)
            .args(["-c", AIDER])
            .arg(library.join("site-packages"))
            .stdin(fs::File::open(temporary.path().join("blocks")).unwrap())
            .current_dir(&by_aider)
            .output()
            .unwrap();
        assert!(applied.status.success(), "{text}\n{}", String::from_utf8_lossy(&applied.stderr));
        assert_eq!(tree(&ours.workspace()), tree(&by_aider), "{files:?}\n{text}");
        accepted += 1;
        created += usize::from(text.contains("new-"));
    }
    assert!(accepted > 60 && created > 5, "{accepted}, {created}");
}
