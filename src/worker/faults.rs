//! Injected panics, for tests of panics in threads and views.
//!
//! Without the feature `inspection`, no panic can be planted outside of tests, and `hit` does nothing.

#[cfg(any(test, feature = "inspection"))]
use std::sync::{Arc, Mutex, PoisonError};

/// The planted panics. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    #[cfg(any(test, feature = "inspection"))]
    planted: Arc<Mutex<Vec<String>>>,
}

#[cfg(any(test, feature = "inspection"))]
impl Faults {
    /// A panic at each point that the environment variable `COUNTERSIGN_FAULTS` names. Its names are separated by
    /// commas.
    pub fn from_environment() -> Self {
        let faults = Self::default();
        let names = std::env::var("COUNTERSIGN_FAULTS").unwrap_or_default();
        names.split(',').filter(|name| !name.is_empty()).for_each(|name| faults.plant(name));
        faults
    }

    /// Makes the next [`hit`](Self::hit) with this name panic.
    pub fn plant(&self, name: &str) {
        self.planted.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
    }

    /// Marks the point with this name in the program. Panics if a panic was planted there, once.
    #[expect(clippy::panic, reason = "a planted fault is a panic")]
    pub fn hit(&self, name: &str) {
        let mut planted = self.planted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = planted.iter().position(|other| other == name) {
            planted.swap_remove(index);
            // A panic message is untrusted text: this one contains a character that must be made visible.
            panic!("planted in the {name}: \u{202e}desrever");
        }
    }
}

#[cfg(not(any(test, feature = "inspection")))]
impl Faults {
    /// No faults.
    pub const fn from_environment() -> Self {
        Self {}
    }

    /// Does nothing.
    pub const fn hit(&self, _name: &str) {}
}
