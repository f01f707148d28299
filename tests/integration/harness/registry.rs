//! Finds the sources of this crate's dependencies, which are real code that every build has.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cargo_metadata::{Metadata, MetadataCommand};

/// The source folder and version of a dependency.
pub fn package(name: &str) -> (PathBuf, String) {
    let found = metadata().packages.iter().find(|it| it.name.as_str() == name);
    let found = found.unwrap_or_else(|| panic!("{name} is no dependency any more"));
    (found.manifest_path.parent().unwrap().into(), found.version.to_string())
}

fn metadata() -> &'static Metadata {
    static METADATA: OnceLock<Metadata> = OnceLock::new();
    METADATA.get_or_init(|| {
        // Without this filter cargo would need the packages of every platform.
        let rustc = assert_cmd::Command::new("rustc").arg("-vV").output().unwrap();
        let said = String::from_utf8(rustc.stdout).unwrap();
        let host = said.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        let options = ["--locked", "--offline", "--filter-platform", host];
        MetadataCommand::new()
            .manifest_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .other_options(options.map(ToOwned::to_owned).to_vec())
            .exec()
            .unwrap()
    })
}
