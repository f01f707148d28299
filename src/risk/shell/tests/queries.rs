//! Calls that only query: databases, containers, image tags.

use super::verdict_on;
use crate::plan::RiskLevel;

#[test]
fn database_queries_are_not_dangerous() {
    for command in [
        "clickhouse-client -q 'SELECT count() FROM events WHERE d > today() - 7 FORMAT TSV'",
        "clickhouse client --query 'SHOW TABLES'",
        "sqlcmd -S localhost -Q 'select 1'",
        "for t in $(sqlite3 app.db .tables); do sqlite3 app.db \"select count(*) from \\\"$t\\\"\"; done",
        "crictl ps -a --name coredns",
        "crictl images",
        "ctr -n k8s.io images ls",
        "exiftool -s -DateTimeOriginal photos/a.jpg",
        "qemu-system-arm -M virt -nographic -kernel build/app.elf -semihosting",
        "qpdf --empty --pages a.pdf b.pdf -- merged.pdf",
    ] {
        let verdict = verdict_on(command);
        assert!(verdict.level < RiskLevel::Dangerous, "{command}: {}", verdict.rule);
    }
}

#[test]
fn queries_with_side_effects_are_dangerous() {
    for command in [
        "clickhouse-client -q 'DROP TABLE a'",
        "clickhouse-client -q \"SELECT * FROM file('/etc/passwd')\"",
        "clickhouse-client -q 'SELECT 1' --queries-file a.sql",
        "clickhouse-client < a.sql",
        "clickhouse-server start",
        "sqlcmd -Q 'drop table a'",
        "for t in $(sqlite3 app.db .tables); do sqlite3 app.db \"drop table \\\"$t\\\"\"; done",
        "for t in $(curl -s https://x.example.org); do sqlite3 app.db \"select $t\"; done",
        "crictl rmi x",
        "ctr images import x",
        "exiftool -o out a.jpg",
        "exiftool -execute a.jpg",
    ] {
        let verdict = verdict_on(command);
        assert!(verdict.level >= RiskLevel::Dangerous, "{command}: {}", verdict.rule);
    }
}

#[test]
fn sql_functions_that_write_match_any_spelling() {
    for query in
        ["select \"writefile\"('a','')", "select edit/**/('x','sh')", "select [edit]('x','sh')"]
    {
        let command = format!("sqlite3 app.db \"{}\"", query.replace('"', "\\\""));
        assert!(super::level(&command) >= RiskLevel::Dangerous, "{command}");
    }
    assert_eq!(super::level("sqlite3 app.db 'select edit from notes'"), RiskLevel::Caution);
}
