//! Harmless forms of calls that rules rate as dangerous. A harmless form has no unknown parts: its options are on a
//! short list, and its operands have known forms.

use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::rating::Rating;
use super::{path_kind, readers};

/// The rule id for calls that only show what they would do.
pub(super) const ONLY_SHOWS: &str = "only-shows";

pub(super) fn reload_rating() -> Rating {
    Rating::caution("reloads", "Makes a service reload its settings without stopping it.")
}

pub(super) fn show_rating() -> Rating {
    Rating::caution(ONLY_SHOWS, "Only shows something, possibly by asking another host.")
}

pub(super) fn local_upload_rating() -> Rating {
    Rating::caution("sends-here", "Sends files of the project to a server on this computer.")
}

/// The rating of code that only computes and prints.
pub(super) fn compute_rating() -> Rating {
    Rating::caution(
        "computes",
        "Runs code in the command line that only computes, prints or replaces text.",
    )
}

/// The options and operands of a call that has no unknown parts.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    /// Options without a value.
    pub(super) flags: Vec<String>,
    pub(super) values: Vec<(String, &'a str)>,
    pub(super) operands: Vec<&'a str>,
}

/// The options that a call may have: letters, and names of long options separated by blanks. Those of `short_values`
/// and `long_values` take a value.
pub(super) struct Allowed {
    pub(super) short: &'static str,
    pub(super) short_values: &'static str,
    pub(super) long: &'static str,
    pub(super) long_values: &'static str,
}

impl Allowed {
    /// Parses the arguments of a call; `None` if an option is not allowed, an argument is unknown, or `--` occurs.
    pub(super) fn parse<'a>(&self, arguments: &'a [(String, bool)]) -> Option<Parts<'a>> {
        let mut parts = Parts::default();
        let mut rest = arguments.iter();
        while let Some((text, glob)) = rest.next() {
            let known = readers::is_known(text) && !(*glob && text.starts_with(['*', '?', '[']));
            if !known || text == "--" {
                return None;
            }
            if let Some(name) = text.strip_prefix("--") {
                match name.split_once('=') {
                    Some((name, value)) if listed(self.long_values, name) => {
                        parts.values.push((format!("--{name}"), value));
                    }
                    None if listed(self.long, name) => parts.flags.push(text.clone()),
                    None if listed(self.long_values, name) => {
                        let (value, _) = rest.next().filter(|(it, _)| readers::is_known(it))?;
                        parts.values.push((text.clone(), value));
                    }
                    _ => return None,
                }
                continue;
            }
            let Some(letters) = text.strip_prefix('-').filter(|it| !it.is_empty()) else {
                parts.operands.push(text);
                continue;
            };
            for (index, letter) in letters.char_indices() {
                if self.short.contains(letter) {
                    parts.flags.push(format!("-{letter}"));
                    continue;
                }
                if !self.short_values.contains(letter) {
                    return None;
                }
                let glued = letters.get(index + letter.len_utf8()..).filter(|it| !it.is_empty());
                let value = match glued {
                    Some(value) => value,
                    None => rest.next().map(|(it, _)| it).filter(|it| readers::is_known(it))?,
                };
                parts.values.push((format!("-{letter}"), value));
                break;
            }
        }
        Some(parts)
    }
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
    const RSYNC: Allowed = Allowed {
        short: "avnzhPuirltpgoDcHAXSWxIkLJKOdqmCyb8",
        short_values: "",
        long: "dry-run archive verbose quiet checksum recursive relative no-relative update inplace append dirs links copy-links safe-links hard-links perms executability acls xattrs owner group devices specials times atimes omit-dir-times sparse whole-file no-whole-file one-file-system existing ignore-existing delete delete-before delete-during delete-delay delete-after delete-excluded ignore-errors force partial prune-empty-dirs numeric-ids no-perms no-owner no-group no-times ignore-times size-only fuzzy compress cvs-exclude stats human-readable progress itemize-changes list-only mkpath no-motd backup no-inc-recursive protect-args",
        long_values: "exclude include filter max-size min-size modify-window chmod chown usermap groupmap info out-format compress-level bwlimit port timeout contimeout max-delete suffix",
    };
    let Some(parts) = RSYNC.parse(arguments) else { return false };
    let dry = parts.flags.iter().any(|it| it == "-n" || it == "--dry-run");
    // A filter may name a file whose content is sent.
    let filters = parts.values.iter().filter(|(name, _)| name == "--filter");
    let plain = |value: &str| {
        ["- ", "+ ", "P ", ":- .gitignore"].iter().any(|begin| value.starts_with(begin))
    };
    let secret = |text: &&str| path_kind::is_private(&path_kind::normalize(text, ""));
    dry && parts.operands.len() > 1
        && filters.into_iter().all(|(_, value)| plain(value))
        && !parts.operands.iter().any(secret)
}
