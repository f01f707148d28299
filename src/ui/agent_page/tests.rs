//! The page with example sessions: its text, and its actions by pointer and keyboard.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::{AgentEntry, AgentState, SHOWN_BYTES};
use crate::ui::tests::{Window, window};
use crate::ui::{Action, Command};

const SIZE: [f32; 2] = [1280.0, 800.0];

fn shows(harness: &Harness<'_, Window>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

#[test]
fn what_the_form_lacks_is_in_the_bar() {
    let mut harness = window("agent", SIZE);
    assert!(shows(&harness, "Say what the agent is to do"));
    for text in ["Gemini CLI", "OpenCode", "Qwen Code", "Copilot CLI"] {
        assert!(shows(&harness, text), "{text}");
    }
    harness.get_by_label("Gemini CLI").click();
    harness.run_ok();
    assert_eq!(harness.state().scene.agent.form.command, "gemini --acp");
    let prompt = harness.get_by_role_and_label(Role::MultilineTextInput, "Prompt");
    prompt.focus();
    harness.run_ok();
    harness.get_by_role_and_label(Role::MultilineTextInput, "Prompt").type_text("mend it");
    harness.run_ok();
    assert_eq!(harness.state().scene.agent.form.prompt, "mend it");
    assert!(shows(&harness, "Choose the folder in which it works"));
}

#[test]
fn a_session_starts_by_key_once_the_form_is_filled() {
    let mut harness = window("agent-filled", SIZE);
    harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::F6);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::StartAgent)));
    let mut harness = window("agent", SIZE);
    harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::F6);
    harness.run_ok();
    assert!(!harness.state().actions.contains(&Action::Do(Command::StartAgent)));
}

#[test]
fn words_of_the_agent_are_visible_characters() {
    let harness = window("agent-working", SIZE);
    for text in [
        "Gemini CLI 0.61.0",
        "It cannot change the workspace by itself",
        "Find where the parser fails",
        "returns an error instead.⟨U+202E⟩",
        "Written: src/parser.rs",
        "does not show what it would do",
        "The agent works",
    ] {
        assert!(shows(&harness, text), "{text}");
    }
    assert!(harness.query_by_label(Command::StopAgent.spec().text).is_some());
}

#[test]
fn a_waiting_plan_is_one_click_away() {
    let mut harness = window("agent-waiting", SIZE);
    assert!(shows(&harness, "A plan waits for you"));
    harness.get_by_label(Command::OpenWaiting.spec().text).click();
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::OpenWaiting)));
}

#[test]
fn a_failure_says_what_to_do() {
    let harness = window("agent-failed", SIZE);
    for text in ["The session has failed", "Nobody is logged in", "Gemini API key"] {
        assert!(shows(&harness, text), "{text}");
    }
    assert!(harness.query_by_label(Command::StopAgent.spec().text).is_none());
    assert!(harness.query_by_label(Command::NewAgent.spec().text).is_some());
}

#[test]
fn entries_are_joined_replaced_and_limited() {
    let mut state = AgentState::default();
    let words = |text: &str| AgentEntry::Words(text.to_owned());
    state.add(words("one "));
    state.add(words("two"));
    assert_eq!(state.entries, [words("one two")]);
    let call = |status: &str| AgentEntry::Call {
        id: "c".to_owned(),
        title: "T".to_owned(),
        status: status.to_owned(),
    };
    state.add(call("pending"));
    state.add(words("three"));
    state.add(call("completed"));
    assert_eq!(state.entries, [words("one two"), call("completed"), words("three")]);
    assert_eq!(state.bytes, "one twoTthree".len());
    state.add(words(&"x".repeat(SHOWN_BYTES * 3)));
    assert!(state.is_cut && state.bytes <= SHOWN_BYTES);
    let AgentEntry::Words(text) = &state.entries[0] else { panic!() };
    assert!(text.ends_with('x') && state.entries.len() == 1);
}
