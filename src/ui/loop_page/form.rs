//! The form for a new loop. Pure.

use std::path::PathBuf;

use super::class_form::ClassForm;
use super::faults::{Field, MAX_ATTEMPTS, MAX_TIMEOUT_S, number};
use crate::authorization::AuthorizationClass;
use crate::plan::VerifyScope;
use crate::run::{AGENT_TIMEOUT_S, LookScope, LoopPlace, PLANNER_TIMEOUT_S, default_verify};

/// The kinds of planners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the planners by their names")]
pub enum PlannerChoice {
    #[default]
    CargoFix,
    Model,
    Codex,
    Claude,
    Gemini,
    Replay,
    Command,
}

impl PlannerChoice {
    /// The agent that plans, as `loop --planner` names it; `None` for other planners.
    pub fn agent(self) -> Option<&'static str> {
        match self {
            Self::Codex => Some("codex"),
            Self::Claude => Some("claude"),
            Self::Gemini => Some("gemini"),
            Self::CargoFix | Self::Model | Self::Replay | Self::Command => None,
        }
    }

    /// The timeout for one answer if the person chooses none, in seconds: agents read files before they plan.
    pub fn default_timeout_s(self) -> u32 {
        if self.agent().is_some() { AGENT_TIMEOUT_S } else { PLANNER_TIMEOUT_S }
    }
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
    /// The faulty field that the form scrolls to in this frame.
    pub scroll_to: Option<Field>,
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
            timeout_s: PLANNER_TIMEOUT_S.to_string(),
            chosen_verify: None,
            looks: LookScope::Workspace,
            target: String::new(),
            class: ClassForm::default(),
            start_attempted: false,
            scroll_to: None,
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
            (choice, _) => choice.agent().unwrap_or_default().to_owned(),
        }
    }

    /// Chooses a planner. A timeout that is not the person's own becomes the planner's.
    pub fn choose_planner(&mut self, planner: PlannerChoice) {
        if self.timeout_s.trim() == self.planner.default_timeout_s().to_string() {
            self.timeout_s = planner.default_timeout_s().to_string();
        }
        self.planner = planner;
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
            looks: self.looks,
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
            "Each plan needs your authorization."
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
            choice => {
                let agent = choice.agent().unwrap_or_default();
                let what = match self.looks {
                    LookScope::None => "the goal, the names of files and what went wrong",
                    LookScope::Workspace => {
                        "the goal, the names of files and whatever it reads there"
                    }
                };
                format!(
                    "Starting runs {agent} in its read-only mode in {workspace}, with its own login: {what} go to its \
                     server. {signatures}"
                )
            }
        }
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn filled() -> LoopForm {
        LoopForm {
            goal: " it builds ".to_owned(),
            planner: PlannerChoice::Command,
            command: "python3 plan.py".to_owned(),
            workspace: "/work".to_owned(),
            ..LoopForm::default()
        }
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
        assert_eq!(name(PlannerChoice::Gemini), "gemini");
    }

    #[test]
    fn agent_gets_more_time_unless_the_person_chose_one() {
        let mut form = filled();
        form.choose_planner(PlannerChoice::Claude);
        assert_eq!(form.timeout_s, "600");
        assert!(form.announcement().contains("runs claude in its read-only mode in /work"));
        form.choose_planner(PlannerChoice::CargoFix);
        assert_eq!(form.timeout_s, "120");
        form.timeout_s = "30".to_owned();
        form.choose_planner(PlannerChoice::Codex);
        assert_eq!(form.timeout_s, "30");
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
    fn announcement_names_approval_and_workspace() {
        let mut form = filled();
        assert!(form.announcement().contains("in /work. Each plan"), "{}", form.announcement());
        form.class.on = true;
        assert!(form.announcement().contains("run without asking you"));
    }
}
