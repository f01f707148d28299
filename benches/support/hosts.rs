//! Hosts that are this computer, for plans for several hosts: `ssh -G` is that of the system, and every other call of
//! `ssh` runs its last argument here.
//!
//! `COUNTERSIGN_ANSIBLE` names the folder of `ansible-playbook`; the default is where `packaging/bench.sh` installs it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

const SSH: &str = "#!/bin/sh\ncase \" $* \" in *\" -G \"*) exec /usr/bin/ssh \"$@\";; esac\n\
                   for last; do :; done\nexec sh -c \"$last\"\n";
/// The key that is known of each host. Nothing has its private part.
const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";

/// The stand-in, the client's settings and known hosts, and the settings of the program in a home folder.
pub struct LocalHosts {
    folder: PathBuf,
}

impl LocalHosts {
    /// Writes all that for so many hosts.
    pub fn new(home: &Path, count: usize) -> Self {
        let folder = home.join("bin");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("ssh"), SSH).expect("the script");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("ssh"), mode).expect("its mode");
        // Keys are looked up by the program beside the client.
        std::os::unix::fs::symlink("/usr/bin/ssh-keygen", folder.join("ssh-keygen"))
            .expect("a link");
        let known: String = (1..=count).map(|number| format!("host{number} {KEY}\n")).collect();
        let (known_hosts, config) = (home.join("known_hosts"), home.join("ssh_config"));
        fs::write(&known_hosts, known).expect("known hosts");
        let text = format!("UserKnownHostsFile {}\n", known_hosts.display());
        fs::write(&config, text).expect("settings of ssh");
        let settings = format!("[policy]\nssh_config = {config:?}\n");
        fs::create_dir_all(home.join(".config/countersign")).expect("a folder");
        for place in [".config/countersign/settings.toml", "settings.toml"] {
            fs::write(home.join(place), &settings).expect("settings");
        }
        Self { folder }
    }

    /// `PATH` with the stand-in and the real ansible.
    pub fn path(&self) -> String {
        let ansible = std::env::var("COUNTERSIGN_ANSIBLE").unwrap_or_else(|_| {
            let home = std::env::var("HOME").expect("a home folder");
            format!("{home}/.cache/countersign/ansible-core/bin")
        });
        let paths = std::env::var("PATH").unwrap_or_default();
        format!("{}:{ansible}:{paths}", self.folder.display())
    }

    /// A plan of one command for so many hosts.
    pub fn plan(count: usize, command: &str) -> String {
        let targets: Vec<String> = (1..=count).map(|number| format!("host{number}")).collect();
        json!({ "goal": "g", "targets": targets, "steps": [{ "command": command }] }).to_string()
    }
}
