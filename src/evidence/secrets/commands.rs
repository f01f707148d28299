//! Secrets in arguments after options whose names indicate no secret, such as `curl -u` and `mysql -p`, and in the
//! input of programs.

use std::collections::HashSet;
use std::ops::Range;
use std::str::SplitAsciiWhitespace;
use std::sync::LazyLock;

use super::Match;
use super::logins::password;
use super::scan::{
    MAX_VALUE, alphanumeric_or, any_of, at, back_while, forward_while, line_start, quoted,
    quoted_or_word, unspaced_except,
};
use super::table::rows;

/// The position of an option's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValuePosition {
    /// The next word, or attached to the option.
    Any,
    /// Attached to the option: `-pX`. The next word is something else.
    Attached,
    /// The next word.
    Next,
    /// The third word after the option: `htpasswd -b FILE USER X`.
    Third,
}

/// The secret part of the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretPart {
    All,
    /// The part after the first of this character; without the character there is no secret.
    After(char),
}

use SecretPart::{After, All};
use ValuePosition::{Any, Attached, Next, Third};

/// An option whose value is or contains a secret: a row of `assets/secrets/options.txt`.
struct Rule {
    option: &'static str,
    position: ValuePosition,
    part: SecretPart,
    programs: Vec<&'static str>,
}

impl Rule {
    /// The rule with these fields; `None` if one is invalid.
    fn of_row(mut fields: SplitAsciiWhitespace<'static>) -> Option<Self> {
        let option = fields.next()?;
        let position = match fields.next()? {
            "any" => Any,
            "attached" => Attached,
            "next" => Next,
            "third" => Third,
            _ => return None,
        };
        let part = match fields.next()? {
            "all" => All,
            separator => After(separator.parse().ok()?),
        };
        Some(Self { option, position, part, programs: fields.collect() })
    }
}

const OPTIONS: &str = include_str!("../../../assets/secrets/options.txt");

static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| rows(OPTIONS).filter_map(Rule::of_row).collect());

/// The secret after the option at this word; after `sudo -S`, the secret that is piped into the command.
pub(super) fn at_option(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = forward_while(bytes, word.start, 1, |byte| byte == b' ');
    let rest = text.get(start..)?;
    let mut rules = RULES.iter().filter(|rule| rest.starts_with(rule.option)).peekable();
    let may_be_sudo = rest.starts_with("-S") || rest.starts_with("-s");
    if rules.peek().is_none() && !may_be_sudo {
        return None;
    }
    let (program, program_start) = program_before(text, start)?;
    if may_be_sudo && program == "sudo" {
        return echoed(text, program_start);
    }
    rules
        .filter(|rule| rule.programs.contains(&program))
        .find_map(|rule| value_of(text, rule, program_start, start + rule.option.len()))
}

/// A password that is piped into the command with this word: `echo X | docker login --password-stdin`.
pub(super) fn piped_into(text: &str, word: Range<usize>) -> Option<Match> {
    let from = back_while(text.as_bytes(), word.start, 300, |byte| !matches!(byte, b'|' | b'\n'));
    (at(text.as_bytes(), from.wrapping_sub(1)) == b'|').then(|| echoed(text, from)).flatten()
}

/// The maximum distance between an option and its program, in bytes.
const MAX_PROGRAM_DISTANCE: usize = 768;

/// Every program with a rule.
static PROGRAMS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    RULES.iter().flat_map(|rule| &rule.programs).copied().chain(["sudo"]).collect()
});

/// The last known program before this position in the same command, with its position.
fn program_before(text: &str, position: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let line = line_start(bytes, position).max(position.saturating_sub(MAX_PROGRAM_DISTANCE));
    let mut end = position;
    while end > line {
        let here = at(bytes, end - 1);
        let is_word = alphanumeric_or(b"-_.");
        if matches!(here, b';' | b'|' | b'\n') || (here == b'&' && at(bytes, end) == b'&') {
            return None;
        }
        if !is_word(here) {
            end -= 1;
            continue;
        }
        let start = back_while(bytes, end, 64, is_word);
        let word = text.get(start..end)?;
        let known = !word.starts_with('-') && PROGRAMS.contains(word);
        let before = at(bytes, start.wrapping_sub(1));
        let is_command = start == line
            || matches!(before, b' ' | b'/' | b'"' | b'\'' | b'`' | b'(' | b'\t' | b'=');
        if known && is_command && !(before == b' ' && at(bytes, start.wrapping_sub(2)) == b'-') {
            return Some((word, start));
        }
        end = start;
    }
    None
}

/// The secret in the value of an option. `program` is the start of the program, `option_end` the end of the option.
fn value_of(text: &str, rule: &Rule, program: usize, option_end: usize) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut start = option_end;
    let is_attached =
        !matches!(at(bytes, option_end), b' ' | b'=' | b'"' | b'\'' | b'\t' | b'\n' | 0);
    match rule.position {
        Third => {
            for _ in 0..3 {
                start = forward_while(bytes, start, MAX_VALUE, |byte| !byte.is_ascii_whitespace());
                start = forward_while(bytes, start, 8, |byte| byte == b' ');
            }
        }
        // A longer option that begins with this one.
        Next if is_attached => return None,
        Attached if !is_attached && !matches!(at(bytes, option_end), b'"' | b'\'') => return None,
        Any if is_attached && rule.option.starts_with("--") => return None,
        _ if !is_attached => {
            start = forward_while(bytes, start, 3, any_of(b" =\t"));
        }
        Any | Attached | Next => {}
    }
    let value = match quoted(text, start) {
        Some(value) if rule.position == Third || start > option_end || !is_attached => value,
        _ => start..forward_while(bytes, start, MAX_VALUE, unspaced_except(b"\"'`|;\\\0")),
    };
    let all = text.get(value.clone())?;
    if all.starts_with('-') || all.starts_with('/') && is_attached {
        return None;
    }
    let secret = match rule.part {
        All => value.clone(),
        After(separator) => {
            let offset = all.find(separator)?;
            value.start + offset + 1..value.end
        }
    };
    let inner = text.get(secret.clone())?;
    // The values of these options are secret only in commands that store a secret.
    let stores_secret = rule.option != "--value" && !rule.programs.contains(&"gh")
        || ["SecureString", "secret set"].iter().any(|it| {
            text.get(program..text.len().min(option_end + 400)).is_some_and(|all| all.contains(it))
        });
    if !stores_secret {
        return None;
    }
    // Published ports: `docker run -p 8080:80`, `podman run -p 127.0.0.1:80:80/tcp`.
    let is_port = rule.part == All && inner.bytes().all(any_of(b"0123456789:.-/tcpud"));
    // An option of several letters, such as `-path`.
    let is_option =
        inner.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_attached && inner.len() < 6;
    if is_port || is_option || inner.contains("://") {
        return None;
    }
    password(text, program, secret)
}

/// A password that is piped into a program for encrypted volumes: `echo X | cryptsetup open …`.
pub(super) fn piped_to_volume(text: &str, word: Range<usize>) -> Option<Match> {
    let bar = back_while(text.as_bytes(), word.start, 8, any_of(b" \t"));
    let sudo = if text.get(..bar)?.ends_with("sudo") { bar - 4 } else { bar };
    let bar = back_while(text.as_bytes(), sudo, 4, |byte| byte == b' ');
    (at(text.as_bytes(), bar.wrapping_sub(1)) == b'|').then(|| echoed(text, bar)).flatten()
}

/// The password that `echo` or `printf` prints into the last pipe before this position.
fn echoed(text: &str, pipe: usize) -> Option<Match> {
    let bytes = text.as_bytes();
    let line = line_start(bytes, pipe);
    let before = text.get(line..pipe)?;
    let bar = before.rfind('|')?;
    let command = before.get(..bar)?;
    let (name, offset) =
        ["echo ", "printf "].into_iter().find_map(|name| Some((name, command.rfind(name)?)))?;
    let mut start = line + offset + name.len();
    for option in ["-n ", "-e ", "-en ", "'%s\\n' ", "'%s' ", "\"%s\\n\" ", "\"%s\" ", "%s "] {
        if text.get(start..)?.starts_with(option) {
            start += option.len();
        }
    }
    let mut secret = quoted_or_word(text, start, b"|");
    // In `echo user:X | chpasswd`, the password follows the user.
    if let Some((user, _)) = text.get(secret.clone())?.split_once(':') {
        secret.start += user.len() + 1;
    }
    password(text, line + offset, secret)
}

/// The ranges of the secrets in the arguments of a program, each with the index of its argument. `each_match` finds the
/// secrets in a text.
pub(super) fn in_arguments(
    arguments: &[&str],
    each_match: impl Fn(&str, &mut dyn FnMut(Match)),
) -> Vec<(usize, Range<usize>)> {
    // Joined to one line, so that the same rules apply. White space inside an argument becomes U+0001.
    let mut line = String::new();
    let mut ranges = Vec::new();
    for argument in arguments {
        if !line.is_empty() {
            line.push(' ');
        }
        let start = line.len();
        line.extend(argument.chars().map(|it| if it.is_ascii_whitespace() { '\u{1}' } else { it }));
        ranges.push(start..line.len());
    }
    let mut all = Vec::new();
    each_match(&line, &mut |found| {
        for (index, argument) in ranges.iter().enumerate() {
            let (start, end) =
                (found.secret.start.max(argument.start), found.secret.end.min(argument.end));
            if start < end {
                all.push((index, start - argument.start..end - argument.start));
            }
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_options_is_valid() {
        assert_eq!((rows(OPTIONS).count(), RULES.len()), (40, 40));
        for rule in &*RULES {
            assert!(!rule.programs.is_empty(), "{}", rule.option);
            assert!(!matches!(rule.part, After(separator) if !separator.is_ascii()));
        }
    }
}
