//! The planner `openai-compatible` with the proxy server of LiteLLM, whose model gives scripted answers: a goal becomes a
//! changed and verified crate, after a look and a rejection with words (SPEC §10).

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use countersign::authorization::Method;
use countersign::autonomy::{
    AuthorizationRequest, BoundedLoop, LoopDeps, LoopOrder, LoopSetup, PlanAuthorizer,
    PlanDecision, resolve,
};
use countersign::engine::{AutoApprove, ControlHandle, NoopProgress, SystemClock, WorkspaceChoice};
use countersign::evidence::EvidenceLocation;
use countersign::plan::VerifyScope;
use countersign::risk::{PlannerNeeds, Policy};
use countersign::run::{LookScope, StopCode};
use serde_json::{Value, json};

use crate::harness::home::{Home, PROGRAM};
use crate::harness::scripted_planner::cargo_project;
use crate::harness::sshd::Sshd;

const KEY: &str = "sk-proxy-5b2f0c9e71d84a36";

/// A running proxy server.
struct Proxy {
    child: Child,
    url: String,
    script: PathBuf,
}

impl Proxy {
    /// Starts the server, whose model gives these assistant messages.
    #[expect(clippy::disallowed_methods, reason = "the server is no part of the program")]
    fn start(home: &Home, messages: &[Value]) -> Self {
        let script = home.path().join("script");
        fs::create_dir(&script).unwrap();
        for (number, message) in (1..).zip(messages) {
            fs::write(script.join(format!("{number:03}.json")), message.to_string()).unwrap();
        }
        let program = std::env::var("COUNTERSIGN_LITELLM")
            .expect("packaging/test.sh --long installs LiteLLM and names its program here");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy");
        let mut child = Command::new(program)
            .args(["--config", "config.yaml", "--host", "127.0.0.1", "--port", &port.to_string()])
            .current_dir(folder)
            .env("SCRIPT", &script)
            .env("LITELLM_MASTER_KEY", KEY)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let (mut line, mut all) = (String::new(), String::new());
        while !line.contains("Uvicorn running on") {
            line.clear();
            let read = log.read_line(&mut line).unwrap();
            assert!(read > 0, "the server has ended: {all}");
            all.push_str(&line);
        }
        // The server must not block on a full pipe.
        let rest = move || std::io::copy(&mut log, &mut std::io::sink());
        std::thread::Builder::new().name("log".to_owned()).spawn(rest).unwrap();
        Self { child, url: format!("http://127.0.0.1:{port}/v1"), script }
    }

    /// What the model was sent with its n-th request: the user's message.
    fn sent(&self, number: usize) -> Value {
        let messages = fs::read(self.script.join(format!("seen{number}.json"))).unwrap();
        let messages: Value = serde_json::from_slice(&messages).unwrap();
        serde_json::from_str(messages[1]["content"].as_str().unwrap()).unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "1", "type": "function",
        "function": { "name": name, "arguments": arguments.to_string() } }] })
}

fn replace(new: &str) -> Value {
    json!({ "plan": { "version": "2026-02-19", "goal": "legs are two", "actions": [
        { "type": "mutate_batch", "rationale": "r", "request": { "edits": [
            { "op": "replace", "path": "src/lib.rs", "old": "    3", "new": format!("    {new}") }] } }] } })
}

/// Rejects the first plan with words, and approves the others.
struct Person;

impl PlanAuthorizer for Person {
    fn authorize(&mut self, request: &AuthorizationRequest<'_>) -> PlanDecision {
        let method = Method::Window;
        if request.attempt == 1 {
            let reason = "a bird has two".to_owned();
            return PlanDecision::Reject { method, reason, replan: true };
        }
        PlanDecision::Approve { method, note: "in the test".to_owned() }
    }
}

/// Runs a loop to its end with these messages of the model; `sshd` is the host of the goal.
fn run(stream: bool, tools: bool, messages: &[Value], sshd: Option<&Sshd>) -> (Home, Proxy) {
    let home = Home::new();
    cargo_project(
        &home,
        "pub fn legs() -> u32 {\n    3\n}\n\n#[test]\nfn two() {\n    assert_eq!(legs(), 2);\n}\n",
    );
    let proxy = Proxy::start(&home, messages);
    home.settings(format!("[model]\nname = \"scripted\"\nstream = {stream}\ntools = {tools}\n"));
    let script = home.path().join("planner.sh");
    let config = home.path().join(".config");
    fs::write(
        &script,
        format!(
            "XDG_CONFIG_HOME='{}' COUNTERSIGN_MODEL_URL={} COUNTERSIGN_MODEL=scripted \
             COUNTERSIGN_MODEL_KEY={KEY} exec '{PROGRAM}' planner openai-compatible",
            config.display(),
            proxy.url
        ),
    )
    .unwrap();
    let name = format!("sh '{}'", script.display());
    let mut policy = Policy { ssh_config: sshd.map(Sshd::config), ..Policy::default() };
    policy.planners.insert(name.clone(), PlannerNeeds { network: true, ..PlannerNeeds::default() });
    let order = LoopOrder {
        goal: "legs are two".to_owned(),
        planner: name.clone(),
        planner_timeout: Duration::from_secs(60),
        max_attempts: 2,
        verify: sshd.is_none().then_some(VerifyScope::Full),
        workspace: WorkspaceChoice::chosen(home.path().join("space")),
        class: None,
        looks: LookScope::Workspace,
        target: sshd.map(|_| "loopback".to_owned()),
        plan_only: false,
    };
    let program = resolve(&name, home.path()).unwrap();
    let location = EvidenceLocation::new(home.evidence(), home.path().join("secrets"));
    let setup = LoopSetup { order, program, method: Method::Window, location, policy };
    let deps = LoopDeps {
        clock: Arc::new(SystemClock::default()),
        confirmation: Box::new(AutoApprove),
        progress: Arc::new(NoopProgress),
        control: ControlHandle::default(),
        authorizer: Box::new(Person),
        terminal: None,
        secrets: None,
        passphrase: None,
    };
    let outcome = BoundedLoop::run(&setup, deps).unwrap();
    assert_eq!(outcome.stop_reason.code, StopCode::Completed, "{:#?}", outcome.attempts);
    (home, proxy)
}

#[test]
#[ignore = "needs the proxy server of LiteLLM"]
fn a_goal_becomes_a_verified_crate_with_the_proxy() {
    let look = json!({ "looks": [{ "read": "src/lib.rs" }, { "symbol": "legs" }] });
    let text = |value: &Value| json!({ "role": "assistant", "content": value.to_string() });
    let called = [
        call("look", &look),
        call("submit_plan", &replace("4")),
        call("submit_plan", &replace("2")),
    ];
    let written = [text(&look), text(&replace("4")), text(&replace("2"))];
    for (stream, tools, messages) in [
        (true, true, &called),
        (false, true, &called),
        (true, false, &written),
        (false, false, &written),
    ] {
        let (home, proxy) = run(stream, tools, messages, None);
        let library = fs::read_to_string(home.file("src/lib.rs")).unwrap();
        assert!(library.contains("\n    2\n"), "{library}");
        let second = proxy.sent(2);
        assert!(second["looked"][0]["text"].as_str().unwrap().contains("pub fn legs"));
        assert_eq!(proxy.sent(3)["feedback"][0]["words"], "a bird has two");
    }
}

#[test]
#[ignore = "needs the proxy server of LiteLLM"]
fn a_goal_on_a_host_becomes_commands_with_the_proxy() {
    let sshd = Sshd::start();
    let look = json!({ "looks": [{ "host": "loopback" }] });
    let plan = |legs: u32| {
        json!({ "plan": { "goal": "legs are two", "target": "loopback", "steps": [{
            "command": format!("echo {legs} > legs.txt"),
            "verificationCommand": format!("grep -qx {legs} legs.txt") }] } })
    };
    let messages =
        [call("look", &look), call("submit_plan", &plan(3)), call("submit_plan", &plan(2))];
    let (home, proxy) = run(true, true, &messages, Some(&sshd));
    assert_eq!(fs::read_to_string(sshd.home().join("legs.txt")).unwrap(), "2\n");
    assert!(!home.file("legs.txt").exists());
    let second = proxy.sent(2);
    assert_eq!(second["looked"][0]["rows"]["shell"], "bash");
    assert!(second["host"]["programs"].as_array().unwrap().contains(&json!("grep")));
    assert_eq!(proxy.sent(3)["feedback"][0]["words"], "a bird has two");
}
