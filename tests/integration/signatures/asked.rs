//! Keys with a passphrase: asked for by this program, at the terminal or through whoever answers in the window.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::authorization::Signing;
use countersign::run::{AskSecret, Secret, SecretQuestion, StopSignal};
use countersign::signing::{SigningError, SshKeygen};

use super::*;
use crate::cli::terminal::Terminal;

/// A person with these answers, who then declines.
#[derive(Debug, Default)]
struct Person {
    answers: Mutex<VecDeque<&'static str>>,
    asked: Mutex<Vec<SecretQuestion>>,
    /// How long the person takes.
    takes: Duration,
}

impl AskSecret for Person {
    fn ask(&self, question: &SecretQuestion, is_withdrawn: &dyn Fn() -> bool) -> Option<Secret> {
        self.asked.lock().unwrap().push(question.clone());
        let begun = std::time::Instant::now();
        while begun.elapsed() < self.takes && !is_withdrawn() {
            std::thread::yield_now();
        }
        let answer = self.answers.lock().unwrap().pop_front();
        answer.map(|answer| Secret::new(answer.as_bytes().to_vec()))
    }

    fn withdraw(&self) {}
}

fn sign(
    home: &Home,
    person: &Arc<Person>,
    seconds: u32,
) -> Result<countersign::authorization::SshSignature, SigningError> {
    let path = home.path().join("locked");
    let key = if path.exists() { path } else { key(home, "locked", PASSPHRASE) };
    let signing = Signing {
        key,
        principal: ADA.to_owned(),
        sign: Default::default(),
        seconds,
        reviewing: None,
    };
    let ask: Arc<dyn AskSecret> = Arc::clone(person) as _;
    let keygen = SshKeygen::of_system(None).unwrap();
    keygen.sign(&signing, b"a document", "a document", Some(&ask), &StopSignal::default())
}

#[test]
fn the_passphrase_is_asked_for_and_may_be_declined() {
    let home = Home::new();
    let person = Arc::new(Person::default());
    person.answers.lock().unwrap().extend([PASSPHRASE, "wrong"]);
    let signature = sign(&home, &person, 20).unwrap();
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    let path = home.path().join("locked");
    let asked_by = format!("ssh-keygen, to sign a document with {}", path.display());
    assert_eq!(asked[0].asked_by, asked_by);
    assert!(asked[0].prompt.starts_with("Enter passphrase"), "{asked:?}");
    let fingerprint = succeeds("ssh-keygen", &["-l", "-f", path.to_str().unwrap()]);
    assert!(fingerprint.contains(&signature.fingerprint));
    let wrong = sign(&home, &person, 20).unwrap_err();
    assert!(wrong.to_string().contains("incorrect passphrase"), "{wrong}");
    let declined = sign(&home, &person, 20).unwrap_err();
    assert!(matches!(declined, SigningError::Declined), "{declined}");
}

/// The time in which the person thinks does not count, and that in which the program hangs does.
#[test]
fn a_person_may_take_longer_than_the_limit() {
    let home = Home::new();
    let person = Person { takes: Duration::from_millis(1_500), ..Person::default() };
    person.answers.lock().unwrap().push_back(PASSPHRASE);
    sign(&home, &Arc::new(person), 1).unwrap();
}

/// The passphrase is typed at the terminal, without echo, for the authorization and for the end of the run.
#[test]
fn the_passphrase_is_typed_at_the_terminal() {
    let (home, _) = signing_home();
    let locked = key(&home, "locked", PASSPHRASE);
    settings(&home, &locked, &["authorizations", "run_ends"]);
    let mut terminal = Terminal::start(&home, "run space/p.json --yes");
    terminal.until("to sign your authorization with");
    terminal.until("Enter passphrase");
    assert!(!home.file("new.txt").exists());
    terminal.type_in(&format!("{PASSPHRASE}\n"));
    terminal.until("to sign the end of the run");
    terminal.until("Enter passphrase");
    assert!(home.file("new.txt").exists());
    terminal.type_in(&format!("{PASSPHRASE}\n"));
    assert_eq!(terminal.exit_code(), Some(0));
    let kinds = home.texts("SELECT kind FROM signatures ORDER BY id", ());
    assert_eq!(kinds, ["authorization", "run_end"]);
}

#[test]
fn a_wrong_passphrase_at_the_terminal_runs_nothing() {
    let (home, _) = signing_home();
    let locked = key(&home, "locked", PASSPHRASE);
    settings(&home, &locked, &["authorizations"]);
    let mut terminal = Terminal::start(&home, "run space/p.json --yes");
    terminal.until("Enter passphrase");
    terminal.type_in("wrong\n");
    terminal.until("incorrect passphrase");
    assert_eq!(terminal.exit_code(), Some(3));
    assert!(!home.file("new.txt").exists());
    assert_eq!(home.texts("SELECT count(*) || '' FROM authorizations", ()), ["0"]);
}
