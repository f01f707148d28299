//! A window behind others says that it waits, in its title and by a notification of the desktop.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, sign};

/// Waits until the window has this title.
pub(super) fn wait_for_title(desktop: &mut Desktop, title: &str) -> Outcome {
    desktop.wait_until(&format!("the title is \"{title}\""), |desktop| {
        if desktop.screen.session.is_some() {
            let title = title.replace('\\', "");
            let windows = desktop.screen.windows()?;
            return Ok(windows.iter().any(|window| window.title == title).then_some(()));
        }
        let found = desktop.screen.xdotool(&["search", "--name", &format!("^{title}$")]);
        Ok(found.is_ok_and(|found| !found.trim().is_empty()).then_some(()))
    })
}

fn waits_and_ends(folder: &Path) -> Outcome {
    // The first step ends when the test writes into the pipe.
    let gate = folder.join("gate");
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &gate,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    );
    made.expect("a pipe");
    let steps = json!([{ "command": "cat gate" }, { "command": "rm -r old" }]);
    let plan = folder.join("attention.json");
    let text = json!({ "goal": "Wait, then delete", "steps": steps }).to_string();
    std::fs::write(&plan, text).expect("the plan");
    let bus = Bus::start();
    let server = NotificationServer::default();
    let _connection = server.serve(&bus);
    let arguments = plan.display().to_string();
    let mut desktop = Desktop::start_here_on_bus(&[&arguments], &bus.address)?;
    wait_for_title(&mut desktop, "Countersign")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Running step 1 of 2")?;
    desktop.open_other_window()?;
    std::fs::write(&gate, "open\n").expect("the step reads");
    wait_for_title(&mut desktop, r"\(1\) Countersign: waiting for you")?;
    // The notification says nothing about the plan.
    let waits = "Countersign|A run waits for you|";
    server.wait_for(&mut desktop, &[waits])?;
    desktop.activate()?;
    server.wait_for(&mut desktop, &[waits, "close 1"])?;
    desktop.key("ctrl+shift+period")?;
    Ok(())
}

/// A session bus of its own.
pub(super) struct Bus {
    daemon: Child,
    pub(super) address: String,
}

impl Bus {
    pub(super) fn start() -> Self {
        Self::start_in(None)
    }

    /// A bus whose services have their files in this folder.
    #[expect(clippy::disallowed_methods, reason = "starts the bus on which the window notifies")]
    pub(super) fn start_in(folder: Option<&Path>) -> Self {
        let mut daemon = Command::new("dbus-daemon");
        if let Some(folder) = folder {
            daemon.env("XDG_RUNTIME_DIR", folder).env("HOME", folder).env_remove("DISPLAY");
        }
        let mut daemon = daemon
            .args(["--session", "--nofork", "--print-address"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("dbus-daemon is installed");
        let mut address = String::new();
        let stdout = daemon.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut address).expect("its address");
        Self { daemon, address: address.trim().to_owned() }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// A notification server that keeps what it is to show.
#[derive(Clone, Default)]
pub(super) struct NotificationServer(Arc<Mutex<Vec<String>>>);

impl NotificationServer {
    /// Serves it on this bus, as long as the connection lives.
    pub(super) fn serve(&self, bus: &Bus) -> zbus::blocking::Connection {
        zbus::blocking::connection::Builder::address(bus.address.as_str())
            .and_then(|builder| builder.serve_at("/org/freedesktop/Notifications", self.clone()))
            .and_then(|builder| builder.name("org.freedesktop.Notifications"))
            .and_then(zbus::blocking::connection::Builder::build)
            .expect("a notification server")
    }

    /// Waits until these are shown, the first one first.
    pub(super) fn wait_for(&self, desktop: &mut Desktop, shown: &[&str]) -> Outcome {
        desktop.wait_until(&format!("the notifications are {shown:?}"), |_| {
            Ok((*self.0.lock().expect("the list") == shown).then_some(()))
        })
    }
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl NotificationServer {
    #[expect(clippy::too_many_arguments, reason = "the arguments of the specification")]
    fn notify(
        &self,
        app_name: &str,
        _replaces_id: u32,
        _icon: &str,
        summary: &str,
        body: &str,
        _actions: Vec<String>,
        _hints: HashMap<String, zbus::zvariant::OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        self.0.lock().expect("the list").push(format!("{app_name}|{summary}|{body}"));
        1
    }

    fn close_notification(&self, id: u32) {
        self.0.lock().expect("the list").push(format!("close {id}"));
    }
}

#[test]
fn a_window_behind_others_says_that_it_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(waits_and_ends(folder.path()));
}
