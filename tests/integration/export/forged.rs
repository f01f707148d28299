//! Case files that somebody has changed and made sound again: behind a gap in the chain, only the proof binds records.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use super::{case_file, python, run_id, verified, verifier};
use crate::harness::home::{Done, Home};
use crate::harness::read_file;

/// Makes forged case files of a genuine one, each with its manifest, and prints what the verifier says of each.
const FORGE: &str = r#"
import base64, hashlib, json, os, pathlib, shutil, sys, zipfile
sys.path.insert(0, sys.argv[1])
import verify, verify_proof
archive, folder, key = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
canonical = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

def lines(): return [json.loads(line) for line in (folder / "ledger.jsonl").open()]
def link(record, entry=None):
    entry = record["entry"] = entry or record["entry"]
    record["digest"] = verify.link(bytes.fromhex(record["previous"]), entry).hex()
def decisions(change):
    all = json.loads((folder / "decisions.json").read_text())
    (folder / "decisions.json").write_text(json.dumps(sorted(change(all), key=lambda row: row["seq"])))

def nothing(records): return records
def invent(records):  # A decision in the gap before the authorization.
    index = next(at for at, it in enumerate(records) if it["table"] == "authorizations")
    columns = {"id": records[index]["seq"] - 2, "authorization_id": json.loads(records[index]["entry"])["columns"]["id"],
               "decision": "approve", "decided_by": "window", "user_name": "bob", "note": "looks fine", "timestamp": 1}
    record = {"seq": columns["id"], "table": "decisions", "previous": "00" * 32}
    assert columns["id"] > records[index - 1]["seq"]
    link(record, canonical({"columns": columns, "table": "decisions"}))
    decisions(lambda all: all + [{"columns": columns, "seq": columns["id"], "table": "decisions"}])
    return records[:index] + [record] + records[index:]
def change(records):  # The last record before the gap.
    at = next(at for at, it in enumerate(records) if it["table"] == "authorizations")
    before = max(it for it in range(at) if records[it]["table"] == "plans")
    entry = json.loads(records[before]["entry"])
    entry["columns"]["title"] = "Something harmless"
    assert records[before + 1]["seq"] > records[before]["seq"] + 1
    link(records[before], canonical(entry))
    return records
def drop(records):  # A decision.
    gone = next(it for it in records if it["table"] == "decisions")
    decisions(lambda all: [it for it in all if it["seq"] != gone["seq"]])
    return [it for it in records if it["seq"] != gone["seq"]]

def keep(proof, records): return proof
def strip(proof, records): return None
def follow(proof, records):  # The proofs of the records that are left, with the genuine checkpoint.
    left = {it["seq"] for it in records}
    return proof | {"records": [it for it in proof["records"] if it["seq"] in left]}
def own(proof, records):  # A tree that has these records, with the genuine signature.
    size = records[-1]["seq"]
    leaves = [verify_proof.sha256(b"\0", os.urandom(32)) for _ in range(size)]
    for it in records: leaves[it["seq"] - 1] = verify_proof.sha256(b"\0", bytes.fromhex(it["digest"]))
    half = lambda begin, end: begin + (1 << (end - begin - 1).bit_length() - 1)
    def root(begin, end):
        if end - begin == 1: return leaves[begin]
        return verify_proof.node(root(begin, half(begin, end)), root(half(begin, end), end))
    def path(at, begin, end):
        if end - begin == 1: return []
        middle = half(begin, end)
        if at < middle: return path(at, begin, middle) + [root(middle, end)]
        return path(at, middle, end) + [root(begin, middle)]
    text = lambda hash: base64.b64encode(hash).decode()
    note, _, signature = proof["checkpoint"].rpartition("\n\n")
    origin = note.split("\n")[0]
    proven = [{name: it[name] for name in "seq table previous digest entry".split()} for it in records]
    for it in proven: it["inclusion_proof"] = [text(hash) for hash in path(it["seq"] - 1, 0, size)]
    return proof | {"records": proven, "checkpoint": f"{origin}\n{size}\n{text(root(0, size))}\n\n{signature}"}

for forge in (nothing, invent, change, drop):
    for prove in (keep, strip, follow, own):
        shutil.rmtree(folder, ignore_errors=True)
        zipfile.ZipFile(archive).extractall(folder)
        records = forge(lines())
        (folder / "ledger.jsonl").write_text("".join(json.dumps(it) + "\n" for it in records))
        proof = prove(json.loads((folder / "proof.json").read_text()), records)
        if proof: (folder / "proof.json").write_text(json.dumps(proof))
        else: (folder / "proof.json").unlink()
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["members"] = [{"name": it.relative_to(folder).as_posix(), "bytes": it.stat().st_size,
            "sha256": hashlib.sha256(it.read_bytes()).hexdigest()}
            for it in sorted(folder.rglob("*")) if it.is_file() and it.name != "manifest.json"]
        (folder / "manifest.json").write_text(json.dumps(manifest))
        head = manifest["head"]["digest"]
        said = [verify.check(folder, head), verify.check(folder, head, key)]
        said = [f"{'OK' if is_sound else 'CHANGED'}: {it}".replace("OK: PARTLY", "PARTLY") for is_sound, it in said]
        print(json.dumps([forge.__name__, prove.__name__, *said]))
"#;

/// The second run of a plan, whose bytes were recorded with the first one, as a case file; and the key of the evidence.
fn second_run(home: &Home) -> (std::path::PathBuf, String) {
    home.write("a.txt", "a wombat lives here\n");
    home.plan(json!([read_file("look", "a.txt")]));
    let line = ["run", "space/p.json", "--yes"];
    home.json(line).exits(0);
    let result = home.json(line).exits(0).document();
    let case = case_file(home, run_id(&result), "case.zip");
    (case, home.run(["evidence", "key"]).exits(0).stdout.trim_end().to_owned())
}

fn says(path: &Path, more: &[&str]) -> Done {
    let verifier = verifier();
    python([verifier.as_path(), path].into_iter().chain(more.iter().map(Path::new)))
}

#[test]
fn no_forged_record_is_taken_for_a_proven_one() {
    let home = Home::new();
    let (case, key) = second_run(&home);
    let folder = home.path().join("forged");
    let mut command = Command::new("python3");
    command.args(["-B", "-c", FORGE]).arg(verifier().parent().unwrap());
    let lines = Done::of(command.arg(&case).arg(&folder).arg(&key)).exits(0).lines();
    assert_eq!(lines.len(), 16);
    let left_out = |said: &str| -> u32 {
        let count = said.split("between the first and the last, ").nth(1).unwrap();
        count.split(' ').next().unwrap().parse().unwrap()
    };
    let text = |line: &Value, at: usize| line[at].as_str().unwrap().to_owned();
    let genuine = text(&lines[0], 3);
    for line in &lines {
        let (forged, proof) = (text(line, 0), text(line, 1));
        let (with_head, with_key) = (text(line, 2), text(line, 3));
        let begins = |with_head: &str, with_key: &str| (with_head.to_owned(), with_key.to_owned());
        // A genuine head says nothing about what stands before a gap, and the verifier says so.
        let expected = match (forged.as_str(), proof.as_str()) {
            ("nothing", "keep" | "follow") => begins("PARTLY BOUND: ", "OK: "),
            ("drop", "follow") => begins("PARTLY BOUND: ", "OK: "),
            ("invent" | "change" | "drop", "keep") => begins("CHANGED: ", "CHANGED: "),
            (_, "strip") => begins("PARTLY BOUND: ", "CHANGED: it has no proof.json"),
            ("invent", "follow") => begins("CHANGED: ", "CHANGED: "),
            ("change", "follow") => begins("CHANGED: ", "CHANGED: "),
            _ => begins(
                "PARTLY BOUND: ",
                "CHANGED: the signature of the checkpoint is not one of the key",
            ),
        };
        let all = format!("{forged}, {proof}: {with_head} {with_key}");
        assert!(with_head.starts_with(&expected.0) && with_key.starts_with(&expected.1), "{all}");
        if with_head.starts_with("PARTLY") {
            assert!(with_head.contains("before a gap are bound to nothing"), "{all}");
            let more = match forged.as_str() {
                "invent" => -1,
                "drop" => 1,
                _ => 0,
            };
            assert_eq!(
                left_out(&with_head).cast_signed(),
                left_out(&genuine).cast_signed() + more,
                "{all}"
            );
        }
        if with_key.starts_with("OK") {
            assert!(with_key.contains("all of which the key has signed"), "{all}");
            let more = u32::from(forged == "drop");
            assert_eq!(
                left_out(&with_key),
                left_out(&genuine) + more,
                "a number is counted: {all}"
            );
        }
    }
}

#[test]
fn the_key_must_be_that_of_the_evidence() {
    let home = Home::new();
    let (case, key) = second_run(&home);
    let done = says(&case, &["--key", &key]).exits(0);
    assert!(
        done.stdout.starts_with("OK: ") && done.stdout.contains("the key has signed"),
        "{done:?}"
    );
    let (code, said) = verified(&case);
    assert!(code == 0 && said.starts_with("PARTLY BOUND: "), "{said}");
    assert!(said.contains("nothing from outside of this file confirms that link"), "{said}");

    let other = Home::new();
    let (_, foreign) = second_run(&other);
    let done = says(&case, &["--key", &foreign]).exits(1);
    assert!(done.stdout.contains("one of other evidence than the key"), "{done:?}");
    let (name, _) = key.split_once('+').unwrap();
    // Another key of the same name.
    let renamed = "import base64, hashlib, sys; name, key = sys.argv[1:]; key = base64.b64decode(key.split('+', 2)[2]); \
                   id = hashlib.sha256(name.encode() + b'\\n' + key).hexdigest()[:8]; \
                   print(f'{name}+{id}+{base64.b64encode(key).decode()}')";
    let renamed = Done::of(Command::new("python3").args(["-c", renamed, name, &foreign])).exits(0);
    let done = says(&case, &["--key", renamed.stdout.trim_end()]).exits(1);
    assert!(done.stdout.contains("the checkpoint is not signed by the key"), "{done:?}");

    for (path, key) in [(&case, "no key"), (&case, &key[..key.len() - 4]), (&home.database(), &key)]
    {
        let done = says(path, &["--key", key]).exits(2);
        assert!(done.stderr.starts_with("UNUSABLE: "), "{done:?}");
    }
}

/// RFC 8032, section 7.1, the first three tests; and no changed signature, text or key passes.
const VECTORS: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
import verify_proof as v
vectors = [
    ("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
    ("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
]
def passes(public, text, signature):
    try: return v.is_signed(public, text, signature)
    except v.Difference: return False
for public, text, signature in ([bytes.fromhex(it) for it in vector] for vector in vectors):
    assert passes(public, text, signature)
    for bit in range(0, 512, 7):
        flip = lambda data: bytes(it ^ (1 << bit % 8 if at == bit // 8 else 0) for at, it in enumerate(data))
        assert not passes(public, text, flip(signature)), bit
        if bit < 256: assert not passes(flip(public), text, signature), bit
    assert not passes(public, text + b"x", signature) and not passes(public, text, signature[:-1])
    # The same number, with the order of the curve added.
    more = int.from_bytes(signature[32:], "little") + v.ORDER
    assert not passes(public, text, signature[:32] + more.to_bytes(32, "little"))
print("checked")
"#;

#[test]
fn the_verifier_checks_published_signatures() {
    let mut command = Command::new("python3");
    command.args(["-B", "-c", VECTORS]).arg(verifier().parent().unwrap());
    assert_eq!(Done::of(&mut command).exits(0).stdout, "checked\n");
}

/// What a file says is shown without characters that control a terminal.
#[test]
fn verifiers_print_no_control_characters() {
    let home = Home::new();
    let (case, _) = second_run(&home);
    let hostile = "evidence\u{202e}\u{1b}[2K⟨";
    let proof = home.json(["evidence", "prove", "--record", "2"]).exits(0).document();
    let changed = |name: &str, value: Value| {
        let mut proof = proof.clone();
        proof[name] = value;
        home.write("proof.json", proof.to_string())
    };
    let note = proof["checkpoint"].as_str().unwrap();
    let origin = note.split('\n').next().unwrap();
    let path = changed("checkpoint", note.replacen(origin, hostile, 1).into());
    let program = verifier().with_file_name("verify_proof.py");
    let done = python([program.as_path(), &path]).exits(0);
    assert!(done.stdout.contains("evidence⟨U+202E⟩⟨U+001B⟩[2K⟨U+27E8⟩; root"), "{done:?}");
    for later in [json!(-1), json!("\u{1b}[8m"), json!(1.5)] {
        let done = python([program.as_path(), &changed("later", later)]).exits(1);
        assert!(
            done.stdout.starts_with("CHANGED: ") && !done.stdout.contains('\u{1b}'),
            "{done:?}"
        );
    }
    // A name in a case file.
    let script =
        "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'a').writestr('a\\x1b[2K\\u202e', b'')";
    Done::of(Command::new("python3").args(["-c", script]).arg(&case)).exits(0);
    let (code, said) = verified(&case);
    assert!(code == 1 && !said.contains(['\u{1b}', '\u{202e}']), "{said}");
}
