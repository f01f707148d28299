//! What the desktop says about how windows should look, for a person who needs less motion.

use super::{Query, QueryContext, QueryError};

/// What the desktop prefers; `None` where it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DesktopLook {
    /// Whether little should move.
    pub reduced_motion: Option<bool>,
}

/// Asks the desktop how windows should look.
pub struct ReadDesktopLook;

impl Query for ReadDesktopLook {
    type Answer = DesktopLook;
    const FAILURE: &str = "The desktop cannot be asked.";
    // A desktop that does not answer holds up no other query.
    const OWN_THREAD: bool = true;

    fn run(self, _context: &mut QueryContext) -> Result<DesktopLook, QueryError> {
        Ok(portal::look(None))
    }
}

#[cfg(target_os = "linux")]
mod portal {
    use std::time::Duration;

    use zbus::blocking::Connection;
    use zbus::blocking::connection::Builder;
    use zbus::zvariant::{OwnedValue, Value};

    use super::DesktopLook;

    /// How long the desktop may take for an answer.
    const PATIENCE: Duration = Duration::from_secs(3);

    /// The look in the settings portal of the session. `bus` is the address of another bus.
    pub(super) fn look(bus: Option<&str>) -> DesktopLook {
        let connection = match bus {
            Some(address) => Builder::address(address),
            None => Builder::session(),
        };
        let connection = connection.and_then(|builder| builder.method_timeout(PATIENCE).build());
        let Ok(connection) = connection else { return DesktopLook::default() };
        let appearance = read(&connection, "org.freedesktop.appearance", "reduced-motion");
        let of_appearance =
            appearance.and_then(|value| u32::try_from(value).ok()).map(|it| it == 1);
        // Desktops that do not have the key of the portal yet have this one.
        let animations = || read(&connection, "org.gnome.desktop.interface", "enable-animations");
        let reduced_motion = of_appearance.or_else(|| {
            animations().and_then(|value| bool::try_from(value).ok()).map(|animated| !animated)
        });
        DesktopLook { reduced_motion }
    }

    fn read(connection: &Connection, namespace: &str, key: &str) -> Option<OwnedValue> {
        let (name, path) = ("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop");
        let interface = Some("org.freedesktop.portal.Settings");
        let body = (namespace, key);
        let answer = connection.call_method(Some(name), path, interface, "Read", &body).ok()?;
        let body = answer.body();
        let mut value: Value<'_> = body.deserialize().ok()?;
        // The portal wraps the value of a setting in further values of the bus.
        while let Value::Value(inner) = value {
            value = *inner;
        }
        value.try_to_owned().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod portal {
    use super::DesktopLook;

    /// This system has no settings portal.
    pub(super) fn look(_: Option<&str>) -> DesktopLook {
        DesktopLook::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desktop_that_cannot_be_reached_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("unix:path={}", folder.path().join("bus").display());
        assert_eq!(portal::look(Some(&address)), DesktopLook::default());
    }
}
