//! Further input: holding, fast clicks, pointing, closing.

use std::path::Path;
use std::time::{Duration, Instant};

use egui_inspection::Request;

use super::harness::{APP_ID, Desktop};
use super::screen::{Outcome, fail};
use super::tree::Tree;

impl Desktop {
    /// Moves the mouse to the middle of the control with this accessible name, enabled or not, once it
    /// has stopped moving.
    pub(super) fn point_at(&mut self, name: &str) -> Outcome {
        let mut before = None;
        let (x, y) = self.wait_until(&format!("\"{name}\" rests"), |desktop| {
            let tree = desktop.tree()?;
            let place = tree.control(name).map(|control| control.middle(tree.pixels_per_point));
            let rests = place.is_some() && place == before;
            before = place;
            Ok(place.filter(|_| rests))
        })?;
        self.move_to(x, y)
    }

    /// Moves the focus to the control by Tab, and presses it once it is enabled.
    pub(super) fn press(&mut self, name: &str) -> Outcome {
        self.tab_to(name)?;
        self.press_once_armed(name)
    }

    /// Clicks `times` times at the mouse position, with `delay_ms` between two clicks.
    pub(super) fn click_here(&self, times: u32, delay_ms: u32) -> Outcome {
        let (times, delay) = (times.to_string(), delay_ms.to_string());
        self.screen.xdotool(&["click", "--repeat", &times, "--delay", &delay, "1"]).map(|_| ())
    }

    /// Presses the first mouse button and keeps it down.
    pub(super) fn hold_button(&self) -> Outcome {
        self.screen.xdotool(&["mousedown", "1"]).map(|_| ())
    }

    /// Releases the first mouse button.
    pub(super) fn release_button(&self) -> Outcome {
        self.screen.xdotool(&["mouseup", "1"]).map(|_| ())
    }

    /// Presses a key and keeps it down; the X server repeats it.
    pub(super) fn hold_key(&self, key: &str) -> Outcome {
        self.screen.xdotool(&["keydown", "--", key]).map(|_| ())
    }

    /// Releases a key.
    pub(super) fn release_key(&self, key: &str) -> Outcome {
        self.screen.xdotool(&["keyup", "--", key]).map(|_| ())
    }

    /// Presses keys one after another as fast as they can be sent.
    pub(super) fn keys_at_once(&self, keys: &[&str]) -> Outcome {
        let arguments = [&["key", "--delay", "0", "--"], keys].concat();
        self.screen.xdotool(&arguments).map(|_| ())
    }

    /// Resizes the window and waits until it is drawn in this size.
    pub(super) fn resize(&mut self, width: u32, height: u32) -> Outcome {
        let window = self.window.clone();
        let (w, h) = (width.to_string(), height.to_string());
        if self.screen.session.is_some() {
            self.ask(&Request::Resize { width, height })?;
            return self.screen.wait_until_still("root");
        }
        self.screen.xdotool(&["windowsize", "--sync", &window, &w, &h])?;
        self.screen.wait_until_still("root")
    }

    /// Clicks the close button of the window's frame. The window manager's key is sometimes lost on a busy machine.
    pub(super) fn ask_to_close(&self) -> Outcome {
        if self.screen.session.is_some() {
            let Some(window) = self.screen.window_of(APP_ID)? else { return fail("no window") };
            // The compositor may have placed the title bar above its output. With Super, it moves a window by any place.
            self.move_to(window.size.0 / 2, window.size.1 / 2)?;
            let (dx, dy) =
                ((20 - window.position.0).to_string(), (60 - window.position.1).to_string());
            self.screen.xdotool(&["keydown", "Super_L", "mousedown", "1"])?;
            self.screen.xdotool(&["mousemove_relative", "--", &dx, &dy])?;
            self.screen.xdotool(&["mouseup", "1", "keyup", "Super_L"])?;
            self.screen.wait_until_still("root")?;
            // The last button of the title bar that the window draws itself.
            self.move_to(window.size.0 - 24, -18)?;
            return self.screen.xdotool(&["click", "1"]).map(|_| ());
        }
        let geometry = self.screen.xdotool(&["getwindowgeometry", "--shell", &self.window])?;
        let width =
            geometry.lines().find_map(|line| line.strip_prefix("WIDTH=")?.parse::<i32>().ok());
        let Some(width) = width else { return fail(format!("no width in {geometry}")) };
        // The middle of the last button of openbox's title bar, which lies above the window.
        let (x, y) = ((width - 10).to_string(), "-11");
        let click = ["mousemove", "--window", &self.window, "--", &x, y, "click", "1"];
        self.screen.xdotool(&click).map(|_| ())
    }

    /// Waits until the program has exited successfully.
    pub(super) fn wait_for_end(&mut self) -> Outcome {
        self.screen.wait_for_end(|status| status.success())
    }

    /// Kills the program, as the system does when it runs out of memory.
    pub(super) fn kill(&mut self) -> Outcome {
        self.signal("KILL")?;
        self.screen.wait_for_end(|status| !status.success())
    }

    /// Stops the program (SIGSTOP) during `meanwhile`, so that it gets all events at once afterwards.
    pub(super) fn while_frozen(&mut self, meanwhile: impl FnOnce(&Self) -> Outcome) -> Outcome {
        self.signal("STOP")?;
        let done = meanwhile(self);
        self.signal("CONT")?;
        done
    }

    fn signal(&self, signal: &str) -> Outcome {
        let pid = self.screen.last_pid();
        let status = self.screen.command("kill").args(["-s", signal, &pid]).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            other => fail(format!("kill -s {signal} {pid}: {other:?}")),
        }
    }

    /// Starts the program once more, on the same evidence.
    pub(super) fn start_again(&mut self, arguments: &[&str]) -> Outcome {
        self.start_program(Path::new(env!("CARGO_BIN_EXE_countersign")), arguments, &[])
    }

    /// Opens a window of another program in the upper left corner and gives it the focus.
    pub(super) fn open_other_window(&mut self) -> Outcome {
        let mut other = self.screen.command("zenity");
        other.args(["--info", "--text", "Something else"]);
        self.screen.start_beside("zenity", other)?;
        let id = self.wait_for_window("zenity")?;
        if self.screen.session.is_some() {
            return Ok(());
        }
        self.screen.xdotool(&["windowmove", &id, "0", "0"])?;
        self.give_other_window_the_keyboard()
    }

    /// Gives the focus to the window that [`Self::open_other_window`] opened.
    pub(super) fn give_other_window_the_keyboard(&self) -> Outcome {
        let found = self.screen.xdotool(&["search", "--onlyvisible", "--class", "zenity"])?;
        let id = found.lines().last().unwrap_or_default();
        self.screen.xdotool(&["windowactivate", "--sync", id]).map(|_| ())
    }

    /// Waits until the program's window has the focus again.
    pub(super) fn wait_until_it_has_the_keyboard(&mut self) -> Outcome {
        self.wait_until("the window has the keyboard", |desktop| {
            // Between two windows none is active, which xdotool calls an error.
            let active = desktop.screen.xdotool(&["getactivewindow"]).unwrap_or_default();
            Ok((active.trim() == desktop.window).then_some(()))
        })
    }

    /// Checks each frame for this long, and fails at the first one for which the check is false.
    pub(super) fn holds_for(
        &mut self,
        time: Duration,
        what: &str,
        holds: impl Fn(&Tree) -> bool,
    ) -> Outcome {
        let begin = Instant::now();
        while begin.elapsed() < time {
            if !holds(&self.tree()?) {
                return fail(format!("{what}: no longer after {:?}", begin.elapsed()));
            }
        }
        Ok(())
    }
}
