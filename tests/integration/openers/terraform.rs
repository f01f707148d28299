//! A plan of OpenTofu, applied by a stand-in for its program: the programs are in no registry that tests use. What is tested
//! is what the step compares before it calls them, and not what they do.

use std::fs;

use serde_json::json;

use crate::harness::home::Home;
use crate::harness::set_mode;

/// Prints and applies the plans of the tests: the plan is a text, and what people read of it stands beside it.
const TOFU: &str =
    "#!/bin/sh\ncase \"$1\" in\nshow) cat readable ;;\napply) cp \"$3\" applied ;;\nesac\n";

#[test]
fn only_the_signed_binary_plan_is_applied() {
    let home = Home::new();
    let change =
        json!({"actions": ["create"], "before": null, "after": {"a": 1}, "after_sensitive": {}});
    let resource =
        json!({"address": "a.b", "provider_name": "registry.opentofu.org/x/y", "change": change});
    let text =
        json!({"format_version": "1.2", "planned_values": {}, "resource_changes": [resource]});
    let text = format!("{text}\n");
    home.write("x.json", &text);
    home.write("readable", &text);
    home.write("x.tfplan", "signed");
    // Walls hide temporary folders, and no program of the workspace is found by its name.
    home.settings("[policy]\nwalls = 'off'\n");
    let program = home.path().join("bin/tofu");
    fs::create_dir(home.path().join("bin")).unwrap();
    fs::write(&program, TOFU).unwrap();
    set_mode(&program, 0o755);
    let run = |digest: &str| {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let mut command = home.command();
        let arguments = ["run", "space/x.json", "--authorize", digest, "--confirm", "approve"];
        let output = command.args(arguments).env("PATH", path).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
    };
    let digest = |home: &Home| {
        let checked = home.json(["check", "space/x.json"]).exits(0).document();
        checked["digest"].as_str().unwrap().to_owned()
    };
    let signed = digest(&home);
    let (status, output) = run(&signed);
    assert_eq!(status, 0, "{output}");
    assert_eq!(fs::read_to_string(home.file("applied")).unwrap(), "signed");
    fs::remove_file(home.file("applied")).unwrap();
    // Another binary plan makes another plan of ours, so that nothing is authorized.
    home.write("x.tfplan", "another");
    assert_ne!(digest(&home), signed);
    assert_ne!(run(&signed).0, 0);
    // The program says that the binary plan is another one than what was read.
    home.write("readable", "something else\n");
    let (status, output) = run(&digest(&home));
    assert!(status == 1 && output.contains("the binary plan is not what was shown"), "{output}");
    // The binary plan is replaced after it was signed: the plan that was stored has its digest.
    home.write("readable", &text);
    home.write("stored.json", &home.run(["convert", "space/x.json"]).exits(0).stdout);
    home.write("x.tfplan", "replaced");
    let stored = home.run(["run", "space/stored.json", "--yes", "--confirm", "approve"]).exits(1);
    assert!(stored.stderr.contains("the binary plan is not the signed one"), "{}", stored.stderr);
    assert!(!home.file("applied").exists());
}
