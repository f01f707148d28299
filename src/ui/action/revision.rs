//! The actions with which a person changes a plan before deciding about it.

use std::collections::BTreeSet;

use crate::run::DiffLine;

/// An action that changes the plan on the page, or prepares that. Steps are those of the plan as it is shown, counted
/// from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevisionAction {
    /// Open the editor for this argument of a step.
    Edit(usize, String),
    /// The text in the editor changed to this.
    Type(String),
    /// Give the argument the text in the editor.
    ApplyEdit,
    /// Close the editor; if its text differs, ask first.
    LeaveEdit,
    /// Close the editor and forget its text.
    DropEdit,
    /// Go on in the editor, and show its step.
    GoOnEditing,
    /// Take this argument of a step away.
    TakeAway(usize, String),
    /// Leave these steps out.
    LeaveOut(BTreeSet<usize>),
    /// Mark this step, or no longer.
    Mark(usize),
    /// Choose lines of what this step changes.
    ChooseLines(usize),
    /// Want these changed lines of this file, or no longer.
    WantLines {
        /// The file.
        path: String,
        /// The lines.
        lines: Vec<DiffLine>,
        /// Whether they are wanted.
        wanted: bool,
    },
    /// Change the step so that it changes only the wanted lines.
    ApplyLines,
    /// Want every line again, and show the step as it is.
    DropLines,
    /// Show the list of changes, or hide it.
    ListChanges(bool),
    /// Undo the change of an argument of this step of the base, or take the step in again.
    Undo(usize, Option<String>),
    /// Undo all changes.
    Discard,
}
