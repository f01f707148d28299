//! Secrets in web addresses and HTTP headers.

use std::ops::Range;

use super::names::is_in;
use super::scan::{
    LONGEST, Match, alphanumeric_or, any_of, at, back_while, forward_while, unspaced_except,
    wrapped,
};
use super::values::{has_digit, is_label, is_mixed, is_placeholder, is_wordy};

/// `scheme://user:PASSWORD@host`, and a key instead of the user.
pub(super) fn address(text: &str, mark: Range<usize>) -> Option<Match> {
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
        // A long random key without a user.
        None if info.len() >= 16 && !is_wordy(info) => (mark.end, info),
        None => return None,
    };
    let is_code = secret.starts_with(['$', '{', '<', '%']) && !secret.starts_with("%2")
        || is_placeholder(secret)
        || is_label(secret)
        // A colon and a short word, as in examples.
        || (secret.len() < 4 && secret.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if is_code || secret.len() < 3 {
        return None;
    }
    Some(Match::new(span, start..start + secret.len(), "password"))
}

/// `Authorization: SCHEME X`, `Bearer X`.
pub(super) fn authorization(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let rest = text.get(word.start..)?;
    let bearer = rest.get(..6).is_some_and(|it| it.eq_ignore_ascii_case("bearer"));
    let name = rest.get(..13).is_some_and(|it| it.eq_ignore_ascii_case("authorization"));
    if !bearer && !name {
        return None;
    }
    let (scheme, from) = if bearer {
        (&rest[..0], word.start + 6)
    } else {
        let end = word.start + 13;
        let after = forward_while(bytes, end, 6, any_of(b"\"'\\` ]"));
        if !matches!(at(bytes, after), b':' | b'=' | b',') {
            return None;
        }
        let after = forward_while(bytes, after + 1, 8, any_of(b"\"'\\` \t,](fb"));
        let stop = forward_while(bytes, after, 24, alphanumeric_or(b"-"));
        (text.get(after..stop)?, stop)
    };
    if !bearer && at(bytes, from) != b' ' {
        // A key without a scheme.
        let start = from - scheme.len();
        let end = forward_while(bytes, start, LONGEST, alphanumeric_or(CREDENTIAL));
        let value = text.get(start..end)?;
        return (value.len() >= 16 && !is_wordy(value) && !is_placeholder(value))
            .then(|| Match::new(word.start..end, start..end, "authorization"));
    }
    let start = forward_while(bytes, from, 4, |byte| byte == b' ');
    if start == from {
        return None;
    }
    const WITH_FIELDS: &[&str] = &["digest", "hawk", "oauth", "sharedaccesssignature"];
    const OTHERS: &str = "basic bearer token negotiate ntlm apikey key gitlab splunk bot sharedkey";
    let has_fields = is_in(WITH_FIELDS, scheme) || scheme.starts_with("AWS4-");
    let is_known = OTHERS.split(' ').any(|known| known.eq_ignore_ascii_case(scheme));
    if has_fields {
        // With several fields, the rest of the header counts.
        let end =
            forward_while(bytes, start, LONGEST, |byte| !matches!(byte, b'\n' | b'\r' | b'\'' | 0));
        let value = text.get(start..end)?;
        let ends = value.trim_end_matches(['"', '\\', ' ']).len();
        return (value.contains('=') && value.len() > 16)
            .then(|| Match::new(word.start..end, start..start + ends, "authorization"));
    }
    let end = forward_while(bytes, start, LONGEST, alphanumeric_or(CREDENTIAL));
    let value = text.get(start..end)?;
    let random = has_digit(value) && !is_wordy(value);
    let is_secret = !is_placeholder(value)
        && if bearer {
            value.len() >= 16 && random
        } else {
            (is_known && value.len() >= 8 && (random || !is_dotted(value)))
                || (!scheme.is_empty() && value.len() >= 20 && random)
        };
    is_secret
        .then(|| Match::new(word.start..end, start..wrapped(bytes, start..end), "authorization"))
}

/// Bytes of a credential besides letters and digits.
const CREDENTIAL: &[u8] = b"._~+/=-:";

fn is_dotted(value: &str) -> bool {
    value.contains('.') && is_wordy(value)
}

/// `Cookie: a=X; b=Y`, `Set-Cookie: a=X; Path=/`.
pub(super) fn cookie(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let set = text
        .get(..word.start)?
        .get(word.start.saturating_sub(4)..)
        .is_some_and(|it| it.eq_ignore_ascii_case("set-"));
    let after = forward_while(bytes, word.end, 4, any_of(b"\"'\\ "));
    if at(bytes, after) != b':' && !text.get(after..)?.starts_with(", ") {
        return None;
    }
    // In joined argument lists, this byte stands for a blank inside an argument.
    let start = forward_while(bytes, after + 1, 6, any_of(b"\"'\\ \x01"));
    let value = forward_while(bytes, start, 80, alphanumeric_or(b"_-.%"));
    if at(bytes, value) != b'=' || value == start {
        return None;
    }
    let end = forward_while(bytes, value + 1, 4 << 10, |byte| {
        !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | 0) && (!set || byte != b';')
    });
    let text = text.get(value + 1..end)?;
    let hides = text.split(';').any(is_session);
    hides.then(|| Match::new(word.start..end, value + 1..end, "cookie"))
}

/// Whether a cookie, or a part of one, identifies a session. Settings are short words and numbers.
pub(super) fn is_session(part: &str) -> bool {
    let (name, value) = part.split_once('=').unwrap_or(("", part));
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
    if matches!(name.as_str(), "expires" | "max-age" | "path" | "domain" | "samesite") {
        return false;
    }
    value.len() >= 8 && has_digit(value) && !is_placeholder(value) && !is_wordy(value)
}

/// `?sig=X`, `X-Amz-Signature=X`: a signed address grants access to whoever knows it.
pub(super) fn signature(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = back_while(bytes, word.start, 24, alphanumeric_or(b"-"));
    let before = text.get(..start)?;
    let amz = text.get(start..word.start)?.to_ascii_lowercase();
    let asked = before.ends_with(['?', '&', ';', '='])
        || ["%26", "%3F", "%3f"].iter().any(|code| before.ends_with(code))
        || amz.starts_with("x-");
    if !asked {
        return None;
    }
    let end = forward_while(bytes, word.end, LONGEST, alphanumeric_or(b"%+/=-_.~"));
    let value = text.get(word.end..end)?;
    (value.len() >= 16 && !is_wordy(value) && !is_placeholder(value))
        .then(|| Match::new(start..end, word.end..end, "signature"))
}

/// `https://host/…/key/X`: a key in the path.
pub(super) fn in_path(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let is_part = at(bytes, word.start.wrapping_sub(1)) == b'/' && at(bytes, word.end) == b'/';
    if !is_part || !text.get(back_to_address(bytes, word.start)..word.start)?.contains("://") {
        return None;
    }
    let start = word.end + 1;
    let end = forward_while(bytes, start, LONGEST, alphanumeric_or(b"-_"));
    let value = text.get(start..end)?;
    // Mixed digits and letters of both cases also appear in fingerprints of public keys.
    (value.len() >= 20 && is_mixed(value) && !is_wordy(value))
        .then(|| Match::new(word.start..end, start..end, "api_key"))
}

fn back_to_address(bytes: &[u8], from: usize) -> usize {
    back_while(bytes, from, 200, |byte| byte.is_ascii_graphic() && byte != b'"')
}

/// Webhook addresses: whoever knows one may post.
pub(super) fn webhook(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let from = word.end;
    let end = forward_while(bytes, from, 400, alphanumeric_or(b"/.-_%@:"));
    let start = back_while(bytes, word.start, 80, alphanumeric_or(b"/.-:_"));
    let address = text.get(start..end)?;
    if !address.contains("://") && !address.contains(".com/") && !address.contains(".io/") {
        return None;
    }
    if is_of_repository(address) {
        return None;
    }
    // The last part of the path, and random parts before it.
    let host = address.find("://").map_or(0, |at| at + 3);
    let path = host + address.get(host..)?.find('/')?;
    let mut secret = None;
    let mut place = path + 1;
    for part in address.get(path + 1..)?.split('/') {
        if secret.is_none() && part.len() >= 8 && !is_wordy(part) {
            secret = Some(place);
        }
        place += part.len() + 1;
    }
    let from = start + secret?;
    (end - from >= 20).then(|| Match::new(start..end, from..end, "webhook"))
}

/// Whether this is a path in a repository, which may be about webhooks.
pub(super) fn is_of_repository(address: &str) -> bool {
    address.split('/').any(|part| matches!(part, "blob" | "tree" | "commit" | "raw" | "blame"))
}
