//! What a report about a fault of the program needs: versions, system, settings, the state of the evidence and the end of the
//! log. It has no contents of plans, outputs or evidence. Every text in it is redacted by the rules of the evidence, made
//! visible, and has `~` in place of the home folder.

mod computer;
mod shown;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::settings_file::{read_text, without_secrets};
use super::{Query, QueryContext, QueryError, default_folders};
use crate::autonomy::agent_names;
use crate::engine::local_wall_level;
use crate::evidence::{EvidenceLocation, verify_with_kept_head};
use crate::logging;
use crate::run::text::size;
use computer::{program, session, system};
use shown::Shown;

/// The number of lines of the log.
const LOG_LINES: usize = 100;
/// The maximum size of the settings, in bytes.
const MAX_SETTINGS: usize = 256 << 10;
/// The maximum size of a database that is verified for the report, in bytes. A larger one would take minutes.
const MAX_VERIFIED: u64 = 256 << 20;
/// The programs that are looked for besides the agents.
const PROGRAMS: [&str; 9] = [
    "ansible-playbook",
    "cargo",
    "git",
    "magellan",
    "splice",
    "ssh",
    "ssh-keygen",
    "xdg-open",
    "zenity",
];

/// The settings that say what the person works on, or where the window is.
const LEFT_OUT: [&str; 4] = ["recent", "searches", "panels", "window"];

/// What a report needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BugReport {
    /// The version of the program.
    pub version: String,
    /// The system: its name, kernel and processor.
    pub system: BTreeMap<String, String>,
    /// The session: whether it is of X11 or Wayland, and the variables that say so.
    pub session: BTreeMap<String, String>,
    /// What only the window knows, such as its renderer; empty without a window.
    pub window: BTreeMap<String, String>,
    /// The walls of this computer, and why there are no stronger ones.
    pub walls: String,
    /// The agents by name, with the path of the program; null if it is not found.
    pub agents: BTreeMap<String, Option<String>>,
    /// Other programs, likewise.
    pub programs: BTreeMap<String, Option<String>>,
    /// The settings.
    pub settings: SettingsFacts,
    /// The evidence.
    pub evidence: EvidenceFacts,
    /// The log.
    pub log: LogFacts,
}

/// The settings, as far as they are in a report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SettingsFacts {
    /// The settings file; null if there is no place for one.
    pub file: Option<String>,
    /// Its entries as TOML, without values that are or may be secrets. Lists of what the person works on are left out, and
    /// rules for commands are only counted.
    pub text: String,
    /// Why the entries are not known; null if they are.
    pub fault: Option<String>,
}

/// The evidence, without anything that was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct EvidenceFacts {
    /// The evidence folder.
    pub folder: String,
    /// The format of the database; 0 if there is none.
    pub format: u64,
    /// The number of runs.
    pub runs: u64,
    /// The size of the database, in bytes.
    pub bytes: u64,
    /// The network file system on which it is; null if it is on this computer.
    pub network_file_system: Option<String>,
    /// Whether the chain is sound; null if it was not verified.
    pub sound: Option<bool>,
    /// The number of verified records.
    pub records: u64,
    /// The first difference, or why something is not known; null if there is nothing to say.
    pub note: Option<String>,
}

/// The log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LogFacts {
    /// The folder of the log.
    pub folder: String,
    /// The level of this process.
    pub level: String,
    /// Why it cannot be written or read; null if it can.
    pub fault: Option<String>,
    /// The last lines, the latest last.
    pub lines: Vec<String>,
}

/// What only the window knows, by name. It is asked on the thread of the query, because fonts are read for it.
pub type WindowFacts = Box<dyn FnOnce() -> Vec<(String, String)> + Send>;

/// Makes a report for the window, as text.
pub struct MakeBugReport {
    /// The settings file of the window.
    pub settings: Option<PathBuf>,
    /// What only the window knows.
    pub window: WindowFacts,
}

impl Query for MakeBugReport {
    type Answer = String;
    const FAILURE: &str = "The bug report could not be made.";
    /// The walls are tried, and the evidence is verified.
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<String, QueryError> {
        let window = (self.window)();
        Ok(bug_report(&context.setup.location, self.settings.as_deref(), window).text())
    }
}

/// Collects a report about the evidence in this location and this settings file.
pub fn bug_report(
    location: &EvidenceLocation,
    settings: Option<&Path>,
    window: Vec<(String, String)>,
) -> BugReport {
    let shown = Shown::new(default_folders().map(|folders| folders.home));
    let (level, why_not_better) = local_wall_level();
    let why = why_not_better.map(|why| format!(" ({why})")).unwrap_or_default();
    let found = |name: &str| (name.to_owned(), program(name).map(|path| shown.path(&path)));
    BugReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        system: shown.all(system()),
        session: shown.all(session()),
        window: shown.all(window),
        walls: shown.value(&format!("{level}{why}")),
        agents: agent_names().map(found).collect(),
        programs: PROGRAMS.into_iter().map(found).collect(),
        settings: settings_facts(settings, &shown),
        evidence: evidence_facts(location, &shown),
        log: log_facts(&location.user_folders.state, &shown),
    }
}

fn settings_facts(file: Option<&Path>, shown: &Shown) -> SettingsFacts {
    let Some(file) = file else { return SettingsFacts::default() };
    let (text, fault) = match settings_text(file) {
        Ok(text) => (shown.text(&text), None),
        Err(fault) => (String::new(), Some(shown.value(&fault))),
    };
    SettingsFacts { file: Some(shown.path(file)), text, fault }
}

fn settings_text(file: &Path) -> Result<String, String> {
    let text = read_text(file).map_err(|error| error.to_string())?;
    if text.len() > MAX_SETTINGS {
        return Err("it is too large for a report".to_owned());
    }
    // Nothing of a text that is no TOML is shown: which of it is secret is not known.
    let mut table: toml::Table = toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("TOML parse error at line {}", before.matches('\n').count() + 1)
    })?;
    LEFT_OUT.iter().for_each(|name| drop(table.remove(*name)));
    let rules = table.get_mut("policy").and_then(toml::Value::as_table_mut);
    let rules = rules.and_then(|policy| policy.remove("command_rules"));
    let mut table = without_secrets(&table);
    if let (Some(rules), Some(toml::Value::Table(policy))) = (rules, table.get_mut("policy")) {
        let count = rules.as_array().map_or(0, Vec::len);
        policy.insert("command_rules".to_owned(), format!("{count} rules").into());
    }
    toml::to_string_pretty(&table).map_err(|error| error.to_string())
}

fn evidence_facts(location: &EvidenceLocation, shown: &Shown) -> EvidenceFacts {
    let folder = shown.path(&location.evidence);
    let sizes = match location.open().and_then(|mut reader| reader.sizes()) {
        Ok(sizes) => sizes,
        Err(error) => {
            let note = Some(shown.value(&error.to_string()));
            return EvidenceFacts { folder, note, ..EvidenceFacts::default() };
        }
    };
    let mut facts = EvidenceFacts {
        folder,
        format: sizes.format,
        runs: sizes.runs,
        bytes: sizes.database_bytes + sizes.log_bytes,
        network_file_system: sizes.network_file_system,
        ..EvidenceFacts::default()
    };
    if facts.bytes > MAX_VERIFIED {
        let note = "not verified, because it is large: use “countersign evidence verify”";
        facts.note = Some(note.to_owned());
        return facts;
    }
    match verify_with_kept_head(&location.evidence, &location.user_folders, None) {
        Ok(report) => {
            (facts.sound, facts.records) = (Some(report.ok), report.rows);
            facts.note = report.first_bad.map(|first| shown.value(&first));
        }
        Err(error) => facts.note = Some(shown.value(&error.to_string())),
    }
    facts
}

fn log_facts(state: &Path, shown: &Shown) -> LogFacts {
    let (lines, unread) = match logging::last_lines(state, LOG_LINES) {
        Ok(lines) => (lines, None),
        // Nothing was ever written, for example because the log is off.
        Err(error) if error.kind() == ErrorKind::NotFound => (Vec::new(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    LogFacts {
        folder: shown.path(&logging::folder(state)),
        level: log::max_level().as_str().to_ascii_lowercase(),
        fault: logging::fault().or(unread).map(|fault| shown.value(&fault)),
        lines: lines.iter().map(|line| shown.log_line(line)).collect(),
    }
}

impl BugReport {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("countersign {}\n", self.version);
        for (title, facts) in
            [("system", &self.system), ("session", &self.session), ("window", &self.window)]
        {
            if !facts.is_empty() {
                section(&mut text, title, facts.iter().map(|(name, value)| (&**name, &**value)));
            }
        }
        section(&mut text, "walls", [("level", &*self.walls)]);
        for (title, programs) in [("agents", &self.agents), ("programs", &self.programs)] {
            let path =
                |it: &'_ Option<String>| it.clone().unwrap_or_else(|| "not found".to_owned());
            let lines: Vec<_> = programs.iter().map(|(name, it)| (&**name, path(it))).collect();
            section(&mut text, title, lines.iter().map(|(name, it)| (*name, &**it)));
        }
        self.evidence_text(&mut text);
        let SettingsFacts { file, text: entries, fault } = &self.settings;
        section(&mut text, "settings", [("file", file.as_deref().unwrap_or("none"))]);
        lines(
            &mut text,
            fault.as_deref().unwrap_or(if entries.is_empty() { "none" } else { entries }),
        );
        let LogFacts { folder, level, fault, lines: last } = &self.log;
        let fault = fault.as_deref().unwrap_or("none");
        section(&mut text, "log", [("folder", &**folder), ("level", level), ("fault", fault)]);
        lines(&mut text, &last.join("\n"));
        text
    }

    fn evidence_text(&self, text: &mut String) {
        let it = &self.evidence;
        let counts = format!("{} runs, {}", it.runs, size(it.bytes));
        let verified = match it.sound {
            Some(true) => format!("{} records are unchanged", it.records),
            Some(false) => "changed".to_owned(),
            None => "not verified".to_owned(),
        };
        let format = it.format.to_string();
        let mut facts = vec![
            ("folder", &*it.folder),
            ("format", &*format),
            ("contents", &*counts),
            ("verified", &*verified),
        ];
        facts.extend(it.note.as_deref().map(|note| ("note", note)));
        facts.extend(it.network_file_system.as_deref().map(|name| ("network file system", name)));
        section(text, "evidence", facts);
    }
}

fn section<'a>(
    text: &mut String,
    title: &str,
    facts: impl IntoIterator<Item = (&'a str, &'a str)>,
) {
    let _ = writeln!(text, "\n{title}");
    for (name, value) in facts {
        let _ = writeln!(text, "  {name}: {value}");
    }
}

/// Adds indented lines.
fn lines(text: &mut String, of: &str) {
    of.lines().for_each(|line| {
        let _ = writeln!(text, "  {line}");
    });
}
