//! `countersign acp` (SPEC §13): with the real Gemini CLI, which `packaging/test.sh` installs and which needs no server in
//! these tests, and with an agent that does what a script says.

mod gemini;
mod scripted;
mod session;
mod terminal;
#[cfg(feature = "inspection")]
mod window;
