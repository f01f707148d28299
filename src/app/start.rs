//! Opens the window, or says in one line why there is none.

use std::path::PathBuf;

use super::{App, libraries, settings};
use crate::worker::{Folders, default_folders};

/// How the window was started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A plan to open at once.
    pub plan: Option<PathBuf>,
    /// The evidence folder; the user's data folder otherwise.
    pub evidence: Option<PathBuf>,
    /// The workspace for that plan; found from the plan's place otherwise.
    pub workspace: Option<PathBuf>,
    /// The theme, for this time only.
    pub theme: Option<egui::ThemePreference>,
    /// The settings file; the one in the user's settings folder otherwise.
    pub settings: Option<PathBuf>,
}

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nothing to show a window on.
    #[error(
        "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set; \
         start a desktop session, or use `countersign check` and `countersign run`"
    )]
    NoDisplay,
    /// The display cannot be reached.
    #[error("the display named by DISPLAY or WAYLAND_DISPLAY cannot be reached: {message}")]
    Display {
        /// What the window system said.
        message: String,
    },
    /// A library of the system is not there.
    #[error("the library {library} is missing; install its package ({package} on Debian)")]
    Library {
        /// Its file name.
        library: &'static str,
        /// The package that has it, by its name in Debian.
        package: &'static str,
    },
    /// The system knows no home folder.
    #[error("there is no place for settings and evidence: HOME is not set")]
    NoHome,
    /// The window could not be made.
    #[error(
        "the window cannot be opened: {message}; is OpenGL there (libgl1 and libgl1-mesa-dri on Debian)?"
    )]
    Window {
        /// What the window system said.
        message: String,
    },
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// When there is no display, no OpenGL, or no place for the evidence.
pub fn run(options: Options) -> Result<(), StartError> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let wayland = set("WAYLAND_DISPLAY") || set("WAYLAND_SOCKET");
    if cfg!(all(unix, not(target_os = "macos"))) && !wayland && !set("DISPLAY") {
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
        Box::new(move |cc| Ok(Box::new(App::start(&cc.egui_ctx, options, folders, loaded)?))),
    );
    started.map_err(|error| match error {
        eframe::Error::WinitEventLoop(error) => {
            // The first words say which display system; the rest is about this program's sources.
            let text = error.to_string();
            let message = text.rsplit(": ").next().unwrap_or(&text).to_owned();
            StartError::Display { message }
        }
        error => StartError::Window { message: error.to_string() },
    })
}

static ICON: &[u8] = include_bytes!("../../assets/icon/countersign.png");
