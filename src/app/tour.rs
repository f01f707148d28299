//! The tour: a small workspace with a plan. It is copied to a new temporary folder, so that a first run changes none of
//! the person's files.

use std::path::{Path, PathBuf};

macro_rules! files {
    ($($name:literal)+) => {
        /// The relative path and the content of every file of the tour.
        const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../assets/plans/tour/", $name))),)+];
    };
}

files! {
    ".gitignore"
    "Cargo.toml"
    "README.md"
    "notes/keepers.md"
    "notes/request.md"
    "src/lib.rs"
    "src/main.rs"
    "tour.plan.json"
}

/// Copies the tour to a new temporary folder. Returns the path of its plan file.
///
/// # Errors
/// The temporary folder cannot be written.
pub(super) fn copy() -> std::io::Result<PathBuf> {
    // A part of the id keeps the path short. If the folder exists, creating it fails, so no folder is reused.
    let (id, ..) = uuid::Uuid::new_v4().as_fields();
    let folder = std::env::temp_dir().join(format!("countersign-tour-{id:08x}"));
    std::fs::create_dir(&folder)?;
    copy_to(&folder)?;
    Ok(folder.join("tour.plan.json"))
}

fn copy_to(folder: &Path) -> std::io::Result<()> {
    for (name, text) in FILES {
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
    fn the_tour_is_complete() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/plans/tour");
        let mut names: Vec<_> = ignore::WalkBuilder::new(&source)
            .standard_filters(false)
            .build()
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| entry.path().strip_prefix(&source).unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        assert_eq!(names, FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    #[test]
    fn the_copied_plan_is_valid() {
        let folder = tempfile::tempdir().unwrap();
        copy_to(folder.path()).unwrap();
        let plan = std::fs::read(folder.path().join("tour.plan.json")).unwrap();
        let parsed = crate::plan::parse(&plan);
        assert!(parsed.is_valid(), "{:?}", parsed.findings);
    }
}
