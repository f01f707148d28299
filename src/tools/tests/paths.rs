//! The resolution of paths, and the paths that are refused.

use super::*;

fn key(workspace: &TestWorkspace, path: &str) -> String {
    workspace.tools.inputs(&write(path, "")).unwrap().into_keys().next().unwrap()
}

#[test]
fn every_spelling_of_a_path_has_one_key() {
    let workspace = test_workspace();
    workspace.put("src/a.rs", "a");
    workspace.put("a.rs", "top");
    workspace.link("link.rs", "src/a.rs");
    workspace.link("chain.rs", "link.rs");
    workspace.link("dir", "src");
    workspace.link("absolute.rs", workspace.path("src/a.rs"));
    let absolute = workspace.path("src/a.rs");
    let given = workspace.folder.path().join("ws/src/a.rs");
    for path in [
        "src/a.rs",
        "./src//a.rs",
        "src/../src/a.rs",
        "link.rs",
        "chain.rs",
        "dir/a.rs",
        "dir/../src/a.rs",
        "absolute.rs",
        "../ws/src/a.rs",
        absolute.to_str().unwrap(),
        given.to_str().unwrap(),
    ] {
        assert_eq!(key(&workspace, path), "src/a.rs", "{path}");
        assert_eq!(workspace.tools.digest_of(path).unwrap(), content("a"), "{path}");
    }
    assert_eq!(key(&workspace, "src/../a.rs"), "a.rs");
}

#[test]
fn paths_that_lead_outside_are_refused() {
    let workspace = test_workspace();
    let outside = workspace.folder.path().join("outside");
    workspace.put("file", "x");
    workspace.link("dir", &outside);
    workspace.link("relative", "../outside");
    workspace.link("secret", outside.join("secret"));
    workspace.link("dangling", "../outside/new");
    workspace.link("chain", "secret");
    let absolute = outside.join("secret");
    for path in [
        "..",
        "../outside/secret",
        "../outside/new",
        "/",
        "/etc/passwd",
        "dir/secret",
        "dir/new",
        "relative/secret",
        "secret",
        "dangling",
        "chain",
        absolute.to_str().unwrap(),
    ] {
        for call in
            [read(path), write(path, "x"), create(path, "x"), search("x", path), glob("*", path)]
        {
            let (code, message) = workspace.fails(&call);
            assert_eq!(code, Code::OutsideWorkspace, "{call:?}");
            assert!(message.contains(path), "{message}");
            let preview = workspace.tools.preview(&call, &Overlay::default());
            assert!(
                matches!(
                    preview.as_ref().map_err(|error| error.get()),
                    Err(Some(WorkspaceError::Outside { .. }))
                ),
                "{call:?}"
            );
        }
        assert!(workspace.tools.kind_of(path).is_err(), "{path}");
        assert!(workspace.tools.inputs(&write(path, "")).is_err(), "{path}");
    }
    assert!(!outside.join("new").exists());
}

#[test]
fn overlong_path_is_refused_before_walking() {
    let workspace = test_workspace();
    let error = workspace.tools.kind_of(&"a/".repeat(400_000)).unwrap_err();
    assert_eq!(error.code(), Code::BadArgument);
    assert!(error.to_string().len() < 1_000, "nor is it repeated as a whole");
}

#[test]
fn unusable_paths_are_bad_arguments() {
    let workspace = test_workspace();
    workspace.put("file", "x");
    workspace.link("loop", "loop");
    for path in ["", "a\0b", "loop", "file/", "file/../x", "missing/../x"] {
        for call in [read(path), write(path, "x"), create(path, "x")] {
            assert_eq!(workspace.fails(&call).0, Code::BadArgument, "{call:?}");
        }
    }
    assert_eq!(workspace.fails(&write("new/", "x")).0, Code::BadArgument);
}

#[test]
fn added_root_is_reached_by_path_and_link() {
    let workspace = test_workspace();
    let outside = workspace.folder.path().join("outside").canonicalize().unwrap();
    let policy = Policy { extra_roots: vec![outside.clone()], ..Policy::default() };
    let tools = Toolbox::open(workspace.tools.workspace(), &policy).unwrap();
    let workspace = TestWorkspace { tools, ..workspace };
    let key = outside.join("new").to_str().unwrap().to_owned();
    workspace.link("more", &outside);
    for path in [key.as_str(), "more/new", "../outside/new"] {
        let inputs = workspace.tools.inputs(&write(path, "x")).unwrap();
        assert_eq!(inputs, BTreeMap::from([(key.clone(), FileState::Absent)]), "{path}");
    }
    workspace.succeeds(&write("more/new", "x"));
    assert_eq!(fs::read(outside.join("new")).unwrap(), b"x");
    assert_eq!(workspace.tools.digest_of(&key).unwrap(), content("x"));
    let found = workspace.succeeds(&search("x", &key)).stdout.unwrap();
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&found).unwrap()[0]["path"],
        key.as_str()
    );
    assert_eq!(workspace.tools.kind_of("../other").unwrap_err().code(), Code::OutsideWorkspace);
}

#[test]
fn lookups_report_kinds_manifests_and_programs() {
    let workspace = test_workspace();
    workspace.put("crate/Cargo.toml", "");
    workspace.put("crate/src/lib.rs", "x");
    workspace.link("dangling", "nothing");
    workspace.link("link", "crate");
    let kind = |path| workspace.tools.kind_of(path).unwrap();
    assert_eq!(kind("crate/src/lib.rs"), Kind::File);
    assert_eq!(kind("crate"), Kind::Folder);
    assert_eq!(kind("link"), Kind::Folder);
    assert_eq!(kind("."), Kind::Folder);
    assert_eq!(kind("nothing"), Kind::Absent);
    assert_eq!(kind("dangling"), Kind::Absent);
    assert_eq!(kind("crate/src/lib.rs/below"), Kind::Absent);
    assert_eq!(workspace.tools.now().parent_kind("crate/new").unwrap(), Kind::Folder);
    assert_eq!(workspace.tools.now().parent_kind("new").unwrap(), Kind::Folder);
    assert_eq!(workspace.tools.now().parent_kind("no/new").unwrap(), Kind::Absent);
    assert_eq!(workspace.tools.now().parent_kind("crate/Cargo.toml/new").unwrap(), Kind::File);
    let manifest = |path| workspace.tools.now().cargo_manifest_for(path).unwrap();
    for path in ["crate", "crate/src/lib.rs", "crate/src/new.rs", "link/src", "crate/Cargo.toml"] {
        assert_eq!(manifest(path).as_deref(), Some("crate/Cargo.toml"), "{path}");
    }
    assert_eq!(manifest("."), None);
    fs::write(workspace.folder.path().join("Cargo.toml"), "").unwrap();
    assert_eq!(manifest("."), None, "above the workspace does not count");
    assert_eq!(workspace.tools.codegraph(), None);
    fs::write(workspace.folder.path().join("codegraph.db"), "").unwrap();
    assert!(workspace.tools.codegraph().is_some_and(|path| path.ends_with("codegraph.db")));
    workspace.put("codegraph.db", "");
    assert_eq!(workspace.tools.codegraph(), Some(workspace.path("codegraph.db")));
    fs::create_dir(workspace.path(".git")).unwrap();
    assert_eq!(workspace.tools.git_repository().as_deref(), Some(workspace.tools.workspace()));
    assert!(workspace.tools.find_command("sh").is_some());
    assert_eq!(workspace.tools.find_command("no such command"), None);
}

#[test]
fn missing_workspace_cannot_be_opened() {
    let workspace = test_workspace();
    for path in ["no", "file"] {
        workspace.put("file", "");
        let error = Toolbox::open(&workspace.path(path), &Policy::default()).err().unwrap();
        assert!(matches!(error.get(), Some(WorkspaceError::OpenRoot { .. })), "{error}");
    }
}
