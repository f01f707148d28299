//! The examples: small workspaces, each with a plan of one kind, or for a loop. An example is copied to a new temporary
//! folder, so that trying it changes none of the person's files.

use std::path::{Path, PathBuf};

/// The relative path and the content of each file.
type Files = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($name:ident $folder:literal $($file:literal)+) => {
        const $name: Files =
            &[$(($file, include_str!(concat!("../../assets/plans/", $folder, $file))),)+];
    };
}

files! {
    TOUR "tour/"
    ".gitignore"
    "Cargo.toml"
    "README.md"
    "cut-off.plan.json"
    "notes/keepers.md"
    "notes/request.md"
    "src/lib.rs"
    "src/main.rs"
    "tour.plan.json"
}

files! {
    COMMANDS ""
    "Cargo.toml"
    "gather-notes.plan.json"
    "notes/style.md"
    "notes/todo.md"
    "src/lib.rs"
}

files! {
    ACTIONS ""
    "Cargo.toml"
    "edit-as-a-whole.plan.json"
    "notes/style.md"
    "notes/todo.md"
    "src/lib.rs"
}

files! {
    LOOP "loop/"
    "Cargo.toml"
    "src/lib.rs"
}

/// An example, by its kind of plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Example {
    /// A step plan, as a tour of the whole program.
    Tour,
    /// A command plan.
    Commands,
    /// An action plan.
    Actions,
    /// A workspace for a loop.
    Loop,
}

impl Example {
    /// The name in the folder's name, the files, and the plan file; the loop has none.
    const fn parts(self) -> (&'static str, Files, &'static str) {
        match self {
            Self::Tour => ("tour", TOUR, "tour.plan.json"),
            Self::Commands => ("commands", COMMANDS, "gather-notes.plan.json"),
            Self::Actions => ("actions", ACTIONS, "edit-as-a-whole.plan.json"),
            Self::Loop => ("loop", LOOP, ""),
        }
    }
}

/// The bytes of this file of the tour; empty if it has none of this name.
pub(super) fn tour_file(name: &str) -> &'static [u8] {
    TOUR.iter().find(|(it, _)| *it == name).map_or(&[], |(_, text)| text.as_bytes())
}

/// Copies an example to a new temporary folder. Returns the path of its plan file, or of the workspace of the loop.
///
/// # Errors
/// The temporary folder cannot be written.
pub(super) fn copy(example: Example) -> std::io::Result<PathBuf> {
    let (name, files, plan) = example.parts();
    // A part of the id keeps the path short. If the folder exists, creating it fails, so no folder is reused.
    let (id, ..) = uuid::Uuid::new_v4().as_fields();
    let folder = std::env::temp_dir().join(format!("countersign-{name}-{id:08x}"));
    std::fs::create_dir(&folder)?;
    copy_to(&folder, files)?;
    Ok(if plan.is_empty() { folder } else { folder.join(plan) })
}

fn copy_to(folder: &Path, files: Files) -> std::io::Result<()> {
    for (name, text) in files {
        let file = folder.join(name);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(file, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_with_a_folder_of_their_own_are_complete() {
        for (name, files) in [("tour", TOUR), ("loop", LOOP)] {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/plans").join(name);
            let mut names: Vec<_> = ignore::WalkBuilder::new(&source)
                .standard_filters(false)
                .build()
                .map(Result::unwrap)
                .filter(|entry| entry.file_type().unwrap().is_file())
                .map(|entry| {
                    entry.path().strip_prefix(&source).unwrap().to_str().unwrap().to_owned()
                })
                .collect();
            names.sort();
            assert_eq!(names, files.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        }
    }
}
