//! A virtual display with a window manager, and input for it.
//!
//! Independent of the program under test. Dropping a [`Screen`] ends every program that was started on it.

#![expect(
    clippy::disallowed_methods,
    reason = "starts programs and waits for them, which is what it is for"
)]

use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The timeout of every wait. Software rendering is slow on a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The interval of polling.
const POLL_INTERVAL: Duration = Duration::from_millis(40);

/// The size of the program's window without its frame, in pixels.
pub const SIZE: (u32, u32) = (1280, 800);

/// The frame of the window manager, and a margin.
const FRAME: (u32, u32) = (2, 24);

/// An error of driving the window, as a message. The tour prints it; a test panics with it.
#[derive(Debug)]
pub struct DriverError(pub String);

impl Display for DriverError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DriverError {}

/// The result of driving the window.
pub type Outcome<T = ()> = Result<T, DriverError>;

/// Fails with this message.
///
/// # Errors
/// Always.
pub fn fail<T>(what: impl Into<String>) -> Outcome<T> {
    Err(DriverError(what.into()))
}

/// Polls until `look` returns something; `None` after [`PATIENCE`].
///
/// # Errors
/// The error of `look`.
pub fn poll<T>(mut look: impl FnMut() -> Outcome<Option<T>>) -> Outcome<Option<T>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = look()?;
        if found.is_some() || Instant::now() >= deadline {
            return Ok(found);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// A virtual X server with a window manager.
#[must_use = "dropping it ends everything on it"]
pub struct Screen {
    display: String,
    /// Names and processes in the order of their start. They are ended in reverse order.
    children: Vec<(String, Child)>,
    home: tempfile::TempDir,
    /// The Wayland session on it, to which programs then belong.
    pub(super) session: Option<Session>,
}

/// A Wayland session. `compositor.rs` starts it.
pub struct Session {
    /// The name of the compositor's socket, in this folder.
    pub(super) socket: String,
    pub(super) runtime: PathBuf,
    /// Pixels per point.
    pub(super) scale: u32,
    /// The process id of the compositor.
    pub(super) pid: String,
}

impl Screen {
    /// Starts the server and the window manager, and waits until windows can be opened.
    ///
    /// # Errors
    /// One line that names the programs that are missing, or says what did not start in time.
    pub fn start() -> Outcome<Self> {
        need(&["openbox", "xdotool", "import"], "sh packaging/test.sh")?;
        let mut screen = Self::bare()?;
        let manager = screen.command("openbox");
        screen.start_on("openbox", manager)?;
        // The window manager is ready once it has announced what it supports.
        match poll(|| Ok(screen.xdotool(&["get_num_desktops"]).is_ok().then_some(())))? {
            Some(()) => Ok(screen),
            None => fail("openbox did not take over the display"),
        }
    }

    /// Starts only the server, so that windows have no frame of a window manager.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn bare() -> Outcome<Self> {
        Self::bare_of((SIZE.0 + FRAME.0, SIZE.1 + FRAME.1))
    }

    /// As [`Self::bare`], in this size.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn bare_of(size: (u32, u32)) -> Outcome<Self> {
        need(&["Xvfb"], "sh packaging/test.sh")?;
        let home =
            tempfile::tempdir().map_err(|e| DriverError(format!("no temporary folder: {e}")))?;
        let (display, children) = (String::new(), Vec::new());
        let mut screen = Self { display, children, home, session: None };
        screen.start_server(size)?;
        Ok(screen)
    }

    /// The name of the display, such as `:1`.
    #[must_use]
    pub fn display(&self) -> &str {
        &self.display
    }

    fn start_server(&mut self, (width, height): (u32, u32)) -> Outcome {
        let size = format!("{width}x{height}x24");
        // `-displayfd 1` lets the server choose a free number and print it once it takes clients.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &size, "-nolisten", "tcp", "-noreset"])
            // A long delay before repeats, so that a busy machine does not turn one key into many.
            .args(["-ardelay", "1500", "-arinterval", "40"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| DriverError(format!("Xvfb did not start: {e}")))?;
        let stdout = server.stdout.take();
        self.children.push(("Xvfb".to_owned(), server));
        let mut number = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout)
                .read_line(&mut number)
                .map_err(|e| DriverError(format!("Xvfb did not name its display: {e}")))?;
        }
        if number.trim().is_empty() {
            return fail("Xvfb ended before it had a display");
        }
        self.display = format!(":{}", number.trim());
        Ok(())
    }

    /// Starts a command, which is killed with this screen if it still runs. Returns its process id.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_on(&mut self, name: &str, mut command: Command) -> Outcome<String> {
        let child =
            command.spawn().map_err(|e| DriverError(format!("{name} did not start: {e}")))?;
        let pid = child.id().to_string();
        self.children.push((name.to_owned(), child));
        Ok(pid)
    }

    /// A command with only this display, or the session on it, and the home folder of this screen in its environment.
    #[must_use]
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.command_at(self.home.path(), program)
    }

    /// As [`Self::command`], for a client of the X server, also below a Wayland session.
    #[must_use]
    pub(super) fn x_command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.command(program);
        command.env("DISPLAY", &self.display).env_remove("WAYLAND_DISPLAY");
        command
    }

    /// As [`Self::command`], with this home folder.
    #[must_use]
    pub fn command_at(&self, home: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
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
            .env("NO_AT_BRIDGE", "1")
            .env("LC_ALL", "C.UTF-8")
            // With a session bus the file picker could be that of the user's desktop.
            .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("XDG_RUNTIME_DIR");
        if let Some(session) = &self.session {
            command
                .env_remove("DISPLAY")
                .env("WAYLAND_DISPLAY", &session.socket)
                .env("XDG_RUNTIME_DIR", &session.runtime);
        }
        command
    }

    /// The home folder of the programs on this screen; empty at first.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Runs `xdotool` with these arguments and returns its stdout.
    ///
    /// # Errors
    /// When it fails, with its stderr.
    pub fn xdotool(&self, arguments: &[&str]) -> Outcome<String> {
        let output = self
            .x_command("xdotool")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .map_err(|e| DriverError(format!("xdotool did not start: {e}")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return fail(format!("xdotool {}: {}", arguments.join(" "), said.trim()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Waits until three consecutive pictures of a window, or of the whole screen for `root`, are equal. Returns after
    /// [`PATIENCE`] even if they still differ, because something may blink.
    ///
    /// # Errors
    /// When ImageMagick does not start.
    pub fn wait_until_still(&self, window: &str) -> Outcome {
        // The X server knows only the window of a compositor.
        let window = if self.session.is_some() { "root" } else { window };
        let mut last = Vec::new();
        let mut same = 0;
        poll(|| {
            let look = self
                .x_command("import")
                .args(["-silent", "-window", window, "-depth", "8", "rgb:-"])
                .stdout(Stdio::piped())
                .output()
                .map_err(|e| DriverError(format!("import did not start: {e}")))?;
            same = if !look.stdout.is_empty() && look.stdout == last { same + 1 } else { 0 };
            last = look.stdout;
            Ok((same >= 2).then_some(()))
        })
        .map(|_| ())
    }

    /// Fails when a program that was started on this screen has ended.
    ///
    /// # Errors
    /// One line that names it.
    pub fn alive(&mut self) -> Outcome {
        for (name, child) in &mut self.children {
            if let Ok(Some(status)) = child.try_wait() {
                return fail(format!("{name} ended early: {status}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Screen {
    /// As [`Self::start_on`], but the program that was started last remains the last in the list.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_beside(&mut self, name: &str, command: Command) -> Outcome {
        self.start_on(name, command)?;
        let last = self.children.len().saturating_sub(2);
        if let Some(two) = self.children.get_mut(last..) {
            two.reverse();
        }
        Ok(())
    }

    /// The process id of the program that was started last.
    #[must_use]
    pub fn last_pid(&self) -> String {
        self.children.last().map(|(_, child)| child.id().to_string()).unwrap_or_default()
    }

    /// Waits until the program that was started last has ended with a status that `how` accepts.
    ///
    /// # Errors
    /// When it does not end in time, or ends with another status.
    pub fn wait_for_end(&mut self, how: fn(std::process::ExitStatus) -> bool) -> Outcome {
        let Some((name, mut child)) = self.children.pop() else { return Ok(()) };
        let ended = poll(|| child.try_wait().map_err(|e| DriverError(format!("{name}: {e}"))));
        match ended {
            Ok(Some(status)) if how(status) => Ok(()),
            Ok(Some(status)) => fail(format!("{name} ended with {status}")),
            other => {
                self.children.push((name.clone(), child));
                other.and_then(|_| fail(format!("{name} is still there")))
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The server ends last, with every other program on it.
        for (_, child) in self.children.iter_mut().rev() {
            let _gone_already = child.kill();
            let _reaped = child.wait();
        }
    }
}

/// Fails when one of these programs is not installed.
///
/// # Errors
/// One line that names those that are missing, and the command that installs them.
pub fn need(programs: &[&str], installer: &str) -> Outcome {
    let missing: Vec<&str> = programs.iter().copied().filter(|name| !is_installed(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    fail(format!(
        "the window cannot be driven without {missing}; `{installer}` installs what is missing"
    ))
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
