//! An agent proposes plans through the MCP server while the window is open. A person authorizes one and rejects the other, and
//! the agent reads both.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::attention::wait_for_title;
use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, sign};

/// The MCP server of an agent, with the folders of the window.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(desktop: &Desktop) -> Self {
        let mut command = desktop.screen.command(env!("CARGO_BIN_EXE_countersign"));
        command.args(["mcp", "--evidence"]).arg(desktop.evidence());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, input, output }
    }

    /// The result of a call.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": countersign::mcp::STATELESS_REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "heron", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        writeln!(self.input, "{request}").expect("the server reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        let mut answer: Value = serde_json::from_str(&line).expect("an answer");
        answer
            .pointer_mut("/result/structuredContent")
            .map_or_else(|| panic!("{line}"), Value::take)
    }

    /// Proposes a plan that creates the file `NAME.txt`. Returns its handle.
    fn propose(&mut self, folder: &Path, name: &str) -> Value {
        let arguments = json!({ "path": format!("{name}.txt"), "contents": "x\n" });
        let steps = json!([{ "step_id": "a", "tool": "file_create", "arguments": arguments }]);
        let plan = json!({ "plan_id": name, "intent": "MUTATE", "title": name, "steps": steps });
        let arguments = json!({ "plan": plan.to_string(), "workspace": folder });
        let proposed = self.call("propose_plan", &arguments);
        json!({ "handle": proposed.get("handle") })
    }

    fn state(&mut self, handle: &Value) -> Option<Value> {
        self.call("plan_status", handle).get("state").cloned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn decided(folder: &Path) -> Outcome {
    let mut desktop = Desktop::start_here(&[])?;
    let mut agent = Server::start(&desktop);
    let (first, second) = (agent.propose(folder, "first"), agent.propose(folder, "second"));
    let waiting = Some(json!("waiting"));
    assert_eq!((&agent.state(&first), &agent.state(&second)), (&waiting, &waiting));

    wait_for_title(&mut desktop, r"\(2\) Countersign: waiting for you")?;
    desktop.key("ctrl+i")?;
    desktop.wait_for_text("From the inbox. Proposed by “heron 1 (MCP)”, as it says itself.")?;
    desktop.wait_for_text("Create first.txt")?;
    desktop.screenshot("agents_1_proposed")?;
    sign(&mut desktop)?;
    desktop.wait_until("the agent sees the outcome", |_| {
        Ok((agent.state(&first) == Some(json!("completed"))).then_some(()))
    })?;
    assert!(folder.join("first.txt").exists());

    desktop.key("ctrl+i")?;
    desktop.wait_for_text("Create second.txt")?;
    desktop.tab_to("Reject…")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Reject this plan?")?;
    desktop.tab_to("Reason (required)")?;
    desktop.type_text("one is enough")?;
    desktop.press("Reject")?;
    desktop.wait_until("the agent sees the reason", |_| {
        Ok((agent.state(&second) == Some(json!("refused"))).then_some(()))
    })?;
    let status = agent.call("plan_status", &second);
    assert_eq!(status.pointer("/decision/reason"), Some(&json!("one is enough")));
    assert!(!folder.join("second.txt").exists());
    Ok(())
}

#[test]
fn agent_reads_what_the_person_decided() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(decided(folder.path()));
}
