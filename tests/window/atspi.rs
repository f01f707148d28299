//! The window as a screen reader gets it: over AT-SPI, on buses of its own, from outside of the program.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;

use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;
use zbus::zvariant::{OwnedObjectPath, OwnedValue, Value};

use super::attention::Bus;
use super::harness::Desktop;
use super::screen::{Outcome, need, poll};

const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const REGISTRY: &str = "org.a11y.atspi.Registry";
const ROOT: &str = "/org/a11y/atspi/accessible/root";

/// A session bus with the services of assistive technology, which say that a screen reader runs.
pub(super) struct AccessBus {
    /// Ends first, and with it the services that it has started.
    bus: Bus,
    connection: Connection,
    _folder: tempfile::TempDir,
}

/// The numbers of states in AT-SPI.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub(super) enum State {
    Editable = 7,
    Enabled = 8,
    Modal = 16,
    Selected = 23,
}

/// One object of the tree.
#[derive(Debug, Clone)]
pub(super) struct Object {
    owner: String,
    path: OwnedObjectPath,
    pub(super) role: &'static str,
    pub(super) name: String,
    pub(super) description: String,
    states: u64,
    interfaces: Vec<String>,
}

impl Object {
    pub(super) fn is(&self, state: State) -> bool {
        self.states & (1 << (state as u32)) != 0
    }

    pub(super) fn has(&self, interface: &str) -> bool {
        self.interfaces.iter().any(|it| it == &format!("org.a11y.atspi.{interface}"))
    }
}

impl AccessBus {
    pub(super) fn start() -> Outcome<Self> {
        need(&["dbus-daemon"], "sh packaging/test.sh")?;
        let folder = tempfile::tempdir().expect("a folder for the buses");
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), private).expect("a private folder");
        let bus = Bus::start_in(Some(folder.path()));
        let session = connect(&bus.address);
        let address: String = answer(
            &session,
            ("org.a11y.Bus", "/org/a11y/bus"),
            ("org.a11y.Bus", "GetAddress"),
            &(),
        );
        let enabled = ("org.a11y.Status", "IsEnabled", Value::from(true));
        let to = ("org.a11y.Bus", "/org/a11y/bus");
        answer::<(), _>(&session, to, (PROPERTIES, "Set"), &enabled);
        Ok(Self { bus, connection: connect(&address), _folder: folder })
    }

    /// Starts the program on this bus, and waits until it is in the tree.
    pub(super) fn start_program(&self, arguments: &[&str]) -> Outcome<Desktop> {
        let mut desktop = Desktop::start_here_on_bus(arguments, &self.bus.address)?;
        self.wait_for_window(&mut desktop)?;
        Ok(desktop)
    }

    /// As [`Self::start_program`], with these settings and this environment.
    pub(super) fn start_program_with(
        &self,
        settings: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Outcome<Desktop> {
        let own = [("DBUS_SESSION_BUS_ADDRESS", self.bus.address.as_str())];
        let environment = [&own, environment].concat();
        let mut desktop = Desktop::start_here_with_settings(settings, arguments, &environment)?;
        self.wait_for_window(&mut desktop)?;
        Ok(desktop)
    }

    fn wait_for_window(&self, desktop: &mut Desktop) -> Outcome {
        desktop.wait_until("the window is there for a screen reader", |_| {
            Ok(self.objects().iter().any(|it| it.name == "Pages").then_some(()))
        })
    }

    /// All objects of the program, each after the one that it is a part of.
    pub(super) fn objects(&self) -> Vec<Object> {
        let mut found = Vec::new();
        let mut stack = self.children(REGISTRY, ROOT);
        while let Some((owner, path)) = stack.pop() {
            // What has gone meanwhile is no longer a part of the window.
            let Some(object) = self.object(owner, path) else { continue };
            let children = self.children(&object.owner, object.path.as_str());
            stack.extend(children.into_iter().rev());
            found.push(object);
        }
        found
    }

    /// Presses a control. Returns whether the request was taken, which says nothing about its effect.
    pub(super) fn press(&self, object: &Object) -> bool {
        self.ask(object, "Action", "DoAction", &0_i32).unwrap_or(false)
    }

    /// Whether an object still has its name: the place of a button may have another command by now.
    pub(super) fn is_still(&self, object: &Object) -> bool {
        let now = self.object(object.owner.clone(), object.path.clone());
        now.is_some_and(|it| it.name == object.name && it.role == object.role)
    }

    /// Asks for the keyboard.
    pub(super) fn grab_focus(&self, object: &Object) -> bool {
        self.ask(object, "Component", "GrabFocus", &()).unwrap_or(false)
    }

    /// Calls a method of an interface of AT-SPI; `None` if the object does not have it.
    pub(super) fn ask<T: serde::de::DeserializeOwned + zbus::zvariant::Type>(
        &self,
        object: &Object,
        interface: &str,
        method: &str,
        arguments: &(impl serde::Serialize + zbus::zvariant::DynamicType),
    ) -> Option<T> {
        let interface = format!("org.a11y.atspi.{interface}");
        let to = (object.owner.as_str(), object.path.as_str());
        try_answer(&self.connection, to, (&interface, method), arguments)
    }

    /// Sets the value of a control, as that of a slider.
    pub(super) fn set_value(&self, object: &Object, value: f64) -> bool {
        let arguments = ("org.a11y.atspi.Value", "CurrentValue", Value::from(value));
        let to = (object.owner.as_str(), object.path.as_str());
        try_answer::<(), _>(&self.connection, to, (PROPERTIES, "Set"), &arguments).is_some()
    }

    /// What was announced as the answer to a request.
    pub(super) fn wait_for_answer(&self, text: &str) -> Outcome<bool> {
        let found = poll(|| {
            let objects = self.objects();
            Ok(objects.iter().any(|it| it.name.contains(text)).then_some(()))
        })?;
        Ok(found.is_some())
    }

    fn children(&self, owner: &str, path: &str) -> Vec<(String, OwnedObjectPath)> {
        try_answer(&self.connection, (owner, path), (ACCESSIBLE, "GetChildren"), &())
            .unwrap_or_default()
    }

    fn object(&self, owner: String, path: OwnedObjectPath) -> Option<Object> {
        let to = (owner.as_str(), path.as_str());
        let connection = &self.connection;
        let properties: HashMap<String, OwnedValue> =
            try_answer(connection, to, (PROPERTIES, "GetAll"), &ACCESSIBLE)?;
        let text = |name: &str| {
            let value = properties.get(name).and_then(|it| <&str>::try_from(it).ok());
            value.unwrap_or_default().to_owned()
        };
        let role: u32 = try_answer(connection, to, (ACCESSIBLE, "GetRole"), &())?;
        let role = role_name(role);
        let states: Vec<u32> = try_answer(connection, to, (ACCESSIBLE, "GetState"), &())?;
        let states = states.iter().rev().fold(0, |all, part| all << 32 | u64::from(*part));
        let interfaces = try_answer(connection, to, (ACCESSIBLE, "GetInterfaces"), &())?;
        let (name, description) = (text("Name"), text("Description"));
        Some(Object { role, name, description, states, interfaces, owner, path })
    }
}

/// The name of a role by its number in AT-SPI, as far as the tests need it.
fn role_name(number: u32) -> &'static str {
    match number {
        0 => "invalid",
        7 => "check box",
        8 => "check menu item",
        11 => "combo box",
        16 => "dialog",
        29 => "label",
        32 => "list item",
        35 => "menu item",
        37 => "page tab",
        40 => "password text",
        43 => "button",
        44 => "radio button",
        45 => "radio menu item",
        51 => "slider",
        52 => "spin button",
        62 => "toggle button",
        67 => "unknown",
        79 => "entry",
        83 => "heading",
        88 => "link",
        110 => "landmark",
        _ => "something else",
    }
}

fn connect(address: &str) -> Connection {
    Builder::address(address).and_then(Builder::build).expect("a connection to the bus")
}

type To<'a> = (&'a str, &'a str);

fn try_answer<T, A>(connection: &Connection, to: To<'_>, call: To<'_>, arguments: &A) -> Option<T>
where
    T: serde::de::DeserializeOwned + zbus::zvariant::Type,
    A: serde::Serialize + zbus::zvariant::DynamicType,
{
    let reply = connection.call_method(Some(to.0), to.1, Some(call.0), call.1, arguments);
    reply.ok()?.body().deserialize().ok()
}

#[track_caller]
fn answer<T, A>(connection: &Connection, to: To<'_>, call: To<'_>, arguments: &A) -> T
where
    T: serde::de::DeserializeOwned + zbus::zvariant::Type,
    A: serde::Serialize + zbus::zvariant::DynamicType,
{
    try_answer(connection, to, call, arguments)
        .unwrap_or_else(|| panic!("{} does not answer {}; at-spi2-core is needed", to.0, call.1))
}
