//! The end of a path that is too long for its place.

use std::borrow::Cow;

use egui::Ui;
use unicode_segmentation::UnicodeSegmentation as _;

use super::row_length;
use crate::plan::VERBS_OF_FILES;
use crate::ui::Text;

/// The last components of a path that fit into `width` points in the font of code, after `…/`, so that the name of the
/// file stays visible; if not even the name fits, its end. A text that fits or that is no path is returned as it is: whether
/// one with spaces is a path, the verb of its headline says.
pub(super) fn end_of_path<'t>(ui: &Ui, verb: &str, text: &'t str, width: f32) -> Cow<'t, str> {
    let columns = (width / Text::Mono.digit_width(ui)).max(0.0) as usize;
    let is_path = text.contains('/')
        && (VERBS_OF_FILES.contains(&verb) || !text.contains(char::is_whitespace));
    if !is_path || row_length(text, columns) == text.len() {
        return Cow::Borrowed(text);
    }
    let ends = text.match_indices('/').filter_map(|(slash, _)| text.get(slash..));
    let mut shortened = ends.map(|end| format!("…{end}"));
    let fitting = shortened.find(|it| row_length(it, columns) == it.len());
    let end_of_name = || {
        let starts = text.grapheme_indices(true).map(|(start, _)| start);
        let ends = starts.filter_map(|start| Some((text.get(..start)?, text.get(start..)?)));
        // Not in the middle of what is written for a hidden character.
        let mut whole = ends.filter(|(before, _)| before.rfind('⟨') <= before.rfind('⟩'));
        whole.find_map(|(_, end)| {
            let end = format!("…{end}");
            (row_length(&end, columns) == end.len()).then_some(end)
        })
    };
    fitting.or_else(end_of_name).map_or(Cow::Borrowed(text), Cow::Owned)
}
