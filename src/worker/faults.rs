//! Injected panics for tests of threads and views that panic.
//!
//! In release builds no fault can be planted, and `strike` does nothing.

#[cfg(any(test, feature = "inspection"))]
use std::sync::{Arc, Mutex, PoisonError};

/// The planted panics, shared by all clones.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    #[cfg(any(test, feature = "inspection"))]
    planted: Arc<Mutex<Vec<String>>>,
}

#[cfg(any(test, feature = "inspection"))]
impl Faults {
    /// The faults that the environment variable `COUNTERSIGN_FAULTS` names, separated by commas.
    pub fn from_environment() -> Self {
        let faults = Self::default();
        let named = std::env::var("COUNTERSIGN_FAULTS").unwrap_or_default();
        named.split(',').filter(|place| !place.is_empty()).for_each(|place| faults.plant(place));
        faults
    }

    /// Makes the next [`strike`](Self::strike) at this place panic.
    pub fn plant(&self, place: &str) {
        self.planted.lock().unwrap_or_else(PoisonError::into_inner).push(place.to_owned());
    }

    /// Panics if a fault was planted at this place, and removes it.
    #[expect(clippy::panic, reason = "a planted fault is a panic")]
    pub fn strike(&self, place: &str) {
        let mut planted = self.planted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = planted.iter().position(|other| other == place) {
            planted.swap_remove(index);
            // A panic message is untrusted text, so it holds a character that must be made visible.
            panic!("planted in the {place}: \u{202e}desrever");
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
    pub const fn strike(&self, _place: &str) {}
}
