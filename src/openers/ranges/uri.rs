//! Paths in URIs.

/// The path of a `file` URI, or of a relative one.
///
/// # Errors
/// It names no file of this computer.
pub(super) fn path(uri: &str) -> Result<String, String> {
    let not_a_file = || format!("{uri:?} is no file of this computer");
    let rest = match uri.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => {
            if !scheme.eq_ignore_ascii_case("file") {
                return Err(not_a_file());
            }
            let rest = rest
                .strip_prefix("//localhost")
                .or_else(|| rest.strip_prefix("//"))
                .unwrap_or(rest);
            // What stands before the path would be another computer.
            rest.starts_with('/').then_some(rest).ok_or_else(not_a_file)?
        }
        _ => uri,
    };
    if rest.contains(['?', '#']) {
        return Err(not_a_file());
    }
    decoded(rest).ok_or_else(not_a_file)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it))
}

/// The text with `%41` as `A`; `None` if the result is no text.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, behind @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = behind;
            continue;
        }
        let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
        // `from_str_radix` takes a sign.
        let is_hex = digits.bytes().all(|it| it.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
        rest = behind.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_computer_have_a_path() {
        for (uri, expected) in [
            ("file:///a/b%20c", Some("/a/b c")),
            ("file:/a", Some("/a")),
            ("file://localhost/a", Some("/a")),
            ("src/%C3%A4.rs", Some("src/ä.rs")),
            ("a:b/c", None),
            ("file://host/a", None),
            ("https://x/a", None),
            ("a%2", None),
            ("a%+1", None),
            ("a%FF", None),
            ("a#b", None),
        ] {
            assert_eq!(path(uri).ok().as_deref(), expected, "{uri}");
        }
    }
}
