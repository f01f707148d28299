//! Any text as a precondition of any tool (SPEC §5), parsed and checked in a workspace.
//!
//! The first byte of the input chooses the tool, the names of its arguments and the outcome of the earlier step.
//! The precondition and the tool's arguments follow, separated by a byte that no UTF-8 text contains. Each result
//! is compared with that of the file system. A watch reports if anything beside the workspace is opened.

#![no_main]

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path};
use std::sync::LazyLock;

use countersign_fuzz::code::last_name;
use countersign_fuzz::engine::{self, ExecutionError};
use countersign_fuzz::plan::{Code, Dialect, Digest, Precondition, Step, TOOLS, ToolSpec, parse};
use countersign_fuzz::run::Outcome;
use countersign_fuzz::world::{Real, World};
use libfuzzer_sys::{Corpus, fuzz_target};
use serde_json::json;

/// The byte that separates the texts of an input.
const BETWEEN: u8 = 0xFF;

static WORLD: LazyLock<World> = LazyLock::new(|| World::new().expect("a workspace"));

fuzz_target!(|data: &[u8]| -> Corpus {
    match Input::read(data) {
        Some(input) => {
            input.check();
            Corpus::Keep
        }
        None => Corpus::Reject,
    }
});

struct Input<'a> {
    tool: &'static ToolSpec,
    text: &'a str,
    arguments: BTreeMap<&'static str, &'a str>,
    /// The outcome of the earlier step.
    earlier: Option<Outcome>,
}

impl<'a> Input<'a> {
    fn read(data: &'a [u8]) -> Option<Self> {
        let (choice, rest) = data.split_first()?;
        let choice = usize::from(*choice);
        // A step plan may name no other dialect's tools.
        let tools: Vec<_> =
            TOOLS.iter().filter(|it| it.tool.is_allowed_in(Dialect::StepPlan)).collect();
        let tool = tools[choice % tools.len()];
        let alias = choice / tools.len() % 2 == 1;
        let earlier =
            [None, Some(Outcome::Succeeded), Some(Outcome::Failed), Some(Outcome::Skipped)]
                [choice / tools.len() / 2 % 4];
        let mut texts = rest.split(|byte| *byte == BETWEEN).map(str::from_utf8);
        let text = texts.next()?.ok()?;
        let mut arguments = BTreeMap::new();
        for argument in tool.arguments {
            let name = argument.alias.filter(|_| alias).unwrap_or(argument.name);
            if let Some(text) = texts.next() {
                arguments.insert(name, text.ok()?);
            }
        }
        Some(Self { tool, text, arguments, earlier })
    }

    fn check(&self) {
        let precondition = Precondition::parse(self.text);
        check_words(self.text, precondition.as_ref());
        let plan = json!({"plan_id": "p", "intent": "MUTATE", "steps": [
            {"step_id": "first", "tool": "file_read", "arguments": {"path": "a.txt"}},
            {"tool": self.tool.name, "arguments": self.arguments, "precondition": self.text},
        ]});
        let parsed = parse(plan.to_string().as_bytes());
        let valid = parsed.is_valid();
        let refused =
            parsed.findings.iter().any(|finding| finding.code == Code::UnknownPrecondition);
        let fits = match &precondition {
            None => false,
            Some(Precondition::StepSucceeded(id)) => id == "first",
            Some(precondition) => precondition.fits(self.tool.tool),
        };
        assert_ne!(refused, fits, "{precondition:?}: {:?}", parsed.findings);
        assert!(!(refused && valid));
        let (Ok(plan), Some(precondition)) = (parsed.plan, precondition) else { return };
        let step = plan.steps.get(1).expect("it has two steps");
        assert_eq!(step.precondition, precondition);
        let outcomes: HashMap<_, _> =
            self.earlier.into_iter().map(|outcome| ("first".to_owned(), outcome)).collect();
        let _ = WORLD.touched();
        let ask = || engine::check(step, &WORLD.toolbox, &outcomes);
        let (answer, again) = (ask(), ask());
        let touched = WORLD.touched();
        assert!(touched.is_empty(), "{precondition:?} {:?}: {touched:?}", self.arguments);
        assert_eq!(format!("{answer:?}"), format!("{again:?}"));
        self.check_answer(step, &answer);
    }

    /// What the precondition refers to, by the specification.
    fn subject(&self, names: &[&str]) -> &'a str {
        let found = names.iter().find_map(|name| self.arguments.get(name).copied());
        found.unwrap_or_else(|| panic!("{} has none of {names:?}", self.tool.name))
    }

    fn check_answer(&self, step: &Step, answer: &Result<String, ExecutionError>) {
        let file = &["path", "file", "file_path"];
        let names: &[&str] = match &step.precondition {
            Precondition::None => {
                assert_eq!(answer.as_ref().ok().map(String::as_str), Some(""));
                return;
            }
            Precondition::StepSucceeded(_) => {
                assert_eq!(answer.is_ok(), self.earlier == Some(Outcome::Succeeded));
                return;
            }
            Precondition::GitRepositoryExists => {
                assert!(answer.is_ok(), "{answer:?}");
                return;
            }
            Precondition::CodegraphDbExists => {
                let above = WORLD.workspace.ancestors();
                let there = above.map(|folder| folder.join("codegraph.db")).any(|it| it.is_file());
                assert_eq!(answer.is_ok(), there);
                return;
            }
            Precondition::CommandAvailable(name) => {
                assert!(answer.is_err() || !name.contains('/'), "{name:?}: {answer:?}");
                return;
            }
            Precondition::MagellanHasIndexedFile => {
                assert!(answer.is_err(), "nothing can know that: {answer:?}");
                return;
            }
            Precondition::SymbolExists { named } => {
                // The workspace has one source, and that defines one function.
                let asked = named.as_deref();
                let symbol = asked.unwrap_or_else(|| self.subject(&["symbol", "name"]));
                let found = answer.is_ok();
                assert!(!found || last_name(symbol) == "f", "{symbol:?}: {answer:?}");
                let in_file = ["path", "file", "file_path", "plan_file", "root"];
                let anywhere = !in_file.iter().any(|name| self.arguments.contains_key(name));
                assert!(found || symbol != "f" || !anywhere, "{answer:?}");
                return;
            }
            Precondition::PlanFileExists => &["plan_file", "file"],
            Precondition::RootExists => &["root", "path"],
            Precondition::CargoWorkspace => &["path", "file", "file_path", "root", "plan_file"],
            Precondition::FileExists
            | Precondition::FileDoesNotExist
            | Precondition::ParentExists
            | Precondition::FileHashIs(_) => file,
        };
        let path = self.subject(names);
        let real = WORLD.real(path);
        let holds = holds(&step.precondition, path, &real);
        let case = || format!("{:?} of {path:?}, which is {real:?}", step.precondition);
        if answer.is_ok() {
            assert_ne!(real, Real::Outside, "{}: {answer:?}", case());
            assert_ne!(holds, Some(false), "{}: {answer:?}", case());
        } else if is_plain(path) {
            assert_ne!(holds, Some(true), "{}: {answer:?}", case());
            if real == Real::Outside {
                let code = answer.as_ref().err().map(ExecutionError::code);
                assert_eq!(code, Some(Code::OutsideWorkspace), "{}", case());
            }
        }
    }
}

/// Case and surrounding space do not matter; what the text names keeps its case.
fn check_words(text: &str, read: Option<&Precondition>) {
    for (before, after) in [(" ", ""), ("", "\t\n"), ("\u{3000}", "\u{a0} ")] {
        assert_eq!(Precondition::parse(&format!("{before}{text}{after}")).as_ref(), read);
    }
    for other in [text.to_ascii_uppercase(), text.to_ascii_lowercase()] {
        let other = Precondition::parse(&other);
        assert_eq!(other.as_ref().map(folded), read.map(folded), "{text:?}");
    }
}

/// The precondition with what it names in lower case.
fn folded(precondition: &Precondition) -> Precondition {
    match precondition {
        Precondition::SymbolExists { named: Some(name) } => {
            Precondition::SymbolExists { named: Some(name.to_ascii_lowercase()) }
        }
        Precondition::StepSucceeded(id) => Precondition::StepSucceeded(id.to_ascii_lowercase()),
        Precondition::CommandAvailable(name) => {
            Precondition::CommandAvailable(name.to_ascii_lowercase())
        }
        other => other.clone(),
    }
}

/// Whether the precondition holds by one query of the file system; `None` if that cannot decide it.
fn holds(precondition: &Precondition, path: &str, real: &Real) -> Option<bool> {
    Some(match precondition {
        Precondition::FileExists | Precondition::PlanFileExists => real.is_file(),
        Precondition::FileDoesNotExist => *real == Real::Absent,
        Precondition::RootExists => real.is_folder(),
        Precondition::FileHashIs(wanted) => match real {
            Real::Inside(path) if path.is_file() => {
                Digest::of(&std::fs::read(path).expect("a file of ours")) == *wanted
            }
            _ => false,
        },
        Precondition::ParentExists => match real {
            Real::Inside(_) => true,
            Real::Absent => {
                let parent = Path::new(path).parent()?.to_str()?;
                WORLD.real(parent).is_folder()
            }
            Real::Outside | Real::Unusable => false,
        },
        Precondition::CargoWorkspace => match real {
            Real::Inside(path) => path
                .ancestors()
                .take_while(|folder| folder.starts_with(&WORLD.workspace))
                .filter_map(|folder| folder.join("Cargo.toml").to_str().map(str::to_owned))
                .any(|manifest| WORLD.real(&manifest).is_file()),
            Real::Outside | Real::Unusable => false,
            // The system does not resolve the parent folders of an absent path.
            Real::Absent => return None,
        },
        _ => return None,
    })
}

/// Whether a plan may use this path wherever it exists.
fn is_plain(path: &str) -> bool {
    let names_only =
        Path::new(path).components().all(|component| matches!(component, Component::Normal(_)));
    names_only && !path.ends_with('/') && path.len() <= 4096
}
