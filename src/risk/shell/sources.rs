//! Calls and options that name a package source.

use super::Word;
use super::listed::listed;

/// Whether a call configures a package source over plain HTTP.
pub(super) fn adds_insecure_source(program: &str, words: &[Word]) -> bool {
    const NAMES: &str = "repo repos repository source sources remote registry index channel mirror hex.repo package-registry";
    let mut operands = words.iter().map(|it| it.text.as_str()).filter(|it| !it.starts_with('-'));
    let is_local = |it: &str| it.starts_with("localhost") || it.starts_with("127.");
    !matches!(program, "git" | "hg" | "svn" | "curl" | "wget" | "gh" | "glab")
        && operands.clone().take(3).any(|it| listed(NAMES, it))
        && operands.any(|it| it.strip_prefix("http://").is_some_and(|it| !is_local(it)))
}

/// Whether an option names a package source.
pub(super) fn is_source_option(option: &str) -> bool {
    let name = option.trim_start_matches('-');
    let name = name.strip_suffix("-url").unwrap_or(name);
    let name = name.rsplit('-').next().unwrap_or(name);
    let named =
        ["registry", "index", "repo", "repository", "mirror", "channel", "feed", "substituters"];
    option.starts_with("--") && named.contains(&name)
}
