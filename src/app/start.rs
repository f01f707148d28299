//! Opens the window. Each error has a message of one line.

use std::path::PathBuf;

use winit::error::EventLoopError;

use super::bug_report::graphics;
use super::{App, libraries, settings};
use crate::worker::{Folders, default_folders};

/// Options for starting the window.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The plan file to open at the start.
    pub plan: Option<PathBuf>,
    /// The evidence folder; `None` for the one in the user's data folder.
    pub evidence: Option<PathBuf>,
    /// The workspace of `plan`; `None` for the default one, which depends on the location of the plan file.
    pub workspace: Option<PathBuf>,
    /// The theme until the window is closed; `None` for the one in the settings.
    pub theme: Option<egui::ThemePreference>,
    /// The settings file; `None` for the one in the user's settings folder.
    pub settings: Option<PathBuf>,
}

/// Why the window cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Neither X nor Wayland is configured.
    #[error(
        "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set; \
         start a desktop session, or use `countersign check` and `countersign run`"
    )]
    NoDisplay,
    /// The display cannot be reached.
    #[error("the display named by DISPLAY or WAYLAND_DISPLAY cannot be reached: {message}")]
    Display {
        /// The error message of the window system.
        message: String,
    },
    /// The display ended while the window was open.
    #[error(
        "the connection to the display was lost; a run that was under way is shown as interrupted"
    )]
    Lost,
    /// A system library is missing.
    #[error("the library {library} is missing; install its package ({package} on Debian)")]
    Library {
        /// The file name of the library.
        library: &'static str,
        /// The name of its package in Debian.
        package: &'static str,
    },
    /// The user's home folder is unknown.
    #[error("there is no place for settings and evidence: HOME is not set")]
    NoHome,
    /// The window cannot be created.
    #[error(
        "the window cannot be opened: {message}; check that OpenGL is installed (libgl1 and libgl1-mesa-dri on Debian)"
    )]
    Window {
        /// The error message of the window system.
        message: String,
    },
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// There is no display, it cannot be reached or ended, a library or OpenGL is missing, the home folder is unknown, or a thread
/// cannot be started.
pub fn run(options: Options) -> Result<(), StartError> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let wayland = is_set("WAYLAND_DISPLAY") || is_set("WAYLAND_SOCKET");
    if cfg!(all(unix, not(target_os = "macos"))) && !wayland && !is_set("DISPLAY") {
        return Err(StartError::NoDisplay);
    }
    if let Some((library, package)) = libraries::first_missing(wayland) {
        return Err(StartError::Library { library, package });
    }
    let folders = default_folders().ok_or(StartError::NoHome)?;
    let folders =
        Folders { evidence: options.evidence.clone().unwrap_or(folders.evidence), ..folders };
    let file = options.settings.clone().unwrap_or_else(|| folders.settings.join("settings.toml"));
    let loaded = settings::load(Some(file));
    let mut viewport = egui::ViewportBuilder::default()
        .with_title("Countersign")
        .with_app_id("countersign")
        .with_inner_size(loaded.settings.window)
        .with_min_inner_size([720.0, 480.0])
        .with_drag_and_drop(true);
    if let Ok(icon) = eframe::icon_data::from_png_bytes(ICON) {
        viewport = viewport.with_icon(icon);
    }
    let native = eframe::NativeOptions { viewport, ..eframe::NativeOptions::default() };
    let started = eframe::run_native(
        "countersign",
        native,
        Box::new(move |cc| {
            let mut app = App::start(&cc.egui_ctx, options, folders, loaded)?;
            app.graphics = graphics(cc.gl.as_deref());
            let values: Vec<_> = app.graphics.iter().map(|(_, value)| value.as_str()).collect();
            log::info!("window opened gl={:?}", values.join(", "));
            Ok(Box::new(app))
        }),
    );
    started.map_err(|error| match error {
        eframe::Error::WinitEventLoop(EventLoopError::ExitFailure(_)) => StartError::Lost,
        eframe::Error::WinitEventLoop(error) => {
            // The cause is after the last colon; the text before it names source files.
            let text = error.to_string();
            let message = text.rsplit(": ").next().unwrap_or(&text).to_owned();
            StartError::Display { message }
        }
        error => StartError::Window { message: error.to_string() },
    })
}

static ICON: &[u8] = include_bytes!("../../assets/icon/countersign.png");
