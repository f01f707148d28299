//! Checks for the system libraries that a window needs: the bindings of the window system panic where one is
//! missing, or do not name it.
//!
//! Called by [`super::run`] alone. What OpenGL lacks shows only when a window is made.

/// A library that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing {
    /// Its file name.
    pub(super) library: &'static str,
    /// The package that has it, by its name in Debian.
    pub(super) package: &'static str,
}

const fn missing(library: &'static str, package: &'static str) -> Option<Missing> {
    Some(Missing { library, package })
}

/// The first library that is missing; `wayland` tells that no X display will be used.
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn first_missing(wayland: bool) -> Option<Missing> {
    if xkbcommon_dl::xkbcommon_option().is_none() {
        return missing("libxkbcommon.so.0", "libxkbcommon0");
    }
    if wayland {
        return None;
    }
    if x11_dl::xlib::Xlib::open().is_err() {
        missing("libX11.so.6", "libx11-6")
    } else if x11_dl::xlib_xcb::Xlib_xcb::open().is_err() {
        missing("libX11-xcb.so.1", "libx11-xcb1")
    } else if x11_dl::xcursor::Xcursor::open().is_err() {
        missing("libXcursor.so.1", "libxcursor1")
    } else if x11_dl::xinput2::XInput2::open().is_err() {
        missing("libXi.so.6", "libxi6")
    } else if xkbcommon_dl::x11::xkbcommon_x11_option().is_none() {
        missing("libxkbcommon-x11.so.0", "libxkbcommon-x11-0")
    } else {
        None
    }
}

/// Elsewhere the window system is part of the system.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(super) fn first_missing(_wayland: bool) -> Option<Missing> {
    None
}
