//! Plans for several hosts, by the real ansible and real servers (SPEC §14).

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::command;
use crate::harness::fleet::{Fleet, by_host, path};
use crate::harness::home::{Done, Home};

/// Asserts outcome, code and exit code of a step on a host.
fn assert_ended(result: &Value, outcome: &str, code: Option<&str>, exit: Option<i32>) {
    let found = (&result["outcome"], &result["error_code"], &result["exit_code"]);
    assert_eq!(found, (&json!(outcome), &json!(code), &json!(exit)), "{result:#}");
}

#[test]
fn each_host_has_the_right_result_in_the_evidence() {
    let mut fleet = Fleet::start(20, "");
    let role = |number| match number {
        5 => "fails",
        6 => "hangs",
        _ => "works",
    };
    fleet.write("role", |number| format!("{}\n", role(number)));
    fleet.know(&[7]);
    let command = "cat role; case $(cat role) in fails) echo broken >&2; exit 3;; \
                   hangs) tail -f /dev/null;; esac";
    fleet.plan(json!({
        "rollbackPlan": ["rm -f made"],
        "steps": [{ "id": "a", "command": command, "timeoutSeconds": 3 }],
    }));
    fleet.stop(8);
    fleet.stop(9);
    let document = fleet.json(&["run", "space/p.json", "--yes"]).exits(1).document();
    let hosts = by_host(&document, 0);
    assert_eq!(hosts.len(), 20);
    for (host, result) in &hosts {
        match host.as_str() {
            "h5" => assert_ended(result, "failed", Some("E305"), Some(3)),
            "h6" => assert_ended(result, "failed", Some("E306"), None),
            "h7" | "h8" | "h9" => assert_ended(result, "failed", Some("E308"), None),
            _ => assert_ended(result, "succeeded", None, Some(0)),
        }
    }
    let message = |host: &str| hosts[host]["error_message"].as_str().unwrap();
    assert!(message("h7").starts_with("the host shows another key"), "{}", message("h7"));
    assert!(message("h8").starts_with("the host cannot be reached"), "{}", message("h8"));
    assert!(message("h6").contains("was ended"), "{}", message("h6"));
    assert_eq!(hosts["h5"]["output"], "fails\nbroken\n");
    assert_eq!(document["step_results"][0]["outcome"], "failed");
    // Only what may have run is rolled back.
    let rollback: Value =
        serde_json::from_str(document["rollback_plan"].as_str().unwrap()).unwrap();
    let mut targets: Vec<&str> =
        rollback["targets"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    targets.sort_unstable();
    assert_eq!(targets, ["h5", "h6"]);
    let texts = |sql: &str| fleet.home.texts(sql, []);
    let sql = "SELECT host || ' ' || outcome || ' ' || invoked || ' ' || coalesce(exit_code, '-')
               FROM executions WHERE host LIKE 'h%' AND host IN ('h1', 'h5', 'h6', 'h7', 'h9') ORDER BY host";
    let expected =
        ["h1 succeeded 1 0", "h5 failed 1 3", "h6 failed 1 -", "h7 failed 0 -", "h9 failed 0 -"];
    assert_eq!(texts(sql), expected);
    let sql = "SELECT count(*) FROM executions e JOIN execution_artifacts a ON a.execution_id = e.id
               WHERE e.outcome = 'succeeded' AND a.artifact_type = 'stdout' AND a.content_json = '\"works\\n\"'";
    let sql = sql.replace("count(*)", "CAST(count(*) AS TEXT)");
    assert_eq!(fleet.home.texts(&sql, []), ["15"]);
    let stderr = "SELECT a.content_json FROM executions e JOIN execution_artifacts a ON a.execution_id = e.id
                  WHERE e.host = 'h5' AND a.artifact_type = 'stderr'";
    assert_eq!(texts(stderr), ["\"broken\\n\""]);
    let verified = fleet.json(&["evidence", "verify"]).exits(0).document();
    assert_eq!(verified["ok"], true);
    let found = fleet.json(&["evidence", "search", "--host", "h5"]).exits(0);
    assert_eq!(found.lines().len(), 1, "{found:?}");
}

/// Texts that YAML, templates, ansible's arguments and shells treat specially.
const HOSTILE: [&str; 11] = [
    "true",
    "echo {{ 7*7 }} {% raw %} {# x #} {{ lookup('pipe', 'id') }}",
    "echo hi creates=/etc/passwd removes=/ chdir=/ executable=/bin/false _raw_params=x",
    "echo \"a'b\" 'c\"d' \\\\ \\' %h %% '%(x)s' # no ; nor",
    "echo one\necho two\t|\ncat <<'E'\n  {{ x }}\n  'E\nE",
    "echo '!unsafe' '!vault |' '&a' '*b' '<<: *x' '- y' '? z' '@' '`'",
    "echo \u{e9}\u{df} \u{2028} \u{feff} \u{1f600} \u{7f} \u{1} \u{85}",
    "  echo spaces   ",
    "echo \"$HOME\" '$HOME' \\$HOME $'\\x41' ~ * ?",
    "true # \r\n# -c /bin/false",
    "echo -e '\\n' -- --check -i x 'NULL' 'yes' 'null' '0x1'",
];

#[test]
fn hostile_commands_arrive_as_they_were_signed() {
    let recorders = tempfile::tempdir().unwrap();
    let recorder = recorders.path().join("bash");
    let script = "#!/bin/sh\nprintf '%s\\0' \"$@\" >>\"$HOME/argv\"\nexec /bin/bash \"$@\"\n";
    fs::write(&recorder, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&recorder, mode).unwrap();
    let settings = format!("SetEnv PATH={}:/usr/bin:/bin", recorders.path().display());
    let fleet = Fleet::start(2, &settings);
    let home = fleet.server(1).home();
    let folder = "it's {{ a }}; \"$(touch no)\" %";
    fleet.write("other", |_| String::new());
    for number in [1, 2] {
        fs::create_dir(fleet.server(number).home().join(folder)).unwrap();
    }
    let steps: Vec<Value> =
        HOSTILE.iter().map(|text| json!({ "command": text, "cwd": folder })).collect();
    fleet.plan(json!({ "goal": "{{ 7*7 }}\n- name: x", "steps": steps }));
    let arguments = ["run", "space/p.json", "--yes", "--confirm", "approve"];
    let document = fleet.json(&arguments).exits(0).document();
    for number in [1, 2] {
        let argv = fs::read(fleet.server(number).home().join("argv")).unwrap();
        let argv: Vec<&[u8]> = argv.strip_suffix(b"\0").unwrap().split(|byte| *byte == 0).collect();
        let expected: Vec<&[u8]> = HOSTILE
            .iter()
            .flat_map(|text| ["--noprofile", "--norc", "-c", text])
            .map(str::as_bytes)
            .collect();
        assert_eq!(argv, expected);
    }
    assert!(!home.join(folder).join("no").exists() && !home.join("no").exists());
    let second = &by_host(&document, 1)["h1"]["output"];
    assert_eq!(*second, "{{ 7*7 }} {% raw %} {# x\n");
}

#[test]
fn plan_that_is_not_utf8_is_refused() {
    let home = Home::new();
    let text = b"{\"goal\":\"x\",\"targets\":[\"h1\"],\"steps\":[{\"command\":\"echo \xff\"}]}";
    home.write("p.json", text);
    let done = home.json(["check", "space/p.json"]).exits(2);
    assert_eq!(done.document()["findings"][0]["code"], "E010");
}

#[test]
fn output_that_is_not_utf8_is_recorded_exactly() {
    let fleet = Fleet::start(1, "");
    fleet.plan(json!({ "steps": [command("a", r"printf 'a\377\000b'; exit 255")] }));
    let document = fleet.json(&["run", "space/p.json", "--yes"]).exits(1).document();
    let result = &by_host(&document, 0)["h1"];
    assert_ended(result, "failed", Some("E305"), Some(255));
    assert_eq!(result["output_bytes"], 4);
}

#[test]
fn batches_end_when_too_many_hosts_have_failed() {
    let fleet = Fleet::start(3, "");
    fleet.plan(json!({
        "serial": 1, "max_fail_percentage": 0,
        "steps": [
            command("a", "echo a >>trace"),
            command("b", "echo b >>trace; test $(cat name) != h2"),
            command("c", "echo c >>trace"),
        ],
    }));
    fleet.write("name", |number| format!("h{number}"));
    let document = fleet.json(&["run", "space/p.json", "--yes"]).exits(1).document();
    let trace = |number: usize| {
        fs::read_to_string(fleet.server(number).home().join("trace")).unwrap_or_default()
    };
    assert_eq!([trace(1), trace(2), trace(3)], ["a\nb\nc\n", "a\nb\n", ""]);
    let outcome = |step: usize, host: &str| by_host(&document, step)[host]["outcome"].clone();
    assert_eq!(outcome(2, "h1"), "succeeded");
    assert_eq!(outcome(1, "h2"), "failed");
    assert_eq!(outcome(0, "h3"), "cancelled");
    let message = by_host(&document, 0)["h3"]["error_message"].clone();
    assert_eq!(message, "not run: too many hosts had failed");
    let message = by_host(&document, 2)["h2"]["error_message"].clone();
    assert_eq!(message, "not run: an earlier step failed on this host");
}

#[test]
fn stop_ends_the_run_and_says_what_is_unknown() {
    let fleet = Fleet::start(2, "");
    fleet.plan(json!({
        "steps": [command("a", "echo x >begun; tail -f /dev/null"), command("b", "echo x >second")],
    }));
    let mut child = fleet.home.child(["run", "space/p.json", "--yes", "--json"]);
    let child = child.env("PATH", path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    for number in [1, 2] {
        fleet.server(number).wait_for("Starting session", 1);
    }
    let id = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let document = Done::read(child.wait_with_output().unwrap()).exits(1).document();
    assert_eq!(document["status"], "cancelled", "{document:#}");
    for (host, result) in by_host(&document, 0) {
        assert_eq!(result["outcome"], "cancelled", "{host}: {result:#}");
        assert_eq!(result["may_have_run"], true, "{host}: {result:#}");
    }
    assert!(!fleet.server(1).home().join("second").exists());
    let open = "SELECT i.id FROM intents i WHERE NOT EXISTS (SELECT 1 FROM executions e WHERE e.id = i.id)";
    assert!(fleet.home.texts(open, []).is_empty(), "every intent has an execution");
}

#[test]
fn changes_of_what_is_covered_are_seen() {
    let fleet = Fleet::start(2, "");
    fleet.plan(json!({ "steps": [command("a", "true")] }));
    let binding = || {
        let document = fleet.json(&["check", "space/p.json"]).exits(0).document();
        document["fleet"]["binding"].clone()
    };
    let first = binding();
    assert_eq!(first, binding());
    fleet.know(&[2]);
    let known = binding();
    assert_ne!(first["known_hosts"], known["known_hosts"]);
    assert_eq!(
        (&first["files"], &first["ssh_settings"]),
        (&known["files"], &known["ssh_settings"])
    );
    let settings = fs::read_to_string(fleet.at("ssh_config")).unwrap();
    let included = fleet.at("more.conf");
    fs::write(&included, "Compression yes\n").unwrap();
    let include = format!("Include {}\n", included.display());
    fs::write(fleet.at("ssh_config"), settings.clone() + &include).unwrap();
    let including = binding()["ssh_settings"].clone();
    assert_ne!(known["ssh_settings"], including);
    fs::write(&included, "Compression no\n").unwrap();
    assert_ne!(including, binding()["ssh_settings"]);
    let include = format!("Include \"{}\"\n", included.display());
    fs::write(fleet.at("ssh_config"), settings + &include).unwrap();
    let document = fleet.json(&["check", "space/p.json"]).exits(2).document();
    let message = document["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("cannot be covered by an authorization"), "{message}");
    fleet.know(&[2]);
    fleet.plan(json!({ "steps": [command("a", "true ")] }));
    assert_ne!(known["files"], binding()["files"]);
}

/// What `ssh` reads later in a run is what was authorized, however the person's files change meanwhile.
#[test]
fn run_uses_settings_and_known_hosts_as_they_were_authorized() {
    let fleet = Fleet::start(2, "");
    fleet.write("ssh_config", |_| fleet.at("ssh_config").display().to_string());
    fleet.write("known_hosts", |_| fleet.at("known_hosts").display().to_string());
    // The first host empties the files while the second one waits for its turn.
    let empties = "for file in ssh_config known_hosts; do : >\"$(cat $file)\"; done";
    fleet.plan(json!({ "serial": 1, "steps": [command("a", empties)] }));
    fleet.json(&["run", "space/p.json", "--yes"]).exits(0);
    assert_eq!(fs::read_to_string(fleet.at("known_hosts")).unwrap(), "");
}

/// A connection that the person has open is not used: nobody has checked its key against what was authorized.
#[test]
fn shared_connection_of_the_person_is_not_used() {
    let fleet = Fleet::start(1, "");
    let socket = fleet.at("control");
    let settings = fs::read_to_string(fleet.at("ssh_config")).unwrap();
    let shared = format!("Host *\nControlPath {}\n{settings}", socket.display());
    fs::write(fleet.at("ssh_config"), shared).unwrap();
    let config = fleet.at("ssh_config").display().to_string();
    #[expect(clippy::disallowed_methods, reason = "the person's own connection")]
    let mut ssh = std::process::Command::new("ssh");
    let ssh = ssh.args(["-F", &config, "-M", "-N", "-f", "h1"]).status().unwrap();
    assert!(ssh.success());
    fleet.know(&[1]);
    let settings = fs::read_to_string(fleet.at("ssh_config")).unwrap();
    let shared = format!("Host *\nControlPath {}\n{settings}", socket.display());
    fs::write(fleet.at("ssh_config"), shared).unwrap();
    fleet.plan(json!({ "steps": [command("a", "true")] }));
    let document = fleet.json(&["run", "space/p.json", "--yes"]).exits(1).document();
    assert_ended(&by_host(&document, 0)["h1"], "failed", Some("E308"), None);
    #[expect(clippy::disallowed_methods, reason = "the person's own connection")]
    let mut ssh = std::process::Command::new("ssh");
    assert!(ssh.args(["-F", &config, "-O", "exit", "h1"]).status().unwrap().success());
}

#[test]
fn run_is_signed() {
    let fleet = Fleet::start(1, "");
    let key = fleet.at("signer");
    let shown = key.to_str().unwrap();
    #[expect(clippy::disallowed_methods, reason = "the person makes a key")]
    let mut keygen = std::process::Command::new("ssh-keygen");
    let made = keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", shown]).status();
    assert!(made.unwrap().success());
    fleet.home.settings(format!(
        "[policy]\nssh_config = {:?}\n[signatures]\nkey = {shown:?}\nprincipal = \"ada\"\n\
         sign = [\"authorizations\", \"run_ends\"]\n",
        fleet.at("ssh_config")
    ));
    fleet.plan(json!({ "steps": [command("a", "true")] }));
    fleet.json(&["run", "space/p.json", "--yes"]).exits(0);
    let signed = fleet.home.texts("SELECT kind FROM signatures ORDER BY id", []);
    assert_eq!(signed.len(), 2, "{signed:?}");
}

/// The digest of the plan does not say which hosts an inventory has.
#[test]
fn digest_on_the_command_line_covers_the_hosts() {
    let fleet = Fleet::start(2, "");
    fleet.home.write("hosts.ini", "h1\n");
    let plan = json!({ "goal": "x", "inventory": "hosts.ini", "steps": [command("a", "true")] });
    fleet.home.write("p.json", plan.to_string());
    let document = fleet.json(&["check", "space/p.json"]).exits(0).document();
    let digest = document["digest"].as_str().unwrap();
    let hosts = document["fleet"]["digest"].as_str().unwrap();
    let run = |more: &[&str]| {
        fleet.json(&[&["run", "space/p.json", "--authorize", digest], more].concat())
    };
    run(&[]).exits(3);
    run(&["--hosts", hosts]).exits(0);
    fleet.home.write("hosts.ini", "h2\n");
    run(&["--hosts", hosts]).exits(3);
    let ran = fleet.home.texts("SELECT host FROM executions WHERE host LIKE 'h_'", []);
    assert_eq!(ran, ["h1"]);
}

#[test]
fn unknown_keys_and_equal_hosts_are_found_before_the_authorization() {
    let fleet = Fleet::start(3, "");
    let check = |targets: &[&str]| {
        let plan = json!({ "goal": "x", "targets": targets, "steps": [command("a", "true")] });
        fleet.home.write("p.json", plan.to_string());
        fleet.json(&["check", "space/p.json"])
    };
    let refused = |targets: &[&str], code: &str, words: &str| {
        let document = check(targets).exits(2).document();
        let finding = &document["findings"][0];
        let message = finding["message"].as_str().unwrap();
        assert!(finding["code"] == code && message.contains(words), "{finding:#}");
    };
    check(&["h1", "h2", "h3"]).exits(0);
    refused(&["h1", "stranger", "h1:2290"], "E308", "ssh knows no key of stranger h1:2290");
    let user = fleet.server(1).user();
    let same = format!("{user}@h1");
    refused(&["h1", "h2", &same], "E203", "are the same user of the same host");
    // Names that are hashed, as Debian's settings want it, are found as well.
    let known = fleet.at("known_hosts");
    #[expect(clippy::disallowed_methods, reason = "the person hashes the names")]
    let mut keygen = std::process::Command::new("ssh-keygen");
    let hashed = keygen.args(["-q", "-H", "-f", known.to_str().unwrap()]).output().unwrap();
    assert!(hashed.status.success(), "{hashed:?}");
    assert!(fs::read_to_string(&known).unwrap().starts_with("|1|"));
    check(&["h1", "h2", "h3"]).exits(0);
}

/// Variables of ansible that the program sets itself are those of the caller neither in name nor in value.
#[test]
fn plugins_and_variables_of_the_person_do_not_count() {
    let fleet = Fleet::start(1, "");
    let plugins = fleet.home.path().join(".ansible/plugins/connection");
    fs::create_dir_all(&plugins).unwrap();
    fs::write(plugins.join("ssh.py"), "raise Exception('of the person')\n").unwrap();
    fleet.plan(json!({ "steps": [command("a", "echo as authorized")] }));
    let arguments = ["run", "space/p.json", "--yes", "--json"];
    let mut program = fleet.home.command();
    program.args(arguments).arg("--evidence").arg(fleet.home.evidence()).env("PATH", path());
    for name in [
        "ANSIBLE_HOME",
        "ANSIBLE_CONFIG",
        "ANSIBLE_CALLBACK_PLUGINS",
        "ANSIBLE_LOCAL_TEMP",
        "ANSIBLE_SSH_CONTROL_PATH_DIR",
        "ANSIBLE_CONNECTION_PLUGINS",
        "LC_ALL",
    ] {
        program.env(name, "/nonexistent");
    }
    let document = Done::of(&mut program).exits(0).document();
    assert_eq!(by_host(&document, 0)["h1"]["output"], "as authorized\n");
}

/// Waits until there is a file.
fn wait_for_file(path: &std::path::Path) {
    while !path.exists() {
        std::thread::yield_now();
    }
}

/// What a command prints is no message of `ssh`, for ansible and for this program.
#[test]
fn output_like_messages_of_ssh_is_output() {
    let fleet = Fleet::start(2, "");
    let printed =
        "Bad configuration option: ControlPersist\nroot@h: Permission denied (publickey).";
    fleet.write("words", |_| format!("{printed}\n"));
    fleet.plan(json!({
        "rollbackPlan": ["true"],
        "steps": [command("a", "echo OUTPUT; cat words >&2; exit 1")],
    }));
    let document = fleet.json(&["run", "space/p.json", "--yes"]).exits(1).document();
    for (host, result) in by_host(&document, 0) {
        assert_ended(&result, "failed", Some("E305"), Some(1));
        assert_eq!(result["output"], format!("OUTPUT\n{printed}\n"), "{host}");
    }
    // A connection that ends after such words was there before.
    fleet.plan(json!({
        "rollbackPlan": ["true"],
        "steps": [command("a", "cat words >&2; touch did; tail -f /dev/null")],
    }));
    let mut child = fleet.home.child(["run", "space/p.json", "--yes", "--json"]);
    let child = child.env("PATH", path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    for number in [1, 2] {
        fleet.server(number).wait_for("Starting session", 2);
        wait_for_file(&fleet.server(number).home().join("did"));
        fleet.server(number).kill_connections();
    }
    let document = Done::read(child.wait_with_output().unwrap()).exits(1).document();
    for (host, result) in by_host(&document, 0) {
        assert_ended(&result, "failed", Some("E308"), None);
        assert_eq!(result["may_have_run"], true, "{host}: {result:#}");
    }
    assert!(document["rollback_plan"].is_string());
}

#[test]
fn output_beyond_the_limit_ends_the_command() {
    let fleet = Fleet::start(1, "");
    fleet.plan(json!({ "steps": [command("a", "yes")] }));
    let document = fleet.json(&["run", "space/p.json", "--yes"]).exits(1).document();
    let result = &by_host(&document, 0)["h1"];
    assert_ended(result, "failed", Some("E309"), None);
    assert_eq!(result["output_bytes"], 16 << 20);
}

#[test]
fn records_name_their_host() {
    let fleet = Fleet::start(2, "");
    fleet.plan(json!({ "steps": [command("a", "echo x")] }));
    fleet.json(&["run", "space/p.json", "--yes"]).exits(0);
    let about = fleet.home.texts("SELECT about FROM executions ORDER BY about", []);
    assert_eq!(about, ["echo x on 2 hosts", "echo x on h1", "echo x on h2"]);
}

#[test]
fn missing_ansible_is_named_with_its_package() {
    let fleet = Fleet::start(1, "");
    fleet.plan(json!({ "steps": [command("a", "true")] }));
    let mut command = fleet.home.command();
    command.args(["check", "space/p.json", "--json"]).env("PATH", "/usr/bin:/bin");
    if std::path::Path::new("/usr/bin/ansible-playbook").exists() {
        let only = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/usr/bin/ssh", only.path().join("ssh")).unwrap();
        command.env("PATH", only.path());
        assert_missing(&Done::of(&mut command));
    } else {
        assert_missing(&Done::of(&mut command));
    }
}

fn assert_missing(done: &Done) {
    let findings = done.document()["findings"].clone();
    let message = findings[0]["message"].as_str().unwrap();
    assert!(message.contains("ansible-core"), "{message}");
}

#[test]
fn hosts_of_an_inventory_are_used() {
    let fleet = Fleet::start(2, "");
    let inventory = "[web]\nfirst ansible_host=h1\n[db]\nh2\n";
    fleet.home.write("hosts.ini", inventory);
    let plan = json!({
        "id": "p", "goal": "x", "inventory": "hosts.ini", "steps": [command("a", "echo here")],
    });
    fleet.home.write("p.json", plan.to_string());
    let document = fleet.json(&["run", "space/p.json", "--yes"]).exits(0).document();
    let hosts = by_host(&document, 0);
    assert_eq!(hosts.keys().collect::<Vec<_>>(), ["h1", "h2"]);
    let inputs = fleet.home.texts("SELECT inputs_json FROM authorizations", []);
    assert!(inputs[0].contains("hosts.ini"), "{inputs:?}");
}
