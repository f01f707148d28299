//! The accessibility tree of the window: its controls and texts with names and bounds.

use egui::accesskit::{Rect, Role, TreeUpdate};

/// Everything in the window at one moment, from top to bottom and from left to right.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The number of frames that the window has drawn.
    pub frame: u64,
    /// Screen pixels per point.
    pub pixels_per_point: f32,
    /// Everything with a name.
    pub controls: Vec<Control>,
    /// The name of the control with the focus.
    pub focused: Option<String>,
}

/// One control or text.
#[derive(Debug, Clone)]
pub struct Control {
    /// Its accessible name, or the text that it shows.
    pub name: String,
    /// Its value besides the name, such as the text in a field.
    pub value: Option<String>,
    /// Whether it is only text, which does not react to a click.
    pub is_text: bool,
    /// Whether it is disabled.
    pub disabled: bool,
    /// Its bounds in points.
    pub bounds: Rect,
}

impl Tree {
    pub(super) fn new(frame: u64, pixels_per_point: f32, update: &TreeUpdate) -> Self {
        let mut focused = None;
        let text_of = |id: &egui::accesskit::NodeId| {
            let (_, node) = update.nodes.iter().find(|(other, _)| other == id)?;
            node.label().or(node.value())
        };
        let mut controls: Vec<Control> = update
            .nodes
            .iter()
            .filter_map(|(id, node)| {
                let is_text = matches!(node.role(), Role::Label | Role::TextRun);
                let beside = || node.labelled_by().first().and_then(text_of);
                let label = node.label().or_else(beside);
                let name = if is_text { label.or(node.value()) } else { label };
                let name = name.or(node.placeholder()).or(node.value())?.to_owned();
                if *id == update.focus {
                    focused = Some(name.clone());
                }
                Some(Control {
                    name,
                    value: node.value().map(str::to_owned),
                    is_text,
                    disabled: node.is_disabled(),
                    bounds: node.bounds()?,
                })
            })
            .collect();
        controls.sort_by(|a, b| {
            a.bounds.y0.total_cmp(&b.bounds.y0).then(a.bounds.x0.total_cmp(&b.bounds.x0))
        });
        Self { frame, pixels_per_point, controls, focused }
    }

    /// Whether a control or text contains this text, as name or value.
    #[must_use]
    pub fn shows(&self, text: &str) -> bool {
        self.controls.iter().any(|control| {
            control.name.contains(text)
                || control.value.as_ref().is_some_and(|value| value.contains(text))
        })
    }

    /// The first control with exactly this name, disabled or not.
    #[must_use]
    pub fn control(&self, name: &str) -> Option<&Control> {
        self.controls.iter().find(|control| control.name == name && !control.is_text)
    }

    /// The first control whose name begins with `start`, such as a row of a list.
    #[must_use]
    pub fn control_starting(&self, start: &str) -> Option<&Control> {
        self.controls.iter().find(|control| control.name.starts_with(start) && !control.is_text)
    }
}

impl Control {
    /// The centre, in pixels of the window.
    #[must_use]
    pub fn middle(&self, pixels_per_point: f32) -> (i32, i32) {
        let pixel =
            |from: f64, to: f64| ((from + to) / 2.0 * f64::from(pixels_per_point)).round() as i32;
        (pixel(self.bounds.x0, self.bounds.x1), pixel(self.bounds.y0, self.bounds.y1))
    }
}
