//! Runs the command line program with a home, a workspace and an evidence folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Output};

use assert_cmd::Command;
use rusqlite::{Connection, Params};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::schemas;

/// The path of the program built with these tests.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// Environment variables that would point the program outside the temporary home.
const FOREIGN: [&str; 7] = [
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "COUNTERSIGN_LOG",
    "RUST_LOG",
    "RUST_BACKTRACE",
];

/// The folders of one user: a home with a workspace and an evidence folder. They are removed at the end of
/// the test.
pub struct Home {
    temp: TempDir,
}

/// The exit code and output of a command that ended.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("space")).unwrap();
        Self { temp }
    }

    pub fn path(&self) -> &Path {
        self.temp.path()
    }

    pub fn evidence(&self) -> PathBuf {
        self.path().join("evidence")
    }

    /// The path of a file in the workspace.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join("space").join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.file(name);
        fs::write(&path, contents).unwrap();
        path
    }

    /// Writes a plan with these steps to `p.json` in the workspace.
    pub fn plan(&self, steps: Value) -> PathBuf {
        self.write(
            "p.json",
            json!({"plan_id": "p", "intent": "MUTATE", "steps": steps}).to_string(),
        )
    }

    /// Writes the settings file.
    pub fn settings(&self, text: impl AsRef<[u8]>) {
        let folder = self.path().join(".config/countersign");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("settings.toml"), text).unwrap();
    }

    /// The path of the evidence database.
    pub fn database(&self) -> PathBuf {
        self.evidence().join("execution_log.db")
    }

    /// A direct connection to the evidence database, as from another program.
    #[expect(clippy::disallowed_methods, reason = "another program does not ask this one")]
    pub fn sql(&self) -> Connection {
        Connection::open(self.database()).unwrap()
    }

    /// The first column of every row of a query of the evidence, as text.
    pub fn texts(&self, sql: &str, params: impl Params) -> Vec<String> {
        let connection = self.sql();
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map(params, |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// The program as a standard command, which unlike [`Home::command`] can be started and killed, with
    /// these arguments and the evidence folder of this home.
    pub fn child<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> process::Command {
        self.child_of(&[PROGRAM], arguments)
    }

    /// As [`Home::child`], started by a shell that ignores these signals, as `nohup` does.
    pub fn child_ignoring<'a>(
        &self,
        signals: &str,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> process::Command {
        let script = format!("trap '' {signals}; exec \"$0\" \"$@\"");
        self.child_of(&["sh", "-c", &script, PROGRAM], arguments)
    }

    #[expect(clippy::disallowed_methods, reason = "only the standard command can be killed")]
    fn child_of<'a>(
        &self,
        program: &[&str],
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> process::Command {
        let mut command = process::Command::new(program[0]);
        command.args(&program[1..]).args(arguments).arg("--evidence").arg(self.evidence());
        command.env("HOME", self.path()).current_dir(self.path()).stdin(process::Stdio::null());
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
    }

    /// The program without arguments. The evidence folder is added by [`Home::run`] only.
    pub fn command(&self) -> Command {
        self.command_of(PROGRAM)
    }

    /// Another program, with the environment of this home.
    pub fn command_of(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("HOME", self.path()).current_dir(self.path());
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program with these arguments and the evidence folder of this home.
    #[must_use]
    pub fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Done {
        let mut command = self.command();
        command.args(arguments).arg("--evidence").arg(self.evidence());
        Done::of(&mut command)
    }

    /// As [`Home::run`], with `--json`. Documents of `evidence` must be as their schemas say.
    #[must_use]
    pub fn json<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Done {
        let arguments: Vec<_> = arguments.into_iter().chain(["--json"]).collect();
        let done = self.run(arguments.iter().copied());
        schemas::check(&arguments, &done);
        done
    }
}

impl Done {
    #[must_use]
    pub fn of(command: &mut Command) -> Self {
        Self::read(command.output().unwrap())
    }

    /// The result of a command that already ended.
    #[must_use]
    pub fn read(output: Output) -> Self {
        Self {
            code: output.status.code().expect("an exit code, not a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit code and that nothing panicked. A failure shows the whole output.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// The only JSON document on stdout.
    pub fn document(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "{self:#?}");
        lines.remove(0)
    }

    /// The JSON documents on stdout, one per line.
    pub fn lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{self:#?}")))
            .collect()
    }

    /// The code of the error document. A message and details must be present.
    pub fn error_code(&self) -> String {
        let document = self.document();
        assert_eq!(keys(&document), ["error"]);
        let error = &document["error"];
        assert_eq!(keys(error), ["code", "details", "message"]);
        assert!(error["details"].is_object() && !error["message"].as_str().unwrap().is_empty());
        error["code"].as_str().unwrap().to_owned()
    }
}

/// The sorted keys of an object.
pub fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The `execution_id` of each document.
pub fn execution_ids(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["execution_id"].as_str().unwrap()).collect()
}
