//! Makes a replacement with the program `splice`, and compares the resulting content with that of the preview.
//!
//! `splice` writes the file and runs cargo itself; its output is kept verbatim. Every replacement of a splice plan is
//! a separate run of `splice`, so that each can be compared with its preview and none uses the database of an
//! earlier run.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::SpliceError;
use super::prepare::Prepared;
use super::progress::Progress;
use super::rewrite::{Replacer, Rewrite};
use crate::plan::Code;
use crate::process;
use crate::process::{Finished, Leftovers, ProcessError, Profile, ProgramWalls, private_folder};
use crate::run::text::beginning;
use crate::run::{DiagnosticArtifact, Level};
use crate::tools::{Context, ToolError, Toolbox};
use crate::workspace::{Access, Place, WorkspaceError};

/// Maximum size of each output: 64 MiB.
const OUTPUT_BYTES: u64 = 64 << 20;
/// The name of the program in messages.
const NAME: &str = "splice";

/// The program `splice`.
pub(super) struct Program<'a> {
    toolbox: &'a Toolbox,
    path: PathBuf,
}

impl<'a> Program<'a> {
    /// Finds the program, and writes its version into `engine`.
    ///
    /// # Errors
    /// The program is missing, or does not print its version.
    pub(super) fn new(
        toolbox: &'a Toolbox,
        context: &Context<'_>,
        engine: &mut Value,
    ) -> Result<Self, ToolError> {
        let program = Self { toolbox, path: toolbox.now().symbols().splice_program()? };
        let quiet = Context { output: &|_, _| {}, ..*context };
        let finished = program.run(&["--version"], toolbox.workspace(), &quiet)?;
        check_not_ended(&finished, toolbox)?;
        let output = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
        let Some(version) =
            output.strip_prefix("splice ").filter(|_| finished.exit_code == Some(0))
        else {
            let message = format!("it did not print its version, but {:?}", beginning(&output));
            return Err(SpliceError::Failed { message }.into());
        };
        engine["version"] = version.into();
        Ok(program)
    }

    fn run(
        &self,
        arguments: &[&str],
        folder: &Path,
        context: &Context<'_>,
    ) -> Result<Finished, ProcessError> {
        let behind = ProgramWalls { write: &[folder.to_owned()], ..self.toolbox.behind(context) };
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
        let folder = PrivateFolder::create().map_err(not_started)?;
        // A copy of the authorized replacement, because the file may have changed since it was compared.
        let with = folder.write_replacement(prepared).map_err(not_started)?;
        let option = |name: &str, value: &str| format!("--{name}={value}");
        let absolute = |place: &Place<'_>| place.root.path.join(&place.relative);
        let arguments = [
            "patch".to_owned(),
            option("db", &folder.database().to_string_lossy()),
            option("file", &absolute(&prepared.target.place).to_string_lossy()),
            option("symbol", &prepared.replaced.definition.name),
            option("with", &with.to_string_lossy()),
            option("output", "json"),
        ];
        check_names_free(prepared)?;
        // `splice` runs in a private folder, because it writes a log into its working directory.
        let finished = self.run(&arguments.each_ref().map(String::as_str), &folder.0, context);
        // `splice` leaves its temporary files when it is killed.
        for name in temporary_files(prepared) {
            let _ = prepared.target.place.root.dir.remove_file(name);
        }
        Ok(finished?)
    }
}

fn not_started(source: std::io::Error) -> ProcessError {
    ProcessError::not_started(NAME, Code::Splice)(source)
}

/// The temporary files that `splice` writes beside the target.
fn temporary_files(prepared: &Prepared<'_>) -> [PathBuf; 2] {
    names_beside(&prepared.target.place.relative)
}

/// The temporary files that `splice` writes beside this file, and leaves when it is killed.
pub(in crate::tools) fn names_beside(target: &Path) -> [PathBuf; 2] {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    ["patch", "rollback"].map(|what| target.with_file_name(format!(".{name}.{what}.tmp")))
}

/// Fails unless the names of the temporary files are free. `splice` would write through a link with such a name,
/// wherever the link leads.
fn check_names_free(prepared: &Prepared<'_>) -> Result<(), WorkspaceError> {
    for name in temporary_files(prepared) {
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

impl Replacer for Program<'_> {
    fn replace(&mut self, rewrite: &Rewrite<'_>, progress: &mut Progress) -> Result<(), ToolError> {
        let prepared = rewrite.prepared;
        let file = open(prepared)?;
        let mode =
            file.as_ref().and_then(|file| file.metadata().ok()).map(|data| data.permissions());
        let finished = self.patch(prepared, rewrite.context)?;
        progress.add_process(NAME, &finished);
        let verdict =
            check_not_ended(&finished, self.toolbox).and_then(|()| match finished.exit_code {
                Some(0) => Ok(()),
                _ => {
                    let (error, diagnostics) = refusal(&finished);
                    progress.diagnostics.extend(diagnostics);
                    Err(error.into())
                }
            });
        // `splice` replaces the file by a new one, which has the default mode.
        let restore_mode = || mode.clone().map_or(Ok(()), |mode| set_mode(prepared, mode));
        let result = verdict.and_then(|()| self.check_content(prepared));
        let result = result.and_then(|()| Ok(restore_mode()?));
        result.map_err(|error| {
            let error = rewrite.restore_after(error, progress);
            // Restoring keeps the present mode of the file, so the original mode is set afterwards.
            let _ = restore_mode();
            error
        })
    }
}

/// Sets the mode of the target, if it exists.
fn set_mode(prepared: &Prepared<'_>, mode: Permissions) -> Result<(), WorkspaceError> {
    let failed = |source| WorkspaceError::WriteFailed { path: prepared.path.clone(), source };
    match open(prepared)? {
        Some(file) => file.set_permissions(mode).map_err(failed),
        None => Ok(()),
    }
}

impl Program<'_> {
    /// Fails unless the file has the content of the preview.
    fn check_content(&self, prepared: &Prepared<'_>) -> Result<(), ToolError> {
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

/// Fails if the program was ended or stopped by a wall.
fn check_not_ended(finished: &Finished, toolbox: &Toolbox) -> Result<(), ToolError> {
    let error = finished.ended(NAME, toolbox.check_timeout, OUTPUT_BYTES);
    error.map_or(Ok(()), |error| Err(error.into()))
}

/// The JSON that `splice` prints to stderr or stdout when it refuses a replacement.
#[derive(Deserialize)]
struct Report {
    error: ReportedError,
}

#[derive(Deserialize)]
struct ReportedError {
    kind: String,
    message: String,
    #[serde(default)]
    diagnostics: Vec<ReportedDiagnostic>,
}

#[derive(Deserialize)]
struct ReportedDiagnostic {
    level: String,
    message: String,
    file: Option<String>,
    line: Option<i64>,
    column: Option<i64>,
    code: Option<String>,
    note: Option<String>,
}

/// The error and the diagnostics of a run of `splice` that failed.
fn refusal(finished: &Finished) -> (SpliceError, Vec<DiagnosticArtifact>) {
    let outputs = [&finished.stderr, &finished.stdout];
    let report = outputs.iter().find_map(|bytes| serde_json::from_slice::<Report>(bytes).ok());
    let Some(Report { error }) = report else {
        let text = String::from_utf8_lossy(&finished.stderr);
        let status = finished.exit_code.map_or_else(
            || "it was ended by a signal".to_owned(),
            |code| format!("exit code {code}"),
        );
        let message = format!("{status}: {}", beginning(text.trim()));
        return (SpliceError::Failed { message }, Vec::new());
    };
    let code = match error.kind.as_str() {
        "SymbolNotFound" | "AmbiguousSymbol" => Code::SymbolNotFound,
        "CargoCheckFailed" => Code::CargoCheck,
        _ => Code::Splice,
    };
    let diagnostics = error.diagnostics.into_iter().map(artifact).collect();
    (SpliceError::Refused { code, message: error.message }, diagnostics)
}

fn artifact(diagnostic: ReportedDiagnostic) -> DiagnosticArtifact {
    let level = match diagnostic.level.as_str() {
        level if level.starts_with("error") => Level::Error,
        "warning" => Level::Warning,
        _ => Level::Info,
    };
    let note = diagnostic.note.map(|note| DiagnosticArtifact::new(Level::Info, "note", note));
    DiagnosticArtifact {
        file_name: diagnostic.file.unwrap_or_default(),
        line_start: diagnostic.line.unwrap_or(0),
        column_start: diagnostic.column,
        code: diagnostic.code,
        children: note.into_iter().collect(),
        ..DiagnosticArtifact::new(level, diagnostic.level, diagnostic.message)
    }
}

/// A folder that only this user can access. It has the database of `splice`, which `splice` would otherwise create
/// among the sources, and the copy of the authorized replacement. Dropping it removes the folder.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    fn create() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("countersign-{}", Uuid::new_v4().simple()));
        private_folder(&path)?;
        Ok(Self(path))
    }

    /// Writes the authorized bytes of the replacement to a file in this folder.
    fn write_replacement(&self, prepared: &Prepared<'_>) -> std::io::Result<PathBuf> {
        let mut path = self.0.join("with");
        if let Some(extension) = prepared.with.place.relative.extension() {
            path.set_extension(extension);
        }
        std::fs::write(&path, &prepared.with.bytes)?;
        Ok(path)
    }

    fn database(&self) -> PathBuf {
        self.0.join("graph.db")
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed stays with the system's temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
