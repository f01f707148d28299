//! What differs between the X server and a Wayland session: positions, other windows, pictures.

use std::path::{Path, PathBuf};

use super::harness::{APP_ID, Desktop};
use super::screen::{DriverError, Outcome, fail};

impl Desktop {
    /// Moves the mouse to this position, in pixels of the window.
    pub(super) fn move_to(&self, x: i32, y: i32) -> Outcome {
        let Some(session) = &self.screen.session else {
            let (x, y) = (x.to_string(), y.to_string());
            // Without `--sync`, which waits fifteen seconds if the mouse is already at that position.
            let to = ["mousemove", "--window", &self.window, "--", &x, &y];
            return self.screen.xdotool(&to).map(|_| ());
        };
        let Some(window) = self.screen.window_of(APP_ID)? else { return fail("no window") };
        let scale = i32::try_from(session.scale).unwrap_or(1);
        let (left, top) = window.position;
        let (x, y) = ((left * scale + x).to_string(), (top * scale + y).to_string());
        self.screen.xdotool(&["mousemove", "--", &x, &y]).map(|_| ())
    }

    /// Gives the focus to the window of the program.
    ///
    /// # Errors
    /// When `xdotool` fails.
    #[cfg(test)]
    pub(super) fn activate(&self) -> Outcome {
        if self.screen.session.is_none() {
            return self.screen.xdotool(&["windowactivate", "--sync", &self.window]).map(|_| ());
        }
        // Only a person activates a window: by a click, here where there is nothing.
        self.move_to(2, 2)?;
        self.screen.xdotool(&["click", "1"]).map(|_| ())
    }

    /// Waits until a window of another program, such as `zenity`'s file picker, is open, and gives it the focus.
    ///
    /// # Errors
    /// When it does not open in time; a picture is kept.
    pub(super) fn wait_for_window(&mut self, class: &str) -> Outcome<String> {
        if self.screen.session.is_some() {
            return self.wait_until(&format!("a window of {class} opens"), |desktop| {
                let front = desktop.screen.windows()?.into_iter().next();
                Ok(front.map(|window| window.app_id).filter(|app_id| app_id == class))
            });
        }
        let id = self.wait_until(&format!("a window of {class} opens"), |desktop| {
            let found = desktop.screen.xdotool(&["search", "--onlyvisible", "--class", class]);
            Ok(found.ok().and_then(|ids| ids.lines().last().map(str::to_owned)))
        })?;
        self.screen.xdotool(&["windowactivate", "--sync", &id])?;
        Ok(id)
    }

    /// Chooses a file in the file picker that `zenity` shows, by keyboard, as a person who knows the
    /// path would.
    ///
    /// # Errors
    /// When the picker does not open, or does not close on the choice.
    pub fn choose_file(&mut self, path: &Path) -> Outcome {
        let picker = self.wait_for_window("zenity")?;
        self.screen.wait_until_still(&picker)?;
        // Opens the picker's field for a path. Keys typed before it is open would be lost.
        self.key("ctrl+l")?;
        self.screen.wait_until_still(&picker)?;
        self.type_text(&path.display().to_string())?;
        self.screen.wait_until_still(&picker)?;
        self.screenshot("file_picker")?;
        self.key("Return")?;
        self.wait_until("the file picker closes", |desktop| {
            if desktop.screen.session.is_some() {
                return Ok(desktop.screen.window_of(&picker)?.is_none().then_some(()));
            }
            Ok(desktop.screen.xdotool(&["getwindowname", &picker]).is_err().then_some(()))
        })
    }

    /// Saves a picture of the screen as `name.png` once the picture no longer changes, because controls are
    /// reported before they are painted.
    ///
    /// # Errors
    /// When ImageMagick fails.
    pub fn screenshot(&self, name: &str) -> Outcome<PathBuf> {
        let path = self.pictures.join(format!("{name}.png"));
        self.screen.wait_until_still("root")?;
        if self.screen.session.is_some() {
            self.screen.screenshot_of_session(&path)?;
            return Ok(path);
        }
        let status = self
            .screen
            .command("import")
            .args(["-window", "root"])
            .arg(&path)
            .status()
            .map_err(|e| DriverError(format!("import did not start: {e}")))?;
        if !status.success() {
            return fail(format!("import failed: {status}"));
        }
        Ok(path)
    }
}
