//! What a plan changes, in lines for a person.

use super::super::json::At;
use super::values::{differences, hide_secrets, masked};
use crate::plan::Finding;

/// The changes of a plan.
#[derive(Default)]
pub(super) struct Changes {
    /// The text: a line for each resource and output, and a line for each of its values that changes.
    pub(super) lines: String,
    created: usize,
    updated: usize,
    deleted: usize,
    others: usize,
}

impl Changes {
    /// Reads all changes.
    ///
    /// # Errors
    /// A part that cannot be shown.
    pub(super) fn read(root: &At<'_>) -> Result<Self, Finding> {
        let mut changes = Self::default();
        for resource in root.list("resource_changes")? {
            changes.resource(&resource)?;
        }
        if let Some(outputs) = root.get("output_changes") {
            for name in outputs.object()?.keys() {
                let Some(change) = outputs.get(name) else { continue };
                if let Some((sign, _)) = action(&change)? {
                    changes.lines.push_str(&format!("{sign} output {name}\n"));
                    changes.others += 1;
                    changes.values(&change)?;
                }
            }
        }
        Ok(changes)
    }

    /// How many resources it changes.
    pub(super) fn summary(&self) -> String {
        let Self { created, updated, deleted, others, lines: _ } = self;
        let mut text = format!("{created} to create, {updated} to update, {deleted} to delete");
        if *others > 0 {
            text.push_str(&format!(", {others} other changes"));
        }
        text
    }

    fn resource(&mut self, resource: &At<'_>) -> Result<(), Finding> {
        let change = resource.get("change").ok_or_else(|| resource.error("it has no change"))?;
        let moved = resource.text("previous_address")?;
        let imported = change.get("importing");
        let found = action(&change)?;
        let Some((sign, word)) =
            found.or_else(|| (moved.is_some() || imported.is_some()).then_some((" ", "keep")))
        else {
            return Ok(());
        };
        match word {
            "create" => self.created += 1,
            "update" => self.updated += 1,
            "delete" => self.deleted += 1,
            "replace" => {
                self.created += 1;
                self.deleted += 1;
            }
            _ => self.others += 1,
        }
        self.lines.push_str(&format!("{sign} {word} {}", resource.must("address")?));
        if let Some(deposed) = resource.text("deposed")? {
            self.lines.push_str(&format!(" (deposed object {deposed})"));
        }
        if let Some(from) = moved {
            self.lines.push_str(&format!(", moved from {from}"));
        }
        if let Some(id) = imported.map(|it| it.text("id")).transpose()?.flatten() {
            self.lines.push_str(&format!(", imported by the id {id}"));
        }
        if let Some(reason) = resource.text("action_reason")? {
            self.lines.push_str(&format!(" ({})", reason.replace('_', " ")));
        }
        self.lines.push('\n');
        self.values(&change)
    }

    fn values(&mut self, change: &At<'_>) -> Result<(), Finding> {
        let mut before = masked(change, "before", "before_sensitive", None)?;
        let mut after = masked(change, "after", "after_sensitive", Some("after_unknown"))?;
        hide_secrets(&mut before, &mut after);
        for line in differences(&before, &after) {
            self.lines.push_str(&format!("    {line}\n"));
        }
        Ok(())
    }
}

/// The sign and the word of what happens; `None` if nothing does.
fn action(change: &At<'_>) -> Result<Option<(&'static str, &'static str)>, Finding> {
    let actions = change.must_list("actions")?;
    let words: Vec<&str> = actions.iter().filter_map(|it| it.value.as_str()).collect();
    Ok(Some(match words.as_slice() {
        ["no-op"] => return Ok(None),
        ["create"] => ("+", "create"),
        ["update"] => ("~", "update"),
        ["delete"] => ("-", "delete"),
        ["delete", "create"] => ("-/+", "replace"),
        ["create", "delete"] => ("+/-", "replace"),
        ["read"] => ("<=", "read"),
        ["forget"] => (".", "forget"),
        ["open"] => ("<=", "open"),
        _ => return Err(change.error(format!("the action {words:?} is not known here"))),
    }))
}
