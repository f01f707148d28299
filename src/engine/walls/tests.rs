use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::authorization::Grants;
use crate::engine::review::{Asking, confirmation_reason};
use crate::plan::{Mode, is_valid, parse};

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The plan of these steps, its walls at this level, and the findings.
    fn review_plan(
        &self,
        level: WallLevel,
        steps: &Value,
        policy: &Policy,
    ) -> (Plan, WallsReview, Vec<Finding>) {
        let plan = parse(json!({"goal": "g", "steps": steps}).to_string().as_bytes());
        assert!(plan.is_valid(), "{:?}", plan.findings);
        let toolbox = Toolbox::open(self.path(), policy).unwrap();
        let plan = plan.plan.unwrap();
        let (review, findings) =
            review_at(&plan, &ReviewCommands::new(&toolbox), policy, (level, None));
        (plan, review, findings)
    }

    /// The walls of a plan with one command at level full, and the findings.
    fn review_command(&self, step: Value, policy: &Policy) -> (StepWallsReview, Vec<Finding>) {
        let (_, review, findings) = self.review_plan(WallLevel::Full, &json!([step]), policy);
        (review.steps.into_iter().next().flatten().unwrap(), findings)
    }
}

fn granting(grants: Grants) -> Policy {
    Policy { grants, ..Policy::default() }
}

fn all_proposed() -> Policy {
    granting(Grants { proposed: true, ..Grants::default() })
}

#[test]
fn step_without_needs_gets_no_grants() {
    let (step, findings) =
        Fixture::new().review_command(json!({"command": "ls -l"}), &Policy::default());
    assert_eq!(step.walls, StepWalls { level: WallLevel::Full, ..StepWalls::default() });
    assert!(step.proposed.is_empty() && findings.is_empty() && !step.granted);
}

#[test]
fn needs_of_a_plan_are_granted_by_signing() {
    let fixture = Fixture::new();
    let other = tempfile::tempdir().unwrap();
    let other = other.path().canonicalize().unwrap().to_string_lossy().into_owned();
    let needs = json!({"network": true, "write": [other, "sub", "."]});
    let (step, findings) =
        fixture.review_command(json!({"command": "make", "needs": needs}), &Policy::default());
    assert!(step.walls.network && !step.walls.open);
    assert_eq!(step.walls.write, [other], "the workspace is writable anyway");
    assert_eq!(findings, []);
}

#[test]
fn known_needs_are_proposed_and_granted_by_flag() {
    let fixture = Fixture::new();
    let step = || json!({"command": "curl -fO https://example.org/x"});
    let (proposing, _) = fixture.review_command(step(), &Policy::default());
    assert!(proposing.proposed.network && !proposing.walls.network);
    assert_eq!(proposing.reasons, ["it talks to other hosts"]);
    let (granted, _) = fixture.review_command(step(), &all_proposed());
    assert!(granted.proposed.is_empty() && granted.walls.network && granted.granted);
    let one = Grants { proposed_for: ["step_1".to_owned()].into(), ..Grants::default() };
    let (first, _) = fixture.review_command(step(), &granting(one));
    assert!(first.walls.network, "a proposal can be taken for one step");
    let other = Grants { proposed_for: ["step_2".to_owned()].into(), ..Grants::default() };
    let (first, _) = fixture.review_command(step(), &granting(other));
    assert!(!first.walls.network);
}

#[test]
fn requested_needs_are_not_proposed() {
    let step = json!({"command": "curl x", "needs": {"network": true}});
    let (step, _) = Fixture::new().review_command(step, &Policy::default());
    assert!(step.walls.network && step.proposed.is_empty());
}

#[test]
fn a_run_grant_applies_to_every_walled_step() {
    let fixture = Fixture::new();
    let other = tempfile::tempdir().unwrap();
    let other = other.path().canonicalize().unwrap().to_string_lossy().into_owned();
    let grants = Grants { network: true, write: [other.clone()].into(), ..Grants::default() };
    let policy = granting(grants);
    let steps = json!([{"command": "a"}, {"command": "sudo b", "needs": {"open": true}}]);
    let (_, review, findings) = fixture.review_plan(WallLevel::Full, &steps, &policy);
    let [first, open] = review.steps.as_slice() else { panic!("{review:?}") };
    let first = &first.as_ref().unwrap().walls;
    assert!(first.network && first.write == [other]);
    let open = &open.as_ref().unwrap().walls;
    assert_eq!(*open, StepWalls { open: true, ..StepWalls::default() });
    assert_eq!(findings, []);
    let wrong = granting(Grants { write: ["/".to_owned()].into(), ..Grants::default() });
    let (_, _, findings) = fixture.review_plan(WallLevel::Full, &steps, &wrong);
    assert!(!is_valid(&findings), "{findings:?}");
}

#[test]
fn git_writes_its_repository_without_a_grant() {
    let fixture = Fixture::new();
    let (add, _) = fixture.review_command(json!({"command": "git add -A"}), &Policy::default());
    assert!(add.walls.writes_repository && !add.walls.is_widened());
    let (log, _) = fixture.review_command(json!({"command": "git log"}), &Policy::default());
    assert!(!log.walls.writes_repository);
}

#[test]
fn docker_is_refused_with_its_reason() {
    let fixture = Fixture::new();
    let refused = |policy: &Policy, needs: Value| {
        let step = json!({"command": "docker ps", "needs": needs});
        let (step, findings) = fixture.review_command(step, policy);
        (step.walls.open, findings)
    };
    let (open, findings) = refused(&Policy::default(), json!({}));
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert!(!open && finding.severity == Severity::Error);
    assert!(finding.message.contains("socket of a container daemon"), "{}", finding.message);
    assert_eq!((finding.code, finding.pointer.as_str()), (Code::StoppedByWall, "/steps/0/command"));
    assert_eq!(refused(&Policy::default(), json!({"open": true})), (true, vec![]));
    assert_eq!(refused(&all_proposed(), json!({})), (true, vec![]));
    // Without walls, nothing keeps the command from its daemon.
    let (_, _, findings) = fixture.review_plan(
        WallLevel::None,
        &json!([{"command": "docker ps"}]),
        &Policy::default(),
    );
    assert_eq!(findings, []);
}

#[test]
fn sudo_gets_a_warning() {
    let (_, findings) =
        Fixture::new().review_command(json!({"command": "sudo ls"}), &Policy::default());
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.severity, finding.code), (Severity::Warning, Code::StoppedByWall));
}

#[test]
fn need_of_a_terminal_is_covered_by_the_walls() {
    for open in [false, true] {
        let step = json!({"command": "top", "needs": {"terminal": true, "open": open}});
        let (review, findings) = Fixture::new().review_command(step, &Policy::default());
        assert_eq!(findings, []);
        let walls = &review.walls;
        assert!(walls.terminal && walls.open == open, "{walls:?}");
        assert!(walls.to_string().contains("terminal"), "{walls}");
    }
}

#[test]
fn each_forbidden_path_is_a_placed_finding() {
    let write = ["sub", "/", "~", "~/.ssh", "/nowhere/at/all"];
    let step = json!({"command": "a", "needs": {"write": write}, "verificationCommand": "b"});
    let fixture = Fixture::new();
    let (_, _, findings) = fixture.review_plan(WallLevel::Full, &json!([step]), &Policy::default());
    let found: Vec<_> = findings.iter().map(|it| (it.severity, it.pointer.as_str())).collect();
    assert_eq!(
        found,
        [
            (Severity::Error, "/steps/0/needs/write/1"),
            (Severity::Error, "/steps/0/needs/write/2"),
            (Severity::Error, "/steps/0/needs/write/3"),
            (Severity::Warning, "/steps/0/needs/write/4"),
        ],
        "each is told once, also with a verification"
    );
}

#[test]
fn required_walls_need_level_full() {
    let fixture = Fixture::new();
    let required = Policy { walls: WallSetting::Required, ..Policy::default() };
    let steps = json!([{"command": "ls"}]);
    for (level, valid) in
        [(WallLevel::None, false), (WallLevel::Files, false), (WallLevel::Full, true)]
    {
        let (_, _, findings) = fixture.review_plan(level, &steps, &required);
        assert_eq!(is_valid(&findings), valid, "{level}: {findings:?}");
        let (_, _, findings) = fixture.review_plan(level, &steps, &Policy::default());
        assert!(is_valid(&findings), "{level}");
    }
    let open = json!([{"command": "ls", "needs": {"open": true}}]);
    let (_, _, findings) = fixture.review_plan(WallLevel::Full, &open, &required);
    assert!(!is_valid(&findings), "an open step has none");
}

#[test]
fn confirmations_depend_on_the_walls() {
    let fixture = Fixture::new();
    let steps = json!([{"command": "ls"}, {"command": "make"}, {"command": "make",
        "needs": {"open": true}}, {"command": "rm -rf x"}, {"command": "make",
        "riskAssessment": {"requiresApproval": true}}, {"command": "ls",
        "needs": {"network": true}}]);
    let asked = |level: WallLevel, policy: &Policy| -> Vec<Option<bool>> {
        let (plan, review, _) = fixture.review_plan(level, &steps, policy);
        let toolbox = Toolbox::open(fixture.path(), policy).unwrap();
        let steps = plan.steps.iter().zip(&review.steps);
        let reasons = steps.map(|(step, walls)| {
            let walls = walls.as_ref().map(|it| &it.walls);
            let verdict = risk::of_step(step, policy, toolbox.shell());
            let asking = Asking::of(policy, Mode::Automatic);
            confirmation_reason(step, &raised(verdict, walls), policy, asking, walls)
        });
        reasons.map(|reason| reason.map(|it| it.unwalled)).collect()
    };
    let preferred = Policy::default();
    let off = Policy { walls: WallSetting::Off, ..Policy::default() };
    let walled = [None, None, Some(true), Some(false), Some(false), None];
    assert_eq!(asked(WallLevel::Full, &preferred), walled);
    assert_eq!(asked(WallLevel::Files, &preferred), walled);
    let without = [None, Some(true), Some(true), Some(false), Some(false), None];
    assert_eq!(asked(WallLevel::None, &preferred), without);
    assert_eq!(asked(WallLevel::None, &off), without);
}

#[test]
fn wider_walls_are_at_least_caution() {
    let fixture = Fixture::new();
    let plan = |needs: Value| {
        fixture.review_command(json!({"command": "ls", "needs": needs}), &Policy::default())
    };
    let verdict = || Verdict {
        level: RiskLevel::Safe,
        rule: "read".into(),
        span: None,
        parts: Vec::new(),
        reason: "Only reads.".to_owned(),
        suggestion: None,
    };
    let level = |needs: Value| raised(verdict(), Some(&plan(needs).0.walls)).level;
    assert_eq!(level(json!({})), RiskLevel::Safe);
    assert_eq!(level(json!({"write": ["sub"]})), RiskLevel::Safe);
    let other = tempfile::tempdir().unwrap();
    let write = json!({"write": [other.path()]});
    for needs in [json!({"network": true}), json!({"open": true}), write] {
        assert_eq!(level(needs.clone()), RiskLevel::Caution, "{needs}");
    }
    let worse = Verdict { level: RiskLevel::Dangerous, ..verdict() };
    let wide = plan(json!({"network": true})).0.walls;
    assert_eq!(raised(worse.clone(), Some(&wide)), worse);
}

#[test]
fn a_remote_command_has_no_local_walls() {
    let plan = json!({"goal": "g", "target": "host", "steps": [
        {"command": "docker ps", "needs": {"network": true}}]});
    let plan = parse(plan.to_string().as_bytes()).plan.unwrap();
    let fixture = Fixture::new();
    let policy = Policy::default();
    let toolbox = Toolbox::open(fixture.path(), &policy).unwrap();
    let (review, findings) =
        review_at(&plan, &ReviewCommands::new(&toolbox), &policy, (WallLevel::Full, None));
    assert_eq!(review.steps, [None]);
    let [note] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(note.severity, Severity::Note);
}

#[test]
fn needs_of_the_commands_file_apply() {
    let fixture = Fixture::new();
    let text = "[verify.local]\ncommand = \"git status\"\nneeds = { network = true }\n";
    std::fs::write(fixture.path().join("countersign.toml"), text).unwrap();
    let plan = json!({"version": "2026-02-19", "goal": "g", "actions": [
        {"type": "verify", "request": {}}, {"type": "inspect", "request": {}}]});
    let plan = parse(plan.to_string().as_bytes()).plan.unwrap();
    let policy = Policy::default();
    let toolbox = Toolbox::open(fixture.path(), &policy).unwrap();
    let (review, findings) =
        review_at(&plan, &ReviewCommands::new(&toolbox), &policy, (WallLevel::Full, None));
    let [Some(verify), None] = review.steps.as_slice() else { panic!("{review:?}") };
    assert!(verify.walls.network && verify.walls.writes_repository);
    assert!(verify.needs.network && findings.is_empty());
}
