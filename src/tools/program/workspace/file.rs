//! `countersign.toml` (SPEC §9): the commands that verify, build, run and test a workspace. Parses the bytes
//! of the file into commands and a list of all faults, and does not access the disk.

use std::time::Duration;

use toml::de::DeTable;

use super::matcher::{Matcher, Pattern};
use super::needs;
use super::parser::{Field, Parser, position};
use crate::plan::{Digest, Needs};

pub use super::parser::Fault;

/// The file's name, in the workspace folder.
pub use crate::plan::COMMANDS_FILE as FILE;
/// Maximum size of the file, in bytes.
pub(in crate::tools::program) const FILE_BYTES: u64 = 64 << 10;
/// Maximum length of a command, in bytes.
const COMMAND_BYTES: usize = 16 << 10;
/// Maximum length of a pattern, in bytes.
const PATTERN_BYTES: usize = 4 << 10;
/// Maximum timeout of a command, in seconds: one day.
const MAX_SECONDS: u64 = 24 * 60 * 60;
/// Default timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// The purpose of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the keys in the file")]
pub enum CommandName {
    VerifyLocal,
    VerifyFull,
    Build,
    Run,
    Test,
}

impl CommandName {
    /// The key in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VerifyLocal => "verify.local",
            Self::VerifyFull => "verify.full",
            Self::Build => "build",
            Self::Run => "run",
            Self::Test => "test",
        }
    }

    /// The name of the command in messages.
    pub(in crate::tools::program) const fn display_name(self) -> &'static str {
        match self {
            Self::VerifyLocal | Self::VerifyFull => "the verify command",
            Self::Build => "the build command",
            Self::Run => "the run command",
            Self::Test => "the test command",
        }
    }
}

/// One command of the file.
#[derive(Debug, Clone)]
pub struct WorkspaceCommand {
    /// The purpose of the command.
    pub name: CommandName,
    /// The command line, for a shell.
    pub command: String,
    /// The time after which the command is ended.
    pub timeout: Duration,
    /// The access that the command needs beyond its walls. A person grants it by trusting the file.
    pub needs: Needs,
    /// The matcher that parses the output.
    pub(in crate::tools::program) matcher: Matcher,
}

impl WorkspaceCommand {
    /// A short description of the matcher.
    pub fn matcher(&self) -> String {
        self.matcher.description()
    }
}

/// The parsed file.
#[derive(Debug, Clone)]
pub struct WorkspaceCommands {
    /// The digest of the exact bytes of the file. A person trusts a file by this digest.
    pub digest: Digest,
    /// The commands, in the order of [`CommandName`].
    pub commands: Vec<WorkspaceCommand>,
    /// The faults of the file. A file with a fault is not used.
    pub faults: Vec<Fault>,
}

impl WorkspaceCommands {
    /// Parses the text of a file.
    pub fn read(text: &str) -> Self {
        parse(text.as_bytes())
    }

    /// The command with this name, if the file has one.
    pub(in crate::tools::program) fn get(&self, name: CommandName) -> Option<&WorkspaceCommand> {
        self.commands.iter().find(|command| command.name == name)
    }
}

/// Parses the bytes of the file.
pub(in crate::tools::program) fn parse(bytes: &[u8]) -> WorkspaceCommands {
    let digest = Digest::of(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let before =
                String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
            let (line, column) = position(&before, before.len());
            let fault = Fault { line, column, message: "it is not UTF-8".to_owned() };
            return WorkspaceCommands { digest, commands: Vec::new(), faults: vec![fault] };
        }
    };
    let mut parser = Parser { text, faults: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        parser.fault(error.span().unwrap_or_default().start, error.message().to_owned());
    }
    let mut commands = Vec::new();
    let table = table.into_inner();
    for (key, value) in &table {
        let name = match key.get_ref().as_ref() {
            "verify" => {
                parser.verify(value, &mut commands);
                continue;
            }
            "build" => CommandName::Build,
            "run" => CommandName::Run,
            "test" => CommandName::Test,
            other => {
                let known = "verify.local, verify.full, build, run and test";
                parser.fault(
                    key.span().start,
                    format!("there is no {other:?} here; there are {known}"),
                );
                continue;
            }
        };
        commands.extend(parser.command(name, value));
    }
    commands.sort_by_key(|command| command.name);
    let mut faults = parser.faults;
    faults.sort_by_key(|fault| (fault.line, fault.column));
    WorkspaceCommands { digest, commands, faults }
}

impl Parser<'_> {
    fn verify(&mut self, value: &Field<'_>, commands: &mut Vec<WorkspaceCommand>) {
        let Some(table) = self.table("verify", value) else { return };
        for (key, value) in table {
            let name = match key.get_ref().as_ref() {
                "local" => CommandName::VerifyLocal,
                "full" => CommandName::VerifyFull,
                other => {
                    let message = format!("there is no {other:?} here; there are local and full");
                    self.fault(key.span().start, message);
                    continue;
                }
            };
            commands.extend(self.command(name, value));
        }
    }

    fn command(&mut self, name: CommandName, value: &Field<'_>) -> Option<WorkspaceCommand> {
        let table = self.table(name.as_str(), value)?;
        let (mut command, mut timeout, mut matcher) = (None, TIMEOUT, Matcher::None);
        let mut needs = Needs::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "command" => command = Some(self.string("command", value, COMMAND_BYTES)),
                "timeout_seconds" => timeout = self.seconds(value).unwrap_or(TIMEOUT),
                "matcher" => matcher = self.matcher(value).unwrap_or(Matcher::None),
                "needs" => needs = needs::parse(self, value),
                other => {
                    let known = "command, timeout_seconds, matcher and needs";
                    let message = format!("there is no field {other:?}; there are {known}");
                    self.fault(key.span().start, message);
                }
            }
        }
        let Some(command) = command else {
            let message = format!("{} has no command", name.as_str());
            self.fault(value.span().start, message);
            return None;
        };
        Some(WorkspaceCommand { name, command: command?, timeout, needs, matcher })
    }

    fn seconds(&mut self, value: &Field<'_>) -> Option<Duration> {
        let number = value.get_ref().as_integer();
        let number =
            number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        let seconds = number.filter(|number| (1..=MAX_SECONDS).contains(number));
        if seconds.is_none() {
            let message = format!("timeout_seconds must be a whole number from 1 to {MAX_SECONDS}");
            self.fault(value.span().start, message);
        }
        seconds.map(Duration::from_secs)
    }

    fn matcher(&mut self, value: &Field<'_>) -> Option<Matcher> {
        let known = "\"cargo-json\", \"gnu\", \"sarif\", { sarif = FILE } or { pattern = REGEX }";
        match (value.get_ref().as_str(), value.get_ref().as_table()) {
            (Some("cargo-json"), _) => return Some(Matcher::CargoJson),
            (Some("gnu"), _) => return Some(Matcher::Gnu),
            (Some("sarif"), _) => return Some(Matcher::Sarif { file: None }),
            (_, Some(table)) if table.len() == 1 => {
                for (key, value) in table {
                    match key.get_ref().as_ref() {
                        "sarif" => {
                            let file = self.string("sarif", value, 4096)?;
                            return Some(Matcher::Sarif { file: Some(file) });
                        }
                        "pattern" => {
                            let text = self.string("pattern", value, PATTERN_BYTES)?;
                            let pattern = Pattern::compile(&text).map_err(|message| {
                                self.fault(value.span().start, message);
                            });
                            return pattern.ok().map(Matcher::Pattern);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        self.fault(value.span().start, format!("the matcher must be {known}"));
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn faults(text: &str) -> Vec<String> {
        parse(text.as_bytes()).faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn commands_are_read_with_timeouts_and_matchers() {
        let text = "[build]\ncommand = \"make\"\n[verify.local]\ncommand = 'make check'\n\
            timeout_seconds = 0x3C\nmatcher = \"gnu\"\n[verify.full]\ncommand = \"make all\"\n\
            matcher = { sarif = \"out.sarif\" }\n[test]\ncommand = \"t\"\nmatcher = \"cargo-json\"\n\
            [run]\ncommand = './app \"$@\"'\nmatcher = { pattern = '(?<message>E.*)' }\n";
        let file = parse(text.as_bytes());
        assert_eq!(file.faults, []);
        assert_eq!(file.digest, Digest::of(text.as_bytes()));
        let commands: Vec<_> = file
            .commands
            .iter()
            .map(|command| {
                let seconds = command.timeout.as_secs();
                (command.name.as_str(), command.command.as_str(), seconds, command.matcher())
            })
            .collect();
        let commands: Vec<_> =
            commands.iter().map(|(a, b, c, d)| (*a, *b, *c, d.as_str())).collect();
        assert_eq!(
            commands,
            [
                ("verify.local", "make check", 60, "gnu"),
                ("verify.full", "make all", 600, "sarif in out.sarif"),
                ("build", "make", 600, "none"),
                ("run", "./app \"$@\"", 600, "pattern (?<message>E.*)"),
                ("test", "t", 600, "cargo-json"),
            ]
        );
        assert_eq!(parse(b"").faults, []);
    }

    #[test]
    fn all_faults_are_reported_with_their_places() {
        let text = "[biuld]\ncommand = \"make\"\n[build]\ncomand = \"make\"\ntimeout_seconds = 0\n\
            [verify.locl]\n[verify.full]\ncommand = \" \"\nmatcher = \"gcc\"\n[test]\ncommand = 3\n\
            matcher = { pattern = \"(\" }\n[run]\ncommand = \"a\"\ntimeout_seconds = 99999999999999999999\n\
            matcher = { sarif = \"a\", pattern = \"b\" }\n";
        let faults = faults(text);
        let expected = [
            "countersign.toml:1:2: there is no \"biuld\" here; there are verify.local, verify.full, build, run and test",
            "countersign.toml:3:1: build has no command",
            "countersign.toml:4:1: there is no field \"comand\"; there are command, timeout_seconds, matcher and needs",
            "countersign.toml:5:19: timeout_seconds must be a whole number from 1 to 86400",
            "countersign.toml:6:9: there is no \"locl\" here; there are local and full",
            "countersign.toml:8:11: command is empty",
            "countersign.toml:9:11: the matcher must be \"cargo-json\"",
            "countersign.toml:11:11: command must be a string",
            "countersign.toml:12:23: the pattern cannot be used",
            "countersign.toml:15:19: timeout_seconds must be a whole number",
            "countersign.toml:16:11: the matcher must be ",
        ];
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.starts_with(expected), "{fault} is not {expected}");
        }
        assert!(
            super::parse(b"[build]\ncommand = \"\xff\"").faults[0]
                .to_string()
                .contains(":2:12: it is not UTF-8")
        );
        // A TOML syntax error is reported together with the faults in the rest of the file.
        let broken = self::faults("[build\ncommand = \"make\"\n[tset]\n");
        assert!(broken[0].starts_with("countersign.toml:1:7: "), "{broken:?}");
        let long = format!("[run]\ncommand = \"{}\"", "x".repeat(COMMAND_BYTES + 1));
        assert_eq!(
            self::faults(&long),
            ["countersign.toml:2:11: command has more than 16384 bytes"]
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            text in "(\\[|\\]|verify|local|run|command|matcher|=|\"|'|\\{|\\}|\n|\\.|[0-9]| |é){0,60}",
        ) {
            for bytes in [bytes.as_slice(), text.as_bytes()] {
                let file = parse(bytes);
                prop_assert!(file.faults.iter().all(|fault| fault.line > 0 && fault.column > 0));
            }
        }
    }
}
