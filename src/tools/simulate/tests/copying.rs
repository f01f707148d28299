//! The choice of the files that are copied, and the limits of a copy.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use super::*;

/// Runs a program on the copy that lists every name there, with the mode and time of a file and the target of a link.
fn listing(fixture: &Fixture) -> BTreeMap<String, String> {
    let list = "use std::os::unix::fs::MetadataExt;\n\
        fn list(folder: &str) { for entry in std::fs::read_dir(folder).unwrap() {\n\
        let entry = entry.unwrap(); let path = format!(\"{folder}/{}\", entry.file_name().to_str().unwrap());\n\
        let data = std::fs::symlink_metadata(&path).unwrap();\n\
        if data.is_dir() { println!(\"{path}\\tfolder {:o}\", data.mode() & 0o777); list(&path); }\n\
        else if data.is_symlink() { println!(\"{path}\\tlink {}\", std::fs::read_link(&path).unwrap().display()); }\n\
        else { println!(\"{path}\\tfile {:o} {}\", data.mode() & 0o777, data.mtime()); } } }\n\
        fn main() { list(\".\") }\n";
    fixture.put("Cargo.toml", MANIFEST);
    fixture.put("src/main.rs", list);
    let done = fixture.function("app", &["x"], false).succeeds();
    let lines = done.printed[0].lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(path, what)| (path[2..].to_owned(), what.to_owned())).collect()
}

// Files are copied with their modes and times, and empty folders are copied too; build and cache folders are not.
#[test]
fn copy_has_the_files_git_would_track() {
    let fixture = Fixture::with(&[
        (".gitignore", "*.log\n/out/\n!keep.log\n"),
        ("sub/.gitignore", "private\n"),
        ("sub/private", "x"),
        ("sub/public", "x"),
        ("a.log", "x"),
        ("keep.log", "x"),
        ("out/big", "x"),
        (".cargo/config.toml", ""),
        (".hidden", "x"),
        (".ignore", "sub\n"),
        (".git/config", "[core]\n"),
        (".git/info/exclude", "excluded\n"),
        ("excluded", "x"),
        ("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# made by a test\n"),
        ("cache/more", "x"),
        ("no-cache/CACHEDIR.TAG", "Signature: none\n"),
        ("run.sh", "x"),
    ]);
    fs::create_dir(fixture.path("empty")).unwrap();
    let mode = |path: &str, mode| {
        fs::set_permissions(fixture.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("run.sh", 0o755);
    mode(".hidden", 0o400);
    mode("empty", 0o550);
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options()
        .write(true)
        .open(fixture.path("run.sh"))
        .unwrap()
        .set_modified(then)
        .unwrap();
    let listed = listing(&fixture);
    mode("empty", 0o750);
    let names: Vec<&str> = listed.keys().map(String::as_str).collect();
    let expected = [
        ".cargo",
        ".cargo/config.toml",
        ".gitignore",
        ".hidden",
        ".ignore",
        "Cargo.lock",
        "Cargo.toml",
        "empty",
        "keep.log",
        "no-cache",
        "no-cache/CACHEDIR.TAG",
        "run.sh",
        "src",
        "src/main.rs",
        "sub",
        "sub/.gitignore",
        "sub/public",
    ];
    assert_eq!(names, expected, "and no target folder, which is beside it");
    assert_eq!(listed["run.sh"], "file 755 1000000000");
    assert!(listed[".hidden"].starts_with("file 400 "), "{listed:?}");
    assert_eq!(listed["empty"], "folder 550");
}

#[test]
fn links_are_copied_only_inside_the_workspace() {
    let fixture = Fixture::with(&[("deep/er/file", "x"), ("data", "x")]);
    fs::write(fixture.folder.path().join("secret"), "secret").unwrap();
    fixture.link("deep/in", "../data");
    fixture.link("folder", "deep/er");
    fixture.link("deep/absolute", fixture.path("data").canonicalize().unwrap());
    fixture.link("deep/around", format!("../../{}/data", "ws"));
    fixture.link("dangling", "nothing");
    fixture.link("out", "../secret");
    fixture.link("away", "/etc/passwd");
    // By its names alone this link stays inside; through `here` it leads outside.
    fixture.link("here", ".");
    fixture.link("sly", "here/../secret");
    fixture.link("loop", "loop");
    let listed = listing(&fixture);
    let links: BTreeMap<&str, &str> = listed
        .iter()
        .filter_map(|(path, what)| Some((path.as_str(), what.strip_prefix("link ")?)))
        .collect();
    let expected = [
        ("dangling", "nothing"),
        ("deep/absolute", "../data"),
        ("deep/around", "../data"),
        ("deep/in", "../data"),
        ("folder", "deep/er"),
        ("here", "."),
    ];
    assert_eq!(links, BTreeMap::from(expected));
    let done = fixture.edits(vec![write("deep/absolute", "new\n")], None).succeeds();
    assert_eq!(done.changes(), [("data".to_owned(), 1, 1)]);
    let left_out: Vec<_> = done.result()["copy"]["left_out"].as_array().unwrap().clone();
    let expected = ["away", "loop", "out", "sly"];
    assert_eq!(left_out.len(), expected.len(), "{left_out:?}");
    for (name, text) in expected.iter().zip(left_out) {
        assert!(text.as_str().unwrap().starts_with(&format!("{name}: it leads ")), "{text}");
    }
}

#[test]
fn special_files_are_left_out_and_named() {
    let fixture = Fixture::with(&[("a.txt", "x")]);
    let pipe = fixture.path("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    let done = fixture.edits(vec![write("a.txt", "y")], None).succeeds();
    let left_out = &done.result()["copy"]["left_out"];
    assert_eq!(left_out[0], "pipe: it is a device, pipe or socket");
}

#[test]
fn ignored_file_named_by_the_plan_is_copied() {
    let fixture =
        Fixture::with(&[(".gitignore", "local*\n"), ("local.toml", "a\n"), ("local/x", "1\n")]);
    let edits = vec![
        Edit::Replace { path: "local.toml".to_owned(), old: "a".to_owned(), new: "b".to_owned() },
        write("local/y", "2\n"),
    ];
    let done = fixture.edits(edits, None).succeeds();
    let changed: Vec<_> = done.changes().into_iter().map(|(path, ..)| path).collect();
    assert_eq!(changed, ["local.toml", "local/y"]);
}

// Git ignores all links but `a`, which leads to its file through one that the plan does not name.
#[test]
fn ignored_links_to_named_files_are_copied() {
    let ignored = (".gitignore", "/folder\n/middle\n/local\n");
    let fixture = Fixture::with(&[ignored, ("real/file", "1\n"), ("c", "1\n"), ("local/x", "")]);
    fixture.link("folder", "real");
    fixture.link("a", "middle");
    fixture.link("middle", "c");
    fixture.link("local/up", "../folder");
    let replace = |path: &str, old: &str, new: &str| Edit::Replace {
        path: path.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    let edits = vec![
        replace("folder/file", "1", "2"),
        replace("local/up/file", "2", "3"),
        write("folder/new", "1\n"),
        write("a", "2\n"),
    ];
    let done = fixture.edits(edits, None).succeeds();
    let change = |path: &str, added, removed| (path.to_owned(), added, removed);
    let expected = [change("c", 1, 1), change("real/file", 1, 1), change("real/new", 1, 0)];
    assert_eq!(done.changes(), expected);
    assert!(done.predicted().iter().all(|(_, predicted)| *predicted), "{:?}", done.predicted());
}

#[test]
fn reached_copy_limit_is_named() {
    let mut fixture = Fixture::with(&[("a/one", "12345"), ("a/two", "12345"), ("b", "")]);
    let default = Limits::DEFAULT;
    let mut under = |limits: Limits| {
        fixture.tools.simulations.limits = limits;
        let done = fixture.edits(vec![write("b", "x")], None);
        done.call_result.error.is_some().then(|| done.error())
    };
    // Three files and a folder.
    assert_eq!(under(Limits { names: 4, bytes: 10, ..default }), None);
    let (code, message) = under(Limits { names: 3, ..default }).unwrap();
    assert_eq!(code, "E302");
    assert!(message.contains("more than 3 files and folders"), "{message}");
    let (code, message) = under(Limits { bytes: 9, ..default }).unwrap();
    assert_eq!(code, "E302");
    assert!(message.contains("have more than 9 bytes"), "{message}");
    let (code, message) = under(Limits { time: Duration::ZERO, ..default }).unwrap();
    assert_eq!(code, "E306");
    assert_eq!(message, "copying the workspace took more than 0 ms and was ended");
}

#[test]
fn changes_are_found_by_content_not_times() {
    let fixture = Fixture::with(&[("same.txt", "12345"), ("touched.txt", "x"), ("mode.sh", "x")]);
    let program = "use std::{fs, time::SystemTime, os::unix::fs::PermissionsExt};\n\
        fn main() { let old = fs::metadata(\"same.txt\").unwrap().modified().unwrap();\n\
        fs::write(\"same.txt\", \"54321\").unwrap();\n\
        fs::File::options().write(true).open(\"same.txt\").unwrap().set_modified(old).unwrap();\n\
        fs::File::options().write(true).open(\"touched.txt\").unwrap().set_modified(SystemTime::now()).unwrap();\n\
        fs::set_permissions(\"mode.sh\", fs::Permissions::from_mode(0o755)).unwrap(); }\n";
    fs::set_permissions(fixture.path("mode.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    fixture.put("Cargo.toml", MANIFEST);
    fixture.put("src/main.rs", program);
    let done = fixture.function("app", &["x"], false).succeeds();
    let changed: Vec<_> = done.predicted().into_iter().map(|(path, _)| path).collect();
    assert_eq!(changed, ["Cargo.lock", "same.txt"]);
    let warnings = done.result()["warnings"].to_string();
    assert!(warnings.contains("the mode of mode.sh is 755 and was 644"), "{warnings}");
}

#[test]
fn uncreatable_simulation_folder_is_reported() {
    let mut fixture = Fixture::with(&[("a", "x")]);
    let file = fixture.folder.path().join("file");
    fs::write(&file, "").unwrap();
    fixture.tools.simulations.parent = Some(file);
    let done = fixture.edits(vec![write("a", "y")], None);
    let (code, message) = done.error();
    assert_eq!(code, "E302");
    assert!(message.starts_with("cannot make a folder for the simulation in "), "{message}");
}
