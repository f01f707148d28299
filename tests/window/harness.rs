//! The real program on a display of its own, driven from outside.
//!
//! [`Desktop`] owns a virtual X server, a window manager and the program, and ends all of them when it
//! is dropped. Input goes through the X server, by `xdotool`, as a person's would; the inspection
//! socket is only read, to learn where a control of a given name is.
//!
//! Used by the window tests and, for its pictures, by the tour of `packaging/run.sh`. Absent on
//! purpose: fixed positions, and anything that reaches into the program.

#![expect(
    clippy::disallowed_methods,
    reason = "starts programs and waits for them, which is what it is for"
)]

use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use egui_inspection::protocol::{read_handshake, read_message, write_message};
use egui_inspection::{INSPECTION_ENV_VAR, Request, Response};

use super::tree::Tree;

/// How long anything may take before it counts as not happening. Software drawing on a machine that
/// is busy with other tests is slow; nothing waits longer than it has to.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Between two looks at something outside this process.
const LOOK_AGAIN: Duration = Duration::from_millis(40);

/// The size of the screen, and of the window that fills it, in pixels.
pub const SCREEN: (u32, u32) = (1280, 800);

/// What goes wrong when driving the window; the tour prints it, a test panics with it.
#[derive(Debug)]
pub struct Trouble(pub String);

impl Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Trouble {}

/// The result of everything here.
pub type Outcome<T = ()> = Result<T, Trouble>;

fn trouble<T>(what: impl Into<String>) -> Outcome<T> {
    Err(Trouble(what.into()))
}

/// A virtual display with the program on it.
#[must_use = "dropping it ends the program"]
pub struct Desktop {
    display: String,
    /// Started first to last, ended last to first.
    children: Vec<(String, Child)>,
    inspection: Option<TcpStream>,
    window: String,
    pictures: PathBuf,
    home: tempfile::TempDir,
}

impl Desktop {
    /// Starts a display, a window manager and `program` with these arguments, and waits for its window.
    ///
    /// The program gets a home folder of its own, `--evidence` in [`Self::evidence`], and no session
    /// bus. Pictures go to `pictures`.
    ///
    /// # Errors
    /// One line that names the program that is missing, or says what did not start in time.
    pub fn start(program: &Path, arguments: &[&str], pictures: &Path) -> Outcome<Self> {
        let missing: Vec<&str> = ["Xvfb", "openbox", "xdotool", "import"]
            .into_iter()
            .filter(|name| !is_installed(name))
            .collect();
        if !missing.is_empty() {
            return trouble(format!(
                "the window cannot be driven without {}; `sh packaging/test.sh` installs what is missing",
                missing.join(", ")
            ));
        }
        let home = tempfile::tempdir().map_err(|e| Trouble(format!("no temporary folder: {e}")))?;
        std::fs::create_dir_all(pictures)
            .map_err(|e| Trouble(format!("cannot create {}: {e}", pictures.display())))?;
        let mut desktop = Self {
            display: String::new(),
            children: Vec::new(),
            inspection: None,
            window: String::new(),
            pictures: pictures.to_owned(),
            home,
        };
        desktop.start_display()?;
        desktop.start_program(program, arguments)?;
        Ok(desktop)
    }

    fn start_display(&mut self) -> Outcome {
        let size = format!("{}x{}x24", SCREEN.0, SCREEN.1);
        // `-displayfd 1` lets the server choose a free number and print it once it takes clients.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &size, "-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| Trouble(format!("Xvfb did not start: {e}")))?;
        let stdout = server.stdout.take();
        self.children.push(("Xvfb".to_owned(), server));
        let mut number = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout)
                .read_line(&mut number)
                .map_err(|e| Trouble(format!("Xvfb did not name its display: {e}")))?;
        }
        if number.trim().is_empty() {
            return trouble("Xvfb ended before it had a display");
        }
        self.display = format!(":{}", number.trim());
        let manager = self.command("openbox").spawn();
        let manager = manager.map_err(|e| Trouble(format!("openbox did not start: {e}")))?;
        self.children.push(("openbox".to_owned(), manager));
        self.wait_until("the window manager is there", |desktop| {
            // The manager owns the desktop once it has announced what it supports.
            Ok(desktop.xdotool(&["get_num_desktops"]).is_ok().then_some(()))
        })
    }

    fn start_program(&mut self, program: &Path, arguments: &[&str]) -> Outcome {
        let address = free_address()?;
        let evidence = self.evidence();
        let child = self
            .command(program)
            .args(arguments)
            .arg("--evidence")
            .arg(evidence)
            .env(INSPECTION_ENV_VAR, &address)
            .spawn()
            .map_err(|e| Trouble(format!("{} did not start: {e}", program.display())))?;
        let pid = child.id().to_string();
        self.children.push((program.display().to_string(), child));
        self.window = self.wait_until("the program shows its window", |desktop| {
            desktop.alive()?;
            let found = desktop.xdotool(&["search", "--onlyvisible", "--pid", &pid]);
            Ok(found.ok().and_then(|ids| ids.lines().last().map(str::to_owned)))
        })?;
        self.inspection =
            Some(self.wait_until("the program tells where its controls are", |_| {
                Ok(TcpStream::connect(&address).ok())
            })?);
        if let Some(stream) = &mut self.inspection {
            stream
                .set_read_timeout(Some(PATIENCE))
                .and_then(|()| read_handshake(stream).map(|_| ()))
                .map_err(|e| Trouble(format!("the inspection socket does not answer: {e}")))?;
        }
        let window = self.window.clone();
        let (width, height) = (SCREEN.0.to_string(), SCREEN.1.to_string());
        self.xdotool(&["windowactivate", "--sync", &window])?;
        self.xdotool(&["windowsize", &window, &width, &height])?;
        self.wait_until("there is something in the window", |desktop| {
            Ok((!desktop.tree()?.controls.is_empty()).then_some(()))
        })
    }

    /// A command that sees only this display and this home.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let home = self.home.path();
        let mut command = Command::new(program);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .env("DISPLAY", &self.display)
            .env("HOME", home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("GTK_A11Y", "none")
            .env("NO_AT_BRIDGE", "1")
            .env("LC_ALL", "C.UTF-8")
            // With a session bus the file picker could be one of the machine's own desktop.
            .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("XDG_RUNTIME_DIR");
        command
    }

    /// The evidence folder of the program.
    #[must_use]
    pub fn evidence(&self) -> PathBuf {
        self.home.path().join("evidence")
    }

    /// Moves the mouse to the middle of the control with this accessible name and presses the first
    /// button, once it is there, enabled and has stopped moving.
    ///
    /// # Errors
    /// When that does not happen in time; a picture is kept.
    pub fn click(&mut self, name: &str) -> Outcome {
        let mut before = None;
        let (x, y) = self.wait_until(&format!("\"{name}\" can be clicked"), |desktop| {
            let tree = desktop.tree()?;
            let found = tree.control(name).filter(|control| !control.disabled);
            let place = found.map(|control| control.middle(tree.pixels_per_point));
            let rests = place.is_some() && place == before;
            before = place;
            Ok(place.filter(|_| rests))
        })?;
        let window = self.window.clone();
        let (x, y) = (x.to_string(), y.to_string());
        self.xdotool(&["mousemove", "--sync", "--window", &window, &x, &y])?;
        self.xdotool(&["click", "1"])?;
        Ok(())
    }

    /// Types text into whatever has the keyboard. Only ASCII: other characters need another keyboard
    /// layout for a moment, and the program may see the key before the layout.
    ///
    /// # Errors
    /// When the text is not ASCII, or `xdotool` fails.
    pub fn type_text(&self, text: &str) -> Outcome {
        if !text.is_ascii() {
            return trouble(format!("{text:?} is not on the keyboard"));
        }
        self.xdotool(&["type", "--delay", "12", "--", text]).map(|_| ())
    }

    /// Presses one key or combination, named as X names it: `Return`, `ctrl+o`.
    ///
    /// # Errors
    /// When `xdotool` fails.
    pub fn key(&self, key: &str) -> Outcome {
        self.xdotool(&["key", "--", key]).map(|_| ())
    }

    /// The controls and texts that are in the window now.
    ///
    /// # Errors
    /// When the program has ended or does not answer.
    pub fn tree(&mut self) -> Outcome<Tree> {
        self.alive()?;
        let Some(stream) = &mut self.inspection else { return trouble("there is no window yet") };
        write_message(&mut *stream, &Request::GetTree)
            .and_then(|()| read_message(&mut *stream))
            .map_err(|e| Trouble(format!("the window does not answer: {e}")))
            .and_then(|response: Response| match response {
                Response::Tree { pixels_per_point, accesskit: Some(update), .. } => {
                    Ok(Tree::new(pixels_per_point, &update))
                }
                other => trouble(format!("the window answers {other:?}")),
            })
    }

    /// Waits until the window shows this text somewhere.
    ///
    /// # Errors
    /// When it does not in time; a picture is kept.
    pub fn wait_for_text(&mut self, text: &str) -> Outcome {
        self.wait_until(&format!("the window shows \"{text}\""), |desktop| {
            Ok(desktop.tree()?.shows(text).then_some(()))
        })
    }

    /// Waits until there is a control with this accessible name, enabled or not.
    ///
    /// # Errors
    /// When there is none in time; a picture is kept.
    pub fn wait_for_control(&mut self, name: &str) -> Outcome {
        self.wait_until(&format!("there is a control named \"{name}\""), |desktop| {
            Ok(desktop.tree()?.control(name).map(|_| ()))
        })
    }

    /// Waits until there is no control with this accessible name.
    ///
    /// # Errors
    /// When there still is one at the end; a picture is kept.
    pub fn wait_until_gone(&mut self, name: &str) -> Outcome {
        self.wait_until(&format!("there is no control named \"{name}\""), |desktop| {
            Ok(desktop.tree()?.control(name).is_none().then_some(()))
        })
    }

    /// Waits until a window of another program, such as `zenity`'s file picker, is there, and gives it
    /// the keyboard.
    ///
    /// # Errors
    /// When it is not in time; a picture is kept.
    fn wait_for_window(&mut self, class: &str) -> Outcome<String> {
        let id = self.wait_until(&format!("a window of {class} opens"), |desktop| {
            let found = desktop.xdotool(&["search", "--onlyvisible", "--class", class]);
            Ok(found.ok().and_then(|ids| ids.lines().last().map(str::to_owned)))
        })?;
        self.xdotool(&["windowactivate", "--sync", &id])?;
        Ok(id)
    }

    /// Chooses a file in the file picker that `zenity` shows, by keyboard, as a person who knows the
    /// path would.
    ///
    /// # Errors
    /// When the picker does not open, or does not close on the choice.
    pub fn choose_file(&mut self, path: &Path) -> Outcome {
        let picker = self.wait_for_window("zenity")?;
        self.wait_until_still(&picker)?;
        // Opens the picker's own field for a path; what is typed before it is there would be lost.
        self.key("ctrl+l")?;
        self.wait_until_still(&picker)?;
        self.type_text(&path.display().to_string())?;
        self.wait_until_still(&picker)?;
        self.screenshot("file_picker")?;
        self.key("Return")?;
        self.wait_until("the file picker closes", |desktop| {
            Ok(desktop.xdotool(&["getwindowname", &picker]).is_err().then_some(()))
        })
    }

    /// Waits until a window that cannot be asked has the same picture in three looks.
    fn wait_until_still(&mut self, window: &str) -> Outcome {
        let mut last = (Vec::new(), 0);
        self.wait_until("the other window rests", |desktop| {
            let shot = desktop
                .command("import")
                .args(["-silent", "-window", window, "-depth", "8", "rgb:-"])
                .stdout(Stdio::piped())
                .output()
                .map_err(|e| Trouble(format!("import did not start: {e}")))?;
            let same = !shot.stdout.is_empty() && shot.stdout == last.0;
            last = (shot.stdout, if same { last.1 + 1 } else { 0 });
            Ok((last.1 >= 2).then_some(()))
        })
    }

    /// Looks again and again until `look` gives something.
    ///
    /// # Errors
    /// What `look` fails with, or a line that names what was waited for, after [`PATIENCE`], with the
    /// picture of the screen at that moment.
    pub fn wait_until<T>(
        &mut self,
        what: &str,
        mut look: impl FnMut(&mut Self) -> Outcome<Option<T>>,
    ) -> Outcome<T> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(self)? {
                return Ok(found);
            }
            if Instant::now() >= deadline {
                let picture = match self.screenshot("failed") {
                    Ok(path) => format!("picture: {}", path.display()),
                    Err(trouble) => format!("no picture: {trouble}"),
                };
                return trouble(format!("waited {PATIENCE:?} until {what}; {picture}"));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Keeps a picture of the whole screen as `name.png`.
    ///
    /// # Errors
    /// When ImageMagick fails.
    pub fn screenshot(&self, name: &str) -> Outcome<PathBuf> {
        let path = self.pictures.join(format!("{name}.png"));
        let status = self
            .command("import")
            .args(["-window", "root"])
            .arg(&path)
            .status()
            .map_err(|e| Trouble(format!("import did not start: {e}")))?;
        if !status.success() {
            return trouble(format!("import failed: {status}"));
        }
        Ok(path)
    }

    fn xdotool(&self, arguments: &[&str]) -> Outcome<String> {
        let output = self
            .command("xdotool")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .map_err(|e| Trouble(format!("xdotool did not start: {e}")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return trouble(format!("xdotool {}: {}", arguments.join(" "), said.trim()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Fails when one of the programs has ended.
    fn alive(&mut self) -> Outcome {
        for (name, child) in &mut self.children {
            if let Ok(Some(status)) = child.try_wait() {
                return trouble(format!("{name} ended early: {status}"));
            }
        }
        Ok(())
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // The display goes last, and takes with it whatever the program opened on it.
        for (_, child) in self.children.iter_mut().rev() {
            let _gone_already = child.kill();
            let _reaped = child.wait();
        }
    }
}

/// A loopback address that was free a moment ago.
fn free_address() -> Outcome<String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map(|address| address.to_string())
        .map_err(|e| Trouble(format!("no free port: {e}")))
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
