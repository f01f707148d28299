//! Where secrets stand in the texts of settings, whatever they look like.

/// The settings that are addresses.
const ADDRESSES: [&str; 2] = ["team", "model.url"];

/// Whether the text of this setting has something in a place for secrets: a user, a password or a query in an address, or a
/// password beside its name. Of a setting that is an address, only what is certainly none is shown.
pub fn may_be_secret(key: &str, text: &str) -> bool {
    if ADDRESSES.contains(&key) && !text.is_empty() && !is_plain_address(text) {
        return true;
    }
    let text = decoded(text).to_ascii_lowercase();
    has_login_or_query(&text) || names_a_password(&text)
}

/// Whether an address has a scheme, a host, a port and a path alone.
fn is_plain_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = match authority.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((host, port)) => (host.replace(':', ""), port.strip_prefix(':').unwrap_or(port)),
        None => {
            let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
            (host.to_owned(), port)
        }
    };
    let of = |text: &str, more: &str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    of(scheme, "+.-")
        && of(&host, ".-_")
        && port.chars().all(|c| c.is_ascii_digit())
        && of(path, "/.-_~")
}

/// Whether an address in the text has a user or a query. A password may contain a slash, so that a @ counts anywhere in it.
fn has_login_or_query(text: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "'\"<>".contains(c);
    text.match_indices("://").any(|(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        rest.split(is_end).next().unwrap_or_default().contains(['@', '?'])
    })
}

/// Whether a password follows its name, as in `host=h password=…`.
fn names_a_password(text: &str) -> bool {
    text.match_indices("passw").any(|(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        let rest = rest.trim_start_matches(|c: char| c.is_alphanumeric() || "_-".contains(c));
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "'\"".contains(c));
        rest.starts_with(['=', ':'])
    })
}

/// The text with the characters that `%` and two digits stand for.
fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let byte = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(u8::is_ascii) {
            Some(byte) => {
                decoded.push(char::from(byte));
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                decoded.push('%');
                rest = after;
            }
        }
    }
    decoded + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_place_for_secrets_may_be_one() {
        for (key, text) in [
            ("team", "postgres://me:pass@db/x"),
            ("team", "postgres://me@db/x"),
            ("team", "host=db password=hunter2"),
            ("team", "postgres://db/x?sslpassword=hunter2"),
            ("team", "postgres://db/x?pass%77ord=hunter2"),
            ("team", "me:hunter2@db/x"),
            ("team", "postgres://me:hunter2/x"),
            ("team", "postgres://me%3Ahunter2%40db/x"),
            ("model.url", "https://TOKEN@h"),
            ("model.url", "https://h/v1?key=abc"),
            ("model.url", "https://h/v1#abc"),
            ("model.url", "hunter2"),
            ("editor_command", "code https://u:pw@h/"),
            ("editor_command", "code https://h/x?t=1"),
            ("editor_command", "code --dsn 'host=h PassWord = x'"),
            ("", "pass%77ord=x"),
        ] {
            assert!(may_be_secret(key, text), "{key}: {text}");
        }
        for (key, text) in [
            ("team", ""),
            ("team", "postgres://db.example.org:5432/team"),
            ("model.url", "http://localhost:8080/v1"),
            ("model.url", "http://[::1]:8080/v1"),
            ("editor_command", "code -g {file}:{line}:{column}"),
            ("signatures.principal", "ada@example.org"),
            ("policy.command_rules", "Asks for a password."),
            ("policy.command_rules", "See https://wiki.example.org/x (100 %, 5 %z)"),
        ] {
            assert!(!may_be_secret(key, text), "{key}: {text}");
        }
    }
}
