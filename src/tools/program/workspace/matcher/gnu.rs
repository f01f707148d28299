//! Parses `file:line:column: severity: message`, the format of many compilers and linters.

use super::Problem;

const SEVERITIES: [&str; 10] = [
    "fatal error",
    "error",
    "warning",
    "note",
    "info",
    "information",
    "hint",
    "help",
    "remark",
    "style",
];

/// The problem that one line reports; `None` if the line has another form.
pub(super) fn parse(line: &str) -> Option<Problem> {
    let line = line.trim_end();
    let (file, rest) = split_file(line)?;
    let (number, rest) = digits(rest)?;
    let (column, rest) = match rest.strip_prefix(':').and_then(digits) {
        Some((column, rest)) => (Some(column), rest),
        None => (None, rest),
    };
    // Some tools print a range: `3:5-9:`. Its end is ignored.
    let rest = match rest.strip_prefix('-') {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ':'),
        None => rest.strip_prefix(':')?,
    };
    let (severity, message) = severity(rest.trim_start());
    let (message, code) = code(message);
    let message = match (severity, message) {
        // An error without a text is still an error.
        (Some(_), "") => line,
        (None, "") => return None,
        (_, message) => message,
    };
    let severity = match (severity, code.as_deref()) {
        // The `unix` format of eslint has severity and rule in brackets: `[Error/no-undef]`.
        (None, Some(code)) if code.starts_with("Error/") => Some("error"),
        (None, Some(code)) if code.starts_with("Warning/") => Some("warning"),
        (severity, _) => severity,
    };
    let code = code.map(|code| match code.split_once('/') {
        Some(("Error" | "Warning", rule)) => rule.to_owned(),
        _ => code,
    });
    Some(Problem {
        file: Some(file.to_owned()),
        line: Some(number),
        column,
        end: None,
        severity: severity.map(str::to_owned),
        code,
        message: message.to_owned(),
    })
}

/// Splits a line at the first colon that is followed by a digit. `None` if the text before it cannot be a path.
fn split_file(line: &str) -> Option<(&str, &str)> {
    let colon = line.bytes().enumerate().find(|(index, byte)| {
        *byte == b':' && line.as_bytes().get(index + 1).is_some_and(u8::is_ascii_digit)
    });
    let (colon, _) = colon?;
    let (file, rest) = (line.get(..colon)?, line.get(colon + 1..)?);
    let is_path = !file.is_empty()
        && !file.starts_with(char::is_whitespace)
        && !file.ends_with(char::is_whitespace)
        // These are a time of day, a URL, a sentence, and the include stack of gcc.
        && !file.bytes().all(|byte| byte.is_ascii_digit())
        && !file.contains("://")
        && !file.contains(": ")
        && !file.starts_with("In file included from ");
    is_path.then_some((file, rest))
}

/// Splits off the number at the beginning of a text.
fn digits(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((text.get(..end)?.parse().ok()?, text.get(end..)?))
}

/// Splits off the severity at the beginning of a text, if there is one.
fn severity(text: &str) -> (Option<&str>, &str) {
    for word in SEVERITIES {
        let head = text.get(..word.len());
        if let Some(head) = head.filter(|head| head.eq_ignore_ascii_case(word))
            && let Some(rest) =
                text.get(word.len()..).and_then(|rest| rest.trim_start().strip_prefix(':'))
        {
            return (Some(head), rest.trim_start());
        }
    }
    (None, text)
}

/// Splits off the code in brackets at the end of a message, as in `[-Wunused]`.
fn code(text: &str) -> (&str, Option<String>) {
    let inside = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
    match inside {
        Some((message, code))
            if message.ends_with(' ')
                && !code.is_empty()
                && !code.contains(char::is_whitespace) =>
        {
            (message.trim_end(), Some(code.to_owned()))
        }
        _ => (text, None),
    }
}
