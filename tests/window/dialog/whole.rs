//! The dialog shows everything: nothing is cut and no character is hidden.

use std::time::{Duration, Instant};

use super::*;

/// The largest argument.
const LARGEST: usize = 1 << 20;
const END: &str = "the very last word";

/// A text of exactly the largest size that ends in [`END`].
fn filled_with(unit: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 1.. {
        let unit = unit(number);
        if text.len() + unit.len() + END.len() > LARGEST {
            break;
        }
        text.push_str(&unit);
    }
    text.push_str(&".".repeat(LARGEST - text.len() - END.len()));
    text.push_str(END);
    text
}

fn create_of(path: &str, contents: &str) -> Value {
    let mut step = create(path);
    if let Some(argument) = step.pointer_mut("/arguments/contents") {
        *argument = contents.into();
    }
    step
}

/// Processor time that the program has used so far.
fn used(desktop: &Desktop) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", desktop.screen.last_pid()));
    let stat = stat.expect("the program's times");
    let after_name = stat.rsplit(')').next().expect("the fields");
    let fields = after_name.split_whitespace().skip(11).take(2);
    // In hundredths of a second on every Linux.
    let ticks: u64 = fields.map(|field| field.parse::<u64>().expect("ticks")).sum();
    Duration::from_millis(10 * ticks)
}

/// The processor time of one frame with the dialog.
fn frame_cost(desktop: &mut Desktop) -> Outcome<Duration> {
    const FRAMES: u64 = 60;
    let (before, first) = (used(desktop), desktop.tree()?.frame);
    let mut last = first;
    while last < first + FRAMES {
        last = desktop.tree()?.frame;
    }
    Ok((used(desktop) - before) / u32::try_from(last - first).expect("a few frames"))
}

/// Whether every button of the dialog is fully inside a window of this size.
fn buttons_in_sight(desktop: &mut Desktop, width: f64, height: f64) -> Outcome<Vec<(i32, i32)>> {
    let tree = desktop.tree()?;
    let buttons = [DENY, SKIP, APPROVE].map(|name| tree.control(name).expect("a button").clone());
    for button in &buttons {
        let bounds = button.bounds;
        assert!(bounds.x0 >= 0.0 && bounds.y0 >= 0.0, "{}", button.name);
        assert!(bounds.x1 <= width && bounds.y1 <= height, "{}: {bounds:?}", button.name);
    }
    Ok(buttons.iter().map(|button| button.middle(tree.pixels_per_point)).collect())
}

fn a_megabyte(workspace: &Workspace, texts: &[String]) -> Outcome {
    let mut desktop = Desktop::start_here(&[&workspace.plan().display().to_string()])?;
    desktop.resize(900, 600)?;
    authorize(&mut desktop)?;
    desktop.key("F5")?;
    wait_for_question(&mut desktop, 1)?;
    wait_until_armed(&mut desktop)?;
    let small = frame_cost(&mut desktop)?;
    desktop.click(APPROVE)?;
    for (index, text) in texts.iter().enumerate() {
        let number = index + 2;
        let begin = Instant::now();
        wait_for_question(&mut desktop, number)?;
        wait_until_armed(&mut desktop)?;
        let took = begin.elapsed();
        let places = buttons_in_sight(&mut desktop, 900.0, 600.0)?;
        assert!(!desktop.tree()?.shows(END), "it begins at the beginning");
        desktop.screenshot(&format!("dialog_megabyte_{index}_begin"))?;
        desktop.key("End")?;
        desktop.wait_for_text(END)?;
        assert_eq!(buttons_in_sight(&mut desktop, 900.0, 600.0)?, places, "the buttons stay put");
        desktop.screenshot(&format!("dialog_megabyte_{index}_end"))?;
        // Rows have equal heights and distances, also twenty million points down.
        let tree = desktop.tree()?;
        let last = tree.controls.iter().rfind(|it| it.name.contains(END));
        let last = last.expect("the last row").bounds;
        assert!(last.y1 <= 540.0 && last.y1 - last.y0 > 15.0, "{last:?}");
        let large = frame_cost(&mut desktop)?;
        println!("{number}: shown after {took:?}, a frame {large:?}, with a small one {small:?}");
        assert!(large <= 2 * small + Duration::from_millis(5), "{large:?}, not {small:?}");
        if index + 1 == texts.len() {
            // Recording a million lines is slow, and not tested here.
            return Ok(());
        }
        desktop.key("Page_Up")?;
        desktop.wait_until("it scrolls back", |desktop| {
            Ok((!desktop.tree()?.shows(END)).then_some(()))
        })?;
        desktop.click(APPROVE)?;
        let path = workspace.path(&format!("made/{number}"));
        desktop.wait_until("the file is written", |_| {
            Ok(std::fs::read_to_string(&path).ok().filter(|found| found == text).map(|_| ()))
        })?;
    }
    Ok(())
}

#[test]
fn megabyte_is_shown_whole_beside_fixed_buttons() {
    let texts = [
        filled_with(|number| format!("line {number:06} of a long file, as long as lines are\n")),
        filled_with(|number| format!("{number},")),
        filled_with(|_| "\n".to_owned()),
    ];
    let mut steps = vec![create("made/1")];
    for (index, text) in texts.iter().enumerate() {
        steps.push(create_of(&format!("made/{}", index + 2), text));
    }
    passes(a_megabyte(&Workspace::new(steps.into()), &texts));
}

/// A name that reads from right to left in part, with a character of no width, a line break and a
/// terminal's escape.
const HIDDEN: &str = "in\u{202e}fdp.exe\u{200b}\n\u{1b}[31m";
const SHOWN: &str = "in⟨U+202E⟩fdp.exe⟨U+200B⟩⟨U+000A⟩⟨ESC⟩[31m";

fn hidden_and_long(workspace: &Workspace, long: &str) -> Outcome {
    let mut desktop = Desktop::start_here(&[&workspace.plan().display().to_string()])?;
    desktop.resize(900, 600)?;
    let nothing_hidden = |desktop: &mut Desktop| -> Outcome {
        for control in desktop.tree()?.controls {
            for text in [Some(control.name), control.value].into_iter().flatten() {
                let hidden = text.chars().find(|c| "\u{202e}\u{200b}\u{1b}\n".contains(*c));
                assert_eq!(hidden, None, "{text:?}");
            }
        }
        Ok(())
    };
    desktop.wait_for_text(SHOWN)?;
    nothing_hidden(&mut desktop)?;
    desktop.look_at_steps()?;
    desktop.click("Authorize…")?;
    desktop.wait_for_text(&format!("made/{SHOWN}"))?;
    nothing_hidden(&mut desktop)?;
    desktop.screenshot("dialog_hidden_authorize")?;
    desktop.click("Authorize")?;
    desktop.wait_for_control("Run")?;
    desktop.key("F5")?;

    wait_for_question(&mut desktop, 1)?;
    wait_until_armed(&mut desktop)?;
    desktop.screenshot("dialog_hidden")?;
    nothing_hidden(&mut desktop)?;
    let tree = desktop.tree()?;
    let shown = format!("made/{SHOWN}");
    let places = tree.controls.iter().filter(|it| it.is_text && it.name.contains(&shown)).count();
    assert!(places >= 3, "above the difference, in the sentence and as the argument: {places}");
    assert!(tree.shows(&format!("+a{SHOWN_IN_TEXT}")), "in the difference");
    assert!(tree.shows("Create it ⟨U+2066⟩quietly"), "in the plan's own words");
    desktop.click(APPROVE)?;

    wait_for_question(&mut desktop, 2)?;
    wait_until_armed(&mut desktop)?;
    desktop.screenshot("dialog_long_path")?;
    let tree = desktop.tree()?;
    let above = tree.controls.iter().rfind(|it| it.is_text && it.name == format!("{long}  +1  −0"));
    let bounds = above.expect("the path above the difference").bounds;
    assert!(bounds.y1 - bounds.y0 > 60.0, "in as many lines as it needs: {bounds:?}");
    assert!(bounds.x1 <= 900.0, "{bounds:?}");
    buttons_in_sight(&mut desktop, 900.0, 600.0)?;
    desktop.click(APPROVE)?;
    desktop.wait_for_text("Completed")?;
    assert!(workspace.path(&format!("made/{HIDDEN}")).exists(), "written under its real name");
    assert!(workspace.path(long).exists());
    Ok(())
}

const SHOWN_IN_TEXT: &str = "⟨U+202E⟩⟨U+200B⟩⟨ESC⟩[2J⟨U+000D⟩";

#[test]
fn hidden_characters_and_long_paths_are_shown() {
    let mut hidden = create_of(&format!("made/{HIDDEN}"), "a\u{202e}\u{200b}\u{1b}[2J\rb\n");
    hidden["step_id"] = "hidden".into();
    hidden["title"] = "Create it \u{2066}quietly".into();
    let long = format!("made/{}/{}/end", "deep".repeat(50), "deeper".repeat(40));
    let mut deep = create_of(&long, "made\n");
    deep["step_id"] = "long".into();
    passes(hidden_and_long(&Workspace::new(json!([hidden, deep])), &long));
}
