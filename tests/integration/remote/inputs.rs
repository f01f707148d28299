//! Inputs of commands on another host (SPEC §13).

use serde_json::json;

use super::plans;
use crate::harness::files_below;
use crate::harness::home::Home;
use crate::harness::sshd::Sshd;

const SECRET: &str = "kingfisher of the marsh'";

/// The values reach the command's environment through stdin: they are in no list of arguments here or there, in no
/// environment but that of the command, and in no file.
#[test]
fn values_reach_the_command_alone() {
    let sshd = Sshd::start();
    let home: Home = plans::home(&sshd);
    // A process that ends in between has no list of arguments any more.
    let mut plan = plans::plan([
        json!({"command": "printf '<%s>' {{text}} \"$input_token\"; ps -eo args; cat /proc/[0-9]*/cmdline; true"}),
        json!({"command": "cat /proc/$PPID/environ; env; echo \"${input_token-}\" | wc -c"}),
        json!({"command": "env | grep -c ^input_; true"}),
    ]);
    plan["inputs"] = json!([
        {"name": "text", "value": "heron * $(echo x)\n'\""},
        {"name": "token", "secret": true},
    ]);
    home.write("p.json", plan.to_string());
    home.write("secret", SECRET);
    let arguments = ["run", "space/p.json", "--yes", "--secret-input", "token=space/secret"];
    let done = home.json(arguments.into_iter().chain(["--confirm", "approve"])).exits(0);
    std::fs::remove_file(home.file("secret")).unwrap();
    let document = done.document();
    let results = document["step_results"].as_array().unwrap();
    let stdout = |index: usize| results[index]["stdout"].as_str().unwrap();
    let (printed, rest) = stdout(0).split_once('>').unwrap();
    assert_eq!(printed, "<heron * $(echo x)\n'\"");
    let (marker, listed) = rest.split_once('>').unwrap();
    assert!(marker.starts_with("<[secret:input:"), "{marker}");
    assert!(listed.contains("ps -eo args"), "{listed}");
    assert!(!listed.contains("[secret:input:") && !listed.contains("heron *"), "{listed}");
    let (environments, count) = stdout(1).trim_end().rsplit_once('\n').unwrap();
    assert_eq!(count.trim(), (SECRET.len() + 1).to_string());
    assert_eq!(
        environments.matches("[secret:input:").count(),
        1,
        "only the command's: {environments}"
    );
    assert_eq!(stdout(2).trim(), "0", "a command gets what it names");
    let has = |bytes: &[u8]| bytes.windows(10).any(|it| it == b"kingfisher");
    assert!(!has(done.stdout.as_bytes()) && !has(done.stderr.as_bytes()));
    for file in files_below(home.path()).into_iter().chain(files_below(&sshd.home())) {
        assert!(!has(&std::fs::read(&file).unwrap()), "{}", file.display());
    }
}
