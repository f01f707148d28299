//! Drives the tour through the real window on a virtual display and saves a picture of each page.
//!
//! `tour [--wayland|--keyboard] PROGRAM TOUR PICTURES`; called by `packaging/run.sh` where there is no display. With `--wayland`
//! the window belongs to a Wayland session on that display, with `--keyboard` it gets no mouse. The program must be built with
//! the feature `inspection`.

#[path = "../tests/window/compositor.rs"]
mod compositor;
#[path = "../tests/window/harness.rs"]
#[expect(dead_code, reason = "the window tests use the rest")]
mod harness;
#[path = "../tests/window/pointing.rs"]
#[expect(dead_code, reason = "the window tests use the rest")]
mod pointing;
#[path = "../tests/window/screen.rs"]
mod screen;
#[path = "../tests/window/tree.rs"]
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use harness::Desktop;
use screen::{DriverError, Outcome, Screen, fail};

fn main() -> ExitCode {
    let mut arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let option = arguments.first().and_then(|first| match first.to_str()? {
        "--wayland" => Some(Way::Wayland),
        "--keyboard" => Some(Way::Keyboard),
        _ => None,
    });
    if option.is_some() {
        arguments.remove(0);
    }
    let [program, tour, pictures] = arguments.as_slice() else {
        eprintln!("usage: tour [--wayland|--keyboard] PROGRAM TOUR PICTURES");
        return ExitCode::from(5);
    };
    match drive(option.unwrap_or(Way::Mouse), program, tour, pictures) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How the window is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Mouse,
    Keyboard,
    Wayland,
}

/// The window, and the hand that uses it.
struct Hand {
    desktop: Desktop,
    way: Way,
}

impl Hand {
    /// Uses the control with this accessible name.
    fn press(&mut self, name: &str) -> Outcome {
        match self.way {
            Way::Mouse | Way::Wayland => self.desktop.click(name),
            Way::Keyboard => {
                self.desktop.tab_to(name)?;
                self.desktop.press_once_armed(name)
            }
        }
    }

    /// Gives a text field the keyboard.
    fn enter(&mut self, name: &str) -> Outcome {
        match self.way {
            Way::Mouse | Way::Wayland => self.desktop.click(name),
            Way::Keyboard => self.desktop.tab_to(name),
        }
    }

    /// Opens the first row whose name begins with `start`. The keyboard has the arrow keys for rows, and takes the first one.
    fn open_row(&mut self, start: &str) -> Outcome {
        match self.way {
            Way::Mouse | Way::Wayland => self.desktop.click_starting(start),
            Way::Keyboard => self.desktop.key("Down"),
        }
    }
}

fn drive(way: Way, program: &Path, tour: &Path, pictures: &Path) -> Outcome {
    // The plan changes files, so it gets a copy of its own.
    let copy = tempfile::tempdir().map_err(|e| DriverError(format!("no temporary folder: {e}")))?;
    let folder = copy.path().join("harbour-lantern");
    copy_folder(tour, &folder)
        .map_err(|e| DriverError(format!("cannot copy {}: {e}", tour.display())))?;
    let plan = folder.join("tour.plan.json").display().to_string();

    let screen = if way == Way::Wayland { Screen::start_wayland(1)? } else { Screen::start()? };
    let desktop = Desktop::start_on(screen, program, &[&plan], pictures, &[])?;
    let mut hand = Hand { desktop, way };
    denial(&mut hand)?;
    cut_off(&mut hand, &folder)?;
    evidence(&mut hand)?;
    revert(&mut hand, tour, &folder)?;
    hand.press("Light or dark")?;
    keep(&hand, "15-end-light")?;
    hand.press("Hide the guide of the tour")?;
    hand.desktop.wait_until_gone("Hide the guide of the tour")?;
    hand.press("Evidence")?;
    keep(&hand, "16-evidence-light")
}

/// Waits until the guide is at this station, counted from 1.
fn station(hand: &mut Hand, number: usize) -> Outcome {
    hand.desktop.wait_for_text(&format!("Tour, {number} of 13: "))
}

/// The first plan: it is signed, one step is approved, and one denied.
fn denial(hand: &mut Hand) -> Outcome {
    hand.desktop.wait_for_control("Next unseen")?;
    station(hand, 1)?;
    keep(hand, "1-plan")?;
    hand.desktop.look_at_steps()?;
    station(hand, 2)?;
    hand.press("Authorize…")?;
    hand.desktop.wait_for_control("Authorize")?;
    keep(hand, "2-authorize")?;
    hand.press("Authorize")?;
    station(hand, 3)?;
    hand.press("Run")?;
    hand.desktop.wait_for_text("Execute step 4 of 7: file_write?")?;
    station(hand, 4)?;
    keep(hand, "3-approve")?;
    hand.press("Approve this step")?;
    hand.desktop.wait_for_text("Execute step 6 of 7: file_create?")?;
    station(hand, 5)?;
    keep(hand, "4-deny")?;
    hand.press("Deny and stop")?;
    station(hand, 6)?;
    hand.desktop.wait_for_text("You denied a step")?;
    keep(hand, "5-denied")
}

/// The second plan: its run is cut off, and what it did is found out.
fn cut_off(hand: &mut Hand, folder: &Path) -> Outcome {
    hand.press("Open the second plan")?;
    station(hand, 7)?;
    hand.desktop.wait_for_control("Authorize…")?;
    hand.desktop.look_at_steps()?;
    keep(hand, "6-second-plan")?;
    hand.press("Authorize…")?;
    hand.press("Authorize")?;
    hand.press("Run")?;
    station(hand, 8)?;
    keep(hand, "7-cut-off")?;
    let note = std::fs::read_to_string(folder.join("notes/keepers.md"));
    if !note.is_ok_and(|text| text.contains("told of the winter hours")) {
        return fail("the step that was cut off has not written its file");
    }
    hand.press("Reconcile")?;
    hand.desktop.wait_for_text("as predicted: the step changed it")?;
    station(hand, 9)?;
    keep(hand, "8-reconciled")
}

/// Search, one record, and the verification of the whole.
fn evidence(hand: &mut Hand) -> Outcome {
    hand.press("Evidence")?;
    hand.enter("Search evidence")?;
    hand.desktop.type_text("lantern")?;
    hand.desktop.key("Return")?;
    station(hand, 10)?;
    keep(hand, "9-evidence")?;
    hand.open_row("file_write src/lib.rs")?;
    station(hand, 11)?;
    hand.desktop.wait_for_text("Decisions")?;
    keep(hand, "10-record")?;
    hand.desktop.key("ctrl+k")?;
    hand.desktop.wait_for_control("Find a command")?;
    hand.desktop.type_text("Verify evidence")?;
    hand.desktop.key("Return")?;
    station(hand, 12)?;
    keep(hand, "11-verified")
}

/// The first run is taken back.
fn revert(hand: &mut Hand, tour: &Path, folder: &Path) -> Outcome {
    hand.press("Show the first run")?;
    hand.press("Revert…")?;
    station(hand, 13)?;
    hand.desktop.look_at_steps()?;
    keep(hand, "12-revert")?;
    hand.press("Authorize…")?;
    hand.press("Authorize")?;
    hand.press("Run")?;
    // Overwriting files is dangerous: the dialog asks how many there are.
    hand.desktop.wait_for_text("Execute step 1 of 1: history?")?;
    keep(hand, "13-confirm-revert")?;
    hand.desktop.wait_until("what is typed counts", |desktop| {
        let tree = desktop.tree()?;
        Ok(tree.control("Deny and stop").filter(|button| !button.disabled).map(|_| ()))
    })?;
    hand.desktop.type_text("2 files")?;
    hand.desktop.wait_for_text("It matches. Enter approves.")?;
    hand.desktop.key("Return")?;
    hand.desktop.wait_for_text("That was the tour")?;
    keep(hand, "14-end")?;
    for file in ["src/lib.rs", "src/main.rs"] {
        let [before, now] = [tour, folder].map(|it| std::fs::read(it.join(file)).ok());
        if before.is_none() || before != now {
            return fail(format!("{file} is not as it was before the tour"));
        }
    }
    Ok(())
}

fn keep(hand: &Hand, name: &str) -> Outcome {
    println!("{}", hand.desktop.screenshot(name)?.display());
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
