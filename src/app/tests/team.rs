//! The evidence of a team, from servers that do not answer, refuse, or are not there.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};

use super::*;
use crate::ui::evidence::TeamView;

/// A server that takes connections, and says nothing.
fn silent() -> (TcpListener, Bench) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, with_team(port))
}

fn with_team(port: u16) -> Bench {
    let address = format!("postgres://ada@127.0.0.1:{port}/evidence?sslmode=disable");
    Bench::with_settings(&format!("team = '{address}'\n"))
}

fn act(bench: &mut Bench, action: EvidenceAction) {
    bench.act(Action::Evidence(action));
}

fn team(app: &App) -> TeamView<'_> {
    app.evidence.team_view().unwrap()
}

/// Reads until the other side has closed the connection.
fn is_closed(mut stream: TcpStream) {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    assert!(bytes.windows(9).any(|part| part == b"evidence\0"), "it began to log in");
}

#[test]
fn a_hanging_server_stops_nothing_else() {
    let (listener, mut bench) = silent();
    act(&mut bench, EvidenceAction::Search(String::new()));
    bench.wait_until("the page of this computer", |app| app.evidence.page.is_some());
    bench.act(Action::Do(Command::SwitchEvidence));
    assert!(team(&bench.app).is_shown);
    assert!(bench.app.evidence.page.is_none(), "nothing of this computer is shown as the team's");
    let (first, _) = listener.accept().unwrap();
    // A later search ends the one before, and its connection.
    act(&mut bench, EvidenceAction::Search("heron".to_owned()));
    is_closed(first);
    let (second, _) = listener.accept().unwrap();
    assert!(bench.app.evidence.view(&bench.app.shared).is_searching);
    // The page of this computer answers meanwhile, and the search of the team ends.
    act(&mut bench, EvidenceAction::ShowTeam(false));
    bench.wait_until("the page of this computer", |app| app.evidence.page.is_some());
    is_closed(second);
    assert_eq!(bench.app.evidence.text(), "heron", "the search stays");
    assert!(bench.app.shared.notices.is_empty(), "{:?}", bench.app.shared.notices);
}

#[test]
fn a_server_that_is_not_there_can_be_asked_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut bench = with_team(port);
    bench.act(Action::Do(Command::GoEvidence));
    act(&mut bench, EvidenceAction::ShowTeam(true));
    bench.wait_until("the failure", |app| app.evidence.failure.is_some());
    let why = bench.app.evidence.failure.clone().unwrap();
    assert!(why.contains("cannot be reached") && why.contains("try again"), "{why}");
    // The server is back, and says something else.
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    act(&mut bench, EvidenceAction::TryAgain);
    assert!(bench.app.evidence.failure.is_none());
    let (stream, _) = listener.accept().unwrap();
    std::io::Write::write_all(&mut &stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    drop(stream);
    bench.wait_until("the failure", |app| app.evidence.failure.is_some());
    // This computer is not concerned.
    act(&mut bench, EvidenceAction::ShowTeam(false));
    bench.wait_until("the page of this computer", |app| app.evidence.page.is_some());
    assert!(bench.app.evidence.failure.is_none());
}

#[test]
fn other_pages_lead_to_this_computer() {
    let (_listener, mut bench) = silent();
    bench.act(Action::Do(Command::SwitchEvidence));
    assert!(bench.app.situation().team_shown);
    bench.act(Action::Do(Command::GoPlan));
    act(&mut bench, EvidenceAction::Search("run:x".to_owned()));
    assert!(!bench.app.situation().team_shown, "what ran here is here");
    bench.act(Action::Do(Command::GoPlan));
    bench.act(Action::Do(Command::SwitchEvidence));
    assert!(bench.app.situation().team_shown);
    // What exports, verifies and purges is about this computer.
    assert!(bench.app.evidence.not_exportable().unwrap().contains("This computer"));
    let verify = Command::Verify.spec();
    assert!((verify.unavailable)(&bench.app.situation()).is_some());
    bench.act(Action::Do(Command::GoPlan));
    bench.act(Action::Do(Command::Verify));
    assert!(!bench.app.situation().team_shown);
    // Back, it is shown again.
    bench.act(Action::Do(Command::GoBack));
    bench.act(Action::Do(Command::GoBack));
    assert!(bench.app.situation().team_shown);
}

#[test]
fn an_address_with_a_password_is_refused_without_it() {
    let mut bench = Bench::with_settings("team = 'postgres://ada:wombat@db/evidence'\n");
    let notices = format!("{:?}", bench.app.shared.notices);
    assert!(notices.contains("~/.pgpass") && !notices.contains("wombat"), "{notices}");
    bench.act(Action::Do(Command::SwitchEvidence));
    assert!(!bench.app.situation().team_shown, "there is no team");
    let line = |bench: &Bench| {
        let view = bench.app.settings_view(&bench.ctx);
        view.rows.iter().find(|row| row.key == "team").unwrap().shown()
    };
    assert_eq!(line(&bench), "none");
    let bench = Bench::with_settings("team = 'postgres://ada@db/evidence'\n");
    assert!(line(&bench).contains("db/evidence"), "{}", line(&bench));
}
