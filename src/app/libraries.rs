//! Checks for the system libraries that the window needs. Without this check, the bindings of the window system would
//! panic, or report an error that does not name the library.
//!
//! Only [`super::run`] calls it. A missing OpenGL is found only when the window is created.

/// The file name of the first missing library, and its Debian package. With `wayland`, the X libraries are not checked.
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn first_missing(wayland: bool) -> Option<(&'static str, &'static str)> {
    type Check = (fn() -> bool, &'static str, &'static str);
    const ALWAYS: Check =
        (|| xkbcommon_dl::xkbcommon_option().is_some(), "libxkbcommon.so.0", "libxkbcommon0");
    const X11: [Check; 5] = [
        (|| x11_dl::xlib::Xlib::open().is_ok(), "libX11.so.6", "libx11-6"),
        (|| x11_dl::xlib_xcb::Xlib_xcb::open().is_ok(), "libX11-xcb.so.1", "libx11-xcb1"),
        (|| x11_dl::xcursor::Xcursor::open().is_ok(), "libXcursor.so.1", "libxcursor1"),
        (|| x11_dl::xinput2::XInput2::open().is_ok(), "libXi.so.6", "libxi6"),
        (
            || xkbcommon_dl::x11::xkbcommon_x11_option().is_some(),
            "libxkbcommon-x11.so.0",
            "libxkbcommon-x11-0",
        ),
    ];
    let of_display: &[Check] = if wayland { &[] } else { &X11 };
    let missing = [ALWAYS].iter().chain(of_display).find(|(is_loadable, ..)| !is_loadable())?;
    Some((missing.1, missing.2))
}

/// On other systems these libraries are part of the system.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(super) fn first_missing(_wayland: bool) -> Option<(&'static str, &'static str)> {
    None
}
