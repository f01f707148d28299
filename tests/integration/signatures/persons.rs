//! The signature of a second person: what is asked for, what comes back, and which signatures do not count.

use super::*;
use crate::harness::{actions, batch, write_file};

pub(super) const BOB: &str = "bob@example.org";
const EVE: &str = "eve@example.org";

/// A home whose settings ask for two persons, with keys of several.
pub(super) struct Team {
    pub(super) home: Home,
    keys: Vec<(&'static str, PathBuf)>,
}

impl Team {
    pub(super) fn new(required: usize) -> Self {
        let home = Home::new();
        home.write("a.txt", "a\n");
        home.plan(json!([
            write_file("change", "a.txt", "b\n"),
            create_file("make", "new.txt", "new\n")
        ]));
        let keys = ["ada", "bob", "carol", "eve"].map(|name| (name, key(&home, name, "")));
        let mut keys: Vec<_> = keys.into();
        // Where a certificate of that key would be.
        keys.push(("ada-cert", home.path().join("ada-cert.pub")));
        let team = Self { home, keys };
        team.settings(required, "");
        team.allow(&[(ADA, "ada", ""), (BOB, "bob", ""), ("carol", "carol", "")]);
        team
    }

    pub(super) fn key(&self, name: &str) -> &Path {
        &self.keys.iter().find(|(known, _)| *known == name).unwrap().1
    }

    pub(super) fn settings(&self, required: usize, more: &str) {
        self.home.settings(format!(
            "[signatures]\nkey = {:?}\nprincipal = {ADA:?}\nsign = ['authorizations']\n\
             required = {required}\nallowed_signers = {:?}\n{more}\n",
            self.key("ada").to_str().unwrap(),
            self.home.path().join("allowed_signers").to_str().unwrap()
        ));
    }

    /// Allows these principals with these keys and options.
    pub(super) fn allow(&self, signers: &[(&str, &str, &str)]) {
        let line = |(who, name, options): &(&str, &str, &str)| {
            format!("{who} {options} {}", public(self.key(name)))
        };
        allowed(&self.home, &signers.iter().map(line).collect::<Vec<_>>());
    }

    /// The signature that this key gives for a text.
    pub(super) fn signature(&self, name: &str, text: &str) -> String {
        let file = self.home.path().join("text");
        std::fs::write(&file, text).unwrap();
        let (key, shown) = (self.key(name).to_str().unwrap(), file.to_str().unwrap());
        succeeds("ssh-keygen", &["-q", "-Y", "sign", "-f", key, "-n", "countersign", shown]);
        let signature = self.home.path().join("text.sig");
        let text = std::fs::read_to_string(&signature).unwrap();
        std::fs::remove_file(signature).unwrap();
        text
    }

    /// Asks for a signature, and returns the path of the request.
    pub(super) fn request(&self) -> String {
        let path = self.home.path().join("request.json").to_str().unwrap().to_owned();
        let line = ["review-request", "space/p.json", "--out", &path, "--force"];
        let _ = std::fs::remove_file(&path);
        let document = self.home.json(line).exits(0).document();
        assert_eq!(document["file"], path);
        path
    }

    /// Shows the request with another value.
    fn review_with(&self, request: &str, genuine: &Value, pointer: &str, value: Value) -> Done {
        let mut document = genuine.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        std::fs::write(request, document.to_string()).unwrap();
        Done::of(self.home.command().args(["review", request]))
    }

    /// Signs the request as this person with this key, on a computer of theirs.
    pub(super) fn sign(&self, request: &str, who: &str, name: &str, more: &[&str]) -> String {
        let out = self.home.path().join(format!("{who}-{name}.sig.json"));
        let out = out.to_str().unwrap().to_owned();
        let _ = std::fs::remove_file(&out);
        let key = self.key(name).to_str().unwrap();
        let line = ["sign", request, "--key", key, "--principal", who, "--out", &out, "--json"];
        let mut command = self.home.command();
        command.args(line).args(more);
        let document = Done::of(&mut command).exits(0).document();
        assert_eq!(document["principal"], who);
        out
    }

    pub(super) fn run(&self, signatures: &[&str]) -> Done {
        let mut line = vec!["run", "space/p.json", "--yes", "--confirm", "approve"];
        signatures.iter().for_each(|file| line.extend(["--signature", file]));
        self.home.json(line)
    }

    /// Asserts that a run with these signatures is refused for this reason.
    fn refuses(&self, signatures: &[&str], said: &str) {
        let done = self.run(signatures);
        nothing_ran(&self.home, &done);
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
}

/// Makes a certificate of a key, by another one.
fn certify(team: &Team, authority: &str, key: &str, principal: &str) {
    let (authority, key) = (team.key(authority).to_str().unwrap(), team.key(key));
    let public = key.with_extension("pub");
    let public = public.to_str().unwrap();
    succeeds("ssh-keygen", &["-q", "-s", authority, "-I", "x", "-n", principal, public]);
}

#[test]
fn a_run_with_a_second_signature_begins() {
    let team = Team::new(2);
    let request = team.request();
    let shown = team.home.command().args(["review", &request, "--json"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["plan"], std::fs::read_to_string(team.home.file("p.json")).unwrap());
    assert_eq!(shown["previews"][1]["changes"][0]["diff"]["lines"][0]["text"], "new", "{shown:#}");
    let text = Done::of(team.home.command().args(["review", &request])).exits(0).stdout;
    let digest = shown["plan_digest"].as_str().unwrap();
    for part in
        ["file_create", "new.txt", "a.txt: sha256:", "\n| +new", "Worst risk  caution", digest]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let bob = team.sign(&request, BOB, "bob", &[]);
    let result = team.run(&[&bob]).exits(0).document();
    assert!(team.home.file("new.txt").exists());
    let kinds = team.home.texts("SELECT kind || ' ' || principal FROM signatures ORDER BY id", ());
    assert_eq!(kinds, [format!("authorization {ADA}"), format!("review {BOB}")]);
    let signers = team.home.path().join("allowed_signers").to_str().unwrap().to_owned();
    let all = ["evidence", "verify-signature", "--all", "--allowed-signers", &signers];
    let document = team.home.json(all).exits(0).document();
    assert_eq!(states(&document), [("authorization", "valid"), ("review", "valid")]);
    // The case file has it, and others check it.
    let run_id = result["run_id"].as_str().unwrap();
    team.home.json(["evidence", "sign", run_id]).exits(0);
    let case = case(&team.home, run_id);
    let verifier = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier/verify.py");
    let said = succeeds(
        "python3",
        &["-B", verifier.to_str().unwrap(), case.to_str().unwrap(), "--allowed-signers", &signers],
    );
    assert!(said.contains(&format!("review by {BOB}")), "{said}");
    let schema = Done::of(team.home.command().args(["schema", "signed_document"])).exits(0).stdout;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    for (name, document, _) in signed(&case) {
        let document: Value = serde_json::from_slice(&document).unwrap();
        let complaints: Vec<_> = schema.iter_errors(&document).map(|it| it.to_string()).collect();
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
    }
    let schema = Done::of(team.home.command().args(["schema", "review_request"])).exits(0).stdout;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    assert!(schema.is_valid(&shown), "{:?}", schema.iter_errors(&shown).next());
    let file = serde_json::from_slice(&std::fs::read(&bob).unwrap()).unwrap();
    fits(&team, "review_signature", &file);
}

/// Asserts that a document fits its schema.
fn fits(team: &Team, name: &str, document: &Value) {
    let schema = Done::of(team.home.command().args(["schema", name])).exits(0).stdout;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let complaints: Vec<_> = schema.iter_errors(document).map(|it| it.to_string()).collect();
    assert!(complaints.is_empty(), "{name}: {complaints:?}: {document:#}");
}

/// Without a file, the documents have what would be in it.
#[test]
fn nothing_that_was_made_is_lost() {
    let team = Team::new(2);
    let made = team.home.json(["review-request", "space/p.json"]).exits(0).document();
    fits(&team, "review_request_made", &made);
    let request = team.home.path().join("r.json");
    std::fs::write(&request, made["text"].as_str().unwrap()).unwrap();
    let key = team.key("bob").to_str().unwrap().to_owned();
    let request = request.to_str().unwrap();
    let line = ["sign", request, "--key", &key, "--principal", BOB, "--json"];
    let signed = Done::of(team.home.command().args(line)).exits(0).document();
    fits(&team, "sign", &signed);
    let bob = team.home.path().join("b.json");
    std::fs::write(&bob, signed["text"].as_str().unwrap()).unwrap();
    team.run(&[bob.to_str().unwrap()]).exits(0);
}

/// Looked at and signed are the same file.
#[test]
fn a_request_is_signed_only_with_its_digest() {
    let team = Team::new(2);
    let request = team.request();
    let text = Done::of(team.home.command().args(["review", &request])).exits(0).stdout;
    let digest = text.split_once("Digest of it").unwrap().1.split_whitespace().next().unwrap();
    team.sign(&request, BOB, "bob", &["--digest", digest]);
    let changed = std::fs::read_to_string(&request).unwrap().replace("automatic", "guided");
    std::fs::write(&request, changed).unwrap();
    let key = team.key("bob").to_str().unwrap();
    let mut command = team.home.command();
    command.args(["sign", &request, "--key", key, "--principal", BOB, "--digest", digest]);
    let done = Done::of(&mut command).exits(5);
    assert!(done.stderr.contains("has the digest"), "{done:?}");
}

/// What is shown is what is signed, and no step counts as less dangerous than it is here.
#[test]
fn a_request_that_makes_a_plan_look_harmless_is_seen_through() {
    let team = Team::new(2);
    team.home
        .write("p.json", json!({"goal": "g", "steps": [{"command": "rm -rf sub"}]}).to_string());
    let request = team.request();
    let genuine: Value = serde_json::from_slice(&std::fs::read(&request).unwrap()).unwrap();
    let changed = |pointer, value| team.review_with(&request, &genuine, pointer, value);
    let shown = changed("/review/risks/0/level", json!("safe")).exits(0).stdout;
    assert!(shown.contains("  1  dangerous"), "{shown}");
    assert!(shown.contains("rates these steps as less dangerous than this one: 1"), "{shown}");
    for (pointer, value) in [
        ("/review/walls/steps/0/walls/network", json!(true)),
        ("/review/binding/walls/0/open", json!(true)),
        ("/review/workspace", json!("/elsewhere")),
        ("/review/risks", json!([])),
        ("/previews", json!([])),
        ("/plan", json!("{}")),
        ("/format", json!("countersign/review-request/v9")),
    ] {
        let done = changed(pointer, value).exits(5);
        assert!(done.stderr.contains("is no request for a signature"), "{pointer}: {done:?}");
    }
    // A plan that nobody could approve.
    let blocked = json!({"goal": "g", "steps": [{"command": "rm -rf /"}]}).to_string();
    let mut document = genuine.clone();
    document["plan_digest"] = json!(countersign::plan::Digest::of(blocked.as_bytes()).to_string());
    document["plan"] = json!(blocked);
    std::fs::write(&request, document.to_string()).unwrap();
    let key = team.key("bob").to_str().unwrap();
    let mut command = team.home.command();
    let done =
        Done::of(command.args(["sign", &request, "--key", key, "--principal", BOB])).exits(2);
    assert!(done.stderr.contains("E017"), "{done:?}");
}

/// The commands of the workspace that are shown are those that would run.
#[test]
fn a_request_cannot_show_other_commands_of_the_workspace() {
    let team = Team::new(2);
    team.home.write("countersign.toml", "[verify.local]\ncommand = \"rm -rf build\"\n");
    team.home.write("p.json", actions([("verify", json!({}))]).to_string());
    let check = team.home.json(["check", "space/p.json"]).document();
    let digest = check["workspace_commands"]["digest"].as_str().unwrap();
    let line = ["run", "space/p.json", "--yes", "--trust-commands", digest];
    team.home.json(line).exits(3);
    let request = team.request();
    let genuine: Value = serde_json::from_slice(&std::fs::read(&request).unwrap()).unwrap();
    let changed = |pointer, value| team.review_with(&request, &genuine, pointer, value);
    let shown = changed("/review/risks/0/level", json!("safe")).exits(0).stdout;
    assert!(shown.contains("verify.local (dangerous): rm -rf build"), "{shown}");
    assert!(shown.contains("  1  dangerous"), "{shown}");
    for (pointer, value) in [
        ("/review/workspace_commands/commands/0/command", json!("make check")),
        ("/review/workspace_commands/commands", json!([])),
        ("/commands_file", json!("[verify.local]\ncommand = \"make check\"\n")),
        ("/review/binding/inputs/countersign.toml", json!({"state": "absent"})),
    ] {
        let done = changed(pointer, value).exits(5);
        assert!(done.stderr.contains("than its approval covers"), "{pointer}: {done:?}");
    }
    let shown = changed("/review/workspace_commands", Value::Null).exits(0).stdout;
    assert!(shown.contains("which the request does not show"), "{shown}");
}

#[test]
fn a_plan_asks_for_signatures_itself() {
    for plan in [
        json!({"plan_id": "p", "intent": "MUTATE", "steps": [create_file("make", "new.txt", "new\n")]}),
        json!({"goal": "g", "steps": [{"command": "echo new > new.txt"}]}),
        batch(json!([{"op": "create", "path": "new.txt", "contents": "new\n"}])),
    ] {
        let team = Team::new(1);
        let with = |persons: usize| {
            let mut plan = plan.clone();
            plan["signatures_required"] = json!(persons);
            team.home.write("p.json", plan.to_string());
        };
        with(2);
        let said = team.home.run(["check", "space/p.json"]).exits(0).stdout;
        assert!(said.contains("needs the signatures of 2 persons"), "{said}");
        team.refuses(&[], "needs the signatures of 2 persons");
        let bob = team.sign(&team.request(), BOB, "bob", &[]);
        // The settings alone say who counts.
        team.home.settings("");
        let done = team.run(&[]).exits(3);
        assert!(done.stdout.contains("do not say who may sign"), "{done:?}");
        team.settings(1, "");
        team.run(&[&bob]).exits(0);
        with(1);
        std::fs::remove_file(team.home.file("new.txt")).unwrap();
        team.run(&[]).exits(0);
        // And it cannot ask for fewer than they do.
        team.settings(2, "");
        std::fs::remove_file(team.home.file("new.txt")).unwrap();
        let done = team.run(&[]).exits(3);
        assert!(done.stdout.contains("needs the signatures of 2 persons"), "{done:?}");
    }
}

/// An interrupted or bad run can be taken back also where other persons must sign.
#[test]
fn a_follow_up_has_a_request_of_its_own() {
    let team = Team::new(2);
    let bob = team.sign(&team.request(), BOB, "bob", &[]);
    let result = team.run(&[&bob]).exits(0).document();
    let id = result["run_id"].as_str().unwrap();
    let path = team.home.path().join("back.json").to_str().unwrap().to_owned();
    let line = ["review-request", id, "--follow-up", "revert", "--out", &path];
    team.home.json(line).exits(0);
    let bob = team.sign(&path, BOB, "bob", &[]);
    let line = ["revert", id, "--yes", "--confirm", "approve", "--signature", &bob];
    team.home.json(line).exits(0);
    assert!(!team.home.file("new.txt").exists());
}

/// Answers come back to a folder, with others in it.
#[test]
fn answers_are_found_in_their_folder() {
    let team = Team::new(2);
    let folder = team.home.path().join("answers");
    std::fs::create_dir(&folder).unwrap();
    team.settings(2, &format!("folder = {:?}", folder.to_str().unwrap()));
    team.refuses(&[], "0 of the 1 others");
    std::fs::write(folder.join("a note.txt"), "hello").unwrap();
    let request = team.request();
    let refused = team.sign(&request, "carol", "carol", &["--refuse", "no"]);
    std::fs::rename(refused, folder.join("carol.json")).unwrap();
    let forged = team.sign(&request, BOB, "eve", &[]);
    std::fs::rename(forged, folder.join("eve.json")).unwrap();
    team.refuses(&[], "0 of the 1 others");
    let bob = team.sign(&request, BOB, "bob", &[]);
    std::fs::copy(&bob, folder.join("bob.json")).unwrap();
    // He thinks better of it, and then better of that.
    let refused = team.sign(&request, BOB, "bob", &["--refuse", "rather not"]);
    std::fs::rename(refused, folder.join("a refusal.json")).unwrap();
    team.refuses(&[], "0 of the 1 others");
    let bob = team.sign(&request, BOB, "bob", &[]);
    std::fs::rename(bob, folder.join("bob again.json")).unwrap();
    let done = team.run(&[]).exits(0);
    assert!(
        done.stderr.contains("carol.json does not count: carol refuses the plan: no"),
        "{done:?}"
    );
    assert!(done.stderr.contains("eve.json does not count: wrong key"), "{done:?}");
}

/// What is put into the inbox is listed for what it is, and is not proposed as a plan.
#[test]
fn the_inbox_names_requests_and_answers() {
    let team = Team::new(2);
    let request = team.request();
    let bob = team.sign(&request, BOB, "bob", &["--refuse", "no"]);
    team.home.json(["inbox", "list"]).exits(0);
    let inbox = team.home.path().join(".local/share/countersign/inbox");
    std::fs::copy(&request, inbox.join("r.json")).unwrap();
    std::fs::copy(&bob, inbox.join("b.json")).unwrap();
    let document = team.home.json(["inbox", "list"]).exits(0).document();
    fits(&team, "inbox_list", &document);
    let named = |entry: &Value| {
        let plan = &entry["plan"];
        (plan["format"].as_str().unwrap().to_owned(), plan["title"].as_str().unwrap().to_owned())
    };
    let mut named: Vec<_> = document["entries"].as_array().unwrap().iter().map(named).collect();
    named.sort();
    let (of_request, of_answer) = (&named[0], &named[1]);
    assert_eq!(of_request.0, "review_request");
    assert!(of_request.1.starts_with("Sign: "), "{named:?}");
    assert_eq!(*of_answer, ("review_signature".to_owned(), format!("{BOB} refuses a plan")));
    let done = team.home.json(["propose", &bob]).exits(2);
    assert!(done.stdout.contains("are no plans"), "{done:?}");
}

/// A list that the plan or anybody could have written says nothing, and a pipe is no list.
#[test]
fn a_list_that_others_can_write_counts_for_nobody() {
    let team = Team::new(2);
    let bob = team.sign(&team.request(), BOB, "bob", &[]);
    let list = team.home.path().join("allowed_signers");
    let mode = |mode: u32| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&list, mode).unwrap();
    };
    mode(0o666);
    team.refuses(&[&bob], "every user of this computer can write");
    mode(0o600);
    let inside = team.home.file("signers");
    std::fs::rename(&list, &inside).unwrap();
    std::os::unix::fs::symlink(&inside, &list).unwrap();
    team.refuses(&[&bob], "which the plan can write");
    // A link in the workspace that leads out of it, which the plan could replace.
    let real = team.home.path().join("real");
    std::fs::rename(&inside, &real).unwrap();
    std::os::unix::fs::symlink(&real, &inside).unwrap();
    team.refuses(&[&bob], "which the plan can write");
    // Another name of the list.
    std::fs::remove_file(&list).unwrap();
    std::fs::remove_file(&inside).unwrap();
    std::fs::hard_link(&real, &inside).unwrap();
    std::os::unix::fs::symlink(&real, &list).unwrap();
    team.refuses(&[&bob], "has another name");
    std::fs::remove_file(&real).unwrap();
    std::fs::remove_file(&list).unwrap();
    succeeds("mkfifo", &[list.to_str().unwrap()]);
    team.refuses(&[&bob], "no regular file");
    std::fs::remove_file(&list).unwrap();
    std::fs::rename(&inside, &list).unwrap();
    team.run(&[&bob]).exits(0);
}

#[test]
fn three_persons_are_three_keys() {
    let team = Team::new(3);
    let request = team.request();
    let bob = team.sign(&request, BOB, "bob", &[]);
    team.refuses(&[&bob], "1 of the 2 others");
    let carol = team.sign(&request, "carol", "carol", &[]);
    team.run(&[&bob, &carol]).exits(0);
}

#[test]
fn what_does_not_count_runs_nothing() {
    let team = Team::new(2);
    team.refuses(&[], "0 of the 1 others were given");
    let request = team.request();
    // Forged: the words of somebody else over another document, and a name in it that did not sign.
    let bob = team.sign(&request, BOB, "bob", &[]);
    let text = std::fs::read_to_string(&bob).unwrap();
    let forged = team.home.path().join("forged.json");
    std::fs::write(&forged, text.replace(BOB, "carol")).unwrap();
    team.refuses(&[forged.to_str().unwrap()], "bytes differ");
    std::fs::write(&forged, text.replace("U1NIU0lH", "U1NIU0lI")).unwrap();
    let done = team.run(&[forged.to_str().unwrap()]).exits(5);
    assert!(done.stdout.contains("no signature of ssh-keygen"), "{done:?}");
    // Foreign.
    let eve = team.sign(&request, EVE, "eve", &[]);
    team.refuses(&[&eve], "not allowed: ");
    let eve = team.sign(&request, BOB, "eve", &[]);
    team.refuses(&[&eve], "wrong key: ");
    // Also beside one that would do.
    team.refuses(&[&bob, &eve], "wrong key: ");
    // Refused.
    let refused = team.sign(&request, BOB, "bob", &["--refuse", "not on a Friday"]);
    team.refuses(&[&refused], "refuses the plan: not on a Friday");
    // Words that nobody has signed are nobody's.
    let text = std::fs::read_to_string(&refused).unwrap();
    std::fs::write(&forged, text.replace("not on a Friday", "never")).unwrap();
    team.refuses(&[forged.to_str().unwrap()], "bytes differ");
    // The same person twice, as two names and as one.
    let bob = team.sign(&request, BOB, "bob", &[]);
    team.refuses(&[&bob, &bob], "again");
    team.allow(&[(ADA, "ada", ""), (BOB, "bob", ""), ("carol", "bob", ""), ("zoe", "ada", "")]);
    let carol = team.sign(&request, "carol", "bob", &[]);
    team.refuses(&[&bob, &carol], "again");
    // The person who authorizes, as one name and as two.
    let ada = team.sign(&request, ADA, "ada", &[]);
    team.refuses(&[&ada], "counts once");
    let zoe = team.sign(&request, "zoe", "ada", &[]);
    team.refuses(&[&zoe], "counts once");
    // Two names and two keys of each, joined by the list.
    let both = format!("{ADA},zoe");
    team.allow(&[(&both, "ada", ""), (&both, "eve", "")]);
    let zoe = team.sign(&request, "zoe", "eve", &[]);
    team.refuses(&[&zoe], "counts once");
    team.allow(&[(ADA, "ada", ""), (ADA, "eve", ""), ("zoe", "eve", "")]);
    team.refuses(&[&zoe], "counts once");
    // A pattern says of nobody who it is.
    team.allow(&[(ADA, "ada", ""), ("*", "eve", "")]);
    team.refuses(&[&zoe], "no line with exactly the name zoe");
    // A certificate of one's own key.
    certify(&team, "carol", "ada", "zoe");
    team.allow(&[(ADA, "ada", ""), ("*", "carol", "cert-authority")]);
    let zoe = team.sign(&request, "zoe", "ada-cert", &[]);
    team.refuses(&[&zoe], "no line with exactly the name zoe");
    team.allow(&[(BOB, "bob", "")]);
    team.refuses(&[&bob], "your own signature: not allowed");
}

#[test]
fn a_key_that_does_not_count_any_more_runs_nothing() {
    let team = Team::new(2);
    let bob = team.sign(&team.request(), BOB, "bob", &[]);
    team.allow(&[(ADA, "ada", ""), (BOB, "bob", "valid-before=\"20200101\"")]);
    team.refuses(&[&bob], "expired: ");
    team.allow(&[(ADA, "ada", ""), (BOB, "bob", "namespaces=\"git\"")]);
    team.refuses(&[&bob], "not allowed: ");
    team.allow(&[(ADA, "ada", ""), (BOB, "bob", "")]);
    let revoked = team.home.path().join("revoked");
    std::fs::copy(team.key("bob").with_extension("pub"), &revoked).unwrap();
    team.settings(2, &format!("revoked_keys = {:?}", revoked.to_str().unwrap()));
    team.refuses(&[&bob], "revoked: ");
    team.settings(2, "");
    team.run(&[&bob]).exits(0);
}

#[test]
fn a_signature_of_something_else_runs_nothing() {
    let team = Team::new(2);
    let bob = team.sign(&team.request(), BOB, "bob", &[]);
    // A covered file, the bytes of the plan, the workspace.
    team.home.write("a.txt", "other\n");
    team.refuses(&[&bob], "a.txt was sha256:");
    team.home.write("a.txt", "a\n");
    let plan = std::fs::read_to_string(team.home.file("p.json")).unwrap();
    team.home.write("p.json", format!("{plan} "));
    team.refuses(&[&bob], "plan bytes was sha256:");
    team.home.write("p.json", &plan);
    let line = ["run", "space/p.json", "--yes", "--ask-every-step", "--signature", &bob];
    let done = team.home.json(line);
    nothing_ran(&team.home, &done);
    // Other evidence.
    let other = Team::new(2);
    let foreign = other.sign(&other.request(), BOB, "bob", &[]);
    team.allow(&[(ADA, "ada", ""), (BOB, "bob", "")]);
    team.refuses(&[&foreign], "given for other evidence");
    team.run(&[&bob]).exits(0);
}

/// A plan that changes nothing covers the same each time, and its signature counts once all the same.
#[test]
fn a_signature_counts_for_one_run() {
    let team = Team::new(2);
    team.home.plan(json!([read_file("look", "a.txt")]));
    let bob = team.sign(&team.request(), BOB, "bob", &[]);
    team.run(&[&bob]).exits(0);
    let done = team.run(&[&bob]).exits(3);
    assert!(done.stdout.contains("was used by authorization"), "{done:?}");
    assert_eq!(team.home.texts("SELECT count(*) || '' FROM runs", ()), ["1"]);
    let again = team.sign(&team.request(), BOB, "bob", &[]);
    team.run(&[&again]).exits(0);
}

/// A restore brings back evidence that does not know of the run, but the signature was used.
#[test]
fn a_signature_counts_for_one_run_also_after_a_restore() {
    let team = Team::new(2);
    team.home.plan(json!([read_file("look", "a.txt")]));
    let bob = team.sign(&team.request(), BOB, "bob", &[]);
    let unused = team.sign(&team.request(), "carol", "carol", &[]);
    team.home.json(["evidence", "sign", "head"]).exits(0);
    for file in ["early.db", "late.db"] {
        let file = team.home.path().join(file);
        team.home.json(["evidence", "backup", file.to_str().unwrap()]).exits(0);
    }
    team.run(&[&bob]).exits(0);
    // Also after a second restore, from evidence that knows only that it was used.
    for file in ["late.db", "early.db"] {
        let file = team.home.path().join(file);
        let line = ["evidence", "restore", file.to_str().unwrap(), "--reason", "the disk failed"];
        team.home.json(line).exits(0);
        let done = team.run(&[&bob]).exits(3);
        assert!(done.stdout.contains("evidence before it was restored"), "{done:?}");
    }
    assert!(team.home.json(["evidence", "verify"]).exits(0).document()["ok"].as_bool().unwrap());
    team.run(&[&unused]).exits(0);
}

/// Other ways to begin a run need the signatures, too.
#[test]
fn a_follow_up_and_a_loop_need_them_too() {
    let team = Team::new(2);
    let bob = team.sign(&team.request(), BOB, "bob", &[]);
    let result = team.run(&[&bob]).exits(0).document();
    let id = result["run_id"].as_str().unwrap();
    let done = team.home.json(["revert", id, "--yes"]).exits(3);
    assert!(done.stdout.contains("0 of the 1 others"), "{done:?}");
    assert!(team.home.file("new.txt").exists());
    // A signature that no setting asks for.
    let key = team.key("ada").to_str().unwrap();
    team.home.settings(format!(
        "[signatures]\nkey = {key:?}\nprincipal = {ADA:?}\nsign = ['authorizations']\n"
    ));
    let done = team.run(&[&bob]).exits(3);
    assert!(done.stdout.contains("name no list of persons"), "{done:?}");
}
