//! Read-only PowerShell commands: listed cmdlets with plain words, joined by pipes.

use std::sync::LazyLock;

use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::path_kind;
use super::syntax::UNKNOWN;

/// Cmdlets that read the project or system state, or print. Aliases that are other programs outside Windows, such as
/// `sort`, are left out.
const CMDLETS: &str = "get-childitem gci dir get-content gc get-item gi get-process gps get-date get-location gl pwd get-command gcm \
    get-module get-member gm get-host get-culture get-timezone get-filehash get-service get-psdrive get-verb get-unique \
    get-alias get-uptime get-computerinfo select-object select select-string sls measure-object measure sort-object \
    group-object group where-object where format-table ft format-list fl format-wide convertto-json convertto-csv \
    convertto-xml convertfrom-json convertfrom-csv import-csv test-path resolve-path split-path join-path out-string \
    write-output write-host echo compare-object";

/// Options that do not change what runs.
const PLAIN: &str = "-noprofile -nop -nologo -noninteractive -noni";

/// Whether a call of PowerShell only runs listed cmdlets with plain words.
pub(super) fn only_reads(program: &str, arguments: &[(String, bool)]) -> bool {
    if !matches!(program, "pwsh" | "powershell") {
        return false;
    }
    let mut code = None;
    let mut arguments = arguments.iter();
    while let Some((text, _)) = arguments.next() {
        match text.to_ascii_lowercase().as_str() {
            option if listed(PLAIN, option) => {}
            "-command" | "-c" => {
                code = arguments.next().map(|it| it.0.as_str());
                // All further arguments are part of the command.
                if arguments.next().is_some() {
                    return false;
                }
            }
            _ => return false,
        }
    }
    code.is_some_and(only_reads_code)
}

/// Whether a call of PowerShell runs a script of the project.
pub(super) fn runs_script(program: &str, arguments: &[(String, bool)]) -> bool {
    let mut words = arguments.iter().map(|(text, _)| text.as_str()).skip_while(|text| {
        let option = text.to_ascii_lowercase();
        listed(PLAIN, &option) || matches!(option.as_str(), "-file" | "-f")
    });
    let script = words.next().unwrap_or_default().replace('\\', "/");
    let path = path_kind::normalize(&script, "");
    matches!(program, "pwsh" | "powershell")
        && script.to_ascii_lowercase().ends_with(".ps1")
        && !script.starts_with('-')
        && !script.contains([UNKNOWN, ':', ' ', '&', ';', '|', '('])
        && !path_kind::is_outside(&path)
        && !path_kind::is_sensitive(&path)
}

/// Whether PowerShell code only runs listed cmdlets with plain words.
fn only_reads_code(code: &str) -> bool {
    static VERSION: LazyRegex = LazyRegex::new(r"(?i)^\$PSVersionTable(\.\w+)*$");
    if !code.is_ascii() || code.contains(['`', '&', '>', '<', '@', '\0', UNKNOWN]) {
        return false;
    }
    let Some(stages) = split(code) else { return false };
    stages.iter().all(|words| {
        let Some((first, rest)) = words.split_first() else { return false };
        let version = VERSION.is_match(first);
        let filters = matches!(first.to_ascii_lowercase().as_str(), "where-object" | "where");
        (version && rest.is_empty())
            || listed(CMDLETS, &first.to_ascii_lowercase())
                && rest.iter().all(|word| filters && compares(word) || plain(word))
    })
}

/// Splits code into commands and words; a block in braces or a text in quotes is one word. `None` for nested or
/// unclosed blocks, and for quoted parts inside a word.
fn split(code: &str) -> Option<Vec<Vec<String>>> {
    let mut stages = vec![Vec::new()];
    let mut word = String::new();
    let mut closing = None;
    for c in code.chars() {
        if let Some(close) = closing {
            word.push(c);
            if c == close {
                closing = None;
            } else if close == '}' && c == '{' {
                return None;
            }
            continue;
        }
        match c {
            '\'' | '"' | '{' => {
                // Adjacent parts would form one value.
                if !word.is_empty() {
                    return None;
                }
                closing = Some(if c == '{' { '}' } else { c });
                word.push(c);
            }
            '|' | ';' | ' ' | '\n' | '\t' => {
                if !word.is_empty() {
                    stages.last_mut()?.push(std::mem::take(&mut word));
                }
                if matches!(c, '|' | ';' | '\n') {
                    stages.push(Vec::new());
                }
            }
            _ => word.push(c),
        }
    }
    if closing.is_some() {
        return None;
    }
    if !word.is_empty() {
        stages.last_mut()?.push(word);
    }
    // A trailing separator starts no command.
    if stages.len() > 1 && stages.last().is_some_and(Vec::is_empty) {
        stages.pop();
    }
    Some(stages)
}

/// Whether a block only compares properties of its input.
fn compares(block: &str) -> bool {
    static BLOCK: LazyLock<LazyRegex> = LazyLock::new(|| {
        let value = r#"(\$_(\.\w+)*|-?\d+(\.\d+)?([KMG]B)?|'[^']*'|"[^"$`]*"|\$(true|false|null))"#;
        let sign = "-(eq|ne|gt|ge|lt|le|like|notlike|match|notmatch|contains|notcontains|in|notin)";
        let one = format!(r"(-not\s+)?{value}(\s+{sign}\s+{value})?");
        LazyRegex::from(format!(r"(?i)^\{{\s*{one}(\s+-(and|or)\s+{one})*\s*\}}$"))
    });
    BLOCK.is_match(block)
}

/// Whether a word is an option, a number, a name, or a path of the project without keys.
fn plain(word: &str) -> bool {
    let inner = word.strip_prefix(['\'', '"']).map(|it| it.trim_end_matches(['\'', '"']));
    let text = inner.unwrap_or(word).replace('\\', "/");
    let quoted = word.starts_with('\'');
    if text.contains(['$', ':'])
        || !quoted && text.contains(['(', ')', '{', '}', '[', ']', '=', '%'])
    {
        return false;
    }
    text.split(',').all(|part| {
        let path = path_kind::normalize(part, "");
        !path_kind::is_outside(&path) && !path_kind::holds_keys(&path)
    })
}
