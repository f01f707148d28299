//! A plan for several hosts: what is generated is looked at, the plan authorized and run, the results looked at by what
//! hosts printed, and the failed hosts rolled back.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::sshd::Sshd;
use super::support::{passes, read, sign};

/// Servers with the names `h1`, `h2` and so on, and what a client needs for them.
pub(super) struct Servers {
    servers: Vec<Sshd>,
    folder: tempfile::TempDir,
}

impl Servers {
    pub(super) fn start(count: u8) -> Self {
        let servers: Vec<Sshd> =
            (0..count).map(|index| Sshd::on(&format!("127.0.2.{}", index + 2), "")).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let (mut settings, mut known) = (String::new(), String::new());
        for (server, number) in servers.iter().zip(1..) {
            settings += &server.entry(&format!("h{number}"));
            known += &server.known_line("host_key");
        }
        let path = folder.path().join("known_hosts");
        settings += &format!(
            "Host *\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n",
            path.display()
        );
        std::fs::write(path, known).expect("the known hosts");
        std::fs::write(folder.path().join("ssh_config"), settings).expect("the settings of ssh");
        Self { servers, folder }
    }

    /// The settings of the program that use these servers.
    pub(super) fn settings(&self) -> String {
        format!("[policy]\nssh_config = {:?}\n", self.folder.path().join("ssh_config"))
    }

    fn home(&self, number: usize) -> PathBuf {
        self.servers.get(number - 1).expect("a server").home()
    }

    /// The numbers of the hosts with this file in the home folder.
    pub(super) fn with_file(&self, name: &str) -> Vec<usize> {
        (1..=self.servers.len()).filter(|number| self.home(*number).join(name).exists()).collect()
    }
}

/// `PATH` with the real ansible.
pub(super) fn path() -> String {
    let ansible = std::env::var("COUNTERSIGN_ANSIBLE").unwrap_or_else(|_| {
        let home = std::env::var("HOME").expect("a home folder");
        format!("{home}/.cache/countersign/ansible-core/bin")
    });
    assert!(Path::new(&ansible).exists(), "packaging/test.sh installs {ansible}");
    format!("{ansible}:{}", std::env::var("PATH").expect("PATH"))
}

/// Pictures of the window in three sizes.
fn pictures(desktop: &mut Desktop, name: &str) -> Outcome {
    for (width, height) in [(720, 480), (900, 600), (1280, 800)] {
        desktop.resize(width, height)?;
        desktop.screenshot(&format!("fleet_{name}_{width}"))?;
    }
    Ok(())
}

/// By the palette, because it has no key.
fn switch_theme(desktop: &mut Desktop) -> Outcome {
    desktop.key("ctrl+k")?;
    desktop.type_text("Light or dark")?;
    desktop.key("Return")
}

fn reviewed_run_and_rolled_back(servers: &Servers) -> Outcome<Vec<String>> {
    let mut desktop = Desktop::start_here(&[])?;
    // The settings are read at the start, and their folder is known only now.
    desktop.kill()?;
    let home = desktop.evidence().with_file_name("config").join("countersign");
    std::fs::create_dir_all(&home).expect("the folder of the settings");
    std::fs::write(home.join("settings.toml"), servers.settings()).expect("the settings");
    let targets: Vec<String> = (1..=servers.servers.len()).map(|it| format!("h{it}")).collect();
    let plan = json!({
        "goal": "Deploy the new gull",
        "targets": targets,
        "rollbackPlan": ["rm gull; echo it is gone"],
        "steps": [
            { "command": "touch gull; cat answer; test ! -e broken || { echo the nest is full >&2; exit 3; }" },
            { "command": "echo flies" },
        ],
    });
    let work = tempfile::tempdir().expect("a workspace");
    let file = work.path().join("gulls.json");
    std::fs::write(&file, plan.to_string()).expect("the plan file");
    let (program, file) =
        (Path::new(env!("CARGO_BIN_EXE_countersign")), file.display().to_string());
    desktop.start_program(program, &[&file], &[("PATH", &path())])?;
    desktop.wait_for_text("on 5 hosts")?;
    desktop.press("Hosts")?;
    desktop.wait_for_text("All steps run on 5 hosts, by ansible-core")?;
    pictures(&mut desktop, "0_review")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Failed")?;
    // What each host printed is in the output, by host.
    desktop.wait_for_text("Host h2, cancelled")?;
    desktop.wait_for_text("Host h1, succeeded")?;
    desktop.wait_for_text("flies")?;
    desktop.key("Up")?;
    desktop.press("Output")?;
    desktop.wait_for_text("the nest is full")?;
    desktop.screenshot("fleet_1_output")?;
    desktop.press("Hosts")?;
    // Hosts that printed the same are one row.
    desktop.wait_for_control("3 hosts: succeeded, yes, folded")?;
    desktop.wait_for_control("Host h5: succeeded, no")?;
    desktop.press("3 hosts: succeeded, yes, folded")?;
    desktop.wait_for_control("Host h4: succeeded, yes")?;
    desktop.click_starting("Host h2: failed, the command ended with exit code 3")?;
    desktop.wait_for_text("exit code")?;
    pictures(&mut desktop, "2_results")?;
    switch_theme(&mut desktop)?;
    pictures(&mut desktop, "3_other_theme")?;
    let tree = desktop.tree()?;
    assert!(tree.control("Continue from here…").is_none(), "hosts are at different steps");
    desktop.press("Roll back…")?;
    desktop.wait_for_text("on 1 host")?;
    pictures(&mut desktop, "4_rollback")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Completed")?;
    desktop.wait_for_text("Host h2, succeeded")?;
    desktop.screenshot("fleet_5_rolled_back")?;
    let sql = "SELECT host || ' ' || step_index || ' ' || outcome FROM executions
               WHERE host LIKE 'h_' ORDER BY timestamp, step_index, host";
    Ok(read(&desktop.evidence(), sql, |row| row.get(0)))
}

#[test]
fn hosts_are_reviewed_run_and_rolled_back() {
    let servers = Servers::start(5);
    for number in 1..=5 {
        let answer = if number == 5 { "no\n" } else { "yes\n" };
        std::fs::write(servers.home(number).join("answer"), answer).expect("a file");
    }
    std::fs::write(servers.home(2).join("broken"), "").expect("a file");
    let records = passes(reviewed_run_and_rolled_back(&servers));
    assert_eq!(servers.with_file("gull"), [1, 3, 4, 5], "only the failed host is rolled back");
    let count = |record: &str| records.iter().filter(|it| *it == record).count();
    assert_eq!((count("h2 0 failed"), count("h2 0 succeeded")), (1, 1), "{records:?}");
    assert_eq!(count("h1 1 succeeded"), 1, "{records:?}");
}
