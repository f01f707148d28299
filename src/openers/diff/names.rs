//! What the files of a diff are called, and what of them a plan can change.

/// Whether a plan can have a file of this mode changed so.
pub(super) fn check_mode(mode: &str, how: &str) -> Result<(), String> {
    let what = match mode {
        "100644" => return Ok(()),
        "100755" => "an executable file",
        "120000" => "a symbolic link",
        "160000" => "a submodule",
        _ => return Err(format!("{mode:?} is no mode of a file")),
    };
    Err(format!("by a plan, {what} cannot be {how}"))
}

/// The file name of a `--- ` or `+++ ` line, without the time that may follow it; `None` for `/dev/null`.
pub(super) fn name(text: &str) -> Option<String> {
    let text = text.split('\t').next().unwrap_or_default();
    (text != "/dev/null").then(|| unquoted(text))
}

/// A path as git writes it, with quotes where it has unusual characters.
pub(super) fn unquoted(text: &str) -> String {
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) => crate::plan::unquoted(text),
        None => text.to_owned(),
    }
}

/// A path for a diff, in quotes where it has characters that would end it.
pub(super) fn quoted(path: &str) -> String {
    if !path.contains(['"', '\\', '\t', '\n', '\r']) {
        return path.to_owned();
    }
    let mut quoted = String::from('"');
    for c in path.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The two names of a `diff --git` line, which are of one file: nothing but their likeness says where the first one ends.
pub(super) fn two_names(text: &str) -> Option<(String, String)> {
    if let Some(rest) = text.strip_prefix('"') {
        let end = rest
            .match_indices('"')
            .find(|(at, _)| !rest.get(..*at).unwrap_or_default().ends_with('\\'))?
            .0;
        let (first, second) = (rest.get(..end)?, rest.get(end + 1..)?.strip_prefix(' ')?);
        return Some((unquoted(&format!("\"{first}\"")), unquoted(second)));
    }
    let mut found = text.match_indices(' ').filter_map(|(at, _)| {
        let (before, after) = (text.get(..at)?, text.get(at + 1..)?);
        same_path(before, after).map(|_| (before.to_owned(), after.to_owned()))
    });
    let names = found.next()?;
    found.next().is_none().then_some(names)
}

/// The path of a file that has these names before and after: both are the same, or they differ in their first folder.
pub(super) fn same_path(before: &str, after: &str) -> Option<String> {
    let inner = |name: &str| name.split_once('/').map(|(_, rest)| rest.to_owned());
    let sides = before.strip_prefix("a/").zip(after.strip_prefix("b/"));
    match (sides, inner(before), inner(after)) {
        (Some((before, after)), ..) => (before == after).then(|| before.to_owned()),
        _ if before == after => Some(before.to_owned()),
        (None, Some(before), Some(after)) if before == after => Some(before),
        _ => None,
    }
}

/// Why no diff may name this path, as git refuses it, too.
pub(super) fn refused_path(path: &str) -> Option<String> {
    let is_of_git = |part: &str| {
        let plain: String =
            part.chars().filter(|it| it.is_alphanumeric() || ".~".contains(*it)).collect();
        let plain = plain.to_lowercase();
        plain == ".git" || plain == "git~1"
    };
    let is_bad = |part: &str| part.is_empty() || part == "." || part == "..";
    if path.split('/').any(is_bad) || path.contains('\0') {
        Some(format!("{path:?} is no path below the workspace"))
    } else if path.split(['/', '\\']).any(is_of_git) {
        Some(format!("{path:?} belongs to git itself"))
    } else {
        None
    }
}
