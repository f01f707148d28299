//! Harmless forms of calls that rules rate as dangerous. A harmless form has no unknown parts: its options are on a
//! short list, and its operands have known forms.

use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::rating::Rating;
use super::{path_kind, readers};

/// The rule id for calls that only show what they would do.
pub(super) const ONLY_SHOWS: &str = "only-shows";

pub(super) fn show_rating() -> Rating {
    Rating::caution(ONLY_SHOWS, "Only shows something, possibly by asking another host.")
}

/// The rating of code that only computes and prints.
pub(super) fn compute_rating() -> Rating {
    Rating::caution(
        "computes",
        "Runs code in the command line that only computes, prints or replaces text.",
    )
}

/// The rating of a debugger whose commands only control or inspect a program, or control a board.
pub(super) fn debug_rating() -> Rating {
    Rating::caution(
        "computes",
        "Runs a debugger that only runs or inspects a program, or controls a board.",
    )
}

/// Whether a call only makes a running service reload its settings.
pub(super) fn only_reloads(program: &str, arguments: &[(String, bool)]) -> bool {
    static NAME: LazyRegex = LazyRegex::new(r"^[A-Za-z0-9][A-Za-z0-9@_.:-]*$");
    // Services whose settings are a protection themselves.
    static PROTECTS: LazyRegex = LazyRegex::new(
        r"(?i)(tables|firewall|ufw|apparmor|selinux|audit|fail2ban|crowdsec|sudo|polkit|dbus)",
    );
    if arguments.iter().any(|(_, glob)| *glob) {
        return false;
    }
    let texts: Vec<&str> = arguments.iter().map(|(text, _)| text.as_str()).collect();
    let service = |name: &str| NAME.is_match(name) && !PROTECTS.is_match(name);
    let operands = || texts.iter().copied().filter(|it| !it.starts_with('-'));
    match program {
        "systemctl" => {
            const FLAGS: &str =
                "--user --system -q --quiet --no-block --no-pager --no-ask-password";
            let options = texts.iter().filter(|it| it.starts_with('-'));
            options.into_iter().all(|it| listed(FLAGS, it))
                && operands().next() == Some("reload")
                && operands().nth(1).is_some()
                && operands().skip(1).all(service)
        }
        "service" | "rc-service" | "invoke-rc.d" => {
            matches!(texts.as_slice(), [name, "reload"] if service(name))
        }
        "nginx" | "openresty" => matches!(texts.as_slice(), ["-s", "reload" | "reopen"]),
        "apachectl" | "apache2ctl" => matches!(texts.as_slice(), ["graceful"] | ["-k", "graceful"]),
        "httpd" | "apache2" => matches!(texts.as_slice(), ["-k", "graceful"]),
        "postfix" => texts.as_slice() == ["reload"],
        "pg_ctl" => {
            let folder = |path: &str| !path.starts_with('-');
            match texts.as_slice() {
                ["reload"] | ["reload", "-s"] | ["-s", "reload"] => true,
                ["reload", "-D", path] | ["-D", path, "reload"] => folder(path),
                _ => false,
            }
        }
        "pg_ctlcluster" => {
            matches!(texts.as_slice(), [version, name, "reload"] if NAME.is_match(version) && NAME.is_match(name))
        }
        _ => false,
    }
}

/// Whether a call of `rsync` is a dry run that neither runs nor reads anything else.
pub(super) fn is_rsync_dry_run(arguments: &[(String, bool)]) -> bool {
    let Some(parts) = readers::known_form("rsync", arguments) else { return false };
    let dry = parts.flags.iter().any(|it| it == "n" || it == "dry-run");
    // A filter may name a file whose content is sent.
    let filters = parts.values.iter().filter(|(name, _)| name == "filter");
    let plain = |value: &str| {
        ["- ", "+ ", "P ", ":- .gitignore"].iter().any(|begin| value.starts_with(begin))
    };
    let secret = |it: &readers::Argument| path_kind::is_private(&path_kind::normalize(it.text, ""));
    dry && parts.operands.len() > 1
        && filters.into_iter().all(|(_, value)| plain(value))
        && !parts.operands.iter().any(secret)
}
