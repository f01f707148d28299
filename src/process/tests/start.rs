//! What a program is started with, and what its start reports.

use super::*;

#[test]
fn program_has_no_input_and_no_terminal() {
    let finished = Fixture::new()
        .run("read x; echo $?; (: </dev/tty) 2>/dev/null; echo $?; ps -o pid=,pgid=,sid= -p $$");
    let text = String::from_utf8(finished.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "1", "the input is at its end");
    assert_ne!(lines[1], "0", "there is no terminal to ask on");
    let ids: Vec<_> = lines[2].split_whitespace().collect();
    assert!(ids.len() == 3 && ids.iter().all(|id| *id == ids[0]), "it leads its group: {ids:?}");
}

#[test]
fn missing_program_is_a_system_error() {
    let fixture = Fixture::new();
    let program = Program {
        profile: fixture.profile(),
        program: OsStr::new("no-such-heron"),
        arguments: &[],
        input: None,
        folder: fixture.folder.path(),
        environment: &[],
        unset: &[],
        leftovers: Leftovers::Stay,
        timeout: LONG,
        output_limit: 1,
    };
    let error = run(&program, &fixture.stop, &|_, _| {}).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn path_variable_has_only_absolute_folders() {
    let left = |paths: &str| path::trusted_path(OsStr::new(paths), &[]);
    assert_eq!(left(":.:bin:/usr/bin:../x:/bin"), Some("/usr/bin:/bin".into()));
    assert_eq!(left("."), None);
    assert_eq!(left(""), None);
    let paths = Fixture::new().run("printf %s \"$PATH\"");
    assert!(String::from_utf8_lossy(&paths.stdout).split(':').all(|it| it.starts_with('/')));
}

/// The search for nested repositories ends at a limit, and the walls report that.
#[test]
fn walls_report_a_workspace_too_large_to_search() {
    let fixture = Fixture::new();
    assert!(!fixture.run("true").walls.is_incomplete);
    for number in 0..=10_000 {
        fs::write(fixture.folder.path().join(number.to_string()), "").unwrap();
    }
    let finished = fixture.run("true");
    assert!(finished.is_success());
    assert_eq!(finished.walls.is_incomplete, level() != WallLevel::None);
}

/// Runs itself again with the key in its environment, and then searches the environments of all processes for it.
#[test]
fn no_process_inherits_the_model_key() {
    const MARK: &str = "key-that-no-process-gets-";
    if let Some(key) = std::env::var(MODEL_KEY).ok().filter(|key| key.starts_with(MARK)) {
        let fixture = Fixture::new();
        let (seen, ours) = (Cell::new(false), std::process::id().to_string());
        fixture.script("echo ready; read line < fifo", LONG, u64::MAX, &|_, _| {
            let holders = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
                let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
                String::from_utf8_lossy(&environment).contains(&key)
            });
            let names = holders.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let ids = names.filter(|name| name.parse::<u32>().is_ok());
            assert_eq!(ids.collect::<Vec<_>>().join(" "), ours);
            seen.set(true);
            fs::write(fixture.fifo(), "go on\n").unwrap();
        });
        assert!(seen.get());
        return;
    }
    let module = module_path!().split_once("::").unwrap().1;
    let again = bare_command(std::env::current_exe().unwrap().as_os_str())
        .args(["--exact", &format!("{module}::no_process_inherits_the_model_key")])
        .env(MODEL_KEY, format!("{MARK}{}", uuid::Uuid::new_v4()))
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && stdout.contains("1 passed"), "{stdout}");
}
