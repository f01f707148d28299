//! Distinguishes secret values from code, labels and placeholders.

use super::names::{Class, words_of};
use super::scan::{MAX_VALUE, alphanumeric_or, any_of};

/// The position of a value relative to its name.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValueForm {
    /// In quotes, or between tags.
    Quoted,
    /// Beside its name without an assignment: in a list, a call, a sentence or a table.
    Beside,
    /// Without quotes.
    Bare {
        /// Whether there are no spaces around the `=`.
        tight: bool,
        /// Whether the value is the last word of its line.
        last: bool,
        /// The byte after the value; 0 if there is none.
        next: u8,
        /// Whether the value is assigned by a colon, as in YAML.
        colon: bool,
    },
}

/// The part of a long value that is examined, in bytes.
const EXAMINED: usize = 1 << 10;

/// Whether the complete value is a secret, for a class whose values are not structured.
pub(super) fn is_whole_secret(class: Class, value: &str, form: ValueForm) -> bool {
    if value.len() > MAX_VALUE {
        return false;
    }
    let value = value.get(..value.floor_char_boundary(EXAMINED)).unwrap_or(value);
    if value.len() < 4 || is_placeholder(value) || is_reference(value) {
        return false;
    }
    if class == Class::Key && is_public_key(value) {
        return false;
    }
    match form {
        ValueForm::Quoted => is_quoted_secret(class, value),
        ValueForm::Beside => {
            is_quoted_secret(class, value)
                && has_digit_or_symbol(value)
                && !is_wordy(value)
                && !is_label(value)
        }
        ValueForm::Bare { tight, last, next, colon } => {
            // A call, an index, a generic type, a block or a path with `::` is code.
            if matches!(next, b'(' | b'[' | b'<' | b'{') || value.contains("::") {
                return false;
            }
            let is_at_end = !matches!(next, b',' | b';' | b')' | b']' | b'}');
            is_bare_secret(class, value, [tight, last, is_at_end, colon])
        }
    }
}

/// The part of a value of several lines that is examined, in bytes.
pub(super) const EXAMINED_LINES: usize = 4 << 10;

/// Whether a line of a value of several lines is a secret. The line breaks may be escaped. Texts for people have lines of
/// words, so only the first line may consist of words: of one, or of words in small letters.
pub(super) fn has_secret_line(class: Class, value: &str) -> bool {
    let value = value.get(..value.floor_char_boundary(EXAMINED_LINES)).unwrap_or(value);
    let lines = value.split('\n').flat_map(|line| line.split("\\n"));
    let mut lines = lines.map(str::trim).filter(|line| !line.is_empty());
    let is_first_secret = lines.next().is_some_and(|first| {
        let form = ValueForm::Bare { tight: false, last: true, next: 0, colon: true };
        let is_sentence = first.ends_with(['.', ',', ':', ';', '!', '?']) && !has_digit(first);
        match first.split_whitespace().count() {
            1 => !is_sentence && is_whole_secret(class, first, form),
            _ => {
                class == Class::Password
                    && is_lower(first)
                    && is_whole_secret(class, first, ValueForm::Quoted)
            }
        }
    });
    let is_secret = |word: &str| word.len() >= 8 && is_whole_secret(class, word, ValueForm::Beside);
    is_first_secret
        || value.split(char::is_whitespace).flat_map(|word| word.split("\\n")).any(is_secret)
}

fn is_quoted_secret(class: Class, value: &str) -> bool {
    let spaces = value.contains(char::is_whitespace);
    match class {
        // A sentence about a password is not a password.
        Class::Password => {
            let words = value.split_whitespace().count();
            // Key phrases consist of 12 to 24 words.
            let is_key_phrase = matches!(words, 12 | 15 | 18 | 21 | 24) && is_lower(value);
            if words > 2 && value.ends_with('.') {
                return false;
            }
            !value.starts_with(' ') && !is_label(value) && (words <= 4 || is_key_phrase)
        }
        Class::Secret => {
            let separated = value.bytes().any(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/'));
            value.split_whitespace().count() <= 3
                && (!spaces || has_digit(value))
                && !value.starts_with(' ')
                && !is_label(value)
                && ((has_digit(value) && value.len() >= 6)
                    || (value.len() >= 8 && (!is_wordy(value) || (!separated && is_lower(value)))))
        }
        // Salts of web frameworks use all printable characters, including spaces.
        Class::Key if spaces => {
            let symbols = value.bytes().filter(|byte| byte.is_ascii_punctuation()).count();
            value.len() >= 48 && symbols >= 4 && has_digit(value) && !is_wordy(value)
        }
        Class::Key => {
            value.len() >= 8
                && !is_wordy(value)
                && (has_digit_or_symbol(value) || value.len() >= 20)
        }
        Class::Login | Class::Cookie | Class::Link => false,
    }
}

fn is_bare_secret(class: Class, value: &str, [tight, last, is_at_end, colon]: [bool; 4]) -> bool {
    let mixed = has_digit_or_symbol(value) && has_letter(value);
    let identifier = value.bytes().all(alphanumeric_or(b"_"));
    match class {
        Class::Key if is_label(value) => false,
        Class::Password | Class::Secret
            if is_label(value) || (is_code(value) && !(tight && has_digit(value))) =>
        {
            false
        }
        Class::Password => {
            if mixed {
                // An identifier with digits is code if there are spaces around the `=` and more words follow on the
                // line.
                return tight || colon || last || !identifier;
            }
            if has_digit(value) {
                return value.len() >= 6 && (tight || last);
            }
            let is_at_end = if tight { is_at_end } else { last };
            let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_lower(value);
            is_at_end
                && !is_label(value)
                && (tight || !identifier || (colon && is_word && value.len() >= 6))
        }
        Class::Secret => {
            (mixed && value.len() >= 6 && (tight || colon || last) && !is_label(value))
                || (value.len() >= 16 && !is_wordy(value))
                || (tight && is_at_end && value.len() >= 8 && is_lower(value) && !is_label(value))
        }
        Class::Key => {
            let random = !is_wordy(value) && !is_code(value);
            (random && mixed && value.len() >= 8 && (value.len() >= 16 || tight))
                || (random && value.len() >= 20 && has_letter(value))
        }
        Class::Login | Class::Cookie | Class::Link => false,
    }
}

pub(in crate::evidence) fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

pub(in crate::evidence) fn has_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a value contains digits, capital letters and small letters.
pub(super) fn is_mixed(value: &str) -> bool {
    let any = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    any(u8::is_ascii_digit) && any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase)
}

/// Whether a value contains a digit or a symbol that does not separate words.
fn has_digit_or_symbol(value: &str) -> bool {
    value.bytes().any(any_of(b"0123456789!@#$%^*+=?~"))
}

fn is_lower(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ')
}

/// Whether a value is source code: a field access (names joined by dots), `base?` or `__u32`.
fn is_code(value: &str) -> bool {
    let has_operator = value.strip_suffix('?').is_some_and(|name| {
        name.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.'))
    });
    has_operator
        || (value.starts_with("__") && value.len() < 12)
        || value.contains('.')
            && value.split('.').all(|part| {
                part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                    && part.bytes().all(alphanumeric_or(b"_"))
                    && is_wordy(part)
            })
}

/// Whether a value names a secret, as the label of an input field or an identifier does.
pub(super) fn is_label(value: &str) -> bool {
    const WORDS: &str =
        "password passwd passphrase pass secret secrets token credential credentials key pwd auth";
    let is_word = |word: &str| WORDS.split(' ').any(|known| known.eq_ignore_ascii_case(word));
    if has_digit(value) {
        // A function or type name: `x25519_private_key`.
        let is_name = value.bytes().all(alphanumeric_or(b"_."));
        return is_name && words_of(value).last().is_some_and(is_word);
    }
    words_of(value).any(is_word)
}

/// Whether a value consists of words and short numbers, joined as in names.
pub(super) fn is_wordy(value: &str) -> bool {
    let (mut pieces, mut short) = (0, 0);
    for part in value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let mut letters_before = false;
        for piece in words_of(part) {
            let digits = piece.bytes().all(|byte| byte.is_ascii_digit());
            if digits && (piece.len() > 4 || (letters_before && piece.len() > 3)) {
                return false;
            }
            letters_before = !digits;
            pieces += 1;
            short += usize::from(piece.len() < 3);
        }
    }
    // Random text splits into many parts, most of them short or without a vowel.
    let has_no_vowel = |piece: &&str| {
        piece.len() >= 3 && !piece.bytes().any(|byte| b"aeiouyAEIOUY".contains(&byte))
    };
    let is_alphanumeric = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_alphanumeric && value.len() >= 16 && pieces >= 4 {
        let without_vowel = words_of(value).filter(has_no_vowel).count();
        if (without_vowel + short) * 2 > pieces {
            return false;
        }
    }
    pieces == 0 || short * 5 <= pieces * 2 || (pieces <= 2 && value.len() < 12)
}

/// Whether a value is a placeholder: a variable, a template, a type, or a word of examples.
pub(super) fn is_placeholder(value: &str) -> bool {
    const WORDS: &str = "string str number boolean bool null none undefined true false option \
                        required optional example changeme redacted hidden integer object \
                        unknown bytes text varchar char todo nil empty default prompt input \
                        disabled enabled invalid missing never always sensitive varies self \
                        this void buffer function symbol dict list array basic bearer digest \
                        absent from with your must should guest anonymous";
    const PARTS: [&str; 14] = [
        "(?:", "[^", "%s", "\\s", "\\w", "\\d", "[a-z", "[A-Z", "[0-9", "${", "{{", "[secret:",
        "...", "…",
    ];
    let first = value.bytes().next().unwrap_or(0);
    let variable = first == b'$'
        && value.as_bytes().get(1).is_some_and(|it| it.is_ascii_alphabetic() || b"{(_$@".contains(it))
        // A password hash begins with `$` too.
        && value.bytes().filter(|byte| *byte == b'$').count() < 3;
    variable
        || matches!(first, b'<' | b'[')
        || (first == b'{' && !is_braced(value))
        || ["%{", "%(", "secret:"].iter().any(|start| value.starts_with(start))
        || (first == b'%' && value.ends_with('%'))
        || PARTS.iter().any(|part| value.contains(part))
        || value.bytes().all(|byte| b"*xX.-_0#?=/~:".contains(&byte))
        || value.split(['/', '|']).all(|part| {
            let part = part.trim_matches(|c: char| c.is_ascii_punctuation());
            WORDS.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(part))
        })
        || is_numeric(value)
        || starts_with_any(value, "your-|your_|my-secret|<your|example-|env:|vault:")
}

/// Whether braces are part of an encoded secret: `{SSHA}X`, or `{X}` in the files of a build server.
fn is_braced(value: &str) -> bool {
    let inner = value.trim_start_matches('{').trim_end_matches('}');
    let rest = inner.split_once('}').map_or(inner, |(_, rest)| rest);
    let is_base64 = rest.bytes().all(alphanumeric_or(b"+/=.$"));
    rest.len() >= 20 && is_base64 && has_digit(rest) && !is_wordy(rest)
}

/// Whether a value contains a public SSH key (`ssh-ed25519 AAAA…`), its fingerprint (`ED25519 SHA256:…`), or a digest that
/// names its algorithm (`sha256:` and 64 hexadecimal digits), as the `host_key` of a server or of several hosts does.
fn is_public_key(value: &str) -> bool {
    let is_base64 = |text: &str| text.bytes().all(alphanumeric_or(b"+/="));
    let has_kind = ["ssh-", "ecdsa-", "sk-"].iter().any(|start| value.starts_with(start));
    value.split_ascii_whitespace().any(|word| {
        let word = word.trim_end_matches([',', ';']);
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if word.strip_prefix("sha256:").is_some_and(|it| it.len() == 64 && is_hex(it)) {
            return true;
        }
        // A digest of 32 bytes without padding.
        word.strip_prefix("SHA256:").is_some_and(|it| it.len() == 43 && is_base64(it))
            // The base64 of every key starts with the length of its type name.
            || (has_kind && word.starts_with("AAAA") && is_base64(word))
    })
}

/// Whether a value is an object identifier or a short number of source code: `1.3.6.1.5`, `0xc0`.
fn is_numeric(value: &str) -> bool {
    let dotted = value.bytes().filter(|byte| *byte == b'.').count() >= 3
        && value.bytes().all(any_of(b"0123456789."));
    let hex = value.strip_prefix("0x").is_some_and(|digits| {
        digits.len() <= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    dotted || hex
}

/// Whether a value refers to something stored elsewhere: a path, a URL, a variable, or a reference in code.
fn is_reference(value: &str) -> bool {
    let path = value.starts_with('/')
        && value.bytes().skip(1).any(|byte| byte == b'/')
        && !value.ends_with('=')
        && value.split('/').skip(1).all(|part| is_wordy(part) || part.len() < 3);
    const STARTS: &str = "./|../|~/|file:|env.|os.environ|process.env|arn:aws:|projects/|!|&mut |\
                          &self|@param|http://|https://|op://";
    path || starts_with_any(value, STARTS) && !value.contains('@')
        || (value.starts_with(['&', '*']) && is_wordy(value))
}

fn starts_with_any(value: &str, starts: &str) -> bool {
    starts.split('|').any(|start| {
        value.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    })
}
