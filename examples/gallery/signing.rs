//! What a person signs: a plan whose steps get something beyond their walls, and a long plan that mostly reads.

use countersign::authorization::{FileState, StepWalls, WallLevel, WallSetting};
use countersign::plan::{Needs, ShownPlan, ShownStep, ToolCall};
use countersign::run::{Review, StepWallsReview, WallsReview};

use super::fixture;

/// Walls for the commands of [`fixture::command_plan`]: some get more than their walls allow.
pub fn walls(plan: &ShownPlan) -> WallsReview {
    let full = StepWalls { level: WallLevel::Full, ..StepWalls::default() };
    let walls = |index| match index {
        1 => StepWalls {
            network: true,
            write: vec!["/home/ada/.cargo/registry".into(), "/home/ada/.cargo/git".into()],
            ..full.clone()
        },
        3 => StepWalls { open: true, ..StepWalls::default() },
        4 => StepWalls { terminal: true, ..full.clone() },
        _ => full.clone(),
    };
    let step = |index| StepWallsReview {
        walls: walls(index),
        needs: Needs::default(),
        granted: false,
        proposed: Needs::default(),
        reasons: Vec::new(),
    };
    WallsReview {
        setting: WallSetting::Preferred,
        level: WallLevel::Full,
        why_not_better: None,
        remembered: None,
        steps: (0..plan.steps.len()).map(|index| Some(step(index))).collect(),
    }
}

/// A plan of 500 steps: three of four only read, one creates a file. Every hundredth asks.
pub fn long_plan() -> ShownPlan {
    let mut plan = fixture::plan();
    let (read, create) = (plan.steps[0].clone(), plan.steps[4].clone());
    let step = |step_index: usize| {
        let step = if step_index % 4 == 1 {
            let path = format!("gen/d{}/file_{step_index:03}.rs", step_index % 7);
            let contents = format!("pub fn number() -> u32 {{\n    {step_index}\n}}\n");
            ShownStep { call: Some(ToolCall::FileCreate { path, contents }), ..create.clone() }
        } else {
            let path = format!("src/f{}.rs", step_index % 41);
            ShownStep { call: Some(ToolCall::FileRead { path }), ..read.clone() }
        };
        let requires_confirmation = step_index % 100 == 99;
        ShownStep { step_index, requires_confirmation, ..step }
    };
    plan.steps = (0..500).map(step).collect();
    plan.title = Some("Generate the tables".into());
    plan
}

/// Notes in the review of [`long_plan`] that none of the files which it creates exists.
pub fn none_exists(plan: &ShownPlan, review: &mut Review) {
    let paths = plan.steps.iter().filter_map(|step| match &step.call {
        Some(ToolCall::FileCreate { path, .. }) => Some(path.clone()),
        _ => None,
    });
    review.impact.files = paths.collect();
    let files = review.impact.files.iter().cloned();
    review.binding.inputs = files.map(|path| (path, FileState::Absent)).collect();
}
