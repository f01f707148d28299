//! Passwords where neither a name nor an option indicates a secret: after a user name, or in the syntax of a program.

use std::ops::Range;

use super::names::Class;
use super::parts::is_secret;
use super::scan::{
    alphanumeric_or, any_of, at, back_while, forward_while, line_end, line_start, quoted,
    quoted_or_word, unspaced_except,
};
use super::values::{ValueForm, is_placeholder, is_wordy};
use super::{Match, has_digit};

/// The maximum number of lines in which `user:PASSWORD` is searched for.
const MAX_LINES: usize = 40;

/// The match for this range, if its text may be a password.
pub(super) fn password(text: &str, from: usize, secret: Range<usize>) -> Option<Match> {
    let value = text.get(secret.clone())?;
    is_secret(Class::Password, value, ValueForm::Quoted)
        .then(|| Match::new(from..secret.end, secret, "password"))
}

/// The bytes of a user name other than letters and digits.
const USER_BYTES: &[u8] = b"_-.@\\";

/// The word at this position, with or without quotes.
fn word_at(text: &str, start: usize) -> Range<usize> {
    quoted_or_word(text, start, b"\"'`;|&)\\\0")
}

/// The position after spaces and tabs.
fn after_spaces(bytes: &[u8], from: usize) -> usize {
    forward_while(bytes, from, 8, any_of(b" \t"))
}

/// Consecutive lines of `user:PASSWORD` after the name `chpasswd`, in cloud-init files or here-documents.
pub(super) fn chpasswd_lines(text: &str, name_end: usize) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut line = line_end(bytes, name_end) + 1;
    let mut secret: Option<Range<usize>> = None;
    for _ in 0..MAX_LINES {
        let start = forward_while(bytes, line, 80, any_of(b" -\t"));
        let end = line_end(bytes, start);
        if line >= bytes.len() {
            break;
        }
        let content = text.get(start..end)?.trim_end();
        let user = forward_while(bytes, start, 64, alphanumeric_or(USER_BYTES));
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
    Some(Match::new(name_end..secret.end, secret, "password"))
}

/// `sqlplus app/PASSWORD@db`, `jdbc:oracle:thin:app/PASSWORD@…`.
pub(super) fn oracle(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut position = word.end;
    for _ in 0..6 {
        position = forward_while(bytes, position, 3, any_of(b" \"'"));
        let user = forward_while(bytes, position, 64, alphanumeric_or(b"_-.\\"));
        if at(bytes, user) == b'/' && user > position && at(bytes, position) != b'-' {
            let end = forward_while(bytes, user + 1, 256, unspaced_except(b"@\"'\0"));
            return password(text, word.start, user + 1..end);
        }
        // Only options, each perhaps with a value, may precede the login.
        if at(bytes, position) != b'-' && position > word.end {
            return None;
        }
        position = forward_while(bytes, position, 64, |byte| !byte.is_ascii_whitespace());
    }
    None
}

/// `IDENTIFIED BY 'PASSWORD'`.
pub(super) fn identified_by(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut start = after_spaces(bytes, word.end);
    let is_hash = text.get(start..start + 9).is_some_and(|it| it.eq_ignore_ascii_case("password "));
    if is_hash {
        start = after_spaces(bytes, start + 9);
    }
    let value = word_at(text, start);
    // Excludes prose such as `the column identified by "name"`.
    let line = text.get(line_start(bytes, word.start)..word.start)?.to_ascii_lowercase();
    if !["user ", "grant ", "role "].iter().any(|verb| line.contains(verb)) {
        return None;
    }
    let is_quoted = matches!(at(bytes, start), b'"' | b'\'' | b'`' | b'\\');
    let inner = text.get(value.clone())?;
    if !is_quoted && !has_digit(inner) {
        return None;
    }
    password(text, word.start, value)
}

/// `user:500:LM:NT:::`, the hashes of a Windows account, which can be used instead of its password.
pub(super) fn nt_hashes(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let hex = |end: usize| back_while(bytes, end, 33, |byte| byte.is_ascii_hexdigit());
    let nt = hex(word.start);
    let lm = hex(nt.checked_sub(1)?);
    let is_line = word.start - nt == 32
        && (at(bytes, nt - 1), at(bytes, lm.wrapping_sub(1))) == (b':', b':')
        && nt - 1 - lm == 32;
    is_line.then(|| Match::new(lm..word.start, lm..word.start, "password_hash"))
}

/// `rabbitmqctl add_user NAME PASSWORD`.
pub(super) fn rabbitmqctl(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let line = text.get(word.end..line_end(bytes, word.end))?;
    let verb = ["add_user ", "change_password ", "authenticate_user "]
        .into_iter()
        .find_map(|verb| Some(word.end + line.find(verb)? + verb.len()))?;
    let user = word_at(text, after_spaces(bytes, verb));
    let after = forward_while(bytes, user.end, 2, any_of(b"\"'"));
    password(text, word.start, word_at(text, after_spaces(bytes, after)))
}

/// `[smtp.example.org]:587 user:PASSWORD`, a line of a mail server's password file.
pub(super) fn smtp_login(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = line_start(bytes, word.start);
    let start = start + usize::from(at(bytes, start) == b'"');
    let host = forward_while(bytes, start, 200, alphanumeric_or(b"_-.@\\[]:"));
    let user = after_spaces(bytes, host);
    let end = forward_while(bytes, user, 200, alphanumeric_or(USER_BYTES));
    let line = text.get(end..line_end(bytes, end))?.trim_end_matches(['"', ' ', '\r']);
    let value = line.strip_prefix(':')?;
    let has_host = at(bytes, start) == b'[' || text.get(start..host)?.contains(':');
    (has_host && user > host && end > user && !value.contains(char::is_whitespace))
        .then(|| password(text, start, end + 1..end + 1 + value.len()))
        .flatten()
}

/// A here-string as the input of a program that reads a password: `passwd --stdin ada <<< PASSWORD`.
pub(super) fn here_string(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let line = line_start(bytes, word.start);
    let command = text.get(line..word.start)?;
    let command = command.rsplit([';', '|', '&']).next()?;
    const READERS: &str =
        "passwd -stdin cryptsetup kinit phrase-fd stdin: smbpasswd ssh-add veracrypt";
    let reads = |reader: &str| command.contains(reader);
    if !READERS.split(' ').any(reads) && !["su ", "sudo -S", "sudo -kS"].into_iter().any(reads) {
        return None;
    }
    let mut value = word_at(text, after_spaces(bytes, word.end));
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
    let mut start = after_spaces(bytes, word.end);
    for option in ["-String ", "-AsPlainText ", "-Force "] {
        if text.get(start..).is_some_and(|rest| rest.starts_with(option)) {
            start += option.len();
        }
    }
    password(text, word.start, word_at(text, start))
}

/// `vault kv put PATH name=SECRET …`, `vault login SECRET`.
pub(super) fn vault_command(text: &str, word: Range<usize>, each: &mut dyn FnMut(Match)) {
    let bytes = text.as_bytes();
    let rest = text.get(word.end..line_end(bytes, word.end)).unwrap_or_default();
    let verbs = [" kv put ", " kv patch ", " write ", " login "];
    let Some(verb) = verbs.into_iter().find(|verb| rest.starts_with(verb)) else { return };
    let mut position = word.end + verb.len();
    while position < word.end + rest.len() {
        let name = forward_while(bytes, position, 200, alphanumeric_or(b"_-.@\\/"));
        let is_field = at(bytes, name) == b'=' && name > position;
        let value = word_at(text, if is_field { name + 1 } else { position });
        let inner = text.get(value.clone()).unwrap_or_default();
        let is_login = verb == " login " && inner.len() >= 16 && !is_wordy(inner);
        let is_secret_value = is_field
            && inner.len() >= 6
            && !inner.starts_with(['@', '/'])
            && has_digit(inner)
            && !is_placeholder(inner)
            && !inner.contains("://");
        if is_login || is_secret_value {
            each(Match::new(word.start..value.end, value.clone(), "password"));
        }
        position = after_spaces(bytes, value.end.max(position + 1));
    }
}

/// The private numbers of a JSON web key: `{"kty": "RSA", …, "d": "…"}`.
pub(super) fn jwk(text: &str, word: Range<usize>, each: &mut dyn FnMut(Match)) -> Option<Match> {
    const MAX_OBJECT: usize = 8 << 10;
    let bytes = text.as_bytes();
    let start = back_while(bytes, word.start, MAX_OBJECT, |byte| byte != b'{');
    let end = forward_while(bytes, word.end, MAX_OBJECT, |byte| byte != b'}');
    let object = text.get(start..end).unwrap_or_default();
    for name in ["d", "k", "p", "q", "dp", "dq", "qi"] {
        for quote in ["\"", "\\\""] {
            let key = format!("{quote}{name}{quote}");
            let Some(offset) = object.find(&key) else { continue };
            let colon = after_spaces(bytes, start + offset + key.len());
            let Some(value) = quoted(text, after_spaces(bytes, colon + 1)) else { continue };
            if at(bytes, colon) == b':' && value.len() >= 16 {
                each(Match::new(start + offset..value.end, value, "private_key"));
            }
        }
    }
    None
}
