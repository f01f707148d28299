//! Windows and drawings on a display, as reported by the X server.
//!
//! Independent of the program that draws. Shared by the window tests and the benches.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::connection::Connection as _;
use x11rb::errors::ReplyError;
use x11rb::protocol::Event;
use x11rb::protocol::damage::{ConnectionExt as _, ReportLevel};
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt as _, EventMask, ImageFormat, MapState, Window,
};
use x11rb::rust_connection::RustConnection;

use super::screen::{DriverError, Outcome};

/// Windows with a side smaller than this, in pixels, are invisible helpers.
const SMALL: u16 = 200;

/// A connection that watches a display.
pub struct Painting {
    connection: RustConnection,
    root: Window,
}

/// An event on the display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A window below the root was mapped.
    Mapped(Window),
    /// Something was drawn.
    Drawn,
}

impl Painting {
    /// Begins to watch everything on this display.
    ///
    /// # Errors
    /// When it cannot be reached, or its server does not report drawings.
    pub fn watch(display: &str) -> Outcome<Self> {
        let fault = |error: &dyn std::fmt::Display| {
            DriverError(format!("the display {display} cannot be watched: {error}"))
        };
        let (connection, screen) = x11rb::connect(Some(display)).map_err(|e| fault(&e))?;
        let root = connection.setup().roots.get(screen).map(|screen| screen.root);
        let root = root.ok_or_else(|| fault(&"it has no screen"))?;
        let watching = Self { connection, root };
        watching.ask_for_events().map_err(|error| fault(&error))?;
        Ok(watching)
    }

    fn ask_for_events(&self) -> Result<(), Box<dyn std::error::Error>> {
        let connection = &self.connection;
        connection.damage_query_version(1, 1)?.reply()?;
        let damage = connection.generate_id()?;
        // Damage of the root includes that of every window below it. Raw rectangles report each drawing.
        connection.damage_create(damage, self.root, ReportLevel::RAW_RECTANGLES)?.check()?;
        let mask = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        connection.change_window_attributes(self.root, &mask)?.check()?;
        Ok(())
    }

    /// Moves the mouse to the lower right corner of the screen, where no window shows a tooltip.
    ///
    /// # Errors
    /// When the display is gone.
    pub fn put_mouse_away(&self) -> Outcome {
        let far = i16::MAX;
        let moved =
            || self.connection.warp_pointer(x11rb::NONE, self.root, 0, 0, 0, 0, far, far)?.check();
        moved()
            .map_err(|error: ReplyError| DriverError(format!("the mouse cannot be moved: {error}")))
    }

    /// The next event with its time, or `None` when there is none until the deadline.
    ///
    /// # Errors
    /// When the display is gone.
    pub fn next(&self, until: Instant) -> Outcome<Option<(Instant, Change)>> {
        let gone =
            |error: &dyn std::fmt::Display| DriverError(format!("the display is gone: {error}"));
        loop {
            while let Some(event) = self.connection.poll_for_event().map_err(|e| gone(&e))? {
                let change = match event {
                    Event::MapNotify(event) => Change::Mapped(event.window),
                    Event::DamageNotify(_) => Change::Drawn,
                    _ => continue,
                };
                return Ok(Some((Instant::now(), change)));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let left = Timespec::try_from(left).map_err(|e| gone(&e))?;
            let stream = self.connection.stream();
            let mut waiting = [PollFd::new(stream, PollFlags::IN)];
            match poll(&mut waiting, Some(&left)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(gone(&error)),
            }
        }
    }

    /// Waits until nothing has been drawn for this long. Returns the time of the last drawing meanwhile.
    ///
    /// # Errors
    /// When drawing does not pause for that long within `patience`, or the display is gone.
    pub fn wait_until_quiet(
        &self,
        quiet: Duration,
        patience: Duration,
    ) -> Outcome<Option<Instant>> {
        let deadline = Instant::now() + patience;
        let mut last = None;
        while let Some((when, _)) = self.next(Instant::now() + quiet)? {
            if when >= deadline {
                return Err(DriverError(format!("still drawing after {patience:?}")));
            }
            last = Some(when);
        }
        Ok(last)
    }

    /// The number of drawings in this time.
    ///
    /// # Errors
    /// When the display is gone.
    pub fn drawings_in(&self, time: Duration) -> Outcome<usize> {
        let until = Instant::now() + time;
        let mut count = 0;
        while let Some((_, change)) = self.next(until)? {
            count += usize::from(change == Change::Drawn);
        }
        Ok(count)
    }

    /// Whether the window is mapped, large enough to be visible, and shows more than one colour. False for a window
    /// that no longer exists.
    pub fn is_painted(&self, window: Window) -> bool {
        self.look(window).unwrap_or(false)
    }

    fn look(&self, window: Window) -> Result<bool, ReplyError> {
        let connection = &self.connection;
        let place = connection.get_geometry(window)?.reply()?;
        let shown = connection.get_window_attributes(window)?.reply()?.map_state;
        if shown != MapState::VIEWABLE || place.width < SMALL || place.height < SMALL {
            return Ok(false);
        }
        // One row near the top, where every window has a title or a bar, and one column in the middle. Fetching
        // the complete picture would take longer than drawing it.
        let (width, height) = (place.width, place.height);
        let (middle, row) = (width.cast_signed() / 2, 20);
        for (x, y, w, h) in [(0, row, width, 1), (middle, 0, 1, height)] {
            let format = ImageFormat::Z_PIXMAP;
            let image = connection.get_image(format, window, x, y, w, h, u32::MAX)?.reply()?.data;
            let mut pixels = image.chunks(4);
            let first = pixels.next();
            if pixels.any(|pixel| Some(pixel) != first) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
