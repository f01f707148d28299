//! How dangerous a step is (SPEC §7.1), decided without trusting the plan's author.
//!
//! Pure: no file is read here. The review and the executor rate steps; most rooms use `Policy` and `Verdict`. What a
//! plan states about its own risk can only raise a verdict.
//!
//! The rules of the user are part of the `Policy`, and the digest of the policy covers them and the built-in tables. If
//! the settings cannot be used, `refusal` of the policy contains the reason. Neither the review nor the executor then
//! lets anything run.
//!
//! One table of sensitive paths (`assets/risk/sensitive.toml`) serves tools and commands, so that both treat a path alike.

mod policy;
mod rule_names;
mod sensitive;
mod shell;
mod tools;

pub use crate::authorization::WallSetting;
pub use crate::plan::RiskLevel;
pub use policy::{AgentFolder, EngineChoice, PlannerNeeds, PlannerSettings, Policy};
pub use rule_names::{CODE_RULES, CodeRule, is_builtin_rule};
pub use sensitive::{is_at_or_below, is_hidden_from_planners, rules as sensitive_rules};
pub use shell::{
    BadRule, BuiltinVerdict, CommandNeeds, CommandVerdict, GitSettings, ParsedSpans, Reach,
    Repositories, RepositorySettings, RuleText, Shell, SimpleCommand, Surroundings, UserRule,
    UserRules, Word, first_parse, needs_of_command, of_command, of_local_command,
    read_git_settings, read_only_programs, refused_span, rule_texts, second_parse, table_folder,
    table_paths,
};
pub use tools::{
    CHANGE_HISTORY, Verdict, of_faulty_step, of_shell_command, of_step, of_written_path,
    of_written_program,
};
