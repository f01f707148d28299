//! Calls that ask a program for help or its version.
//!
//! Such a call is safe only for the programs of a closed list. Others load something from the working folder before they
//! answer: a toolchain, a wrapper, settings or plugins.

use super::listed::listed;
use super::rating::Rating;
use super::readers;
use crate::plan::RiskLevel;

/// The rule id of calls that ask for help or a version.
pub(super) const ASKS_HELP: &str = "asks-help";

/// The rating of a call that only asks for help or a version; `None` for any other call. After subcommands the call is
/// caution for every program, because a subcommand may interpret the option differently.
pub(super) fn rating(program: &str, arguments: &[(String, bool)]) -> Option<Rating> {
    const WITH_SUBCOMMANDS: &str = "git cargo npm pnpm yarn docker podman kubectl helm terraform tofu pip pip3 go gh aws gcloud az \
        systemctl apt apt-get brew rustup uv poetry conda gem dotnet snap flatpak";
    let (last, words) = arguments.split_last()?;
    let asks = matches!(last.0.as_str(), "--help" | "-help")
        || (program == "git" && last.0 == "-h" && words.len() == 1);
    if words.is_empty() {
        if !asks && last.0 != "--version" {
            return None;
        }
        return Some(if readers::loads_nothing_for_help(program) {
            Rating::builtin(RiskLevel::Safe, ASKS_HELP, "Only prints help or a version.")
        } else {
            let reason = "Asks for help or a version, but which code answers may depend on the working folder: a \
                          toolchain, a wrapper, settings or plugins.";
            Rating::caution(ASKS_HELP, reason)
        });
    }
    let plain = |(text, glob): &(String, bool)| {
        !glob
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    (asks && words.len() <= 2 && listed(WITH_SUBCOMMANDS, program) && words.iter().all(plain))
        .then(|| {
            let reason = "Asks for help on a subcommand, which may be an extension or be shown by a program that \
                          settings name.";
            Rating::caution(ASKS_HELP, reason)
        })
}
