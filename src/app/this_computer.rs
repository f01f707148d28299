//! What the settings say of this computer: its walls, code engines and planners.

use jiff::Timestamp;

use super::App;
use crate::authorization::{WallLevel, WallSetting};
use crate::risk::{EngineChoice, Policy};
use crate::run::EvidenceSizes;
use crate::run::text::size;
use crate::ui::format;
use crate::worker::{ComputerFacts, DescribeComputer};

impl App {
    /// Asks what this computer has, and shows it in the settings.
    pub(super) fn describe_computer(&mut self, ctx: &egui::Context) {
        let workspace = self.plan.review().map(|review| review.workspace.clone());
        let ctx = ctx.clone();
        self.shared.query(DescribeComputer { workspace }, move |app, facts| {
            app.computer = Some(facts);
            app.update_settings_view(&ctx);
        });
    }

    pub(super) fn computer_lines(&self) -> Vec<(String, String)> {
        lines(&self.shared.setup.policy, self.computer.as_ref())
    }
}

/// The names and values of the facts. Before the answer, each has its line, so that nothing moves.
fn lines(policy: &Policy, facts: Option<&ComputerFacts>) -> Vec<(String, String)> {
    let known = |text: &dyn Fn(&ComputerFacts) -> String| {
        facts.map_or_else(|| "being looked up…".to_owned(), text)
    };
    let walls = known(&|facts| {
        let (level, why) = &facts.walls;
        let meaning = match level {
            WallLevel::Full => "a step reaches only what it was granted",
            WallLevel::Files => "a step reaches only the files and the network that it was granted",
            WallLevel::None => "nothing holds a step back, so that more steps ask",
        };
        let why = why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let setting = match policy.walls {
            WallSetting::Required => "; your settings require full walls",
            WallSetting::Preferred => "",
            WallSetting::Off => "; turned off in your settings",
        };
        format!("{level}: {meaning}{why}{setting}")
    });
    let engine = match policy.engine {
        EngineChoice::Auto => "external with an up-to-date code graph, else embedded",
        EngineChoice::Embedded => "embedded, as your settings say",
        EngineChoice::External => "external (magellan and splice), as your settings say",
    };
    let once_open = || "looked up once a plan is shown".to_owned();
    let splice = known(&|facts| match &facts.splice {
        None => once_open(),
        Some(Ok(path)) => path.display().to_string(),
        Some(Err(why)) => why.clone(),
    });
    let graph = known(&|facts| match (&facts.codegraph, &facts.splice) {
        (Some(path), _) => path.display().to_string(),
        (None, Some(_)) => "none in the workspace of the shown plan".to_owned(),
        (None, None) => once_open(),
    });
    let model = known(&|facts| facts.model.clone().unwrap_or_else(|| "none is set".to_owned()));
    let evidence = known(&|facts| match &facts.evidence {
        Ok(sizes) => evidence_text(sizes),
        Err(why) => why.clone(),
    });
    let mut lines: Vec<_> = [
        ("walls", walls),
        ("code engine", engine.to_owned()),
        ("splice", splice),
        ("code graph", graph),
        ("model", model),
        ("evidence", evidence),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let planners = policy.planners.iter().map(|(name, needs)| format!("{name} {needs}"));
    let planners = planners.collect::<Vec<_>>().join("; ");
    let planners = Some(planners).filter(|text| !text.is_empty());
    let none = "no planner has permissions of its own in your settings".to_owned();
    lines.push(("planners".to_owned(), planners.unwrap_or(none)));
    lines
}

/// How large the evidence is, how old, and what could be given back.
fn evidence_text(sizes: &EvidenceSizes) -> String {
    let files = sizes.database_bytes + sizes.log_bytes + sizes.index_bytes;
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut text = format!("{} in {}", format::counted(count(sizes.runs), "run"), size(files));
    if let Some(oldest) = sizes.oldest_run_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok()) {
        text.push_str(&format!(", since {}", oldest.strftime("%Y-%m-%d")));
    }
    if sizes.purged_rows > 0 {
        let rows = format::counted(count(sizes.purged_rows), "record");
        text.push_str(&format!("; {rows} purged"));
    }
    if sizes.reclaimable_bytes > 1 << 20 {
        let free = size(sizes.reclaimable_bytes);
        text.push_str(&format!("; {free} unused, given back by “countersign evidence compact”"));
    }
    let backups: u64 = sizes.backups.values().sum();
    if backups > 0 {
        text.push_str(&format!("; copies from before migrations take {}", size(backups)));
    }
    if let Some(name) = &sizes.network_file_system {
        text.push_str(&format!(
            "; on a network file system ({name}), so every record waits for a full flush, and no two computers may \
             record at the same time"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::PlannerNeeds;

    fn line(policy: &Policy, facts: Option<&ComputerFacts>, name: &str) -> String {
        lines(policy, facts).into_iter().find(|line| line.0 == name).unwrap().1
    }

    #[test]
    fn facts_of_the_computer_are_sentences() {
        let mut policy = Policy::default();
        let mut facts = ComputerFacts {
            walls: (WallLevel::Files, Some("bwrap is missing".into())),
            splice: None,
            codegraph: None,
            model: None,
            evidence: Ok(EvidenceSizes::default()),
        };
        let before = lines(&policy, None);
        let names = |lines: &[(String, String)]| {
            lines.iter().map(|line| line.0.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&before), names(&lines(&policy, Some(&facts))), "nothing moves");
        assert!(before.iter().all(|line| !line.1.is_empty()));
        let walls = line(&policy, Some(&facts), "walls");
        assert!(walls.starts_with("files: ") && walls.ends_with(" (bwrap is missing)"), "{walls}");
        policy.walls = WallSetting::Off;
        assert!(line(&policy, Some(&facts), "walls").ends_with("turned off in your settings"));
        assert_eq!(line(&policy, Some(&facts), "splice"), "looked up once a plan is shown");
        facts.splice = Some(Ok("/opt/splice".into()));
        facts.model = Some("heron at http://localhost:8080".into());
        assert_eq!(line(&policy, Some(&facts), "splice"), "/opt/splice");
        assert_eq!(
            line(&policy, Some(&facts), "code graph"),
            "none in the workspace of the shown plan"
        );
        assert_eq!(line(&policy, Some(&facts), "model"), "heron at http://localhost:8080");
        facts.evidence = Ok(EvidenceSizes {
            database_bytes: 812 << 20,
            runs: 3_412,
            oldest_run_ms: Some(1_735_689_600_000),
            reclaimable_bytes: 210 << 20,
            network_file_system: Some("nfs".to_owned()),
            ..EvidenceSizes::default()
        });
        let evidence = line(&policy, Some(&facts), "evidence");
        for part in ["3,412 runs in 812 MiB", "since 2025-01-01", "210 MiB unused", "(nfs)"] {
            assert!(evidence.contains(part), "{evidence}");
        }
        let needs = PlannerNeeds { network: true, ..PlannerNeeds::default() };
        policy.planners.insert("plan.py".into(), needs);
        assert_eq!(line(&policy, None, "planners"), "plan.py reads, network");
    }
}
