//! Commands on another host, by a real `sshd` on loopback (SPEC §7.3).

mod asked;
mod connecting;
mod fleet;
mod fleet_control;
mod goal;
mod host_approval;
mod inputs;
mod lookups;
mod lost;
mod plans;
mod sessions;
mod terminal;
