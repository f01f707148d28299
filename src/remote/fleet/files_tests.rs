use super::*;
use crate::plan::{FleetHosts, parse};

fn plan(text: &serde_json::Value) -> Plan {
    let parsed = parse(text.to_string().as_bytes());
    parsed.plan.unwrap_or_else(|_| panic!("{:?}", parsed.findings))
}

fn hosts(fleet: &Fleet) -> Vec<Destination> {
    match &fleet.hosts {
        FleetHosts::Named(hosts) => hosts.clone(),
        FleetHosts::Inventory(_) => Vec::new(),
    }
}

fn files(text: &serde_json::Value) -> FleetFiles {
    let plan = plan(text);
    let fleet = plan.fleet.clone().unwrap();
    let arguments = ["-o".to_owned(), "BatchMode=yes".to_owned()];
    let ssh = Ssh {
        program: "/usr/bin/ssh",
        arguments: &arguments,
        settings: &[PathBuf::from("/home/ada/a\n[defaults]")],
        known_hosts: &[],
    };
    generate(&plan, &fleet, &hosts(&fleet), &ssh)
}

#[test]
fn only_printable_ascii_stands_for_itself() {
    assert_eq!(scalar("a {{ 7*7 }} 'b' # % !unsafe"), "!unsafe \"a {{ 7*7 }} 'b' # % !unsafe\"");
    let hostile = "\"\\\n\t\r\u{1}\u{7f}\u{85}\u{e9}\u{2028}\u{feff}\u{1f600}";
    let expected = r#"!unsafe "\"\\\n\t\x0d\x01\x7f\x85\xe9\u2028\ufeff\U0001f600""#;
    assert_eq!(scalar(hostile), expected);
}

#[test]
fn playbook_has_a_task_for_each_step() {
    let files = files(&serde_json::json!({
        "id": "p", "goal": "Try", "targets": ["ada@web1", "ssh://web2:2222"],
        "serial": [1, "50%"], "max_fail_percentage": 20,
        "steps": [
            { "command": "echo {{ 7*7 }}", "cwd": "/srv/it's", "timeoutSeconds": 5 },
            { "command": "true", "verificationCommand": "false" },
        ],
    }));
    let tasks: Vec<&str> =
        files.playbook.lines().filter(|line| line.contains("- name: \"")).map(str::trim).collect();
    assert_eq!(tasks, ["- name: \"1\"", "- name: \"2\"", "- name: \"3\""]);
    assert!(files.playbook.contains("  serial: [1, \"50%\"]\n  max_fail_percentage: 20\n"));
    assert!(files.playbook.contains("_raw_params: !unsafe \"_echo {{ 7*7 }}\"\n"));
    assert!(
        files.playbook.contains(r#" sh '/srv/it'\"'\"'s' 5 countersign-"#),
        "{}",
        files.playbook
    );
    assert!(files.playbook.contains("      timeout: 35\n"));
    assert!(files.inventory.contains("target_2:\n      ansible_host: \"ssh://web2:2222\"\n"));
    assert!(files.config.contains("forks = 2\n"));
    assert!(files.config.contains("ssh_args = -o BatchMode=yes\n"));
    assert!(files.config.contains("#   /home/ada/a\\n[defaults]\n"), "{}", files.config);
}

#[test]
fn digest_covers_every_file() {
    let plan = |command: &str, host: &str| {
        serde_json::json!({
            "id": "p", "goal": "Try", "targets": [host], "steps": [{ "command": command }],
        })
    };
    let one = files(&plan("true", "web"));
    assert_eq!(digest(&one), digest(&files(&plan("true", "web"))));
    let others = [
        files(&plan("false", "web")),
        files(&plan("true", "other")),
        FleetFiles { config: one.config.clone() + "\n", ..one.clone() },
        FleetFiles {
            playbook: one.playbook.clone() + "#",
            inventory: one.inventory[1..].to_owned(),
            ..one.clone()
        },
    ];
    for other in others {
        assert_ne!(digest(&one), digest(&other));
    }
}

/// Names of hosts are written without `!unsafe`.
#[test]
fn no_destination_is_a_template_or_ends_its_quotes() {
    for text in ["a{b", "{{x}}", "a\"b", "a\\b", "a b", "a\nb", "{%x%}", "a#b"] {
        assert!(Destination::parse(text).is_err(), "{text:?}");
    }
}
