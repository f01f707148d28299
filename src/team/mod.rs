//! Evidence of a team in PostgreSQL (SPEC §14): pushing records there, reading them, and verifying their chains.
//!
//! The other room with SQL is `evidence`; this one knows only the server's. Everything here waits for a server, so the window
//! calls it on a thread of its own, and every wait has a limit and can be stopped (`stream.rs`). A password is read where it is needed and is
//! in no error, no debug output and no record (`server.rs`).
//!
//! # Who is trusted with what
//!
//! A pushing client is not trusted: `assets/team/setup.sql` lets it insert rows into one table, checks in the server that each
//! row continues the chain of its origin, and makes everything that searches read from those rows. So a client with the
//! writer's role can neither change a record, leave one out, begin a second history, nor describe a record in another way
//! than the record itself does. The owner of the database is trusted as far as `verify` reaches: the chains are computed anew
//! from the rows, and what is shown of a hit comes from its row in the chain.
//!
//! A server is not trusted either: it gets redacted text, and never a content that is stored encrypted because it has a
//! secret.

mod conditions;
mod connection;
mod error;
mod password;
mod push;
mod rows;
mod search;
mod server;
mod show;
mod stream;
mod tls;
mod verify;

pub use conditions::TeamPlace;
pub use error::TeamError;
pub use push::{PushReport, push};
pub use search::{TeamHit, TeamPage, TeamQuery, search};
pub use server::Server;
pub use show::{TeamExecution, content, executions};
pub use stream::Patience;
pub use verify::{OriginReport, verify};

/// The script that makes a database ready. It may be run again.
pub const SETUP: &str = include_str!("../../assets/team/setup.sql");

/// The version of what [`SETUP`] makes.
const FORMAT: i64 = 2;
