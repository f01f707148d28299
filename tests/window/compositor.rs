//! A Wayland session: the compositor weston, whose output is the only window of the virtual display.
//!
//! So input goes through the X server here, too, and weston passes it on as that of a seat, which its backend without a
//! display does not have. weston's debug protocol lists the windows with their titles, application ids and positions.

use std::path::{Path, PathBuf};

use super::screen::{DriverError, Outcome, SIZE, Screen, Session, fail, need, poll};

/// The size of the session, in points: that of the window, of its frame, and of where the compositor places it.
const OUTPUT: (u32, u32) = (SIZE.0 + 40, SIZE.1 + 80);

/// Nothing but windows, and no animation, which would be in pictures.
const SETTINGS: &str = "[core]\nidle-time=0\n[shell]\npanel-position=none\nlocking=false\nanimation=none\n\
                        close-animation=none\nstartup-animation=none\nbackground-color=0xff101010\n";

/// A window of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The title of the window.
    pub title: String,
    /// The application id, by which desktops find the name and icon of the program.
    pub app_id: String,
    /// The position of its upper left corner without a frame, in points.
    pub position: (i32, i32),
    /// Width and height without a frame, in points.
    pub size: (i32, i32),
}

impl Screen {
    /// Starts a Wayland session of this scale, and waits until windows can be opened.
    ///
    /// # Errors
    /// One line that names the programs that are missing, or says what did not start in time.
    pub fn start_wayland(scale: u32) -> Outcome<Self> {
        Self::start_wayland_with(scale, |_| Ok(()))
    }

    /// As [`Self::start_wayland`], after `prepare` has changed the display, such as its keyboard, which weston takes over.
    ///
    /// # Errors
    /// As [`Self::start_wayland`].
    pub(super) fn start_wayland_with(
        scale: u32,
        prepare: impl FnOnce(&Self) -> Outcome,
    ) -> Outcome<Self> {
        let mut screen = Self::bare_of((OUTPUT.0 * scale, OUTPUT.1 * scale))?;
        prepare(&screen)?;
        screen.start_weston(&["--backend=x11-backend.so"], scale)?;
        // Without a window manager, the window below the mouse has the keyboard.
        screen.xdotool(&["mousemove", "1", "1"])?;
        Ok(screen)
    }

    /// Starts a Wayland session without a display, keyboard, mouse and clipboard.
    ///
    /// # Errors
    /// As [`Self::start_wayland`].
    #[cfg(test)]
    pub(super) fn start_headless() -> Outcome<Self> {
        let mut screen = Self::bare_of(OUTPUT)?;
        screen.start_weston(&["--backend=headless-backend.so", "--use-gl"], 1)?;
        Ok(screen)
    }

    fn start_weston(&mut self, backend: &[&str], scale: u32) -> Outcome {
        let programs = ["weston", "weston-debug", "weston-screenshooter", "xdotool", "import"];
        need(&programs, "sh packaging/test.sh")?;
        let runtime = self.home().join("runtime");
        let settings = self.home().join("weston.ini");
        private_folder(&runtime)
            .and_then(|()| std::fs::write(&settings, SETTINGS))
            .map_err(|e| DriverError(format!("cannot prepare the session: {e}")))?;
        let socket = "wayland-test".to_owned();
        let mut session = Session { socket, runtime, scale, pid: String::new() };
        let mut weston = self.x_command("weston");
        // It draws with OpenGL, as on a desktop: its other way reads the memory of a frame that a program has let go.
        weston
            .args(backend)
            .args(["--debug", "--idle-time=0"])
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .arg(format!("--socket={}", session.socket))
            .arg(format!("--width={}", OUTPUT.0))
            .arg(format!("--height={}", OUTPUT.1))
            .arg(format!("--scale={scale}"))
            .arg(format!("--config={}", settings.display()))
            .arg(format!("--log={}", self.home().join("weston.log").display()))
            .env("XDG_RUNTIME_DIR", &session.runtime)
            .stderr(std::process::Stdio::null());
        session.pid = self.start_on("weston", weston)?;
        self.session = Some(session);
        if poll(|| Ok(self.windows().ok()))?.is_none() {
            return fail("weston did not take over the display");
        }
        Ok(())
    }

    /// The windows of the session, from the front to the back.
    ///
    /// # Errors
    /// When the compositor does not answer.
    pub fn windows(&self) -> Outcome<Vec<Window>> {
        let output = self
            .command("weston-debug")
            .arg("scene-graph")
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .output()
            .map_err(|e| DriverError(format!("weston-debug did not start: {e}")))?;
        if !output.status.success() {
            return fail(format!("weston-debug ended with {}", output.status));
        }
        Ok(windows_of(&String::from_utf8_lossy(&output.stdout)))
    }

    /// The first window with this application id, if the session has one.
    ///
    /// # Errors
    /// As [`Self::windows`].
    pub fn window_of(&self, app_id: &str) -> Outcome<Option<Window>> {
        Ok(self.windows()?.into_iter().find(|window| window.app_id == app_id))
    }

    /// Saves a picture of the session by weston's own program.
    ///
    /// # Errors
    /// When it makes none.
    pub fn screenshot_of_session(&self, path: &Path) -> Outcome {
        // It chooses the name of the file.
        let folder = tempfile::tempdir_in(self.home())
            .map_err(|e| DriverError(format!("no temporary folder: {e}")))?;
        let mut command = self.command("weston-screenshooter");
        let status = command.current_dir(folder.path()).status();
        let made = std::fs::read_dir(folder.path())
            .ok()
            .and_then(|mut files| files.next()?.ok())
            .map(|file| file.path());
        match (status, made) {
            (Ok(status), Some(picture)) if status.success() => std::fs::copy(picture, path)
                .map(|_| ())
                .map_err(|e| DriverError(format!("cannot write {}: {e}", path.display()))),
            (status, _) => fail(format!("weston-screenshooter made no picture: {status:?}")),
        }
    }
}

/// A folder for sockets, which only its owner may use.
fn private_folder(path: &PathBuf) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// The windows in weston's description of its scene.
fn windows_of(scene: &str) -> Vec<Window> {
    let mut lines = scene.lines().peekable();
    let mut windows = Vec::new();
    while let Some(line) = lines.next() {
        let named = line.split_once("top-level window '").and_then(|(_, rest)| {
            let (title, rest) = rest.rsplit_once("' of ")?;
            Some((title.to_owned(), rest.rsplit_once(", 0x")?.0.to_owned()))
        });
        let bounds = lines.peek().and_then(|line| bounds_of(line));
        if let (Some((title, app_id)), Some([left, top, right, bottom])) = (named, bounds) {
            let (position, size) = ((left, top), (right - left, bottom - top));
            windows.push(Window { title, app_id, position, size });
        }
    }
    windows
}

/// The numbers of a line such as `position: (3, 50) -> (1283, 850)`.
fn bounds_of(line: &str) -> Option<[i32; 4]> {
    let numbers = line.trim().strip_prefix("position: ")?;
    let numbers = numbers.split(|c: char| !c.is_ascii_digit() && c != '-');
    let numbers: Vec<i32> = numbers.filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}
