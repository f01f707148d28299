//! Replaced definitions: their previews, refusals and time limits.

use super::*;

#[test]
fn a_definition_is_replaced_and_nothing_else() {
    use std::os::unix::fs::PermissionsExt as _;
    let workspace = project();
    let path = workspace.path("src/lib.rs");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let call = patch("src/lib.rs", "old_function", "patches/fix.rs");
    let inputs = workspace.tools.inputs(&call).unwrap();
    assert_eq!(inputs.keys().collect::<Vec<_>>(), ["patches/fix.rs", "src/lib.rs"]);
    let predicted = workspace.tools.preview_with_effects(&call, &StopSignal::default()).unwrap().1;
    let call_result = workspace.succeeds(&call);
    let expected = LIB.replace("n + 1", "n + 2");
    assert_eq!(workspace.content("src/lib.rs"), expected.as_bytes());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(call_result.files, predicted);
    let changed = &call_result.result["changed_files"][0];
    assert_eq!(changed["path"], "src/lib.rs");
    assert_eq!(changed["before"], Digest::of(LIB.as_bytes()).to_string());
    assert_eq!(changed["after"], Digest::of(expected.as_bytes()).to_string());
    assert_eq!(call_result.stdout, None, "no program printed anything");
    let edge = |edge_type, target_kind, target: &str| Edge {
        edge_type,
        target_kind,
        target: target.to_owned(),
    };
    assert_eq!(
        call_result.edges,
        [
            edge(EdgeType::ExecutedOn, TargetKind::File, "src/lib.rs"),
            edge(EdgeType::ExecutedOn, TargetKind::Symbol, "old_function"),
            edge(EdgeType::Referenced, TargetKind::File, "patches/fix.rs"),
            edge(EdgeType::Affected, TargetKind::File, "src/lib.rs"),
            edge(EdgeType::Affected, TargetKind::Symbol, "old_function"),
        ]
    );
}

#[test]
fn refused_replacement_leaves_files_unchanged() {
    let workspace = project();
    workspace.put("src/broken.rs", "fn good() {}\nfn bad() { let }\n");
    workspace.put("src/macros.rs", "macro_rules! make { () => { fn made() {} } }\nmake!();\n");
    workspace.put("empty.rs", "");
    workspace.put("blank.rs", " \n\t\n");
    workspace.put("words.rs", "// only words\n");
    workspace.put("latin.rs", b"fn old_function() { /* \xe9 */ }");
    workspace.put("open.rs", "fn old_function() {");
    workspace.put("bad.rs", "fn bad() { 1; }");
    let to = |with: &str| patch("src/lib.rs", "old_function", with);
    for (call, code, part) in [
        (to("absent.rs"), Code::FileNotFound, "the replacement absent.rs does not exist"),
        (to("empty.rs"), Code::BadArgument, "it is empty"),
        (to("blank.rs"), Code::BadArgument, "it is empty"),
        (to("words.rs"), Code::BadArgument, "the replacement holds no code"),
        (to("latin.rs"), Code::BadArgument, "it is not UTF-8 text"),
        (to("patches"), Code::ReadFailed, "is a folder"),
        (to("../outside/secret"), Code::OutsideWorkspace, "outside"),
        (to("open.rs"), Code::Splice, "the result does not parse as Rust"),
        (
            patch("absent.rs", "f", "bad.rs"),
            Code::FileNotFound,
            "the file absent.rs does not exist",
        ),
        (
            patch("src/lib.rs", "nowhere", "bad.rs"),
            Code::SymbolNotFound,
            "no definition of nowhere",
        ),
        (
            patch("src/lib.rs", "new", "bad.rs"),
            Code::SymbolNotFound,
            "new is defined 2 times: method Thing::new (line 11), method Other::new (line 19)",
        ),
        (
            patch_of("src/lib.rs", "Thing", "bad.rs", Some("enum")),
            Code::SymbolNotFound,
            "what has this name is a struct",
        ),
        (
            patch_of("src/lib.rs", "Thing", "bad.rs", Some("thing")),
            Code::BadArgument,
            "thing is no kind of definition",
        ),
        (patch("src/macros.rs", "made", "bad.rs"), Code::SymbolNotFound, "in the macro make"),
        (patch("src/broken.rs", "bad", "bad.rs"), Code::CodeEngine, "the file does not parse"),
    ] {
        let before: Vec<_> = ["src/lib.rs", "src/broken.rs", "src/macros.rs"]
            .map(|path| workspace.content(path))
            .into();
        let (found, message) = workspace.fails(&call);
        assert_eq!(found, code, "{message}");
        assert!(message.contains(part), "{message}");
        let after: Vec<_> = ["src/lib.rs", "src/broken.rs", "src/macros.rs"]
            .map(|path| workspace.content(path))
            .into();
        assert_eq!(before, after);
        if code != Code::OutsideWorkspace {
            let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
            assert!(preview.would_fail() && preview.summary.contains(part), "{preview:?}");
        }
    }
}

#[test]
fn changed_input_makes_the_patch_stale() {
    let workspace = project();
    let call = patch("src/lib.rs", "old_function", "patches/fix.rs");
    let approved = workspace.tools.inputs(&call).unwrap();
    for path in ["src/lib.rs", "patches/fix.rs"] {
        let before = workspace.content(path);
        workspace.put(path, [&before[..], b"// more\n"].concat());
        let lib = workspace.content("src/lib.rs");
        let error = workspace.run_approved(&call, &approved).error.unwrap();
        assert_eq!(error.code(), Code::Stale, "{error}");
        assert_eq!(workspace.content("src/lib.rs"), lib);
        workspace.put(path, before);
    }
    let error = workspace.run_approved(&call, &BTreeMap::new()).error.unwrap();
    assert_eq!(error.code(), Code::Stale, "nothing was approved");
    assert!(workspace.run_approved(&call, &approved).error.is_none());
}

#[test]
fn identical_replacement_changes_nothing() {
    let workspace = project();
    workspace.put("same.rs", FIX.replace("n + 2", "n + 1"));
    let call = patch("src/lib.rs", "old_function", "same.rs");
    let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
    assert_eq!(
        preview.summary,
        "This step changes nothing: src/lib.rs has this definition already."
    );
    let call_result = workspace.succeeds(&call);
    assert_eq!(workspace.content("src/lib.rs"), LIB.as_bytes());
    assert_eq!(call_result.files[0].before, call_result.files[0].after);
    assert!(!call_result.edges.iter().any(|edge| edge.edge_type == EdgeType::Affected));
}

#[test]
fn summary_names_each_changed_file_once() {
    let workspace = project();
    let other = "fn other() -> u32 {\n    1\n}\n";
    workspace.put("src/other.rs", other);
    workspace.put("patches/new.rs", "pub fn new() -> u32 {\n    7\n}\n");
    workspace.put(
        "p.json",
        r#"{"steps": [
            {"file": "src/lib.rs", "symbol": "old_function", "with": "patches/fix.rs"},
            {"file": "src/other.rs", "symbol": "other", "with": "patches/other.rs"},
            {"file": "src/lib.rs", "symbol": "Thing::new", "with": "patches/new.rs"}]}"#,
    );
    for (contents, summary) in [
        (other.replace('1', "2"), "Replaces 3 definitions in src/lib.rs, src/other.rs."),
        (other.to_owned(), "Replaces 2 definitions in src/lib.rs."),
    ] {
        workspace.put("patches/other.rs", contents);
        let preview = workspace.tools.preview(&plan("p.json"), &Overlay::default()).unwrap();
        assert_eq!(preview.summary, summary);
    }
}

#[test]
fn splice_plan_stops_at_its_first_failure() {
    let workspace = project();
    workspace.put("patches/new.rs", "pub fn new() -> u32 {\n    7\n}\n");
    let steps = |last: &str| {
        format!(
            r#"{{"steps": [
                {{"file": "../src/lib.rs", "symbol": "old_function", "with": "fix.rs", "kind": "function"}},
                {{"file": "../src/lib.rs", "symbol": "Thing::new", "with": "new.rs"}},
                {{"file": "../src/lib.rs", "symbol": "{last}", "with": "new.rs"}}]}}"#
        )
    };
    workspace.put("patches/bad.json", steps("nowhere"));
    let call = plan("patches/bad.json");
    let predicted = workspace.tools.preview_with_effects(&call, &StopSignal::default()).unwrap().1;
    assert_eq!(predicted.len(), 2);
    let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
    assert!(preview.would_fail() && preview.changes.len() == 2, "{preview:?}");
    assert!(preview.summary.contains("replacement 3 of 3"), "{}", preview.summary);
    let call_result = workspace.run(&call);
    assert_eq!(call_result.error.as_ref().unwrap().code(), Code::SymbolNotFound);
    assert_eq!(call_result.files, predicted, "the earlier ones stay");
    let expected = LIB.replace("n + 1", "n + 2").replace("        old_function(1)", "        7");
    assert_eq!(String::from_utf8(workspace.content("src/lib.rs")).unwrap(), expected);

    workspace.put("src/lib.rs", LIB);
    workspace.put("patches/good.json", steps("Other::new"));
    let call_result = workspace.succeeds(&plan("patches/good.json"));
    assert_eq!(call_result.files.len(), 3);
    assert_eq!(call_result.files[2].before, call_result.files[1].after);
    assert_eq!(call_result.result["patches"][1]["symbol"], "Thing::new");
    let expected = expected.replace("        2\n", "        7\n");
    assert_eq!(String::from_utf8(workspace.content("src/lib.rs")).unwrap(), expected);
}

#[test]
fn unusable_splice_plan_is_refused_whole() {
    let workspace = project();
    let step = r#"{"file": "src/lib.rs", "symbol": "old_function", "with": "patches/fix.rs"}"#;
    for (text, part) in [
        ("", "EOF while parsing"),
        ("[1]", "invalid type"),
        (r#"{"steps": []}"#, "it has no steps"),
        (r#"{"steps": [{"file": "a"}]}"#, "missing field"),
        (r#"{"steps": [{"file": "", "symbol": "s", "with": "w"}]}"#, "the file of step 1 is empty"),
        (&format!(r#"{{"steps": [{step}], "extra": 1}}"#), "unknown field"),
        (&format!(r#"{{"steps": [{step}], "steps": []}}"#), "duplicate field"),
        (&format!(r#"{{"steps": [{}]}}"#, step.replace("with", "wiht")), "unknown field"),
    ] {
        workspace.put("p.json", text);
        let (code, message) = workspace.fails(&plan("p.json"));
        assert_eq!(code, Code::BadArgument, "{message}");
        assert!(message.contains(part), "{text}: {message}");
    }
    let (code, message) = workspace.fails(&plan("absent.json"));
    assert_eq!(
        (code, &*message),
        (Code::FileNotFound, "the splice plan absent.json does not exist")
    );

    workspace.put("p.json", format!(r#"{{"steps": [{step}]}}"#));
    let approved = workspace.tools.inputs(&plan("p.json")).unwrap();
    workspace.put("p.json", format!(r#"{{"steps": [{step}, {step}]}}"#));
    let error = workspace.run_approved(&plan("p.json"), &approved).error.unwrap();
    assert_eq!(error.code(), Code::Stale, "the plan itself was approved, too");
    assert_eq!(workspace.content("src/lib.rs"), LIB.as_bytes());
}

/// A Cargo project with a pipe that nobody writes to.
fn waiting(workspace: &mut TestWorkspace) -> PathBuf {
    workspace
        .put("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    workspace.put("src/lib.rs", FIX.replace("n + 2", "n + 1"));
    let fifo = workspace.folder.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
    fifo
}

#[test]
fn check_timeout_restores_the_file() {
    let mut workspace = project();
    let fifo = waiting(&mut workspace);
    // The build script waits only when the source has the replacement.
    let script = format!(
        "fn main() {{\n    println!(\"cargo::rerun-if-changed=src/lib.rs\");\n    \
         if std::fs::read_to_string(\"src/lib.rs\").unwrap().contains(\"n + 2\") {{\n        \
         std::fs::read({fifo:?}).unwrap();\n    }}\n}}\n"
    );
    workspace.put("build.rs", script);
    let call = patch("src/lib.rs", "old_function", "patches/fix.rs");
    // The first check takes long, and is not what this test measures.
    let before = workspace.content("src/lib.rs");
    workspace.put("same.rs", FIX.replace("n + 2", "n + 3"));
    let done = workspace.run(&patch("src/lib.rs", "old_function", "same.rs"));
    assert!(done.error.is_none(), "{:?}", done.error);
    workspace.put("src/lib.rs", &before);
    workspace.tools.check_timeout = Duration::from_secs(10);
    let done = workspace.run(&call);
    let error = done.error.unwrap();
    assert_eq!(error.code(), Code::TimedOut, "{error}");
    assert_eq!(error.to_string(), "cargo check was still running after 10 seconds and was ended");
    assert!(done.files.is_empty(), "nothing is recorded as changed");
    assert_eq!(workspace.content("src/lib.rs"), before);
}

#[test]
fn splice_timeout_restores_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut workspace = project();
    let fifo = waiting(&mut workspace);
    let program = workspace.folder.path().join("splice");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'splice 9.9.9' && exit 0\n\
         echo half > src/lib.rs\nread line < {}\n",
        fifo.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let policy = Policy {
        engine: crate::risk::EngineChoice::External,
        splice_program: Some(program),
        ..Policy::default()
    };
    workspace.tools = Toolbox::open(workspace.tools.workspace(), &policy).unwrap();
    workspace.tools.check_timeout = Duration::from_secs(2);
    let before = workspace.content("src/lib.rs");
    let done = workspace.run(&patch("src/lib.rs", "old_function", "patches/fix.rs"));
    let error = done.error.unwrap();
    assert_eq!(error.code(), Code::TimedOut, "{error}");
    assert_eq!(error.to_string(), "splice was still running after 2 seconds and was ended");
    assert_eq!(done.result["timed_out"], true);
    assert!(done.files.is_empty(), "nothing is recorded as changed");
    assert_eq!(workspace.content("src/lib.rs"), before);
}

#[test]
fn preview_names_place_result_and_engine() {
    let workspace = project();
    let call = patch("src/lib.rs", "old_function", "patches/fix.rs");
    let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
    assert_eq!(preview.predicted, Predicted::Exact);
    assert_eq!(preview.summary, "Replaces a definition in src/lib.rs: 1 line becomes 1.");
    assert_eq!(
        preview.changes[0].after,
        workspace.tools.preview_with_effects(&call, &StopSignal::default()).unwrap().1[0].after
    );
    assert_eq!(
        preview.notes,
        [
            "old_function is found once: a function, lines 4 to 6, bytes 30 to 78.".to_owned(),
            "The result parses as Rust. There is no Cargo project here, so cargo check does not run."
                .to_owned(),
            format!("Done by the embedded engine, {}.", crate::code::PARSER_VERSION),
        ]
    );
    workspace.put("Cargo.toml", "[package]\nname = \"p\"\n");
    let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
    assert!(preview.notes[1].contains("cargo check runs once you approve"), "{:?}", preview.notes);
    workspace.put("named.rs", "pub fn another() {}");
    let call = patch("src/lib.rs", "old_function", "named.rs");
    let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
    let note = "The replacement defines another, not old_function.".to_owned();
    assert!(preview.notes.contains(&note), "{:?}", preview.notes);
    let preview = workspace.tools.preview(&symbols("src/lib.rs"), &Overlay::default()).unwrap();
    assert_eq!(preview.summary, "Lists what src/lib.rs defines.");
    let preview = workspace.tools.preview(&references("x"), &Overlay::default()).unwrap();
    assert_eq!(preview.summary, "Lists what names x in the workspace.");
}

#[test]
fn preview_includes_changes_of_earlier_steps() {
    let workspace = project();
    let mut overlay = Overlay::default();
    for call in [
        write("src/lib.rs", "fn first() {}\nfn second() {}\n"),
        create("new.rs", "fn first() {\n    1;\n}\n"),
        create(
            "plans/p.json",
            r#"{"steps": [{"file": "../src/lib.rs", "symbol": "first", "with": "../new.rs"}]}"#,
        ),
    ] {
        workspace.tools.project(&call, &mut overlay).unwrap();
    }
    let before = overlay.clone();
    for call in [patch("src/lib.rs", "first", "new.rs"), plan("plans/p.json")] {
        let mut overlay = before.clone();
        let preview = workspace.tools.preview(&call, &overlay).unwrap();
        assert!(!preview.would_fail(), "{}", preview.summary);
        workspace.tools.project(&call, &mut overlay).unwrap();
        let changes = workspace.tools.after(&overlay).changes_since(Overlay::empty()).unwrap();
        let lib = changes.iter().find(|change| change.path == "src/lib.rs").unwrap();
        assert_eq!(lib.after, content("fn first() {\n    1;\n}\nfn second() {}\n"));
        assert_eq!(lib.before, content(LIB));
        let again = patch("src/lib.rs", "second", "new.rs");
        let preview = workspace.tools.preview(&again, &overlay).unwrap();
        assert_eq!(preview.changes[0].before, lib.after);
    }
    assert_eq!(workspace.content("src/lib.rs"), LIB.as_bytes(), "nothing was touched");
}

// Only the contents before the first patch of a file and after its last are kept.
#[test]
fn repeated_patches_keep_two_contents() {
    let workspace = project();
    workspace.put("two.rs", "pub fn old_function(n: u32) -> u32 {\n    n + 3\n}\n");
    let steps: Vec<_> = (0..20)
        .map(|index| {
            let with = if index % 2 == 0 { "patches/fix.rs" } else { "two.rs" };
            serde_json::json!({"file": "src/lib.rs", "symbol": "old_function", "with": with})
        })
        .collect();
    workspace.put("p.json", serde_json::json!({ "steps": steps }).to_string());
    let call = plan("p.json");
    let predicted = workspace.tools.preview_with_effects(&call, &StopSignal::default()).unwrap().1;
    let done = workspace.succeeds(&call).files;
    assert_eq!(predicted, done);
    assert_eq!(done.len(), 20, "every state is known");
    let contents = done.iter().flat_map(|it| [&it.before_bytes, &it.after_bytes]).flatten();
    assert_eq!(contents.count(), 2, "before the first and after the last");
    assert_eq!(done[0].before_bytes.as_deref(), Some(LIB.as_bytes()));
    assert_eq!(done[19].after_bytes.as_deref(), Some(&*workspace.content("src/lib.rs")));
}
