//! Passwords and passphrases that the client asks a person for (SPEC §7.3).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use countersign::remote::{Connection, RemoteError};
use countersign::run::{AskSecret, Secret, SecretQuestion, StopSignal};

use crate::harness::sshd::{Sshd, destination};

const SECRET: &str = "kingfisherquartz";

/// A person with these answers, who then declines.
#[derive(Debug, Default)]
struct Person {
    answers: Mutex<VecDeque<&'static str>>,
    asked: Mutex<Vec<SecretQuestion>>,
}

impl AskSecret for Person {
    fn ask(&self, question: &SecretQuestion, _: &dyn Fn() -> bool) -> Option<Secret> {
        self.asked.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        answer.map(|answer| Secret::new(answer.as_bytes().to_vec()))
    }

    fn withdraw(&self) {}
}

/// Connects as a person with these answers. Also returns the questions.
fn open(
    sshd: &Sshd,
    answers: &[&'static str],
) -> (Result<Connection, RemoteError>, Vec<SecretQuestion>) {
    let person = Arc::new(Person::default());
    person.answers.lock().unwrap().extend(answers);
    let client = sshd.client().asking(Some(Arc::clone(&person) as _));
    let opened = Connection::open(&client, &destination(), &StopSignal::default());
    let asked = person.asked.lock().unwrap().clone();
    (opened, asked)
}

#[test]
fn password_is_asked_for_until_it_is_right() {
    let sshd = Sshd::with_password(SECRET);
    let (opened, asked) = open(&sshd, &["wrong", SECRET]);
    assert_eq!(opened.unwrap().host().target.user, sshd.user());
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].asked_by, "ssh, to log in to loopback");
    assert_eq!(asked[0].prompt, format!("{}@127.0.0.1's password:", sshd.user()));
    // Without a person nothing is asked, and the login is refused.
    assert!(matches!(sshd.open(), Err(RemoteError::Refused { .. })));
}

#[test]
fn passphrase_is_asked_for_and_may_be_declined() {
    let sshd = Sshd::start();
    sshd.lock_key(SECRET);
    let (opened, asked) = open(&sshd, &[SECRET]);
    opened.unwrap();
    assert!(asked[0].prompt.starts_with("Enter passphrase for key"), "{asked:?}");
    let (declined, _) = open(&sshd, &[]);
    let Err(error @ RemoteError::Declined { .. }) = declined else { panic!("{declined:?}") };
    assert!(error.to_string().contains("a question of ssh was not answered"));
}

/// A key that is not stored is refused before anything is asked.
#[test]
fn nothing_is_asked_about_an_unknown_host() {
    let sshd = Sshd::with_password(SECRET);
    sshd.forget();
    let (opened, asked) = open(&sshd, &["yes"]);
    assert!(matches!(opened, Err(RemoteError::UnknownKey { .. })), "{opened:?}");
    assert_eq!(asked, []);
}
