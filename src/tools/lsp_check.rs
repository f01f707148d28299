//! `lsp_check` (SPEC §4): `cargo check` in a project of the workspace.

use super::tool::{BUILD_NOTE, PreviewWithEffects, Tool, limits_note, without_effects};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::cargo::{OUTPUT_BYTES, Scope, Suggestions, project};
use crate::process::{Leftovers, NoCapture};
use crate::run::{Preview, StopSignal, Stream};
use crate::workspace::check_cancelled;

/// A check of the project at a path.
pub(super) struct LspCheck<'a> {
    pub(super) path: &'a str,
}

impl Tool for LspCheck<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        let toolbox = projected.toolbox;
        let project = project(*projected, self.path)?;
        toolbox.launcher.cargo()?;
        let folder = match project.folder_key.as_str() {
            "." => "the workspace folder",
            key => key,
        };
        let command = project.scope().command();
        let packages = match project.scope() {
            Scope::Package => "the package of this folder",
            Scope::Workspace | Scope::KeepGoing => "every package of the Cargo workspace",
        };
        let mut notes = vec![
            format!("Checks {packages}, and runs its build scripts and macros."),
            BUILD_NOTE.to_owned(),
            limits_note("The check is ended", toolbox.check_timeout, OUTPUT_BYTES),
        ];
        let ignored_program = toolbox.launcher.programs.ignored_program("cargo");
        notes.extend(ignored_program.map(|note| format!("{note}.")));
        Ok(without_effects(Preview::unpredictable(format!("Runs `{command}` in {folder}."), notes)))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        check_cancelled(context.stop)?;
        let project = project(toolbox.unchanged(), self.path)?;
        let cargo = toolbox.cargo(context);
        let checked = cargo.check(&project, project.scope(), Leftovers::Stay)?;
        Ok(CallResult {
            exit_code: checked.finished.exit_code,
            result: checked.result(&project),
            edges: checked.edges(&project),
            error: checked.error().map(ToolError::from),
            walls: checked.finished.walls.clone(),
            stdout: Some(checked.finished.stdout),
            stderr: Some(checked.finished.stderr),
            diagnostics: checked.diagnostics,
            ..CallResult::default()
        })
    }
}

impl Toolbox {
    /// Checks every target of the Cargo project in the workspace folder, and returns the suggestions that can
    /// be applied.
    ///
    /// # Errors
    /// A workspace without a Cargo project; cargo is missing, stopped, or ends without a verdict.
    pub fn suggestions(
        &self,
        stop: &StopSignal,
        output: &dyn Fn(Stream, &str),
    ) -> Result<Suggestions, ToolError> {
        let context = Context {
            expected: &std::collections::BTreeMap::new(),
            stop,
            execution_id: uuid::Uuid::nil(),
            output,
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
            terminal: None,
        };
        Ok(self.cargo(&context).suggestions()?)
    }
}
