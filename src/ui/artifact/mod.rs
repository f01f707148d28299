//! Viewers for step output and other artifacts, one for each [`Form`]. All artifacts are shown with [`artifacts_ui`].

mod find;
mod hex;
mod list;
mod prepare;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod text_doc;
mod tree;
mod unified;

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Align, Id, Layout, ScrollArea, Ui};
use serde_json::Value;

use super::action::{ArtifactAction, SavedContent};
use super::plan::{Cut, cut_changes_ui};
use super::tabs::tabs_ui;
use super::{Action, Look, Text, Tone, format, icon, widgets};
use crate::plan::Digest;
use crate::run::{ArtifactRecord, Edge, ExecutionDetail, StepResult};
use crate::ui::scroll;
pub use hex::hex_text;
use list::Area;
pub use list::{has_keyboard, keep_keyboard};
pub use prepare::{Form, MAX_SHOWN_BYTES, Prepared, Shape};

/// The left and right margin, in points.
const MARGIN: i8 = 16;
/// The largest content that can be copied to the clipboard, in bytes.
const MAX_COPY_BYTES: u64 = 16 << 20;

/// The state of a requested content.
#[derive(Debug, Clone)]
pub enum LoadState {
    /// The content is being read.
    Requested,
    /// The content, prepared for display.
    Ready(Arc<Prepared>),
    /// The content is not available, for this reason.
    Missing(String),
}

/// The states of the requested contents, by digest and expected shape.
pub type Contents = BTreeMap<(Digest, Shape), LoadState>;

/// The content of an artifact, or the part of it that is available without a request.
#[derive(Debug, Clone, Copy)]
enum AvailableContent<'a> {
    /// The complete artifact as a JSON value.
    Json(&'a Value),
    /// Text, complete or without its middle.
    Text(&'a str),
    /// The beginning of a longer content.
    Head(&'a str),
}

/// The stored content of an artifact of which only a part is available without a request.
#[derive(Debug, Clone, Copy)]
struct StoredContent {
    digest: Digest,
    bytes: u64,
}

/// An artifact, as shown.
#[derive(Debug, Clone)]
pub struct ArtifactView<'a> {
    /// The name of the artifact on screen.
    name: String,
    shape: Shape,
    available: AvailableContent<'a>,
    bytes: u64,
    /// The complete content; `None` also while the record of the step has not been read.
    stored: Option<StoredContent>,
    /// Whether `available` is only a part of the artifact, or a conversion of it.
    is_part: bool,
    /// The number of files that the step changed, for a difference.
    changed_files: Option<usize>,
}

impl<'a> ArtifactView<'a> {
    /// The changes of files that an execution recorded.
    pub fn changes(execution: &'a ExecutionDetail) -> Vec<Self> {
        let artifacts = execution.artifacts.iter().zip(Self::all(execution));
        artifacts.filter(|(record, _)| record.artifact_type == "diff").map(|it| it.1).collect()
    }

    /// An artifact of the evidence.
    pub fn of_record(artifact: &'a ArtifactRecord, tool: &str) -> Self {
        let head = |content: &'a Value| content.get("head").and_then(Value::as_str);
        let stored = artifact.blob.map(|digest| StoredContent { digest, bytes: artifact.bytes });
        let available = match stored {
            Some(_) => AvailableContent::Head(head(&artifact.content).unwrap_or_default()),
            None => AvailableContent::Json(&artifact.content),
        };
        Self {
            name: artifact.artifact_type.replace('_', " "),
            shape: Shape::of(&artifact.artifact_type, tool),
            available,
            bytes: artifact.bytes,
            is_part: stored.is_some(),
            changed_files: None,
            stored,
        }
    }

    /// All stored artifacts of an execution.
    pub fn all(detail: &'a ExecutionDetail) -> Vec<Self> {
        let changed_files = Edge::changed_files(&detail.edges);
        let view = |artifact: &'a ArtifactRecord| Self {
            changed_files: changed_files.filter(|_| artifact.artifact_type == "diff"),
            ..Self::of_record(artifact, &detail.row.tool_name)
        };
        detail.artifacts.iter().map(view).collect()
    }

    /// The output of a finished step. `record` is the record of the step, `None` until it is read; it has the digests
    /// of the complete outputs.
    pub fn output(result: &'a StepResult, record: Option<&ExecutionDetail>) -> Vec<Self> {
        let streams = [
            ("stdout", &result.stdout, result.stdout_bytes, result.stdout_truncated),
            ("stderr", &result.stderr, result.stderr_bytes, result.stderr_truncated),
        ];
        let streams = streams.into_iter().filter_map(|(name, text, bytes, is_part)| {
            let text = text.as_deref().filter(|text| !text.is_empty())?;
            let artifact = record
                .and_then(|record| record.artifacts.iter().find(|it| it.artifact_type == name));
            // Output that is not UTF-8 was converted for display; the evidence has the original bytes.
            let is_bytes = artifact.is_some_and(|it| it.content.get("encoding").is_some());
            let stored = artifact.filter(|_| is_part || is_bytes);
            let stored =
                stored.and_then(|it| Some(StoredContent { digest: it.blob?, bytes: it.bytes }));
            Some(Self {
                name: name.to_owned(),
                shape: Shape::of(name, &result.tool_name),
                available: AvailableContent::Text(text),
                bytes,
                stored,
                is_part: is_part || is_bytes,
                changed_files: None,
            })
        });
        streams.collect()
    }
}

/// The prepared available content, reused until the content changes.
#[derive(Debug, Clone, Default)]
struct Cached {
    json: Value,
    text: String,
    shape: Option<Shape>,
    prepared: Option<Arc<Prepared>>,
}

fn cached(ui: &mut Ui, view: &ArtifactView<'_>) -> Arc<Prepared> {
    list::with_state(ui, |_, state: &mut Cached| state.prepare(view))
}

impl Cached {
    fn prepare(&mut self, view: &ArtifactView<'_>) -> Arc<Prepared> {
        use AvailableContent::{Head, Json, Text};
        let same = self.shape == Some(view.shape)
            && match view.available {
                Json(json) => self.text.is_empty() && self.json == *json,
                Text(text) | Head(text) => self.text == text && self.json.is_null(),
            };
        if let Some(prepared) = self.prepared.as_ref().filter(|_| same) {
            return Arc::clone(prepared);
        }
        let (json, text, prepared) = match view.available {
            Json(it) => (it.clone(), "", Prepared::of_json(view.shape, it)),
            Text(it) => (Value::Null, it, Prepared::of_text(view.shape, it)),
            Head(it) => (Value::Null, it, Prepared::of_head(view.shape, it)),
        };
        let (text, prepared) = (text.to_owned(), Arc::new(prepared));
        let shown = Some(Arc::clone(&prepared));
        *self = Self { json, text, shape: Some(view.shape), prepared: shown };
        prepared
    }
}

/// Shows one of several artifacts in an area of at most this height, in points. `first` names the one shown
/// until the person chooses another.
pub fn artifacts_ui(
    ui: &mut Ui,
    id_salt: impl egui::AsIdSalt,
    artifacts: &[ArtifactView<'_>],
    first: &str,
    contents: &Contents,
    height: f32,
    actions: &mut Vec<Action>,
) {
    let id = ui.scope_id().with(id_salt);
    let chosen_id = id.with("chosen");
    let chosen: Option<String> = ui.data(|data| data.get_temp(chosen_id));
    let index_of = |name: &str| artifacts.iter().position(|artifact| artifact.name == name);
    let chosen = chosen.as_deref().and_then(index_of).or_else(|| index_of(first)).unwrap_or(0);
    let Some(artifact) = artifacts.get(chosen) else { return };
    let top = ui.cursor().top();
    if artifacts.len() > 1 {
        let tabs: Vec<_> =
            artifacts.iter().enumerate().map(|(index, it)| (index, it.name.as_str())).collect();
        inside_margins(ui, |ui| {
            if let Some(index) = tabs_ui(ui, &tabs, chosen)
                && let Some(artifact) = artifacts.get(index)
            {
                ui.data_mut(|data| data.insert_temp(chosen_id, artifact.name.clone()));
            }
        });
        widgets::line_below(ui);
    }
    let id = id.with(&artifact.name);
    let loaded = artifact.stored.and_then(|stored| contents.get(&(stored.digest, artifact.shape)));
    let (prepared, is_part) = match loaded {
        Some(LoadState::Ready(prepared)) => (Arc::clone(prepared), false),
        _ => (cached(ui, artifact), artifact.is_part),
    };
    ui.add_space(4.0);
    inside_margins(ui, |ui| {
        toolbar_ui(ui, id, artifact, &prepared, is_part, actions);
        if is_part {
            part_ui(ui, artifact, &prepared, loaded, actions);
        }
    });
    ui.add_space(4.0);
    let remaining = (height - (ui.cursor().top() - top)).max(80.0);
    let area = Area { id, name: &artifact.name, height: remaining };
    match &prepared.form {
        Form::Empty => inside_margins(ui, |ui| {
            let text = format!("The {} is empty.", artifact.name);
            widgets::paragraph(ui, text, Text::Body, Tone::Dim);
        }),
        Form::Hex(bytes) => hex::hex_ui(ui, area, bytes),
        _ if is_as_text(ui, id) => text::text_ui(ui, area, &prepared.text),
        Form::Text => text::text_ui(ui, area, &prepared.text),
        Form::Tree(tree) => tree::tree_ui(ui, area, tree),
        Form::Table(table) => table::table_ui(ui, area, table),
        Form::Diff(changes) => {
            let area = ScrollArea::vertical().id_salt(id).max_height(remaining);
            area.auto_shrink([false, true]).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 6.0;
                let cut = is_part.then_some(Cut { files: artifact.changed_files });
                cut_changes_ui(ui, &artifact.name, changes, cut);
                scroll::by_key(ui);
            });
        }
    }
}

fn inside_margins(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    widgets::margins(0, 0).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        add(ui);
    });
}

fn is_as_text(ui: &Ui, id: Id) -> bool {
    ui.data(|data| data.get_temp(id.with("as text"))).unwrap_or(false)
}

/// Shows the size of the content, the choice between its form and text, and the copy and save buttons.
fn toolbar_ui(
    ui: &mut Ui,
    id: Id,
    artifact: &ArtifactView<'_>,
    prepared: &Prepared,
    is_part: bool,
    actions: &mut Vec<Action>,
) {
    let name = &artifact.name;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            if widgets::icon_button(ui, icon::SAVE, &format!("Save {name} as…")).clicked() {
                // Save the stored bytes if there are any; the shown text was formatted for reading.
                let shape = artifact.shape;
                let content = match (artifact.stored, &prepared.form) {
                    (Some(stored), _) => SavedContent::Stored { digest: stored.digest, shape },
                    (None, Form::Hex(bytes)) => SavedContent::Bytes(Arc::clone(bytes)),
                    (None, _) => SavedContent::Text(Arc::clone(prepared.text.original())),
                };
                let name = file_name(name, &prepared.form);
                actions.push(Action::Artifact(ArtifactAction::Save { name, content }));
            }
            let part = if is_part && artifact.stored.is_none() { "the shown part of " } else { "" };
            if artifact.bytes > MAX_COPY_BYTES {
                ui.add_space(24.0);
            } else if widgets::icon_button(ui, icon::COPY, &format!("Copy {part}{name}")).clicked()
            {
                match (artifact.stored.filter(|_| is_part), &prepared.form) {
                    (Some(stored), _) => actions.push(Action::Artifact(ArtifactAction::Load {
                        digest: stored.digest,
                        shape: artifact.shape,
                        copy: true,
                    })),
                    (None, Form::Hex(bytes)) => ui.ctx().copy_text(hex_text(bytes)),
                    (None, _) => ui.ctx().copy_text(prepared.text.text().to_string()),
                }
            }
            let form = match prepared.form {
                Form::Tree(_) => Some("Tree"),
                Form::Table(_) => Some("Table"),
                _ => None,
            };
            if let Some(form) = form {
                let as_text = is_as_text(ui, id);
                // Listed in reverse, because this layout goes from right to left.
                for (name, text) in [("Text", true), (form, false)] {
                    if widgets::view_choice(ui, name, as_text == text) {
                        ui.data_mut(|data| data.insert_temp(id.with("as text"), text));
                    }
                }
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let shown = if is_part { String::new() } else { prepared.summary() };
                let text = match (&prepared.form, shown.is_empty()) {
                    (Form::Empty, _) => shown,
                    (_, true) => format::size(artifact.bytes),
                    (_, false) => format!("{}, {shown}", format::size(artifact.bytes)),
                };
                widgets::line(ui, text, Text::Meta, Tone::Dim);
            });
        });
    });
}

/// The remark that only a part is shown, with a button that loads the complete content if that is possible.
fn part_ui(
    ui: &mut Ui,
    artifact: &ArtifactView<'_>,
    prepared: &Prepared,
    loaded: Option<&LoadState>,
    actions: &mut Vec<Action>,
) {
    let Some(stored) = artifact.stored else {
        let text = "Only the beginning and the end of the output are shown. The complete output is in \
                    the evidence.";
        widgets::remark(ui, icon::INFO, Tone::Caution, text);
        return;
    };
    match loaded {
        Some(LoadState::Missing(reason)) => {
            let text = format!("Only this part can be shown. {reason}");
            widgets::remark(ui, icon::PROHIBIT, Tone::Caution, text);
        }
        Some(LoadState::Requested) => {
            widgets::remark(ui, icon::CLOCK, Tone::Dim, "Reading the rest…");
        }
        _ if stored.bytes > MAX_SHOWN_BYTES => {
            let text = "Only a part is shown. The complete content is too large to show; save it to \
                        a file instead.";
            widgets::remark(ui, icon::INFO, Tone::Caution, text);
        }
        _ => {
            ui.horizontal_wrapped(|ui| {
                let text = format!("Show all ({})", format::size(stored.bytes));
                if widgets::button(ui, Look::Plain, Some(icon::DOWN), &text, true).clicked() {
                    actions.push(Action::Artifact(ArtifactAction::Load {
                        digest: stored.digest,
                        shape: artifact.shape,
                        copy: false,
                    }));
                }
                let text = match &prepared.form {
                    Form::Diff(changes) => {
                        let files = Cut { files: artifact.changed_files }.words(changes.len());
                        format!("Only the beginning is shown. {files}.")
                    }
                    _ => "Only a part is shown.".to_owned(),
                };
                widgets::line(ui, text, Text::Meta, Tone::Caution);
            });
        }
    }
}

/// The suggested file name for this content.
fn file_name(name: &str, form: &Form) -> String {
    let extension = match form {
        Form::Tree(_) | Form::Table(_) => "json",
        Form::Diff(_) => "diff",
        Form::Hex(_) => "bin",
        Form::Text | Form::Empty => "txt",
    };
    format!("{}.{extension}", name.replace(' ', "_"))
}
