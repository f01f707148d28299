use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use uuid::Uuid;

use super::*;
use crate::run::{HostResult, Outcome, RunEvent, RunState};

fn result(host: &str, outcome: Outcome, message: Option<&str>) -> HostResult {
    HostResult {
        host: host.to_owned(),
        step_id: "a".to_owned(),
        step_index: 0,
        execution_id: Uuid::nil(),
        outcome,
        may_have_run: true,
        exit_code: message.is_none().then_some(0),
        error_code: None,
        error_message: message.map(str::to_owned),
        output: "printed there\n".to_owned(),
        output_bytes: 14,
        group: String::new(),
        timestamp_ms: 0,
        duration_ms: 1_500,
    }
}

/// The table of a run on so many hosts: the third failed, the fourth runs.
fn table(count: usize) -> HostTable {
    let hosts: Vec<String> = (1..=count).map(|number| format!("web{number}")).collect();
    let mut run = RunState::default();
    run.apply(&RunEvent::HostsKnown { hosts: hosts.clone() });
    for host in &hosts {
        run.apply(&RunEvent::HostStarted { host: host.clone(), step_index: 0 });
        let result = match host.as_str() {
            "web4" => continue,
            "web3" => result(host, Outcome::Failed, Some("the host cannot be reached")),
            _ => result(host, Outcome::Succeeded, None),
        };
        run.apply(&RunEvent::HostEnded { result: Box::new(result) });
    }
    run.hosts
}

fn shown(table: HostTable) -> Harness<'static> {
    let builder = Harness::builder().with_size(vec2(470.0, 560.0));
    let builder = builder.with_context_setup(crate::ui::theme::install);
    builder.build_ui(move |ui| hosts_ui(ui, &table, 0))
}

#[test]
fn hosts_are_listed_filtered_and_opened_by_keys() {
    let mut harness = shown(table(6));
    harness.run();
    harness.get_by_label("Host web3: failed, the host cannot be reached");
    harness.get_by_label("Host web4: running, running");
    let failed = harness.get_by_label_contains("failed 1");
    failed.focus();
    harness.run();
    harness.key_press(Key::Space);
    harness.run();
    assert!(harness.query_by_label_contains("Host web4").is_none(), "only failed hosts");
    harness.get_by_label_contains("Host web3").focus();
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    harness.get_by_label_contains("printed there");
}

#[test]
fn equal_results_are_one_row_that_unfolds() {
    let mut table = table(6);
    let mut other = result("web5", Outcome::Succeeded, None);
    other.group = "other".to_owned();
    table.end(&other);
    let mut harness = shown(table);
    harness.run();
    harness.get_by_label("Host web5: succeeded, printed there");
    assert!(harness.query_by_label_contains("Host web1").is_none(), "folded");
    let group = harness.get_by_label("3 hosts: succeeded, printed there, folded");
    group.focus();
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    harness.get_by_label("3 hosts: succeeded, printed there, unfolded");
    for host in ["web1", "web2", "web6"] {
        harness.get_by_label(&format!("Host {host}: succeeded, printed there"));
    }
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.query_by_label_contains("Host web1").is_none(), "folded again");
}

/// Only rows in sight are drawn, however many hosts there are.
#[test]
fn thousand_hosts_draw_as_few_rows_as_ten() {
    let rows = |count: usize| {
        let mut harness = shown(table(count));
        harness.run();
        harness.get_by_label_contains("hosts: succeeded").click();
        harness.run();
        harness.query_all_by_label_contains("Host web").count()
    };
    let (few, many) = (rows(10), rows(1_000));
    assert!(few > 0 && many <= few + 6, "{many} rows are drawn, and {few} of 10");
}
