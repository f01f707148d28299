//! The dialogs about a plan and its run, and closing the window meanwhile.

use super::*;

fn before_a_run(folder: &Path) -> Outcome {
    let plan = json!({
        "goal": "Publish the nest",
        "inputs": [
            { "name": "dir", "title": "Folder", "default": "old" },
            { "name": "env", "title": "Environment", "choices": ["staging", "production"] },
            { "name": "token", "title": "Token", "secret": true },
        ],
        "steps": [
            { "command": "ls {{dir}}" },
            { "command": "printf '%s' \"$input_token\" > {{env}}" },
        ],
    });
    let plan = write(folder, "publish.json", &plan);
    let mut reader = Reader::start(folder, SETTINGS, &[&plan])?;
    reader.leaves(By::Control("Fill in…"), "Fill in the plan", "Not now")?;
    reader.leaves(By::Control("Reject…"), "Reject this plan?", "Not now")?;
    reader.leaves(By::Command("Bug report…"), "Bug report", "Close")?;
    reader.opens(By::Command("Bug report…"), "Bug report")?;
    let can_copy = |it: &Object| it.name == "Copy" && it.role == "button" && it.is(State::Enabled);
    let objects = reader.wait("the report is complete", |it| it.iter().any(can_copy))?;
    reader.tells_dialog(&objects, "Bug report");
    reader.press("Close", |objects| modal(objects).is_none())?;
    reader.leaves(By::Control("Keys and help"), "Help", "Close")?;
    // There is nothing to purge yet, which its button says.
    reader.leaves(By::Command("Purge records…"), "Purge records?", "Not now")
}

#[test]
fn dialogs_before_a_run_are_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(before_a_run(folder.path()));
}

/// What is chosen for a run, and grants for every plan.
fn choices(folder: &Path) -> Outcome {
    let steps = json!([{ "command": "curl https://example.invalid/egg" }, { "command": "ls" }]);
    let plan = write(folder, "fetch.json", &json!({ "goal": "Fetch an egg", "steps": steps }));
    let mut reader = Reader::start(folder, SETTINGS, &[&plan])?;
    for (start, inside) in [
        ("In ", "Choose a folder…"),
        ("on this computer", "Another host"),
        ("runs ", "Guided"),
        ("asks ", "At every step"),
        ("walls ", "The network"),
    ] {
        let is_it = |it: &&Object| it.name.starts_with(start) && it.name.ends_with(", choose");
        let objects = reader.wait(start, |objects| objects.iter().any(|it| is_it(&it)))?;
        let name = objects.iter().find(is_it).map(|it| it.name.clone()).unwrap_or_default();
        reader.press(&name, |objects| has(objects, inside))?;
        reader.reads_all(&name);
        reader.desktop.key("Escape")?;
        reader.wait(&format!("{name:?} is closed"), |objects| !has(objects, inside))?;
    }
    reader
        .press("Grant what is proposed", |objects| has(objects, "Withdraw the proposed grants"))?;
    let title = "Grant this to every plan here?";
    reader.leaves(By::Control("Grant the same to every plan here…"), title, "Not now")?;
    reader.wait("nothing is granted to every plan", |objects| {
        has(objects, "Grant the same to every plan here…") && !has(objects, "Forget this grant")
    })?;
    reader.leaves(By::Control("Reject…"), "Reject this plan?", "Not now")?;
    let title = "Authorize exactly this plan?";
    reader.leaves(By::Control("Authorize…"), title, "Not now")
}

#[test]
fn choices_for_a_run_and_grants_are_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(choices(folder.path()));
}

fn trust(folder: &Path) -> Outcome {
    let plan = json!({
        "version": "2026-02-19", "goal": "Is the nest sound",
        "actions": [{ "type": "verify", "request": {} }],
    });
    let plan = write(folder, "nest.json", &plan);
    let commands = "[verify.local]\ncommand = \"touch checked\"\n";
    fs::write(folder.join("countersign.toml"), commands).expect("the commands");
    let mut reader = Reader::start(folder, SETTINGS, &[&plan])?;
    let open = By::Control("Look at the commands…");
    reader.leaves(open, "Trust these commands?", "Not now")?;
    // Trusted, the dialog takes the trust back, unless it is left.
    reader.opens(open, "Trust these commands?")?;
    let trusted = |objects: &[Object]| has(objects, "Commands of the workspace…");
    reader.press("Trust these commands", trusted)?;
    reader.leaves(
        By::Control("Commands of the workspace…"),
        "You trust these commands",
        "Close",
    )?;
    reader.wait("they are trusted", trusted)?;
    Ok(())
}

#[test]
fn trust_in_commands_is_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(trust(folder.path()));
}

/// Changes of a plan, a run that asks, closing the window meanwhile, exports, purging, and a revert.
fn around_a_run(folder: &Path) -> Outcome {
    let plan = json!({
        "plan_id": "gull", "intent": "MUTATE", "title": "Feather the gull",
        "steps": [
            { "step_id": "w", "tool": "file_write",
              "arguments": { "path": "gull.txt", "contents": "feathered\nand fed\n" } },
            { "step_id": "c", "tool": "file_create", "requires_confirmation": true,
              "arguments": { "path": "egg.txt", "contents": "egg\n" } },
        ],
    });
    let plan = write(folder, "gull.json", &plan);
    fs::write(folder.join("gull.txt"), "bare\n").expect("the file");
    let mut reader = Reader::start(folder, SETTINGS, &[&plan])?;
    changes_of_the_plan(&mut reader)?;
    let title = "Authorize exactly this plan?";
    reader.leaves(By::Control("Authorize…"), title, "Not now")?;
    reader.opens(By::Control("Authorize…"), title)?;
    reader.press("Authorize", |objects| has(objects, "Run") && modal(objects).is_none())?;
    let question = "Execute step 2 of 2";
    reader.opens(By::Control("Run"), question)?;
    let before = reader.kept();
    reader.desktop.key("Escape")?;
    reader.is_closed(question)?;
    reader.leaves(By::Closing, "Stop the run and close?", "Keep running")?;
    assert_eq!(reader.kept(), before, "the question is not answered");
    reader.opens(By::Control("Answer step 2"), question)?;
    reader.press("Approve this step", |objects| has(objects, "Revert…"))?;
    reader.reads_all("the run");
    assert_ne!(reader.kept(), before, "an answer changes something");
    assert_eq!(recorded(&reader.desktop.evidence()).len(), 2);
    reader.leaves(By::Command("Purge records…"), "Purge records?", "Not now")?;
    reader.goes_to("Evidence")?;
    reader.wait("the run is found", |objects| has(objects, "Show the run Feather the gull"))?;
    reader.leaves(By::Control("Export…"), "Export evidence", "Not now")?;
    // A case file needs a run, which the button says.
    reader.opens(By::Control("Export…"), "Export evidence")?;
    reader.press("Case file", |objects| {
        objects.iter().any(|it| it.name.starts_with("This is a file of one run: "))
    })?;
    reader.reads("Export evidence")?;
    reader.press("Not now", |objects| modal(objects).is_none())?;
    reader.goes_to("Plan")?;
    reader.press("Revert…", |objects| {
        objects.iter().any(|it| it.name.starts_with("Revert Feather the gull"))
    })?;
    reader.leaves(By::Control("Authorize…"), title, "Not now")?;
    assert_eq!(recorded(&reader.desktop.evidence()).len(), 2, "nothing was reverted");
    Ok(())
}

/// Closing the window while a plan is queued, during a run and after one that was denied.
fn with_a_queue(folder: &Path) -> Outcome {
    let first = json!({
        "plan_id": "egg", "intent": "MUTATE", "title": "Lay an egg",
        "steps": [{ "step_id": "c", "tool": "file_create", "requires_confirmation": true,
                    "arguments": { "path": "egg.txt", "contents": "egg\n" } }],
    });
    let first = write(folder, "egg.json", &first);
    let second = json!({ "goal": "Look at the egg", "steps": [{ "command": "ls" }] });
    write(folder, "look.json", &second);
    let mut reader = Reader::start(folder, SETTINGS, &[&first])?;
    let (title, question) = ("Authorize exactly this plan?", "Execute step 1 of 1");
    reader.opens(By::Control("Authorize…"), title)?;
    reader.press("Authorize", |objects| has(objects, "Run") && modal(objects).is_none())?;
    reader.opens(By::Control("Run"), question)?;
    reader.desktop.key("Escape")?;
    reader.is_closed(question)?;
    reader.desktop.key("ctrl+o")?;
    reader.desktop.choose_file(&folder.join("look.json"))?;
    reader.wait("the second plan is shown", |objects| has(objects, "Authorize…"))?;
    reader.opens(By::Control("Authorize…"), title)?;
    reader.press("Authorize", |objects| has(objects, "Queue") && modal(objects).is_none())?;
    let queued = |objects: &[Object]| {
        objects.iter().any(|it| it.name.starts_with("Queued: Look at the egg"))
    };
    reader.press("Queue", queued)?;
    reader.leaves(By::Closing, "Stop the run and close?", "Keep running")?;
    reader.desktop.key("F8")?;
    reader.reads(question)?;
    reader.press("Deny and stop", |objects| modal(objects).is_none())?;
    reader.wait("the queue is held", |objects| {
        objects.iter().any(|it| it.name.starts_with("Queued: ") && it.name.ends_with(", held"))
    })?;
    reader.reads_all("a held queue");
    reader.leaves(By::Closing, "Empty the queue and close?", "Keep it open")?;
    reader.wait("it is still queued", queued)?;
    assert_eq!(recorded(&reader.desktop.evidence()).len(), 1, "only the denied step");
    Ok(())
}

#[test]
fn closing_with_a_queue_is_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(with_a_queue(folder.path()));
}

/// The editor of an argument, and the choice of lines.
fn changes_of_the_plan(reader: &mut Reader) -> Outcome {
    let before = reader.kept();
    reader.press("Arguments", |objects| has(objects, "Edit argument contents"))?;
    let field = "New value of contents";
    reader.press("Edit argument contents", |objects| has(objects, field))?;
    reader.reads_all("the editor of an argument");
    reader.press("Keep as it was", |objects| !has(objects, field))?;
    reader.press("Will do", |objects| is_selected(objects, "Will do"))?;
    let chooses = |objects: &[Object]| has(objects, "Apply selection");
    reader.press("Choose lines", chooses)?;
    reader.reads_all("the choice of lines");
    reader.press("Back", |objects| !chooses(objects))?;
    assert_eq!(reader.kept(), before, "the plan is the same");
    Ok(())
}

#[test]
fn dialogs_around_a_run_are_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(around_a_run(folder.path()));
}

/// What the window offers for a run that was cut off: to look at what was done, and three further plans.
fn cut_off(folder: &Path) -> Outcome {
    let tour = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/plans/tour");
    fs::create_dir(folder.join("notes")).expect("a folder");
    for file in ["cut-off.plan.json", "notes/keepers.md"] {
        fs::copy(tour.join(file), folder.join(file)).expect("a copy");
    }
    let plan = folder.join("cut-off.plan.json").display().to_string();
    let mut reader = Reader::start(folder, SETTINGS, &[&plan])?;
    reader.opens(By::Control("Authorize…"), "Authorize exactly this plan?")?;
    reader.press("Authorize", |objects| has(objects, "Run") && modal(objects).is_none())?;
    reader.press("Run", |objects| has(objects, "Reconcile"))?;
    reader.reads_all("the interrupted run");
    let before = recorded(&reader.desktop.evidence()).len();
    let found = "Step 2 was interrupted; notes/keepers.md is ";
    reader.press("Reconcile", |objects| objects.iter().any(|it| it.name.starts_with(found)))?;
    reader.reads_all("the run after Reconcile");
    assert_eq!(recorded(&reader.desktop.evidence()).len(), before, "looking runs nothing");
    Ok(())
}

#[test]
fn an_interrupted_run_is_read_and_reconciled() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(cut_off(folder.path()));
}
