//! The hosts and the generated files of a plan for several hosts.

use egui::Ui;

use crate::plan::drawable;
use crate::run::FleetReview;
use crate::ui::plan::files_ui;
use crate::ui::{Text, Tone, controls, format, icon, widgets};

/// Says on how many hosts the steps run and by what, and unfolds what is generated.
pub(super) fn fleet_ui(ui: &mut Ui, fleet: &FleetReview) {
    let count = format::counted(fleet.hosts.len(), "host");
    let version = drawable(&fleet.ansible_version);
    let text = format!("Commands on {count} run without walls, by ansible-core {version}.");
    widgets::remark(ui, icon::HOST, Tone::Caution, text);
    if let Some(batches) = &fleet.batches {
        widgets::paragraph(ui, format!("The hosts run {batches}."), Text::Meta, Tone::Dim);
    }
    let title = "The hosts, and the playbook, inventory and settings of ansible";
    controls::folded(ui, title, "fleet", |ui| files_ui(ui, fleet));
}
