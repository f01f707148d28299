//! Every dialog as a screen reader gets it: each control says what it is, and leaving the dialog changes nothing.
//!
//! [`Reader`] opens a dialog by a control of the window or by the list of commands, reads it over AT-SPI from outside, and
//! leaves it by Escape and by its safe answer. What must not change is the evidence and the workspace.

mod elsewhere;
mod others;
mod plans;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::atspi::{AccessBus, Object, State};
use super::harness::Desktop;
use super::screen::Outcome;
use super::screen_reader::{faults, has, presses};
use super::support::{passes, read, recorded};

/// No step must be looked at first, because these tests are about the dialogs alone.
const SETTINGS: &str = "must_see = \"nothing\"\n";

/// The program with somebody who has its window read out.
struct Reader {
    // Ends before the bus.
    desktop: Desktop,
    bus: AccessBus,
    folder: PathBuf,
}

/// How a dialog is opened.
#[derive(Clone, Copy)]
enum By<'a> {
    /// By a control with this name.
    Control(&'a str),
    /// By a command in the list of commands.
    Command(&'a str),
    /// By the close button of the window.
    Closing,
}

fn modal(objects: &[Object]) -> Option<&Object> {
    objects.iter().find(|it| it.is(State::Modal))
}

fn is_open(objects: &[Object], title: &str) -> bool {
    modal(objects).is_some_and(|it| it.name.starts_with(title))
}

fn is_selected(objects: &[Object], tab: &str) -> bool {
    let tab = objects.iter().rfind(|it| it.role == "page tab" && it.name == tab);
    tab.is_some_and(|it| it.is(State::Selected))
}

impl Reader {
    fn start(folder: &Path, settings: &str, arguments: &[&str]) -> Outcome<Self> {
        Self::start_with(folder, settings, arguments, &[])
    }

    fn start_with(
        folder: &Path,
        settings: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Outcome<Self> {
        let bus = AccessBus::start()?;
        let desktop = bus.start_program_with(settings, arguments, environment)?;
        Ok(Self { desktop, bus, folder: folder.to_owned() })
    }

    fn press(&mut self, name: &str, is_done: impl FnMut(&[Object]) -> bool) -> Outcome {
        presses(&self.bus, &mut self.desktop, name, is_done).map(|_| ())
    }

    /// Waits until what is shown is so.
    fn wait(&mut self, what: &str, is_so: impl Fn(&[Object]) -> bool) -> Outcome<Vec<Object>> {
        let bus = &self.bus;
        self.desktop.wait_until(what, |_| {
            let objects = bus.objects();
            Ok(is_so(&objects).then_some(objects))
        })
    }

    /// Fails if anything that is shown now cannot be told.
    #[track_caller]
    fn reads_all(&self, what: &str) {
        self.tells(&self.bus.objects(), what);
    }

    #[track_caller]
    fn tells(&self, objects: &[Object], what: &str) {
        let mut found = faults(objects);
        if !found.is_empty() {
            // What has changed while it was read is no fault.
            let again = faults(&self.bus.objects());
            found.retain(|it| again.contains(it));
        }
        assert_eq!(found, Vec::<String>::new(), "{what}");
    }

    /// Fails if a dialog that is open cannot be told.
    #[track_caller]
    fn tells_dialog(&self, objects: &[Object], title: &str) {
        let open: Vec<_> = objects.iter().filter(|it| it.is(State::Modal)).collect();
        let [dialog] = open.as_slice() else { panic!("{title}: {open:?}") };
        assert_eq!(dialog.role, "dialog", "{title}");
        let heading = objects.iter().any(|it| it.role == "heading" && it.name == dialog.name);
        let is_overlay = matches!(title, "Commands" | "Help" | "Bug report");
        assert!(heading || is_overlay, "{title} has a title that can be read");
        self.tells(objects, title);
    }

    /// Waits for a dialog and reads it.
    fn reads(&mut self, title: &str) -> Outcome {
        let objects =
            self.wait(&format!("{title:?} is open"), |objects| is_open(objects, title))?;
        self.tells_dialog(&objects, title);
        Ok(())
    }

    fn opens(&mut self, by: By<'_>, title: &str) -> Outcome {
        let name = match by {
            By::Control(name) => name,
            By::Command(name) => {
                self.press("Commands", |objects| is_open(objects, "Commands"))?;
                name
            }
            By::Closing => {
                self.desktop.ask_to_close()?;
                return self.reads(title);
            }
        };
        let is_done = |objects: &[Object]| is_open(objects, title);
        let objects = presses(&self.bus, &mut self.desktop, name, is_done)?;
        self.tells_dialog(&objects, title);
        Ok(())
    }

    fn is_closed(&mut self, title: &str) -> Outcome {
        self.wait(&format!("{title:?} is closed"), |objects| modal(objects).is_none()).map(|_| ())
    }

    /// Opens a dialog and leaves it by Escape, then by this answer. Nothing has changed each time.
    fn leaves(&mut self, by: By<'_>, title: &str, safe: &str) -> Outcome {
        let before = self.kept();
        self.opens(by, title)?;
        self.desktop.key("Escape")?;
        self.is_closed(title)?;
        assert_eq!(self.kept(), before, "{title}, left by Escape");
        self.opens(by, title)?;
        self.press(safe, |objects| modal(objects).is_none())?;
        assert_eq!(self.kept(), before, "{title}, left by {safe:?}");
        Ok(())
    }

    /// Lists only the settings with these words, so that there is less to read.
    fn finds(&mut self, words: &str, is_found: impl Fn(&[Object]) -> bool) -> Outcome {
        self.desktop.key("ctrl+f")?;
        self.desktop.wait_until("the search has the keyboard", |desktop| {
            Ok((desktop.tree()?.focused.as_deref() == Some("Find a setting")).then_some(()))
        })?;
        self.desktop.key("ctrl+a")?;
        self.desktop.type_text(words)?;
        let is_short = |objects: &[Object]| objects.len() < 200 && is_found(objects);
        self.wait(&format!("the settings with {words:?}"), is_short).map(|_| ())
    }

    /// Goes to a page.
    fn goes_to(&mut self, tab: &str) -> Outcome {
        self.press(tab, |objects| is_selected(objects, tab))
    }

    /// What the evidence and the workspace have.
    fn kept(&self) -> Vec<String> {
        let mut kept = Vec::new();
        let evidence = self.desktop.evidence();
        if evidence.join("execution_log.db").exists() {
            // Every record has a row of the ledger.
            let rows = read(&evidence, "SELECT count(*) FROM ledger", |row| row.get::<_, i64>(0));
            kept.extend(rows.iter().filter(|it| **it > 0).map(|it| format!("{it} records")));
        }
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("the workspace").flatten() {
                if entry.file_type().expect("a type").is_dir() {
                    folders.push(entry.path());
                } else if entry.file_type().expect("a type").is_file() {
                    let bytes = fs::read(entry.path()).unwrap_or_default();
                    kept.push(format!("{}: {bytes:?}", entry.path().display()));
                }
            }
        }
        kept.sort();
        kept
    }
}

fn write(folder: &Path, name: &str, value: &Value) -> String {
    let path = folder.join(name);
    fs::write(&path, value.to_string()).expect("the file");
    path.display().to_string()
}
