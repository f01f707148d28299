//! What a signed run leaves, and that other programs accept it.

use std::path::Path;

use serde_json::Value;

use super::*;
use crate::harness::scripted_planner::{Scripted, command as answer};

#[test]
fn ssh_keygen_accepts_what_a_run_has_signed() {
    let (home, key) = signing_home();
    let result = run(&home).exits(0).document();
    let id = result["run_id"].as_str().unwrap();
    assert_eq!(result.get("not_signed"), None);
    let signers = allowed(&home, &[format!("{ADA} {}", public(&key))]);
    let case = case(&home, id);
    let signed = signed(&case);
    let kinds: Vec<_> = signed.iter().map(|it| it.0.split('-').next().unwrap()).collect();
    assert_eq!(kinds, ["authorization", "run_end"]);

    let schema = Done::of(home.command().args(["schema", "signed_document"])).exits(0).stdout;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    for (name, document, _) in &signed {
        let signature = case.join(format!("signatures/{name}.sig"));
        let signature = signature.to_str().unwrap();
        let line =
            ["-Y", "verify", "-f", &signers, "-I", ADA, "-n", "countersign", "-s", signature];
        let output = program("ssh-keygen", &line, document);
        assert!(output.status.success(), "{name}: {output:?}");
        // For another purpose, it is none.
        let other = ["-Y", "verify", "-f", &signers, "-I", ADA, "-n", "git", "-s", signature];
        assert!(!program("ssh-keygen", &other, document).status.success());
        let document: Value = serde_json::from_slice(document).unwrap();
        let complaints: Vec<_> = schema.iter_errors(&document).map(|it| it.to_string()).collect();
        assert!(complaints.is_empty(), "{document:#}: {complaints:?}");
    }
    let approval: Value = serde_json::from_slice(&signed[0].1).unwrap();
    let record = &approval["record"];
    assert_eq!(record["plan_id"], "p");
    assert_eq!(record["status"], "approved");
    assert_eq!(record["workspace"], home.file("").to_str().unwrap().trim_end_matches('/'));
    assert_eq!(approval["principal"], ADA);

    let (code, document) = verified(&home, id, &signers, &[]);
    assert_eq!((code, document["ok"].as_bool()), (0, Some(true)), "{document:#}");
    assert_eq!(states(&document), [("authorization", "valid"), ("run_end", "valid")]);
    let authorization = record["id"].as_str().unwrap();
    for subject in [authorization, "head"] {
        assert_eq!(verified(&home, subject, &signers, &[]).0, 0, "{subject}");
    }
    let all = ["evidence", "verify-signature", "--all", "--allowed-signers", &signers];
    assert_eq!(states(&home.json(all).exits(0).document()).len(), 3);

    let fingerprint = succeeds("ssh-keygen", &["-l", "-f", key.to_str().unwrap()]);
    let fingerprint = fingerprint.split(' ').nth(1).unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    assert_eq!(shown["signatures"][0]["fingerprint"], fingerprint);
    assert_eq!(shown["signatures"][1]["kind"], "run_end");
    let text = home.run(["evidence", "show", id]).exits(0).stdout;
    assert!(text.contains(&format!("is signed by {ADA} with {fingerprint}")), "{text}");

    for path in [home.path().join("case.zip"), case] {
        let (code, said) = python_says(&path, &["--allowed-signers", &signers]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains(&format!("end of the run by {ADA} with {fingerprint}")), "{said}");
        let nobody = home.path().join("nobody");
        std::fs::write(&nobody, format!("bob {}\n", public(&key))).unwrap();
        let (code, said) = python_says(&path, &["--allowed-signers", nobody.to_str().unwrap()]);
        assert!(code == 1 && said.contains("ssh-keygen refuses it for ada"), "{said}");
    }
}

/// What the verifier in the repository says.
pub(super) fn python_says(path: &Path, more: &[&str]) -> (i32, String) {
    let verifier = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier/verify.py");
    let line = ["-B", verifier.to_str().unwrap(), path.to_str().unwrap()];
    let line: Vec<_> = line.iter().chain(more).copied().collect();
    let output = program("python3", &line, b"");
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), format!("{said}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The verifier makes each document of the records again: a signature that an allowed signer gave to something else does
/// not count, although ssh-keygen accepts it.
#[test]
fn the_verifier_finds_a_genuine_signature_of_another_record() {
    let (home, key) = signing_home();
    let result = run(&home).exits(0).document();
    let case = case(&home, result["run_id"].as_str().unwrap());
    let signers = allowed(&home, &[format!("{ADA} {}", public(&key))]);
    let script = format!(
        "import json, sys; sys.path.insert(0, {:?}); import verify_signatures as v\n\
         rows, digests, evidence = v.read({:?})\n\
         assert len(evidence) == 1\n\
         for seq, row in rows['signatures'].items():\n\
        \x20   assert v.difference(row, seq, rows, digests) is None and v.verify(row, {signers:?}) is None\n\
        \x20   document = json.loads(row['document'])\n\
        \x20   for name in document['record']:\n\
        \x20       changed = json.loads(row['document'])\n\
        \x20       changed['record'][name] = 'wombat' if name != 'id' else document['record']['id']\n\
        \x20       if name == 'id': changed['principal'] = 'eve'\n\
        \x20       text = json.dumps(changed, ensure_ascii=False, separators=(',', ':'), sort_keys=True)\n\
        \x20       assert v.difference(row | {{'document': text}}, seq, rows, digests), name\n\
         print('checked')\n",
        Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier").to_str().unwrap(),
        case.to_str().unwrap(),
    );
    let output = program("python3", &["-B", "-c", &script], b"");
    assert!(output.status.success() && output.stdout == b"checked\n", "{output:?}");
}

#[test]
fn an_agent_signs_with_a_key_that_is_not_here() {
    let (home, key) = signing_home();
    let agent = Agent::start(&home, &key);
    std::fs::remove_file(&key).unwrap();
    settings(&home, &key.with_extension("pub"), &["authorizations"]);
    let line = ["run", "space/p.json", "--yes", "--json", "--evidence"];
    let mut command = home.command();
    command.args(line).arg(home.evidence()).env("SSH_AUTH_SOCK", &agent.socket);
    let done = Done::of(&mut command).exits(0);
    let signers = allowed(&home, &[format!("{ADA} {}", public(&key))]);
    let id = done.document()["run_id"].as_str().unwrap().to_owned();
    let (code, document) = verified(&home, &id, &signers, &[]);
    // Only the authorization was to be signed, and a run has an end, too.
    assert_eq!(code, 6);
    assert_eq!(states(&document), [("authorization", "valid"), ("run_end", "unsigned")]);
    // The end can be signed later, also by somebody else.
    let other = super::key(&home, "other", "");
    let sign = ["evidence", "sign", &id, "--key", other.to_str().unwrap(), "--principal", "bob"];
    let made = home.json(sign).exits(0).document();
    assert_eq!(made["signature"]["principal"], "bob");
    let lines = [format!("{ADA} {}", public(&key)), format!("bob {}", public(&other))];
    let (code, document) = verified(&home, &id, &allowed(&home, &lines), &[]);
    assert_eq!(code, 0, "{document:#}");
}

/// An agent with one key, which ends with this value.
struct Agent {
    socket: PathBuf,
    child: std::process::Child,
}

impl Agent {
    #[expect(clippy::disallowed_methods, reason = "the agent of the system")]
    fn start(home: &Home, key: &Path) -> Self {
        let socket = home.path().join("agent");
        let child = Command::new("ssh-agent")
            .args(["-D", "-a"])
            .arg(&socket)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut agent = Self { socket, child };
        // It prints where it listens once it does.
        let stdout = agent.child.stdout.take().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        let output = Command::new("ssh-add")
            .arg(key)
            .env("SSH_AUTH_SOCK", &agent.socket)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        agent
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What has a secret in it is signed as it is recorded, so that the secret is in no document.
#[test]
fn no_document_has_a_secret() {
    let (home, key) = signing_home();
    let secret = ["ghp", "_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let folder = home.path().join(&secret);
    std::fs::create_dir(&folder).unwrap();
    std::fs::rename(home.file("p.json"), folder.join("p.json")).unwrap();
    std::fs::write(folder.join("a.txt"), "a\n").unwrap();
    let plan = format!("{secret}/p.json");
    let workspace = folder.to_str().unwrap();
    let line = ["run", &plan, "--yes", "--workspace", workspace];
    let result = home.json(line).exits(0).document();
    let documents = home.texts("SELECT document FROM signatures ORDER BY id", ());
    assert!(documents.len() == 3 && documents.iter().all(|it| !it.contains(&secret)));
    assert!(documents[0].contains("[secret:"), "{}", documents[0]);
    let signers = allowed(&home, &[format!("{ADA} {}", public(&key))]);
    let (code, document) = verified(&home, result["run_id"].as_str().unwrap(), &signers, &[]);
    assert_eq!(code, 0, "{document:#}");
}

/// The loop itself has completed, and its result says which end is not signed.
#[test]
fn a_loop_says_whose_end_is_not_signed() {
    let planned = |key: &str| {
        let planner = Scripted::new([answer("echo blue > kingfisher.txt")]);
        let key = planner.home.path().join(key);
        planner.add_settings(&format!(
            "[signatures]\nkey = {:?}\nprincipal = {ADA:?}\nsign = ['run_ends']\n",
            key.to_str().unwrap()
        ));
        planner
    };
    let planner = planned("absent");
    let ended = planner.ends(planner.run([]), 0).document;
    let [unsigned] = ended["not_signed"].as_array().unwrap().as_slice() else {
        panic!("{ended:#}")
    };
    assert_eq!(unsigned["run_id"], ended["attempts"][0]["run_id"]);
    let reason = unsigned["reason"].as_str().unwrap();
    assert!(reason.contains("absent"), "{reason}");

    let planner = planned("absent");
    let words = planner.words(["--yes"]);
    let done = planner.home.run(words.iter().map(String::as_str)).exits(0);
    let said = done.stdout.contains("The end of run ") && done.stdout.contains(" is not signed: ");
    assert!(said, "{done:?}");
    // With the key, the result is as before.
    let planner = planned("id");
    key(&planner.home, "id", "");
    assert_eq!(planner.ends(planner.run([]), 0).document.get("not_signed"), None);
}
