//! One state of the window with example data.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use countersign::authorization::{Change, Grants, PlanChoices, WallSetting};
use countersign::plan::{Finding, Mode, Severity, ShownPlan, ShownStep};
use countersign::run::{
    AgentSessions, Attempt, DoneFiles, EvidenceAnswer, ExecutionDetail, ExportFile, ExportFormat,
    InboxList, Judgement, Phase, PlaceReview, Preview, PreviewProgress, PreviewedStep,
    PreviewedSteps, PurgePreview, PurgeRule, Question as EvidenceQuestion, Reconciled, Review,
    RunState, RunStatus, RunSummary, SearchPage, SecretQuestion, Transcript, VerifyReport,
};
use countersign::ui::action::{
    Action, DiagnosticsAction, DialogAction, EvidenceAction, Page, PlanAction, PlayerAction, Tab,
    WindowAction,
};
use countersign::ui::artifact::Contents;
use countersign::ui::commands::{Command, Situation};
use countersign::ui::diagnostics::{
    DiagnosticsView, Excerpt, ListOptions, Listing, diagnostic, excerpt,
};
use countersign::ui::dialog::{
    AfterRejection, AuthorizeView, Dialog, ExportChoice, ExportOf, ExportView, PURGE_AGES,
    PURGE_SIZES, PromptId, PurgeChoice, PurgeKind, PurgeView, Question,
};
use countersign::ui::evidence::{
    EvidenceView, PlayerView, ResultLine, TeamView, TimelineView, Verification, result_lines,
};
use countersign::ui::format::Now;
use countersign::ui::loop_page::Sequel;
use countersign::ui::notice::{Notice, Scope};
use countersign::ui::overlay::{BugReportView, Overlay};
use countersign::ui::plan::{
    Approval, CardView, ChangedSteps, ChoicesView, Effect, InboxView, KindSources, LookedAt,
    OpenPlan, OpenState, PlanAttempt, PlanView, QueueView, QueuedPlan, RecentPlan, ReviewsView,
    RevisionView, RunOutput, SeenStep, SidebarView, Simulated, StepCounts, StepKind, StepList,
    steps_with_text,
};
use countersign::ui::settings_page::SettingsView;
use countersign::ui::theme::Tone;
use countersign::ui::tour::{Station, TourView};
use countersign::ui::{OnScreen, StatusView, WindowView, icon};

use super::{
    agent::AgentScene, batch, calls, fixture, found, looping::LoopScene, revert, setting, signing,
};

/// The ids of the evidence of three computers.
const ORIGINS: [u128; 3] = [
    0x3f2a_b1c4_9d07_4e55_8a61_0c2b_77de_9f10,
    0x91c0_44e2_6b1f_4a3d_b7c5_5520_e8a1_03fd,
    0xc7d8_1b60_02aa_4f9e_93d4_6e0b_aa18_b2c6,
];

pub struct Scene {
    name: String,
    pub plan: ShownPlan,
    review: Review,
    findings: Vec<Finding>,
    approval: Approval,
    run: RunState,
    pub output: RunOutput,
    preview: Option<Preview>,
    previewed: PreviewedSteps,
    done: DoneFiles,
    selected: usize,
    tab: Tab,
    page: Page,
    recent: Vec<RecentPlan>,
    inbox: InboxList,
    inbox_waits: Vec<bool>,
    agents: AgentSessions,
    queue: Vec<QueuedPlan>,
    runs: Vec<RunSummary>,
    pub search: Option<SearchPage>,
    pub lines: Vec<ResultLine>,
    /// Where the hits come from.
    origins: Vec<String>,
    pub detail: ExecutionDetail,
    show_detail: bool,
    record_tab: countersign::ui::action::RecordTab,
    text: String,
    /// The span of the timeline that was zoomed to.
    span: Option<(i64, i64)>,
    player: PlayerView,
    saved_searches: Vec<String>,
    verification: Verification,
    notices: Vec<Notice>,
    overlay: Option<Overlay>,
    settings: Option<SettingsView>,
    dialog: bool,
    showing: u64,
    guided_dialog: bool,
    /// The files that are no longer as a question about a step shows them.
    pub outdated: Vec<String>,
    reveal: Cell<bool>,
    reconciled: Vec<Reconciled>,
    simulation: Simulated,
    export: ExportView,
    pub contents: Contents,
    now: Now,
    list_options: ListOptions,
    scroll_to_diagnostic: Cell<bool>,
    listing: Listing,
    excerpt: Option<Excerpt>,
    question: Option<EvidenceQuestion>,
    answer: Option<EvidenceAnswer>,
    pub looping: LoopScene,
    pub agent: AgentScene,
    looked_at: LookedAt,
    choices: PlanChoices,
    list: StepList,
    secret: SecretQuestion,
    changed: ChangedSteps,
    purge: PurgeView,
}

fn help_at(topic: &str) -> Overlay {
    Overlay::help(topic.to_owned(), &setting::own_rules())
}

fn purge() -> PurgeView {
    let preview = PurgePreview {
        runs: 412,
        steps: 5_120,
        loops: 3,
        attempts: 7,
        rows: 61_340,
        contents: 2_988,
        bytes: 222_719_180,
        under_way: 1,
        old_backups: [("execution_log.v4.bak".to_owned(), 48 << 20)].into(),
        ..PurgePreview::default()
    };
    let choice = |of, name: &str, rule| PurgeChoice { of, name: name.to_owned(), rule };
    let age = |days: u32| {
        let before_ms = Some(fixture::now().ms - i64::from(days) * 24 * 60 * 60 * 1_000);
        PurgeRule { before_ms, ..PurgeRule::default() }
    };
    let run = PurgeRule { run: Some(uuid::Uuid::from_u128(3)), ..PurgeRule::default() };
    let plan = PurgeRule { plan: Some("rename".to_owned()), ..PurgeRule::default() };
    let named = "the run Rename Config to Settings, 2026-03-30 18:02";
    let mut choices = vec![
        choice(PurgeKind::Named, named, run),
        choice(PurgeKind::Named, "every run of its plan", plan),
    ];
    choices.extend(PURGE_AGES.map(|(days, name)| choice(PurgeKind::Age, name, age(days))));
    choices.extend(PURGE_SIZES.map(|bytes| {
        let rule = PurgeRule { larger_than: Some(bytes), ..PurgeRule::default() };
        choice(PurgeKind::Size, &countersign::run::text::size(bytes), rule)
    }));
    PurgeView {
        choices,
        rule: age(90),
        preview: Some(Ok(preview)),
        dates: Some(("2025-01-03 09:12:44 +01:00".into(), "2025-03-30 18:02:10 +02:00".into())),
    }
}

fn verified() -> Verification {
    let report = VerifyReport {
        ok: true,
        rows: 183_201,
        purged: 0,
        head: countersign::plan::Digest::of(b"head"),
        first_bad: None,
        schema: Vec::new(),
        kept: None,
    };
    Verification::Done { report: Box::new(report), at_ms: fixture::now().ms }
}

impl Scene {
    /// Selects the step that creates a file, and sets the contents of that file.
    #[cfg(test)]
    pub fn show_contents(&mut self, text: &str, tab: Tab) {
        let path = "big.txt".to_owned();
        let contents = text.to_owned();
        let step = &mut self.plan.steps[4];
        step.arguments.insert("contents".to_owned(), contents.clone());
        step.call = Some(countersign::plan::ToolCall::FileCreate { path, contents });
        self.preview = Some(fixture::preview(&self.plan, 4));
        self.selected = 4;
        self.tab = tab;
    }

    /// Repeats the change of the selected step, for this number of files.
    #[cfg(test)]
    pub fn repeat_change(&mut self, files: usize) {
        if let Some(preview) = &mut self.preview
            && let Some(change) = preview.changes.first().cloned()
        {
            let path = |index| format!("many/{index}.txt");
            let change =
                |index| countersign::run::FileChange { path: path(index), ..change.clone() };
            preview.changes = (0..files).map(change).collect();
        }
    }

    /// Sets the number of diagnostics that the last check of the run reported.
    #[cfg(test)]
    pub fn set_diagnostic_count(&mut self, count: usize) {
        self.run = found::run(&self.plan, Some(found::many(count)));
        self.update_listing();
    }

    /// The codes of the listed diagnostics, from top to bottom.
    #[cfg(test)]
    pub fn listed(&self) -> Vec<String> {
        let shown = self.listing.shown.iter();
        let diagnostics = shown.filter_map(|entry| diagnostic(&self.run, entry.position));
        diagnostics.map(|it| it.code.clone().unwrap_or_default()).collect()
    }

    /// The code of the selected diagnostic.
    #[cfg(test)]
    pub fn selected_diagnostic(&self) -> Option<String> {
        diagnostic(&self.run, self.listing.selected_entry()?.position)?.code.clone()
    }

    /// Computes the list of diagnostics, and the excerpt of the selected one.
    pub fn update_listing(&mut self) {
        self.listing = Listing::of(&self.run, Some(&self.plan), &self.list_options);
        let selected =
            self.listing.selected_entry().and_then(|it| diagnostic(&self.run, it.position));
        self.excerpt = selected.map(|it| match self.name.as_str() {
            "changed" => Excerpt::Changed,
            "gone" => Excerpt::Missing("cannot read src/lexer.rs: it does not exist".into()),
            _ => excerpt(it, &found::lines(it)),
        });
    }

    fn play_diagnostics(&mut self, action: &DiagnosticsAction) {
        if matches!(action, DiagnosticsAction::Show(_)) {
            self.page = Page::Diagnostics;
        }
        let scrolls = self.list_options.apply(action.clone(), &self.run, &self.listing);
        self.scroll_to_diagnostic.set(scrolls);
        self.update_listing();
    }

    pub fn new(name: &str) -> Self {
        let dangerous = name == "dangerous";
        let checked = matches!(
            name,
            "diagnostics"
                | "first"
                | "changed"
                | "gone"
                | "clean"
                | "thousands"
                | "unchecked"
                | "hidden"
        );
        let mut plan = match checked {
            _ if dangerous => fixture::dangerous_plan(),
            _ if name.starts_with("command") => fixture::command_plan(),
            _ if name == "authorize-walls" => fixture::command_plan(),
            _ if name == "authorize-many" => signing::long_plan(),
            _ if name.starts_with("batch") => batch::plan(),
            _ if name.starts_with("revert") || name == "authorize-revert" => revert::plan(),
            _ if name.starts_with("guided") => {
                fixture::guided_plan(matches!(name, "guided-dangerous" | "guided-dialog"))
            }
            true => found::plan(),
            false => fixture::plan(),
        };
        if name == "command-trying" {
            plan.target = Some("deploy@web-1.example.org".into());
        }
        if name == "guided-many" {
            let step = plan.steps[3].clone();
            plan.steps.resize(200, step);
        }
        if name == "guided-long" {
            plan.steps[2] = fixture::long_step(&plan.steps[2]);
        }
        if matches!(name, "large" | "filtered") {
            let steps = plan.steps.clone();
            plan.steps = (0..10_000)
                .map(|step_index| ShownStep { step_index, ..steps[step_index % 5].clone() })
                .collect();
        }
        let mut review = fixture::review(&plan);
        match name {
            "authorize-walls" => review.walls = Some(signing::walls(&plan)),
            "authorize-many" => signing::none_exists(&plan, &mut review),
            "authorize-revert" => revert::deletes(&mut review),
            _ => {}
        }
        if matches!(name, "trust" | "trusted" | "untrusted") {
            review.workspace_commands = Some(fixture::workspace_commands(name == "trusted"));
        }
        let used = Approval::Used { at_ms: fixture::NOW_MS - 120_000 };
        let (approval, run) = match name {
            "running" | "close" | "secret" | "terminal" | "command-running" | "output"
            | "output-step" | "output-many" => (used, fixture::running(&plan)),
            "command-dialog" => (used, fixture::asking_at(&plan, 4)),
            "dialog" | "dangerous" | "asking" | "tour-dialog" => (used, fixture::asking(&plan)),
            "batch-interrupted" => (used, batch::interrupted(&plan)),
            "failed" | "command-failed" | "output-failed" | "tour-second" => {
                (used, fixture::failed(&plan))
            }
            "command-refused" => (used, fixture::refused(&plan)),
            _ if name.starts_with("viewer") => (used, fixture::completed(&plan)),
            "revert-done" => {
                let phase = Phase::Ended(RunStatus::Completed);
                (used, RunState { phase, run_id: Some(fixture::run_id()), ..RunState::default() })
            }
            "completed" | "done" | "attempt-failed" | "guided-ended" | "guided-ended-output" => {
                (used, fixture::completed(&plan))
            }
            _ if name.starts_with("guided") => (used, fixture::asking(&plan)),
            "unchecked" => (used, found::unchecked(&mut plan)),
            "clean" => (used, found::run(&plan, Some(vec![]))),
            "thousands" => (used, found::run(&plan, Some(found::many(10_000)))),
            _ if checked => (used, found::run(&plan, None)),
            "authorized" => (
                Approval::Approved {
                    at_ms: fixture::NOW_MS - 100_000,
                    until_ms: fixture::NOW_MS + 1_700_000,
                },
                RunState::default(),
            ),
            "void" => (
                Approval::Void(vec![Change {
                    what: "file src/lib.rs".into(),
                    approved: "sha256:aa".into(),
                    now: "sha256:bb".into(),
                }]),
                RunState::default(),
            ),
            _ => (Approval::None, RunState::default()),
        };
        let findings = match name {
            "invalid" => fixture::findings(),
            "revert" | "authorize-revert" => revert::findings(),
            _ => Vec::new(),
        };
        if name == "invalid" {
            plan.steps[2].call = None;
            plan.steps[2].tool_name = "file_wirte".into();
        }
        let mut search = match name {
            "nothing" => SearchPage::default(),
            "tampered" => fixture::tampered_page(),
            "no-match" => SearchPage { hits: Vec::new(), next: None, ..fixture::search_page() },
            _ => fixture::search_page(),
        };
        // The server of a team does not count by value.
        if name.starts_with("team") {
            search.counts.facets = Default::default();
        }
        let verification = match name {
            "evidence" => verified(),
            _ => Verification::NotRequested,
        };
        let trying = Notice {
            id: 1,
            tone: Tone::Accent,
            summary: "Trying deploy@web-1.example.org…".into(),
            details: String::new(),
            next: "A host that does not answer is given up after a minute at most. Nothing of the plan is sent.".into(),
            times: 1,
            scope: Scope::Window,
        };
        let notices = vec![Notice {
            id: 1,
            tone: Tone::Caution,
            summary: "The settings file could not be read; the defaults are used.".into(),
            details: "expected `=`, line 3 column 7".into(),
            next: "Mend /home/ada/.config/countersign/settings.toml; a copy was kept beside it."
                .into(),
            times: 1,
            scope: Scope::Window,
        }];
        let of_change = |id, summary: &str, next: &str| Notice {
            id,
            tone: Tone::Caution,
            summary: summary.into(),
            details: "plan bytes: was 48f8c0, is 9487a8".into(),
            next: next.into(),
            times: 1,
            scope: Scope::Change,
        };
        let several = vec![
            Notice {
                id: 1,
                tone: Tone::Danger,
                summary: "The runs cannot be listed. E303 The evidence is damaged.".into(),
                details: "E303 database disk image is malformed".into(),
                next: "Restore the evidence from a backup.".into(),
                times: 44,
                scope: Scope::Window,
            },
            of_change(
                2,
                "The plan file has changed since you opened it.",
                "The page shows the file as it is now. Review the steps again.",
            ),
            of_change(
                3,
                "The dialog was closed, because this changed: plan bytes.",
                "Review the steps again, then reopen the dialog.",
            ),
            of_change(
                4,
                "The authorization is void. Changed since: plan bytes.",
                "Review the steps again, then authorize the plan again.",
            ),
        ];
        let overlay = match name {
            "palette" => Some(Overlay::Palette),
            "help" => Some(help_at("")),
            "help-code" => Some(help_at("E311")),
            "bug-report" => Some(Overlay::BugReport(Box::new(BugReportView {
                text: Some(BUG_REPORT.to_owned()),
                is_copied: true,
            }))),
            "bug-report-collecting" => Some(Overlay::BugReport(Box::default())),
            _ => None,
        };
        let (detail, contents) = fixture::viewer(name);
        let (previews, changes) = fixture::simulation(&plan, name);
        let simulation = Simulated {
            outcome: match name {
                "simulating" => None,
                "simulation-failed" => Some(Err(fixture::failure())),
                _ => Some(Ok(Effect { previews, changes })),
            },
            stale: name == "stale",
            is_shown: name.starts_with("simulat") || name == "stale",
        };
        let evidence = matches!(
            name,
            "evidence"
                | "brushed"
                | "execution"
                | "nothing"
                | "tampered"
                | "export"
                | "exporting"
                | "tour-evidence"
                | "no-match"
                | "unsearchable"
                | "unreadable"
        ) || name.starts_with("team");
        let question = match name {
            "answer" => Some(EvidenceQuestion::ChangesAfter {
                code: "E0425".into(),
                file: Some("src/lexer.rs".into()),
            }),
            "recurring" | "no-answer" => Some(EvidenceQuestion::Recurring),
            "times" => Some(EvidenceQuestion::Times(fixture::run_id())),
            "times-many" => Some(EvidenceQuestion::Times(uuid::Uuid::from_u128(500))),
            "durations" => Some(EvidenceQuestion::Durations(fixture::run_id())),
            "played" | "played-before" => Some(EvidenceQuestion::Replay(fixture::run_id())),
            "judged" | "judged-none" => Some(EvidenceQuestion::JudgedAgain),
            "runs-to-compare" => Some(EvidenceQuestion::RunsToCompare(fixture::run_id())),
            "compared" => Some(EvidenceQuestion::Compare {
                before: uuid::Uuid::from_u128(3),
                after: uuid::Uuid::from_u128(1),
            }),
            "file-history" => Some(EvidenceQuestion::FileHistory {
                path: "src/lexer.rs".into(),
                workspace: "/home/ada/src/parser".into(),
            }),
            "rejected-plans" => Some(EvidenceQuestion::Rejected { words: String::new() }),
            _ => None,
        };
        let evidence = evidence || question.is_some();
        let page = match name {
            _ if checked => Page::Diagnostics,
            _ if name == "loop" || name.starts_with("loop-") => Page::Loop,
            _ if setting::view(name).is_some() => Page::Settings,
            _ if name == "agent" || name.starts_with("agent-") => Page::Agent,
            _ => Page::Plan,
        };
        let inbox = match name {
            "inbox" => fixture::inbox(12),
            "inbox-many" => fixture::inbox(1_000),
            _ => InboxList::default(),
        };
        let mut scene = Self {
            reconciled: batch::reconciled(),
            list_options: ListOptions {
                step: (name == "first").then_some(1),
                ..ListOptions::default()
            },
            scroll_to_diagnostic: Cell::new(false),
            listing: Listing::default(),
            excerpt: None,
            answer: question.as_ref().map(found::answer),
            question,
            previewed: previewed(&plan, name),
            done: done(&plan),
            preview: if name.starts_with("batch") {
                Some(batch::preview())
            } else if name.starts_with("command") {
                Some(fixture::preview(&plan, 4))
            } else if name.starts_with("revert") {
                Some(revert::preview(name == "revert-conflict"))
            } else {
                plan.steps.get(2).map(|_| fixture::preview(&plan, 2))
            },
            output: RunOutput {
                opened_by_itself: false,
                transcript: match name {
                    "output" | "output-step" => fixture::transcript(&run, 30),
                    "output-many" => fixture::transcript(&run, 200_000),
                    "terminal" => fixture::terminal_transcript(&run),
                    "command-running" => fixture::transcript(&run, 5),
                    "output-failed"
                    | "command-failed"
                    | "guided-output"
                    | "guided-ended-output" => fixture::transcript(&run, 3),
                    _ => Transcript::default(),
                },
                timer: fixture::timer(name == "command-running"),
                is_shown: name.starts_with("output")
                    || matches!(name, "command-running" | "command-failed")
                    || name.starts_with("guided") && name.ends_with("output"),
            },
            review,
            plan,
            findings,
            approval,
            run,
            selected: match name {
                _ if name.starts_with("command") => 4,
                _ if name.starts_with("revert") => 0,
                _ => 2,
            },
            tab: match name {
                "output-step" => Tab::Output,
                _ if name.starts_with("viewer") => Tab::Artifacts,
                _ => Tab::default(),
            },
            page: if evidence { Page::Evidence } else { page },
            queue: if name == "queue" { fixture::queue() } else { vec![] },
            inbox: inbox.clone(),
            agents: calls::sessions(name),
            inbox_waits: inbox
                .entries
                .iter()
                .map(|it| it.can_be_opened() && it.id != "b")
                .collect(),
            recent: if name == "empty" { vec![] } else { fixture::recent() },
            runs: if name == "empty" { vec![] } else { fixture::runs() },
            // The hits of a team are not listed below their runs.
            lines: match name.starts_with("team") {
                true => result_lines(&SearchPage { runs: Vec::new(), ..search.clone() }),
                false => result_lines(&search),
            },
            origins: (0..search.hits.len())
                .map(|n| format!("countersign/evidence/{}", uuid::Uuid::from_u128(ORIGINS[n % 3])))
                .collect(),
            search: Some(match name {
                "team-nothing" => SearchPage::default(),
                _ => search,
            })
            .filter(|_| !matches!(name, "team-connecting" | "team-unreachable")),
            detail,
            show_detail: matches!(name, "execution" | "tampered" | "team-record"),
            record_tab: Default::default(),
            text: match name {
                "brushed" => "function after:2026-11-08 before:2026-11-14".into(),
                "team-nothing" => String::new(),
                _ => "function after:2026-11-01".into(),
            },
            span: None,
            player: PlayerView {
                at_ms: if name == "played" { 5_600 } else { 0 },
                ..PlayerView::default()
            },
            saved_searches: vec!["host:web-1.example.org outcome:failed".into()],
            verification,
            notices: match name {
                "notice" => notices,
                "notices" => several,
                "command-trying" => vec![trying],
                _ => vec![],
            },
            overlay,
            settings: setting::view(name),
            dialog: true,
            showing: 1,
            guided_dialog: name == "guided-dialog",
            outdated: Vec::new(),
            reveal: Cell::new(false),
            simulation,
            export: ExportView {
                found: Some("137 executions: function after:2026-11-01".to_owned()),
                run: Some((fixture::run_id(), "Fix E0425 in the parser, 22 Nov 14:06".to_owned())),
                choice: ExportChoice {
                    of: ExportOf::Found,
                    kind: ExportFile::Format(ExportFormat::Html),
                },
            },
            contents,
            looping: LoopScene::new(name),
            agent: AgentScene::new(name),
            // Steps 3 and 5 must be looked at.
            choices: PlanChoices::default(),
            list: StepList::default(),
            secret: SecretQuestion {
                asked_by: "ssh, to log in to build".to_owned(),
                prompt: "ada@build's password:".to_owned(),
            },
            changed: ChangedSteps::default(),
            purge: purge(),
            looked_at: match name {
                "unseen" => {
                    LookedAt::new(vec![false, false, true, false, true], vec![OnScreen::Part; 5])
                }
                _ => LookedAt::default(),
            },
            now: fixture::now(),
            name: name.to_owned(),
        };
        if name == "hidden" {
            scene.list_options.filter = "zzz".to_owned();
        }
        scene.update_listing();
        match name {
            "filtered-none" => scene.list.filter.text = "zzz".to_owned(),
            "no-answer" => scene.answer = Some(EvidenceAnswer::Recurring(Vec::new())),
            "judged-none" => {
                let none = Judgement { all: Some(0), ..Judgement::default() };
                scene.answer = Some(EvidenceAnswer::Judged(none));
            }
            "played-before" => scene.player.at_ms = -1,
            "unreadable" => scene.show_detail = true,
            _ => {}
        }
        if name == "filtered" {
            scene.list.filter.kinds.insert(StepKind::Writes);
            scene.list.filter.text = "lib.rs".to_owned();
        }
        if name == "edited" {
            scene.change_steps();
        }
        scene.update_list();
        scene
    }

    /// Shows the same dialog or card again with a new id.
    pub fn ask_again(&mut self) {
        self.showing += 1;
    }

    /// Shows the plan as changed since it was seen: a step is new, and the contents that another one writes differ.
    fn change_steps(&mut self) {
        let mut before = self.plan.clone();
        before.steps[2].arguments.insert("contents".to_owned(), "fn f() {\n    1\n}\n".to_owned());
        before.steps[2].title = Some("Make the sum wrap".to_owned());
        before.digest = countersign::plan::Digest::of(b"before");
        let before = Arc::new(before);
        let seen = before.steps.iter().enumerate().skip(1).map(|(index, step)| {
            (step.step_id.clone(), SeenStep { plan: Arc::clone(&before), index })
        });
        self.changed = ChangedSteps::new(&self.plan, &seen.collect());
        self.selected = 2;
    }

    fn update_list(&mut self) {
        let (plan, review) = (&self.plan, Some(&self.review));
        let sources = KindSources {
            plan,
            review,
            run: &self.run,
            looked_at: &self.looked_at,
            changed: &self.changed,
            previewed: &self.previewed,
        };
        let found = steps_with_text(plan, &self.list.filter.text);
        self.list.update(&sources, &found, None);
    }

    /// Carries out an action, as far as the scene can.
    pub fn play(&mut self, action: &Action, ctx: &egui::Context) {
        match action {
            Action::Plan(PlanAction::SelectStep(index)) => {
                self.selected = *index;
                self.preview = Some(fixture::preview(&self.plan, *index));
            }
            Action::Plan(PlanAction::ShowTab(tab)) => self.tab = *tab,
            Action::Plan(PlanAction::FilterSteps(filter)) => {
                self.list.filter = filter.clone();
                self.update_list();
            }
            Action::Plan(PlanAction::CloseFilter) => {
                self.list.filter = Default::default();
                self.list.is_open = false;
                self.update_list();
            }
            Action::Plan(PlanAction::LookedAt(index, shown)) => {
                self.looked_at.mark(*index, *shown);
            }
            Action::Do(Command::NextUnseen) if self.looked_at.goes_on(self.selected) => {
                countersign::ui::go_on(ctx);
            }
            Action::Do(Command::NextUnseen) => {
                self.selected = self.looked_at.next(self.selected).unwrap_or(self.selected);
            }
            Action::Evidence(EvidenceAction::ChooseExport(choice)) => self.export.choice = *choice,
            Action::Plan(PlanAction::CloseSimulation) => self.simulation.is_shown = false,
            Action::Do(Command::ToggleOutput) => self.output.is_shown = !self.output.is_shown,
            Action::Window(WindowAction::DismissNotice(id)) => {
                self.notices.retain(|it| it.id != *id)
            }
            Action::Do(Command::Simulate) => self.simulation.is_shown = true,
            Action::Do(Command::GoPlan) => self.page = Page::Plan,
            Action::Do(Command::GoEvidence) => self.page = Page::Evidence,
            Action::Do(Command::GoDiagnostics) => self.page = Page::Diagnostics,
            Action::Do(Command::GoLoop) => self.page = Page::Loop,
            Action::Do(Command::GoAgent) => self.page = Page::Agent,
            Action::Agent(action) => self.agent.play(action),
            Action::Do(Command::Verify) => self.verification = verified(),
            Action::Do(Command::NewLoop) => self.looping.focus_goal.set(true),
            Action::Do(Command::StartLoop) => self.looping.start(),
            Action::Loop(action) => self.looping.play(action),
            Action::Diagnostics(action) => self.play_diagnostics(action),
            Action::Evidence(EvidenceAction::RunQuery(question)) => {
                self.page = Page::Evidence;
                self.answer = Some(found::answer(question));
                self.question = Some(question.clone());
            }
            Action::Evidence(EvidenceAction::CloseAnswer) => self.question = None,
            Action::Do(Command::Palette) => self.overlay = Some(Overlay::Palette),
            Action::Do(Command::Help) => self.overlay = Some(help_at("")),
            Action::Window(WindowAction::OpenHelp(topic)) => {
                self.overlay = Some(help_at(topic));
            }
            Action::Do(Command::AnswerStep) if self.plan.mode == Mode::Guided => {
                self.reveal.set(true)
            }
            Action::Plan(PlanAction::OpenConfirmation) => {
                (self.guided_dialog, self.dialog) = (true, true);
                self.ask_again();
            }
            Action::Do(Command::AnswerStep) => {
                self.dialog = true;
                self.ask_again();
            }
            Action::Do(Command::SwitchTheme) => {
                let dark = ctx.global_style().visuals.dark_mode;
                ctx.set_theme(if dark { egui::Theme::Light } else { egui::Theme::Dark });
            }
            Action::Do(Command::Settings) => {
                self.page = Page::Settings;
                self.settings = setting::view("settings");
            }
            Action::Settings(_)
            | Action::Window(
                WindowAction::EditRule(_) | WindowAction::DropRule | WindowAction::RemoveRule(_),
            ) => {
                if let Some(settings) = &mut self.settings {
                    setting::play(settings, action);
                }
            }
            Action::Window(WindowAction::CloseOverlay) => self.overlay = None,
            Action::Dialog(DialogAction::LeaveUndecided | DialogAction::Answer { .. }) => {
                self.dialog = self.plan.mode == Mode::Guided;
                self.guided_dialog = false;
            }
            Action::Evidence(EvidenceAction::Edit(text) | EvidenceAction::Search(text)) => {
                self.text = text.clone();
            }
            Action::Evidence(EvidenceAction::ShowTimes(span)) => self.span = *span,
            Action::Evidence(EvidenceAction::Play(PlayerAction::Seek(at_ms))) => {
                self.player.at_ms = *at_ms;
            }
            Action::Evidence(EvidenceAction::Play(PlayerAction::Speed(speed))) => {
                self.player.speed = *speed;
            }
            Action::Evidence(EvidenceAction::Open(_) | EvidenceAction::OpenHit(_)) => {
                self.show_detail = true;
            }
            Action::Evidence(EvidenceAction::ShowTab(tab)) => self.record_tab = *tab,
            Action::Evidence(EvidenceAction::CloseDetail) => self.show_detail = false,
            _ => {}
        }
    }

    /// The open plans: those of the queue, and two others.
    fn open_plans(&self) -> Vec<OpenPlan<'_>> {
        let queued = self.queue.iter().enumerate();
        let mut plans: Vec<_> = queued
            .map(|(index, it)| OpenPlan {
                path: &it.path,
                name: &it.name,
                state: OpenState::Queued(index),
            })
            .collect();
        if !plans.is_empty() {
            for (plan, state) in self.recent.iter().zip([OpenState::Running, OpenState::Undecided])
            {
                plans.push(OpenPlan { path: &plan.path, name: &plan.name, state });
            }
        }
        plans
    }

    /// The guide of the tour.
    fn tour(&self) -> Option<TourView> {
        let next = match self.name.as_str() {
            "tour" => Some(Station::LookAt),
            "tour-dialog" => Some(Station::Approve),
            "tour-second" => Some(Station::OpenSecond),
            "tour-evidence" => Some(Station::Search),
            "tour-end" => None,
            _ => return None,
        };
        Some(TourView { next, denied: true })
    }

    pub fn view(&self) -> WindowView<'_> {
        let open = !matches!(self.name.as_str(), "empty" | "returning" | "session-past");
        let asking = match &self.run.phase {
            Phase::AwaitingConfirmation(request) => Some(request.as_ref()),
            _ => None,
        };
        let question = match self.name.as_str() {
            name if name.starts_with("authorize") && name != "authorized" => {
                let view = AuthorizeView::new(
                    Arc::new(self.plan.clone()),
                    Arc::new(self.review.clone()),
                    None,
                    None,
                    None,
                    1_800_000,
                    &self.previewed,
                );
                Some(Question::Authorize(Arc::new(view.with_findings(&self.findings))))
            }
            "reject" => Some(Question::Reject {
                digest: self.plan.digest,
                name: self.plan.name(),
                file: None,
                then: AfterRejection::Nothing,
            }),
            "trust" | "trusted" => self.review.workspace_commands.as_ref().map(|commands| {
                Question::Trust { workspace: "/home/ada/src/parser", commands, of_plan: true }
            }),
            "loop-trust" => self.looping.question(),
            "remember-walls" => {
                let grants = Grants { network: true, ..Grants::default() };
                Some(Question::RememberWalls { workspace: "/home/ada/src/parser", grants })
            }
            "fill-in" => Some(Question::FillIn(fixture::fill_in())),
            "export" => Some(Question::Export(self.export.clone())),
            "purge" => Some(Question::Purge(&self.purge)),
            "session-rule" => {
                calls::rule_dialog(&self.agents, &self.now).map(Question::SessionRule)
            }
            "close" => Some(Question::Close { under_way: Some("run"), queued: 0 }),
            "close-agent" => Some(Question::Close { under_way: Some("agent"), queued: 0 }),
            "close-queue" => Some(Question::Close { under_way: None, queued: 2 }),
            "secret" => Some(Question::Secret {
                id: uuid::Uuid::nil(),
                question: &self.secret,
                plan: Some("Restart the build host"),
            }),
            "loop-close" => Some(Question::Close { under_way: Some("loop"), queued: 1 }),
            "asking" => None,
            _ => asking.filter(|it| !it.guided || self.guided_dialog).map(|request| {
                let plan = self.plan.name();
                Question::Confirm { request, plan, in_loop: false, changed: &self.outdated }
            }),
        };
        let prompt = PromptId { about: self.run.run_id, step_index: 2, showing: self.showing };
        WindowView {
            workspace: open.then(|| {
                let reason = self.review.workspace_reason.clone();
                ("/home/ada/src/parser".to_owned(), reason)
            }),
            situation: Situation {
                page: self.page,
                plan_open: open,
                results: self.search.as_ref().map_or(0, |page| page.hits.len()),
                team_set: self.name.starts_with("team"),
                team_shown: self.name.starts_with("team"),
                not_exportable: self.name.starts_with("team").then_some("It exports what ran here."),
                diagnostics: self.listing.shown.len(),
                suggestions: self.listing.selected_entry().map_or(0, |entry| {
                    self.list_options.picked_of(&self.run, entry.position).len()
                }),
                steps: self.plan.steps.len(),
                not_authorizable: self
                    .findings
                    .iter()
                    .any(|finding| finding.severity == Severity::Error)
                    .then_some("Correct the errors listed above."),
                unseen: self.looked_at.missing + self.looked_at.others > 0,
                look_first: self.looked_at.missing > 0,
                approved: matches!(self.approval, Approval::Approved { .. }),
                running: self.run.is_active(),
                looping: !self.looping.has_form()
                    && !self.looping.shown.state.is_over()
                    && self.page == Page::Loop,
                can_go_back: self.name == "returning",
                attempt_waits: matches!(&*self.name, "loop-waiting" | "attempt-failed"),
                agent_works: self.agent.works(),
                agent_form: self.agent.state.is_none(),
                agent_lacks: self.agent.form.missing(),
                loop_form: self.looping.has_form(),
                loop_changed_files: self.looping.shown.state.is_over(),
                form_lacks: self.looping.lacks(),
                folders_unusable: self.looping.place.as_ref().and_then(PlaceReview::refusal),
                asking: asking.map(|request| request.step_index),
                inbox_waiting: self.inbox_waits.iter().filter(|waits| **waits).count()
                    + self.agent.waiting(),
                queued: self.queue.len(),
                queue_held: self.name == "queue",
                over: self.run.is_over(),
                unfinished: self.run.is_over(),
                remote: self.plan.target.is_some(),
                testing_connection: self.name == "command-trying",
                changed_files: self.run.is_over(),
                way_back: !self.plan.notes.rollback.is_empty(),
                ..Situation::default()
            },
            sidebar: SidebarView {
                inbox: InboxView {
                    sessions: &self.agents.all,
                    open_session: self.agents.all.first().map(|session| session.key),
                    list: &self.inbox,
                    waits: &self.inbox_waits,
                    waiting: self.inbox_waits.iter().filter(|waits| **waits).count(),
                },
                queue: QueueView {
                    plans: &self.queue,
                    held: (self.name == "queue").then_some("What ran before did not complete."),
                },
                open_plans: self.open_plans(),
                plans: &self.recent,
                open: open.then(|| Path::new("/home/ada/src/parser/plans/parser.json")),
                runs: &self.runs,
                loops: &[],
                run: self.run.run_id,
                now: &self.now,
            },
            session: calls::shown(&self.agents, &self.name),
            plan: open.then(|| PlanView {
                revision: RevisionView::default(),
                proposed_name: None,
                looked_at: &self.looked_at,
                path: Some(Path::new("/home/ada/src/parser/plans/parser.json")),
                digest: self.plan.digest,
                plan: Some(&self.plan),
                step_counts: StepCounts::of(&self.plan),
                choices: Some(ChoicesView {
                    chosen: &self.choices,
                    chose_workspace: false,
                    default_walls: WallSetting::Preferred,
                }),
                findings: &self.findings,
                done: Some(&self.done).filter(|_| self.name == "done"),
                review: Some(&self.review),
                review_id: uuid::Uuid::nil(),
                approval: &self.approval,
                reviews: ReviewsView::default(),
                rejected: None,
                run: &self.run,
                output: &self.output,
                in_inbox: self.name == "inbox",
                proposed_by: (self.name == "inbox").then_some("nightly build"),
                asked_until_ms: None,
                session_decided: None,
                agent_acts: false,
                last_run: self.runs.first().filter(|_| self.name == "last-run"),
                continues: self.plan.is_revert().then(fixture::run_id),
                other_plan: None,
                other_runs: None,
                recorded: None,
                attempt: (self.name == "attempt").then(|| PlanAttempt {
                    attempt: Attempt { loop_id: uuid::Uuid::from_u128(7), number: 2 },
                    max_attempts: 3,
                    waits: true,
                    by_class: false,
                }),
                of_loop: matches!(&*self.name, "completed" | "attempt-failed")
                    .then(|| Attempt { loop_id: uuid::Uuid::from_u128(7), number: 2 }),
                prequel: (self.name == "attempt").then(|| {
                    "Attempt 2 of 3, because of attempt 1: verification failed.\n\
                     cannot find function `old_function` in this scope"
                        .to_owned()
                }),
                sequel: (self.name == "attempt-failed").then(|| Sequel {
                    icon: icon::FAILED,
                    tone: Tone::Danger,
                    title: "Verification failed".into(),
                    detail: "Attempt 2 waits for you.".into(),
                    leads_to: Some(Command::OpenAttempt),
                    is_over: false,
                }),
                reconciled: if self.name == "batch-interrupted" { &self.reconciled } else { &[] },
                selected: self.selected,
                scroll_to_selected: false,
                list: &self.list,
                changed: &self.changed,
                tab: self.tab,
                card: asking.filter(|request| request.guided).map(|request| CardView {
                    prompt,
                    request,
                    changed: &[],
                    reveal: self.reveal.take(),
                    dialog_open: self.guided_dialog,
                    covered: self.guided_dialog || self.overlay.is_some(),
                }),
                // A faulty step has no preview.
                preview: self.preview.as_ref().filter(|_| {
                    let step = self.plan.steps.get(self.selected);
                    step.is_some_and(|step| step.call.is_some())
                }),
                previewed: &self.previewed,
                simulation: Some(&self.simulation).filter(|it| it.is_shown),
                contents: &self.contents,
                execution: self.run.run_id.map(|_| &self.detail),
                now: &self.now,
            }),
            evidence: EvidenceView {
                text: &self.text,
                saved: &self.saved_searches,
                hints: &[],
                failure: matches!(&*self.name, "team-unreachable" | "unsearchable").then_some(
                    "E308 the server postgres://ada@db.example.org:5432/evidence cannot be reached: Connection refused\n\
                     See that the server runs and can be reached, then try again.",
                ),
                team: self.name.starts_with("team").then_some(TeamView {
                    server: "postgres://ada@db.example.org:5432/evidence",
                    is_shown: true,
                    origins: &self.origins,
                    open: self.show_detail.then_some(0),
                    origin: self.origins.first().map(String::as_str).filter(|_| self.show_detail),
                }),
                problems: &[],
                page: self.search.as_ref(),
                timeline: TimelineView {
                    buckets: self.search.as_ref().map_or(&[], |page| &page.counts.timeline),
                    is_partial: false,
                    span: self.span,
                },
                player: self.player,
                is_searching: self.name == "team-connecting",
                lines: &self.lines,
                question: self.question.as_ref(),
                answer: self.answer.as_ref(),
                selected: self.show_detail.then_some(self.detail.row.execution_id),
                detail: Some(&self.detail).filter(|_| self.name != "unreadable"),
                unreadable: (self.name == "unreadable").then_some("E401 the record was purged"),
                tab: self.record_tab,
                attempt: (self.name == "execution")
                    .then(|| Attempt { loop_id: uuid::Uuid::from_u128(7), number: 2 }),
                reconciled: &[],
                contents: &self.contents,
                verification: &self.verification,
                exporting: (self.name == "exporting").then_some(12_400),
                focus_search: false,
                scroll_to_selected: false,
                now: &self.now,
            },
            diagnostics: open.then_some(DiagnosticsView {
                run: &self.run,
                may_report: true,
                listing: &self.listing,
                options: &self.list_options,
                excerpt: self.excerpt.as_ref(),
                last_run: None,
                focus_filter: false,
                scroll_to_selected: self.scroll_to_diagnostic.take(),
            }),
            looping: self.looping.view(&self.now),
            agent: self.agent.view(),
            status: StatusView::new(&self.run, self.now.ms, Some(9_200), None),
            notices: &self.notices,
            dialog: question.filter(|_| self.dialog).map(|question| Dialog { prompt, question }),
            settings: self.settings.as_ref(),
            tour: self.tour(),
            overlay: self.overlay.as_ref(),
        }
    }
}

/// What the previews of all steps say: of the third step alone, or of all of them.
fn previewed(plan: &ShownPlan, name: &str) -> PreviewedSteps {
    let mut known = PreviewedSteps::new(plan.steps.len());
    let mut store = |index, preview: &Preview| known.store(index, PreviewedStep::of(preview));
    match name {
        "authorize-revert" => store(0, &revert::deletion()),
        "fails" | "authorize-fails" => {
            for index in 0..4 {
                store(index, &fixture::preview(plan, index));
            }
            let why = "cannot create CHANGELOG.md: it exists already";
            store(4, &Preview::failure(why, Vec::new()));
        }
        "authorize-ends" => {
            for index in [0, 1, 3, 4] {
                store(index, &fixture::preview(plan, index));
            }
            store(2, &Preview::failure("cannot write src/lib.rs: it is absent", Vec::new()));
        }
        "authorize" => {
            store(2, &fixture::preview(plan, 2));
            return known;
        }
        _ => return known,
    }
    known.progress = PreviewProgress::Ended;
    known
}

/// What the steps of the plan did to files.
fn done(plan: &ShownPlan) -> DoneFiles {
    let mut known = PreviewedSteps::new(plan.steps.len().min(5));
    for index in 0..plan.steps.len().min(5) {
        known.store(index, PreviewedStep::of(&fixture::preview(plan, index)));
    }
    known.done(&[2, 4], |_| Vec::new())
}

/// A bug report, shortened.
const BUG_REPORT: &str = "countersign 0.1.0

system
  kernel: 6.12.0-heron
  name: Debian GNU/Linux 13 (trixie)
  processor: x86_64
  system: linux

session
  DISPLAY: :0
  XDG_SESSION_TYPE: x11
  display: X11

window
  GL renderer: llvmpipe (LLVM 19.1.7, 256 bits)
  GL version: 4.5 (Compatibility Profile) Mesa 25.0.7
  font for Chinese: Noto Sans CJK SC
  scale: 1.00
  theme: dark

walls
  level: full

evidence
  folder: ~/.local/share/countersign/evidence
  format: 7
  contents: 12 runs, 4.1 MiB
  verified: 214 records are unchanged

settings
  file: ~/.config/countersign/settings.toml
  theme = \"dark\"

log
  folder: ~/.local/state/countersign/log
  level: info
  fault: none
  2026-11-29T14:29:30.123Z info cli started command=window version=0.1.0 pid=4711
  2026-11-29T14:29:30.180Z info app settings loaded pid=4711
  2026-11-29T14:29:31.020Z info engine run begun run=6f0c2f4e-4f0e-4a53-9d5c-5c1c5b0f1d11 steps=4 pid=4711
  2026-11-29T14:29:32.954Z error engine run ended status=failed code=E304 pid=4711
";
