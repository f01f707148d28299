//! How rules recognize options: in groups, abbreviated, or with values; and when a dry run takes effect.

use super::listed::listed;
use super::syntax::before as previous;

/// Whether an option before a subcommand takes no value in any program.
pub(super) fn is_flag(text: &str) -> bool {
    const FLAGS: &str = "-y --yes -q --quiet -v --verbose --json --user --system --debug -D --no-pager -P --silent -s --global \
        -g --locked --offline --frozen --all -a --no-color --help -h --version -V --bare --no-optional-locks \
        --paginate";
    listed(FLAGS, text) || text.starts_with('+')
}

/// Whether an argument contains an option, also in a group, abbreviated or with a value.
pub(super) fn is_option(option: &str, text: &str) -> bool {
    if text == option {
        return true;
    }
    let Some(name) = text.split('=').next() else { return false };
    if option.starts_with("--") {
        return name == option
            || (name.len() >= 3 && name.starts_with("--") && option.starts_with(name));
    }
    let mut letters = option.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some('-'), Some(letter), None) => {
            text.starts_with('-')
                && !text.starts_with("--")
                && text.chars().skip(1).take_while(char::is_ascii_alphanumeric).any(|c| c == letter)
        }
        _ => name == option,
    }
}

/// Whether an option requests a dry run.
pub(super) fn is_dry_run_option(option: &str) -> bool {
    matches!(option, "--dry-run" | "--dryrun" | "-n")
}

/// Whether a dry-run option takes effect: it is written out, not negated, and not the value of another option.
pub(super) fn dry_run_counts(option: &str, program: &str, arguments: &[(String, bool)]) -> bool {
    let before: Vec<&str> =
        arguments.iter().map(|(text, _)| text.as_str()).take_while(|text| *text != "--").collect();
    let negated = |text: &&str| {
        text.starts_with("--no-dry")
            || (text.starts_with("--dry")
                && text.ends_with(|c: char| c != 'n')
                && !text.ends_with("=client")
                && !text.ends_with("=server")
                && !text.ends_with("=true"))
    };
    if before.iter().any(negated) {
        return false;
    }
    before.iter().enumerate().any(|(index, text)| {
        let letters = match program {
            "git" => "nfdxXqiuv",
            "rsync" => "avzrnhPuptgoDlHAXcxSiW",
            _ => "n",
        };
        let bundle = option == "-n"
            && text.strip_prefix('-').is_some_and(|rest| {
                rest.contains('n') && rest.chars().all(|c| letters.contains(c))
            });
        let exact = bundle
            || *text == option
            || text
                .strip_prefix(option)
                .is_some_and(|value| matches!(value, "=client" | "=server" | "=true"));
        let cluster = matches!(program, "kubectl" | "oc" | "helm");
        exact
            && previous(&before, index).is_none_or(|it| {
                takes_no_value(it) && !(cluster && it.starts_with('-') && it.len() == 2)
            })
    })
}

/// Whether the word after this one cannot be its value: this is an operand or a known flag.
fn takes_no_value(text: &str) -> bool {
    const FLAGS: &str = "--force --delete --all --tags --prune --mirror --force-with-lease --verbose --quiet --yes --locked \
        --allow-dirty --no-verify --workspace --offline --archive --recursive --purge --json --set-upstream -f \
        -a -v -q -y -u -d -x -n -r --progress --compress --human-readable --install --wait --atomic";
    !text.starts_with('-')
        || text.contains('=')
        || listed(FLAGS, text)
        || (text.len() > 2
            && !text.starts_with("--")
            && text.chars().skip(1).all(|letter| "avzxdyqrlptRnhPHuXW".contains(letter)))
}
