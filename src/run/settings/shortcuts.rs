//! The table `[shortcuts]` of the settings: the keys of commands that a person chose.

use std::collections::BTreeMap;

use super::{COMMANDS, FIXED, Keys};

/// The keys in force, for each command of [`COMMANDS`] at its place there; `None` for a command without a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortcuts(Vec<Option<Keys>>);

impl Default for Shortcuts {
    /// The usual keys.
    fn default() -> Self {
        Self(COMMANDS.iter().map(|(_, keys)| Keys::parse(keys).ok()).collect())
    }
}

/// Why the keys of a command cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFault {
    /// The settings name a command that does not exist.
    NoCommand(String),
    /// What is written is no key.
    NoKey(String, String),
    /// The key of the command, or the key itself, is fixed, for this reason.
    Fixed(String, &'static str),
    /// One press may be meant for two commands. First the one whose keys were chosen.
    Clash([(&'static str, Keys); 2]),
}

impl std::fmt::Display for KeyFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoCommand(name) => write!(f, "shortcuts.{name}: there is no such command"),
            Self::NoKey(name, why) => write!(f, "shortcuts.{name}: {why}"),
            Self::Fixed(name, why) => write!(f, "shortcuts.{name} cannot be set: {why}"),
            Self::Clash([(one, keys), (other, others)]) if keys == others => {
                write!(f, "shortcuts.{one} and shortcuts.{other} would both be {keys}")
            }
            Self::Clash([(one, keys), (other, others)]) => write!(
                f,
                "shortcuts.{one} would be {keys} and shortcuts.{other} {others}, and one press may be meant for both: a sign \
                 needs Shift or Alt on some keyboards"
            ),
        }
    }
}

impl KeyFault {
    /// The name in the settings that it is about.
    pub fn name(&self) -> &str {
        match self {
            Self::NoCommand(name) | Self::NoKey(name, _) | Self::Fixed(name, _) => name,
            Self::Clash([(name, _), _]) => name,
        }
    }
}

impl Shortcuts {
    /// The usual keys with those of the settings in their place.
    ///
    /// # Errors
    /// The first fault: an unknown command, no key, a fixed one, or two commands with the same keys.
    pub fn of(chosen: &BTreeMap<String, String>) -> Result<Self, KeyFault> {
        let mut all = Self::default();
        for (name, text) in chosen {
            let place = place_of(name).ok_or_else(|| KeyFault::NoCommand(name.clone()))?;
            if let Some(why) = why_fixed(name) {
                return Err(KeyFault::Fixed(name.clone(), why));
            }
            let keys = match text.trim() {
                "" => None,
                text => {
                    let keys =
                        Keys::parse(text).map_err(|why| KeyFault::NoKey(name.clone(), why))?;
                    match keys.why_not() {
                        Some(why) => return Err(KeyFault::Fixed(name.clone(), why)),
                        None => Some(keys),
                    }
                }
            };
            if let Some(slot) = all.0.get_mut(place) {
                *slot = keys;
            }
        }
        let named = || {
            COMMANDS.iter().zip(&all.0).filter_map(|((name, _), it)| Some((*name, it.as_ref()?)))
        };
        for (place, (name, keys)) in named().enumerate() {
            if let Some((first, others)) = named().take(place).find(|(_, it)| it.meets(keys)) {
                let mut both = [(name, keys.clone()), (first, others.clone())];
                if !chosen.contains_key(name) {
                    both.reverse();
                }
                return Err(KeyFault::Clash(both));
            }
        }
        Ok(all)
    }

    /// The keys of the command at this place in [`COMMANDS`].
    pub fn at(&self, place: usize) -> Option<&Keys> {
        self.0.get(place)?.as_ref()
    }

    /// The command for which a press of these keys may be meant, by its place in [`COMMANDS`].
    pub fn command_of(&self, keys: &Keys) -> Option<usize> {
        self.0.iter().position(|it| it.as_ref().is_some_and(|it| it.meets(keys)))
    }
}

/// The place of the command with this name in [`COMMANDS`].
pub fn place_of(name: &str) -> Option<usize> {
    COMMANDS.iter().position(|(it, _)| *it == name)
}

/// Why the key of the command with this name cannot be changed; `None` if it can.
pub fn why_fixed(name: &str) -> Option<&'static str> {
    FIXED.iter().find(|(it, _)| *it == name).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(chosen: &[(&str, &str)]) -> Result<Shortcuts, String> {
        let chosen = chosen.iter().map(|(name, keys)| ((*name).to_owned(), (*keys).to_owned()));
        Shortcuts::of(&chosen.collect()).map_err(|fault| fault.to_string())
    }

    fn keys(all: &Shortcuts, name: &str) -> Option<String> {
        all.at(place_of(name).unwrap()).map(Keys::to_string)
    }

    #[test]
    fn chosen_keys_take_the_place_of_the_usual_ones() {
        let all = of(&[("palette", "ctrl+shift+k"), ("reject", "F12"), ("find", "")]).unwrap();
        assert_eq!(keys(&all, "palette").as_deref(), Some("Ctrl+Shift+K"));
        assert_eq!(keys(&all, "reject").as_deref(), Some("F12"));
        assert_eq!(keys(&all, "find"), None);
        assert_eq!(keys(&all, "open_plan").as_deref(), Some("Ctrl+O"));
        // Two commands exchange their keys.
        let all = of(&[("palette", "Ctrl+O"), ("open_plan", "Ctrl+K")]).unwrap();
        assert_eq!(all.command_of(&Keys::parse("Ctrl+O").unwrap()), place_of("palette"));
        assert_eq!(of(&[]).unwrap(), Shortcuts::default());
    }

    #[test]
    fn faults_name_the_commands() {
        for (chosen, words) in [
            (&[("palette", "Ctrl+O")][..], &["open_plan", "palette", "Ctrl+O"][..]),
            (&[("fly", "Ctrl+O")], &["shortcuts.fly", "no such command"]),
            (&[("palette", "Ctrl+Nothing")], &["shortcuts.palette", "is no key"]),
            (&[("stop_now", "F12")], &["shortcuts.stop_now", "stops everything"]),
            (&[("stop_now", "")], &["shortcuts.stop_now"]),
            (&[("next_step", "Ctrl+N")], &["shortcuts.next_step", "arrow"]),
            (&[("palette", "Enter")], &["shortcuts.palette", "dialogs"]),
            (&[("palette", "Ctrl+Shift+.")], &["palette", "stop_now"]),
            (
                &[("run", "Ctrl+.")],
                &["shortcuts.run", "Ctrl+. ", "shortcuts.stop_now", "Ctrl+Shift+."],
            ),
            (&[("run", "Ctrl+Alt+.")], &["shortcuts.run", "stop_now"]),
            (&[("run", "Ctrl+Alt+Shift+.")], &["shortcuts.run", "stop_now"]),
            (&[("run", "Ctrl+Shift+1")], &["shortcuts.run", "shortcuts.go_plan"]),
        ] {
            let fault = of(chosen).unwrap_err();
            assert!(words.iter().all(|word| fault.contains(word)), "{fault}");
        }
    }

    /// Names in settings files must go on to mean the same command.
    #[test]
    fn names_of_commands_stay() {
        let names: Vec<_> = COMMANDS.iter().map(|(name, _)| *name).collect();
        insta::assert_snapshot!(names.join("\n"));
    }
}
