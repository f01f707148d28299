//! Starts the person's editor by the command from the settings.

use std::path::{Path, PathBuf};

use super::query_thread::{Query, QueryContext, QueryError};
use crate::plan::Code;
use crate::risk::Policy;
use crate::run::Failure;
use crate::tools::Toolbox;

/// Shows a location in the person's editor.
pub struct OpenEditor {
    /// The workspace.
    pub workspace: PathBuf,
    /// The command in the settings.
    pub command: String,
    /// The location.
    pub place: EditorPlace,
}

impl Query for OpenEditor {
    type Answer = ();
    const FAILURE: &str = "The editor cannot be opened.";

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        let Self { workspace, command, place } = &self;
        Ok(open(command, workspace, &context.setup.policy, place)?)
    }
}

/// A location that an editor can show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorPlace {
    /// The file, as the diagnostic names it.
    pub file: String,
    /// The line, from 1.
    pub line: i64,
    /// The column, from 1.
    pub column: i64,
}

/// A command, split into its program and arguments. It is started without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorCommand {
    program: String,
    arguments: Vec<String>,
}

/// The placeholders.
const PLACES: [&str; 3] = ["{file}", "{line}", "{column}"];

impl EditorCommand {
    /// Splits a command at spaces; single or double quotation marks keep words together.
    ///
    /// # Errors
    /// Why the command cannot be used, as a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut words = words(text)?.into_iter();
        let Some(program) = words.next() else {
            return Err("No editor is set.".to_owned());
        };
        let arguments: Vec<String> = words.collect();
        if PLACES.iter().any(|place| program.contains(place)) {
            return Err("It must begin with the program.".to_owned());
        }
        if program.contains('/') && !Path::new(&program).is_absolute() {
            // A relative path would depend on the current folder, which may be a workspace.
            return Err("Name the program, or its whole path.".to_owned());
        }
        if !arguments.iter().any(|argument| argument.contains("{file}")) {
            return Err("It must say where the file goes: {file}.".to_owned());
        }
        Ok(Self { program, arguments })
    }

    /// The arguments for one location. An inserted value is neither split nor searched for placeholders.
    fn arguments(&self, file: &str, place: &EditorPlace) -> Vec<String> {
        let (line, column) = (place.line.max(1).to_string(), place.column.max(1).to_string());
        let fill = |argument: &String| {
            let mut filled = String::new();
            let mut rest = argument.as_str();
            while let Some(at) = rest.find('{') {
                let (before, from) = rest.split_at(at);
                filled.push_str(before);
                let place = PLACES.into_iter().find(|place| from.starts_with(place));
                let value = match place {
                    Some("{file}") => file,
                    Some("{line}") => &line,
                    Some(_) => &column,
                    None => "{",
                };
                filled.push_str(value);
                rest = from.get(place.map_or(1, str::len)..).unwrap_or_default();
            }
            filled.push_str(rest);
            filled
        };
        self.arguments.iter().map(fill).collect()
    }
}

fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let (mut word, mut begun, mut quote) = (String::new(), false, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => (quote, begun) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (_, c) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if quote.is_some() {
        return Err("A quotation mark is never closed.".to_owned());
    }
    if begun {
        words.push(word);
    }
    Ok(words)
}

/// Starts the editor with a location, without waiting for its exit.
///
/// # Errors
/// When the command cannot be used, the file does not exist, or the program cannot be started.
fn open(
    command: &str,
    workspace: &Path,
    policy: &Policy,
    place: &EditorPlace,
) -> Result<(), Failure> {
    let command = EditorCommand::parse(command).map_err(|message| Failure {
        code: Code::CommandFailed,
        message,
        next: "Set the editor in the settings, for instance: code -g {file}:{line}:{column}"
            .to_owned(),
    })?;
    let toolbox = Toolbox::open(workspace, policy).map_err(|error| error.failure())?;
    let file = toolbox.absolute_file_path(&place.file).map_err(|error| error.failure())?;
    let arguments = command.arguments(&file.to_string_lossy(), place);
    toolbox.start_detached(&command.program, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> EditorPlace {
        EditorPlace { file: "src/a b.rs".to_owned(), line: 3, column: 0 }
    }

    #[test]
    fn placeholders_are_filled_once() {
        for (text, program, arguments) in [
            ("code -g {file}:{line}:{column}", "code", vec!["-g", "/w/{line} b.rs:3:1"]),
            (
                "  '/opt/my editor/run' \"--goto={line}\" {file} '' ",
                "/opt/my editor/run",
                vec!["--goto=3", "/w/{line} b.rs", ""],
            ),
            ("vi {other}{ +{line} {file}", "vi", vec!["{other}{", "+3", "/w/{line} b.rs"]),
        ] {
            let command = EditorCommand::parse(text).unwrap();
            assert_eq!(command.program, program, "{text}");
            assert_eq!(command.arguments("/w/{line} b.rs", &place()), arguments, "{text}");
        }
    }

    #[test]
    fn unusable_commands_are_refused() {
        for (text, why) in [
            ("", "No editor is set."),
            ("   ", "No editor is set."),
            ("code -g", "It must say where the file goes: {file}."),
            ("code \"{file}", "A quotation mark is never closed."),
            ("{file} code", "It must begin with the program."),
            ("tools/edit {file}", "Name the program, or its whole path."),
        ] {
            assert_eq!(EditorCommand::parse(text), Err(why.to_owned()), "{text}");
        }
    }

    /// Opening a location returns while the editor still runs.
    #[cfg(unix)]
    #[test]
    fn the_editor_starts_with_the_place() {
        use std::io::Read as _;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/a b.rs"), "").unwrap();
        let fifo = root.join("fifo");
        let made = assert_cmd::Command::new("mkfifo").arg(&fifo).output().unwrap();
        assert!(made.status.success());
        let script = root.join("edit er");
        let text = format!("printf '%s\\n' \"$@\" > '{}'\n", fifo.display());
        std::fs::write(&script, text).unwrap();
        let command = format!("sh '{}' -g {{file}}:{{line}}:{{column}} $(id)", script.display());
        // The script blocks until the pipe is read: opening returns before that.
        open(&command, &root, &Policy::default(), &place()).unwrap();
        let mut said = String::new();
        std::fs::File::open(&fifo).unwrap().read_to_string(&mut said).unwrap();
        let file = root.join("src/a b.rs");
        assert_eq!(said, format!("-g\n{}:3:1\n$(id)\n", file.display()));
    }

    #[test]
    fn missing_editors_and_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let policy = Policy::default();
        let gone = open("sh {file}", folder.path(), &policy, &place()).unwrap_err();
        assert_eq!(gone.message, "cannot read src/a b.rs: it does not exist");
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a b.rs"), "").unwrap();
        let none = open("no-such-editor {file}", folder.path(), &policy, &place()).unwrap_err();
        assert_eq!(none.message, "no-such-editor is not on PATH");
        let none = open("/no/editor {file}", folder.path(), &policy, &place()).unwrap_err();
        assert_eq!(none.message, "/no/editor is not there");
        let broken = folder.path().join("broken");
        std::fs::write(&broken, "").unwrap();
        let command = format!("{} {{file}}", broken.display());
        let failed = open(&command, folder.path(), &policy, &place()).unwrap_err();
        assert!(failed.message.starts_with("cannot start /"), "{}", failed.message);
        assert_eq!(failed.next, "Correct editor_command in the settings.");
    }
}
