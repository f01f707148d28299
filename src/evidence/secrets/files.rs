//! Secrets in special file formats: key blocks, password hashes, Ansible vaults, PostgreSQL's password file and expect
//! scripts.

use std::ops::Range;

use super::names::Class;
use super::parts::is_secret;
use super::scan::{alphanumeric_or, any_of, at, back_while, forward_while, line_end, quoted};
use super::values::{ValueForm, is_placeholder, is_wordy};
use super::{Match, has_digit};

/// The maximum size of a key block, in bytes. A longer block is redacted up to this size.
const MAX_BLOCK: usize = 60 << 10;

/// A private key between marker lines. The end marker may be missing.
pub(super) fn block(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let head = text.get(word.start..line_end(bytes, word.start).min(word.start + 90))?;
    let head = head.get(..head.get(11..)?.find("-----")? + 16)?;
    let title = head.to_ascii_uppercase();
    const KEYS: &[&str] =
        &["PRIVATE KEY", "SECRET KEY", "ENCRYPTED PRIVATE", "OPENVPN STATIC KEY", "PRIVATE-KEY"];
    if !KEYS.iter().any(|key| title.contains(key)) {
        return None;
    }
    let from = word.start + head.len();
    let body =
        forward_while(bytes, from, MAX_BLOCK, alphanumeric_or(b" \t\n\x0c\r+/=\\:,._()-|\"#*'"));
    let content = text.get(from..body)?;
    // Another block begins where this one has no end marker.
    let content = content.split("-----BEGIN ").next()?;
    let end_line = content.find("-----END ");
    let length = match end_line {
        Some(start) => {
            let after = content.get(start..)?;
            let tail = after.get(9..)?.find("-----").map_or(after.len().min(40), |tail| tail + 14);
            start + tail
        }
        // Without an end marker, the block ends after its lines of base64.
        None => base64_lines(content),
    };
    let size = content.get(..length)?.bytes().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let all = word.start..from + length;
    (size >= 40).then(|| Match::new(all.clone(), all, "private_key"))
}

/// The length of the leading lines of base64, with or without escapes, and of headers before them.
fn base64_lines(text: &str) -> usize {
    let mut done = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim().trim_start_matches(['|', '+', '-', ' ']);
        let is_header = bare.contains(": ") && bare.len() < 100;
        let is_base64 = alphanumeric_or(b"+/=\\");
        let inside = bare.bytes().take_while(|byte| is_base64(*byte)).count();
        if inside < bare.len() && !is_header {
            return if inside >= 40 { done + line.find(bare).unwrap_or(0) + inside } else { done };
        }
        done += line.len();
    }
    done
}

/// The private lines of a PuTTY key: `Private-Lines: 14` and 14 lines.
pub(super) fn private_lines(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let rest = text.get(word.end..)?;
    let count = rest.get(..rest.find(['\n', '\\'])?)?.trim().trim_end_matches('\r');
    let count: usize = count.parse().ok().filter(|count| *count < 1_000)?;
    let start = word.end + rest.find(['\n', '\\'])? + 1;
    let mut end = start;
    for _ in 0..count {
        end = line_end(bytes, end);
        if at(bytes, end) == b'\n' {
            end += 1;
        }
    }
    let last = text.get(..end)?.trim_end().len();
    (last > start).then(|| Match::new(word.start..end, start..last, "private_key"))
}

/// `$6$salt$hash` and similar password hashes, which can be cracked.
pub(super) fn hash(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let end = forward_while(bytes, word.start, 400, alphanumeric_or(b"$./=,+-_"));
    let value = text.get(word.start..end)?.trim_end_matches(['.', ',']);
    let last = value.rsplit('$').next()?;
    let fields = value.bytes().filter(|byte| *byte == b'$').count();
    let random = last.len() >= 22 && has_digit(last) && !is_wordy(last);
    let all = word.start..word.start + value.len();
    (fields >= 3 && random).then(|| Match::new(all.clone(), all, "password_hash"))
}

/// The hex lines of an Ansible vault.
pub(super) fn vault(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = word.start.checked_sub("$ANSIBLE_".len())?;
    if !text.get(start..)?.starts_with("$ANSIBLE_VAULT") {
        return None;
    }
    let head = forward_while(bytes, word.start, 80, |byte| !matches!(byte, b'\n' | b'\\'));
    let end = forward_while(bytes, head, MAX_BLOCK, |byte| {
        byte.is_ascii_hexdigit() || byte.is_ascii_whitespace() || byte == b'\\' || byte == b'n'
    });
    let body = text.get(head..end)?.trim_end().len();
    (body > 40).then(|| Match::new(start..head + body, head..head + body, "vault"))
}

/// `host:5432:database:user:PASSWORD`, a line of PostgreSQL's password file.
pub(super) fn pgpass(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    // The line must be complete, or in quotes.
    let start = back_while(bytes, word.start, 300, |byte| !matches!(byte, b'\n' | b'"' | b'\''));
    let end = forward_while(bytes, word.start, 300, |byte| !matches!(byte, b'\n' | b'"' | b'\''));
    let line = text.get(start..end)?.trim_end();
    let fields: Vec<&str> = line.splitn(5, ':').collect();
    let [host, port, database, user, password] = *fields else { return None };
    let plain = |field: &str| !field.is_empty() && field.bytes().all(alphanumeric_or(b".-_*/"));
    let is_port =
        port == "*" || (port.len() >= 4 && port.bytes().all(|byte| byte.is_ascii_digit()));
    if !(plain(host) && is_port && plain(database) && plain(user))
        || password.contains([' ', ':']) && !password.contains("\\:")
    {
        return None;
    }
    let password_end = start + line.len();
    (password.len() >= 4 && !is_placeholder(password)).then(|| {
        Match::new(start..password_end, password_end - password.len()..password_end, "password")
    })
}

/// `send "PASSWORD\r"` in an expect script.
pub(super) fn expect_send(text: &str, word: Range<usize>) -> Option<Match> {
    let from = forward_while(text.as_bytes(), word.end, 8, any_of(b" -s"));
    let value = quoted(text, from)?;
    let body = text.get(value.clone())?;
    let plain = body.trim_end_matches("\\r").trim_end_matches("\\n").trim_end_matches('\\');
    if plain.len() == body.len() || plain.contains(' ') {
        return None;
    }
    let secret = value.start..value.start + plain.len();
    let before = text
        .get(text.floor_char_boundary(word.start.saturating_sub(160))..word.start)?
        .to_ascii_lowercase();
    let is_prompted = before.contains("assword") || before.contains("assphrase");
    let form = if is_prompted { ValueForm::Quoted } else { ValueForm::Beside };
    is_secret(Class::Password, plain, form)
        .then(|| Match::new(word.start..value.end, secret, "password"))
}
