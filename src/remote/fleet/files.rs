//! Generates what `ansible-playbook` reads, from the plan alone. Pure: equal plans and options give equal files.
//!
//! Nothing of a plan is evaluated: every text of it is a YAML scalar with the tag `!unsafe`, in double quotes with
//! escapes for everything but printable ASCII, so that ansible takes it for no template. A command is written after a `_`,
//! which the shell of ours takes away: ansible makes of a scalar `!unsafe "true"`, `"0x10"` or `"~"` a value that is no
//! text, in spite of its quotes, and nothing that begins with `_` is one. The module `raw` gets the
//! command as `_raw_params` of a mapping. In the free form, ansible would take words such as `creates=` out of it.
//! `raw` needs no Python on the hosts, and passes the command as one quoted word of a shell.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::plan::{BatchSize, Destination, Digest, Fleet, Plan, ToolCall};
use crate::run::FleetFiles;

/// The plugin that reports results.
pub(super) const PLUGIN: &str = include_str!("../../../assets/fleet/countersign_results.py");
/// The name of the plugin, and of its file.
pub(super) const PLUGIN_NAME: &str = "countersign_results";
/// The shell script that runs one command.
const RUN: &str = include_str!("../../../assets/fleet/run.sh");
/// The time limit of a command that states none, in seconds (SPEC §7.2).
const TIMEOUT_SECONDS: u32 = 120;
/// How much longer ansible waits than the host, in seconds: for a host that does not end a command itself.
const GRACE_SECONDS: u32 = 30;
/// The number of hosts on which a step runs at the same time.
const FORKS: usize = 20;

/// Settings of ansible with folders of plugins, modules and collections, which are in the person's home folder and in
/// `/usr/share/ansible`. Only what is part of ansible-core runs, so each names a folder that does not exist.
const PLUGIN_PATHS: [&str; 20] = [
    "action_plugins",
    "become_plugins",
    "cache_plugins",
    "cliconf_plugins",
    "collections_path",
    "connection_plugins",
    "doc_fragment_plugins",
    "filter_plugins",
    "httpapi_plugins",
    "inventory_plugins",
    "library",
    "lookup_plugins",
    "module_utils",
    "netconf_plugins",
    "roles_path",
    "strategy_plugins",
    "terminal_plugins",
    "test_plugins",
    "vars_plugins",
    "callback_plugins",
];

/// The digest of everything that ansible reads.
pub(crate) fn digest(files: &FleetFiles) -> Digest {
    let parts = [files.playbook.as_str(), &files.inventory, &files.config, PLUGIN];
    let mut all = Vec::new();
    for part in parts {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part.as_bytes());
    }
    Digest::of(&all)
}

/// The client, for ansible's settings.
pub(super) struct Ssh<'a> {
    /// The program. No shell and no reader of settings finds anything special in it or in the arguments.
    pub(super) program: &'a str,
    pub(super) arguments: &'a [String],
    /// The files with its settings, of which it gets copies.
    pub(super) settings: &'a [PathBuf],
    /// The files with known hosts, of which it gets one copy.
    pub(super) known_hosts: &'a [PathBuf],
}

/// The files for a plan on these hosts.
pub(super) fn generate(
    plan: &Plan,
    fleet: &Fleet,
    hosts: &[Destination],
    ssh: &Ssh<'_>,
) -> FleetFiles {
    FleetFiles {
        playbook: playbook(plan, fleet),
        inventory: inventory(hosts),
        config: config(hosts.len(), ssh),
    }
}

/// The text before the exit status of a command. It is no secret: a command can only falsify its own status.
pub(super) fn status_mark(plan: &Plan) -> String {
    format!("countersign-{}", plan.digest.short(16))
}

/// The limit of a step in seconds.
pub fn timeout_of(call: &ToolCall) -> u32 {
    match call {
        ToolCall::Shell { timeout_seconds, .. } => timeout_seconds.unwrap_or(TIMEOUT_SECONDS),
        _ => TIMEOUT_SECONDS,
    }
}

fn playbook(plan: &Plan, fleet: &Fleet) -> String {
    let mut text = String::from(
        "# Made by Countersign from the plan. What stands after !unsafe is taken as it is, and never as a template.\n\
         # The _ before each command is taken away on the host.\n\
         - name: Countersign\n  hosts: all\n  gather_facts: false\n  become: false\n  strategy: ansible.builtin.linear\n",
    );
    let sizes = |size: &BatchSize| match size {
        BatchSize::Hosts(count) => count.to_string(),
        BatchSize::Percent(percent) => format!("\"{percent}%\""),
    };
    if !fleet.serial.is_empty() {
        let sizes: Vec<String> = fleet.serial.iter().map(sizes).collect();
        let _ = writeln!(text, "  serial: [{}]", sizes.join(", "));
    }
    if let Some(percent) = fleet.max_fail_percentage {
        let _ = writeln!(text, "  max_fail_percentage: {percent}");
    }
    text.push_str("  tasks:\n");
    let mark = status_mark(plan);
    for step in &plan.steps {
        let ToolCall::Shell { command, cwd, .. } = &step.call else { continue };
        let (number, seconds) = (step.step_index + 1, timeout_of(&step.call));
        let shell = shell(cwd.as_deref().unwrap_or_default(), seconds, &mark);
        let limit = seconds.saturating_add(GRACE_SECONDS);
        let _ = write!(
            text,
            "    - name: \"{number}\"\n      tags: [step_{number}]\n      timeout: {limit}\n      \
             ansible.builtin.raw:\n        _raw_params: {}\n        executable: {}\n",
            scalar(&format!("_{command}")),
            scalar(&shell),
        );
    }
    text
}

/// The shell to which ansible appends `-c` and the quoted command.
fn shell(folder: &str, seconds: u32, mark: &str) -> String {
    let script: Vec<&str> = RUN.lines().filter(|line| !line.starts_with('#')).collect();
    let script = script.join("\n");
    format!("/bin/sh -c {} sh {} {seconds} {mark}", quoted(&script), quoted(folder))
}

/// A word of a shell in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}

fn inventory(hosts: &[Destination]) -> String {
    let mut text = String::from("# Made by Countersign from the plan.\nall:\n  hosts:\n");
    for (index, host) in hosts.iter().enumerate() {
        let _ = writeln!(text, "    target_{}:", index + 1);
        // Without !unsafe, so that a name such as `10_0` or `no` stays a text. No destination has a brace, with which each
        // template begins, nor a quote or a backslash.
        let _ = writeln!(text, "      ansible_host: \"{}\"", host.as_str());
    }
    text.push_str("  vars:\n    ansible_connection: ansible.builtin.ssh\n");
    text
}

fn config(hosts: usize, ssh: &Ssh<'_>) -> String {
    let forks = hosts.clamp(1, FORKS);
    let Ssh { program, arguments, .. } = ssh;
    let arguments = arguments.join(" ");
    let copies = |paths: &[PathBuf]| -> String {
        let lines = paths.iter().map(|path| format!("#   {}\n", quoted_path(path)));
        if paths.is_empty() { "#   no file\n".to_owned() } else { lines.collect() }
    };
    let plugins = PLUGIN_PATHS.map(|name| format!("{name} = none\n")).concat();
    let (settings, known_hosts) = (copies(ssh.settings), copies(ssh.known_hosts));
    format!(
        "# Made by Countersign. No other settings of ansible apply.\n\
         # ssh gets copies of its settings as they were authorized, from\n{settings}\
         # and of its known hosts, from\n{known_hosts}\
         [defaults]\n\
         forks = {forks}\n\
         host_key_checking = True\n\
         stdout_callback = {PLUGIN_NAME}\n\
         gathering = explicit\n\
         timeout = 15\n\
         retry_files_enabled = False\n\
         localhost_warning = False\n\
         deprecation_warnings = False\n\
         {plugins}\
         [inventory]\n\
         enable_plugins = ansible.builtin.yaml\n\
         any_unparsed_is_failed = True\n\
         [ssh_connection]\n\
         ssh_executable = {program}\n\
         ssh_args = {arguments}\n\
         usetty = False\n\
         retries = 0\n"
    )
}

/// A path for a comment.
fn quoted_path(path: &Path) -> String {
    path.to_string_lossy().escape_default().to_string()
}

/// A YAML scalar that ansible never evaluates. Readers of YAML normalize line ends and refuse control characters, so
/// only printable ASCII stands for itself.
fn scalar(text: &str) -> String {
    let mut scalar = String::with_capacity(text.len() + 16);
    scalar.push_str("!unsafe \"");
    for character in text.chars() {
        match character {
            '"' => scalar.push_str("\\\""),
            '\\' => scalar.push_str("\\\\"),
            '\n' => scalar.push_str("\\n"),
            '\t' => scalar.push_str("\\t"),
            ' '..='~' => scalar.push(character),
            _ => {
                let code = u32::from(character);
                let _ = match code {
                    0..=0xff => write!(scalar, "\\x{code:02x}"),
                    0x100..=0xffff => write!(scalar, "\\u{code:04x}"),
                    _ => write!(scalar, "\\U{code:08x}"),
                };
            }
        }
    }
    scalar.push('"');
    scalar
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
