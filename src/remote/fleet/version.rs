//! Finds the version of ansible-core without starting it.
//!
//! Asking the program takes half a second, for each review and each run. An installation says the same in
//! `ansible/release.py`, from which the plugin of a run also takes the version that it reports before the first task. A
//! run whose version is another than the authorized one ends there. So a wrong answer here stops a run and never lets
//! another ansible run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Maximum size of a script that is read, in bytes.
const SCRIPT_BYTES: u64 = 64 << 10;
/// The folders of packages below a folder `python3` or `python3.11`.
const PACKAGES: [&str; 2] = ["site-packages", "dist-packages"];

/// The version of the one ansible that this script can import; `None` if it is no ordinary script of an installation, or
/// if there are several installations. Then the program must be asked.
pub(super) fn of_installation(program: &Path, home: Option<&Path>) -> Option<String> {
    let script = text(&fs::canonicalize(program).ok()?)?;
    let interpreter = Path::new(script.lines().next()?.strip_prefix("#!")?.split(' ').next()?);
    let is_python = interpreter.file_name()?.to_str()?.starts_with("python");
    if !is_python || !interpreter.is_absolute() || !script.contains("ansible.cli.playbook") {
        return None;
    }
    let prefix = interpreter.parent()?.parent()?;
    let mut prefixes = vec![prefix.to_owned()];
    if !prefix.join("pyvenv.cfg").exists() {
        // Other folders of an interpreter that is no virtual environment.
        prefixes.push(prefix.join("local"));
        prefixes.push(PathBuf::from("/usr/local"));
        prefixes.extend(home.map(|home| home.join(".local")));
    }
    let found: BTreeSet<PathBuf> = prefixes.iter().flat_map(|prefix| releases(prefix)).collect();
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(only), None) => version(&text(&only)?),
        _ => None,
    }
}

/// The files `release.py` of all versions of Python below a prefix.
fn releases(prefix: &Path) -> Vec<PathBuf> {
    let libraries =
        ["lib", "lib64"].into_iter().filter_map(|lib| fs::read_dir(prefix.join(lib)).ok());
    let is_python = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with("python3"));
    let pythons = libraries.flatten().flatten().filter(|entry| is_python(&entry.file_name()));
    let releases = pythons.flat_map(|python| {
        PACKAGES.map(|packages| python.path().join(packages).join("ansible/release.py"))
    });
    // `lib64` is often a link to `lib`.
    releases.filter_map(|path| fs::canonicalize(path).ok()).collect()
}

/// The version in a line such as `__version__ = '2.19.14'`.
fn version(release: &str) -> Option<String> {
    let line = release.lines().find_map(|line| line.strip_prefix("__version__ = "))?;
    let version = line.trim().trim_matches(['\'', '"']);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".+-".contains(c);
    (!version.is_empty() && version.chars().all(is_plain)).then(|| version.to_owned())
}

/// The text of a file; `None` if it is too large or no text.
fn text(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file =
        fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|it| it.is_file()))?;
    let size = file.take(SCRIPT_BYTES + 1).read_to_string(&mut text).ok()?;
    (size as u64 <= SCRIPT_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An installation below a folder, with these versions of Python.
    fn installed(folder: &Path, name: &str, pythons: &[&str], first_line: &str) -> PathBuf {
        let prefix = folder.join(name);
        for python in pythons {
            let package = prefix.join(format!("lib/{python}/site-packages/ansible"));
            fs::create_dir_all(&package).unwrap();
            let release = format!("from x import y\n__version__ = '2.{}'\n", python.len());
            fs::write(package.join("release.py"), release).unwrap();
        }
        fs::create_dir_all(prefix.join("bin")).unwrap();
        fs::write(prefix.join("pyvenv.cfg"), "").unwrap();
        let program = prefix.join("bin/ansible-playbook");
        let first_line = first_line.replace("PREFIX", prefix.to_str().unwrap());
        let script = format!("{first_line}\nfrom ansible.cli.playbook import main\n");
        fs::write(&program, script).unwrap();
        program
    }

    #[test]
    fn one_installation_says_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let python = "#!PREFIX/bin/python3";
        let one = installed(folder.path(), "one", &["python3.11"], python);
        assert_eq!(of_installation(&one, None).as_deref(), Some("2.10"));
        let link = folder.path().join("ansible-playbook");
        std::os::unix::fs::symlink(&one, &link).unwrap();
        assert_eq!(of_installation(&link, None).as_deref(), Some("2.10"));
    }

    #[test]
    fn what_is_not_certain_must_be_asked() {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str, pythons: &[&str], line: &str| {
            of_installation(&installed(folder.path(), name, pythons, line), None)
        };
        let python = "#!PREFIX/bin/python3 -s";
        assert_eq!(program("sane", &["python3.9"], python).as_deref(), Some("2.9"));
        assert_eq!(program("two", &["python3.9", "python3.11"], python), None);
        assert_eq!(program("none", &[], python), None);
        assert_eq!(program("shim", &["python3.9"], "#!/usr/bin/env bash"), None);
        assert_eq!(program("env", &["python3.9"], "#!/usr/bin/env python3"), None);
        let other = installed(folder.path(), "other", &["python3.9"], python);
        fs::write(&other, format!("#!{}/other/bin/python3\nprint(1)\n", folder.path().display()))
            .unwrap();
        assert_eq!(of_installation(&other, None), None, "another script");
        // The packages of a person come before those of the system.
        let system = installed(folder.path(), "system", &["python3.9"], python);
        fs::remove_file(folder.path().join("system/pyvenv.cfg")).unwrap();
        let home = folder.path().join("home");
        let package = home.join(".local/lib/python3.9/site-packages/ansible");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("release.py"), "__version__ = '9'\n").unwrap();
        assert_eq!(of_installation(&system, Some(&home)), None);
    }

    #[test]
    fn version_is_a_plain_word() {
        assert_eq!(version("__version__ = \"2.19.0b1\"\n").as_deref(), Some("2.19.0b1"));
        for text in ["", "__version__ = x(1)", "__version__ = ''", "  __version__ = '1'"] {
            assert_eq!(version(text), None, "{text}");
        }
    }
}
