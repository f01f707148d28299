//! Frames of the window without a display: the real state, threads and views with simulated input. The measured
//! processor time includes tessellation, but not the painting of the triangles by OpenGL.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use countersign::app::{Offscreen, Options};
use countersign::worker::Folders;
use egui::epaint::{ClippedShape, Shape};
use egui::{Event, FullOutput, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, pos2, vec2};
use rustix::time::{ClockId, clock_gettime};

/// The size of the window, in points.
const SIZE: [f32; 2] = [1280.0, 800.0];
/// Frames of one sample.
const FRAMES: u32 = 60;
/// The timeout of waiting for a text.
const PATIENCE: Duration = Duration::from_secs(120);

/// The window, without a display.
pub struct Frames {
    ctx: egui::Context,
    window: Offscreen,
    woken: Receiver<()>,
    number: u32,
    /// The processor time of the last frame, and the longest since [`Self::slowest`] was called.
    last: Duration,
    slowest: Duration,
}

impl Frames {
    /// Opens the window with all folders of the user below `home`.
    pub fn open(home: &Path, options: Options) -> Self {
        let folders = Folders {
            evidence: home.join("evidence"),
            secrets: home.join("keys"),
            state: home.join("keys-state"),
            inbox: home.join("inbox"),
            window: home.join("window"),
            settings: home.join("settings"),
            home: home.to_owned(),
        };
        let ctx = egui::Context::default();
        let (sender, woken) = sync_channel(1);
        ctx.set_request_repaint_callback(move |_| {
            // A full channel means that a wake-up is already pending.
            let _ = sender.try_send(());
        });
        let options = Options {
            settings: Some(home.join("settings.toml")),
            theme: Some(egui::ThemePreference::Dark),
            ..options
        };
        let window = Offscreen::start(&ctx, options, folders).expect("a window");
        Self { ctx, window, woken, number: 0, last: Duration::ZERO, slowest: Duration::ZERO }
    }

    fn frame(&mut self, events: Vec<Event>) -> FullOutput {
        self.number += 1;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, SIZE.into())),
            time: Some(f64::from(self.number) / 60.0),
            focused: true,
            events,
            ..RawInput::default()
        };
        let before = thread_time();
        let mut output = self.window.frame(&self.ctx, input);
        let drawn = thread_time() - before;
        // Nothing is painted, so textures are not needed.
        output.textures_delta.clear();
        let shapes = output.shapes.clone();
        let before = thread_time();
        std::hint::black_box(self.ctx.tessellate(shapes, output.pixels_per_point));
        self.last = drawn + (thread_time() - before);
        self.slowest = self.slowest.max(self.last);
        output
    }

    /// The processor time of the slowest of the frames that `work` draws.
    pub fn slowest(&mut self, work: impl FnOnce(&mut Self)) -> Duration {
        self.slowest = Duration::ZERO;
        work(self);
        self.slowest
    }

    /// Draws this many frames without input.
    pub fn draw(&mut self, frames: usize) {
        for _ in 0..frames {
            self.frame(Vec::new());
        }
    }

    /// Draws frames until one shows a text that begins with `start`.
    pub fn until(&mut self, start: &str) {
        self.wait(start, |shown| shown.starts_with(start));
    }

    /// Draws frames until one shows a text that `wanted` accepts.
    pub fn until_any(&mut self, what: &str, wanted: impl Fn(&str) -> bool) {
        self.wait(what, wanted);
    }

    /// Waits for exactly this text, then clicks on it until it is gone.
    pub fn click(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut found = Some(self.wait(text, |shown| shown == text));
        while let Some(pos) = found {
            assert!(Instant::now() < deadline, "does not go away by a click: {text}");
            self.click_at(pos);
            self.wait_for_wake();
            found = find_text(&self.frame(Vec::new()).shapes, |shown| shown == text);
        }
    }

    /// Waits for a text that ends with `end`, then clicks on it once.
    pub fn click_once(&mut self, end: &str) {
        let pos = self.wait(end, |shown| shown.ends_with(end));
        self.click_at(pos);
    }

    /// Waits for a text that begins with `start`, then clicks on it once.
    pub fn click_on(&mut self, start: &str) {
        let pos = self.wait(start, |shown| shown.starts_with(start));
        self.click_at(pos);
    }

    fn click_at(&mut self, pos: Pos2) {
        self.frame(vec![Event::PointerMoved(pos)]);
        for pressed in [true, false] {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            self.frame(vec![Event::PointerButton { pos, button, pressed, modifiers }]);
        }
    }

    fn wait(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> Pos2 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let output = self.frame(Vec::new());
            if let Some(place) = find_text(&output.shapes, &wanted) {
                return place;
            }
            assert!(Instant::now() < deadline, "never shown: {what}");
            self.wait_for_wake();
        }
    }

    /// Waits until another thread requests a frame. With a timeout, because a dialog also needs frames to become
    /// answerable after it has been visible for a while.
    fn wait_for_wake(&self) {
        let _ = self.woken.recv_timeout(Duration::from_millis(16));
    }

    /// Types a text into the focused field.
    pub fn type_text(&mut self, text: &str) {
        self.frame(vec![Event::Text(text.to_owned())]);
    }

    /// Presses a key together with Ctrl.
    pub fn press_with_ctrl(&mut self, key: Key) {
        self.press(key, Modifiers::COMMAND | Modifiers::CTRL);
    }

    /// Presses a key together with Ctrl and Shift.
    pub fn press_with_ctrl_and_shift(&mut self, key: Key) {
        self.press(key, Modifiers::COMMAND | Modifiers::CTRL | Modifiers::SHIFT);
    }

    fn press(&mut self, key: Key, modifiers: Modifiers) {
        for pressed in [true, false] {
            let event = Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
            self.frame(vec![event]);
        }
    }

    /// The mean processor time of a frame while the mouse moves down over the list and up again.
    pub fn hovering(&mut self) -> Duration {
        self.measure(|step| vec![Event::PointerMoved(pos2(480.0, 280.0 + 8.0 * step))])
    }

    /// The mean processor time of a frame while the list is scrolled down and up again.
    pub fn scrolling(&mut self) -> Duration {
        self.scrolling_at(480.0)
    }

    /// As [`Self::scrolling`], for the list at this distance from the left, in points.
    pub fn scrolling_at(&mut self, x: f32) -> Duration {
        self.frame(vec![Event::PointerMoved(pos2(x, 400.0))]);
        let mut last = 0.0;
        self.measure(move |step| {
            let down = step > last;
            last = step;
            vec![Event::MouseWheel {
                unit: egui::MouseWheelUnit::Point,
                delta: vec2(0.0, if down { -30.0 } else { 30.0 }),
                phase: egui::TouchPhase::Move,
                source: egui::MouseWheelSource::Unknown,
                modifiers: Modifiers::NONE,
            }]
        })
    }

    /// The mean processor time of [`FRAMES`] frames. `events` gets the step of each, which counts up and then down.
    fn measure(&mut self, mut events: impl FnMut(f32) -> Vec<Event>) -> Duration {
        let mut took = Duration::ZERO;
        for number in 0..FRAMES {
            let step = if number < FRAMES / 2 { number } else { FRAMES - 1 - number };
            let events = events(step as f32);
            self.frame(events);
            took += self.last;
        }
        took / FRAMES
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a time")
}

/// The centre of the first text that `wanted` accepts.
fn find_text(shapes: &[ClippedShape], wanted: impl Fn(&str) -> bool) -> Option<Pos2> {
    fn find(shape: &Shape, wanted: &dyn Fn(&str) -> bool) -> Option<Pos2> {
        match shape {
            Shape::Text(shown) if wanted(shown.galley.text()) => {
                Some(shown.galley.rect.translate(shown.pos.to_vec2()).center())
            }
            Shape::Vec(shapes) => shapes.iter().find_map(|shape| find(shape, wanted)),
            _ => None,
        }
    }
    shapes.iter().find_map(|clipped| find(&clipped.shape, &wanted))
}

/// A folder in memory where `/dev/shm` exists. The time of a frame does not depend on the disk, but writing
/// 100,000 durable records before it would take long there.
pub fn fast_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}
