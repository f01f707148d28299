//! Several servers on addresses of the loopback network, and a home whose ssh client knows them.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::agents::installed;
use super::home::{Done, Home};
use super::schemas;
use super::sshd::Sshd;

/// The folder with the real ansible.
pub fn ansible() -> PathBuf {
    installed("COUNTERSIGN_ANSIBLE", "ansible-core/bin")
}

/// `PATH` with the real ansible.
pub fn path() -> String {
    format!("{}:{}", ansible().display(), std::env::var("PATH").unwrap())
}

/// Servers with the names `h1`, `h2` and so on; `None` for one that is not reachable any more.
pub struct Fleet {
    pub servers: Vec<Option<Sshd>>,
    pub home: Home,
}

impl Fleet {
    /// Starts `count` servers with additional settings.
    pub fn start(count: usize, settings: &str) -> Self {
        let server = |index| Some(Sshd::on(&format!("127.0.0.{}", index + 2), settings));
        let fleet = Self { servers: (0..count).map(server).collect(), home: Home::new() };
        fleet.know(&[]);
        fleet.home.settings(format!("[policy]\nssh_config = {:?}\n", fleet.at("ssh_config")));
        fleet
    }

    /// The path of a file of the client.
    pub fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn server(&self, number: usize) -> &Sshd {
        self.servers[number - 1].as_ref().unwrap()
    }

    /// Writes the client's settings and known hosts, with another key than that of these servers.
    pub fn know(&self, changed: &[usize]) {
        let (mut settings, mut known) = (String::new(), String::new());
        for number in 1..=self.servers.len() {
            let server = self.server(number);
            settings += &server.entry(&format!("h{number}"));
            let key = if changed.contains(&number) { "other_key" } else { "host_key" };
            known += &server.known_line(key);
        }
        let files = format!(
            "Host *\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n",
            self.at("known_hosts").display()
        );
        fs::write(self.at("ssh_config"), settings + &files).unwrap();
        fs::write(self.at("known_hosts"), known).unwrap();
    }

    /// Stops a server.
    pub fn stop(&mut self, number: usize) {
        self.servers[number - 1] = None;
    }

    /// Writes a file to the home folder of each server, with the number of the server.
    pub fn write(&self, name: &str, content: impl Fn(usize) -> String) {
        for number in 1..=self.servers.len() {
            fs::write(self.server(number).home().join(name), content(number)).unwrap();
        }
    }

    /// Writes a plan for all servers to `p.json`.
    pub fn plan(&self, more: Value) {
        let targets: Vec<String> = (1..=self.servers.len()).map(|it| format!("h{it}")).collect();
        let mut plan = json!({ "id": "p", "goal": "Try it there", "targets": targets });
        plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.home.write("p.json", plan.to_string());
    }

    /// Runs the program with `--json` and the real ansible on `PATH`.
    #[must_use]
    pub fn json(&self, arguments: &[&str]) -> Done {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let mut command = self.home.command();
        command.args(&arguments).arg("--evidence").arg(self.home.evidence()).env("PATH", path());
        let done = Done::of(&mut command);
        schemas::check(&arguments, &done);
        done
    }
}

/// The results of a run by host, for one step.
pub fn by_host(document: &Value, step: usize) -> std::collections::BTreeMap<String, Value> {
    let results = document["host_results"].as_array().unwrap_or_else(|| panic!("{document:#}"));
    let of_step = results.iter().filter(|it| it["step_index"] == step);
    of_step.map(|it| (it["host"].as_str().unwrap().to_owned(), it.clone())).collect()
}
