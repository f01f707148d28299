//! The real agents.
