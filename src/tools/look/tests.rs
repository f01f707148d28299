use serde_json::json;

use super::*;
use crate::risk::Policy;

fn toolbox(folder: &std::path::Path) -> Toolbox {
    Toolbox::open(folder, &Policy::default()).unwrap().for_looks(Arc::new(hide))
}

/// Hides each `hunter2`, and the lines from `BEGIN` to `END`.
fn hide(text: &str) -> String {
    let text = text.replace("hunter2", "[hidden]");
    let Some((before, rest)) = text.split_once("BEGIN") else { return text };
    let (block, after) = rest.split_once("END").unwrap();
    format!("{before}[hidden]{}{after}", "\n".repeat(block.matches('\n').count()))
}

fn look(toolbox: &Toolbox, value: Value) -> Looked {
    let look = Look::from_json(&value).unwrap();
    toolbox.look(&look, None, &StopSignal::default())
}

#[test]
fn files_are_read_whole_by_lines_and_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "one\ntwo\nthree").unwrap();
    let long = "é".repeat(LOOK_BYTES);
    std::fs::write(folder.path().join("long.txt"), &long).unwrap();
    std::fs::write(folder.path().join("binary"), [0xFF, 0xFE, 0]).unwrap();
    let tools = toolbox(folder.path());
    let text = |value| look(&tools, value).text;
    assert_eq!(text(json!({"read": "a.txt"})).as_deref(), Some("one\ntwo\nthree"));
    assert_eq!(text(json!({"read": "a.txt", "lines": [2, 2]})).as_deref(), Some("two\n"));
    assert_eq!(text(json!({"read": "./a.txt", "lines": [2, 9]})).as_deref(), Some("two\nthree"));
    let cut = look(&tools, json!({"read": "long.txt"}));
    assert!(cut.truncated && cut.ok);
    assert_eq!(cut.text.unwrap().len(), LOOK_BYTES);
    for (value, why) in [
        (json!({"read": "a.txt", "lines": [9, 9]}), "fewer than 9 lines"),
        (json!({"read": "binary"}), "not a text"),
        (json!({"read": "none"}), "does not exist"),
        (json!({"read": "."}), "folder"),
        (json!({"read": "../x"}), "outside"),
        (json!({"read": "/etc/hostname"}), "outside"),
        (json!({"search": "("}), "cannot be used"),
        (json!({"search": "(?:a{1,1000}){1,1000}"}), "exceeds size limit"),
        (json!({"inspect": "all"}), "is no query"),
        (json!({"host": "db.example.org"}), "not the host"),
    ] {
        let looked = look(&tools, value.clone());
        let error = looked.error.clone().unwrap_or_default();
        assert!(!looked.ok && error.contains(why), "{value}: {looked:?}");
    }
}

fn write(folder: &std::path::Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

// Also through a link with a harmless name.
#[test]
fn sensitive_files_are_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = [
        ".netrc",
        "server.kdbx",
        ".env",
        ".env.production",
        "deploy/ID_RSA",
        "tls/server.key",
        "prod.tfvars",
        "config/secrets.yml",
        ".git/config",
    ];
    write(folder.path(), &hidden.map(|path| (path, "needle")));
    let source = "fn needle() {}\n";
    write(folder.path(), &[("ordinary.txt", "needle"), ("build.rs", source), ("a.rs", source)]);
    std::os::unix::fs::symlink(".netrc", folder.path().join("notes.txt")).unwrap();
    for (path, name) in [(".env", "copy.txt"), ("a.rs", "same.txt")] {
        std::fs::hard_link(folder.path().join(path), folder.path().join(name)).unwrap();
    }
    let tools = toolbox(folder.path());
    for path in hidden.into_iter().chain(["notes.txt", "copy.txt", "build.rs", "./.ENV"]) {
        let looked = look(&tools, json!({ "read": path }));
        let is_refused = !looked.ok && looked.text.is_none() && looked.rows.is_none();
        assert!(is_refused, "{path}: {looked:?}");
    }
    assert!(look(&tools, json!({"read": "same.txt"})).ok);
    let places = |rows: &Value, field: &str| -> Vec<String> {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row[field].as_str().unwrap().to_owned()).collect()
    };
    for query in [json!({"search": "needle"}), json!({"inspect": "search:needle"})] {
        let looked = look(&tools, query);
        let paths = places(looked.rows.as_ref().unwrap(), "path");
        assert_eq!(paths, ["a.rs", "ordinary.txt", "same.txt"]);
        assert!(!looked.truncated, "{:?}", looked.error);
    }
    let looked = look(&tools, json!({"search": "needle", "root": ".env"}));
    assert_eq!(looked.rows, Some(json!([])));
    let looked = look(&tools, json!({"glob": "**"}));
    assert_eq!(looked.rows, Some(json!(["a.rs", "ordinary.txt", "same.txt"])));
    for query in [json!({"symbol": "needle"}), json!({"inspect": "overview"})] {
        let looked = look(&tools, query);
        let rows = looked.rows.unwrap().to_string();
        assert!(looked.ok && !rows.contains("build.rs"), "{rows}");
    }
    let looked = look(&tools, json!({"symbol": "needle"}));
    assert_eq!(places(&looked.rows.unwrap()["definitions"], "file_path"), ["a.rs"]);
}

// Neither lines, nor columns, nor whether a search finds something tells of a secret.
#[test]
fn lines_and_searches_see_only_what_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let text = "user hunter2 x\nBEGIN\nalpha\nbeta\nEND\nlast hunter2\n";
    write(folder.path(), &[("a.txt", text)]);
    let tools = toolbox(folder.path());
    let read = |lines: Value| look(&tools, json!({"read": "a.txt", "lines": lines})).text;
    assert_eq!(read(json!([3, 4])).unwrap(), "\n\n");
    assert_eq!(read(json!([6, 6])).unwrap(), "last [hidden]\n");
    for pattern in ["hunter2", "hunter.", "alpha", "^b", "BEGIN|h.nter2", "^user .{7} x"] {
        let looked = look(&tools, json!({ "search": pattern }));
        assert_eq!(looked.rows, Some(json!([])), "{pattern}");
    }
    let looked = look(&tools, json!({"search": "x|last"}));
    assert_eq!(
        looked.rows,
        Some(json!([
            {"path": "a.txt", "line": 1, "column": 15, "text": "user [hidden] x"},
            {"path": "a.txt", "line": 6, "column": 1, "text": "last [hidden]"},
        ]))
    );
}

// A name in the hidden text is not found, and positions are those of the shown text, whatever was hidden.
#[test]
fn symbols_are_those_of_what_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let text = "fn a() { hunter2; } fn b() {}\n/* BEGIN */\nfn c() {}\n/* END */\n";
    write(folder.path(), &[("a.rs", text), ("b.py", "x = hunter2\n")]);
    let tools = toolbox(folder.path());
    for name in ["hunter2", "c"] {
        let rows = look(&tools, json!({ "symbol": name })).rows.unwrap();
        assert_eq!((&rows["definitions"], &rows["references"]), (&json!([]), &json!([])));
    }
    let rows = look(&tools, json!({"symbol": "b"})).rows.unwrap();
    let start = hide(text).find("fn b").unwrap();
    assert_eq!(rows["definitions"][0]["byte_start"], json!(start));
}

#[test]
fn large_and_binary_files_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.txt", "needle\n"), ("b.bin", "needle\n\0")]);
    let large = std::fs::File::create(folder.path().join("large.txt")).unwrap();
    large.set_len(10 << 30).unwrap();
    let tools = toolbox(folder.path());
    for lines in [json!([1, 1]), json!([1_000_000, 1_000_001])] {
        let looked = look(&tools, json!({"read": "large.txt", "lines": lines}));
        assert!(looked.error.unwrap().contains("more than"));
    }
    let looked = look(&tools, json!({"search": "needle"}));
    assert_eq!(looked.rows.unwrap().as_array().unwrap().len(), 1);
    let error = looked.error.unwrap();
    assert!(looked.truncated && error.starts_with("not searched: large.txt"), "{error}");
}

#[test]
fn work_ends_with_the_time_or_the_outer_stop() {
    fn wait(stop: &StopSignal) {
        let (sender, receiver) = sync_channel(1);
        let listener: Arc<Listener> = Arc::new(move || {
            let _ = sender.send(());
        });
        stop.listen(&listener);
        if !stop.is_set() {
            receiver.recv().unwrap();
        }
    }
    let stop = StopSignal::default();
    assert!(within(Duration::ZERO, &stop, wait).1);
    let hours = Duration::from_secs(36_000);
    assert_eq!(within(hours, &stop, |_| 7), (7, false));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| within(hours, &stop, wait));
        stop.set();
        assert!(!waiting.join().unwrap().1);
    });
}

#[test]
fn rows_end_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let lines = format!("{}\n", "x".repeat(2_000)).repeat(500);
    std::fs::write(folder.path().join("a.txt"), lines).unwrap();
    let looked = look(&toolbox(folder.path()), json!({"search": "x+"}));
    let rows = looked.rows.unwrap();
    assert!(looked.truncated && rows.to_string().len() <= LOOK_BYTES);
    assert_eq!(rows[0]["text"].as_str().unwrap().len(), LINE_BYTES);
    assert!(rows.as_array().unwrap().len() > 100);
}
