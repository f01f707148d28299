//! The real program on a display of its own, driven from outside.
//!
//! [`Desktop`] owns a [`Screen`] and the program on it, and ends both when it is dropped. Input goes
//! through the X server, as a person's would. The inspection socket only reports the controls and their
//! positions.
//!
//! Used by the window tests and, for its pictures, by the tour of `packaging/run.sh`. There are no fixed
//! positions, and nothing changes the state of the program directly.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use egui_inspection::protocol::{read_handshake, read_message, write_message};
use egui_inspection::{INSPECTION_ENV_VAR, Request, Response};

use super::screen::{DriverError, Outcome, PATIENCE, SIZE, Screen, fail, poll};
use super::tree::{Control, Tree};

/// A virtual display with the program on it.
#[must_use = "dropping it ends the program"]
pub struct Desktop {
    pub(super) screen: Screen,
    inspection: Option<TcpStream>,
    pub(super) window: String,
    pub(super) pictures: PathBuf,
}

/// The application id of the program.
pub(super) const APP_ID: &str = "countersign";

/// The number of pages of the longest step in these tests that is shown page by page.
const PAGES: usize = 4;

/// How often the focus is looked at before a Tab counts as lost.
const LOOKS_PER_TAB: u32 = 40;

impl Desktop {
    /// Starts a screen and `program` on it with these arguments, and waits for its window.
    ///
    /// The program gets a home folder of its own, `--evidence` in [`Self::evidence`], and no session
    /// bus. Pictures go to `pictures`.
    ///
    /// # Errors
    /// One line that names the program that is missing, or says what did not start in time.
    pub fn start(program: &Path, arguments: &[&str], pictures: &Path) -> Outcome<Self> {
        Self::start_with(program, arguments, pictures, &[])
    }

    fn start_with(
        program: &Path,
        arguments: &[&str],
        pictures: &Path,
        environment: &[(&str, &str)],
    ) -> Outcome<Self> {
        Self::start_on(Self::new_screen()?, program, arguments, pictures, environment)
    }

    fn new_screen() -> Outcome<Screen> {
        // The same tests can be run in a Wayland session: WINDOW_TESTS_SESSION=wayland.
        let is_wayland = std::env::var_os("WINDOW_TESTS_SESSION").is_some_and(|it| it == "wayland");
        if is_wayland { Screen::start_wayland(1) } else { Screen::start() }
    }

    /// As [`Self::start`], on this screen and with these variables in its environment.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub(super) fn start_on(
        screen: Screen,
        program: &Path,
        arguments: &[&str],
        pictures: &Path,
        environment: &[(&str, &str)],
    ) -> Outcome<Self> {
        std::fs::create_dir_all(pictures)
            .map_err(|e| DriverError(format!("cannot create {}: {e}", pictures.display())))?;
        let mut desktop =
            Self { screen, inspection: None, window: String::new(), pictures: pictures.to_owned() };
        desktop.start_program(program, arguments, environment)?;
        Ok(desktop)
    }

    /// As [`Self::start`], with the program of this build. Pictures go to `target/window` of the repository.
    ///
    /// # Errors
    /// As [`Self::start`].
    #[cfg(test)]
    pub fn start_here(arguments: &[&str]) -> Outcome<Self> {
        let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window");
        Self::start(Path::new(env!("CARGO_BIN_EXE_countersign")), arguments, &pictures)
    }

    /// As [`Self::start_here`], with panics injected at the places that `faults` names.
    ///
    /// # Errors
    /// As [`Self::start`].
    #[cfg(test)]
    pub fn start_here_with_faults(arguments: &[&str], faults: &str) -> Outcome<Self> {
        let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window");
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        Self::start_with(program, arguments, &pictures, &[("COUNTERSIGN_FAULTS", faults)])
    }

    /// As [`Self::start_here`], with the session bus at this address.
    ///
    /// # Errors
    /// As [`Self::start`].
    #[cfg(test)]
    pub fn start_here_on_bus(arguments: &[&str], address: &str) -> Outcome<Self> {
        let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window");
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        Self::start_with(program, arguments, &pictures, &[("DBUS_SESSION_BUS_ADDRESS", address)])
    }

    /// As [`Self::start_here_on_bus`], with this file of settings.
    ///
    /// # Errors
    /// As [`Self::start`].
    #[cfg(test)]
    pub(super) fn start_here_with_settings(
        settings: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Outcome<Self> {
        let screen = Self::new_screen()?;
        let folder = screen.home().join("config").join("countersign");
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join("settings.toml"), settings))
            .map_err(|e| DriverError(format!("no settings in {}: {e}", folder.display())))?;
        let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window");
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        Self::start_on(screen, program, arguments, &pictures, environment)
    }

    pub(super) fn start_program(
        &mut self,
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Outcome {
        let address = free_address()?;
        let evidence = self.evidence();
        let mut command = self.screen.command(program);
        command.args(arguments).arg("--evidence").arg(evidence);
        command.env(INSPECTION_ENV_VAR, &address).envs(environment.iter().copied());
        let pid = self.screen.start_on(&program.display().to_string(), command)?;
        self.window = self.wait_until("the program shows its window", |desktop| {
            desktop.screen.alive()?;
            if desktop.screen.session.is_some() {
                return Ok(desktop.screen.window_of(APP_ID)?.map(|window| window.app_id));
            }
            let found = desktop.screen.xdotool(&["search", "--onlyvisible", "--pid", &pid]);
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
                .map_err(|e| DriverError(format!("the inspection socket does not answer: {e}")))?;
        }
        // A compositor gives a new window the keyboard, and lets no other program choose its size.
        if self.screen.session.is_none() {
            let window = self.window.clone();
            let (width, height) = (SIZE.0.to_string(), SIZE.1.to_string());
            self.screen.xdotool(&["windowactivate", "--sync", &window])?;
            self.screen.xdotool(&["windowsize", &window, &width, &height])?;
        }
        self.wait_until("there is something in the window", |desktop| {
            Ok((!desktop.tree()?.controls.is_empty()).then_some(()))
        })
    }

    /// The name of the display.
    #[must_use]
    pub fn display(&self) -> &str {
        self.screen.display()
    }

    /// The home folder of the program.
    #[must_use]
    #[cfg(test)]
    pub fn home(&self) -> PathBuf {
        self.screen.home().to_owned()
    }

    /// The evidence folder of the program.
    #[must_use]
    pub fn evidence(&self) -> PathBuf {
        self.screen.home().join("evidence")
    }

    /// Moves the mouse to the middle of the control with this accessible name and presses the first
    /// button, once it is there, enabled and has stopped moving.
    ///
    /// # Errors
    /// When that does not happen in time; a picture is kept.
    pub fn click(&mut self, name: &str) -> Outcome {
        self.click_found(name, |tree| tree.control(name))
    }

    /// As [`Self::click`], for the first control whose name begins with `start`, such as a row of a list.
    ///
    /// # Errors
    /// As [`Self::click`].
    pub fn click_starting(&mut self, start: &str) -> Outcome {
        self.click_found(start, |tree| tree.control_starting(start))
    }

    fn click_found(&mut self, name: &str, find: impl Fn(&Tree) -> Option<&Control>) -> Outcome {
        let mut before = None;
        let (x, y) = self.wait_until(&format!("\"{name}\" can be clicked"), |desktop| {
            let tree = desktop.tree()?;
            let found = find(&tree).filter(|control| !control.disabled);
            let place = found.map(|control| control.middle(tree.pixels_per_point));
            let rests = place.is_some() && place == before;
            before = place;
            Ok(place.filter(|_| rests))
        })?;
        self.move_to(x, y)?;
        self.screen.xdotool(&["click", "1"])?;
        Ok(())
    }

    /// Types text into the control with the focus. Only ASCII: other characters need another keyboard
    /// layout for a moment, and the program may see the key before the layout.
    ///
    /// # Errors
    /// When the text is not ASCII, or `xdotool` fails.
    pub fn type_text(&self, text: &str) -> Outcome {
        if !text.is_ascii() {
            return fail(format!("{text:?} is not on the keyboard"));
        }
        self.screen.xdotool(&["type", "--delay", "12", "--", text]).map(|_| ())
    }

    /// Presses one key or combination, named as X names it: `Return`, `ctrl+o`.
    ///
    /// # Errors
    /// When `xdotool` fails.
    pub fn key(&self, key: &str) -> Outcome {
        self.screen.xdotool(&["key", "--", key]).map(|_| ())
    }

    /// Waits until the control with this accessible name is enabled, then presses Tab until it has the focus.
    ///
    /// # Errors
    /// When it does not get the focus; a picture is kept.
    pub fn tab_to(&mut self, name: &str) -> Outcome {
        self.wait_until(&format!("\"{name}\" is enabled"), |desktop| {
            Ok(desktop.tree()?.control(name).filter(|control| !control.disabled).map(|_| ()))
        })?;
        // The control that had the focus at the last Tab. Two presses in one frame would count as one. A dialog drops those
        // that come before it was on the screen, so that Tab is pressed again when it changes nothing.
        let (mut pressed_on, mut unchanged) = (None, 0);
        self.wait_until(&format!("Tab reaches \"{name}\""), |desktop| {
            let focused = desktop.tree()?.focused;
            if focused.as_deref() == Some(name) {
                return Ok(Some(()));
            }
            unchanged += 1;
            if pressed_on.as_ref() != Some(&focused) || unchanged > LOOKS_PER_TAB {
                desktop.key("Tab")?;
                (pressed_on, unchanged) = (Some(focused), 0);
            }
            Ok(None)
        })
    }

    /// Presses Return as soon as the control with this accessible name, which has the focus, is enabled.
    ///
    /// # Errors
    /// When it stays disabled; a picture is kept.
    pub fn press_once_armed(&mut self, name: &str) -> Outcome {
        self.wait_until(&format!("\"{name}\" can be pressed"), |desktop| {
            let tree = desktop.tree()?;
            let ready = tree.control(name).is_some_and(|control| !control.disabled);
            Ok((ready && tree.focused.as_deref() == Some(name)).then_some(()))
        })?;
        self.key("Return")
    }

    /// The controls and texts that are in the window now.
    ///
    /// # Errors
    /// When the program has ended or does not answer.
    pub fn tree(&mut self) -> Outcome<Tree> {
        match self.ask(&Request::GetTree)? {
            Response::Tree { step, pixels_per_point, accesskit: Some(update) } => {
                Ok(Tree::new(step, pixels_per_point, &update))
            }
            other => fail(format!("the window answers {other:?}")),
        }
    }

    /// The answer of the window to this request.
    ///
    /// # Errors
    /// When the program has ended or does not answer.
    pub(super) fn ask(&mut self, request: &Request) -> Outcome<Response> {
        self.screen.alive()?;
        let Some(stream) = &mut self.inspection else { return fail("there is no window yet") };
        write_message(&mut *stream, request)
            .and_then(|()| read_message(&mut *stream))
            .map_err(|e| DriverError(format!("the window does not answer: {e}")))
    }

    /// Looks at every page of the steps that must be looked at before the plan can be authorized, by keyboard.
    ///
    /// # Errors
    /// When the plan cannot be authorized in time; a picture is kept.
    pub fn look_at_steps(&mut self) -> Outcome {
        self.wait_until("every step that matters was looked at", |desktop| {
            let tree = desktop.tree()?;
            if tree.control("Authorize…").is_some_and(|button| !button.disabled) {
                return Ok(Some(()));
            }
            if tree.control("Next unseen").is_some() {
                // What a step would do may be computed later than it is selected.
                desktop.key_in_a_frame("F4")?;
                // The ends of a long one are enough; of another one every page must be on screen.
                desktop.key_in_a_frame("End")?;
                desktop.key_in_a_frame("Home")?;
                for _ in 0..PAGES {
                    desktop.key_in_a_frame("Page_Down")?;
                }
            }
            Ok(None)
        })
    }

    /// Presses a key and waits for a frame after it, so that a slow one does not take the next key as well.
    fn key_in_a_frame(&mut self, key: &str) -> Outcome {
        let before = self.tree()?.frame;
        self.key(key)?;
        self.wait_until(&format!("a frame follows {key}"), |desktop| {
            Ok((desktop.tree()?.frame > before).then_some(()))
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

    /// Polls until `look` returns something.
    ///
    /// # Errors
    /// What `look` fails with, or a line that names what was waited for, after [`PATIENCE`], with the
    /// picture of the screen at that moment.
    pub fn wait_until<T>(
        &mut self,
        what: &str,
        mut look: impl FnMut(&mut Self) -> Outcome<Option<T>>,
    ) -> Outcome<T> {
        if let Some(found) = poll(|| look(self))? {
            return Ok(found);
        }
        let test = std::thread::current().name().unwrap_or("main").replace("::", "_");
        let focused = self.tree().ok().and_then(|tree| tree.focused);
        let picture = match self.screenshot(&format!("failed_{test}")) {
            Ok(path) => format!("picture: {}", path.display()),
            Err(error) => format!("no picture: {error}"),
        };
        fail(format!("waited {PATIENCE:?} until {what}; {picture}; keyboard: {focused:?}"))
    }
}

/// A loopback address that was free a moment ago.
fn free_address() -> Outcome<String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map(|address| address.to_string())
        .map_err(|e| DriverError(format!("no free port: {e}")))
}
