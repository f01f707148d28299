//! The questions of a plan that a person leads step by step, of a plan for several hosts and of a key with a passphrase,
//! and the evidence of a team.

use super::*;
use crate::postgres::Postgres;
use crate::{fleet, second_person, team};

/// A guided plan with a dangerous step.
fn guided(folder: &Path) -> Outcome {
    let steps = json!([{ "command": "rm -r old" }]);
    let plan = json!({ "goal": "Tidy the nest", "mode": "guided", "steps": steps });
    let plan = write(folder, "nest.json", &plan);
    fs::create_dir(folder.join("old")).expect("a folder");
    fs::write(folder.join("old/egg"), "egg\n").expect("a file");
    let mut reader = Reader::start(folder, SETTINGS, &[&plan])?;
    let title = "Authorize exactly this plan?";
    reader.leaves(By::Control("Authorize…"), title, "Not now")?;
    reader.opens(By::Control("Authorize…"), title)?;
    reader.press("Authorize", |objects| has(objects, "Run") && modal(objects).is_none())?;
    reader.press("Run", |objects| has(objects, "Run this step…"))?;
    reader.reads_all("the step that waits");
    let (before, question) = (reader.kept(), "Execute step 1 of 1: shell?");
    for _ in 0..2 {
        reader.opens(By::Control("Run this step…"), question)?;
        reader.desktop.key("Escape")?;
        reader.is_closed(question)?;
        assert_eq!(reader.kept(), before, "left by Escape");
    }
    reader.opens(By::Control("Run this step…"), question)?;
    reader.press("Skip this step", |objects| modal(objects).is_none())?;
    reader.wait("the run has ended", |objects| has(objects, "Authorize again…"))?;
    reader.reads_all("the run with a step that was skipped");
    assert!(folder.join("old/egg").exists());
    let outcomes: Vec<_> = recorded(&reader.desktop.evidence());
    assert!(matches!(outcomes.as_slice(), [only] if only.outcome == "skipped"));
    Ok(())
}

#[test]
fn a_guided_step_is_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(guided(folder.path()));
}

/// A plan for two hosts: the panel of its hosts, and what authorizes it.
fn hosts(servers: &fleet::Servers, folder: &Path) -> Outcome {
    let plan = json!({
        "goal": "Deploy the gull", "targets": ["h1", "h2"],
        "steps": [{ "command": "touch gull" }],
    });
    let plan = write(folder, "gulls.json", &plan);
    let settings = format!("{SETTINGS}\n{}", servers.settings());
    let mut reader = Reader::start_with(folder, &settings, &[&plan], &[("PATH", &fleet::path())])?;
    reader.press("Hosts", |objects| is_selected(objects, "Hosts"))?;
    reader.reads_all("the hosts of the plan");
    let title = "Authorize exactly this plan?";
    reader.leaves(By::Control("Authorize…"), title, "Not now")?;
    assert_eq!(servers.with_file("gull"), Vec::<usize>::new());
    reader.opens(By::Control("Authorize…"), title)?;
    reader.press("Authorize", |objects| has(objects, "Run") && modal(objects).is_none())?;
    reader.press("Run", |objects| has(objects, "Authorize again…"))?;
    reader.reads_all("the results of the hosts");
    assert_eq!(servers.with_file("gull"), [1, 2]);
    Ok(())
}

#[test]
fn a_plan_for_several_hosts_is_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(hosts(&fleet::Servers::start(2), folder.path()));
}

/// A key whose passphrase is asked for before an authorization counts.
fn passphrase(folder: &Path, key: &Path) -> Outcome {
    let plan = write(folder, "ls.json", &json!({ "goal": "Look", "steps": [{ "command": "ls" }] }));
    let settings = format!(
        "{SETTINGS}\n[signatures]\nkey = {key:?}\nprincipal = 'ada'\nsign = ['authorizations']\n"
    );
    let mut reader = Reader::start(folder, &settings, &[&plan])?;
    let (title, question) = ("Authorize exactly this plan?", "A secret is asked for");
    reader.opens(By::Control("Authorize…"), title)?;
    reader.opens(By::Control("Authorize"), question)?;
    let objects = reader.bus.objects();
    let field = objects.iter().find(|it| it.name == "Answer").expect("the field");
    assert_eq!(field.role, "password text");
    reader.desktop.key("Escape")?;
    reader.reads(question)?;
    reader.press("Do not answer", |objects| modal(objects).is_none())?;
    reader.wait("nothing is authorized", |objects| has(objects, "Authorize…"))?;
    let sql = "SELECT count(*) FROM authorizations";
    assert_eq!(read(&reader.desktop.evidence(), sql, |row| row.get::<_, i64>(0)), [0]);
    Ok(())
}

#[test]
fn a_question_for_a_passphrase_is_read_and_declined() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = tempfile::tempdir().expect("a folder");
    let key = keys.path().join("id");
    second_person::make_key(&key, "kingfisherquartz");
    passes(passphrase(folder.path(), &key));
}

/// The evidence of a team: the list, a record and a server that is gone.
fn evidence_of_a_team(postgres: &Postgres, folder: &Path) -> Outcome {
    let settings = format!("{SETTINGS}team = '{}'\n", postgres.url("reader", ""));
    let mut reader = Reader::start(folder, &settings, &[])?;
    team::write_password(&reader.desktop);
    reader.goes_to("Evidence")?;
    let hit = |it: &Object| it.name.contains("heron.txt") && it.role == "list item";
    reader.press("Team", |objects| objects.iter().any(hit))?;
    reader.reads_all("the evidence of the team");
    let objects = reader.bus.objects();
    let name = objects.iter().find(|it| hit(it)).map(|it| it.name.clone()).unwrap_or_default();
    let place = "stay on the computer that ran it";
    reader.press(&name, |objects| objects.iter().any(|it| it.name.contains(place)))?;
    reader.reads_all("a record of the team");
    assert!(crate::postgres::control(&postgres.data(), &["stop", "--mode=immediate"]));
    reader.press("This computer", |objects| !objects.iter().any(hit))?;
    reader.press("Team", |objects| has(objects, "Try again"))?;
    reader.reads_all("a server that is gone");
    Ok(())
}

#[test]
fn the_evidence_of_a_team_is_read() {
    let postgres = Postgres::start();
    let home = tempfile::tempdir().expect("a home");
    team::push_from(home.path(), "heron", &postgres.url("writer", ""));
    let folder = tempfile::tempdir().expect("a folder");
    passes(evidence_of_a_team(&postgres, folder.path()));
}
