//! Hooks of agents and tickets (SPEC §13): the program as an agent starts it, and the window without a display, in which a
//! script decides as a person does.

mod agents;
mod answers;
pub mod person;
mod settings;
mod tickets;
mod types;
