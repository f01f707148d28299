//! The Landlock rules: access to files and TCP ports, and to signals and abstract sockets of processes outside.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use super::system;

/// The oldest version that suffices: earlier ones do not restrict truncating a file by its path.
const MIN_VERSION: i32 = 3;
/// The first version with rules for TCP ports.
const PORTS_VERSION: i32 = 4;
/// The first version that confines signals and abstract sockets.
const SCOPES_VERSION: i32 = 6;

/// Devices that are safe to open.
pub(super) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Identifies a file or folder: device and inode number.
pub(super) type Identity = (u64, u64);

/// The file access of a program.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// The paths that the program may write to, each with the identity that the path must have, if known.
    pub(super) write: Vec<(PathBuf, Option<Identity>)>,
    /// The paths that the program cannot read. It can read all others.
    pub(super) hidden: Vec<PathBuf>,
    /// The program's own terminal, which programs also open by its name; `None` if it has no name in this view.
    pub(super) terminal: Option<PathBuf>,
    /// Whether Landlock allows all TCP ports; a network namespace may still restrict the network.
    pub(super) has_network: bool,
}

/// Applies the rules to this process and to everything that it starts.
///
/// # Errors
/// When the kernel cannot enforce all of them, or a path to write is not the planned one any more.
pub(super) fn enforce(files: &Files) -> io::Result<()> {
    let version = system::landlock_version();
    if version < MIN_VERSION {
        let text = format!("Landlock has version {version}, and {MIN_VERSION} is needed");
        return Err(io::Error::other(text));
    }
    let abi = ABI::from(version);
    let every = AccessFs::from_all(abi);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(every)
        .map_err(io::Error::other)?;
    if version >= PORTS_VERSION && !files.has_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi)).map_err(io::Error::other)?;
    }
    if version >= SCOPES_VERSION {
        ruleset = ruleset.scope(Scope::from_all(abi)).map_err(io::Error::other)?;
    }
    let read = AccessFs::from_read(abi);
    let rights = Rights { of_files: AccessFs::from_file(abi), hidden: &files.hidden };
    let mut ruleset = ruleset.create().map_err(io::Error::other)?;
    rights.grant(&mut ruleset, Path::new("/"), None, read)?;
    if !files.hidden.is_empty() {
        // The names in every folder can be listed, because the folders above hidden ones could not be listed
        // otherwise.
        add_rule(&mut ruleset, &File::open("/")?, AccessFs::ReadDir.into())?;
    }
    let write = every & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    for (path, identity) in &files.write {
        rights.grant(&mut ruleset, path, *identity, write)?;
    }
    // Earlier versions do not know `IoctlDev`.
    let device = every & (AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev);
    let devices = DEVICES.iter().map(Path::new).chain(files.terminal.as_deref());
    for path in devices.filter(|path| path.exists()) {
        rights.grant(&mut ruleset, path, None, device)?;
    }
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    if status.ruleset != RulesetStatus::FullyEnforced || !status.no_new_privs {
        return Err(io::Error::other("the system does not enforce all of Landlock's rules"));
    }
    Ok(())
}

struct Rights<'a> {
    /// The rights that apply to files; the others are for folders only.
    of_files: BitFlags<AccessFs>,
    hidden: &'a [PathBuf],
}

impl Rights<'_> {
    /// Grants these rights to a path and everything in it that is not hidden. Landlock cannot exclude a part of a
    /// granted folder, so each neighbour of a hidden path gets its own rule. A path that is gone is skipped.
    fn grant(
        &self,
        ruleset: &mut RulesetCreated,
        path: &Path,
        identity: Option<Identity>,
        access: BitFlags<AccessFs>,
    ) -> io::Result<()> {
        if self.hidden.iter().any(|hidden| path.starts_with(hidden)) {
            return Ok(());
        }
        // Links are not followed: the target of a link gets rights by its own path, if at all.
        let flags = libc::O_PATH | libc::O_NOFOLLOW;
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let data = match opened.as_ref().map(File::metadata) {
            Ok(data) => data?,
            // The path was removed meanwhile, or is in a folder that this user cannot enter.
            Err(_) => return Ok(()),
        };
        let opened = opened?;
        // Another file may be at this path since the walls were planned.
        if identity.is_some_and(|identity| identity != (data.dev(), data.ino())) {
            let text =
                format!("{} is no longer what it was when its walls were made", path.display());
            return Err(io::Error::other(text));
        }
        if data.is_symlink() {
            return Ok(());
        }
        if !data.is_dir() {
            return add_rule(ruleset, &opened, access & self.of_files);
        }
        if !self.hidden.iter().any(|hidden| hidden.starts_with(path)) {
            return add_rule(ruleset, &opened, access);
        }
        for entry in fs::read_dir(path)? {
            self.grant(ruleset, &entry?.path(), None, access)?;
        }
        Ok(())
    }
}

fn add_rule(
    ruleset: &mut RulesetCreated,
    path: &File,
    access: BitFlags<AccessFs>,
) -> io::Result<()> {
    ruleset.add_rule(PathBeneath::new(path, access)).map(drop).map_err(io::Error::other)
}
