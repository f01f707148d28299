//! Keys of commands that are changed on the settings page, by the keyboard alone, in the real window.

use std::fs;

use super::harness::Desktop;
use super::screen::Outcome;

fn other_keys_for_the_palette() -> Outcome<(String, String)> {
    let mut desktop = Desktop::start_here(&[])?;
    desktop.key("ctrl+k")?;
    desktop.wait_for_control("Find a command")?;
    desktop.key("Escape")?;
    desktop.wait_until_gone("Find a command")?;

    desktop.key("ctrl+comma")?;
    desktop.wait_for_control("Find a setting")?;
    // Only the row of the command is left, and Tab leads to it.
    desktop.key("ctrl+f")?;
    desktop.wait_until("the search has the keyboard", |desktop| {
        Ok((desktop.tree()?.focused.as_deref() == Some("Find a setting")).then_some(()))
    })?;
    desktop.type_text("find any command")?;
    desktop.wait_for_control("Commands: Change")?;
    desktop.screenshot("shortcuts_1_found")?;
    desktop.press("Commands: Change")?;
    desktop.wait_for_text("Press the new keys…")?;
    // Keys that another command has are refused until the person exchanges them.
    desktop.key("ctrl+o")?;
    desktop.wait_for_control("Leave them")?;
    desktop.press("Leave them")?;
    desktop.wait_until_gone("Leave them")?;
    desktop.press("Commands: Change")?;
    desktop.wait_for_text("Press the new keys…")?;
    desktop.key("ctrl+shift+k")?;
    desktop.wait_for_control("Commands: Usual key")?;
    desktop.screenshot("shortcuts_2_changed")?;
    desktop.key("ctrl+1")?;
    desktop.wait_until_gone("Find a setting")?;

    desktop.key("ctrl+shift+k")?;
    desktop.wait_for_control("Find a command")?;
    desktop.key("Escape")?;
    desktop.wait_until_gone("Find a command")?;
    // The usual key does nothing: what follows it is seen, and the palette is not.
    desktop.key("ctrl+k")?;
    desktop.key("F1")?;
    desktop.wait_for_text("How it works")?;
    let palette = desktop.tree()?.control("Find a command").is_some();
    let file = desktop.evidence().with_file_name("config").join("countersign/settings.toml");
    let settings = fs::read_to_string(file).unwrap_or_default();
    Ok((settings, format!("palette: {palette}")))
}

#[test]
fn a_command_gets_other_keys() {
    let (settings, palette) = match other_keys_for_the_palette() {
        Ok(found) => found,
        Err(error) => panic!("{error}"),
    };
    assert!(settings.contains("[shortcuts]\npalette = \"Ctrl+Shift+K\""), "{settings}");
    assert_eq!(palette, "palette: false");
}
