//! Lines around the files of a diff, and which lines may be part of one.

/// Whether a line outside of files says that something is changed.
pub(super) fn is_change(line: &str) -> bool {
    const BEGINNINGS: [&str; 10] = [
        "GIT binary patch",
        "Property changes on: ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
    ];
    let is_only = line.starts_with("Only in ") && line.contains(": ");
    let is_binary = line.starts_with("Binary files ") && line.trim_end().ends_with(" differ");
    is_only || is_binary || BEGINNINGS.iter().any(|it| line.starts_with(it))
}

/// Whether a line may be part of a file of a diff.
pub(in crate::openers) fn is_inside(line: &str) -> bool {
    const HEADERS: [&str; 11] = [
        "diff --",
        "index ",
        "--- ",
        "+++ ",
        "@@ ",
        "old mode ",
        "new mode ",
        "new file mode ",
        "deleted file mode ",
        "similarity ",
        "rename ",
    ];
    line.starts_with([' ', '-', '+', '\\'])
        || line.is_empty()
        || HEADERS.iter().any(|it| line.starts_with(it))
}
