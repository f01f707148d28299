//! Filled by the tests.
