//! What a person has to know of the letters of a step: which characters of its names are hidden or look like others, and
//! that a script is drawn against its direction. Right-to-left text is drawn in the order in which it is stored
//! (`ui::glyphs`), so that nothing around it is mirrored; a reader of the script expects the opposite.

use std::collections::BTreeMap;

use egui::{AsIdSalt, Id, Ui};

use super::inspector::indented;
use crate::plan::{ShownStep, has_right_to_left, lookalikes, prose_lines, visible_name};
use crate::ui::{Tone, icon, widgets};

/// The note of a step in a list.
pub(crate) const RIGHT_TO_LEFT: &str = "right-to-left text";

/// The bracket with which a mark begins, where the text itself has one.
const BRACKET: &str = "⟨U+27E8⟩";

/// Whether an argument of a step has text that is written from right to left.
pub(crate) fn step_has_right_to_left(step: &ShownStep) -> bool {
    step.arguments.values().any(|value| has_right_to_left(value))
}

/// Names the letters of a text that look like others, and its hidden characters, in one sentence each; `None` if there are
/// none.
pub(crate) fn named_letters(text: &str) -> Option<String> {
    let alike = lookalikes(text).into_iter().filter_map(|it| text.get(it));
    // What joins emoji is no mark there.
    let shown = prose_lines(text);
    let marks = shown.split_inclusive('⟩').filter_map(|part| part.get(part.find('⟨')?..));
    let sentences = [
        named(
            "Letters that are not what they look like",
            alike.map(|it| visible_name(it).into_owned()),
        ),
        named("Hidden characters", marks.filter(|it| *it != BRACKET).map(str::to_owned)),
    ];
    let sentences: Vec<_> = sentences.into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The distinct characters as a sentence that begins with `what`; `None` if there are none.
fn named(what: &str, names: impl Iterator<Item = String>) -> Option<String> {
    const MAX_NAMED: usize = 4;
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        names.truncate(MAX_NAMED);
        names.push(format!("{more} more"));
    }
    (!names.is_empty()).then(|| format!("{what}: {}.", names.join(", ")))
}

/// What is said of the arguments of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    /// The letters of those that name something or are run.
    letters: Option<String>,
    /// Whether one is written from right to left.
    has_right_to_left: bool,
}

fn said(arguments: &BTreeMap<String, String>) -> Said {
    let is_name = |name: &str, value: &str| name == "command" || value.lines().nth(1).is_none();
    let names = arguments.iter().filter(|(name, value)| is_name(name, value));
    let names: Vec<_> = names.map(|(_, value)| value.as_str()).collect();
    Said {
        letters: named_letters(&names.join("\n")),
        has_right_to_left: arguments.values().any(|value| has_right_to_left(value)),
    }
}

/// Shows what a person has to know of the letters of a step, if there is something; with margins of its own, if `is_apart`.
/// `key` tells its arguments from others.
pub(super) fn letters_ui(
    ui: &mut Ui,
    key: impl AsIdSalt,
    arguments: &BTreeMap<String, String>,
    is_apart: bool,
) {
    // Arguments may be large, so they are not searched in every frame.
    let id = Id::unique("letters").with(key);
    let Said { letters, has_right_to_left } =
        ui.data_mut(|data| data.get_temp_mut_or_insert_with(id, || said(arguments)).clone());
    if letters.is_none() && !has_right_to_left {
        return;
    }
    let show = |ui: &mut Ui| {
        if let Some(letters) = &letters {
            widgets::remark(ui, icon::WARNING, Tone::Danger, letters);
        }
        if has_right_to_left {
            let text = "Right-to-left text: each line is shown in the order of its characters, from left to right.";
            widgets::remark(ui, icon::INFO, Tone::Caution, text);
        }
    };
    if is_apart {
        indented(ui, show);
    } else {
        show(ui);
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::action::Tab;
    use crate::ui::tests::window;

    #[test]
    fn a_step_with_right_to_left_text_says_how_it_is_shown() {
        for (contents, is_said) in [("a = 1 # \u{5E9}\u{5DC}\n", true), ("a = 1 # Grüße\n", false)]
        {
            let mut harness = window("unseen", [1280.0, 800.0]);
            harness.state_mut().scene.show_contents(contents, Tab::WillDo);
            harness.run_ok();
            let said = harness.query_by_label_contains("in the order of its characters");
            assert_eq!(said.is_some(), is_said, "{contents}");
        }
    }

    #[test]
    fn letters_of_names_and_commands_are_named() {
        let said = |name: &str, value: &str| {
            said(&BTreeMap::from([(name.to_owned(), value.to_owned())])).letters.unwrap_or_default()
        };
        assert_eq!(said("path", "notes/heron.txt"), "");
        assert_eq!(said("contents", "one\u{200B}\ntwo\n"), "", "its difference marks it");
        assert_eq!(
            said("path", "p\u{430}y\u{202E}\u{200B}\u{202E}"),
            "Letters that are not what they look like: \u{430}⟨U+0430⟩. Hidden characters: ⟨U+200B⟩, ⟨U+202E⟩."
        );
        let many = "a\u{200B}b\u{200C}c\u{200E}d\u{200F}e\u{202A}f\u{202B}";
        assert_eq!(said("command", "echo '⚠\u{FE0F}'"), "", "an emoji");
        let written = "Letters that are not what they look like: ⟨⟨U+27E8⟩.";
        assert_eq!(said("command", "echo ⟨U+200B⟩"), written, "no hidden character");
        let first = "Hidden characters: ⟨U+200B⟩, ⟨U+200C⟩, ⟨U+200E⟩, ⟨U+200F⟩, 2 more.";
        assert_eq!(said("command", &format!("ls\n{many}\n")), first);
    }
}
