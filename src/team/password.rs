//! The password of a login: from the address, from `PGPASSWORD`, or from the file of libpq.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::error::Result;
use super::{Server, TeamError};

/// The maximum size of the file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The password for this login; `None` if there is none.
///
/// # Errors
/// When the file with passwords cannot be read, or other users can read it.
pub(super) fn password(server: &Server) -> Result<Option<String>> {
    if server.password.is_some() {
        return Ok(server.password.clone());
    }
    if let Some(password) = std::env::var("PGPASSWORD").ok().filter(|it| !it.is_empty()) {
        return Ok(Some(password));
    }
    let own = std::env::var_os("PGPASSFILE").filter(|it| !it.is_empty()).map(PathBuf::from);
    let Some(path) = own.or_else(default_file) else { return Ok(None) };
    let Some(text) = read(&path)? else { return Ok(None) };
    Ok(in_file(&text, server))
}

fn default_file() -> Option<PathBuf> {
    let folders = directories::BaseDirs::new()?;
    Some(match cfg!(windows) {
        true => folders.config_dir().join("postgresql").join("pgpass.conf"),
        false => folders.home_dir().join(".pgpass"),
    })
}

fn read(path: &Path) -> Result<Option<String>> {
    let error = |what: String| TeamError::PasswordFile(format!("{}: {what}", path.display()));
    // A pipe would be waited for until somebody writes into it.
    if path.metadata().is_ok_and(|it| !it.is_file()) {
        return Err(error("it is no file".to_owned()));
    }
    let file = match File::open(path) {
        Err(it) if it.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|it| error(it.to_string()))?,
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = file.metadata().map_err(|it| error(it.to_string()))?;
        if metadata.mode() & 0o077 != 0 {
            return Err(error(format!(
                "other users can use it; run `chmod 600 {}`",
                path.display()
            )));
        }
    }
    let mut text = String::new();
    file.take(MAX_FILE).read_to_string(&mut text).map_err(|it| error(it.to_string()))?;
    Ok(Some(text))
}

/// The password of the first line `host:port:database:user:password` for this login. A field may be `*`; a `\` takes away
/// the meaning of the next sign.
fn in_file(text: &str, server: &Server) -> Option<String> {
    let host = if server.host.starts_with('/') { "localhost" } else { &server.host };
    let port = server.port.to_string();
    let wanted = [host, &port, &server.database, &server.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (fields, password) = fields(line)?;
        let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
        fields.iter().zip(&wanted).all(fits).then_some(password)
    })
}

fn fields(line: &str) -> Option<([String; 4], String)> {
    let mut signs = line.chars();
    let mut next = |ends_at_colon: bool| {
        let mut field = String::new();
        while let Some(sign) = signs.next() {
            match sign {
                '\\' => field.extend(signs.next()),
                ':' if ends_at_colon => return Some(field),
                sign => field.push(sign),
            }
        }
        (!ends_at_colon).then_some(field)
    };
    let fields = [next(true)?, next(true)?, next(true)?, next(true)?];
    Some((fields, next(false)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let server: Server = "postgres://eve@db:6000/team".parse().unwrap();
        let text = "# db:6000:team:eve:no\ndb:1:team:eve:no\nbroken\n*:*:team:e\\ve:a\\:b:c\\\\\n*:*:*:*:later\n";
        assert_eq!(in_file(text, &server).unwrap(), "a:b:c\\");
        let local: Server = "postgres://eve@%2Frun/team".parse().unwrap();
        assert_eq!(in_file("localhost:*:*:eve:here", &local).unwrap(), "here");
        assert_eq!(in_file("db:*:*:bob:no", &server), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        assert_eq!(read(&path).unwrap(), None);
        std::fs::write(&path, "*:*:*:*:hidden").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && !error.contains("hidden"), "{error}");
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(read(&pipe).unwrap_err().to_string().contains("no file"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), "*:*:*:*:hidden");
    }
}
