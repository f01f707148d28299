//! Access that a command needs beyond its walls (SPEC §1.2, §7.5).

use serde::{Deserialize, Serialize};

/// Access beyond walls, as a plan states it, the review proposes it, or a class allows it. Approving a plan grants the
/// needs that it states.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Needs {
    /// The network of this computer.
    pub network: bool,
    /// Folders or files outside the workspace that the command writes: absolute, below `~/`, or relative to the
    /// workspace.
    pub write: Vec<String>,
    /// A terminal instead of closed input.
    pub terminal: bool,
    /// No walls, for a command that needs `sudo` or the socket of a daemon.
    pub open: bool,
}

impl Needs {
    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the needs of another command.
    pub fn add(&mut self, other: &Self) {
        self.network |= other.network;
        self.terminal |= other.terminal;
        self.open |= other.open;
        for path in &other.write {
            if !self.write.contains(path) {
                self.write.push(path.clone());
            }
        }
    }

    /// The needs that `granted` does not cover. If `granted` is open, only a terminal can be missing.
    #[must_use]
    pub fn beyond(&self, granted: &Self) -> Self {
        if granted.open {
            let terminal = self.terminal && !granted.terminal;
            return Self { terminal, ..Self::default() };
        }
        Self {
            network: self.network && !granted.network,
            write: self.write.iter().filter(|it| !granted.write.contains(it)).cloned().collect(),
            terminal: self.terminal && !granted.terminal,
            open: self.open,
        }
    }
}

impl std::fmt::Display for Needs {
    /// A list such as `network, writes ~/.cargo/registry`, or `nothing`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let write = Some(&self.write)
            .filter(|it| !it.is_empty())
            .map(|it| format!("writes {}", it.join(", ")));
        let parts = [
            self.open.then(|| "no walls".to_owned()),
            self.network.then(|| "network".to_owned()),
            write,
            self.terminal.then(|| "a terminal".to_owned()),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }.as_str())
    }
}
