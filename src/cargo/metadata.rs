//! The packages and targets of a project, read from `cargo metadata`.

use serde::Deserialize;

/// The arguments of cargo that print the metadata.
pub(crate) const METADATA: [&str; 4] =
    ["metadata", "--no-deps", "--format-version=1", "--color=never"];

/// The fields of the metadata that this program uses.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    #[serde(default)]
    pub(crate) workspace_default_members: Vec<String>,
}

/// One package of the workspace.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) manifest_path: String,
    pub(crate) default_run: Option<String>,
    pub(crate) targets: Vec<Target>,
}

/// One target of a package.
#[derive(Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    #[serde(default)]
    pub(crate) crate_types: Vec<String>,
    #[serde(default, rename = "required-features")]
    pub(crate) required_features: Vec<String>,
}

impl Target {
    /// `None` for a target that is not a program; otherwise whether it is an example.
    pub(crate) fn is_example(&self) -> Option<bool> {
        let is = |word: &str| self.kind.iter().any(|kind| kind == word);
        match () {
            () if is("bin") => Some(false),
            () if is("example")
                && self.crate_types.iter().any(|crate_type| crate_type == "bin") =>
            {
                Some(true)
            }
            () => None,
        }
    }
}
