//! Changes of a case file: the verifier finds each that changes what the file says.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use super::{case_file, first_run, home, run_id, verified, verifier};
use crate::harness::home::Done;

/// Unpacks the case, applies a change, brings the manifest up to date where the change asks for it, and checks.
const CHANGE: &str = r#"
import hashlib, importlib.util, json, pathlib, random, shutil, sys, zipfile
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
spec = importlib.util.spec_from_file_location("verify", sys.argv[1])
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)
archive, folder = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

def fresh():
    shutil.rmtree(folder, ignore_errors=True)
    zipfile.ZipFile(archive).extractall(folder)

def renew_manifest():
    manifest = json.loads((folder / "manifest.json").read_text())
    names = [it.relative_to(folder).as_posix() for it in folder.rglob("*") if it.is_file()]
    names.remove("manifest.json")
    manifest["members"] = [{"name": name, "bytes": (folder / name).stat().st_size,
        "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()} for name in sorted(names)]
    (folder / "manifest.json").write_text(json.dumps(manifest))

def check(what):
    print(json.dumps([what, *verify.check(folder)]))

fresh()
renew_manifest()
check("nothing")
for name in json.loads((folder / "manifest.json").read_text())["members"]:
    name = name["name"]
    fresh(); (folder / name).unlink(); check(f"remove {name}")
    fresh(); (folder / name).write_bytes((folder / name).read_bytes() + b" "); check(f"add to {name}")
    if name.startswith("artifacts/") or name in ("plan.json", "ledger.jsonl", "proof.json", "decisions.json", "executions.jsonl"):
        fresh(); (folder / name).unlink(); renew_manifest()
        # Without its proof, a case file is one of evidence whose key cannot be used: the key alone tells.
        check(f"remove {name}, with manifest") if not name.startswith(("artifacts/", "proof")) else None
        if name.startswith("artifacts/") or name == "plan.json":
            fresh(); (folder / name).write_bytes(b"other"); renew_manifest(); check(f"replace {name}, with manifest")
fresh(); (folder / "more").write_text("x"); check("add a member")
fresh(); (folder / "artifacts" / hashlib.sha256(b"x").hexdigest()).write_text("x"); renew_manifest()
check("add an artifact, with manifest")

# Every value of the documents, and every line.
def change_values(name, lines):
    def paths(value, path=()):
        if isinstance(value, dict):
            for key in value: yield from paths(value[key], path + (key,))
        elif isinstance(value, list):
            for index in range(len(value)): yield from paths(value[index], path + (index,))
        else: yield path
    fresh()
    text = (folder / name).read_text()
    documents = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    write = lambda: (folder / name).write_text(
        "".join(json.dumps(it) + "\n" for it in documents) if lines else json.dumps(documents))
    for path in list(paths(documents)):
        where = documents
        for key in path[:-1]: where = where[key]
        before = where[path[-1]]
        where[path[-1]] = before + "x" if isinstance(before, str) else 12345 if before != 12345 else 1
        write(); renew_manifest(); check(f"{name} {path}")
        where[path[-1]] = before
    for index in range(len(documents)):
        removed = documents.pop(index)
        write(); renew_manifest(); check(f"{name} without line {index}")
        documents.insert(index, removed)
    documents.append(documents[0])
    write(); renew_manifest(); check(f"{name} with a line twice")
for name, lines in [("ledger.jsonl", True), ("decisions.json", False), ("executions.jsonl", True)]:
    change_values(name, lines)
"#;

fn changes(archive: &Path, folder: &Path) -> Vec<(String, bool, String)> {
    let mut command = Command::new("python3");
    command.args(["-B", "-c", CHANGE]).arg(verifier()).arg(archive).arg(folder);
    let lines = Done::of(&mut command).exits(0).lines();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    lines.iter().map(|it| (text(&it[0]), it[1].as_bool().unwrap(), text(&it[2]))).collect()
}

/// The fields of `executions.jsonl` that repeat what other documents say, or that are derived when they are shown.
const DERIVED: [&str; 7] =
    ["'plan_id'", "'run'", "'walls'", "'decisions'", "'intent_at_ms'", "'ledger_", "'blob'"];

#[test]
fn every_change_of_a_member_is_found() {
    let home = home();
    let result = first_run(&home);
    let archive = case_file(&home, run_id(&result), "case.zip");
    let checked = changes(&archive, &home.path().join("changed"));
    let [(_, true, sound), changed @ ..] = checked.as_slice() else { panic!("{checked:?}") };
    assert!(sound.contains(", 0 other records are left out"), "{sound}");
    assert!(changed.len() > 300, "{}", changed.len());
    let mut derived = 0;
    for (what, is_sound, said) in changed {
        let is_derived = what.starts_with("executions.jsonl")
            && DERIVED.iter().any(|field| what.contains(field));
        assert!(!is_sound || is_derived, "{what} was not found: {said}");
        derived += usize::from(*is_sound && is_derived);
    }
    println!("{} changes, {derived} of them of derived fields", changed.len());
}

/// Flips bits of the zip. One that no reader of the archive notices changes no content.
const FLIP: &str = r#"
import importlib.util, pathlib, random, sys, zipfile
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
spec = importlib.util.spec_from_file_location("verify", sys.argv[1])
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)
archive, changed, number = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), int(sys.argv[4])
contents = lambda path: {it: zipfile.ZipFile(path).read(it) for it in zipfile.ZipFile(path).namelist()}
original, expected, chance = archive.read_bytes(), contents(archive), random.Random(7)
found = unused = 0
for _ in range(number):
    flipped = bytearray(original)
    place = chance.randrange(len(flipped))
    flipped[place] ^= 1 << chance.randrange(8)
    changed.write_bytes(flipped)
    is_sound, said = verify.check(changed)
    if is_sound:
        assert contents(changed) == expected, place
        unused += 1
    else:
        found += 1
print(f"{found} found, {unused} in unused bytes")
assert found > unused
"#;

#[test]
fn every_flipped_bit_that_matters_is_found() {
    let home = home();
    let result = first_run(&home);
    let archive = case_file(&home, run_id(&result), "case.zip");
    let number = std::env::var("EVIDENCE_CHANGES").ok().and_then(|text| text.parse::<u32>().ok());
    let mut command = Command::new("python3");
    command.args(["-B", "-c", FLIP]).arg(verifier()).arg(&archive);
    command.arg(home.path().join("flipped.zip")).arg(number.unwrap_or(300).to_string());
    println!("{}", Done::of(&mut command).exits(0).stdout);
}

/// Evidence that was changed makes a case file that says so.
#[test]
fn changed_evidence_makes_no_sound_case_file() {
    let home = home();
    let result = first_run(&home);
    let of_table = "FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'executions'";
    let triggers = home.texts(&format!("SELECT sql {of_table}"), []);
    let drops = home.texts(&format!("SELECT 'DROP TRIGGER ' || name {of_table}"), []);
    let change = "UPDATE executions SET outcome = 'succeeded', success = 1 WHERE step_id = 'miss'";
    let script = [drops, vec![change.to_owned()], triggers].concat().join(";\n");
    home.sql().execute_batch(&script).unwrap();

    let archive = home.path().join("case.zip");
    let line = ["evidence", "case", run_id(&result), "--out", "case.zip"];
    let done = home.json(line).exits(0);
    assert_eq!(done.document()["changed"], 1);
    assert!(done.stderr.contains("changed after they were written"), "{done:?}");
    // It is not signed, and says why.
    let why = done.document()["not_proven"].as_str().unwrap().to_owned();
    assert!(why.contains("is not what was written") && done.stderr.contains(&why), "{done:?}");
    let (code, said) = verified(&archive);
    assert!(code == 1 && said.contains("of executions is not what its link says"), "{said}");
    assert_eq!(verified(&home.database()).0, 1);
    let report = super::exported(&home, "html", &["--run", run_id(&result)]);
    assert!(report.contains("were changed after they were written"), "{report}");
}
