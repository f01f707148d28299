//! A small workspace, and a watched folder beside it that the code under test must not open.

use std::fs::{self, Permissions};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::io::Errno;

use crate::risk::Policy;
use crate::tools::Toolbox;

/// What `a.txt` of the workspace contains.
pub const CONTENTS: &str = "inside\n";
/// What the file beside the workspace contains.
pub const SECRET: &str = "outside\n";

/// The workspace, its tools, and a watch on what is beside it.
pub struct World {
    /// The workspace's folder, absolute and without links.
    pub workspace: PathBuf,
    /// The tools under test.
    pub toolbox: Toolbox,
    watch: OwnedFd,
}

impl World {
    /// Creates both folders in the system's temporary folder.
    pub fn new() -> std::io::Result<Self> {
        let base = std::env::temp_dir().join(format!("countersign-fuzz-{}", std::process::id()));
        if base.exists() {
            fs::remove_dir_all(&base)?;
        }
        let (workspace, outside) = (base.join("workspace"), base.join("outside"));
        for folder in ["folder/deep", "crate/src", "manifest", ".git", "bin"] {
            fs::create_dir_all(workspace.join(folder))?;
        }
        fs::create_dir_all(outside.join("deep"))?;
        let manifest = "[package]\nname = \"x\"\n";
        for (path, contents) in [
            ("a.txt", CONTENTS),
            ("plan.json", "{\"steps\": []}"),
            ("folder/empty", ""),
            ("folder/größe 🙂.txt", "x"),
            ("crate/Cargo.toml", manifest),
            ("crate/src/lib.rs", "fn f() {}\n"),
            ("bin/tool", "#!/bin/sh\n"),
        ] {
            fs::write(workspace.join(path), contents)?;
        }
        fs::set_permissions(workspace.join("bin/tool"), Permissions::from_mode(0o755))?;
        // Opening it blocks until the fuzzer's timeout.
        mkfifoat(CWD, workspace.join("pipe"), Mode::RWXU)?;
        for (path, contents) in [("secret.txt", SECRET), ("Cargo.toml", manifest), ("deep/x", "x")]
        {
            fs::write(outside.join(path), contents)?;
        }
        for (link, target) in [
            ("in", "a.txt"),
            ("folder/up", ".."),
            ("out", "../outside"),
            ("out.txt", "../outside/secret.txt"),
            ("through", "out/secret.txt"),
            ("manifest/Cargo.toml", "../../outside/Cargo.toml"),
            ("above", ".."),
            ("loop", "loop"),
            ("gone", "nothing"),
        ] {
            symlink(target, workspace.join(link))?;
        }
        symlink(outside.join("secret.txt"), workspace.join("absolute"))?;
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        for folder in [outside.clone(), outside.join("deep")] {
            inotify::add_watch(&watch, &folder, WatchFlags::ALL_EVENTS)?;
        }
        let failed = |error| std::io::Error::other(format!("{error}"));
        let toolbox = Toolbox::open(&workspace, &Policy::default()).map_err(failed)?;
        Ok(Self { workspace: fs::canonicalize(workspace)?, toolbox, watch })
    }

    /// The accesses to files beside the workspace since the last call.
    pub fn touched(&self) -> Vec<String> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.watch, &mut buffer);
        let mut events = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => events.push(format!("{:?} {:?}", event.events(), event.file_name())),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return events,
                Err(error) => panic!("the watch: {error}"),
            }
        }
    }

    /// Resolves a path of a plan by the system's own rules.
    pub fn real(&self, path: &str) -> Real {
        let path: PathBuf = Path::new(path).components().collect();
        match fs::canonicalize(self.workspace.join(path)) {
            Ok(real) if real.starts_with(&self.workspace) => Real::Inside(real),
            Ok(_) => Real::Outside,
            Err(error) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Real::Absent,
                _ => Real::Unusable,
            },
        }
    }
}

/// What a path leads to after links are followed.
#[derive(Debug, PartialEq, Eq)]
pub enum Real {
    /// Something in the workspace, by its path without links.
    Inside(PathBuf),
    /// Something elsewhere.
    Outside,
    /// Nothing exists at the path.
    Absent,
    /// The system cannot resolve the path.
    Unusable,
}

impl Real {
    /// Whether it is a regular file of the workspace.
    pub fn is_file(&self) -> bool {
        matches!(self, Self::Inside(path) if path.is_file())
    }

    /// Whether it is a folder of the workspace.
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Inside(path) if path.is_dir())
    }
}
