//! Events, results and records of runs and loops as pure data (SPEC §3).
//!
//! The journal of the engine sends [`RunEvent`]s, and the evidence replays them. [`RunState::apply`] and
//! [`LoopState::apply`] are the only way from events to a state. This room uses no clock, no files, no SQL and no
//! egui.

mod agent_session;
mod ansi_style;
mod argument_difference;
mod attempt;
mod confirm;
mod diagnostic;
mod diagnostics_diff;
mod difference;
mod effect;
mod error_info;
mod event;
mod excerpt;
mod execution_result;
mod export_format;
mod file_history;
mod fleet;
mod history;
mod host;
mod host_table;
mod inbox;
mod judged_command;
pub(crate) mod line_diff;
mod look;
mod loop_place;
mod loop_record;
mod loop_state;
mod mode;
mod other_runs;
mod over_time;
mod past_time;
mod plan_state;
mod playback;
mod preview;
mod previewed;
mod question;
mod reconcile;
mod record;
mod record_times;
mod result;
mod retention;
mod review;
mod review_request;
mod run_comparison;
mod search;
mod secret;
mod selected_lines;
pub mod settings;
mod signature;
mod source;
mod state;
mod step_durations;
mod step_timer;
mod steps;
mod stop;
mod stop_reason;
mod suggestion;
mod summary;
mod tally;
mod target_word;
mod terminal;
pub mod text;
mod ticks;
mod transcript;
mod transition;
mod utf8_decoder;
mod waterfall;

pub use agent_session::{
    AgentCall, AgentSession, AgentSessions, CallState, SessionCall, SessionKey,
};
pub use ansi_style::{AnsiStyle, Hue, coloured};
pub use attempt::{
    ActionError, ActionErrorCode, ActionRecord, ActionStatus, AttemptRecord, PlannerFinding,
    PlannerReport, PlannerStatus, VERIFY_GATE, VerifyRecord, failure_words, is_retryable,
};
pub use confirm::{Answer, AnsweredBy, ConfirmationRequest, Control, Decision};
pub use diagnostic::{DiagnosticArtifact, DiagnosticSpan, Level, MAX_DIAGNOSTICS};
pub use diagnostics_diff::{BaselineState, Comparison, compare};
pub use difference::{PlanDifference, StepChange, StepDifference, has_same_effect};
pub use effect::{Edge, EdgeType, FileEffect, TargetKind};
pub use error_info::ErrorInfo;
pub use event::{RunEnding, RunEvent, SKIPPED_WITH_COMMAND, Stream};
pub use excerpt::{StreamEnds, StreamExcerpt};
pub use execution_result::ExecutionResult;
pub use export_format::{ExportFile, ExportFormat};
pub use file_history::{FileHistory, NoDifference, RecordedChange};
pub use fleet::{
    FleetFiles, FleetReview, HostGroup, HostResult, SshFiles, SshPart, groups_of_hosts,
    hosts_to_roll_back,
};
pub use history::{
    Attempt, Checkpoint, CheckpointName, FileReversal, History, HistoryEntry, NoCheckpoint,
    UndoError, is_git_path, reversals,
};
pub use host::{Host, TargetState};
pub use host_table::{HostKind, HostState, HostTable};
pub use inbox::{DecidedPlan, InboxEntry, InboxKind, InboxList, InboxPlan, NO_DEADLINE_MS};
pub use judged_command::{JudgedCommand, Judgement, PastCommand};
pub use look::{LOOK_BYTES, Look, LookRecord, LookScope, Looked, MAX_LOOK_ROUNDS, MAX_LOOKS};
pub use loop_place::{
    AGENT_TIMEOUT_S, LoopPlace, PLANNER_TIMEOUT_S, PlaceFault, PlaceReview, default_verify,
};
pub use loop_record::{AttemptDetail, LoopDetail, LoopFate, LoopSummary};
pub use loop_state::{AttemptState, LoopPhase, LoopState};
pub use mode::{FileMode, Modes};
pub use other_runs::{other_runs, other_runs_warning};
pub use over_time::{OverTime, rate};
pub use past_time::{PAST_TIME_FORMS, past_time};
pub use plan_state::{LastDecision, PlanState};
pub use playback::{Playback, StepPhase};
pub use preview::{Diff, DiffLine, ExpectedEnd, FileChange, LineKind, Predicted, Preview};
pub use previewed::{DoneFiles, FileFate, PreviewProgress, PreviewedStep, PreviewedSteps};
pub use question::{
    EvidenceAnswer, FileExecution, LaterMutation, MAX_ROWS, PlanRejection, Question,
    RecurringDiagnostic,
};
pub use reconcile::{DiskState, FileForecast, Reconciled, SettleMode, sentences};
pub use record::{
    ArtifactRecord, DecidedBy, DecisionRecord, Execution, ExecutionDetail, Fate, HeadReport, Known,
    ListedExecution, PLACES, RecordKind, RunFate, RunSummary, VerifyReport,
};
pub use result::{Failure, Outcome, RunStatus, STREAM_HEAD_BYTES, StepResult};
pub use retention::{
    BackupReport, ClearSecret, Compacted, EvidenceSizes, PURGED_TEXT, PurgeNote, PurgePreview,
    PurgeRecord, PurgeReport, PurgeRule, RestoreReport, SizeOfPart,
};
pub use review::{
    CommandReview, CommandsReview, Impact, PreconditionState, Review, StepWallsReview, WallsReview,
    cannot_be_restored,
};
pub use review_request::{REQUEST_BYTES, ReviewRequest};
pub use run_comparison::{
    ComparedRun, InputDifference, MAX_COMPARED_BYTES, OutputContent, OutputDifference, ReadContent,
    RecordedOutput, RecordedStep, RecordedSteps, RunComparison, StepComparison, StepPair,
};
pub use search::{Facets, SearchCounts, SearchHit, SearchPage, SearchQuery, TimeBucket};
pub use secret::{AskSecret, Secret, SecretQuestion};
pub use selected_lines::{DeselectedLines, SelectionError, hunks};
pub use signature::{SignatureKind, SignatureRecord};
pub use source::{SourceLine, shown_line};
pub use state::{Phase, RunState};
pub use step_durations::{StepDurations, took_ms};
pub use step_timer::StepTimer;
pub use steps::{StepState, Steps};
pub use stop::{Listener, StopSignal};
pub use stop_reason::{StopCode, StopDetail, StopReason};
pub use suggestion::SuggestedFix;
pub use summary::{EvidenceSummary, Focus, ToolCount};
pub use tally::RunTally;
pub use terminal::{
    Cell, CellColor, Cursor, Keyboard, OpenTerminal, ScreenLine, ScreenLines, TerminalModes,
    TerminalPort, TerminalScreen, TerminalSize, TypedBy,
};
pub use ticks::{tick_label, ticks};
pub use transcript::{Part, StepTerminal, Transcript, TranscriptLine};
pub use transition::{Happened, Transition, transition};
pub use utf8_decoder::Decoder;
pub use waterfall::{StepTimes, TimeSpan, Waterfall};
