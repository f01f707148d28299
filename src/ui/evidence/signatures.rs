//! The signatures of a run: by whom, with which key, and whether they are of what the evidence has.

use egui::Ui;

use crate::plan::drawable_lines;
use crate::run::SignatureRecord;
use crate::ui::{Now, Tone, icon, widgets};

/// Shows a line for each signature, and one about what a signature does not say.
pub(super) fn signatures_ui(ui: &mut Ui, signatures: &[SignatureRecord], now: &Now) {
    for signature in signatures {
        let SignatureRecord { kind, principal, fingerprint, .. } = signature;
        let text = format!(
            "The {} is signed by {principal} with {fingerprint}, {}",
            kind.label(),
            now.full(signature.signed_at_ms)
        );
        let (tone, text) = match &signature.difference {
            None => (Tone::Dim, text),
            Some(difference) => (Tone::Danger, format!("{text}\nIt does not hold: {difference}.")),
        };
        let icon = if tone == Tone::Danger { icon::WARNING } else { icon::SIGNATURE };
        widgets::remark(ui, icon, tone, drawable_lines(&text));
    }
    if signatures.iter().any(|it| it.difference.is_none()) {
        let text = "Whose keys these are: countersign evidence verify-signature RUN --allowed-signers FILE";
        widgets::remark(ui, icon::INFO, Tone::Dim, text);
    }
}
