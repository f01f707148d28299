//! Code inside the texts and patterns of inline code.

use super::language::Language;

/// Whether a text may contain code. `double`: the text is in double quotes.
pub(super) fn in_text(text: &str, double: bool, language: Language) -> bool {
    match language {
        Language::Ruby => double && text.contains('#'),
        Language::Julia => text.contains('$'),
        Language::Php => double && (text.contains("${") || text.contains("{$")),
        Language::Perl => {
            let named = double && (text.contains('@') || text.contains("ENV"));
            named || double && interpolates(text, false) || has_code_group(text)
        }
        Language::Python | Language::JavaScript | Language::Lua | Language::R => false,
    }
}

/// Whether the text between two slashes may contain code, or may not be a whole pattern.
pub(super) fn in_pattern(text: &str, language: Language) -> bool {
    if text.contains(['\'', '"', '\n', '#']) || text.ends_with('\\') {
        return true;
    }
    match language {
        Language::Perl => interpolates(text, true) || has_code_group(text),
        // An empty pattern is a comment, and a slash inside a class does not end the pattern.
        Language::JavaScript => text.is_empty() || in_class(text),
        _ => false,
    }
}

/// Whether a Perl pattern contains a group of code.
pub(super) fn has_code_group(text: &str) -> bool {
    ["(?{", "(??{", "(*{", "(?p{"].iter().any(|it| text.contains(it))
}

/// Whether a pattern ends inside a class.
fn in_class(text: &str) -> bool {
    let (mut escaped, mut inside) = (false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
    }
    inside
}

/// Whether Perl runs code in a text in double quotes or in a pattern: an array, a block, or a subscript that is not
/// plain.
pub(super) fn interpolates(text: &str, pattern: bool) -> bool {
    let mut rest = text;
    while let Some(index) = rest.find(['\\', '$', '@']) {
        let from = rest.get(index..).unwrap_or_default();
        let mut after = from.get(1..).unwrap_or_default();
        if from.starts_with('\\') {
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        if from.starts_with('@') {
            return true;
        }
        rest = after;
        let first = match after.bytes().next() {
            None => return false,
            // Here the dollar sign matches the end of a line.
            Some(b')' | b'|' | b' ' | b'\n') if pattern => continue,
            Some(first) => first,
        };
        if matches!(first, b'{' | b'#' | b'[' | b'$' | b'@' | b'^') || first.is_ascii_whitespace() {
            return true;
        }
        let named = first.is_ascii_alphanumeric() || matches!(first, b'_' | b':' | b'\'');
        let belongs = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b':' | b'\'');
        let length = after.bytes().take_while(|it| belongs(*it)).count();
        after = after.get(if named { length } else { 1 }..).unwrap_or_default();
        match subscripts(after) {
            Some(end) => rest = end,
            None => return true,
        }
    }
    false
}

/// The rest of a text after the subscripts at its start; `None` if one of them is not plain.
fn subscripts(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        // A postfix dereference.
        if ["->%", "->@", "->$"].iter().any(|it| rest.starts_with(it)) {
            return None;
        }
        let open = rest.strip_prefix("->").unwrap_or(rest);
        let (close, array) = match open.bytes().next() {
            Some(b'[') => (']', true),
            Some(b'{') => ('}', false),
            _ => return Some(rest),
        };
        let (inside, after) = open.get(1..)?.split_once(close)?;
        let plain = inside.strip_prefix(['$', '-']).unwrap_or(inside);
        let word = plain.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let number = plain.bytes().all(|it| it.is_ascii_digit());
        // A bare word in square brackets is a call.
        if !word || array && !number && !inside.starts_with('$') {
            return None;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_perl_patterns_is_found() {
        for text in [
            "(?{a})",
            "x(?{a})",
            "(??{a})",
            "(*{a})",
            "@a",
            "${a}",
            "$a[b]",
            "$a[0][b]",
            "$a->[b]",
            "$-[b]",
            "$$a",
            "\\\\@{a}",
            "$a[$b[0]+c]",
            "$a{b}{c+d}",
        ] {
            assert!(in_pattern(text, Language::Perl), "{text}");
        }
        for text in ["^a+$", "(a$|b$)", "\\@a", "a\\$", "$a", "$a[0]", "$a{b}", "a{2}[bc]", "(?:a)"]
        {
            assert!(!in_pattern(text, Language::Perl), "{text}");
        }
    }

    #[test]
    fn code_in_texts_is_found() {
        for (text, language) in [
            ("#{a}", Language::Ruby),
            ("$(a)", Language::Julia),
            ("{$a}", Language::Php),
            ("${a}", Language::Php),
            ("@{[a]}", Language::Perl),
            ("${a}", Language::Perl),
            ("$ {a}", Language::Perl),
            ("$#{a}", Language::Perl),
            ("$a'b[c]", Language::Perl),
            ("$a[c]", Language::Perl),
            ("(?{a})", Language::Perl),
        ] {
            assert!(in_text(text, true, language), "{text}");
        }
        for (text, language) in [
            ("$a: $b->[0]{c}\\n", Language::Perl),
            ("\\$a[b]", Language::Perl),
            ("5 $", Language::Perl),
            ("${a}", Language::JavaScript),
        ] {
            assert!(!in_text(text, true, language), "{text}");
        }
        assert!(!in_text("$a[b] @c", false, Language::Perl));
        assert!(!in_text("#{a}", false, Language::Ruby));
    }

    #[test]
    fn code_in_ruby_patterns_is_found() {
        assert!(in_pattern("#{a}", Language::Ruby));
        assert!(!in_pattern("a+", Language::Ruby));
    }

    #[test]
    fn a_slash_in_a_javascript_class_ends_nothing() {
        for text in ["", "[", "a[b\\]", "[a][b"] {
            assert!(in_pattern(text, Language::JavaScript), "{text}");
        }
        for text in ["a", "[a]", "\\[a"] {
            assert!(!in_pattern(text, Language::JavaScript), "{text}");
        }
    }
}
