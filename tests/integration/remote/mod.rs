//! Commands on another host, by a real `sshd` on loopback (SPEC §7.3).

mod lookups;
mod plans;
mod sessions;
