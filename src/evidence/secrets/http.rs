//! Secrets in URLs and HTTP headers.

use std::ops::Range;

use super::names::is_in;
use super::scan::{
    MAX_VALUE, alphanumeric_or, any_of, at, back_while, forward_while, unspaced_except, wrapped,
};
use super::values::{is_label, is_mixed, is_placeholder, is_wordy};
use super::{Match, has_digit};

/// `scheme://user:PASSWORD@host`, or `scheme://KEY@host`.
pub(super) fn url(text: &str, mark: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let scheme = back_while(bytes, mark.start, 24, alphanumeric_or(b"+.-"));
    if scheme == mark.start {
        return None;
    }
    let mut end = forward_while(bytes, mark.end, 512, unspaced_except(b"/\"'<>`\\?|\0"));
    // A password may contain characters that end a host name.
    let authority = text.get(mark.end..end)?;
    if !authority.contains('@')
        && matches!(at(bytes, end), b'/' | b'?' | b'|')
        && authority.contains(':')
    {
        let all = forward_while(bytes, end, 200, unspaced_except(b"\"'<>`@\0"));
        let port = authority.rsplit(':').next().unwrap_or_default();
        if at(bytes, all) == b'@' && !port.bytes().all(|byte| byte.is_ascii_digit()) {
            end = all + 1;
        }
    }
    let authority = text.get(mark.end..end)?;
    let info = authority.rsplit_once('@')?.0;
    let span = scheme..mark.end + info.len() + 1;
    let (start, secret) = match info.split_once(':') {
        Some((user, password)) => (mark.end + user.len() + 1, password),
        // A key instead of the user: long and random.
        None if info.len() >= 16 && !is_wordy(info) => (mark.end, info),
        None => return None,
    };
    let is_no_secret = secret.starts_with(['$', '{', '<', '%']) && !secret.starts_with("%2")
        || is_placeholder(secret)
        || is_label(secret)
        // A short word, as in examples.
        || (secret.len() < 4 && secret.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if is_no_secret || secret.len() < 3 {
        return None;
    }
    Some(Match::new(span, start..start + secret.len(), "password"))
}

/// `Authorization: SCHEME X`, `Bearer X`.
pub(super) fn authorization(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let rest = text.get(word.start..)?;
    let is_bearer = rest.get(..6).is_some_and(|it| it.eq_ignore_ascii_case("bearer"));
    let is_header = rest.get(..13).is_some_and(|it| it.eq_ignore_ascii_case("authorization"));
    if !is_bearer && !is_header {
        return None;
    }
    let (scheme, from) = if is_bearer {
        (&rest[..0], word.start + 6)
    } else {
        let end = word.start + 13;
        let after = forward_while(bytes, end, 6, any_of(b"\"'\\` ]"));
        if !matches!(at(bytes, after), b':' | b'=' | b',') {
            return None;
        }
        // White space, quotes and brackets before the value, also the prefix of a string of Python.
        let after = forward_while(bytes, after + 1, 8, any_of(b"\"'\\` \t,](fb"));
        let stop = forward_while(bytes, after, 24, alphanumeric_or(b"-"));
        (text.get(after..stop)?, stop)
    };
    if !is_bearer && at(bytes, from) != b' ' {
        // A key without a scheme.
        let start = from - scheme.len();
        let end = forward_while(bytes, start, MAX_VALUE, alphanumeric_or(CREDENTIAL_BYTES));
        let value = text.get(start..end)?;
        return (value.len() >= 16 && !is_wordy(value) && !is_placeholder(value))
            .then(|| Match::new(word.start..end, start..end, "authorization"));
    }
    let start = forward_while(bytes, from, 4, |byte| byte == b' ');
    if start == from {
        return None;
    }
    const WITH_FIELDS: &[&str] = &["digest", "hawk", "oauth", "sharedaccesssignature"];
    const KNOWN: &str = "basic bearer token negotiate ntlm apikey key gitlab splunk bot sharedkey";
    let has_fields = is_in(WITH_FIELDS, scheme) || scheme.starts_with("AWS4-");
    let is_known = KNOWN.split(' ').any(|known| known.eq_ignore_ascii_case(scheme));
    if has_fields {
        // If the value has several fields, the rest of the header is redacted.
        let end = forward_while(bytes, start, MAX_VALUE, |byte| {
            !matches!(byte, b'\n' | b'\r' | b'\'' | 0)
        });
        let value = text.get(start..end)?;
        let length = value.trim_end_matches(['"', '\\', ' ']).len();
        return (value.contains('=') && value.len() > 16)
            .then(|| Match::new(word.start..end, start..start + length, "authorization"));
    }
    let end = forward_while(bytes, start, MAX_VALUE, alphanumeric_or(CREDENTIAL_BYTES));
    let value = text.get(start..end)?;
    let is_random = has_digit(value) && !is_wordy(value);
    let is_secret = !is_placeholder(value)
        && if is_bearer {
            value.len() >= 16 && is_random
        } else {
            (is_known && value.len() >= 8 && (is_random || !is_dotted(value)))
                || (!scheme.is_empty() && value.len() >= 20 && is_random)
        };
    is_secret
        .then(|| Match::new(word.start..end, start..wrapped(bytes, start..end), "authorization"))
}

/// The bytes of a credential other than letters and digits.
const CREDENTIAL_BYTES: &[u8] = b"._~+/=-:";

/// Whether a value is words joined by dots, as in source code.
fn is_dotted(value: &str) -> bool {
    value.contains('.') && is_wordy(value)
}

/// `Cookie: a=X; b=Y`, `Set-Cookie: a=X; Path=/`.
pub(super) fn cookie(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let is_set_cookie = text
        .get(..word.start)?
        .get(word.start.saturating_sub(4)..)
        .is_some_and(|it| it.eq_ignore_ascii_case("set-"));
    let after = forward_while(bytes, word.end, 4, any_of(b"\"'\\ "));
    if at(bytes, after) != b':' && !text.get(after..)?.starts_with(", ") {
        return None;
    }
    // U+0001 is a space inside an argument (`commands::in_arguments`).
    let start = forward_while(bytes, after + 1, 6, any_of(b"\"'\\ \x01"));
    let name_end = forward_while(bytes, start, 80, alphanumeric_or(b"_-.%"));
    if at(bytes, name_end) != b'=' || name_end == start {
        return None;
    }
    let end = forward_while(bytes, name_end + 1, 4 << 10, |byte| {
        !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | 0)
            && (!is_set_cookie || byte != b';')
    });
    let is_secret = text.get(name_end + 1..end)?.split(';').any(is_session);
    is_secret.then(|| Match::new(word.start..end, name_end + 1..end, "cookie"))
}

/// Whether one `name=value` part of a cookie header looks like a session id. Cookies with short or readable values are
/// preferences.
pub(super) fn is_session(part: &str) -> bool {
    let (name, value) = part.split_once('=').unwrap_or(("", part));
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
    if matches!(name.as_str(), "expires" | "max-age" | "path" | "domain" | "samesite") {
        return false;
    }
    value.len() >= 8 && has_digit(value) && !is_placeholder(value) && !is_wordy(value)
}

/// `?sig=X`, `X-Amz-Signature=X`: anyone who knows a signed URL has access.
pub(super) fn signature(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = back_while(bytes, word.start, 24, alphanumeric_or(b"-"));
    let before = text.get(..start)?;
    let name = text.get(start..word.start)?.to_ascii_lowercase();
    let is_parameter = before.ends_with(['?', '&', ';', '='])
        || ["%26", "%3F", "%3f"].iter().any(|code| before.ends_with(code))
        || name.starts_with("x-");
    if !is_parameter {
        return None;
    }
    let end = forward_while(bytes, word.end, MAX_VALUE, alphanumeric_or(b"%+/=-_.~"));
    let value = text.get(word.end..end)?;
    (value.len() >= 16 && !is_wordy(value) && !is_placeholder(value))
        .then(|| Match::new(start..end, word.end..end, "signature"))
}

/// `https://host/…/key/X`: a key in the path.
pub(super) fn in_path(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let is_part = at(bytes, word.start.wrapping_sub(1)) == b'/' && at(bytes, word.end) == b'/';
    if !is_part || !text.get(url_start(bytes, word.start)..word.start)?.contains("://") {
        return None;
    }
    let start = word.end + 1;
    let end = forward_while(bytes, start, MAX_VALUE, alphanumeric_or(b"-_"));
    let value = text.get(start..end)?;
    // Both cases are required, because the hexadecimal fingerprint of a public key has only one.
    (value.len() >= 20 && is_mixed(value) && !is_wordy(value))
        .then(|| Match::new(word.start..end, start..end, "api_key"))
}

/// The start of the URL around this position.
fn url_start(bytes: &[u8], from: usize) -> usize {
    back_while(bytes, from, 200, |byte| byte.is_ascii_graphic() && byte != b'"')
}

/// The secret part of a webhook's URL: anyone who knows the URL can post to it.
pub(super) fn webhook(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let from = word.end;
    let end = forward_while(bytes, from, 400, alphanumeric_or(b"/.-_%@:"));
    let start = back_while(bytes, word.start, 80, alphanumeric_or(b"/.-:_"));
    let url = text.get(start..end)?;
    if !url.contains("://") && !url.contains(".com/") && !url.contains(".io/") {
        return None;
    }
    if is_code_host_url(url) {
        return None;
    }
    // From the first random part of the path to its end.
    let host = url.find("://").map_or(0, |scheme_end| scheme_end + 3);
    let path = host + url.get(host..)?.find('/')?;
    let mut secret = None;
    let mut part_start = path + 1;
    for part in url.get(path + 1..)?.split('/') {
        if secret.is_none() && part.len() >= 8 && !is_wordy(part) {
            secret = Some(part_start);
        }
        part_start += part.len() + 1;
    }
    let from = start + secret?;
    (end - from >= 20).then(|| Match::new(start..end, from..end, "webhook"))
}

/// Whether the URL points to a file or commit on a code host. Such a path may contain `webhook` as a plain word.
pub(super) fn is_code_host_url(url: &str) -> bool {
    url.split('/').any(|part| matches!(part, "blob" | "tree" | "commit" | "raw" | "blame"))
}
