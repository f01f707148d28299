//! The window in a Wayland session, without an X server that it could use.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use egui::{Event, Modifiers, PointerButton, pos2};
use egui_inspection::Request;

use super::attention::{Bus, NotificationServer, wait_for_title};
use super::compositor::Window;
use super::harness::{APP_ID, Desktop};
use super::screen::{Outcome, SIZE, Screen, fail, poll};
use super::sign_and_run::{WORD, Workspace};
use super::support::{passes, recorded, sign};

const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// The program in a new session of this scale.
fn start(scale: u32, arguments: &[&str], environment: &[(&str, &str)]) -> Outcome<Desktop> {
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window");
    let screen = Screen::start_wayland(scale)?;
    Desktop::start_on(screen, Path::new(PROGRAM), arguments, &pictures, environment)
}

fn window(desktop: &Desktop) -> Outcome<Window> {
    desktop.screen.window_of(APP_ID)?.map_or_else(|| fail("no window"), Ok)
}

/// What other programs of the session paste.
fn clipboard(desktop: &mut Desktop, expected: &str) -> Outcome {
    let what = format!("another program pastes {expected:?}");
    desktop.wait_until(&what, |desktop| {
        let mut paste = desktop.screen.command("timeout");
        paste.args(["10", "wl-paste", "--no-newline"]).stdout(Stdio::piped());
        let output = paste.output().expect("wl-paste");
        Ok((String::from_utf8_lossy(&output.stdout) == expected).then_some(()))
    })
}

/// Copies as another program of the session does, and keeps it running.
fn copy_elsewhere(desktop: &mut Desktop, text: &str) -> Outcome {
    let mut copy = desktop.screen.command("wl-copy");
    copy.args(["--foreground", "--", text]).stderr(Stdio::null());
    desktop.screen.start_beside("wl-copy", copy)?;
    clipboard(desktop, text)
}

fn value_of(desktop: &mut Desktop, name: &str) -> Outcome<Option<String>> {
    Ok(desktop.tree()?.control(name).and_then(|control| control.value.clone()))
}

fn the_main_way(workspace: &Workspace) -> Outcome {
    let (bus, server) = (Bus::start(), NotificationServer::default());
    let _connection = server.serve(&bus);
    let mut desktop = start(1, &[], &[("DBUS_SESSION_BUS_ADDRESS", &bus.address)])?;
    let opened = window(&desktop)?;
    assert_eq!((opened.title.as_str(), opened.size), ("Countersign", (1280, 800)));
    desktop.screenshot("wayland_1_empty")?;

    desktop.key("ctrl+o")?;
    desktop.choose_file(&workspace.plan())?;
    desktop.wait_for_text("Read the note, then write the list")?;
    desktop.activate()?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Execute step 2 of 3: file_read?")?;
    desktop.click("Approve this step")?;
    desktop.wait_for_text("Execute step 3 of 3: file_create?")?;
    wait_for_title(&mut desktop, r"\(1\) Countersign: waiting for you")?;
    desktop.screenshot("wayland_2_question")?;
    desktop.click("Deny and stop")?;
    desktop.wait_for_text("Denied at step 3")?;

    desktop.click("Evidence")?;
    desktop.click("Search evidence")?;
    copy_elsewhere(&mut desktop, WORD)?;
    desktop.activate()?;
    desktop.click("Search evidence")?;
    desktop.key("ctrl+v")?;
    desktop.wait_until("the field has what another program copied", |desktop| {
        Ok((value_of(desktop, "Search evidence")?.as_deref() == Some(WORD)).then_some(()))
    })?;
    desktop.key("Return")?;
    desktop.wait_until("the search finds the step", |desktop| {
        let tree = desktop.tree()?;
        Ok(tree.control_starting("file_create notes/list.md, denied").map(|_| ()))
    })?;
    let changed = format!("{WORD}s");
    desktop.click("Search evidence")?;
    desktop.key("End")?;
    desktop.type_text("s")?;
    desktop.key("ctrl+a")?;
    desktop.key("ctrl+c")?;
    // The other program takes the keyboard, without which a window cannot copy. So the window first draws what it got.
    desktop.screen.wait_until_still("root")?;
    clipboard(&mut desktop, &changed)?;
    desktop.activate()?;
    desktop.screenshot("wayland_3_evidence")?;

    let outcomes: Vec<_> = recorded(&desktop.evidence()).into_iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, ["succeeded", "succeeded", "denied"]);
    desktop.ask_to_close()?;
    desktop.wait_for_end()
}

#[test]
fn a_wayland_session_has_picker_clipboard_title_and_closing() {
    let workspace = Workspace::new();
    passes(the_main_way(&workspace));
    assert!(!workspace.note_that_was_denied().exists(), "a denied step writes nothing");
}

#[test]
fn a_wayland_session_of_twice_the_scale_has_twice_the_pixels() {
    let workspace = Workspace::new();
    let way = |plan: &Path| {
        let mut desktop = start(2, &[&plan.display().to_string()], &[])?;
        desktop.wait_for_text("Read the note, then write the list")?;
        // The first frames may come before the window knows on which output it is.
        desktop.wait_until(
            "a point has two pixels, and the window its size in points",
            |desktop| {
                let is_twice = (desktop.tree()?.pixels_per_point - 2.0).abs() < f32::EPSILON;
                let (width, height) = window(desktop)?.size;
                let is_whole = (width.unsigned_abs(), height.unsigned_abs()) == SIZE;
                Ok((is_twice && is_whole).then_some(()))
            },
        )?;
        // The mouse finds controls at this scale, too.
        desktop.click("Evidence")?;
        desktop.wait_for_control("Search evidence")?;
        desktop.click("Plan")?;
        desktop.screenshot("wayland_twice")?;
        Ok(())
    };
    passes(way(&workspace.plan()));
}

/// As somebody who reaches the window only by a program would press it.
fn press(desktop: &mut Desktop, name: &str) -> Outcome {
    let tree = desktop.tree()?;
    let Some(control) = tree.control(name) else { return fail(format!("there is no {name:?}")) };
    let (x, y) = control.middle(1.0);
    let pos = pos2(x as f32, y as f32);
    let button = |pressed| {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        Event::PointerButton { pos, button, pressed, modifiers }
    };
    for event in [Event::PointerMoved(pos), button(true), button(false)] {
        desktop.ask(&Request::ApplyEvents { events: vec![event] })?;
    }
    Ok(())
}

/// The compositor gives nobody the keyboard there, so that nobody can answer, but everything is drawn.
#[test]
fn a_session_without_keyboard_and_mouse_shows_the_plan_and_takes_no_signature() {
    let workspace = Workspace::new();
    let way = |plan: &Path| {
        let screen = Screen::start_headless()?;
        let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window");
        let plan = plan.display().to_string();
        let mut desktop = Desktop::start_on(screen, Path::new(PROGRAM), &[&plan], &pictures, &[])?;
        desktop.wait_for_text("Read the note, then write the list")?;
        for page in ["Evidence", "Diagnostics", "Loop", "Agent", "Plan"] {
            press(&mut desktop, page)?;
            desktop.ask(&Request::Settle { max_steps: 200 })?;
            let path = desktop.pictures.join(format!("headless_{}.png", page.to_lowercase()));
            desktop.screen.screenshot_of_session(&path)?;
            let colours = desktop
                .screen
                .command("identify")
                .args(["-format", "%k"])
                .arg(&path)
                .stdout(Stdio::piped())
                .output()
                .expect("identify");
            let colours = String::from_utf8_lossy(&colours.stdout).parse::<u32>();
            assert!(colours.is_ok_and(|colours| colours > 20), "{page} is drawn");
        }
        desktop.wait_until("the steps have been seen", |desktop| {
            let tree = desktop.tree()?;
            if tree.control("Authorize…").is_some_and(|button| !button.disabled) {
                return Ok(Some(()));
            }
            press(desktop, "Next unseen")?;
            Ok(None)
        })?;
        // A button that has just got another command does nothing for a moment.
        desktop.wait_until("the question is asked", |desktop| {
            if desktop.tree()?.control("Authorize").is_some() {
                return Ok(Some(()));
            }
            press(desktop, "Authorize…")?;
            Ok(None)
        })?;
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            press(&mut desktop, "Authorize")?;
        }
        assert!(desktop.tree()?.control("Authorize").is_some(), "the question is still there");
        assert!(desktop.tree()?.control("Run").is_none(), "nothing is signed");
        Ok(())
    };
    passes(way(&workspace.plan()));
}

#[test]
fn a_compositor_that_ends_is_reported_in_one_line() {
    let way = || {
        let mut screen = Screen::start_wayland(1)?;
        let said = screen.home().join("stderr");
        let mut program = screen.command(PROGRAM);
        program.arg("--evidence").arg(screen.home().join("evidence"));
        program.stderr(std::fs::File::create(&said).expect("a file"));
        screen.start_on("countersign", program)?;
        let opened = poll(|| screen.window_of(APP_ID))?;
        assert!(opened.is_some(), "there is a window");
        let pid = screen.session.as_ref().map(|it| it.pid.clone()).unwrap_or_default();
        let killed = screen.command("kill").args(["-s", "TERM", &pid]).status();
        assert!(killed.expect("kill runs").success());
        screen.wait_for_end(|status| status.code() == Some(5))?;
        let said = std::fs::read_to_string(said).expect("what it said");
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("the connection to the display was lost"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        Ok(())
    };
    passes(way());
}
