//! Secrets in web addresses and HTTP headers.

use std::ops::Range;

use super::scan::{LONGEST, Match, at, back_while, forward_while, wrapped};
use super::values::{is_label, is_placeholder, is_wordy};

pub(super) fn found(span: Range<usize>, secret: Range<usize>, kind: &'static str) -> Option<Match> {
    (!secret.is_empty()).then_some(Match { span, secret: Some(secret), kind, plain: None })
}

/// `scheme://user:PASSWORD@host`, and a key instead of the user.
pub(super) fn address(text: &str, mark: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let scheme = back_while(bytes, mark.start, 24, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-')
    });
    if scheme == mark.start {
        return None;
    }
    let stops = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'?' | b'|' | 0)
    };
    let mut end = forward_while(bytes, mark.end, 512, |byte| !stops(byte));
    // A password may contain characters that end a host name.
    let authority = text.get(mark.end..end)?;
    if !authority.contains('@')
        && matches!(at(bytes, end), b'/' | b'?' | b'|')
        && authority.contains(':')
    {
        let all = forward_while(bytes, end, 200, |byte| {
            !byte.is_ascii_whitespace()
                && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'@' | 0)
        });
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
    found(span, start..start + secret.len(), "password")
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
    let quotes = |byte: u8| {
        matches!(
            byte,
            b'"' | b'\'' | b'\\' | b'`' | b' ' | b'\t' | b',' | b']' | b'(' | b'f' | b'b'
        )
    };
    let (scheme, from) = if bearer {
        (&rest[..0], word.start + 6)
    } else {
        let end = word.start + 13;
        let after = forward_while(bytes, end, 6, |byte| {
            matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b' ' | b']')
        });
        let after = match at(bytes, after) {
            b':' | b'=' | b',' => forward_while(bytes, after + 1, 8, quotes),
            _ => return None,
        };
        let stop =
            forward_while(bytes, after, 24, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (text.get(after..stop)?, stop)
    };
    if !bearer && at(bytes, from) != b' ' {
        // A key without a scheme.
        let start = from - scheme.len();
        let end = forward_while(bytes, start, LONGEST, is_credential);
        let value = text.get(start..end)?;
        return (value.len() >= 16 && !is_wordy(value) && !is_placeholder(value))
            .then(|| found(word.start..end, start..end, "authorization"))
            .flatten();
    }
    let start = forward_while(bytes, from, 4, |byte| byte == b' ');
    if start == from {
        return None;
    }
    let known = [
        "basic",
        "bearer",
        "token",
        "digest",
        "negotiate",
        "ntlm",
        "apikey",
        "hawk",
        "oauth",
        "key",
        "gitlab",
        "splunk",
        "bot",
        "sharedkey",
        "sharedaccesssignature",
    ];
    let is_known = known.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    let parameters = scheme.eq_ignore_ascii_case("digest")
        || scheme.eq_ignore_ascii_case("hawk")
        || scheme.eq_ignore_ascii_case("oauth")
        || scheme.starts_with("AWS4-")
        || scheme.eq_ignore_ascii_case("sharedaccesssignature");
    if parameters {
        // With several fields, the rest of the header counts.
        let end =
            forward_while(bytes, start, LONGEST, |byte| !matches!(byte, b'\n' | b'\r' | b'\'' | 0));
        let value = text.get(start..end)?;
        let ends = value.trim_end_matches(['"', '\\', ' ']).len();
        return (value.contains('=') && value.len() > 16)
            .then(|| found(word.start..end, start..start + ends, "authorization"))
            .flatten();
    }
    let end = forward_while(bytes, start, LONGEST, is_credential);
    let value = text.get(start..end)?;
    let random = value.bytes().any(|byte| byte.is_ascii_digit()) && !is_wordy(value);
    let is_secret = !is_placeholder(value)
        && if bearer {
            value.len() >= 16 && random
        } else {
            (is_known && value.len() >= 8 && (random || !is_dotted(value)))
                || (!scheme.is_empty() && value.len() >= 20 && random)
        };
    is_secret
        .then(|| found(word.start..end, start..wrapped(bytes, start..end), "authorization"))
        .flatten()
}

fn is_credential(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b':')
}

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
    let after =
        forward_while(bytes, word.end, 4, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b' '));
    if at(bytes, after) != b':' && !text.get(after..)?.starts_with(", ") {
        return None;
    }
    // In joined argument lists, this byte stands for a blank inside an argument.
    let start =
        forward_while(bytes, after + 1, 6, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | 1));
    let value = forward_while(bytes, start, 80, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%')
    });
    if at(bytes, value) != b'=' || value == start {
        return None;
    }
    let end = forward_while(bytes, value + 1, 4 << 10, |byte| {
        !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | 0) && (!set || byte != b';')
    });
    let text = text.get(value + 1..end)?;
    let hides = text.split(';').any(is_session);
    hides.then(|| found(word.start..end, value + 1..end, "cookie")).flatten()
}

/// Whether a cookie, or a part of one, identifies a session. Settings are short words and numbers.
pub(super) fn is_session(part: &str) -> bool {
    let (name, value) = part.split_once('=').unwrap_or(("", part));
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
    if matches!(name.as_str(), "expires" | "max-age" | "path" | "domain" | "samesite") {
        return false;
    }
    value.len() >= 8
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && !is_placeholder(value)
        && !is_wordy(value)
}

/// `?sig=X`, `X-Amz-Signature=X`: a signed address grants access to whoever knows it.
pub(super) fn signature(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start =
        back_while(bytes, word.start, 24, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let before = at(bytes, start.wrapping_sub(1));
    let amz = text.get(start..word.start)?.to_ascii_lowercase();
    let asked = matches!(before, b'?' | b'&' | b';' | b'=')
        || text.get(..start)?.ends_with("%26")
        || text.get(..start)?.ends_with("%3F")
        || text.get(..start)?.ends_with("%3f")
        || amz.starts_with("x-");
    if !asked {
        return None;
    }
    let end = forward_while(bytes, word.end, LONGEST, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'%' | b'+' | b'/' | b'=' | b'-' | b'_' | b'.' | b'~')
    });
    let value = text.get(word.end..end)?;
    (value.len() >= 16 && !is_wordy(value) && !is_placeholder(value))
        .then(|| found(start..end, word.end..end, "signature"))
        .flatten()
}

/// `https://host/…/key/X`: a key in the path.
pub(super) fn in_path(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let is_part = at(bytes, word.start.wrapping_sub(1)) == b'/' && at(bytes, word.end) == b'/';
    if !is_part || !text.get(back_to_address(bytes, word.start)..word.start)?.contains("://") {
        return None;
    }
    let start = word.end + 1;
    let end = forward_while(bytes, start, LONGEST, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
    });
    let value = text.get(start..end)?;
    let any = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    // Mixed digits and letters of both cases also appear in fingerprints of public keys.
    let mixed =
        any(u8::is_ascii_digit) && any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase);
    (value.len() >= 20 && mixed && !is_wordy(value))
        .then(|| found(word.start..end, start..end, "api_key"))
        .flatten()
}

fn back_to_address(bytes: &[u8], from: usize) -> usize {
    back_while(bytes, from, 200, |byte| byte.is_ascii_graphic() && byte != b'"')
}

/// Webhook addresses: whoever knows one may post.
pub(super) fn webhook(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let from = word.end;
    let end = forward_while(bytes, from, 400, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'%' | b'@' | b':')
    });
    let start = back_while(bytes, word.start, 80, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b':' | b'_')
    });
    let address = text.get(start..end)?;
    if !address.contains("://") && !address.contains(".com/") && !address.contains(".io/") {
        return None;
    }
    // A path in a repository may be about webhooks.
    let parts = |name: &str| address.split('/').any(|part| part == name);
    if ["blob", "tree", "commit", "raw", "blame"].into_iter().any(parts) {
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
    (end - from >= 20).then(|| found(start..end, from..end, "webhook")).flatten()
}
