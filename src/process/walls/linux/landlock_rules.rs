//! The Landlock rules: file access, TCP ports, and signals and abstract sockets across the walls.

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
pub(super) const OLDEST: i32 = 3;
/// The first version with rules for TCP ports.
const PORTS: i32 = 4;
/// The first version that confines signals and abstract sockets.
const SCOPES: i32 = 6;

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
    /// When set, Landlock does not restrict the network; the network namespace may still do so.
    pub(super) has_network: bool,
}

/// Applies the rules to this process and to everything that it starts.
///
/// # Errors
/// A kernel that cannot enforce all of them.
pub(super) fn enforce(files: &Files) -> io::Result<()> {
    let version = system::landlock_version();
    if version < OLDEST {
        let text = format!("Landlock has version {version}, and {OLDEST} is needed");
        return Err(io::Error::other(text));
    }
    let abi = ABI::from(version);
    let every = AccessFs::from_all(abi);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(every)
        .map_err(io::Error::other)?;
    if version >= PORTS && !files.has_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi)).map_err(io::Error::other)?;
    }
    if version >= SCOPES {
        ruleset = ruleset.scope(Scope::from_all(abi)).map_err(io::Error::other)?;
    }
    let read = AccessFs::from_read(abi);
    let no_devices = AccessFs::MakeChar | AccessFs::MakeBlock;
    let rights = Rights { of_files: AccessFs::from_file(abi), hidden: &files.hidden };
    let mut ruleset = ruleset.create().map_err(io::Error::other)?;
    rights.open(&mut ruleset, Path::new("/"), None, read)?;
    if !files.hidden.is_empty() {
        // Names can be listed in every folder, because the folders above hidden ones could not be listed
        // otherwise.
        allow(&mut ruleset, &File::open("/")?, AccessFs::ReadDir.into())?;
    }
    let mut write = every & !no_devices;
    if version >= 5 {
        write &= !BitFlags::from(AccessFs::IoctlDev);
    }
    for (path, identity) in &files.write {
        rights.open(&mut ruleset, path, *identity, write)?;
    }
    let mut device = AccessFs::ReadFile | AccessFs::WriteFile;
    if version >= 5 {
        device |= AccessFs::IoctlDev;
    }
    for path in DEVICES.iter().map(Path::new).filter(|path| path.exists()) {
        rights.open(&mut ruleset, path, None, device)?;
    }
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    if status.ruleset != RulesetStatus::FullyEnforced || !status.no_new_privs {
        return Err(io::Error::other("the system does not enforce all of Landlock's rules"));
    }
    Ok(())
}

struct Rights<'a> {
    of_files: BitFlags<AccessFs>,
    hidden: &'a [PathBuf],
}

impl Rights<'_> {
    /// Grants these rights to a path and everything in it that is not hidden. Landlock cannot exclude a part of a
    /// granted folder, so around a hidden path each neighbour gets its own rule.
    fn open(
        &self,
        ruleset: &mut RulesetCreated,
        path: &Path,
        identity: Option<Identity>,
        access: BitFlags<AccessFs>,
    ) -> io::Result<()> {
        if self.hidden.iter().any(|hidden| path.starts_with(hidden)) {
            return Ok(());
        }
        // Links are not followed: the target of a link gets rights by its own path, or none.
        let flags = libc::O_PATH | libc::O_NOFOLLOW;
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let data = match opened.as_ref().map(File::metadata) {
            Ok(data) => data?,
            // The path was removed meanwhile, or is in a folder that this user cannot enter.
            Err(_) => return Ok(()),
        };
        let opened = opened?;
        // Another file may have been put there since the walls were planned.
        if identity.is_some_and(|identity| identity != (data.dev(), data.ino())) {
            let text =
                format!("{} is no longer what it was when its walls were made", path.display());
            return Err(io::Error::other(text));
        }
        if data.is_symlink() {
            return Ok(());
        }
        if !data.is_dir() {
            return allow(ruleset, &opened, access & self.of_files);
        }
        if !self.hidden.iter().any(|hidden| hidden.starts_with(path)) {
            return allow(ruleset, &opened, access);
        }
        for entry in fs::read_dir(path)? {
            self.open(ruleset, &entry?.path(), None, access)?;
        }
        Ok(())
    }
}

fn allow(ruleset: &mut RulesetCreated, path: &File, access: BitFlags<AccessFs>) -> io::Result<()> {
    ruleset.add_rule(PathBeneath::new(path, access)).map(drop).map_err(io::Error::other)
}
