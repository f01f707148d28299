//! The prompts of `run` on a pseudo-terminal, which `script` provides (SPEC §11).

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};

use serde_json::json;

use crate::harness::home::Home;
use crate::harness::{asking, create_file};

/// A command with a terminal of its own.
pub struct Terminal {
    child: Child,
    keyboard: Option<ChildStdin>,
    seen: String,
}

impl Terminal {
    /// Runs the plan of this home.
    fn run(home: &Home, arguments: &str) -> Self {
        Self::start(home, &format!("run space/p.json {arguments}"))
    }

    /// Starts the program with these arguments, as a shell reads them.
    pub fn start(home: &Home, arguments: &str) -> Self {
        Self::of_width(home, 0, arguments)
    }

    /// As [`start`](Self::start), in a terminal with this many columns; of an unknown width if 0.
    #[expect(clippy::disallowed_methods, reason = "only the standard command can be talked with")]
    pub fn of_width(home: &Home, columns: u16, arguments: &str) -> Self {
        // A shell would be interrupted with the program, and the terminal close before the program's last words.
        let line = format!(
            "stty cols {columns}; exec '{}' {arguments} --evidence '{}'",
            env!("CARGO_BIN_EXE_countersign"),
            home.evidence().display()
        );
        let mut child = std::process::Command::new("script")
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .env("HOME", home.path())
            .env("SHELL", "/bin/sh")
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` of util-linux");
        let keyboard = child.stdin.take();
        Self { child, keyboard, seen: String::new() }
    }

    /// Waits until this text appears after the texts waited for before.
    pub fn until(&mut self, text: &str) {
        self.lines_until(text);
        self.seen.drain(..text.len());
    }

    /// The lines until this text appears, without the one with it.
    pub fn lines_until(&mut self, text: &str) -> Vec<String> {
        let screen = self.child.stdout.as_mut().unwrap();
        let mut piece = [0; 4096];
        while !self.seen.contains(text) {
            let count = screen.read(&mut piece).unwrap();
            assert!(count > 0, "{text:?} never came: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&piece[..count]));
        }
        let end = self.seen.find(text).unwrap();
        self.seen.drain(..end).collect::<String>().lines().map(str::to_owned).collect()
    }

    pub fn type_in(&mut self, text: &str) {
        self.keyboard.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub fn exit_code(mut self) -> Option<i32> {
        let mut rest = Vec::new();
        self.child.stdout.as_mut().unwrap().read_to_end(&mut rest).unwrap();
        drop(self.keyboard.take());
        self.child.wait().unwrap().code()
    }
}

#[test]
fn word_typed_too_early_answers_nothing() {
    let home = Home::new();
    home.plan(json!([
        asking(create_file("one", "one.txt", "first\n")),
        asking(create_file("two", "two.txt", "second\n")),
    ]));
    let mut terminal = Terminal::run(&home, "--yes");
    terminal.until("Execute step 1 of 2: file_create?");
    terminal.until("+ first");
    terminal.until("Type approve, skip or deny, with a reason if you like: ");
    // The second word is typed before the second question appears, so it does not answer it.
    terminal.type_in("approve\napprove\n");
    terminal.until("Execute step 2 of 2: file_create?");
    terminal.until("Type approve, skip or deny, with a reason if you like: ");
    terminal.type_in("a\n");
    terminal.until("Please type one of the three words in full.");
    terminal.until("Type approve, skip or deny, with a reason if you like: ");
    terminal.type_in("deny\n");
    terminal.until("E106");
    assert_eq!(terminal.exit_code(), Some(1));
    assert!(home.file("one.txt").exists() && !home.file("two.txt").exists());

    let found = home.json(["evidence", "search", "--outcome", "denied"]).exits(0).lines();
    let id = found[0]["execution_id"].as_str().unwrap();
    let detail = home.json(["evidence", "show", id]).exits(0).document();
    let decisions = detail["decisions"].as_array().unwrap();
    let denied = decisions.iter().find(|it| it["decision"] == "cancel").unwrap();
    assert!(denied["by"].as_str().unwrap().starts_with("terminal"), "{denied}");
}

#[test]
fn dangerous_step_needs_its_file_name() {
    let home = Home::new();
    std::fs::create_dir(home.file(".git")).unwrap();
    home.plan(
        json!([{"tool": "file_write", "arguments": {"path": ".git/config", "contents": "x"}}]),
    );
    let mut terminal = Terminal::run(&home, "--yes");
    terminal.until("Type approve, skip or deny, with a reason if you like: ");
    terminal.type_in("approve\n");
    terminal.until("Type config to approve it: ");
    terminal.type_in("yes\n");
    terminal.until("nothing is approved");
    terminal.until("Type approve, skip or deny, with a reason if you like: ");
    terminal.type_in("approve\n");
    terminal.until("Type config to approve it: ");
    terminal.type_in("config\n");
    terminal.until("Completed: 1 of 1 steps");
    assert_eq!(terminal.exit_code(), Some(0));
    assert_eq!(std::fs::read_to_string(home.file(".git/config")).unwrap(), "x");
}

#[test]
fn guided_plan_asks_step_by_step() {
    let home = Home::new();
    let steps = ["one", "two", "three"].map(|name| json!({"command": format!("touch {name}.txt")}));
    let plan = json!({ "goal": "Touch them", "mode": "guided", "steps": steps });
    home.write("p.json", plan.to_string());
    let mut terminal = Terminal::run(&home, "--yes");
    let question = "Type run, done (you did it by hand), skip or deny, with a reason if you like: ";
    for (step, word) in [(1, "run\n"), (2, "done\n"), (3, "skip not needed any more\n")] {
        terminal.until(&format!("Step {step} of 3, shell: run it, or do it by hand?"));
        terminal.until(question);
        terminal.type_in(word);
    }
    terminal.until("done_by_hand");
    terminal.until("Step 3: skipped: not needed any more");
    terminal.until("Completed: 3 of 3 steps");
    assert_eq!(terminal.exit_code(), Some(0));
    let made = ["one", "two", "three"].map(|name| home.file(&format!("{name}.txt")).exists());
    assert_eq!(made, [true, false, false]);

    let found = home.json(["evidence", "search", "--outcome", "done_by_hand"]).exits(0).lines();
    assert_eq!(found.len(), 1);
    let id = found[0]["execution_id"].as_str().unwrap();
    let detail = home.json(["evidence", "show", id]).exits(0).document();
    let decisions: Vec<_> = detail["decisions"].as_array().unwrap().iter().collect();
    let by_hand = decisions.iter().find(|it| it["decision"] == "done_by_hand").unwrap();
    assert!(by_hand["by"].as_str().unwrap().starts_with("terminal"), "{by_hand}");

    // The reason is recorded.
    let found = home.json(["evidence", "search", "--outcome", "skipped"]).exits(0).lines();
    let id = found[0]["execution_id"].as_str().unwrap();
    let detail = home.json(["evidence", "show", id]).exits(0).document();
    let decisions: Vec<_> = detail["decisions"].as_array().unwrap().iter().collect();
    let skipped = decisions.iter().find(|it| it["decision"] == "skip").unwrap();
    assert_eq!(skipped["note"], "not needed any more");
}
