//! The command lines of `evidence purge`, `compact`, `sizes`, `secrets`, `backup` and `restore`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, ValueEnum};

use super::Common;
use super::record_id::RecordId;
use crate::cli::time::parse_time;

#[derive(Debug, Args)]
#[command(group(
    ArgGroup::new("rule").required(true).multiple(true)
        .args([
            "older_than", "larger_than", "run", "plan", "bounded_loop", "execution", "secrets",
            "with_old_backups",
        ])
))]
pub(in crate::cli) struct Purge {
    /// Only runs and loops that ended before then: an age such as 90d, a date or a time
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    pub(in crate::cli) older_than: Option<i64>,
    /// Only contents of at least this size, such as 10M: outputs and files that are stored apart
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(in crate::cli) larger_than: Option<u64>,
    /// Only this run
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) run: Option<RecordId>,
    /// Only runs of this plan, by its id or digest
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) plan: Option<String>,
    /// Only this bounded loop, with its runs
    #[arg(long = "loop", value_name = "ID", conflicts_with = "execution")]
    pub(in crate::cli) bounded_loop: Option<RecordId>,
    /// Only this step, by its execution
    #[arg(long, value_name = "ID", conflicts_with = "larger_than")]
    pub(in crate::cli) execution: Option<RecordId>,
    /// Only steps whose records have a secret in clear by the present rules, see `evidence secrets`
    #[arg(long, conflicts_with_all = ["larger_than", "execution"])]
    pub(in crate::cli) secrets: bool,
    /// Afterwards, also delete the copies that migrations made of the database: they still have what is purged
    #[arg(long)]
    pub(in crate::cli) with_old_backups: bool,
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(in crate::cli) reason: String,
    /// Only say what would be purged
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Purge without asking
    #[arg(long, conflicts_with = "dry_run")]
    pub(in crate::cli) yes: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Compact {
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Sizes {
    /// What the runs recorded by month, or by plan
    #[arg(long, value_name = "PART", default_value = "month")]
    pub(in crate::cli) by: Part,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

/// By what sizes are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Part {
    Month,
    Plan,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Secrets {
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Backup {
    /// The file to write, readable by you alone
    pub(in crate::cli) file: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Restore {
    /// A file that `evidence backup` wrote
    pub(in crate::cli) file: PathBuf,
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) reason: String,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

/// Parses a size: bytes, or a number with K, M or G for KiB, MiB or GiB.
fn parse_size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let short = lower.strip_suffix("ib").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
    let (digits, unit) = match short.char_indices().last() {
        Some((at, 'k')) => (short.get(..at), 1 << 10),
        Some((at, 'm')) => (short.get(..at), 1 << 20),
        Some((at, 'g')) => (short.get(..at), 1 << 30),
        _ => (Some(short), 1_u64),
    };
    let number = digits.and_then(|digits| digits.trim().parse::<u64>().ok());
    number
        .and_then(|number| number.checked_mul(unit))
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "a size is a number of bytes, or one with K, M or G, such as 10M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in
            [("1", 1), ("10K", 10 << 10), ("10 KiB", 10 << 10), ("3mb", 3 << 20), ("2G", 2 << 30)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "M", "-1", "1.5M", "10T", "99999999999G"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
