//! Secrets in structured values, for which the content decides: logins, cookies and URLs.

use std::ops::Range;

use super::assign::Name;
use super::http::{is_code_host_url, is_session};
use super::names::{Class, is_login, is_working_folder};
use super::scan::{MAX_VALUE, alphanumeric_or, at, forward_while, unspaced_except};
use super::values::{
    ValueForm, has_secret_line, is_label, is_placeholder, is_whole_secret, is_wordy,
};
use super::{Match, has_digit, has_letter};

impl Name<'_> {
    /// The secret in the value of this name, by the rules for the name's class.
    pub(super) fn secret_in(&self, value: Range<usize>, form: ValueForm) -> Option<Match> {
        let text = self.text.get(value.clone())?;
        let name = self.text.get(self.start..self.end)?;
        if is_working_folder(name, text) {
            return None;
        }
        let part = if is_secret(self.class, text, form) {
            secret_part(self.class, text).unwrap_or(0..text.len())
        } else if is_login(name) {
            password_of_login(text)?
        } else {
            return None;
        };
        Some(self.found(value.start + part.start..value.start + part.end))
    }

    /// The secret in an unquoted structured value. Brackets and separators belong to the value.
    pub(super) fn bare_structured(&self, start: usize, is_assigned: bool) -> Option<Match> {
        if !is_assigned || !self.class.is_structured() {
            return None;
        }
        let bytes = self.bytes();
        let word =
            |from: usize| forward_while(bytes, from, MAX_VALUE, unspaced_except(b"\"'`\\\0"));
        let mut end = word(start);
        // In `a=X; b=Y`, the second cookie belongs to the value.
        while self.class == Class::Cookie && at(bytes, end - 1) == b';' && at(bytes, end) == b' ' {
            let next = word(end + 1);
            if !self.text.get(end + 1..next)?.contains('=') {
                break;
            }
            end = next;
        }
        let value = self.text.get(start..end)?.trim_end_matches([',', ';', ')', '}', '|', '&']);
        // A call is code.
        if self.class == Class::Cookie && value.contains(['(', '[']) {
            return None;
        }
        self.secret_in(start..start + value.len(), ValueForm::Quoted)
    }
}

/// Whether the value of a name of this class is a secret or contains one.
pub(super) fn is_secret(class: Class, value: &str, form: ValueForm) -> bool {
    if !class.is_structured() {
        let is_several_lines = value.contains('\n') || value.contains("\\n");
        let may_continue = is_several_lines && matches!(form, ValueForm::Quoted);
        return is_whole_secret(class, value, form)
            || (may_continue && has_secret_line(class, value));
    }
    let is_code = matches!(form, ValueForm::Bare { tight: false, colon: false, .. });
    let is_candidate = (4..=MAX_VALUE).contains(&value.len()) && !is_placeholder(value);
    is_candidate && !is_code && secret_part(class, value).is_some()
}

/// Whether the name indicates a login and the value contains a user and a password.
pub(super) fn is_login_value(name: &str, value: &str) -> bool {
    is_login(name) && password_of_login(value).is_some()
}

/// The secret part of a structured value; `None` for other classes.
pub(super) fn secret_part(class: Class, value: &str) -> Option<Range<usize>> {
    match class {
        Class::Password | Class::Secret | Class::Key => None,
        Class::Login => password_before_host(value),
        Class::Cookie => value.split(';').any(is_session).then_some(0..value.len()),
        Class::Link => random_part(value),
    }
}

/// `ada:PASSWORD@host`, `ada/PASSWORD@host`. URLs have their own rule.
fn password_before_host(value: &str) -> Option<Range<usize>> {
    let (login, host) = value.rsplit_once('@')?;
    if host.is_empty() || value.contains("://") {
        return None;
    }
    let user = login.find([':', '/'])?;
    password_after(login, user)
}

/// `ada:PASSWORD`.
fn password_of_login(value: &str) -> Option<Range<usize>> {
    const SCHEMES: &str = "basic bearer digest none off on http https ldap file";
    let user = value.find(':')?;
    let is_scheme = SCHEMES.split(' ').any(|it| value.get(..user) == Some(it));
    (!is_scheme && !value.contains("://")).then(|| password_after(value, user)).flatten()
}

/// The password after the user name, which ends at `user`.
fn password_after(login: &str, user: usize) -> Option<Range<usize>> {
    let (name, password) = (login.get(..user)?, login.get(user + 1..)?);
    let is_login = !name.is_empty()
        && name.bytes().all(alphanumeric_or(b"_-.@+\\"))
        && !name.starts_with('.')
        && !password.starts_with(['/', '\\', ':'])
        && is_whole_secret(Class::Password, password, ValueForm::Quoted);
    (is_login && !password.contains(char::is_whitespace)).then_some(user + 1..login.len())
}

/// `https://host/in/X`, `https://host/in?code=X`: everything from the first random part of the URL on.
fn random_part(value: &str) -> Option<Range<usize>> {
    let is_web = ["https://", "http://"]
        .iter()
        .any(|scheme| value.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme)));
    if !is_web || value.contains(char::is_whitespace) || is_code_host_url(value) {
        return None;
    }
    let host = value.find("://")? + 3;
    let mut position = host + value.get(host..)?.find('/')? + 1;
    for part in value.get(position..)?.split(['/', '?', '&', '=', '#']) {
        let is_random = part.len() >= 8
            && has_digit(part)
            && has_letter(part)
            && !is_wordy(part)
            && !is_placeholder(part)
            && !is_label(part);
        if is_random {
            return Some(position..value.len());
        }
        position += part.len() + 1;
    }
    None
}
