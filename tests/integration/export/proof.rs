//! Checkpoints, proofs and attestations: each is read by something that was not written here, which refuses changed ones.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::tlog::{Hash, check_record, check_tree, record_hash};

use super::{first_run, further_runs, home, run_id};
use crate::harness::agents::installed;
use crate::harness::cargo_project::cargo_project;
use crate::harness::home::{Done, Home};
use crate::harness::schemas::complaints;

fn verifier() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier/verify_proof.py")
}

/// The verifier key of the evidence of this home.
fn key(home: &Home) -> String {
    home.run(["evidence", "key"]).exits(0).stdout.trim_end().to_owned()
}

/// Writes a file by a command of `evidence` and returns its path.
fn written(home: &Home, name: &str, line: &[&str]) -> PathBuf {
    let path = home.path().join(name);
    let out = ["--out", name];
    let line = ["evidence"].iter().chain(line).chain(&out).copied();
    assert_eq!(home.json(line).exits(0).document()["file"], name);
    path
}

/// The checkpoint of a note that this key has signed, as another program reads it.
fn checkpoint(note: &str, key: &str) -> Option<tlog_tiles::Checkpoint> {
    let note = Note::from_bytes(note.as_bytes()).ok()?;
    let verifier = StandardVerifier::new(key).ok()?;
    note.verify(&VerifierList::new(vec![Box::new(verifier)])).ok()?;
    tlog_tiles::Checkpoint::from_bytes(note.text()).ok()
}

fn rows(home: &Home) -> u64 {
    home.texts("SELECT CAST(max(seq) AS TEXT) FROM ledger", [])[0].parse().unwrap()
}

#[test]
fn a_checkpoint_is_read_by_others_and_holds_later() {
    let home = home();
    first_run(&home);
    let path = written(&home, "checkpoint", &["checkpoint"]);
    let (text, key) = (fs::read_to_string(&path).unwrap(), key(&home));
    let read = checkpoint(&text, &key).expect("another program reads it");
    assert_eq!(read.size(), rows(&home));
    assert_eq!(Some(read.origin()), key.split('+').next());
    assert_eq!(home.run(["evidence", "checkpoint"]).exits(0).stdout, text, "the same on stdout");

    further_runs(&home);
    let line = ["evidence", "checkpoint", "--verify", "checkpoint"];
    let report = home.json(line).exits(0).document();
    assert_eq!((&report["ok"], &report["rows"]), (&json!(true), &json!(rows(&home))));
    assert_eq!(report["signers"], json!([read.origin()]));
    let said = home.run(line.iter().chain(&["--key", &key]).copied()).exits(0).stdout;
    assert!(said.contains("are those of the checkpoint"), "{said}");
    // Nothing is written over a file.
    let again = ["evidence", "checkpoint", "--out", "checkpoint"];
    assert_eq!(home.json(again).exits(5).error_code(), "E014");
    home.json(again.iter().chain(&["--force"]).copied()).exits(0);
    // A file of another key, and what is no checkpoint.
    let other = Home::new();
    let done = other.json(["evidence", "key"]).exits(4);
    assert_eq!(done.error_code(), "E401", "there is no evidence");
    for (name, bytes) in
        [("none", "x"), ("changed", &*text.replace("countersign/", "countersigN/"))]
    {
        fs::write(home.path().join(name), bytes).unwrap();
        let report = home.json(["evidence", "checkpoint", "--verify", name]).exits(6).document();
        assert_eq!(report["ok"], false);
    }
    assert_eq!(home.run(["evidence", "checkpoint", "--verify", "absent"]).exits(5).code, 5);
}

/// Changes a row, and leaves the schema as it was.
fn change_row(home: &Home) {
    let of_table = "FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'executions'";
    let triggers = home.texts(&format!("SELECT sql {of_table}"), []);
    let drops = home.texts(&format!("SELECT 'DROP TRIGGER ' || name {of_table}"), []);
    let change = "UPDATE executions SET outcome = 'succeeded', success = 1 WHERE step_id = 'miss'";
    let script = [drops, vec![change.to_owned()], triggers].concat().join(";\n");
    home.sql().execute_batch(&script).unwrap();
}

#[test]
fn changed_evidence_is_neither_signed_nor_attested() {
    let home = home();
    let result = first_run(&home);
    written(&home, "checkpoint", &["checkpoint"]);
    change_row(&home);
    let report =
        home.json(["evidence", "checkpoint", "--verify", "checkpoint"]).exits(6).document();
    let said = report["difference"].as_str().unwrap();
    assert!(said.contains("of executions is not what was written"), "{said}");
    for line in [
        &["evidence", "checkpoint"][..],
        &["evidence", "prove", run_id(&result)],
        &["evidence", "attest", run_id(&result)],
    ] {
        let done = home.json(line.iter().copied()).exits(6);
        assert_eq!(done.error_code(), "E401");
        assert!(done.stderr.contains("of executions is not what was written"), "{done:?}");
    }
    // In a checkpoint that exists, nothing else is verified than the records in question.
    for command in ["prove", "attest"] {
        let line = ["evidence", command, run_id(&result), "--checkpoint", "checkpoint"];
        let done = home.json(line).exits(6);
        assert_eq!(done.error_code(), "E401");
        assert!(done.stderr.contains("was changed after it was written"), "{done:?}");
    }
}

fn hash(text: &Value) -> Hash {
    Hash::parse_hash(text.as_str().unwrap()).unwrap()
}

fn hashes(list: &Value) -> Vec<Hash> {
    list.as_array().unwrap().iter().map(hash).collect()
}

/// Checks a proof by the verifier, by its schema, and by another implementation of trees.
fn check(home: &Home, path: &Path) -> Value {
    let said = Done::of(Command::new("python3").arg("-B").arg(verifier()).arg(path)).exits(0);
    assert!(said.stdout.starts_with("OK: ") && said.stdout.contains("NOT CHECKED"), "{said:?}");
    let proof: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(complaints("proof", &proof), Vec::<String>::new());
    let key = key(home);
    let mut command = Command::new("python3");
    command.arg("-B").arg(verifier()).arg(path).args(["--key", &key]);
    let said = Done::of(&mut command).exits(0);
    assert!(said.stdout.contains("the checkpoint is signed by that key"), "{said:?}");
    let tree = checkpoint(proof["checkpoint"].as_str().unwrap(), &key).unwrap();
    for record in proof["records"].as_array().unwrap() {
        let text = |name: &str| record[name].as_str().unwrap();
        let bytes = |hex: &str| -> Vec<u8> {
            let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (0..hex.len()).step_by(2).map(digit).collect()
        };
        let link = Sha256::digest([bytes(text("previous")), text("entry").into()].concat());
        assert_eq!(link.to_vec(), bytes(text("digest")));
        let index = record["seq"].as_u64().unwrap() - 1;
        let path = hashes(&record["inclusion_proof"]);
        check_record(&path, tree.size(), *tree.hash(), index, record_hash(&link)).unwrap();
    }
    if !proof["since"].is_null() {
        let earlier = checkpoint(proof["since"]["checkpoint"].as_str().unwrap(), &key).unwrap();
        let path = hashes(&proof["since"]["consistency_proof"]);
        check_tree(&path, tree.size(), *tree.hash(), earlier.size(), *earlier.hash()).unwrap();
    }
    proof
}

fn tables(proof: &Value) -> Vec<&str> {
    let records = proof["records"].as_array().unwrap();
    records.iter().map(|it| it["table"].as_str().unwrap()).collect()
}

#[test]
fn proofs_are_checked_without_the_program() {
    let home = home();
    let result = first_run(&home);
    written(&home, "earlier", &["checkpoint"]);
    further_runs(&home);
    written(&home, "later", &["checkpoint"]);
    let id = run_id(&result);

    let path = written(&home, "run.json", &["prove", id, "--since", "earlier"]);
    let run = check(&home, &path);
    assert_eq!((&run["about"], &run["later"]), (&json!({ "kind": "run", "id": id }), &json!(0)));
    for table in ["runs", "plans", "authorizations", "executions", "decisions", "run_ends", "blobs"]
    {
        assert!(tables(&run).contains(&table), "{table}");
    }
    let executions = tables(&run).into_iter().filter(|table| *table == "executions").count();
    assert_eq!(executions, 6);
    let printed = home.json(["evidence", "prove", id, "--since", "earlier"]).exits(0).document();
    assert_eq!(printed, run);

    // One execution: its own records, and how its run was authorized and ended.
    let step = &result["step_results"][3];
    let path = written(&home, "step.json", &["prove", step["execution_id"].as_str().unwrap()]);
    let step = check(&home, &path);
    let of_step = tables(&step);
    for (table, number) in [
        ("intents", 1),
        ("executions", 1),
        ("file_contents", 2),
        ("runs", 1),
        ("authorizations", 1),
    ] {
        let found = of_step.iter().filter(|it| **it == table).count();
        assert_eq!(found, number, "{table}: {of_step:?}");
    }
    let own: Vec<_> = step["records"].as_array().unwrap().iter().collect();
    assert!(own.iter().all(|it| run["records"].as_array().unwrap().contains(it)), "as in its run");
    let started = written(&home, "begin.json", &["prove", &id[..8]]);
    assert_eq!(check(&home, &started)["about"]["id"], id, "the beginning of the id is enough");

    // A decision, by its number, in a checkpoint that exists.
    let number = home.texts("SELECT CAST(id AS TEXT) FROM decisions WHERE decision = 'skip'", []);
    let line = ["prove", "--record", &number[0], "--checkpoint", "earlier"];
    let decision = check(&home, &written(&home, "decision.json", &line));
    assert_eq!(tables(&decision), ["decisions"]);
    let earlier = fs::read_to_string(home.path().join("earlier")).unwrap();
    assert_eq!(decision["checkpoint"], earlier);

    // With the checkpoint as somebody got it in another way.
    let with = |checkpoint: &str| {
        let mut command = Command::new("python3");
        command.arg("-B").arg(verifier()).arg(home.path().join("decision.json"));
        Done::of(command.arg("--checkpoint").arg(home.path().join(checkpoint)))
    };
    let printed = home.run(["evidence", "prove", "--verifier"]).exits(0).stdout;
    assert_eq!(printed, fs::read_to_string(verifier()).unwrap());
    assert!(with("earlier").exits(0).stdout.contains("is yours"));
    assert!(with("later").exits(1).stdout.starts_with("CHANGED: the checkpoint"));
    assert_eq!(with("absent").exits(2).code, 2);
}

#[test]
fn what_cannot_be_proven_is_said() {
    let home = home();
    first_run(&home);
    written(&home, "earlier", &["checkpoint"]);
    let [later, _] = further_runs(&home);
    let prove = |more: &[&str]| {
        let line = ["evidence", "prove"].iter().chain(more).copied();
        home.json(line)
    };
    let done = prove(&[run_id(&later), "--checkpoint", "earlier"]).exits(5);
    assert!(done.stderr.contains("later than the checkpoint"), "{done:?}");
    // The run is later, although the bytes of its plan are not.
    let again = first_run(&home);
    let done = prove(&[run_id(&again), "--checkpoint", "earlier"]).exits(5);
    assert!(done.stderr.contains("later than the checkpoint"), "{done:?}");
    for line in [
        &["00000000-0000-4000-8000-000000000000"][..],
        &["--record", "1000000"],
        &["--record", "0"],
        &[],
        &[run_id(&later), "--record", "1"],
        &[run_id(&later), "--since", "absent"],
    ] {
        let _ = home.run(["evidence", "prove"].iter().chain(line).copied()).exits(5);
    }
    // Of a purged record, only the link is left.
    let step = later["step_results"][0]["execution_id"].as_str().unwrap();
    let number = home.texts("SELECT CAST(row AS TEXT) FROM executions WHERE id = ?1", [step]);
    home.json(["evidence", "purge", "--execution", step, "--reason", "a test", "--yes"]).exits(0);
    let done = prove(&["--record", &number[0]]).exits(5);
    assert!(done.stderr.contains("or it was purged"), "{done:?}");
    // A checkpoint that another evidence has: the key is the same, its name is not.
    let other = home.path().join("other");
    let named = |arguments: &[&str]| {
        let mut command = home.command();
        Done::of(command.args(arguments).arg("--evidence").arg(&other))
    };
    let _ = named(&["run", "space/p.json", "--yes", "--confirm", "skip"]);
    named(&["evidence", "checkpoint", "--out", "foreign"]).exits(0);
    let done = prove(&[run_id(&later), "--since", "foreign"]).exits(5);
    assert!(done.stderr.contains("not signed by"), "{done:?}");
    let report = home.json(["evidence", "checkpoint", "--verify", "foreign"]).exits(6).document();
    assert_eq!(report["ok"], false);
    let foreign = named(&["evidence", "key"]).exits(0).stdout;
    let line = ["evidence", "checkpoint", "--verify", "foreign", "--key", foreign.trim_end()];
    let report = home.json(line).exits(6).document();
    assert!(report["difference"].as_str().unwrap().contains("other evidence"), "{report}");
    // Nothing of it goes into the folders of the program.
    let inside = home.evidence().join("proof.json").display().to_string();
    let done = prove(&[run_id(&later), "--out", &inside]).exits(1);
    assert!(done.stderr.contains("cannot be in the folder"), "{done:?}");
}

/// Changes single bytes. A change counts unless it leaves the records and the text of the checkpoints as they were.
const CHANGE: &str = r#"
import importlib.util, json, random, sys
spec = importlib.util.spec_from_file_location("verify_proof", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
original, changed = open(sys.argv[2], "rb").read(), sys.argv[3]
chance, refused, same = random.Random(7), 0, 0
text = lambda note: note.rpartition("\n\n")[0]
def meaning(data):
    proof = json.loads(data.decode())
    del proof["program"], proof["later"]
    proof["checkpoint"] = text(proof["checkpoint"])
    proof["since"]["checkpoint"] = text(proof["since"]["checkpoint"])
    return proof
while refused < 1000:
    data = bytearray(original)
    at = chance.randrange(len(data))
    way = chance.randrange(3)
    if way == 0: data[at] ^= 1 << chance.randrange(8)
    elif way == 1: del data[at]
    else: data.insert(at, chance.choice(b"0aA+ \n\""))
    open(changed, "wb").write(data)
    sys.stdout, kept = open("/dev/null", "w"), sys.stdout
    code = module.main([changed, "--checkpoint", sys.argv[4]])
    sys.stdout = kept
    if code == 0:
        assert meaning(data) == meaning(original), (at, way)
        same += 1
    else:
        assert code == 1, code
        refused += 1
print(refused, "refused,", same, "without a meaning")
assert same < refused
"#;

#[test]
fn every_change_of_a_proof_is_found() {
    let home = home();
    let result = first_run(&home);
    written(&home, "earlier", &["checkpoint"]);
    further_runs(&home);
    written(&home, "later", &["checkpoint"]);
    let step = result["step_results"][3]["execution_id"].as_str().unwrap();
    let line = ["prove", step, "--since", "earlier", "--checkpoint", "later"];
    let path = written(&home, "proof.json", &line);
    check(&home, &path);
    let mut command = Command::new("python3");
    command.args(["-B", "-c", CHANGE]).arg(verifier()).arg(&path).arg(home.path().join("changed"));
    println!("{}", Done::of(command.arg(home.path().join("later"))).exits(0).stdout);
}

/// Verifies an envelope by the key in a PEM file, then 1,000 changes of it. A change counts unless the bytes that are signed,
/// the signature and its key are as they were. Then reads the statement by the types of in-toto.
const VERIFY: &str = r#"
import json, random, sys
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as Message
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey
original, pem, keyid = open(sys.argv[1], "rb").read(), open(sys.argv[2], "rb").read(), sys.argv[3]
key = SSlibKey.from_crypto(load_pem_public_key(pem), keyid=keyid)
def read(data):
    envelope = Envelope.from_dict(json.loads(data.decode()))
    envelope.verify([key], 1)
    return envelope
whole = read(original)
chance, refused, same = random.Random(7), 0, 0
while refused < 1000:
    data = bytearray(original)
    at = chance.randrange(len(data))
    way = chance.randrange(3)
    if way == 0: data[at] ^= 1 << chance.randrange(8)
    elif way == 1: del data[at]
    else: data.insert(at, chance.choice(b"0aA+ \n\""))
    try:
        envelope = read(bytes(data))
    except Exception:
        refused += 1
        continue
    assert (envelope.pae(), envelope.signatures) == (whole.pae(), whole.signatures), (at, way)
    same += 1
assert same < refused, same
statement = whole.payload.decode()
Statement.copy_from_pb(json_format.Parse(statement, Message())).validate()
if json.loads(statement)["predicateType"].startswith("https://in-toto.io/attestation/test-result/"):
    json_format.Parse(json.dumps(json.loads(statement)["predicate"]), TestResult())
print(statement)
"#;

/// The statement of an envelope that `securesystemslib` verifies and in-toto's own types read.
fn statement(home: &Home, path: &Path) -> Value {
    let document = home.json(["evidence", "key"]).exits(0).document();
    let pem = home.run(["evidence", "key", "--pem"]).exits(0).stdout;
    assert_eq!(document["pem"], pem);
    let pem_path = home.path().join("key.pem");
    fs::write(&pem_path, pem).unwrap();
    let python = installed("COUNTERSIGN_PROOF_PYTHON", "proof-readers/bin/python");
    let mut command = Command::new(python);
    command.args(["-B", "-c", VERIFY]).arg(path).arg(pem_path);
    let done = Done::of(command.arg(document["key_id"].as_str().unwrap())).exits(0);
    serde_json::from_str(&done.stdout).unwrap()
}

fn sha256(bytes: impl AsRef<[u8]>) -> Value {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "sha256": hex })
}

#[test]
fn an_attestation_is_verified_by_others() {
    let home = home();
    let result = first_run(&home);
    let plan = sha256(fs::read(home.file("p.json")).unwrap());
    let path = written(&home, "run.intoto.json", &["attest", run_id(&result)]);
    let statement = statement(&home, &path);
    assert_eq!(complaints("run_attestation", &statement), Vec::<String>::new());
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    // What the run left: the plan is named first. What was skipped or failed changed nothing.
    let made =
        |name: &str| json!({ "name": name, "digest": sha256(fs::read(home.file(name)).unwrap()) });
    let expected = [json!({ "name": "plan:p", "digest": plan }), made("=cmd.txt"), made("b.txt")];
    assert_eq!(statement["subject"], json!(expected));
    let predicate = &statement["predicate"];
    assert_eq!(
        (&predicate["run"]["status"], &predicate["plan"]["digest"]),
        (&json!("failed"), &plan)
    );
    assert_eq!(predicate["approval"]["method"], "command_line_yes");
    let executions = predicate["executions"].as_array().unwrap();
    let steps = result["step_results"].as_array().unwrap();
    assert_eq!(executions.len(), steps.len());
    for (execution, step) in executions.iter().zip(steps) {
        assert_eq!(
            (&execution["id"], &execution["outcome"]),
            (&step["execution_id"], &step["outcome"])
        );
        let sql = "SELECT digest FROM ledger WHERE seq = ?1";
        let link = home.texts(sql, [execution["record"]["number"].as_i64().unwrap()]);
        assert_eq!(execution["record"]["digest"]["sha256"], link[0]);
    }
    let files = predicate["files"].as_array().unwrap();
    assert_eq!(files[0]["path"], "=cmd.txt");
    assert_eq!((&files[0]["before"], &files[0]["after"]), (&Value::Null, &sha256("one\nthree\n")));
    assert!(checkpoint(predicate["checkpoint"].as_str().unwrap(), &key(&home)).is_some());
    assert!(predicate["decisions"].as_array().unwrap().iter().any(|it| it["decision"] == "skip"));

    let printed = home.json(["evidence", "attest", run_id(&result)]).exits(0).document();
    assert_eq!(printed, serde_json::from_slice::<Value>(&fs::read(&path).unwrap()).unwrap());
    let none = "00000000-0000-4000-8000-000000000000";
    assert_eq!(home.json(["evidence", "attest", none]).exits(5).error_code(), "E014");
    let line = ["evidence", "attest", run_id(&result), "--predicate", "test-result"];
    let done = home.json(line).exits(5);
    assert!(done.stderr.contains("no verification"), "{done:?}");
}

#[test]
fn a_verification_is_a_test_result() {
    for (answer, passed, exit) in [("2", true, 0), ("3", false, 1)] {
        let home = cargo_project();
        let test = format!("#[test]\nfn sum() {{\n    assert_eq!(demo::caller(), {answer});\n}}\n");
        fs::create_dir(home.file("tests")).unwrap();
        home.write("tests/sum.rs", test);
        let plan = json!({
            "version": "2026-02-19",
            "goal": "Verify",
            "actions": [{ "type": "verify", "request": { "scope": "full" } }],
        });
        home.write("p.json", plan.to_string());
        let result = home
            .json(["run", "space/p.json", "--yes", "--confirm", "approve"])
            .exits(exit)
            .document();
        let line = ["attest", run_id(&result), "--predicate", "test-result"];
        let statement = statement(&home, &written(&home, "tests.intoto.json", &line));
        assert_eq!(statement["predicateType"], "https://in-toto.io/attestation/test-result/v0.1");
        let plan = sha256(plan.to_string());
        let step = result["step_results"][0]["step_id"].as_str().unwrap();
        let [named, others] =
            if passed { ["passedTests", "failedTests"] } else { ["failedTests", "passedTests"] };
        let word = if passed { "PASSED" } else { "FAILED" };
        assert_eq!(
            statement["predicate"],
            json!({
                "result": word,
                "configuration": [{ "name": "plan", "digest": plan }],
                named: [format!("verify {step}")],
                others: [],
            })
        );
    }
}
