//! Database queries: SQL that only reads, and client calls that only query.

use std::sync::LazyLock;

use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::path_kind;
use super::syntax::{END, UNKNOWN};

/// Whether a call runs one query in which only the quoted table name is unknown. Each argument comes with whether it is
/// a glob pattern.
pub(super) fn queries_unknown_table(program: &str, arguments: &[(String, bool)]) -> bool {
    static ASKS: LazyLock<LazyRegex> = LazyLock::new(|| {
        let rest = format!("[^;|\\\\{UNKNOWN}\"`]");
        let table =
            format!("(\"{UNKNOWN}\\w*{END}\"|`{UNKNOWN}\\w*{END}`|\\[{UNKNOWN}\\w*{END}\\])");
        LazyRegex::from(format!("(?i)^\\s*select {rest}*\\bfrom {table}({rest}*);?\\s*$"))
    });
    let unknown = |text: &str| text.contains(UNKNOWN);
    let mut asked = arguments.iter().map(|(text, _)| text.as_str()).filter(|it| unknown(it));
    let (Some(text), None) = (asked.next(), asked.next()) else { return false };
    let plain = text.replace(|c: char| matches!(c, '"' | '`' | '[' | ']' | UNKNOWN | END), "");
    matches!(program, "sqlite3" | "psql" | "mysql" | "mariadb")
        && ASKS.is_match(text)
        && only_queries(&plain)
        && !arguments.iter().any(|(it, _)| it != text && it.contains([' ', '|', ';', '\\']))
}

/// Whether a call of one of these database clients, which the rules list under `administers`, only runs read-only
/// queries. Each argument comes with whether it is a glob pattern.
pub(super) fn is_query_call(program: &str, arguments: &[(String, bool)]) -> bool {
    const CLIENTS: &str = "clickhouse-client clickhouse clickhouse-local sqlcmd cbq";
    // Functions, procedures and statements that reach beyond the database: files, other hosts, programs, server
    // control.
    static REACHES: LazyLock<LazyRegex> = LazyLock::new(|| {
        let names = "url\\w*|file\\w*|remote\\w*|s3\\w*|executable\\w*|hdfs\\w*|mysql|postgresql|jdbc|odbc|mongodb|redis\
                     |sqlite|gcs\\w*|azure\\w*|iceberg\\w*|deltalake\\w*|hudi\\w*|openrowset|opendatasource|openquery|xp_\\w+|curl";
        LazyRegex::from(format!(
            "(?i)\\b({names})\\s*\\(|\\bxp_|\\bopenrowset|\\bkill\\b|\\bsystem\\b"
        ))
    });
    static OPTIONS: LazyRegex = LazyRegex::new(
        "^(--(host|port|user|database|format|secure|time|progress|vertical|multiline|query|config-profile|max_\\w+|file|structure|table|input-format|output-format|vertical|readonly|query_id|stacktrace)|-[hudmtEnSUdWsiQqfNF]|--engine|-e)$",
    );
    // Replaces `system.` before system tables, because the checks reject the word `system`, and a table named `table`.
    let without_keywords =
        |text: &str| text.replace("system.", "own.").replace(" FROM table", " FROM t");
    let only_queries = |text: &str| only_queries(&without_keywords(text));
    let reaches = |text: &str| REACHES.is_match(&without_keywords(text));
    if !listed(CLIENTS, program) {
        return false;
    }
    let is_query = |option: &str| {
        matches!(option, "--query" | "-q" | "-Q") || program == "cbq" && option == "-s"
    };
    let is_good_value = |option: &str, value: &str| {
        if is_query(option) {
            return only_queries(value) && !reaches(value);
        }
        let file = matches!(option, "--file" | "-f")
            && !path_kind::is_outside(&path_kind::normalize(value, ""));
        !value.contains([' ', '(', ';']) && (file || !value.contains('/'))
    };
    let mut asks = false;
    let mut before = "";
    for (index, (text, glob)) in arguments.iter().enumerate() {
        if text.contains(UNKNOWN) || *glob {
            return false;
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (text.as_str(), None),
        };
        if name.starts_with('-') && name.len() > 1 {
            if !OPTIONS.is_match(name) {
                return false;
            }
            let Some(value) = value else {
                before = name;
                continue;
            };
            if !is_good_value(name, value) {
                return false;
            }
            asks |= is_query(name);
            before = "-";
            continue;
        }
        let good = if before.is_empty() {
            index == 0 && program == "clickhouse" && matches!(text.as_str(), "client" | "local")
        } else {
            is_good_value(before, text)
        };
        if !good {
            return false;
        }
        asks |= is_query(before);
        before = if before.is_empty() { "" } else { "-" };
    }
    asks
}

/// Whether a text is one SQL statement that only reads.
pub(super) fn only_queries(text: &str) -> bool {
    const CHANGE: &str = "into insert update delete drop alter create grant revoke copy call do set truncate execute load_file \
        system load_extension";
    let lower = text.trim().trim_end_matches(';').to_ascii_lowercase();
    let mut words = lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let first = words.next().unwrap_or_default();
    matches!(first, "select" | "explain" | "show" | "describe" | "desc" | "with")
        && lower.contains(' ')
        && !lower.contains([';', '`', '\\', '|', '&'])
        && !lower.contains("$(")
        && words.all(|word| {
            !listed(CHANGE, word) && !word.starts_with("pg_") && !word.starts_with("xp_")
        })
}
