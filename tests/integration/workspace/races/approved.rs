//! Splice plans and replacements that are exchanged after the approval: each is read once, and the external
//! engine gets the approved bytes.

use std::collections::BTreeMap;
use std::fs;

use countersign::plan::{Code, ToolCall};
use countersign::risk::{EngineChoice, Policy};
use countersign::tools::Toolbox;
use serde_json::json;

use super::swapper::Swapper;
use crate::harness::home::Home;
use crate::harness::invoke;
use crate::harness::set_mode;

const BEFORE: &str = "def one():\n    return 1\n\n\ndef two():\n    return 2\n";
const ONE: &str = "def one():\n    return 10\n";
/// The content after the approved plan.
const AFTER: &str = "def one():\n    return 10\n\n\ndef two():\n    return 2\n";

/// Invokes the approved splice plan while these pairs are exchanged, until it has succeeded and been refused
/// this many times each.
fn invoke_while_swapped(
    home: &Home,
    policy: &Policy,
    pairs: &[(&str, &str)],
    (rounds, after): (usize, &str),
) {
    let toolbox = Toolbox::open(&home.path().join("space"), policy).unwrap();
    let call = ToolCall::SplicePlan { plan_file: "plan.json".to_owned() };
    let expected = toolbox.inputs(&call).unwrap();
    assert_eq!(expected.keys().collect::<Vec<_>>(), ["a.py", "one.py", "plan.json"]);
    let mut swapper = Swapper::start(home.path(), pairs);
    swapper.go();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut round = 0;
    let enough = |seen: &BTreeMap<String, usize>| {
        seen.get("done").is_some_and(|n| *n >= rounds)
            && seen.get("refused").is_some_and(|n| *n >= rounds)
    };
    while !enough(&seen) {
        round += 1;
        assert!(round < 200 * rounds, "{seen:?}");
        let invocation = invoke(&toolbox, &call, &expected);
        let now = fs::read_to_string(home.file("a.py")).unwrap();
        let how = match &invocation.error {
            None => {
                assert_eq!(now, after, "what was approved, and nothing else");
                fs::write(home.file("a.py"), BEFORE).unwrap();
                "done"
            }
            Some(error) => {
                // Refused before any change. The system may also report that a path changed during
                // resolution.
                assert!(matches!(error.code(), Code::Stale | Code::ReadFailed), "{error}");
                assert_eq!(now, BEFORE);
                if error.code() == Code::Stale { "refused" } else { "not read" }
            }
        };
        *seen.entry(how.to_owned()).or_default() += 1;
    }
    println!("{} swaps: {seen:?}", swapper.stop());
}

fn home() -> Home {
    let home = Home::new();
    fs::create_dir(home.path().join("stage")).unwrap();
    let plan = |symbol: &str| {
        json!({"steps": [{"file": "a.py", "symbol": symbol, "with": "one.py"}]}).to_string()
    };
    home.write("a.py", BEFORE);
    home.write("one.py", ONE);
    home.write("plan.json", plan("one"));
    // It names the same files, so that only the plan itself differs.
    fs::write(home.path().join("stage/plan.json"), plan("two")).unwrap();
    fs::write(home.path().join("stage/one.py"), "def one():\n    return 'theirs'\n").unwrap();
    home
}

#[test]
fn exchanged_splice_plan_is_never_followed() {
    let pairs = [("space/plan.json", "stage/plan.json")];
    invoke_while_swapped(&home(), &Policy::default(), &pairs, (300, AFTER));
}

#[test]
fn the_external_engine_gets_the_approved_replacement() {
    let home = home();
    // The fake `splice` replaces the first definition by the given text.
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'splice 9.9.9' && exit 0\n\
        for word in \"$@\"; do case $word in --with=*) with=${word#*=};; --file=*) file=${word#*=};; esac; done\n\
        { cat \"$with\"; echo; sed -n '3,$p' \"$file\"; } > \"$file.new\" && cat \"$file.new\" > \"$file\" && rm \"$file.new\"\n\
        echo '{\"status\": \"ok\"}'\n";
    // The replacement is inserted with its final line break.
    let after = AFTER.replace("10\n", "10\n\n");
    let program = home.path().join("splice");
    fs::write(&program, script).unwrap();
    set_mode(&program, 0o755);
    let policy = Policy {
        engine: EngineChoice::External,
        splice_program: Some(program),
        ..Policy::default()
    };
    let pairs = [("space/one.py", "stage/one.py"), ("space/plan.json", "stage/plan.json")];
    invoke_while_swapped(&home, &policy, &pairs, (15, &after));
}
