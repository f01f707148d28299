//! A real PostgreSQL server on loopback, with a data folder of its own.
//!
//! The server refuses to run as root. If the tests do, it runs as the user 65534, by `setpriv`.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use tempfile::TempDir;

/// The unprivileged user, by number because its name differs between systems.
const NOBODY: u32 = 65534;
/// The password of the logins `writer`, `other` and `reader`.
pub const PASSWORD: &str = "the-password-of-the-team";
/// The database.
pub const DATABASE: &str = "team evidence";

/// A server whose database is ready for the evidence of a team, with logins that can push and read.
pub struct Postgres {
    folder: TempDir,
    port: u16,
}

/// The path of a program of PostgreSQL. Debian has the programs of the server in a folder for each version.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|it| it.path().join("bin")).collect();
    folders.sort();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    folders
        .into_iter()
        .rev()
        .chain(std::env::split_paths(&paths))
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("{name} is not here: packaging/test.sh installs it"))
}

/// A program of the server, as the user that runs it.
#[expect(clippy::disallowed_methods, reason = "the other side is no part of the program")]
fn of_server(name: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program(name));
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program(name));
    command
}

fn succeeds(command: &mut Command) -> String {
    let done = command.stdin(Stdio::null()).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{command:?}: {stdout}{stderr}");
    stdout
}

impl Postgres {
    /// Starts a server, and makes its database ready by the script of the program.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        if rustix::process::geteuid().is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = folder.path().join("data");
        let options = ["--username=admin", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
        succeeds(of_server("initdb").arg("--pgdata").arg(&data).args(options));
        let rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(data.join("pg_hba.conf"), rules).unwrap();
        // Another process may take the port that was just found free.
        let free = || TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let server = (0..5).find_map(|_| {
            let port = free();
            fs::write(
                data.join("postgresql.auto.conf"),
                format!(
                    "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\nfsync = off\n",
                    folder.path().display()
                ),
            )
            .unwrap();
            control(&data, &["start"]).then_some(port)
        });
        let postgres = Self { folder, port: server.expect("the server does not start") };
        let create = format!("CREATE DATABASE \"{DATABASE}\"");
        postgres.psql("postgres", &create);
        postgres.set_up();
        for (login, role) in [("writer", "writer"), ("other", "writer"), ("reader", "reader")] {
            postgres.sql(&format!(
                "CREATE ROLE {login} LOGIN PASSWORD '{PASSWORD}'; GRANT countersign_{role} TO {login}"
            ));
        }
        postgres
    }

    /// Runs the script that makes the database ready.
    pub fn set_up(&self) {
        let path = self.folder.path().join("setup.sql");
        fs::write(&path, countersign::team::SETUP).unwrap();
        let done = self.client("admin").arg("--file").arg(&path).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of the socket.
    pub fn socket(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The address of the database for a login, without a password, and with these parameters.
    pub fn url(&self, login: &str, parameters: &str) -> String {
        format!("postgres://{login}@127.0.0.1:{}/team%20evidence{parameters}", self.port)
    }

    /// The first column of each row of a query, as the administrator.
    pub fn sql(&self, sql: &str) -> Vec<String> {
        let rows = self.psql(DATABASE, sql);
        rows.lines().map(str::to_owned).collect()
    }

    /// The number that a query finds.
    pub fn number(&self, sql: &str) -> u64 {
        self.sql(sql)[0].parse().unwrap()
    }

    fn psql(&self, database: &str, sql: &str) -> String {
        succeeds(self.client("admin").args(["--dbname", database, "--command", sql]))
    }

    /// Runs SQL as a login, through the socket. Returns what the server refused, or `None`.
    pub fn refused(&self, login: &str, sql: &str) -> Option<String> {
        let done = self.client(login).args(["--command", sql]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        (!done.status.success()).then_some(said)
    }

    /// `psql` as a login, through the socket.
    #[expect(clippy::disallowed_methods, reason = "another client")]
    pub fn client(&self, login: &str) -> Command {
        let mut client = Command::new(program("psql"));
        client.args(["--no-psqlrc", "--tuples-only", "--no-align", "--quiet"]);
        client.args(["--set", "ON_ERROR_STOP=1", "--dbname", DATABASE, "--username", login]);
        client.arg("--host").arg(self.folder.path()).args(["--port", &self.port.to_string()]);
        client.stdin(Stdio::null());
        client
    }

    /// Ends the server at once, as a power cut would, and starts it again.
    pub fn restart(&self) {
        assert!(control(&self.data(), &["restart", "--mode=immediate"]));
    }

    /// Lets every statement that inserts records wait, if its origin has records already, until the value is dropped.
    pub fn pause_second_batches(&self) -> Paused<'_> {
        self.sql(
            "CREATE OR REPLACE FUNCTION public.pause() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
                 IF new.sequence > 1 THEN PERFORM pg_advisory_xact_lock_shared(42); END IF;
                 RETURN new;
             END $$;
             CREATE OR REPLACE TRIGGER pause BEFORE INSERT ON countersign.ledger FOR EACH ROW
                 WHEN (new.sequence % 500 = 1) EXECUTE FUNCTION public.pause();",
        );
        let mut client =
            self.client("admin").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = client.stdin.take().unwrap();
        writeln!(stdin, "SELECT pg_advisory_lock(42);\n\\echo locked").unwrap();
        let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "locked"));
        Paused { postgres: self, client, stdin: Some(stdin) }
    }
}

/// Statements that wait.
pub struct Paused<'p> {
    postgres: &'p Postgres,
    client: Child,
    stdin: Option<ChildStdin>,
}

impl Paused<'_> {
    /// Waits until this many clients wait.
    pub fn wait_for(&self, clients: u64) {
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
        while self.postgres.number(waiting) < clients {}
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.client.wait();
    }
}

/// Whether `pg_ctl` succeeds. The server gets no pipe of this process, for whose end something might wait.
pub fn control(data: &Path, arguments: &[&str]) -> bool {
    let mut command = of_server("pg_ctl");
    command.args(arguments).args(["--wait", "--silent", "--pgdata"]).arg(data);
    command.arg("--log").arg(data.with_file_name("log")).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

impl Drop for Postgres {
    fn drop(&mut self) {
        control(&self.data(), &["stop", "--mode=immediate"]);
    }
}
