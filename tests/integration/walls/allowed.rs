//! Programs that work behind walls as without them: builds, package managers and git, each with the walls
//! that its step would get.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use countersign::authorization::{StepWalls, WallLevel};
use countersign::plan::{Code, ToolCall};
use countersign::process::NoCapture;
use countersign::process::walls::{RunWalls, WallPaths, WallProbe};
use countersign::risk::Policy;
use countersign::run::StopSignal;
use countersign::tools::{Context, Toolbox};
use uuid::Uuid;

/// The levels at which each test runs its programs.
const LEVELS: [WallLevel; 2] = [WallLevel::Files, WallLevel::Full];

/// A workspace outside the system's temporary folder.
pub struct Space {
    _folder: tempfile::TempDir,
    pub top: PathBuf,
    pub toolbox: Toolbox,
    pub walls: StepWalls,
}

impl Space {
    pub fn new(level: WallLevel) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["work", "own"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        fs::write(top.join("own/key"), "HERON-SECRET").unwrap();
        let place = WallPaths { hidden: vec![top.join("own")], ..WallPaths::default() };
        let toolbox =
            Toolbox::open(&top.join("work"), &Policy::default()).unwrap().with_walls(place);
        let walls = StepWalls { level, ..StepWalls::default() };
        Self { _folder: folder, top, toolbox, walls }
    }

    fn writing_repository(self) -> Self {
        Self { walls: StepWalls { writes_repository: true, ..self.walls.clone() }, ..self }
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.top.join("work").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs a command. Returns its output and error code.
    pub fn run(&self, command: &str) -> (String, Option<Code>) {
        self.run_behind(&self.walls, command)
    }

    pub fn run_behind(&self, walls: &StepWalls, command: &str) -> (String, Option<Code>) {
        let printed = RefCell::new(String::new());
        let context = Context {
            expected: &BTreeMap::new(),
            stop: &StopSignal::default(),
            execution_id: Uuid::new_v4(),
            output: &|_, text| printed.borrow_mut().push_str(text),
            capture: &NoCapture,
            walls,
            terminal: None,
        };
        let call = ToolCall::Shell {
            command: command.to_owned(),
            target: None,
            cwd: None,
            timeout_seconds: Some(300),
            inputs: Vec::new(),
        };
        let invocation = self.toolbox.invoke(&call, &context);
        let code = invocation.error.as_ref().map(|error| error.code());
        if let Some(error) = invocation.error {
            printed.borrow_mut().push_str(&error.to_string());
        }
        (printed.into_inner(), code)
    }

    pub fn works(&self, command: &str) -> String {
        let (printed, code) = self.run(command);
        assert_eq!(code, None, "at {}: {command}: {printed}", self.walls.level);
        printed
    }
}

/// The other tests require both levels.
#[test]
fn this_computer_has_full_walls() {
    let found = WallProbe::of_this_computer();
    assert_eq!(found.level, WallLevel::Full, "{found:?}");
}

#[test]
fn cargo_builds_and_tests() {
    for level in LEVELS {
        let space = Space::new(level);
        let manifest =
            "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
        space.write("Cargo.toml", manifest);
        space.write("src/lib.rs", "#[test]\nfn heron() {\n    assert_eq!(1, 1);\n}\n");
        space.write("build.rs", "fn main() {\n    println!(\"cargo::rustc-cfg=made\");\n}\n");
        space.works("cargo build --offline");
        assert!(space.works("cargo test --offline").contains("1 passed"));
    }
}

#[test]
fn make_and_cmake_build_and_test() {
    for level in LEVELS {
        let space = Space::new(level);
        space.write("Makefile", "heron: heron.c\n\t$(CC) -o heron heron.c\n");
        space.write("heron.c", "int main(void) { return 0; }\n");
        space.works("make heron && ./heron");
        let lists = "cmake_minimum_required(VERSION 3.13)\nproject(heron C)\nenable_testing()\n\
                     add_executable(it heron.c)\nadd_test(NAME it COMMAND it)\n";
        space.write("CMakeLists.txt", lists);
        space.works("cmake -S . -B build && cmake --build build");
        assert!(space.works("ctest --test-dir build").contains("100% tests passed"));
    }
}

#[test]
fn python_runs_with_its_processes_and_temporary_files() {
    for level in LEVELS {
        let space = Space::new(level);
        let script = "import subprocess, tempfile, os\n\
                      with tempfile.NamedTemporaryFile() as f: f.write(b'x')\n\
                      print(subprocess.run(['echo', 'heron'], capture_output=True).stdout)\n";
        space.write("it.py", script);
        assert!(space.works("python3 it.py").contains("heron"));
    }
}

#[test]
fn git_writes_the_repository_but_not_its_settings() {
    for level in LEVELS {
        let space = Space::new(level);
        let walls = StepWalls::NONE;
        let prepared = "git init -q . && git config user.email a@b.c && git config user.name n && \
                        echo 1 > f && git add f && git commit -qm one && \
                        git clone -q --bare . ../remote && git remote add origin ../remote";
        assert_eq!(space.run_behind(walls, prepared).1, None);
        assert!(space.works("echo 2 > f; git status --short").contains(" M f"));
        let (printed, code) = space.run("git add f");
        assert!(code.is_some(), "{printed}");
        let space = space.writing_repository();
        for command in [
            "git add f && git commit -qm two",
            "echo 3 > f && git stash -q && git stash pop -q",
            "git fetch -q origin",
            "git branch other && git checkout -q other",
            "git gc -q",
        ] {
            space.works(command);
        }
        let before = fs::read(space.top.join("work/.git/config")).unwrap();
        let (printed, code) = space.run("git config user.name other");
        let after = fs::read(space.top.join("work/.git/config")).unwrap();
        match level {
            WallLevel::Full => assert_eq!(after, before, "{printed}"),
            _ => assert_eq!(code, Some(Code::StoppedByWall), "{printed}"),
        }
    }
}

#[test]
fn new_repository_is_protected_from_later_steps() {
    for level in LEVELS {
        let space = Space::new(level);
        space.works(
            "git init -q a/sub && cd a/sub && git config user.email a@b.c && git config user.name n",
        );
        let config = || fs::read(space.top.join("work/a/sub/.git/config")).unwrap();
        let (before, hook) = (config(), space.top.join("work/a/sub/.git/hooks/post-checkout"));
        space.works("echo 1 > a/sub/f; git -C a/sub status --short | grep f");
        for command in [
            "echo 'touch ran' > a/sub/.git/hooks/post-checkout",
            "mkdir -p a/sub/.git/hooks; cp /usr/bin/true a/sub/.git/hooks/post-checkout",
            "git config --file a/sub/.git/config core.fsmonitor ./f",
        ] {
            let (printed, code) = space.run(command);
            assert!(code.is_some(), "at {level}: {command}: {printed}");
            assert!(!hook.exists(), "at {level}: {command}");
            if level == WallLevel::Full {
                assert_eq!(config(), before, "{command}");
            }
        }
        if level == WallLevel::Full {
            let space = space.writing_repository();
            space.works("cd a/sub && git add f && git commit -qm one");
            assert!(space.run("echo x > a/sub/.git/hooks/post-checkout").1.is_some());
            // The protected file and the folders around it cannot be moved; `mv` may copy it.
            for command in ["mv a/sub other", "mv a b", "rm -rf a"] {
                assert!(space.run(command).1.is_some(), "{command}");
                assert_eq!(fs::read(space.top.join("work/a/sub/.git/config")).unwrap(), before);
            }
        }
    }
}

#[test]
fn refused_network_is_the_reported_failure() {
    for level in LEVELS {
        let space = Space::new(level);
        let (printed, code) = space.run("exec 3<>/dev/tcp/192.0.2.1/80");
        assert_eq!(code, Some(Code::StoppedByWall), "at {level}: {printed}");
        // A refusal is reported only where the step failed and the walls refused something.
        space.works("(exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null; true");
        assert_eq!(space.run("exit 3").1, Some(Code::CommandFailed));
    }
}

#[test]
fn leftover_server_serves_later_steps() {
    let space = Space::new(WallLevel::Full);
    let server = "import http.server, os\n\
                  s = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n\
                  open('port.new', 'w').write(str(s.server_port)); os.rename('port.new', 'port')\n\
                  s.serve_forever()\n";
    space.write("server.py", server);
    space.works("echo kept > /tmp/kept; setsid python3 server.py >/dev/null 2>&1 & until [ -s port ]; do :; done");
    let asked = "read port < port; exec 3<>/dev/tcp/127.0.0.1/$port || exit 1; \
                 printf 'GET /port HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3; cat /tmp/kept";
    let answer = space.works(asked);
    assert!(answer.contains("200 OK") && answer.contains("kept"), "{answer}");
    let ended = space.toolbox.walls().end();
    assert!(ended.iter().any(|name| name.starts_with("python")), "{ended:?}");
    assert!(space.run(asked).1.is_some());
}

#[test]
fn nothing_starts_without_its_promised_walls() {
    for level in LEVELS {
        let mut space = Space::new(level);
        // A granted folder that cannot be created.
        fs::write(space.top.join("file"), "").unwrap();
        space.walls.write = vec![space.top.join("file/below").to_string_lossy().into_owned()];
        let (printed, code) = space.run("touch started");
        assert!(code.is_some() && !space.top.join("work/started").exists(), "{printed}");
    }
}

#[test]
fn any_name_of_a_workspace_can_be_walled() {
    for level in LEVELS {
        for name in ["a b", "a\nb", "'\"$x", "--bind", "ü\u{1f426}"] {
            let folder = tempfile::tempdir().unwrap();
            let workspace = folder.path().join(name);
            fs::create_dir(&workspace).unwrap();
            let linked = folder.path().join("link");
            std::os::unix::fs::symlink(&workspace, &linked).unwrap();
            let run = |at: &Path| {
                let space = Space {
                    toolbox: Toolbox::open(at, &Policy::default()).unwrap(),
                    ..Space::new(level)
                };
                space.works("echo x > made && cat made")
            };
            assert_eq!(run(&workspace), "x\n", "{name:?} at {level}");
            assert_eq!(run(&linked), "x\n", "{name:?} by a link at {level}");
        }
    }
}

#[test]
fn own_folders_in_the_workspace_are_hidden() {
    for level in LEVELS {
        let space = Space::new(level);
        // The workspace is the home folder.
        let home = space.top.join("work");
        fs::create_dir_all(home.join(".config/countersign")).unwrap();
        fs::create_dir_all(home.join("project")).unwrap();
        fs::write(home.join(".config/countersign/key"), "HERON-SECRET").unwrap();
        let place =
            WallPaths { hidden: vec![home.join(".config/countersign")], ..WallPaths::default() };
        let toolbox = Toolbox::open(&home, &Policy::default()).unwrap().with_walls(place);
        let space = Space { toolbox, ..space };
        space.works("echo x > project/made");
        let (printed, _) = space.run(
            "cat .config/countersign/key; touch .config/countersign/new; \
             mv .config gone; mkdir -p .config/countersign; touch .config/countersign/settings",
        );
        assert!(!printed.contains("HERON-SECRET"), "at {level}: {printed}");
        let own: Vec<_> = fs::read_dir(home.join(".config/countersign")).unwrap().collect();
        assert_eq!(own.len(), 1, "at {level}: {own:?}");
    }
}

#[test]
fn dropping_walls_ends_their_processes() {
    let folder = tempfile::tempdir().unwrap();
    let walls = RunWalls::new(folder.path().canonicalize().unwrap(), WallPaths::default());
    assert_eq!(walls.end(), [""; 0]);
    let space = Space::new(WallLevel::Full);
    space.works("setsid sleep 4713 >/dev/null 2>&1 &");
    drop(space);
    let left = fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == b"sleep\x004713\0")
    });
    assert!(!left);
}
