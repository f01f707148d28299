//! The inputs of a plan on the command line (SPEC §13, *Revisions*): values from options, from defaults, or from a person
//! at the terminal. The value of a secret is never on the command line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::args::{InputWord, Inputs};
use super::output::{quoted_in_line, say};
use super::refusal::Refusal;
use crate::authorization::{Secret, SecretInputs};
use crate::plan::{
    PlanInput, RevisedPart, Revision, ShownPlan, lacks_only_inputs, limits, parse, quoted,
    shown_inputs,
};

/// Whether a person at the terminal is asked for what is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// If there is a terminal.
    AtTerminal,
    /// Nobody is asked. What has no default stays missing.
    Never,
    /// Nobody is asked, and only what is given is filled in.
    AsGiven,
}

/// What was filled in.
#[derive(Default)]
pub(super) struct FilledIn {
    /// The secrets that were given.
    pub(super) secret_inputs: SecretInputs,
    /// The plan before its inputs had values, and every value; `None` if there were none to fill in.
    pub(super) base: Option<(Box<ShownPlan>, Vec<RevisedPart>)>,
}

/// Fills in the values that are given, and the defaults of the other inputs.
///
/// # Errors
/// An input that the plan does not have, a value that it does not accept, or a file that cannot be read.
pub(super) fn fill_in(
    bytes: Vec<u8>,
    given: &Inputs,
    ask: Ask,
) -> Result<(Vec<u8>, FilledIn), Refusal> {
    let parsed = parse(&bytes);
    let may_ask = lacks_only_inputs(&parsed.findings);
    // What is no plan has findings that say so.
    let Some(plan) = parsed.into_shown() else { return Ok((bytes, FilledIn::default())) };
    let inputs = plan.inputs.as_slice();
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for InputWord { name, value } in &given.input {
        if values.insert(name.clone(), value.clone()).is_some() {
            return Err(twice("--input", name));
        }
    }
    let asks = ask == Ask::AtTerminal && may_ask && super::run::is_terminal();
    let named = inputs.iter().filter(|input| !input.name.is_empty());
    for input in named.filter(|input| input.is_missing() && ask != Ask::AsGiven) {
        if values.contains_key(&input.name) {
            continue;
        }
        let value = match &input.default {
            Some(default) => Some(default.clone()),
            None if asks => ask_value(input).map_err(no_answer)?,
            None => None,
        };
        values.extend(value.map(|value| (input.name.clone(), value)));
    }
    let mut secrets = secrets(given, inputs)?;
    for input in inputs.iter().filter(|input| input.secret && !input.used_by.is_empty()) {
        if asks && secrets.get(&input.name).is_none() {
            let typed = ask_secret(input).map_err(no_answer)?;
            secrets.give(input.name.clone(), typed);
        }
    }
    let mut filled_in = FilledIn { secret_inputs: secrets, base: None };
    if values.is_empty() {
        return Ok((bytes, filled_in));
    }
    let (bytes, parts) = with_values(&plan, &values)?;
    if !parts.is_empty() {
        filled_in.base = Some((Box::new(plan), parts));
    }
    Ok((bytes, filled_in))
}

/// The bytes of a plan with these values of its inputs, and what differs.
///
/// # Errors
/// An input that the plan does not have, a value that it does not accept, or a plan that becomes too large.
pub(super) fn with_values(
    plan: &ShownPlan,
    values: &BTreeMap<String, String>,
) -> Result<(Vec<u8>, Vec<RevisedPart>), Refusal> {
    let mut revision = Revision::default();
    let filled = revision.fill_in(plan, values);
    let revised = filled.and_then(|()| Ok((revision.apply(plan)?, revision.parts(plan)?)));
    match revised {
        Ok((bytes, _)) if bytes.len() > limits::PLAN_BYTES => {
            let limit = limits::PLAN_BYTES;
            let message = format!("with these values the plan has more than {limit} bytes");
            Err(Refusal::usage(message, "Make the values shorter."))
        }
        Ok(revised) => Ok(revised),
        Err(error) => {
            Err(Refusal::usage(error.to_string(), "`check` lists the inputs of the plan."))
        }
    }
}

/// The refusal of an input that is given twice.
pub(super) fn twice(option: &str, name: &str) -> Refusal {
    Refusal::usage(format!("{option} gives {name:?} twice"), "Give each input once.")
}

fn no_answer(error: io::Error) -> Refusal {
    Refusal::usage(
        format!("an input cannot be asked for: {error}"),
        "Give it with --input or --secret-input.",
    )
}

/// The secrets that are given in files.
fn secrets(given: &Inputs, inputs: &[PlanInput]) -> Result<SecretInputs, Refusal> {
    let mut secrets = SecretInputs::default();
    for InputWord { name, value: file } in &given.secret_input {
        let Some(input) = inputs.iter().find(|input| input.name == *name && input.secret) else {
            let message = format!("the plan has no secret input {name:?}");
            return Err(Refusal::usage(message, "`check` lists the inputs of the plan."));
        };
        if secrets.get(name).is_some() {
            return Err(twice("--secret-input", name));
        }
        let read = if file == "-" {
            read_secret(io::stdin().lock())
        } else {
            File::open(Path::new(file)).and_then(read_secret)
        };
        let secret = read.map_err(|error| {
            let message =
                format!("the secret input {name:?} cannot be read from {file:?}: {error}");
            Refusal::usage(message, "Name a file with the secret, or - for stdin.")
        })?;
        check_secret(input, &secret)?;
        secrets.give(name.clone(), secret);
    }
    Ok(secrets)
}

/// The whole of a file without the end of its last line.
fn read_secret(file: impl io::Read) -> io::Result<Secret> {
    let limit = u64::try_from(limits::INPUT_BYTES).unwrap_or(u64::MAX);
    // All of the room at once, so that no earlier part of the secret is left behind in memory.
    let mut bytes = Vec::with_capacity(limits::INPUT_BYTES + 3);
    file.take(limit + 3).read_to_end(&mut bytes)?;
    if bytes.ends_with(b"\n") {
        bytes.pop();
        if bytes.ends_with(b"\r") {
            bytes.pop();
        }
    }
    Ok(Secret::new(bytes))
}

fn check_secret(input: &PlanInput, secret: &Secret) -> Result<(), Refusal> {
    let why = match std::str::from_utf8(secret.bytes()) {
        Ok(text) => input.refuses(text),
        Err(_) => Some("it is not UTF-8".to_owned()),
    };
    match why {
        None => Ok(()),
        Some(why) => {
            let message = format!("the value of {:?} is refused: {why}", input.name);
            Err(Refusal::usage(message, "Give another value."))
        }
    }
}

/// Asks for a value, until there is one that the input accepts.
fn ask_value(input: &PlanInput) -> io::Result<Option<String>> {
    let choices = match input.choices.as_slice() {
        [] => String::new(),
        choices => format!(" ({})", choices.join(", ")),
    };
    loop {
        let line = ask_line(&format!("{}{choices}: ", input.label()))?;
        match input.refuses(&line) {
            None => return Ok(Some(line)),
            Some(why) => say(&quoted_in_line(&why)),
        }
    }
}

/// Asks for a secret without echo, until there is one that can be used.
fn ask_secret(input: &PlanInput) -> io::Result<Secret> {
    loop {
        let line = {
            let _silence = Silence::begin()?;
            ask_line(&format!("{} (a secret, not shown): ", input.label()))
        };
        // The line break was not shown, either.
        let _ = writeln!(io::stderr());
        let line = line?;
        match input.refuses(&line) {
            None => return Ok(Secret::new(line.into_bytes())),
            Some(why) => say(&quoted_in_line(&why)),
        }
    }
}

pub(super) fn ask_line(question: &str) -> io::Result<String> {
    let mut stderr = io::stderr();
    write!(stderr, "{}", quoted(question))?;
    stderr.flush()?;
    let mut line = String::with_capacity(limits::INPUT_BYTES);
    let limit = u64::try_from(limits::INPUT_BYTES).unwrap_or(u64::MAX);
    if io::stdin().lock().take(limit + 2).read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if line.ends_with('\n') {
        line.pop();
    }
    Ok(line)
}

/// The terminal does not show what is typed, until this is dropped.
pub(super) struct Silence(Termios);

impl Silence {
    pub(super) fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        // Typed input is dropped: it was shown.
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self(before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Prints the inputs of a plan, one a line.
pub(super) fn lines(inputs: &[PlanInput]) -> Vec<String> {
    shown_inputs(inputs).into_iter().map(|(name, value)| format!("{name}: {value}")).collect()
}
