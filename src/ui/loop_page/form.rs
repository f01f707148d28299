//! The form for a new loop, and its validation. Pure.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::authorization::AuthorizationClass;
use crate::plan::{Destination, RiskLevel, VerifyScope};
use crate::run::{LookScope, LoopPlace, default_verify};

/// The maximum number of attempts, as on the command line.
const MAX_ATTEMPTS: u32 = 100;
/// The longest planner timeout, in seconds: a day.
const MAX_TIMEOUT_S: u32 = 86_400;
/// The longest validity of a class, in minutes: a week.
const MAX_CLASS_MINUTES: u32 = 7 * 24 * 60;

/// The kinds of planners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the planners by their names")]
pub enum PlannerChoice {
    #[default]
    CargoFix,
    Model,
    Replay,
    Command,
}

/// A field of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields by their names")]
pub enum Field {
    Goal,
    Planner,
    Workspace,
    Target,
    Attempts,
    Timeout,
    ClassTools,
    ClassPaths,
    ClassHosts,
    ClassAttempts,
    ClassMinutes,
}

/// The form for a class of plans that is authorized in advance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassForm {
    /// Whether a class is authorized in advance.
    pub on: bool,
    /// The tools that its plans may call.
    pub tools: BTreeSet<&'static str>,
    /// The paths that its steps may use, one per line.
    pub paths: String,
    /// The hosts on which its commands may run, separated by spaces or commas.
    pub hosts: String,
    /// The highest risk of a step.
    pub max_risk: RiskLevel,
    /// The number of attempts that the class covers.
    pub max_attempts: String,
    /// The time for which the class is valid, in minutes.
    pub minutes: String,
}

/// The form for a new loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopForm {
    /// The goal of the loop.
    pub goal: String,
    /// The kind of planner.
    pub planner: PlannerChoice,
    /// The folder with the plans, for a replay.
    pub folder: String,
    /// The command of the planner, for a command planner.
    pub command: String,
    /// The workspace folder.
    pub workspace: String,
    /// The maximum number of attempts.
    pub max_attempts: String,
    /// The planner's timeout for one answer, in seconds.
    pub timeout_s: String,
    /// The verification after each attempt that the person chose, `Some(None)` to skip it; see [`verify`](Self::verify).
    pub chosen_verify: Option<Option<VerifyScope>>,
    /// Whether the planner may look into the workspace before it plans.
    pub looks: LookScope,
    /// The SSH destination of the goal's host; empty for this computer.
    pub target: String,
    /// The class that is authorized in advance.
    pub class: ClassForm,
    /// Whether a start was attempted while the form had faults; from then on every fault is shown.
    pub start_attempted: bool,
    /// Why the loop could not begin. Cleared by an edit or a new start.
    pub refusal: Option<String>,
}

impl Default for LoopForm {
    fn default() -> Self {
        Self {
            goal: String::new(),
            planner: PlannerChoice::default(),
            folder: String::new(),
            command: String::new(),
            workspace: String::new(),
            max_attempts: "3".to_owned(),
            timeout_s: "120".to_owned(),
            chosen_verify: None,
            looks: LookScope::Workspace,
            target: String::new(),
            class: ClassForm {
                on: false,
                tools: BTreeSet::new(),
                paths: ".".to_owned(),
                hosts: String::new(),
                max_risk: RiskLevel::Safe,
                max_attempts: "3".to_owned(),
                minutes: "30".to_owned(),
            },
            start_attempted: false,
            refusal: None,
        }
    }
}

/// The settings of a loop, from a form without faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopSettings {
    /// The goal of the loop.
    pub goal: String,
    /// The planner, as `loop --planner` names it.
    pub planner: String,
    /// The workspace folder.
    pub workspace: PathBuf,
    /// The maximum number of attempts.
    pub max_attempts: u32,
    /// The planner's timeout for one answer, in seconds.
    pub timeout_s: u32,
    /// The verification after each attempt; `None` to skip it.
    pub verify: Option<VerifyScope>,
    /// What the planner may look at before it plans.
    pub looks: LookScope,
    /// The SSH destination of the goal's host.
    pub target: Option<String>,
    /// The class that is authorized in advance.
    pub class: Option<AuthorizationClass>,
}

impl LoopForm {
    /// The planner as `loop --planner` names it; empty when a part is missing.
    pub fn planner_name(&self) -> String {
        match (self.planner, self.folder.trim()) {
            (PlannerChoice::CargoFix, _) => "cargo-fix".to_owned(),
            (PlannerChoice::Model, _) => "openai-compatible".to_owned(),
            (PlannerChoice::Replay, "") => String::new(),
            (PlannerChoice::Replay, folder) => format!("replay:{folder}"),
            (PlannerChoice::Command, _) => self.command.trim().to_owned(),
        }
    }

    /// The host of the goal, as typed; `None` for this computer.
    pub fn host(&self) -> Option<&str> {
        Some(self.target.trim()).filter(|target| !target.is_empty())
    }

    /// The verification after each attempt: what the person chose, otherwise what fits the goal's host. `None` to skip
    /// it.
    pub fn verify(&self) -> Option<VerifyScope> {
        self.chosen_verify.unwrap_or_else(|| default_verify(self.host()))
    }

    /// The folders and the planner of the loop; `None` while no workspace is given.
    pub fn place(&self) -> Option<LoopPlace> {
        let path = |typed: &str| Some(typed.trim()).filter(|it| !it.is_empty()).map(PathBuf::from);
        let is_replay = self.planner == PlannerChoice::Replay;
        Some(LoopPlace {
            workspace: path(&self.workspace)?,
            plans: path(&self.folder).filter(|_| is_replay),
            planner: self.planner_name(),
        })
    }

    /// Says what starting the loop executes at once, and when a plan needs a signature.
    pub fn announcement(&self) -> String {
        let workspace = match self.workspace.trim() {
            "" => "the workspace",
            path => path,
        };
        let signatures = if self.class.on {
            "Plans inside the class run without asking you; any other plan needs your authorization."
        } else {
            "Each plan is shown and needs your authorization before it runs."
        };
        match self.planner {
            PlannerChoice::CargoFix => format!(
                "Starting asks the compiler: it runs cargo, with the project's build scripts, in \
                 {workspace}. {signatures}"
            ),
            PlannerChoice::Model => format!(
                "Starting sends the goal, the names of the workspace's files, what the planner looks at and what went \
                 wrong to the model server, from {workspace}. {signatures}"
            ),
            PlannerChoice::Replay => format!(
                "Starting reads the plans of the folder, and proposes one after the other for {workspace}. \
                 {signatures}"
            ),
            PlannerChoice::Command => {
                format!("Starting runs this command in {workspace}. {signatures}")
            }
        }
    }

    /// All faults, by field.
    pub fn faults(&self) -> Vec<(Field, String)> {
        let mut faults = Vec::new();
        let mut report = |field, text: &str| faults.push((field, text.to_owned()));
        if self.goal.trim().is_empty() {
            report(Field::Goal, "Enter a goal.");
        }
        match self.planner {
            PlannerChoice::Replay if self.folder.trim().is_empty() => {
                report(Field::Planner, "Enter the folder with the plans.");
            }
            PlannerChoice::Command if self.command.trim().is_empty() => {
                report(Field::Planner, "Enter the command that prints the plans.");
            }
            _ => {}
        }
        if self.workspace.trim().is_empty() {
            report(Field::Workspace, "Enter the workspace folder.");
        }
        if let Some(Err(error)) = self.host().map(Destination::parse) {
            report(Field::Target, &format!("Correct the host: {error}."));
        }
        let numbers = [
            (Field::Attempts, &self.max_attempts, MAX_ATTEMPTS),
            (Field::Timeout, &self.timeout_s, MAX_TIMEOUT_S),
        ];
        let class_numbers = [
            (Field::ClassAttempts, &self.class.max_attempts, MAX_ATTEMPTS),
            (Field::ClassMinutes, &self.class.minutes, MAX_CLASS_MINUTES),
        ];
        let class_numbers = class_numbers.into_iter().filter(|_| self.class.on);
        for (field, typed, max) in numbers.into_iter().chain(class_numbers) {
            if number(typed, max).is_none() {
                report(field, &format!("Enter a whole number from 1 to {max}."));
            }
        }
        if self.class.on {
            self.class_faults(&mut report);
        }
        faults
    }

    fn class_faults(&self, report: &mut impl FnMut(Field, &str)) {
        if self.class.tools.is_empty() {
            report(
                Field::ClassTools,
                "Choose at least one tool; without one the class allows nothing.",
            );
        }
        let paths = self.class.paths();
        if paths.is_empty() {
            report(Field::ClassPaths, "Enter at least one path; a dot is the whole workspace.");
        }
        for path in &paths {
            if path.starts_with('/') || path.contains('\\') || path.split('/').any(|it| it == "..")
            {
                report(Field::ClassPaths, &format!("{path} is not a path inside the workspace."));
            }
        }
    }

    /// The first fault of a field, if it should be shown: after an attempted start, or once a number or the paths have
    /// been entered.
    pub fn shown_fault(&self, field: Field) -> Option<String> {
        let typed = match field {
            Field::Target => &self.target,
            Field::Attempts => &self.max_attempts,
            Field::Timeout => &self.timeout_s,
            Field::ClassPaths => &self.class.paths,
            Field::ClassAttempts => &self.class.max_attempts,
            Field::ClassMinutes => &self.class.minutes,
            _ => "",
        };
        let fault = self.faults().into_iter().find(|(faulty, _)| *faulty == field);
        fault.filter(|_| self.start_attempted || !typed.trim().is_empty()).map(|(_, text)| text)
    }

    /// The settings of a loop that starts at `now_ms`, in Unix milliseconds; `None` while there is a fault.
    pub fn settings(&self, now_ms: i64) -> Option<LoopSettings> {
        if !self.faults().is_empty() {
            return None;
        }
        let class = match self.class.on {
            true => Some(self.class.class(now_ms)?),
            false => None,
        };
        Some(LoopSettings {
            goal: self.goal.trim().to_owned(),
            planner: self.planner_name(),
            workspace: self.workspace.trim().into(),
            max_attempts: number(&self.max_attempts, MAX_ATTEMPTS)?,
            timeout_s: number(&self.timeout_s, MAX_TIMEOUT_S)?,
            verify: self.verify(),
            looks: self.looks,
            target: self.host().map(str::to_owned),
            class,
        })
    }
}

impl ClassForm {
    fn paths(&self) -> Vec<String> {
        let lines = self.paths.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }

    /// The class that begins at `now_ms`; `None` if it is not valid.
    fn class(&self, now_ms: i64) -> Option<AuthorizationClass> {
        let minutes = i64::from(number(&self.minutes, MAX_CLASS_MINUTES)?);
        let expiry = Timestamp::from_millisecond(now_ms.checked_add(minutes * 60_000)?).ok()?;
        let hosts = self.hosts.split([',', ' ', '\n']).filter(|host| !host.is_empty());
        let class = AuthorizationClass {
            tools: self.tools.iter().map(|&tool| tool.to_owned()).collect(),
            paths: self.paths(),
            hosts: hosts.map(str::to_owned).collect(),
            max_risk: self.max_risk,
            max_attempts: number(&self.max_attempts, MAX_ATTEMPTS)?,
            expires_at: expiry.to_string(),
            needs: Default::default(),
        };
        // The same rules apply as for a class read from a file.
        AuthorizationClass::read(serde_json::to_string(&class).ok()?.as_bytes()).ok()
    }
}

/// Parses a number from 1 to `max`.
fn number(text: &str, max: u32) -> Option<u32> {
    text.trim().parse().ok().filter(|number| (1..=max).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> LoopForm {
        LoopForm {
            goal: " it builds ".to_owned(),
            planner: PlannerChoice::Command,
            command: "python3 plan.py".to_owned(),
            workspace: "/work".to_owned(),
            ..LoopForm::default()
        }
    }

    #[test]
    fn missing_fields_are_reported_only_after_starting() {
        let mut form = LoopForm { planner: PlannerChoice::Replay, ..LoopForm::default() };
        assert!(form.shown_fault(Field::Goal).is_none() && form.settings(0).is_none());
        form.start_attempted = true;
        for field in [Field::Goal, Field::Planner, Field::Workspace] {
            assert!(form.shown_fault(field).is_some(), "{field:?}");
        }
        assert!(form.shown_fault(Field::Attempts).is_none());
    }

    #[test]
    fn filled_form_gives_the_wanted_loop() {
        let settings = filled().settings(0).unwrap();
        assert_eq!(
            (settings.goal.as_str(), settings.planner.as_str()),
            ("it builds", "python3 plan.py")
        );
        assert_eq!((settings.max_attempts, settings.timeout_s, settings.class), (3, 120, None));
        let name =
            |planner| LoopForm { planner, folder: " p ".to_owned(), ..filled() }.planner_name();
        assert_eq!(name(PlannerChoice::Replay), "replay:p");
        assert_eq!(name(PlannerChoice::CargoFix), "cargo-fix");
        assert_eq!(name(PlannerChoice::Model), "openai-compatible");
    }

    #[test]
    fn goal_about_a_host_is_not_verified_here_unless_chosen() {
        let verify = |form: LoopForm| form.settings(0).unwrap().verify;
        assert_eq!(verify(filled()), Some(VerifyScope::Local));
        let on_host = LoopForm { target: " ada@example.org ".to_owned(), ..filled() };
        assert_eq!(verify(on_host.clone()), None);
        for chosen in [Some(VerifyScope::Local), Some(VerifyScope::Full), None] {
            let form = LoopForm { chosen_verify: Some(chosen), ..on_host.clone() };
            assert_eq!(verify(form), chosen);
        }
        assert_eq!(
            verify(LoopForm { target: " ".to_owned(), ..filled() }),
            Some(VerifyScope::Local)
        );
    }

    #[test]
    fn invalid_number_is_reported_at_once() {
        for typed in ["0", "101", "-1", "x", "2.5"] {
            let form = LoopForm { max_attempts: typed.to_owned(), ..filled() };
            assert!(form.shown_fault(Field::Attempts).is_some(), "{typed}");
            assert!(form.settings(0).is_none());
        }
    }

    #[test]
    fn announcement_names_approval_and_workspace() {
        let mut form = filled();
        assert!(form.announcement().contains("in /work. Each plan"), "{}", form.announcement());
        form.class.on = true;
        assert!(form.announcement().contains("run without asking you"));
    }

    #[test]
    fn class_fields_become_an_authorization_class() {
        let mut form = filled();
        form.class.on = true;
        assert_eq!(form.faults().len(), 1, "no tool");
        form.class.tools.insert("file_write");
        form.class.paths = "src\n ../out \n/etc".to_owned();
        let faults = form.faults();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(form.shown_fault(Field::ClassPaths).is_some_and(|it| it.contains("../out")));
        form.class.paths = "src\n\nbenches".to_owned();
        form.class.hosts = "a@b, c".to_owned();
        let class = form.settings(60_000).unwrap().class.unwrap();
        assert_eq!(class.paths, ["src", "benches"]);
        assert_eq!(class.hosts, ["a@b", "c"]);
        assert_eq!(class.expires_at_ms(), Some(31 * 60_000));
    }
}
