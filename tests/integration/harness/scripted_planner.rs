//! A planner with scripted answers: its n-th call stores the request and gives the n-th answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::action_plan;
use super::home::{Done, Home};

static REQUEST: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = include_str!("../../../assets/schema/planner-request.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
});

/// One answer of the planner.
pub enum Answer {
    /// The planner prints this plan.
    Plan(Value),
    /// The planner runs this shell script, and prints and exits as the script does.
    Script(&'static str),
}

pub struct Scripted {
    pub home: Home,
}

impl Scripted {
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let home = Home::new();
        fs::create_dir(home.path().join("planner")).unwrap();
        for (index, answer) in answers.into_iter().enumerate() {
            let file = home.path().join(format!("planner/answer{}", index + 1));
            match answer {
                Answer::Plan(plan) => fs::write(file, plan.to_string()).unwrap(),
                Answer::Script(script) => fs::write(file.with_extension("sh"), script).unwrap(),
            }
        }
        let scripted = Self { home };
        scripted.settle();
        scripted
    }

    /// Grants the planner write access to its folder, so that it can store the requests.
    fn settle(&self) {
        let write = json!({ "write": [self.folder(), "."] });
        let settings = json!({ "planners": { self.planner(): write } });
        self.home.settings(toml::to_string(&settings).unwrap());
    }

    /// Adds these to the settings of the planner.
    pub fn add_settings(&self, text: &str) {
        let file = self.home.path().join(".config/countersign/settings.toml");
        let own = fs::read_to_string(&file).unwrap();
        self.home.settings(format!("{own}\n{text}"));
    }

    /// Turns walls off, for steps that need more access than walls allow.
    pub fn without_walls(&self) {
        self.home.settings("[policy]\nwalls = 'off'\n");
    }

    /// Runs the loop. Once the file `begun` exists, revokes the authorization class of the loop from another
    /// process and creates the file `revoked`, for which the loop waits.
    pub fn revoking(&self, mut command: assert_cmd::Command, begun: &Path, revoked: &Path) -> Done {
        std::thread::scope(|scope| {
            let running = scope.spawn(move || Done::of(&mut command));
            while !begun.exists() {
                assert!(!running.is_finished(), "it ended before its class was taken back");
                std::thread::yield_now();
            }
            let request = self.request(1);
            let shown = self.home.json(["evidence", "show", request["loop_id"].as_str().unwrap()]);
            let shown = shown.exits(0).stdout;
            let id = shown.split("\"class_id\":\"").nth(1).unwrap().split('"').next().unwrap();
            let _ = self.home.json(["loop", "--revoke-class", id]).exits(0);
            fs::write(revoked, "").unwrap();
            running.join().unwrap()
        })
    }

    /// The folder of the planner's answers and stored requests.
    pub fn folder(&self) -> PathBuf {
        self.home.path().join("planner")
    }

    /// The command of the planner.
    pub fn planner(&self) -> String {
        format!(
            "d='{}'; n=$(($(cat \"$d/n\" 2>/dev/null || echo 0) + 1)); echo $n > \"$d/n\"; \
             cat > \"$d/request$n.part\"; mv \"$d/request$n.part\" \"$d/request$n\"; \
             if [ -f \"$d/answer$n.sh\" ]; then . \"$d/answer$n.sh\"; else cat \"$d/answer$n\"; fi",
            self.folder().display()
        )
    }

    /// The n-th request to the planner, validated against its schema.
    pub fn request(&self, number: usize) -> Value {
        let bytes = fs::read(self.folder().join(format!("request{number}"))).unwrap();
        let request = serde_json::from_slice(&bytes).unwrap();
        let faults: Vec<_> = REQUEST.iter_errors(&request).map(|it| it.to_string()).collect();
        assert_eq!(faults, Vec::<String>::new());
        request
    }

    /// The number of requests that the planner got.
    pub fn request_count(&self) -> usize {
        let number = fs::read_to_string(self.folder().join("n")).unwrap_or_default();
        number.trim().parse().unwrap_or_default()
    }

    /// The arguments of the command `loop`, followed by `more`.
    pub fn words<'a>(&self, more: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let own = ["loop", "--goal", "the kingfisher is blue", "--workspace", "space", "--planner"];
        let own = own.map(str::to_owned).into_iter().chain([self.planner()]);
        own.chain(more.into_iter().map(str::to_owned)).collect()
    }

    /// Runs the loop with `--yes` and these arguments.
    pub fn run<'a>(&self, more: impl IntoIterator<Item = &'a str>) -> Done {
        self.run_as(["--yes"].into_iter().chain(more))
    }

    /// Runs the loop with these arguments only.
    pub fn run_as<'a>(&self, more: impl IntoIterator<Item = &'a str>) -> Done {
        let words = self.words(more);
        self.home.json(words.iter().map(String::as_str))
    }

    /// Starts the loop with `--yes` without waiting for it. `output` creates its stdout and its stderr.
    pub fn start(&self, output: fn() -> Stdio) -> Child {
        let words = self.words(["--yes", "--json"]);
        let mut command = self.home.child(words.iter().map(String::as_str));
        command.stdout(output()).stderr(output()).spawn().unwrap()
    }

    /// Asserts the exit code of a loop, and that the evidence agrees with its document.
    pub fn ends(&self, done: Done, exit: i32) -> Ended {
        let document = done.exits(exit).document();
        assert_in_evidence(&self.home, &document);
        Ended { document }
    }
}

/// The JSON document of a loop that ended.
pub struct Ended {
    pub document: Value,
}

impl Ended {
    pub fn code(&self) -> &str {
        self.document["stop_reason"]["code"].as_str().unwrap()
    }

    pub fn detail(&self) -> &Value {
        &self.document["stop_reason"]["detail"]
    }

    pub fn attempts(&self) -> &Vec<Value> {
        self.document["attempts"].as_array().unwrap()
    }

    /// `kind: status` of each action of an attempt.
    pub fn actions(&self, attempt: usize) -> Vec<String> {
        let actions = self.attempts()[attempt - 1]["actions"].as_array().unwrap();
        let word = |action: &Value, name: &str| action[name].as_str().unwrap().to_owned();
        actions.iter().map(|it| format!("{}: {}", word(it, "kind"), word(it, "status"))).collect()
    }
}

/// Asserts that the evidence contains each attempt, each action and the stop reason of the document.
pub fn assert_in_evidence(home: &Home, document: &Value) {
    let id = document["loop_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    let shown = &shown["loop"];
    assert_eq!(shown["goal"], document["goal"]);
    assert_eq!(shown["stop_reason"], document["stop_reason"]);
    assert_eq!(shown["status"], document["stop_reason"]["code"]);
    let kept = shown["attempts"].as_array().unwrap();
    let attempts = document["attempts"].as_array().unwrap();
    assert_eq!(kept.len(), attempts.len());
    let mut found = 0;
    for (kept, attempt) in kept.iter().zip(attempts) {
        assert_eq!(kept["record"], *attempt);
        assert_eq!(kept["checkpoint"], format!("loop:{id}:{}", attempt["attempt"]));
        let runs = kept["runs"].as_array().unwrap();
        let mut executions = 0;
        for run in runs {
            let of_run = home.json(["evidence", "show", run["run_id"].as_str().unwrap()]).exits(0);
            for execution in of_run.document()["executions"].as_array().unwrap() {
                executions += 1;
                assert_in_context(home, execution["execution_id"].as_str().unwrap(), id, attempt);
            }
        }
        found += executions;
        let ran = |it: &&Value| {
            let summary = it["summary"].as_str().unwrap();
            let began = it["status"] != "skipped" || summary.contains("left it out");
            began && it["error"]["details"] != json!({})
        };
        let actions = attempt["actions"].as_array().unwrap();
        assert_eq!(actions.iter().filter(ran).count(), executions, "{attempt:#}");
        for error in actions.iter().map(|it| &it["error"]).filter(|error| !error.is_null()) {
            if let Some(id) = error["details"]["execution_id"].as_str() {
                let execution = home.json(["evidence", "show", id]).exits(0).document();
                assert_eq!(execution["error_code"], error["details"]["code"]);
                assert_eq!(execution["error_message"], error["message"]);
            }
        }
    }
    // A search by the loop id, and one by words of the goal, finds the same executions.
    for search in [&["--loop", id][..], &["--loop", id, "kingfisher blue"][..]] {
        let words = ["evidence", "search"].into_iter().chain(search.iter().copied());
        assert_eq!(home.json(words).exits(0).lines().len(), found, "{search:?}");
    }
    let report = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!(report["ok"], true);
}

/// Asserts that the record of an execution names its loop and attempt.
fn assert_in_context(home: &Home, execution: &str, loop_id: &str, attempt: &Value) {
    let detail = home.json(["evidence", "show", execution]).exits(0).document();
    let artifacts = detail["artifacts"].as_array().unwrap();
    let context = artifacts.iter().find(|it| it["artifact_type"] == "step_context").unwrap();
    assert_eq!(context["content"]["attempt"], attempt["attempt"]);
    assert_eq!(context["content"]["loop_id"], loop_id);
    let decisions = detail["decisions"].as_array().unwrap();
    assert!(decisions.iter().any(|it| it["note"].as_str().unwrap().contains(loop_id)));
}

pub fn command(command: &str) -> Answer {
    Answer::Plan(json!({"goal": "g", "steps": [{"command": command}]}))
}

pub fn actions(actions: Value) -> Answer {
    Answer::Plan(action_plan(actions))
}

pub fn failure(code: &str, retryable: bool) -> Answer {
    Answer::Plan(json!({
        "version": "2026-02-19",
        "goal": "g",
        "failure": {"code": code, "message": "not today", "retryable": retryable},
    }))
}

/// An authorization class as JSON. It allows commands up to the risk `caution`; `fields` adds or replaces
/// fields.
pub fn class(fields: Value) -> String {
    let mut class = json!({
        "tools": ["shell"],
        "paths": ["."],
        "max_risk": "caution",
        "max_attempts": 2,
        "expires_at": "9999-01-01T00:00:00Z",
    });
    class.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    class.to_string()
}

/// Writes a crate with this library and without dependencies.
pub fn cargo_project(home: &Home, library: &str) {
    home.write(
        "Cargo.toml",
        "[package]\nname = \"heron\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    fs::create_dir_all(home.file("src")).unwrap();
    home.write("src/lib.rs", library);
}
