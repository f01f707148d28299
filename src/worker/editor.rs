//! Starts the person's editor with the command from the settings.

use std::path::{Path, PathBuf};

use super::settings_file::{line_of, read_text};
use super::{Query, QueryContext, QueryError};
use crate::plan::Code;
use crate::risk::Policy;
use crate::run::Failure;
use crate::tools::Toolbox;

/// Shows a location in the person's editor.
pub struct OpenEditor {
    /// The workspace.
    pub workspace: PathBuf,
    /// The command from the settings.
    pub command: String,
    /// The location.
    pub location: EditorLocation,
}

impl Query for OpenEditor {
    type Answer = ();
    const FAILURE: &str = "The editor cannot be opened.";

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        let Self { workspace, command, location } = &self;
        Ok(open(command, workspace, &context.setup.policy, location)?)
    }
}

/// Opens the settings file in the person's editor; without an editor, shows its folder in the file manager.
pub struct OpenSettingsFile {
    /// The settings file. It must exist and its path must be absolute.
    pub file: PathBuf,
    /// The command from the settings; empty if there is none.
    pub command: String,
    /// The key to whose line the editor goes.
    pub key: Option<String>,
}

impl Query for OpenSettingsFile {
    type Answer = ();
    const FAILURE: &str = "The settings file cannot be opened.";

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        let policy = &context.setup.policy;
        if self.command.is_empty() {
            let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
            let arguments = [folder.to_string_lossy().into_owned()];
            let started = Toolbox::open(folder, policy)?.start_detached(program, &arguments);
            let next = || "Set an editor in the settings, or open the file yourself.".to_owned();
            return Ok(started.map_err(|failure| Failure { next: next(), ..failure })?);
        }
        let text = read_text(&self.file).unwrap_or_default();
        let line = self.key.and_then(|key| line_of(&text, &key)).unwrap_or(1);
        let line = i64::try_from(line).unwrap_or(1);
        let file = self.file.to_string_lossy().into_owned();
        Ok(open(&self.command, folder, policy, &EditorLocation { file, line, column: 1 })?)
    }
}

/// A location in a file, for an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorLocation {
    /// The file, as the diagnostic names it.
    pub file: String,
    /// The line, from 1. A smaller number counts as 1.
    pub line: i64,
    /// The column, from 1. A smaller number counts as 1.
    pub column: i64,
}

/// A command, split into its program and arguments. It is started without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorCommand {
    program: String,
    arguments: Vec<String>,
}

/// The placeholders in the arguments of a command.
const PLACEHOLDERS: [&str; 3] = ["{file}", "{line}", "{column}"];

impl EditorCommand {
    /// Splits a command at white space that is not between single or double quotation marks.
    ///
    /// # Errors
    /// Why the command cannot be used, as a sentence: a quotation mark is not closed, the program is missing, a
    /// placeholder or a relative path, or no argument contains `{file}`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut words = split_words(text)?.into_iter();
        let Some(program) = words.next() else {
            return Err("No editor is set.".to_owned());
        };
        let arguments: Vec<String> = words.collect();
        if PLACEHOLDERS.iter().any(|placeholder| program.contains(placeholder)) {
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

    /// The arguments for a location; `file` is the path of its file. An inserted value is neither split nor searched
    /// for placeholders.
    fn arguments(&self, file: &str, location: &EditorLocation) -> Vec<String> {
        let (line, column) = (location.line.max(1).to_string(), location.column.max(1).to_string());
        let fill = |argument: &String| {
            let mut filled = String::new();
            let mut rest = argument.as_str();
            while let Some(brace) = rest.find('{') {
                let (before, from_brace) = rest.split_at(brace);
                filled.push_str(before);
                let placeholder = PLACEHOLDERS.into_iter().find(|it| from_brace.starts_with(it));
                let value = match placeholder {
                    Some("{file}") => file,
                    Some("{line}") => &line,
                    Some(_) => &column,
                    None => "{",
                };
                filled.push_str(value);
                rest = from_brace.get(placeholder.map_or(1, str::len)..).unwrap_or_default();
            }
            filled.push_str(rest);
            filled
        };
        self.arguments.iter().map(fill).collect()
    }
}

/// Splits a command into its program and arguments. Quotation marks keep a word together; nothing else is special.
///
/// # Errors
/// What is wrong, as a sentence.
pub fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    // A word can be empty: two quotation marks with nothing between them.
    let (mut word, mut in_word, mut quote) = (String::new(), false, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => (quote, in_word) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if in_word {
                    words.push(std::mem::take(&mut word));
                }
                in_word = false;
            }
            (_, c) => {
                word.push(c);
                in_word = true;
            }
        }
    }
    if quote.is_some() {
        return Err("A quotation mark is never closed.".to_owned());
    }
    if in_word {
        words.push(word);
    }
    Ok(words)
}

/// Starts the editor for a location, without waiting for its exit.
///
/// # Errors
/// When the command cannot be used, the workspace or the file cannot be read, or the program cannot be started.
fn open(
    command: &str,
    workspace: &Path,
    policy: &Policy,
    location: &EditorLocation,
) -> Result<(), Failure> {
    let command = EditorCommand::parse(command).map_err(|message| Failure {
        code: Code::CommandFailed,
        message,
        next: "Set the editor in the settings, for instance: code -g {file}:{line}:{column}"
            .to_owned(),
    })?;
    let toolbox = Toolbox::open(workspace, policy).map_err(|error| error.failure())?;
    let file = toolbox.absolute_file_path(&location.file).map_err(|error| error.failure())?;
    let arguments = command.arguments(&file.to_string_lossy(), location);
    toolbox.start_detached(&command.program, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location() -> EditorLocation {
        EditorLocation { file: "src/a b.rs".to_owned(), line: 3, column: 0 }
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
            assert_eq!(command.arguments("/w/{line} b.rs", &location()), arguments, "{text}");
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
        // The script blocks until the pipe is read. `open` must return before that.
        open(&command, &root, &Policy::default(), &location()).unwrap();
        let mut printed = String::new();
        std::fs::File::open(&fifo).unwrap().read_to_string(&mut printed).unwrap();
        let file = root.join("src/a b.rs");
        assert_eq!(printed, format!("-g\n{}:3:1\n$(id)\n", file.display()));
    }

    #[test]
    fn missing_editors_and_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let policy = Policy::default();
        let gone = open("sh {file}", folder.path(), &policy, &location()).unwrap_err();
        assert_eq!(gone.message, "cannot read src/a b.rs: it does not exist");
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a b.rs"), "").unwrap();
        let none = open("no-such-editor {file}", folder.path(), &policy, &location()).unwrap_err();
        assert_eq!(none.message, "no-such-editor is not on PATH");
        let none = open("/no/editor {file}", folder.path(), &policy, &location()).unwrap_err();
        assert_eq!(none.message, "/no/editor is not there");
        let broken = folder.path().join("broken");
        std::fs::write(&broken, "").unwrap();
        let command = format!("{} {{file}}", broken.display());
        let failed = open(&command, folder.path(), &policy, &location()).unwrap_err();
        assert!(failed.message.starts_with("cannot start /"), "{}", failed.message);
        assert_eq!(failed.next, "Correct editor_command in the settings.");
    }
}
