//! Permissions of evidence folders and files (SPEC §8): folders have mode 0700 and files 0600, whatever the umask. More
//! permissive modes are corrected, except those of folders that contain other files too.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use super::EvidenceError;
use super::error::Result;

/// Creates the folder if it is missing, and removes the permissions of group and others if it contains only evidence.
///
/// # Errors
/// When the folder cannot be created or belongs to another user, or when others may write to it and it also contains
/// other files.
pub(super) fn create_evidence_folder(path: &Path) -> Result<()> {
    create_folder(path, true)
}

/// As [`create_evidence_folder`], but removes the permissions whatever the folder contains.
///
/// # Errors
/// When the folder cannot be created or belongs to another user.
pub(super) fn create_private_folder(path: &Path) -> Result<()> {
    create_folder(path, false)
}

/// Opens a file for appending. A missing file is created with mode 0600.
pub(super) fn open_for_append(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().append(true).create(true)).open(path)
}

/// Creates a file with mode 0600. Fails if the file exists.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().read(true).write(true).create_new(true)).open(path)
}

/// Creates or overwrites a file, and creates its folder if it is missing. Only this user may access them.
///
/// # Errors
/// When the folder or the file cannot be created or written, is of another kind, or belongs to another user.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private_folder(folder).map_err(io::Error::other)?;
    }
    restrict_file(path).map_err(io::Error::other)?;
    let mut options = OpenOptions::new();
    private(options.write(true).create(true).truncate(true)).open(path)?.write_all(bytes)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn create_folder(path: &Path, only_with_evidence: bool) -> Result<()> {
    let folder = |source| EvidenceError::Folder { source, path: path.to_owned() };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(folder)?;
    // Links are followed: the folder behind a link is the one that is used.
    let metadata = fs::metadata(path).map_err(folder)?;
    if !metadata.is_dir() {
        return Err(folder(io::ErrorKind::NotADirectory.into()));
    }
    #[cfg(unix)]
    unix::restrict_folder(path, &metadata, only_with_evidence)?;
    #[cfg(not(unix))]
    let _ = only_with_evidence;
    Ok(())
}

/// Removes the permissions of group and others from a file, if it exists.
///
/// # Errors
/// When the path is no regular file, or the file belongs to another user.
pub(super) fn restrict_file(path: &Path) -> Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(EvidenceError::Folder { source, path: path.to_owned() }),
    };
    if !metadata.is_file() {
        return Err(EvidenceError::NoFile { path: path.to_owned() });
    }
    #[cfg(unix)]
    unix::restrict_file(path, &metadata)?;
    Ok(())
}

/// Checks that only this user can access the key file. Its mode is not corrected, because others may have read the key.
///
/// # Errors
/// When others have permissions for the file, or it belongs to another user. The error contains the command that
/// corrects it.
pub(super) fn check_key_permissions(path: &Path, file: &File) -> Result<()> {
    #[cfg(unix)]
    unix::check_key_permissions(path, file)?;
    #[cfg(not(unix))]
    let _ = (path, file);
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::fs::Metadata;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    /// The permissions of group and others.
    const GROUP_AND_OTHERS: u32 = 0o077;
    /// The prefixes of the names that this program creates in an evidence folder.
    const OWN_NAMES: [&str; 6] =
        ["execution_log.", "search_index.", "locks", "continuations", "output-", "checkpoints"];

    pub(super) fn restrict_folder(
        path: &Path,
        metadata: &Metadata,
        only_with_evidence: bool,
    ) -> Result<()> {
        check_owner(path, metadata)?;
        let mode = metadata.mode() & 0o7777;
        if mode & GROUP_AND_OTHERS == 0 {
            return Ok(());
        }
        if only_with_evidence && !contains_only_evidence(path) {
            // Other files in the folder may need its mode. Read permission is harmless, because evidence files have
            // mode 0600.
            if mode & 0o022 != 0 {
                let what = format!("others may write into it ({mode:04o})");
                return Err(not_private(path, what, "chmod go-w"));
            }
            return Ok(());
        }
        set_mode(path, mode & 0o700)
    }

    pub(super) fn restrict_file(path: &Path, metadata: &Metadata) -> Result<()> {
        check_owner(path, metadata)?;
        let mode = metadata.mode() & 0o7777;
        if mode & GROUP_AND_OTHERS == 0 { Ok(()) } else { set_mode(path, mode & 0o700) }
    }

    pub(super) fn check_key_permissions(path: &Path, file: &File) -> Result<()> {
        let metadata = file
            .metadata()
            .map_err(|source| EvidenceError::Key { source, path: path.to_owned() })?;
        // Root may read evidence with another user's key. It cannot write, because the folders have another owner.
        if !rustix::process::geteuid().is_root() {
            check_owner(path, &metadata)?;
        }
        let mode = metadata.mode() & 0o7777;
        if mode & GROUP_AND_OTHERS != 0 {
            let what = format!("the key can be used by other users ({mode:04o})");
            return Err(not_private(path, what, "chmod 600"));
        }
        Ok(())
    }

    fn check_owner(path: &Path, metadata: &Metadata) -> Result<()> {
        let own = rustix::process::geteuid().as_raw();
        if metadata.uid() == own {
            return Ok(());
        }
        let what = format!("it belongs to user {}, and this program runs as {own}", metadata.uid());
        Err(not_private(path, what, &format!("chown {own}")))
    }

    /// The error, with the command that corrects the path, quoted for a shell.
    fn not_private(path: &Path, what: String, command: &str) -> EvidenceError {
        let quoted = path.display().to_string().replace('\'', r"'\''");
        let command = format!("{command} '{quoted}'");
        EvidenceError::NotPrivate { path: path.to_owned(), what, command }
    }

    fn contains_only_evidence(path: &Path) -> bool {
        let Ok(entries) = fs::read_dir(path) else { return false };
        entries.into_iter().all(|entry| {
            entry.is_ok_and(|entry| {
                let name = entry.file_name();
                OWN_NAMES.iter().any(|own| name.to_string_lossy().starts_with(own))
            })
        })
    }

    fn set_mode(path: &Path, mode: u32) -> Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
            .map_err(|source| EvidenceError::Folder { source, path: path.to_owned() })
    }
}
