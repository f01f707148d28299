//! Drives every page of the real window with texts in many scripts, and saves pictures of it in several sizes.
//!
//! `scripts PROGRAM PICTURES [dark|light|contrast] [ZOOM]`; `packaging/scripts.sh` calls it and makes contact sheets. The program must
//! be built with the feature `inspection`.

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

use egui::Event;
use egui_inspection::{Request, Response};
use harness::Desktop;
use screen::{DriverError, Outcome, Screen, fail};
use serde_json::json;

/// A script, and a text in it.
const SCRIPTS: [(&str, &str); 11] = [
    ("latin", "A\u{308}ndere e\u{301}tude, Łódź, naïve ﬁn"),
    ("cyrillic", "Исправь файлы настроек и́"),
    ("greek", "Διόρθωσε τα αρχεία ρυθμίσεων ᾧ"),
    ("hebrew", "תקן את קובצי הַהַגְדָּרוֹת admin"),
    ("arabic", "أصلح مَلَفّات الإعدادات admin"),
    ("devanagari", "सेटिंग फ़ाइलें क्षि ठीक करें"),
    ("thai", "แก้ไขไฟล์การตั้งค่า กำ"),
    ("cjk", "修复配置文件并检查结果、設定"),
    ("hangul", "설정 파일을 수정하세요 한"),
    ("emoji", "👩\u{200d}👩\u{200d}👧 🇩🇪 ❤\u{fe0f} 👍🏽 1\u{fe0f}\u{20e3}"),
    ("hidden", "a\u{202e}b\u{200b}c\u{2066}d\u{e000}e\u{378}f\u{ad}g\u{feff}h"),
];

/// The sizes of the window, in points at 100 %.
const SIZES: [(u32, u32); 3] = [(1280, 800), (900, 600), (720, 480)];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, pictures, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: scripts PROGRAM PICTURES [dark|light|contrast] [ZOOM]");
        return ExitCode::from(5);
    };
    let theme = rest.first().map_or("dark", String::as_str);
    let zoom = rest.get(1).map_or("1.0", String::as_str);
    let look = Look { theme: theme.to_owned(), zoom: zoom.to_owned() };
    match drive(Path::new(program), Path::new(pictures), &look) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How the window looks.
struct Look {
    theme: String,
    zoom: String,
}

struct Driver {
    desktop: Desktop,
    pictures: PathBuf,
    look: Look,
}

impl Driver {
    /// Saves a picture of the window in each size.
    fn keep(&mut self, page: &str) -> Outcome {
        for (width, height) in SIZES {
            self.resize(width, height)?;
            self.desktop.ask(&Request::Settle { max_steps: 40 })?;
            let name = format!("{page}-{width}x{height}-{}-{}", self.look.theme, self.look.zoom);
            let path = self.pictures.join(format!("{name}.png"));
            let request = Request::GetScreenshot { pixels_per_point: None };
            let Response::Screenshot(picture) = self.desktop.ask(&request)? else {
                return fail("the window makes no picture");
            };
            std::fs::write(&path, picture.bytes)
                .map_err(|e| DriverError(format!("cannot write {}: {e}", path.display())))?;
            println!("{}", path.display());
        }
        let (width, height) = SIZES[0];
        self.resize(width, height)
    }

    /// Gives the window this size in points at 100 %. The protocol counts in points, which are larger with the zoom.
    fn resize(&mut self, width: u32, height: u32) -> Outcome {
        let zoom = if self.look.zoom == "2.0" { 2 } else { 1 };
        let (width, height) = (width / zoom, height / zoom);
        self.desktop.ask(&Request::Resize { width, height }).map(|_| ())
    }

    /// Pastes a text into the field with the focus, as the person would.
    fn paste(&mut self, text: &str) -> Outcome {
        let events = vec![Event::Paste(text.to_owned())];
        self.desktop.ask(&Request::ApplyEvents { events }).map(|_| ())
    }

    /// Gives a field the focus and pastes a text of all scripts.
    fn fill(&mut self, field: &str) -> Outcome {
        self.desktop.tab_to(field)?;
        let all: Vec<&str> = SCRIPTS.iter().map(|(_, text)| *text).collect();
        self.paste(&all.join(" · "))
    }
}

fn drive(program: &Path, pictures: &Path, look: &Look) -> Outcome {
    let folder =
        tempfile::tempdir().map_err(|e| DriverError(format!("no temporary folder: {e}")))?;
    let plan = folder.path().join("scripts.plan.json");
    std::fs::write(&plan, plan_text()).map_err(|e| DriverError(format!("no plan: {e}")))?;
    let screen = Screen::start()?;
    let settings = screen.home().join("config/countersign");
    let theme = if look.theme == "light" { "light" } else { "dark" };
    let text = format!(
        "theme = \"{theme}\"\nhigh_contrast = {}\nzoom = {}\nmust_see = \"nothing\"\n",
        look.theme == "contrast",
        look.zoom
    );
    std::fs::create_dir_all(&settings)
        .and_then(|()| std::fs::write(settings.join("settings.toml"), text))
        .map_err(|e| DriverError(format!("no settings: {e}")))?;
    let plan = plan.display().to_string();
    let desktop = Desktop::start_on(screen, program, &[&plan], pictures, &[])?;
    let look = Look { theme: look.theme.clone(), zoom: look.zoom.clone() };
    let mut driver = Driver { desktop, pictures: pictures.to_owned(), look };
    pages(&mut driver)
}

fn pages(driver: &mut Driver) -> Outcome {
    driver.desktop.wait_for_control("Authorize…")?;
    for (name, _) in SCRIPTS {
        driver.keep(&format!("plan-{name}"))?;
        driver.desktop.key("Down")?;
    }
    driver.desktop.key("ctrl+Return")?;
    driver.desktop.wait_for_control("Authorize")?;
    driver.keep("authorize")?;
    driver.desktop.click("Authorize")?;
    driver.desktop.wait_for_control("Run")?;
    driver.desktop.key("F5")?;
    for (index, (name, _)) in SCRIPTS.iter().enumerate() {
        let title = format!("Execute step {} of {}: file_create?", index + 1, SCRIPTS.len());
        driver.desktop.wait_for_text(&title)?;
        driver.keep(&format!("step-{name}"))?;
        driver.desktop.click("Approve this step")?;
    }
    driver.desktop.wait_for_text("Completed")?;
    driver.keep("done")?;
    driver.desktop.key("ctrl+2")?;
    driver.desktop.wait_for_control("Search evidence")?;
    driver.keep("evidence")?;
    for (name, _) in SCRIPTS.iter().rev() {
        driver.desktop.key("Down")?;
        driver.desktop.wait_for_text("Decisions")?;
        driver.keep(&format!("execution-{name}"))?;
    }
    // In a narrow window, the record covers the list.
    driver.desktop.key("Escape")?;
    driver.fill("Search evidence")?;
    driver.keep("search")?;
    driver.desktop.key("ctrl+4")?;
    driver.fill("Goal")?;
    driver.keep("loop")?;
    driver.desktop.key("ctrl+5")?;
    driver.keep("agent")?;
    driver.desktop.key("ctrl+k")?;
    driver.fill("Find a command")?;
    driver.keep("palette")?;
    driver.desktop.key("Escape")?;
    driver.desktop.key("ctrl+comma")?;
    driver.keep("settings")?;
    driver.desktop.key("Escape")?;
    driver.desktop.key("F1")?;
    driver.keep("help")
}

/// A plan with a step for each script, which asks before each.
fn plan_text() -> String {
    let steps: Vec<_> = SCRIPTS
        .iter()
        .map(|(name, text)| {
            let contents: String = (1..=4).map(|line| format!("{line} {text}\n")).collect();
            json!({
                "step_id": name,
                "tool": "file_create",
                "title": format!("{name}: {text}"),
                "arguments": { "path": format!("{name}/{text}.txt"), "contents": contents },
                "requires_confirmation": true,
            })
        })
        .collect();
    let title: Vec<&str> = SCRIPTS.iter().map(|(_, text)| *text).collect();
    json!({ "plan_id": "scripts", "intent": "MUTATE", "title": title.join(" "), "steps": steps })
        .to_string()
}
