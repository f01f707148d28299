//! The files around a plan file, for formats that refer to them.

use std::cell::OnceCell;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::openers::{Beside, Files, NoFiles};
use crate::plan::Digest;
use crate::risk::Policy;
use crate::tools::Toolbox;

/// Maximum size of a file beside a plan file, in bytes.
const BESIDE_BYTES: u64 = 256 << 20;

/// The workspace and the folder of a plan file.
pub(super) struct PlanSurroundings<'a> {
    file: PathBuf,
    workspace: PathBuf,
    workspace_text: String,
    policy: &'a dyn Fn() -> Policy,
    toolbox: OnceCell<Result<Toolbox, String>>,
}

impl<'a> PlanSurroundings<'a> {
    /// An empty workspace is one that is not chosen yet.
    pub(super) fn new(file: &Path, workspace: &Path, policy: &'a dyn Fn() -> Policy) -> Self {
        // Both as they are without links, so that one is found in the other.
        let whole = |path: &Path| {
            path.canonicalize()
                .or_else(|_| std::path::absolute(path))
                .unwrap_or_else(|_| path.to_owned())
        };
        let workspace = whole(workspace);
        // The file itself may be a link; what stands beside it is beside its name.
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = whole(folder.unwrap_or(Path::new(".")));
        let file = file.file_name().map_or_else(|| folder.clone(), |name| folder.join(name));
        let workspace_text = workspace.to_string_lossy().into_owned();
        Self { file, workspace, workspace_text, policy, toolbox: OnceCell::new() }
    }
}

impl Files for PlanSurroundings<'_> {
    fn workspace(&self) -> &str {
        &self.workspace_text
    }

    fn text(&self, path: &str) -> Result<Option<String>, String> {
        if self.workspace.as_os_str().is_empty() {
            return NoFiles.text(path);
        }
        let toolbox = self.toolbox.get_or_init(|| {
            Toolbox::open(&self.workspace, &(self.policy)()).map_err(|error| error.to_string())
        });
        let toolbox = toolbox.as_ref().map_err(Clone::clone)?;
        toolbox.text(path).map_err(|error| error.to_string())
    }

    fn beside(&self, ending: &str) -> Result<Option<Beside>, String> {
        let stem = self.file.file_name().and_then(|name| name.to_str()?.strip_suffix(".json"));
        let (Some(stem), Some(folder)) = (stem, self.file.parent()) else { return Ok(None) };
        let name = format!("{stem}{ending}");
        let path = folder.join(&name);
        let is_file = path.metadata().is_ok_and(|it| it.is_file());
        if stem.is_empty() || !is_file {
            return Ok(None);
        }
        let error = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(error)?;
        file.take(BESIDE_BYTES + 1).read_to_end(&mut bytes).map_err(error)?;
        if bytes.len() as u64 > BESIDE_BYTES {
            return Err(format!("{} is larger than {BESIDE_BYTES} bytes", path.display()));
        }
        let inside = folder.strip_prefix(&self.workspace).unwrap_or(folder);
        let folder = inside.to_str().ok_or("the path of its folder is not Unicode")?.to_owned();
        Ok(Some(Beside { folder, name, digest: Digest::of(&bytes) }))
    }
}
