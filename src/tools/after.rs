//! The workspace as the earlier steps of a plan would leave it: what approvals, previews and
//! preconditions ask about a step that is not the first (SPEC §2, §5). Nothing here is executed or
//! changed.

use std::collections::BTreeMap;

use crate::authorization::FileState;
use crate::plan::{PathRole, ToolCall};

use super::place::{Last, Place};
use super::{Access, Kind, Overlay, StopSignal, ToolError, Toolbox, engine, file, history, splice};

/// A workspace after the steps in an overlay; with an empty one, as it is now.
#[derive(Clone, Copy)]
pub struct After<'a> {
    toolbox: &'a Toolbox,
    overlay: &'a Overlay,
}

impl Toolbox {
    /// The workspace as the steps in `overlay` would leave it.
    pub fn after<'a>(&'a self, overlay: &'a Overlay) -> After<'a> {
        After { toolbox: self, overlay }
    }

    /// The workspace as it is.
    pub fn now(&self) -> After<'_> {
        self.after(Overlay::nothing())
    }
}

impl<'a> After<'a> {
    /// The workspace, and what earlier steps leave in it.
    pub(super) fn parts(self) -> (&'a Toolbox, &'a Overlay) {
        (self.toolbox, self.overlay)
    }

    fn place(self, path: &str) -> Result<Place<'a>, ToolError> {
        let mut place = self.toolbox.roots.resolve(path, Last::Follow)?;
        place.kind = self.overlay.kind(&place);
        if let Some((folder, _)) = place.key.rsplit_once('/') {
            place.parent = match self.overlay.get(folder) {
                Some(Some(_)) => Kind::File,
                _ if place.parent == Kind::Absent && self.overlay.has_below(folder) => Kind::Folder,
                _ => place.parent,
            };
        }
        Ok(place)
    }

    /// What `path` is.
    ///
    /// # Errors
    /// A path that cannot be used, leads outside, or cannot be looked at.
    pub fn kind_of(self, path: &str) -> Result<Kind, ToolError> {
        Ok(self.place(path)?.kind)
    }

    /// What the folder that `path` stands in is.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn parent_kind(self, path: &str) -> Result<Kind, ToolError> {
        Ok(self.place(path)?.parent)
    }

    /// The state of the file at `path`.
    ///
    /// # Errors
    /// As [`Self::kind_of`]; and when it is no file or cannot be read.
    pub fn digest_of(self, path: &str) -> Result<FileState, ToolError> {
        let place = self.place(path)?;
        match self.overlay.get(&place.key) {
            Some(content) => Ok(file::state_of_bytes(content.map(|bytes| &**bytes))),
            None => file::state(place.open(path, Access::Read)?.map(|(file, _)| file), path),
        }
    }

    /// The same, which takes its bytes from those that are `left` to look at.
    ///
    /// # Errors
    /// As [`Self::digest_of`]; and when there are not enough left.
    pub fn digest_within(self, path: &str, left: &mut u64) -> Result<FileState, ToolError> {
        let place = self.place(path)?;
        let bytes = match self.overlay.get(&place.key) {
            Some(content) => content.map_or(0, |bytes| bytes.len() as u64),
            None => place.open(path, Access::Read)?.map_or(0, |(_, data)| data.len()),
        };
        // A file that is too large by itself says so.
        if bytes <= file::FILE_BYTES {
            *left = left
                .checked_sub(bytes)
                .ok_or_else(|| ToolError::TooMuchInput { path: path.to_owned() })?;
        }
        self.digest_of(path)
    }

    /// The `Cargo.toml` in `path`, in the folder of the file `path`, or in the nearest parent inside
    /// the workspace; by its canonical path.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn cargo_manifest_for(self, path: &str) -> Result<Option<String>, ToolError> {
        let place = self.place(path)?;
        Ok(place.relative.ancestors().find_map(|folder| {
            let manifest = place.root.key(&folder.join("Cargo.toml"));
            let found = self.place(&manifest).ok()?;
            (found.kind == Kind::File).then_some(found.key)
        }))
    }

    /// The canonical path of what is written at `path`, and whether it is a file with its execute bit
    /// set: writing that is dangerous (SPEC §4).
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn key_and_is_program(self, path: &str) -> Result<(String, bool), ToolError> {
        let place = self.place(path)?;
        let opened = match place.kind {
            Kind::File => place.open(path, Access::Read).ok().flatten(),
            _ => None,
        };
        let is_program = opened.is_some_and(|(_, data)| file::is_executable(&data));
        Ok((place.key, is_program))
    }

    /// Where `symbol` is defined, in `file` or else anywhere in the workspace; `None` when nowhere
    /// (SPEC §5, `symbol exists`).
    ///
    /// # Errors
    /// A file that cannot be read, an engine that cannot answer, or a stop.
    pub fn symbol_defined(
        self,
        symbol: &str,
        file: Option<&str>,
        stop: &StopSignal,
    ) -> Result<Option<String>, ToolError> {
        engine::symbol_defined(self.toolbox, self.overlay, symbol, file, stop)
    }

    /// The files that a mutating call takes as input without looking into them: canonical path and
    /// path as it is written. Empty for calls that only read (SPEC §2).
    ///
    /// # Errors
    /// A path that cannot be used or leads outside; a splice plan that cannot be read.
    pub fn input_keys(self, call: &ToolCall) -> Result<BTreeMap<String, String>, ToolError> {
        let key = |path: String| Ok((self.place(&path)?.key, path));
        self.input_paths(call)?.into_iter().map(key).collect()
    }

    pub(super) fn input_paths(self, call: &ToolCall) -> Result<Vec<String>, ToolError> {
        let is_input = |(role, _): &(PathRole, String)| role.is_input();
        Ok(self.named_paths(call)?.into_iter().filter(is_input).map(|(_, path)| path).collect())
    }

    /// Every path that a call names in the workspace itself, with what the files name that it follows, and
    /// what the records name: the one list that approvals and risk are made of.
    fn named_paths(self, call: &ToolCall) -> Result<Vec<(PathRole, String)>, ToolError> {
        let named = call.paths().into_iter().filter(|named| !named.on_copy);
        let mut named: Vec<_> = named.map(|named| (named.role, named.path.to_owned())).collect();
        match call {
            ToolCall::SplicePlan { plan_file } => {
                named.extend(splice::named(self.toolbox, self.overlay, plan_file)?);
            }
            ToolCall::History { operation, .. } => {
                let paths = history::paths(self.toolbox, self.overlay, operation)?;
                named.extend(paths.into_iter().map(|path| (PathRole::Writes, path)));
            }
            _ => {}
        }
        Ok(named)
    }

    /// The files that a call would write, by canonical path (SPEC §4, risk of tools).
    ///
    /// # Errors
    /// As [`Self::input_keys`].
    pub fn written_keys(self, call: &ToolCall) -> Result<Vec<String>, ToolError> {
        let key = |path: &String| Ok(self.place(path)?.key);
        self.written_paths(call)?.iter().map(key).collect()
    }

    /// The same files as they are named.
    ///
    /// # Errors
    /// A splice plan that cannot be read.
    pub fn written_paths(self, call: &ToolCall) -> Result<Vec<String>, ToolError> {
        let changes = |(role, _): &(PathRole, String)| role.changes();
        Ok(self.named_paths(call)?.into_iter().filter(changes).map(|(_, path)| path).collect())
    }
}
