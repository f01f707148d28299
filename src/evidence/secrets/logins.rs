//! Passwords after a user name or in the syntax of one program, where no name or option indicates a secret.

use std::ops::Range;

use super::http::found;
use super::names::Class;
use super::parts::is_secret;
use super::scan::{LONGEST, Match, at, back_while, forward_while, line_end, line_start, quoted};
use super::values::{ValueForm, is_placeholder, is_wordy};

/// Limit for consecutive lines of `user:PASSWORD`.
const LINES: usize = 40;

fn password(text: &str, from: usize, secret: Range<usize>) -> Option<Match> {
    let value = text.get(secret.clone())?;
    is_secret(Class::Password, value, ValueForm::Quoted)
        .then(|| found(from..secret.end, secret, "password"))
        .flatten()
}

fn is_user(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@' | b'\\')
}

/// The word at this position, in quotes or without.
fn word_at(text: &str, start: usize) -> Range<usize> {
    quoted(text, start).unwrap_or_else(|| {
        start..forward_while(text.as_bytes(), start, LONGEST, |byte| {
            !byte.is_ascii_whitespace()
                && !matches!(byte, b'"' | b'\'' | b'`' | b';' | b'|' | b'&' | b')' | b'\\' | 0)
        })
    })
}

fn behind_spaces(bytes: &[u8], from: usize) -> usize {
    forward_while(bytes, from, 8, |byte| matches!(byte, b' ' | b'\t'))
}

/// Input of programs that change passwords: lines of `user:PASSWORD` after the program's name, in cloud-init files
/// or here-documents.
pub(super) fn list_of_users(text: &str, name_end: usize) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut line = line_end(bytes, name_end) + 1;
    let mut secret: Option<Range<usize>> = None;
    for _ in 0..LINES {
        let start = forward_while(bytes, line, 80, |byte| matches!(byte, b' ' | b'-' | b'\t'));
        let end = line_end(bytes, start);
        if line >= bytes.len() {
            break;
        }
        let content = text.get(start..end)?.trim_end();
        let user = forward_while(bytes, start, 64, is_user);
        let value = text.get(user + 1..start + content.len()).unwrap_or_default();
        let is_line = user > start
            && at(bytes, user) == b':'
            && !value.starts_with([' ', ':'])
            && !value.contains(char::is_whitespace)
            && is_secret(Class::Password, value, ValueForm::Quoted);
        match (&mut secret, is_line) {
            (None, true) => secret = Some(user + 1..start + content.len()),
            (Some(secret), true) => secret.end = start + content.len(),
            (Some(_), false) => break,
            // `list: |` and `expire: false` may precede the lines.
            (None, false) if content.ends_with(['|', ':']) || content.contains(": ") => {}
            (None, false) => break,
        }
        line = end + 1;
    }
    let secret = secret?;
    found(name_end..secret.end, secret, "password")
}

/// `sqlplus app/PASSWORD@db`, `jdbc:oracle:thin:app/PASSWORD@…`.
pub(super) fn oracle(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut place = word.end;
    for _ in 0..6 {
        place = forward_while(bytes, place, 3, |byte| matches!(byte, b' ' | b'"' | b'\''));
        let user = forward_while(bytes, place, 64, |byte| is_user(byte) && byte != b'@');
        if at(bytes, user) == b'/' && user > place && at(bytes, place) != b'-' {
            let end = forward_while(bytes, user + 1, 256, |byte| {
                !byte.is_ascii_whitespace() && !matches!(byte, b'@' | b'"' | b'\'' | 0)
            });
            return password(text, word.start, user + 1..end);
        }
        // Another word precedes it, such as an option.
        if at(bytes, place) != b'-' && place > word.end {
            return None;
        }
        place = forward_while(bytes, place, 64, |byte| !byte.is_ascii_whitespace());
    }
    None
}

/// `IDENTIFIED BY 'PASSWORD'`.
pub(super) fn identified(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut start = behind_spaces(bytes, word.end);
    let hash = text.get(start..start + 9).is_some_and(|it| it.eq_ignore_ascii_case("password "));
    if hash {
        start = behind_spaces(bytes, start + 9);
    }
    let value = word_at(text, start);
    // Prose such as `the column identified by "name"`.
    let line = text.get(line_start(bytes, word.start)..word.start)?.to_ascii_lowercase();
    if !["user ", "grant ", "role "].iter().any(|verb| line.contains(verb)) {
        return None;
    }
    let quotes = matches!(at(bytes, start), b'"' | b'\'' | b'`' | b'\\');
    let inner = text.get(value.clone())?;
    (quotes || inner.bytes().any(|byte| byte.is_ascii_digit()))
        .then(|| password(text, word.start, value))
        .flatten()
}

/// `user:500:LM:NT:::`, the hashes of a Windows account, which can replace its password.
pub(super) fn nt_hashes(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let hex = |end: usize| back_while(bytes, end, 33, |byte| byte.is_ascii_hexdigit());
    let nt = hex(word.start);
    let lm = hex(nt.checked_sub(1)?);
    let is_line = word.start - nt == 32
        && (at(bytes, nt - 1), at(bytes, lm.wrapping_sub(1))) == (b':', b':')
        && nt - 1 - lm == 32;
    is_line.then(|| found(lm..word.start, lm..word.start, "password_hash")).flatten()
}

/// `rabbitmqctl add_user NAME PASSWORD`.
pub(super) fn of_broker(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let line = text.get(word.end..line_end(bytes, word.end))?;
    let verb = ["add_user ", "change_password ", "authenticate_user "]
        .into_iter()
        .find_map(|verb| Some(word.end + line.find(verb)? + verb.len()))?;
    let user = word_at(text, behind_spaces(bytes, verb));
    let after = forward_while(bytes, user.end, 2, |byte| matches!(byte, b'"' | b'\''));
    password(text, word.start, word_at(text, behind_spaces(bytes, after)))
}

/// `[smtp.example.org]:587 user:PASSWORD`, a line of a mail server's password file.
pub(super) fn of_mail(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = line_start(bytes, word.start);
    let start = start + usize::from(at(bytes, start) == b'"');
    let host = forward_while(bytes, start, 200, |byte| {
        is_user(byte) || matches!(byte, b'[' | b']' | b':')
    });
    let user = forward_while(bytes, host, 8, |byte| matches!(byte, b' ' | b'\t'));
    let end = forward_while(bytes, user, 200, is_user);
    let line = text.get(end..line_end(bytes, end))?.trim_end_matches(['"', ' ', '\r']);
    let value = line.strip_prefix(':')?;
    let bracket = at(bytes, start) == b'[' || text.get(start..host)?.contains(':');
    (bracket && user > host && end > user && !value.contains(char::is_whitespace))
        .then(|| password(text, start, end + 1..end + 1 + value.len()))
        .flatten()
}

/// Input of programs that ask for a password: `passwd --stdin ada <<< PASSWORD`.
pub(super) fn here_string(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let line = line_start(bytes, word.start);
    let command = text.get(line..word.start)?;
    let command = command.rsplit([';', '|', '&']).next()?;
    const READERS: &[&str] = &[
        "passwd",
        "-stdin",
        "sudo -S",
        "sudo -kS",
        "cryptsetup",
        "kinit",
        "phrase-fd",
        "stdin:",
        "su ",
        "smbpasswd",
        "ssh-add",
        "veracrypt",
    ];
    if !READERS.iter().any(|reader| command.contains(reader)) {
        return None;
    }
    let mut value = word_at(text, behind_spaces(bytes, word.end));
    let inner = text.get(value.clone())?;
    if command.contains("chpasswd")
        && let Some((user, _)) = inner.split_once(':')
    {
        value.start += user.len() + 1;
    }
    password(text, line, value)
}

/// `ConvertTo-SecureString "PASSWORD" -AsPlainText`.
pub(super) fn secure_string(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let end = line_end(bytes, word.end);
    if !text.get(word.end..end)?.to_ascii_lowercase().contains("-asplaintext") {
        return None;
    }
    let mut start = behind_spaces(bytes, word.end);
    for option in ["-String ", "-AsPlainText ", "-Force "] {
        if text.get(start..).is_some_and(|rest| rest.starts_with(option)) {
            start += option.len();
        }
    }
    password(text, word.start, word_at(text, start))
}

/// `vault kv put PATH name=SECRET …`, `vault login SECRET`.
pub(super) fn of_vault(text: &str, word: Range<usize>, mut each: impl FnMut(Match)) {
    let bytes = text.as_bytes();
    let rest = text.get(word.end..line_end(bytes, word.end)).unwrap_or_default();
    let verbs = [" kv put ", " kv patch ", " write ", " login "];
    let Some(verb) = verbs.into_iter().find(|verb| rest.starts_with(verb)) else { return };
    let mut place = word.end + verb.len();
    while place < word.end + rest.len() {
        let name = forward_while(bytes, place, 200, |byte| is_user(byte) || byte == b'/');
        let is_field = at(bytes, name) == b'=' && name > place;
        let value = word_at(text, if is_field { name + 1 } else { place });
        let inner = text.get(value.clone()).unwrap_or_default();
        let is_login = verb == " login " && inner.len() >= 16 && !is_wordy(inner);
        let is_secret_value = is_field
            && inner.len() >= 6
            && !inner.starts_with(['@', '/'])
            && inner.bytes().any(|byte| byte.is_ascii_digit())
            && !is_placeholder(inner)
            && !inner.contains("://");
        if (is_login || is_secret_value)
            && let Some(found) = found(word.start..value.end, value.clone(), "password")
        {
            each(found);
        }
        place = behind_spaces(bytes, value.end.max(place + 1));
    }
}

/// The private numbers of a JSON web key: `{"kty": "RSA", …, "d": "…"}`.
pub(super) fn jwk(text: &str, word: Range<usize>, mut each: impl FnMut(Match)) {
    const OBJECT: usize = 8 << 10;
    let bytes = text.as_bytes();
    let start = back_while(bytes, word.start, OBJECT, |byte| byte != b'{');
    let end = forward_while(bytes, word.end, OBJECT, |byte| byte != b'}');
    let object = text.get(start..end).unwrap_or_default();
    for name in ["d", "k", "p", "q", "dp", "dq", "qi"] {
        for quote in ["\"", "\\\""] {
            let key = format!("{quote}{name}{quote}");
            let Some(offset) = object.find(&key) else { continue };
            let colon = behind_spaces(bytes, start + offset + key.len());
            let Some(value) = quoted(text, behind_spaces(bytes, colon + 1)) else { continue };
            if at(bytes, colon) == b':'
                && value.len() >= 16
                && let Some(found) = found(start + offset..value.end, value, "private_key")
            {
                each(found);
            }
        }
    }
}
