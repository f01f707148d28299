//! Reads settings files: only regular ones of a limited size. A pipe would be waited for, and a device may never end.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The maximum size of a settings file, in MiB.
const MAX_MIB: u64 = 4;

/// The text of a settings file.
///
/// # Errors
/// When there is none; when it is no regular file, too large or no UTF-8, or cannot be read.
pub fn read_file(file: &Path) -> Result<String> {
    // Opening a device may do something by itself.
    check_regular(&std::fs::metadata(file)?)?;
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(file)?;
    check_regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    let limit = MAX_MIB << 20;
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
        return Err(Error::other(format!("it is too large: more than {MAX_MIB} MiB")));
    }
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is no UTF-8"))
}

/// As [`read_file`]; empty if there is no file.
///
/// # Errors
/// As for [`read_file`].
pub fn read_text(file: &Path) -> Result<String> {
    match read_file(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        text => text,
    }
}

fn check_regular(metadata: &Metadata) -> Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(Error::other("it is no regular file")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_limited_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let why = |path: &Path| read_file(path).unwrap_err().to_string();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), 0o600.into()).unwrap();
        std::os::unix::fs::symlink(at("pipe"), at("link")).unwrap();
        for path in [at("pipe"), at("link"), folder.path().into(), "/dev/zero".into()] {
            assert_eq!(why(&path), "it is no regular file", "{}", path.display());
        }
        let large = File::create(at("large")).unwrap();
        large.set_len(MAX_MIB << 20).unwrap();
        assert_eq!(read_file(&at("large")).unwrap().len(), 4 << 20);
        large.set_len((MAX_MIB << 20) + 1).unwrap();
        assert!(why(&at("large")).contains("too large"));
        std::fs::write(at("bytes"), b"\xff").unwrap();
        assert!(why(&at("bytes")).contains("UTF-8"));
        assert_eq!(read_file(&at("none")).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(read_text(&at("none")).unwrap(), "");
    }
}
