//! What `ssh` reads in a run: its settings with all files that they include, and the known hosts.
//!
//! A run lasts long, and `ssh` reads these files anew for each connection. So they are read once, when the plan is
//! reviewed; the approval covers what was read, and the run gets copies of just that (`ssh -F`). `ssh -v -G` lists the
//! files that it reads itself. Includes that this reader does not follow in the same way are an error.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::super::client::Call;
use super::super::known;
use super::super::{LOOKUP_TIMEOUT, RemoteError, SshClient};
use crate::plan::{Destination, Digest, quoted};
use crate::run::{SshFiles, SshPart, StopSignal};

/// Maximum size of a file, in bytes.
const FILE_BYTES: u64 = 64 << 20;
/// Maximum depth of files that include others, as in `ssh`.
const DEPTH: usize = 16;
/// Maximum number of files with settings.
const FILES: usize = 1_000;
/// The beginning of the message of `ssh -v` for each file with settings.
const READS: &str = "debug1: Reading configuration data ";

/// What `ssh` would read, and what an approval covers.
pub(super) struct Read {
    /// The contents.
    pub(super) files: SshFiles,
    /// The paths of the settings, in their order.
    pub(super) settings: Vec<PathBuf>,
    /// The paths of the known hosts.
    pub(super) known_hosts: Vec<PathBuf>,
    pub(super) settings_digest: Digest,
    pub(super) known_hosts_digest: Digest,
}

/// Reads the settings, and the known hosts as they are for this destination. Settings that name other known hosts for
/// single hosts do not apply: the keys of these are then unknown.
///
/// # Errors
/// `ssh` cannot read its settings, or they include files in a way that is not followed.
pub(super) fn read(
    client: &SshClient,
    destination: &Destination,
    stop: &StopSignal,
) -> Result<Read, RemoteError> {
    let call = Call::new(vec!["-v", "-G"], destination, Path::new("/"));
    let call = Call { timeout: LOOKUP_TIMEOUT, ..call };
    let finished = client.run(&call, stop, &|_, _| {})?;
    let messages = String::from_utf8_lossy(&finished.stderr);
    if !finished.is_success() {
        let messages: Vec<&str> =
            messages.lines().filter(|line| !line.starts_with("debug")).collect();
        let messages = messages.join("\n").trim_end().to_owned();
        return Err(RemoteError::Unreachable { destination: destination.to_string(), messages });
    }
    let listed = messages.lines().filter_map(|line| line.strip_prefix(READS));
    let listed: Vec<PathBuf> = listed.map(|path| PathBuf::from(path.trim_end())).collect();
    let settings = Reader::follow(client.settings(), &listed)?;
    let text = String::from_utf8_lossy(&finished.stdout);
    let of = |name: &str| {
        let paths = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        paths.map(known::files).unwrap_or_default()
    };
    let known: Vec<PathBuf> =
        ["userknownhostsfile", "globalknownhostsfile"].into_iter().flat_map(of).collect();
    let contents: Vec<io::Result<Vec<u8>>> = known.iter().map(|path| content(path)).collect();
    let mut known_hosts = Vec::new();
    for content in contents.iter().flatten() {
        known_hosts.extend_from_slice(content);
        known_hosts.push(b'\n');
    }
    let known_hosts_digest = digest_of(known.iter().zip(&contents));
    let settings_digest = digest_of(settings.paths.iter().zip(&settings.contents));
    Ok(Read {
        files: SshFiles { settings: settings.files, known_hosts },
        settings: settings.paths,
        known_hosts: known,
        settings_digest,
        known_hosts_digest,
    })
}

/// The digest of the names and contents of files. One that is missing or cannot be read has a content of its own.
fn digest_of<'a>(files: impl Iterator<Item = (&'a PathBuf, &'a io::Result<Vec<u8>>)>) -> Digest {
    let mut all = Vec::new();
    for (path, content) in files {
        let state = match content {
            Ok(content) => Digest::of(content).hex(),
            Err(error) => error.kind().to_string(),
        };
        all.extend(path.as_os_str().as_encoded_bytes());
        all.extend(format!("\0{state}\0").as_bytes());
    }
    Digest::of(&all)
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    // A device or a pipe is no list of keys, and may never end.
    if path.metadata()?.is_file() {
        fs::File::open(path)?.take(FILE_BYTES).read_to_end(&mut content)?;
    }
    Ok(content)
}

/// Where paths of a file with settings lead.
#[derive(Clone)]
struct Base {
    /// The folder of relative paths.
    relative: PathBuf,
    /// The home folder; `None` in the settings of the system, in which `ssh` allows no `~`.
    home: Option<PathBuf>,
}

/// Reads files with settings, and those that they include.
#[derive(Default)]
struct Reader {
    paths: Vec<PathBuf>,
    contents: Vec<io::Result<Vec<u8>>>,
    files: Vec<Vec<SshPart>>,
}

impl Reader {
    /// Reads the file of the policy, or those of the person and of the system, and compares their number and names with
    /// those that `ssh` has listed. The first file includes all others.
    fn follow(config: Option<&Path>, listed: &[PathBuf]) -> Result<Self, RemoteError> {
        let mut reader = Self { files: vec![Vec::new()], ..Self::default() };
        let mut roots = Vec::new();
        match config {
            Some(config) => {
                let home = std::env::home_dir().unwrap_or_default();
                let base = Base { relative: home.join(".ssh"), home: Some(home) };
                roots.push(reader.take(config, &base, 0)?);
            }
            None => {
                // The person's own file, if there is one, then that of the system.
                let mut is_complete = false;
                for path in listed {
                    if reader.paths.contains(path) {
                        continue;
                    }
                    let is_own = roots.is_empty() && path.ends_with(".ssh/config");
                    if is_complete {
                        return Err(not_covered(path, "ssh reads it, and no other file names it"));
                    }
                    is_complete = !is_own;
                    let relative = path.parent().unwrap_or(path).to_owned();
                    let home = relative.parent().map(Path::to_owned).filter(|_| is_own);
                    roots.push(reader.take(path, &Base { relative, home }, 0)?);
                }
            }
        }
        let [read, said] =
            [&reader.paths, listed].map(|paths| paths.iter().collect::<BTreeSet<_>>());
        if let Some(path) = read.symmetric_difference(&said).next() {
            let why = "it is not sure whether ssh reads this file with settings";
            return Err(not_covered(path, why));
        }
        if let Some(first) = reader.files.first_mut() {
            first.push(SshPart::Include(roots));
        }
        Ok(reader)
    }

    /// Reads a file and those that it includes. Returns its index.
    fn take(&mut self, path: &Path, base: &Base, depth: usize) -> Result<usize, RemoteError> {
        if depth > DEPTH || self.files.len() > FILES {
            return Err(not_covered(path, "too many files with settings of ssh include others"));
        }
        let content = content(path).map_err(|error| not_covered(path, &error.to_string()))?;
        let index = self.files.len();
        self.files.push(Vec::new());
        let mut parts = Vec::new();
        let mut text = Vec::new();
        self.paths.push(path.to_owned());
        let lines = content.clone();
        self.contents.push(Ok(content));
        for (number, line) in (1..).zip(lines.split_inclusive(|byte| *byte == b'\n')) {
            if !is_include(line) {
                text.extend_from_slice(line);
                continue;
            }
            let included = included(line, base).ok_or_else(|| {
                let line = String::from_utf8_lossy(line);
                let line = quoted(line.trim());
                not_covered(path, &format!("line {number} cannot be followed: {line}"))
            })?;
            let mut indices = Vec::new();
            for file in included {
                indices.push(self.take(&file, base, depth + 1)?);
            }
            parts.push(SshPart::Text(std::mem::take(&mut text)));
            parts.push(SshPart::Include(indices));
        }
        parts.push(SshPart::Text(text));
        if let Some(file) = self.files.get_mut(index) {
            *file = parts;
        }
        Ok(index)
    }
}

fn not_covered(path: &Path, why: &str) -> RemoteError {
    RemoteError::SshSettings { path: path.to_owned(), why: why.to_owned() }
}

/// Whether `ssh` could take a line for an `Include`, however it is quoted.
fn is_include(line: &[u8]) -> bool {
    let start = line.iter().position(|byte| !b" \t\r\n\x0c\x0b\"'=\\".contains(byte));
    let keyword = start.and_then(|start| line.get(start..start + "include".len()));
    keyword.is_some_and(|keyword| keyword.eq_ignore_ascii_case(b"include"))
}

/// The files that an `Include` names, in the order of `ssh`. `None` for everything but plain paths, whose last component
/// may have the wildcards `*` and `?`.
fn included(line: &[u8], base: &Base) -> Option<Vec<PathBuf>> {
    let line = std::str::from_utf8(line).ok()?.trim_matches([' ', '\t', '\r', '\n']);
    let (keyword, words) = line.split_at_checked("include".len())?;
    let words = words.strip_prefix([' ', '\t', '='])?;
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@:~*? \t".contains(c);
    if !keyword.eq_ignore_ascii_case("include") || !words.chars().all(is_plain) {
        return None;
    }
    let mut files = Vec::new();
    for word in words.split([' ', '\t']).filter(|word| !word.is_empty()) {
        let path = match (word.strip_prefix('~'), &base.home) {
            (Some(rest), Some(home)) => home.join(rest.strip_prefix('/')?.trim_start_matches('/')),
            (Some(_), None) => return None,
            (None, _) => base.relative.join(word),
        };
        let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
        if folder.to_str()?.contains(['*', '?']) {
            return None;
        }
        if !name.contains(['*', '?']) {
            // As in `ssh`, a file that does not exist includes nothing.
            files.extend(path.exists().then_some(path));
            continue;
        }
        let pattern = GlobBuilder::new(name).literal_separator(true).build().ok()?;
        let pattern = pattern.compile_matcher();
        let entries = fs::read_dir(folder).map(|entries| entries.collect::<io::Result<Vec<_>>>());
        let Ok(entries) = entries else { continue };
        let names = entries.ok()?.into_iter().map(|entry| entry.file_name());
        // A wildcard at the beginning matches no hidden file.
        let is_match = |found: &OsString| {
            let is_hidden = found.as_encoded_bytes().starts_with(b".");
            pattern.is_match(found) && is_hidden == name.starts_with('.')
        };
        let mut names: Vec<_> = names.filter(is_match).collect();
        names.sort();
        files.extend(names.into_iter().map(|name| folder.join(name)));
    }
    files.iter().all(|file| file.is_file()).then_some(files)
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
