//! Notifications of the desktop: a window that is not in front says that it is waited for, or how its run ended.
//!
//! A notification never tells what a plan is about, because others may see the screen, and servers keep a history. It is
//! sent on a thread of its own, which a server that does not answer holds up at most for [`PATIENCE`]. A desktop without
//! a server is no error: the settings say so, and the title of the window tells the same.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the thread waits for a server.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the desktop is to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    /// This text.
    Show(String),
    /// Nothing any more: the person has seen the window.
    Withdraw,
}

/// Sends notifications. The thread starts with the first one and ends with the window.
#[derive(Debug, Default)]
pub struct Notifier {
    sender: Option<SyncSender<Notification>>,
    fault: Arc<Mutex<Option<String>>>,
    /// The address of another bus than that of the session; a test has its own.
    bus: Option<String>,
}

impl Notifier {
    /// Sends a notification in place of the last one. If the thread is busy with several, this one is dropped.
    pub fn send(&mut self, notification: Notification) {
        if self.sender.is_none() {
            if notification == Notification::Withdraw {
                return;
            }
            self.start();
        }
        if let Some(sender) = &self.sender {
            // A full queue means a slow server, which has enough to show.
            let _ = sender.try_send(notification);
        }
    }

    /// Why the last notification could not be shown; `None` if it could, or none was sent.
    pub fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn start(&mut self) {
        let (sender, receiver) = sync_channel(4);
        let fault = Arc::clone(&self.fault);
        let bus = self.bus.clone();
        let started = std::thread::Builder::new()
            .name("notifications".to_owned())
            .spawn(move || serve(&receiver, bus.as_deref(), &fault));
        match started {
            Ok(_) => self.sender = Some(sender),
            Err(error) => set(&self.fault, Some(error.to_string())),
        }
    }
}

fn set(fault: &Mutex<Option<String>>, value: Option<String>) {
    *fault.lock().unwrap_or_else(PoisonError::into_inner) = value;
}

fn serve(notifications: &Receiver<Notification>, bus: Option<&str>, fault: &Mutex<Option<String>>) {
    let mut server = server::Server::default();
    for notification in notifications {
        set(fault, server.take(&notification, bus).err());
    }
}

#[cfg(target_os = "linux")]
mod server {
    use std::collections::HashMap;

    use zbus::blocking::Connection;
    use zbus::blocking::connection::Builder;
    use zbus::zvariant::Value;

    use super::{Notification, PATIENCE};

    /// The notification server of the session (the Desktop Notifications Specification).
    #[derive(Default)]
    pub(super) struct Server {
        connection: Option<Connection>,
        /// The id of the notification that is shown; 0 for none.
        shown: u32,
    }

    impl Server {
        /// Shows or withdraws a notification.
        ///
        /// # Errors
        /// Why it is not shown, as a message.
        pub(super) fn take(
            &mut self,
            notification: &Notification,
            bus: Option<&str>,
        ) -> Result<(), String> {
            let done = match notification {
                Notification::Show(text) => self.show(text, bus),
                Notification::Withdraw => self.withdraw(),
            };
            // The server may have ended; the next notification connects anew.
            done.inspect_err(|_| *self = Self::default()).map_err(|error| error.to_string())
        }

        fn show(&mut self, text: &str, bus: Option<&str>) -> zbus::Result<()> {
            let connection = match &self.connection {
                Some(connection) => connection,
                None => {
                    let builder = match bus {
                        Some(address) => Builder::address(address)?,
                        None => Builder::session()?,
                    };
                    self.connection.insert(builder.method_timeout(PATIENCE).build()?)
                }
            };
            let name = "io.github.countersign.Countersign";
            let hints = HashMap::from([("desktop-entry", Value::from(name))]);
            let actions: [&str; 0] = [];
            // The body is empty, and the server decides how long the notification stays.
            let body = ("Countersign", self.shown, name, text, "", &actions[..], hints, -1_i32);
            self.shown = call(connection, "Notify", &body)?.body().deserialize()?;
            Ok(())
        }

        fn withdraw(&mut self) -> zbus::Result<()> {
            let shown = std::mem::take(&mut self.shown);
            match &self.connection {
                Some(connection) if shown != 0 => {
                    // An error means that the person has closed it.
                    let _ = call(connection, "CloseNotification", &(shown,));
                    Ok(())
                }
                _ => Ok(()),
            }
        }
    }

    fn call<B>(connection: &Connection, method: &str, body: &B) -> zbus::Result<zbus::Message>
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
    {
        let name = "org.freedesktop.Notifications";
        let path = "/org/freedesktop/Notifications";
        connection.call_method(Some(name), path, Some(name), method, body)
    }
}

#[cfg(not(target_os = "linux"))]
mod server {
    use super::Notification;

    /// This system has no server that this program knows.
    #[derive(Default)]
    pub(super) struct Server;

    impl Server {
        /// Always fails.
        ///
        /// # Errors
        /// Always.
        pub(super) fn take(&mut self, _: &Notification, _: Option<&str>) -> Result<(), String> {
            Err("notifications are sent on Linux only".to_owned())
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::Sender;

    use zbus::zvariant::OwnedValue;

    use super::*;

    /// A bus of its own.
    struct Bus {
        daemon: Child,
        address: String,
    }

    impl Bus {
        #[expect(clippy::disallowed_methods, reason = "starts the bus that the test talks to")]
        fn start() -> Self {
            let mut daemon = Command::new("dbus-daemon")
                .args(["--session", "--nofork", "--print-address"])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()
                .expect("dbus-daemon is installed");
            let mut address = String::new();
            BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut address).unwrap();
            Self { daemon, address: address.trim().to_owned() }
        }
    }

    impl Drop for Bus {
        fn drop(&mut self) {
            let _ = self.daemon.kill();
            let _ = self.daemon.wait();
        }
    }

    /// A notification server that reports each call.
    struct TestServer(Sender<String>);

    #[zbus::interface(name = "org.freedesktop.Notifications")]
    impl TestServer {
        #[expect(clippy::too_many_arguments, reason = "the arguments of the specification")]
        fn notify(
            &self,
            app_name: &str,
            replaces_id: u32,
            _icon: &str,
            summary: &str,
            body: &str,
            _actions: Vec<String>,
            _hints: std::collections::HashMap<String, OwnedValue>,
            _timeout: i32,
        ) -> u32 {
            let _ = self.0.send(format!("{app_name} {replaces_id}: {summary}|{body}"));
            7
        }

        fn close_notification(&self, id: u32) {
            let _ = self.0.send(format!("close {id}"));
        }
    }

    fn next(calls: &Receiver<String>) -> String {
        calls.recv_timeout(Duration::from_secs(20)).expect("a call")
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the calls of one test are few")]
    fn server_gets_one_notification_at_a_time() {
        let bus = Bus::start();
        let (sender, calls) = std::sync::mpsc::channel();
        let _server = zbus::blocking::connection::Builder::address(bus.address.as_str())
            .unwrap()
            .serve_at("/org/freedesktop/Notifications", TestServer(sender))
            .unwrap()
            .name("org.freedesktop.Notifications")
            .unwrap()
            .build()
            .unwrap();
        let mut notifier = Notifier { bus: Some(bus.address.clone()), ..Notifier::default() };
        notifier.send(Notification::Withdraw);
        notifier.send(Notification::Show("A run waits for you".to_owned()));
        assert_eq!(next(&calls), "Countersign 0: A run waits for you|");
        notifier.send(Notification::Show("The run failed".to_owned()));
        assert_eq!(next(&calls), "Countersign 7: The run failed|", "it replaces the first one");
        notifier.send(Notification::Withdraw);
        assert_eq!(next(&calls), "close 7");
        notifier.send(Notification::Show("A run waits for you".to_owned()));
        assert_eq!(next(&calls), "Countersign 0: A run waits for you|");
        assert_eq!(notifier.fault(), None);
    }

    #[test]
    fn missing_server_is_a_fault_and_no_more() {
        let bus = Bus::start();
        for address in [bus.address.clone(), "unix:path=/nowhere/bus".to_owned()] {
            let (sender, receiver) = sync_channel(2);
            let fault = Mutex::new(None);
            for _ in 0..2 {
                sender.send(Notification::Show("A run waits for you".to_owned())).unwrap();
            }
            drop(sender);
            serve(&receiver, Some(&address), &fault);
            assert!(fault.into_inner().unwrap().is_some(), "{address}");
        }
    }
}
