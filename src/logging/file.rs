//! The files of the log: `countersign.log`, and older ones as `countersign.log.1` and `.2`.
//!
//! Several windows and commands write to one log. Each opens the file anew for each piece, and locks it while it appends whole
//! lines or replaces a file that is too large.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The name of the file.
const NAME: &str = "countersign.log";
/// The size from which a file is replaced, in bytes.
pub(super) const MAX_SIZE: u64 = 1 << 20;
/// The number of older files.
const OLDER: u32 = 2;

/// The log in a folder of its own.
pub(super) struct LogFile {
    folder: PathBuf,
    max_size: u64,
}

impl LogFile {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, max_size: MAX_SIZE }
    }

    #[cfg(test)]
    pub(super) fn with_max_size(folder: PathBuf, max_size: u64) -> Self {
        Self { folder, max_size }
    }

    /// Appends lines. Creates the folder and the file if they are missing, and replaces a file that is too large. Waits while
    /// another process has the lock, for which only the thread of the log has time.
    ///
    /// # Errors
    /// The folder or the file cannot be used, is a link, or belongs to another user; or the disk is full.
    pub(super) fn append(&self, lines: &[u8]) -> io::Result<()> {
        create_folder(&self.folder)?;
        let path = self.folder.join(NAME);
        for _ in 0..100 {
            let mut file = open(&path)?;
            lock(&file)?;
            if !is_at(&file, &path)? {
                continue; // Replaced while this process waited.
            }
            let size = file.metadata()?.len();
            if size > 0 && size + lines.len() as u64 > self.max_size {
                self.rename()?;
                continue;
            }
            // A full disk may have taken a part of a line.
            let begin: &[u8] = if ends_line(&mut file, size)? { b"" } else { b"\n" };
            return file.write_all(&[begin, lines].concat());
        }
        Err(io::Error::other("the log is replaced again and again"))
    }

    /// Makes the file the first of the older ones, and removes the last.
    fn rename(&self) -> io::Result<()> {
        for number in (1..=OLDER).rev() {
            let older = self.folder.join(format!("{NAME}.{number}"));
            let newer = match number {
                1 => self.folder.join(NAME),
                _ => self.folder.join(format!("{NAME}.{}", number - 1)),
            };
            match fs::rename(newer, older) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// The last lines of the log, the latest last.
    ///
    /// # Errors
    /// There is no log, or it cannot be read.
    pub(super) fn last_lines(&self, count: usize) -> io::Result<Vec<String>> {
        let mut lines = tail(&self.folder.join(NAME))?;
        if lines.len() < count
            && let Ok(mut older) = tail(&self.folder.join(format!("{NAME}.1")))
        {
            older.append(&mut lines);
            lines = older;
        }
        Ok(lines.split_off(lines.len().saturating_sub(count)))
    }
}

/// The maximum size that is read of a file, in bytes.
const MAX_TAIL: u64 = 256 << 10;

/// The lines at the end of a file.
fn tail(path: &Path) -> io::Result<Vec<String>> {
    let mut options = OpenOptions::new();
    options.read(true);
    let mut file = unlinked(&mut options).open(path)?;
    check(&file.metadata()?)?;
    let begin = file.metadata()?.len().saturating_sub(MAX_TAIL);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(MAX_TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line may be incomplete.
    let skipped = usize::from(begin > 0);
    Ok(text.lines().skip(skipped).map(str::to_owned).collect())
}

fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    // The folder of the state may be behind a link of the user; that of the log is made by this program.
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    #[cfg(unix)]
    unix::restrict_folder(path, &metadata)?;
    Ok(())
}

/// Opens the file for reading and appending, and creates it if it is missing. Only this user may access it.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = unlinked(options.read(true).append(true).create(true)).open(path)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    #[cfg(unix)]
    unix::restrict_file(&file, &metadata)?;
    Ok(file)
}

/// Follows no link, and does not wait for the other end of a pipe.
fn unlinked(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
    }
    #[cfg(not(unix))]
    options
}

/// Locks the file until it is closed. Where a file system has no locks, lines of several processes may mix.
fn lock(file: &File) -> io::Result<()> {
    match file.lock() {
        Err(error) if has_no_locks(&error) => Ok(()),
        locked => locked,
    }
}

fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ENOLCK) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

/// Refuses what is no file of this user, or has another name somewhere.
fn check(metadata: &Metadata) -> io::Result<()> {
    if !metadata.is_file() {
        return Err(io::Error::other("the log is no regular file"));
    }
    #[cfg(unix)]
    unix::check_owner(metadata)?;
    Ok(())
}

/// Whether the file still has this name.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        unix::is_at(file, path)
    }
    #[cfg(not(unix))]
    {
        Ok(file.metadata()?.len() == fs::metadata(path)?.len())
    }
}

/// Whether a file of this size is empty or ends with a line break.
fn ends_line(file: &mut File, size: u64) -> io::Result<bool> {
    let Some(last) = size.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    file.seek(SeekFrom::Start(last))?;
    file.read_exact(&mut byte)?;
    Ok(byte == *b"\n")
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, Metadata, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::path::Path;

    pub(super) fn check_owner(metadata: &Metadata) -> io::Result<()> {
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        let has_one_name = metadata.is_dir() || metadata.nlink() <= 1;
        if is_own && has_one_name {
            return Ok(());
        }
        let why = if is_own { "the log has a second name" } else { "the log is of another user" };
        Err(io::Error::other(why))
    }

    pub(super) fn restrict_folder(path: &Path, metadata: &Metadata) -> io::Result<()> {
        check_owner(metadata)?;
        if metadata.mode() & 0o077 != 0 {
            fs::set_permissions(path, Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    pub(super) fn restrict_file(file: &File, metadata: &Metadata) -> io::Result<()> {
        if metadata.mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(())
    }

    pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
        let open = file.metadata()?;
        match fs::symlink_metadata(path) {
            Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
            // Another one is about to make a new file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
