//! Makes a change with the program `splice`, and compares the outcome with the preview.
//!
//! `splice` writes the file and runs cargo itself; its output is kept verbatim. Every replacement, also in a
//! splice plan, is a separate run of `splice`, so that each can be compared with its preview and none uses a
//! database that an earlier run left.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::plan::Code;
use crate::process::{self, Behind, Finished, Leftovers, ProcessError, Profile, private_folder};
use crate::run::text::beginning;
use crate::run::{DiagnosticArtifact, Level};
use crate::tools::{Context, ToolError, Toolbox};
use crate::workspace::{Access, Place, WorkspaceError};

use super::done::{Done, Hand};
use super::error::SpliceError;
use super::prepare::Prepared;
use super::restore::{Writer, put_back};

/// Maximum size of each output: 64 MiB.
const OUTPUT_BYTES: u64 = 64 << 20;
/// The name of the program in messages.
const NAME: &str = "splice";

/// The program `splice`, whose version was queried.
pub(super) struct Program<'a> {
    toolbox: &'a Toolbox,
    path: PathBuf,
}

impl<'a> Program<'a> {
    /// Finds the program, and writes its version into `who`.
    ///
    /// # Errors
    /// The program is missing, or does not report its version.
    pub(super) fn new(
        toolbox: &'a Toolbox,
        context: &Context<'_>,
        who: &mut Value,
    ) -> Result<Self, ToolError> {
        let program = Self { toolbox, path: toolbox.now().symbols().splice_program()? };
        let quiet = Context { output: &|_, _| {}, ..*context };
        let finished = program.run(&["--version"], toolbox.workspace(), &quiet)?;
        ended(&finished, toolbox)?;
        let said = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
        let Some(version) = said.strip_prefix("splice ").filter(|_| finished.exit_code == Some(0))
        else {
            let said = beginning(&said);
            return Err(SpliceError::Failed {
                message: format!("it reports its version as {said:?}"),
            }
            .into());
        };
        who["version"] = version.into();
        Ok(program)
    }

    fn run(
        &self,
        arguments: &[&str],
        folder: &Path,
        context: &Context<'_>,
    ) -> Result<Finished, ProcessError> {
        let behind = Behind { write: &[folder.to_owned()], ..self.toolbox.behind(context) };
        let program = process::Program {
            profile: Profile::Build(behind),
            program: OsStr::new(&self.path),
            arguments,
            input: None,
            folder,
            environment: &self.toolbox.launcher.environment(),
            unset: &[],
            leftovers: Leftovers::End,
            timeout: self.toolbox.check_timeout,
            output_limit: OUTPUT_BYTES,
        };
        process::run(&program, context.stop, context.output).map_err(not_started)
    }

    /// Runs `splice` to replace the definition.
    fn patch(&self, prepared: &Prepared<'_>, context: &Context<'_>) -> Result<Finished, ToolError> {
        let desk = Desk::new().map_err(not_started)?;
        // A copy of the approved replacement, because the file may have changed since.
        let with = desk.put(prepared).map_err(not_started)?;
        let option = |name: &str, value: &str| format!("--{name}={value}");
        let absolute = |place: &Place<'_>| place.root.path.join(&place.relative);
        let arguments = [
            "patch".to_owned(),
            option("db", &desk.database().to_string_lossy()),
            option("file", &absolute(&prepared.target.place).to_string_lossy()),
            option("symbol", &prepared.replaced.definition.name),
            option("with", &with.to_string_lossy()),
            option("output", "json"),
        ];
        own_names_are_free(prepared)?;
        // `splice` runs in a private folder, because it writes a log into its working directory.
        let finished = self.run(&arguments.each_ref().map(String::as_str), &desk.0, context);
        // Removes the temporary files that `splice` leaves when it is killed.
        for name in own_names(prepared) {
            let _ = prepared.target.place.root.dir.remove_file(name);
        }
        Ok(finished?)
    }
}

fn not_started(source: std::io::Error) -> ProcessError {
    ProcessError::not_started(NAME, Code::Splice)(source)
}

/// The temporary files that `splice` writes beside the target.
fn own_names(prepared: &Prepared<'_>) -> [PathBuf; 2] {
    names_beside(&prepared.target.place.relative)
}

/// The temporary files that `splice` writes beside this file, and leaves when it is killed.
pub(in crate::tools) fn names_beside(target: &Path) -> [PathBuf; 2] {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    ["patch", "rollback"].map(|what| target.with_file_name(format!(".{name}.{what}.tmp")))
}

/// Checks that the names of these temporary files are free. `splice` would write through a link at such a
/// name, wherever the link leads.
fn own_names_are_free(prepared: &Prepared<'_>) -> Result<(), WorkspaceError> {
    for name in own_names(prepared) {
        match prepared.target.place.root.dir.symlink_metadata(&name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => {
                let path = prepared.target.place.root.key(&name);
                return Err(found.map_or_else(
                    |source| WorkspaceError::WriteFailed { path: path.clone(), source },
                    |_| WorkspaceError::AlreadyExists { path: path.clone() },
                ));
            }
        }
    }
    Ok(())
}

impl Hand for Program<'_> {
    fn make(
        &mut self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<(), ToolError> {
        let held = open(prepared)?;
        let mode =
            held.as_ref().and_then(|file| file.metadata().ok()).map(|data| data.permissions());
        let finished = self.patch(prepared, context)?;
        done.process(NAME, &finished);
        let verdict = ended(&finished, self.toolbox).and_then(|()| match finished.exit_code {
            Some(0) => Ok(()),
            _ => {
                let refusal = refusal(&finished);
                done.diagnostics.extend(refusal.diagnostics);
                Err(refusal.error.into())
            }
        });
        // `splice` replaces the file by a new one, which has the default mode.
        let with_mode = || mode.clone().map_or(Ok(()), |mode| with_mode(prepared, mode));
        let end = verdict.and_then(|()| self.is_as_shown(prepared));
        let end = end.and_then(|()| Ok(with_mode()?));
        end.map_err(|error| {
            let error = put_back(self.toolbox, prepared, context, Writer::Program, done, error);
            // The rollback keeps the present mode of the file, so the original mode is set again.
            let _ = with_mode();
            error
        })
    }
}

/// Sets the mode that the file had before `splice` ran.
fn with_mode(prepared: &Prepared<'_>, mode: Permissions) -> Result<(), WorkspaceError> {
    let failed = |source| WorkspaceError::WriteFailed { path: prepared.path.clone(), source };
    match open(prepared)? {
        Some(file) => file.set_permissions(mode).map_err(failed),
        None => Ok(()),
    }
}

impl Program<'_> {
    /// Fails unless the file has the content of the preview.
    fn is_as_shown(&self, prepared: &Prepared<'_>) -> Result<(), ToolError> {
        let (shown, now) =
            (prepared.effect().after, self.toolbox.digest_of(prepared.target.key())?);
        if shown == now {
            return Ok(());
        }
        let path = prepared.target.key().to_owned();
        Err(SpliceError::OtherResult { path, shown, now }.into())
    }
}

fn open(prepared: &Prepared<'_>) -> Result<Option<File>, WorkspaceError> {
    Ok(prepared.target.place.open(&prepared.path, Access::Write)?.map(|(file, _)| file))
}

/// Returns an error if the program was killed.
fn ended(finished: &Finished, toolbox: &Toolbox) -> Result<(), ToolError> {
    let ended = finished.ended(NAME, toolbox.check_timeout, OUTPUT_BYTES);
    ended.map_or(Ok(()), |error| Err(error.into()))
}

/// The refusal that `splice` prints to stderr or stdout.
#[derive(Deserialize)]
struct Said {
    error: SaidError,
}

#[derive(Deserialize)]
struct SaidError {
    kind: String,
    message: String,
    #[serde(default)]
    diagnostics: Vec<SaidDiagnostic>,
}

#[derive(Deserialize)]
struct SaidDiagnostic {
    level: String,
    message: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    line: Option<i64>,
    #[serde(default)]
    column: Option<i64>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    note: Option<String>,
}

struct Refusal {
    error: SpliceError,
    diagnostics: Vec<DiagnosticArtifact>,
}

fn refusal(finished: &Finished) -> Refusal {
    let outputs = [&finished.stderr, &finished.stdout];
    let said = outputs.iter().find_map(|bytes| serde_json::from_slice::<Said>(bytes).ok());
    let Some(Said { error }) = said else {
        let text = String::from_utf8_lossy(&finished.stderr);
        let end = finished.exit_code.map_or_else(
            || "it was ended by a signal".to_owned(),
            |code| format!("exit code {code}"),
        );
        let message = format!("{end}: {}", beginning(text.trim()));
        return Refusal { error: SpliceError::Failed { message }, diagnostics: Vec::new() };
    };
    let code = match error.kind.as_str() {
        "SymbolNotFound" | "AmbiguousSymbol" => Code::SymbolNotFound,
        "CargoCheckFailed" => Code::CargoCheck,
        _ => Code::Splice,
    };
    let diagnostics = error.diagnostics.into_iter().map(artifact).collect();
    Refusal { error: SpliceError::Refused { code, message: error.message }, diagnostics }
}

fn artifact(said: SaidDiagnostic) -> DiagnosticArtifact {
    let level = match said.level.as_str() {
        level if level.starts_with("error") => Level::Error,
        "warning" => Level::Warning,
        _ => Level::Info,
    };
    let note = said.note.map(|note| DiagnosticArtifact::new(Level::Info, "note", note));
    DiagnosticArtifact {
        file_name: said.file.unwrap_or_default(),
        line_start: said.line.unwrap_or(0),
        column_start: said.column,
        code: said.code,
        children: note.into_iter().collect(),
        ..DiagnosticArtifact::new(level, said.level, said.message)
    }
}

/// A private folder for the database that `splice` uses while it runs, which it would otherwise create among
/// the sources, and for the copy of the approved replacement. Only the user of this process can read the
/// folder.
struct Desk(PathBuf);

impl Desk {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("countersign-{}", Uuid::new_v4().simple()));
        private_folder(&path)?;
        Ok(Self(path))
    }

    /// Writes the approved bytes of the replacement to a file in this folder.
    fn put(&self, prepared: &Prepared<'_>) -> std::io::Result<PathBuf> {
        let mut path = self.0.join("with");
        if let Some(extension) = prepared.with.place.relative.extension() {
            path.set_extension(extension);
        }
        std::fs::write(&path, prepared.with.bytes())?;
        Ok(path)
    }

    fn database(&self) -> PathBuf {
        self.0.join("graph.db")
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // A folder that cannot be removed stays with the system's temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
